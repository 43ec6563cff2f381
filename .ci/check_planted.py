#!/usr/bin/env python3
"""Nothing of the planted bugs (core/base/planted.h) is in a build without VIGIL_PLANTED_BUGS.

    .ci/check_planted.py                      each source, preprocessed as a release does, holds no id and no switch
    .ci/check_planted.py --build DIR OBJECT...  what such a build has compiled: neither the objects nor, if DIR is a release, its
                                              libraries hold a name or a symbol; libraries of a build that has the bugs do
"""

import glob
import os
import re
import subprocess
import sys

import tree

MACRO = "VIGIL_PLANTED("
SYMBOL = b"PlantedBug"  # mangled names hold it too
HEADER = "core/base/planted.h"
FOLDERS = ("core/", "sim/")


def ids(root):
    return re.findall(r'"([a-z_]+\.[a-z_]+)"', tree.code_only(tree.read(root, HEADER)))


def preprocessed(root, text):
    """Without what it includes, but for the macro itself."""
    own = re.sub(r"^\s*#include.*$", "", text, flags=re.M)
    header = re.sub(r"^\s*#include.*$", "", tree.read(root, HEADER), flags=re.M)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-E", "-P", "-x", "c++", "-UVIGIL_PLANTED_BUGS", "-"]
    done = subprocess.run(command, input=header + own, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else MACRO + done.stderr


def check(root):
    known = ids(root)
    errors = []
    for path in tree.files(root, ".h", ".cc"):
        text = tree.read(root, path)
        if not path.startswith(FOLDERS) or path == HEADER or MACRO not in text:
            continue
        left = preprocessed(root, text)
        if MACRO in left or "PlantedBugIsOn" in left:
            errors.append(f"{path}: a release would ask for a planted bug")
        errors += [f"{path}: {known_id} is left in a release" for known_id in known if f'"{known_id}"' in left]
    return errors


def holds(path, names):
    with open(path, "rb") as file:
        data = file.read()
    return [name.decode() for name in [SYMBOL, *names] if name in data]


def check_build(build, objects):
    """Objects are compiled as a release does, whatever the build is."""
    names = [name.encode() for name in ids(tree.ROOT)]
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        planted = re.search(r"^VIGIL_PLANTED_BUGS:BOOL=(ON|1|TRUE|YES)$", cache.read(), re.M) is not None
    libraries = sorted(path for folder in FOLDERS for path in glob.glob(f"{build}/{folder}**/*.a", recursive=True))
    errors = [] if objects and libraries else [f"{build}: there is nothing to look at"]
    for path in objects if planted else [*objects, *libraries]:
        errors += [f"{path} holds {name}" for name in holds(path, names)]
    # That this way of looking finds something.
    base, train = f"{build}/core/base/libcore_base.a", f"{build}/core/train/libcore_train.a"
    if planted and not (len(holds(base, names)) == 1 + len(names) and holds(train, [])):
        errors.append(f"{build}: it has planted bugs, but they are not seen in {base} and {train}")
    return errors


def self_test():
    header = ('#ifdef VIGIL_PLANTED_BUGS\n#include <span>\nconstexpr const char* kBugs[] = {"a.b", "a.c"};\n'
              "#define VIGIL_PLANTED(id) (::vigil::PlantedBugIsOn(id))\n#else\n#define VIGIL_PLANTED(id) (false)\n#endif\n")

    def row(name, text, *wanted, its_header=header):
        tree.expect(name, tree.planted(check, {HEADER: its_header, "core/x.cc": text, "sim/y.cc": ""}), wanted)

    row("planted", '#include <vector>\nbool b = VIGIL_PLANTED("a.b") || VIGIL_PLANTED("a.c");\n')
    row("a name besides", 'const char* a = VIGIL_PLANTED("a.b") ? "a.c" : "";\n', "core/x.cc: a.c is left")
    row("always on", 'bool b = VIGIL_PLANTED("a.b");\n', "core/x.cc: a release would ask", "core/x.cc: a.b is left",
        its_header=header.replace("(false)", "(::vigil::PlantedBugIsOn(id))"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        found = check_build(sys.argv[2], sys.argv[3:])
        for line in found:
            print(line)
        sys.exit(1 if found else 0)
    tree.main(check, self_test)
