#!/usr/bin/env python3
"""The code in docs/testing_your_code.md is code that is compiled, and its failing test is what the program prints.

usage: check_testing_document.py PROGRAM     (run from the root)

A block of C++ stands below a line `<!-- FILE PART -->`: what is between "// docs: PART begin" and "// docs: PART end" there.
The one other block that begins with FAILED is what PROGRAM prints of its findings.
"""
import os
import re
import subprocess
import sys
import textwrap

DOCUMENT = "docs/testing_your_code.md"


def compare(what, shown, real):
    if shown.strip() == real.strip():
        return 0
    print(f"{DOCUMENT}: {what} is out of date. It shows:\n{shown.strip()}\n-- but it is:\n{real.strip()}")
    return 1


def part_of(path, part):
    text = open(path, encoding="utf-8").read()
    return textwrap.dedent(text.split(f"// docs: {part} begin\n")[1].split(f"// docs: {part} end")[0])


def main(program):
    text = open(DOCUMENT, encoding="utf-8").read()
    blocks = re.findall(r"<!-- (\S+) (\S+) -->\n```cpp\n(.*?)```", text, re.S)
    errors = 0
    if len(blocks) != text.count("```cpp"):
        print(f"{DOCUMENT}: a block of code without a line that says where it is from")
        errors += 1
    for path, part, shown in blocks:
        errors += compare(f"{part} of {path}", shown, part_of(path, part))
    folder, name = os.path.split(os.path.abspath(program))
    done = subprocess.run([f"./{name}"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    printed = re.search(r"^FAILED .*?(?=^\)$)", done.stdout, re.S | re.M)
    shown = re.search(r"```\n(FAILED .*?)```", text, re.S)
    errors += compare("the failing test", shown.group(1), printed.group(0) if printed else done.stdout)
    if done.returncode != 1:
        print(f"{name} ended with {done.returncode}, not 1\n{done.stderr}")
        errors += 1
    return errors


sys.exit(1 if main(sys.argv[1]) else 0)
