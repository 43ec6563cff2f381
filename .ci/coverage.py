#!/usr/bin/env python3
"""Which lines of core/ ran in a build of the preset `coverage`. Needs gcov, which comes with gcc.

  cmake --preset coverage && cmake --build build/coverage
  ctest --test-dir build/coverage -L '^core'
  .ci/coverage.py build/coverage            # a line for each file, the least covered first, then the sum
  .ci/coverage.py build/coverage --lines    # and the lines that never ran
  .ci/coverage.py build/coverage --branches # and how many branches were taken; with --lines also where one side never was
  .ci/coverage.py build/coverage --reset    # forgets all runs

Counts sum up over runs until they are reset or the files are built anew: `build/coverage/cli/vigil replay replays/tensorflow`
after a reset says what the recordings reach. A second argument is another folder than core. Tests and what only they use
(*_test.cc, testing.h, testing.cc) do not count. Branches that only an exception takes do not count either; the check of a macro that
returns an error is a branch, so that a share of 100 % is nobody's aim. A program that ends by _exit leaves no counts: what plays in
workers is played with `--jobs 0`.
"""

import collections
import json
import os
import re
import subprocess
import sys

import tree

OF_TESTS = re.compile(r"(_test\.cc|/testing\.(h|cc))$")


def count_files(build):
    return [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names if name.endswith(".gcda")]


def run_counts(build, wanted):
    """{file: {line: how often it ran}} of the files below the folder `wanted`, and {file: {(line, branches, which): how often}}."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    branches = collections.defaultdict(lambda: collections.defaultdict(int))
    paths = [os.path.abspath(path) for path in count_files(build)]
    for start in range(0, len(paths), 20):
        done = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", *paths[start:start + 20]], cwd=build, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for document in map(json.loads, done.stdout.splitlines()):
            for file in document["files"]:
                path = os.path.realpath(os.path.join(document["current_working_directory"], file["file"]))
                path = os.path.relpath(path, tree.ROOT)
                if not path.startswith(wanted + "/") or OF_TESTS.search(path):
                    continue
                for line in file["lines"]:
                    counts[path][line["line_number"]] += line["count"]
                    here = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                    for which, count in enumerate(here):  # of all instances of a template together
                        branches[path][line["line_number"], len(here), which] += count
    return counts, branches


def ranges(lines):
    """[3, 4, 5, 9] -> "3-5 9"."""
    out = []
    for line in lines:
        if out and out[-1][1] == line - 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def of_branches(counts):
    if not counts:
        return ""
    taken = sum(count > 0 for count in counts)
    return f", {taken} of {len(counts)} branches ({taken / len(counts):.0%})"


def main(arguments):
    options = [a for a in arguments if a.startswith("--")]
    build, wanted = ([a for a in arguments if not a.startswith("--")] + ["core"])[:2]
    if "--reset" in options:
        for path in count_files(build):
            os.remove(path)
        return 0
    rows = []
    lines, branches = run_counts(build, wanted.rstrip("/"))
    for path, counts in lines.items():
        missed = sorted(line for line, count in counts.items() if count == 0)
        rows.append((1 - len(missed) / len(counts), len(counts), path, missed))
    if not rows:
        print(f"no counts below {build}: build it with the preset `coverage` and run something", file=sys.stderr)
        return 1
    for share, total, path, missed in sorted(rows):
        print(f"{share:7.1%} of {total:4} {path}" + (of_branches(branches[path].values()) if "--branches" in options else "")
              + (f": {ranges(missed)}" if missed and "--lines" in options else ""))
        if {"--branches", "--lines"} <= set(options):
            halves = sorted({line for (line, _, _), count in branches[path].items() if count == 0} - set(missed))
            if halves:
                print(f"{'':16}one side only: {ranges(halves)}")
    total, missed = sum(r[1] for r in rows), sum(len(r[3]) for r in rows)
    print(f"{1 - missed / total:7.1%} of {total} lines of {wanted}: {missed} never ran")
    if "--branches" in options:
        print(f"{wanted}{of_branches([count for file in branches.values() for count in file.values()])}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
