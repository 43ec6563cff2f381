"""What the checks of the tables in docs/ share: rows, the tests and recordings that a cell refers to, lists of names."""

import fnmatch
import os
import re

import tree

NAME = re.compile(r"`([^`]+)`")
TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
RECORDED = "replays/tensorflow"


def rows(text, columns):
    """(line number, heading above, cells) of each row of a table, without its head."""
    heading = ""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            heading = line.lstrip("#").strip().strip("`")
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        if number < len(lines) and re.fullmatch(r"[|\-: ]+", lines[number]):
            continue
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        yield number, heading, cells + [""] * (columns - len(cells))


def names_of(root, path):
    """(section, name) of each line of a list of names: a line in brackets starts a section, # a comment."""
    section = ""
    for line in tree.read(root, path).splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            yield section, line.strip()


class References:
    """The tests and recordings of a tree, read when they are first asked for."""

    def __init__(self, root):
        self._root = root
        self._found = {}

    def _known(self, place):
        if place not in self._found:
            full = os.path.join(self._root, place)
            if place == RECORDED:
                files = [p for p in tree.files(full, ".jsonl")]
                self._found[place] = {i for p in files for i in re.findall(r'^{"id": ?"([^"]+)"', tree.read(full, p), re.M)}
            elif place.endswith("_test.cc") and os.path.isfile(full):
                self._found[place] = {f"{a}.{b}" for a, b in TEST.findall(tree.read(self._root, place))}
            else:
                self._found[place] = None
        return self._found[place]

    def errors(self, cell):
        """What is wrong with a cell like: `core/a_test.cc` ATest.X, ATest.Y; `replays/tensorflow` id_one"""
        for reference in cell.split(";"):
            match = re.fullmatch(r"\s*`([\w./]+)`\s+(.+?)\s*", reference)
            if not match:
                yield f"'{reference.strip()}' is no reference: write `file_test.cc` Suite.Name, or `{RECORDED}` id"
                continue
            known = self._known(match.group(1))
            if known is None:
                yield f"there is no test file {match.group(1)}"
                continue
            for name in (n.strip() for n in match.group(2).split(",")):
                if name not in known:
                    yield f"there is no {name} in {match.group(1)}"


def matches(name, pattern):
    return fnmatch.fnmatchcase(name, pattern)


def compare(listed, patterns, path):
    """The errors of a table that must have exactly one row for each listed name; patterns: (line, pattern), * allowed."""
    errors = []
    used = set()
    for name in sorted(set(listed)):
        lines = sorted({line for line, pattern in patterns if matches(name, pattern)})
        if not lines:
            errors.append(f"{path}:1: no row for {name}")
        elif len(lines) > 1:
            errors.append(f"{path}:{lines[1]}: {name} has another row, line {lines[0]}")
        used.update(p for p in patterns if matches(name, p[1]))
    errors += [f"{path}:{line}: {pattern} is not in the list" for line, pattern in patterns if (line, pattern) not in used]
    return errors
