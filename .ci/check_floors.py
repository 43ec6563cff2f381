#!/usr/bin/env python3
"""Refuses an include that goes up or sideways between the floors of .ci/floors.txt."""

import os
import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
# Folders with C++ that are part of no floor: a stranger's program, built against the installed package only.
OUTSIDE = ".ci/"
PICTURE = "docs/architecture.md"
MOST_SOURCES = 40


def read_floors(root):
    """Folder -> (number of its floor, counted from the top; the floor's folders)."""
    floors = {}
    for number, line in enumerate(l for l in tree.read(root, ".ci/floors.txt").splitlines() if not l.startswith("#")):
        for folder in line.split():
            floors[folder] = number
    return floors


def folder_of(path, floors):
    """The deepest listed folder above `path`; None if there is none."""
    folder = os.path.dirname(path)
    while folder and folder not in floors:
        folder = os.path.dirname(folder)
    return folder or None


def check_include(path, home, name, quoted, floors, root):
    if not name.startswith("vigil/"):
        near = [os.path.join(os.path.dirname(path), name), name]
        if quoted and any(os.path.exists(os.path.join(root, p)) for p in near):
            return f'write the include from the root: "vigil/{os.path.dirname(path)}/{os.path.basename(name)}"'
        return None
    target = folder_of(name[len("vigil/"):], floors)
    if target is None:
        return f"{name} is in no folder of .ci/floors.txt"
    if target == home or floors[target] > floors[home]:
        return None
    if path.endswith(("_test.cc", "/testing.h", "/testing.cc")) and target == "fakes":
        return None
    where = "sideways" if floors[target] == floors[home] else "up"
    return f"{home} may not include {target}: that goes {where} ({name})"


def check_picture(root, floors):
    """The table of floors in PICTURE names the folders of .ci/floors.txt, in their order."""
    rows = re.findall(r"^\| [^|]+ \| ((?:`[\w/]+/` ?)+)\|", tree.read(root, PICTURE), re.M)
    shown = [re.findall(r"`([\w/]+)/`", row) for row in rows]
    errors = []
    last = -1
    for folders in shown:
        for folder in folders:
            if folder not in floors:
                errors.append(f"{PICTURE}: {folder} is in no floor of .ci/floors.txt")
            elif floors[folder] < last:
                errors.append(f"{PICTURE}: {folder} stands below a folder that it is above of")
        last = max([last] + [floors[folder] for folder in folders if folder in floors])
    named = {folder for folders in shown for folder in folders}
    return errors + [f"{PICTURE}: the table of floors lacks {folder}" for folder in floors if folder not in named]


def check_rooms(root):
    """A folder is one idea: with more sources than MOST_SOURCES it has become several."""
    rooms = {}
    for path in tree.files(root, ".cc"):
        if not path.endswith("_test.cc"):
            rooms[os.path.dirname(path)] = rooms.get(os.path.dirname(path), 0) + 1
    return [f"{room}: {count} sources; the limit is {MOST_SOURCES}: make rooms of it"
            for room, count in rooms.items() if count > MOST_SOURCES]


def check(root):
    floors = read_floors(root)
    errors = check_rooms(root)
    if os.path.exists(os.path.join(root, PICTURE)):
        errors += check_picture(root, floors)
    for path in tree.files(root, ".h", ".cc"):
        if path.startswith(OUTSIDE):
            continue
        home = folder_of(path, floors)
        if home is None:
            errors.append(f"{path}:1: in no folder of .ci/floors.txt")
            continue
        text = tree.code_only(tree.read(root, path))
        for match in INCLUDE.finditer(text):
            error = check_include(path, home, match.group(2), match.group(1) == '"', floors, root)
            if error:
                errors.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {error}")
    return errors


def self_test():
    floors = "# top first\ncli\nfakes\ncore/train/hooks\ncore/train\ncore/io core/graph\ncore/base\n"

    def row(name, path, text, *wanted):
        tree.expect(name, tree.planted(check, {".ci/floors.txt": floors, path: text, "core/base/base.h": ""}), wanted)

    row("down", "core/train/a.cc", '#include "vigil/core/base/base.h"\n')
    row("own folder", "core/train/a.cc", '#include "vigil/core/train/a.h"\n')
    row("up", "core/base/a.cc", '\n#include "vigil/core/io/x.h"\n', "core/base/a.cc:2: core/base may not include core/io: that goes up")
    row("sideways", "core/io/a.h", "#include <vigil/core/graph/x.h>\n", "that goes sideways")
    row("a folder inside another", "core/train/a.h", '#include "vigil/core/train/hooks/x.h"\n', "that goes up")
    row("hooks use train", "core/train/hooks/a.h", '#include "vigil/core/train/x.h"\n')
    row("a test uses fakes", "core/base/a_test.cc", '#include "vigil/fakes/x.h"\n')
    row("what tests of a folder share uses fakes", "core/base/testing.h", '#include "vigil/fakes/x.h"\n')
    def whole(name, files, *wanted):
        tree.expect(name, tree.planted(check, {".ci/floors.txt": "cli\ncore/io core/base\n", **files}), wanted)

    picture = "| floor | folders | what |\n|---|---|---|\n| programs | `cli/` | |\n| core | `core/io/` `core/base/` | |\n"
    whole("picture", {PICTURE: picture})
    whole("not in the picture", {PICTURE: picture.replace(" `core/io/`", "")}, "the table of floors lacks core/io")
    whole("picture upside down", {PICTURE: "| core | `core/io/` `core/base/` | |\n| programs | `cli/` | |\n"}, "cli stands below")
    whole("no such floor", {PICTURE: picture + "| cellar | `wine/` | |\n"}, "wine is in no floor")
    whole("a full room", {f"core/io/a{i}.cc": "" for i in range(40)})
    whole("a room too full", {f"core/io/a{i}.cc": "" for i in range(41)}, "core/io: 41 sources")
    row("a source does not", "core/base/a.cc", '#include "vigil/fakes/x.h"\n', "may not include fakes")
    row("in a comment", "core/base/a.cc", '// #include "vigil/fakes/x.h"\n')
    row("unlisted folder", "core/new/a.cc", "", "core/new/a.cc:1: in no folder")
    row("unlisted target", "cli/a.cc", '#include "vigil/nowhere/x.h"\n', "is in no folder")
    row("relative", "core/base/a.cc", '#include "base.h"\n', '"vigil/core/base/base.h"')
    row("a library's", "core/base/a.cc", '#include "absl/status/status.h"\n')


if __name__ == "__main__":
    tree.main(check, self_test)
