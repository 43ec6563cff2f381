#!/usr/bin/env python3
"""Refuses a test of TensorFlow's without a row in docs/upstream_tests.md, and a row that refers to a test that is not there.

A row: | tests of TensorFlow's | where they are covered, or "cannot apply", or "open" | why, where they are not covered |
The tests are listed in .ci/upstream_tests.txt.
"""

import sys

import tables
import tree

TABLE = "docs/upstream_tests.md"
LIST = ".ci/upstream_tests.txt"


def read_table(root):
    """(line, file, tests, where, note) of each row."""
    for line, heading, (tests, where, note) in tables.rows(tree.read(root, TABLE), 3):
        yield line, heading, tables.NAME.findall(tests), where, note


def kind_of(where):
    return where if where in ("cannot apply", "open") else "covered"


def summary(root):
    listed = list(tables.names_of(root, LIST))
    count = {"covered": 0, "cannot apply": 0, "open": 0}
    for _, _, tests, where, _ in read_table(root):
        count[kind_of(where)] += len(tests)
    return f"Tests: {len(listed)}. Covered: {count['covered']}. Cannot apply: {count['cannot apply']}. Open: {count['open']}."


def open_tests(root):
    return [f"open: {file} {test}: {note}" for _, file, tests, where, note in read_table(root) if kind_of(where) == "open"
            for test in tests]


def check(root):
    references = tables.References(root)
    errors = []
    patterns = []
    for line, file, tests, where, note in read_table(root):
        patterns += [(line, f"{file} {test}") for test in tests]
        if not tests:
            errors.append(f"{TABLE}:{line}: the row names no test")
        if kind_of(where) != "covered":
            if not note:
                errors.append(f"{TABLE}:{line}: {where}: say why")
            continue
        errors += [f"{TABLE}:{line}: {e}" for e in references.errors(where)]
    errors += tables.compare([f"{s} {n}" for s, n in tables.names_of(root, LIST)], patterns, TABLE)
    if summary(root) not in tree.read(root, TABLE).splitlines():
        errors.append(f"{TABLE}:1: the sums are: {summary(root)}")
    return errors


def self_test():
    def row(name, table, *wanted, listed="[a_test.py]\nATest.one\nATest.two\n"):
        head = "| test | covered by | note |\n|---|---|---|\n"
        contents = {LIST: listed, TABLE: table.replace("HEAD\n", head),
                    "core/a_test.cc": "TEST_F(ATest, One) {}\nTEST(ATest,\n     Two) {}\n",
                    "replays/tensorflow/cases.jsonl": '{"id": "a_case", "seed": 1}\n'}
        tree.expect(name, tree.planted(check, contents), wanted)

    sums = "Tests: 2. Covered: 2. Cannot apply: 0. Open: 0.\n"
    good = "## `a_test.py`\nHEAD\n| `ATest.one` | `core/a_test.cc` ATest.One, ATest.Two | |\n"
    row("good", sums + good + "| `ATest.two` | `replays/tensorflow` a_case; `core/a_test.cc` ATest.One | all of it |\n")
    row("two in a row", sums + good.replace("| `ATest.one` |", "| `ATest.one`, `ATest.two` |"))
    row("no row", sums.replace("Covered: 2", "Covered: 1") + good, "no row for a_test.py ATest.two")
    row("two rows", sums.replace("Covered: 2", "Covered: 3") + good + "| `ATest.one`, `ATest.two` | `replays/tensorflow` a_case | |\n",
        "ATest.one has another row, line 5")
    row("unlisted", sums + good + "| `ATest.two` | `replays/tensorflow` a_case | |\n", "ATest.two is not in the list",
        "the sums are: Tests: 1.", listed="[a_test.py]\nATest.one\n")
    row("another file's", sums.replace("Covered: 2", "Covered: 1") + good, "no row for b_test.py ATest.one",
        listed="[a_test.py]\nATest.one\n[b_test.py]\nATest.one\n")
    row("dangling test", sums + good + "| `ATest.two` | `core/a_test.cc` ATest.Three | |\n",
        "docs/upstream_tests.md:6: there is no ATest.Three in core/a_test.cc")
    row("dangling file", sums + good + "| `ATest.two` | `core/b_test.cc` ATest.One | |\n", "there is no test file core/b_test.cc")
    row("dangling recording", sums + good + "| `ATest.two` | `replays/tensorflow` b_case | |\n", "there is no b_case")
    row("no reference", sums + good + "| `ATest.two` | somewhere | |\n", "'somewhere' is no reference")
    row("no reason", sums.replace("Covered: 2. Cannot apply: 0", "Covered: 1. Cannot apply: 1") + good + "| `ATest.two` | cannot apply | |\n",
        "cannot apply: say why")
    row("open", sums.replace("Covered: 2", "Covered: 1").replace("Open: 0", "Open: 1") + good + "| `ATest.two` | open | to do |\n")
    row("wrong sums", sums + good + "| `ATest.two` | open | to do |\n", "the sums are: Tests: 2. Covered: 1. Cannot apply: 0. Open: 1.")
    row("names nobody", sums + good + "| ATest.two | open | to do |\n", "the row names no test", "no row for a_test.py ATest.two",
        "the sums are")


if __name__ == "__main__":
    if sys.argv[1:] != ["--self-test"]:
        print("\n".join([*open_tests(tree.ROOT), summary(tree.ROOT)]))
    tree.main(check, self_test)
