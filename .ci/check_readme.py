#!/usr/bin/env python3
"""The README's example is the one that is compiled, and there are as many rules and planted bugs; its failing run, and that of
docs/commands.md, are what the program prints.

usage: check_readme.py PROGRAM     (run from the root)
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap


def example(source):
    text = open(source, encoding="utf-8").read()
    part = text.split("// README: begin\n")[1].split("  // README: end")[0]
    return textwrap.dedent(part).strip()


def compare(document, what, shown, real):
    if shown.strip() == real.strip():
        return 0
    if shown.endswith("\n...\n") and real.startswith(shown[: -len("...\n")]):
        return 0
    print(f"{document}: {what} is out of date. It shows:\n{shown.strip()}\n-- but it is:\n{real.strip()}")
    return 1


def count_rules(program, readme):
    listed = json.loads(subprocess.run([program, "rules", "--json"], capture_output=True, text=True, check=True).stdout)
    real = sum(rule["kind"] == "rule" for rule in listed["rules"])
    shown = re.search(r"checks (\d+) rules", readme)
    if shown and int(shown.group(1)) == real:
        return 0
    print(f"README.md: it should say 'checks {real} rules', as `vigil rules` lists them")
    return 1


def count_bugs(readme):
    real = sum(name.endswith(".toml") for name in os.listdir("properties/planted/bugs"))
    if f"plants {real} bugs" in readme:
        return 0
    print(f"README.md: it should say 'plants {real} bugs', as there are files in properties/planted/bugs")
    return 1


def failing_runs(document, program):
    errors = 0
    root = os.getcwd()
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for run in re.finditer(r"```\n\$ (?:VIGIL_PRESET=dev )?./vigil (.*?)\n(.*?)```", text, re.S):
        with tempfile.TemporaryDirectory() as folder:  # what fails is saved
            os.symlink(os.path.join(root, "examples"), os.path.join(folder, "examples"))
            done = subprocess.run([os.path.join(root, program), *run.group(1).split()], cwd=folder, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL)
        if "This build has no planted bugs" in done.stderr:
            continue  # a release: the preset dev shows it
        errors += compare(document, "a failing run", run.group(2), done.stdout)
        if done.returncode != 1:
            print(f"{document}: the failing run ended with {done.returncode}, not 1\n{done.stderr}")
            errors += 1
    return errors


def main(program):
    readme = open("README.md", encoding="utf-8").read()
    code = re.search(r"```cpp\n(.*?)```", readme, re.S).group(1)
    errors = compare("README.md", "the example", code, example("examples/first_session.cc"))
    errors += count_rules(os.path.join(".", program), readme)
    errors += count_bugs(readme)
    for document in ("README.md", "docs/commands.md"):
        errors += failing_runs(document, program)
    return errors


sys.exit(1 if main(sys.argv[1]) else 0)
