#!/usr/bin/env python3
"""The README's example is the one that is compiled, and its failing run is what the program prints.

usage: check_readme.py PROGRAM     (run from the root)
"""
import re
import subprocess
import sys
import textwrap


def example(source):
    text = open(source, encoding="utf-8").read()
    part = text.split("// README: begin\n")[1].split("  // README: end")[0]
    return textwrap.dedent(part).strip()


def compare(what, shown, real):
    if shown.strip() == real.strip():
        return 0
    print(f"README.md: {what} is out of date. It shows:\n{shown.strip()}\n-- but it is:\n{real.strip()}")
    return 1


def main(program):
    readme = open("README.md", encoding="utf-8").read()
    code = re.search(r"```cpp\n(.*?)```", readme, re.S).group(1)
    errors = compare("the example", code, example("examples/first_session.cc"))
    run = re.search(r"```\n\$ ./vigil (.*?)\n(.*?)```", readme, re.S)
    done = subprocess.run([program, *run.group(1).split()], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    errors += compare("the failing run", run.group(2), done.stdout)
    if done.returncode != 1:
        print(f"README.md: the failing run ended with {done.returncode}, not 1\n{done.stderr}")
        errors += 1
    return errors


sys.exit(1 if main(sys.argv[1]) else 0)
