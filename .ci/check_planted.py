#!/usr/bin/env python3
"""Production code does not know of the planted bugs (properties/planted/README.md), and each of them still fits it.

    .ci/check_planted.py                      no file of core/ or sim/ holds a word of them; what each looks for stands there once
    .ci/check_planted.py --build DIR          what is compiled: a build without them holds none of their switches; one with them does
"""

import glob
import os
import re
import sys

import tree

sys.path.insert(0, os.path.join(tree.ROOT, "properties", "planted"))
import weave  # noqa: E402

WORD = re.compile(r"planted", re.I)
SYMBOL = b"7planted"  # as mangled names spell the namespace of the switches
FOLDERS = ("core/", "sim/")


def check(root):
    errors = []
    for path in tree.files(root, ".h", ".cc", ".proto", "CMakeLists.txt"):
        if path.startswith(FOLDERS) and WORD.search(tree.read(root, path)):
            errors.append(f"{path} speaks of planted bugs")
    return errors + weave.check(root)


def check_build(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        planted = re.search(r"^VIGIL_PLANTED_BUGS:BOOL=(ON|1|TRUE|YES)$", cache.read(), re.M) is not None
    libraries = sorted(path for folder in FOLDERS for path in glob.glob(f"{build}/{folder}**/*.a", recursive=True))
    holding = set()
    for path in libraries:
        with open(path, "rb") as file:
            if SYMBOL in file.read():
                holding.add(os.path.relpath(path, build))
    if not libraries:
        return [f"{build}: there is nothing to look at"]
    if not planted:
        return [f"{build}/{path} holds a planted bug" for path in sorted(holding)]
    # That this way of looking finds something.
    return [] if "core/train/libcore_train.a" in holding else [f"{build}: it has planted bugs, but they are not seen in core/train"]


def self_test():
    bug = 'id = "a.{id}"\nmistake = "m"\n[[edit]]\nfile = "core/x.cc"\nfind = "{find}"\nreplace = "{replace}"\n'

    def row(name, bugs, *wanted, text="int f() {\n  return 1;\n}\n"):
        contents = {f"{weave.BUGS}/a.{id}.toml": bug.format(id=id, find=find, replace=replace) for id, find, replace in bugs}
        tree.expect(name, tree.planted(check, {**contents, "core/x.cc": text}), wanted)

    row("it fits", [("b", "return 1;", "return PLANTED ? 2 : 1;")])
    row("two at one place", [("b", "1", "(PLANTED ? 2 : 1)"), ("c", "1", "(PLANTED ? 3 : FOUND)")])
    row("a word in core", [("b", "return 1;", "return PLANTED;")], "core/x.cc speaks of", text="return 1;  // not planted\n")
    row("it is not there", [("b", "return  1;", "PLANTED")], "a.b: in core/x.cc this stands 0 times")
    row("it is there twice", [("b", "return", "PLANTED")], "a.b: in core/x.cc this stands 2 times", text="return return")
    row("they overlap", [("b", "return 1", "PLANTED"), ("c", "1;", "PLANTED")], "planted bugs a.b and a.c")
    row("one forgets the other", [("b", "1", "PLANTED"), ("c", "1", "PLANTED")], "a.c: a.b is at the same place")
    row("no switch", [("b", "1", "2")], "a.b: no edit asks the switch")
    for key, value, wanted in (("suite", '["random"]', "suite must be one of"), ("without", "1", "without is a text"),
                               ("probes_only", '"no"', "probes_only is true or false")):
        text = bug.format(id="b", find="1", replace="PLANTED").replace("[[edit]]", f"{key} = {value}\n[[edit]]")
        tree.expect(key, tree.planted(check, {f"{weave.BUGS}/a.b.toml": text, "core/x.cc": "1"}), [f"a.b: {wanted}"])

    bugs = {"a.b": {"id": "a.b", "edit": [{"file": "x.cc", "find": "1;", "replace": "\n2 + PLANTED;"}]}}
    woven = weave.woven("x.cc", "a(\n1;\n3;\n4;\n", bugs, "/x.cc")
    if not woven.endswith('#line 1 "/x.cc"\na(\n\n2 + (::vigil::planted::a_b.load(std::memory_order_relaxed));\n#line 3 "/x.cc"\n3;\n4;\n'):
        sys.exit(f"self-test weave: got {woven}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        found = check_build(sys.argv[2])
        for line in found:
            print(line)
        sys.exit(1 if found else 0)
    tree.main(check, self_test)
