#!/usr/bin/env python3
"""The code in a document is code that is compiled, and its failing test is what the program prints.

usage: check_document.py DOCUMENT PROGRAM             (run from the root)
       check_document.py --write DOCUMENT PROGRAM     puts both into the document

A block of code stands below a line `<!-- FILE -->`, which is all of it, or `<!-- FILE PART -->`: what is between
"// docs: PART begin" and "// docs: PART end" there. The one other block that begins with FAILED is what PROGRAM prints of its
findings. Blocks without a language are commands and output.
"""
import difflib
import os
import re
import subprocess
import sys
import textwrap

BLOCK = re.compile(r"(<!-- (\S+)(?: (\S+))? -->\n```(?:cpp|cmake|yaml)\n)(.*?)(?=```)", re.S)
FAILING = re.compile(r"(?<=```\n)FAILED.*?(?=```)", re.S)


def part_of(path, part):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if part:
        text = text.split(f"// docs: {part} begin\n")[1].split(f"// docs: {part} end")[0]
        return textwrap.dedent(text).rstrip() + "\n"
    return "".join(line for line in text.splitlines(True) if "// docs: " not in line)


def findings(program):
    """What it prints of its findings, and whether it ended as a test that fails."""
    folder, name = os.path.split(os.path.abspath(program))
    done = subprocess.run([f"./{name}"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    printed = re.search(r"^FAILED .*?(?=^\)$)", done.stdout, re.S | re.M)
    return printed.group(0).rstrip() + "\n" if printed else done.stdout, done.returncode == 1


def main(document, program, write):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    errors = []
    if len(BLOCK.findall(text)) != len(re.findall(r"^```\w", text, re.M)):
        errors.append("a block of code without a line that says where it is from")
    real = BLOCK.sub(lambda m: m.group(1) + part_of(m.group(2), m.group(3)), text)
    printed, failed = findings(program)
    if not failed:
        errors.append(f"{program} does not end with 1, as a test that fails:\n{printed}")
    if len(FAILING.findall(text)) != 1:
        errors.append("there should be one block of what the failing test prints")
    real = FAILING.sub(lambda _: printed, real)
    if write:
        with open(document, "w", encoding="utf-8") as file:
            file.write(real)
    elif real != text:
        errors.append("it does not show what there is; --write mends it:\n" + "".join(
            difflib.unified_diff(text.splitlines(True), real.splitlines(True), "shown", "real", n=1)))
    for error in errors:
        print(f"{document}: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    sys.exit(main(*arguments, write=len(arguments) + 1 < len(sys.argv)) if len(arguments) == 2 else __doc__)
