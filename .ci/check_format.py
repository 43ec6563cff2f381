#!/usr/bin/env python3
"""Refuses C++ that clang-format would write differently. `.ci/check_format.py --fix [FILE...]` rewrites it."""

import os
import shutil
import subprocess
import sys

import tree


def run(root, arguments, paths):
    style = os.path.join(tree.ROOT, ".clang-format")
    command = ["clang-format", f"--style=file:{style}", *arguments, *paths]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def check(root):
    paths = tree.files(root, ".h", ".cc")
    if not paths:
        return []
    result = run(root, ["--dry-run", "-Werror"], paths)
    lines = [line for line in result.stderr.splitlines() if ": error:" in line]
    if result.returncode and not lines:
        return [result.stderr]
    files = sorted({line.split(":")[0] for line in lines})
    return [f"{f}: not formatted; run .ci/check_format.py --fix {f}" for f in files]


def self_test():
    good = "#include <string>\n\nnamespace vigil {\nint F(int* a) { return *a; }\n}  // namespace vigil\n"
    tree.expect("good", tree.planted(check, {"sim/a.cc": good}), [])
    tree.expect("spaces", tree.planted(check, {"sim/a.cc": good.replace("int* a", "int *a")}), ["sim/a.cc: not formatted"])
    includes = '#include "vigil/b.h"\n#include "vigil/a.h"\n'
    tree.expect("order", tree.planted(check, {"sim/x.cc": includes, "sim/a.cc": good}), ["sim/x.cc: not formatted"])


if __name__ == "__main__":
    if not shutil.which("clang-format"):
        sys.exit("clang-format is missing (Debian package clang-format)")
    if sys.argv[1:2] == ["--fix"]:
        PATHS = sys.argv[2:] or tree.files(tree.ROOT, ".h", ".cc")
        sys.exit(run(tree.ROOT if len(sys.argv) == 2 else ".", ["-i"], PATHS).returncode)
    tree.main(check, self_test)
