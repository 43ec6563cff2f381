#!/usr/bin/env python3
"""Weaves the planted bugs (properties/planted/README.md) into copies of the sources that they name.

    weave.py --files [--extra TOML]                            which sources have planted bugs, one a line
    weave.py --id TOML                                         the id of the bug in that file
    weave.py --weave SOURCE --out FILE [--extra TOML]          SOURCE with its bugs, all of them off
    weave.py --switches --out FILE [--extra TOML]              C++: a switch for each bug
    weave.py --registry --out FILE [--extra TOML]              C++: what properties/planted/registry.h declares

TOML is a bug of one's own, or a folder of them, beside those of properties/planted/bugs. A file is written only if it changes. What is wrong with a bug
is told with its id and ends with exit code 1.
"""

import argparse
import difflib
import os
import re
import sys
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUGS = "properties/planted/bugs"
ID = re.compile(r"[a-z_]+\.[a-z_]+")
SWITCH = re.compile(r"\bPLANTED\b")  # in what takes a text's place: whether the bug is on
FOUND = re.compile(r"\bFOUND\b")  # ... and the text, as bugs before have left it
NEEDS = {"recovery": "kNeedsRecovery", "two faults": "kNeedsTwoFaults", "cluster": "kNeedsCluster"}
SUITES = {"random": "PlantedSuite::kRandom", "cluster": "PlantedSuite::kCluster"}
KEYS = {"id", "mistake", "needs", "rules", "suite", "without", "probes_only", "takes_back_a_measure", "edit"}


class Wrong(Exception):
    """What is wrong with a bug, for whoever wrote it."""


def require(right, bug, what):
    if not right:
        raise Wrong(f"planted bug {bug}: {what}")


def load(path):
    with open(path, "rb") as file:
        try:
            bug = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Wrong(f"planted bug {path}: {error}") from error
    name = bug.get("id", path)
    require(isinstance(name, str) and ID.fullmatch(name), name, f"its id must be like session.end_twice ({path})")
    require(not bug.keys() - KEYS, name, f"unknown keys: {', '.join(sorted(bug.keys() - KEYS))}")
    require(isinstance(bug.get("mistake"), str), name, "it does not say what mistake it is")
    edits = bug.get("edit")
    require(isinstance(edits, list) and edits and all(isinstance(edit, dict) for edit in edits), name, "it has no [[edit]]")
    for key in ("needs", "rules"):
        texts = bug.get(key, [])
        require(isinstance(texts, list) and all(isinstance(text, str) for text in texts), name, f"{key} is a list of texts")
    require(bug.get("suite", "random") in list(SUITES), name, f"suite must be one of {', '.join(SUITES)}")
    require(isinstance(bug.get("without", ""), str), name, "without is a text: a switch of the behaviour")
    for key in ("probes_only", "takes_back_a_measure"):
        require(isinstance(bug.get(key, False), bool), name, f"{key} is true or false")
    for need in bug.get("needs", []):
        require(need in NEEDS, name, f"needs {need!r}; there are {', '.join(NEEDS)}")
    for edit in bug["edit"]:
        require(edit.keys() == {"file", "find", "replace"} and all(isinstance(text, str) for text in edit.values()), name,
                "an edit has file, find and replace, all texts")
        require(edit["file"].endswith(".cc"), name, f"{edit['file']} is no .cc: who includes a header would not see the edit")
        require(edit["find"], name, "an edit that looks for nothing")
    require(any(SWITCH.search(edit["replace"]) for edit in bug["edit"]), name, "no edit asks the switch: PLANTED")
    return bug


def bugs_of(root, extra=None):
    """All bugs, by id."""
    def in_folder(folder):
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".toml")]

    paths = in_folder(os.path.join(root, BUGS))
    if extra:
        paths += in_folder(extra) if os.path.isdir(extra) else [extra]
    found = {}
    for path in paths:
        bug = load(path)
        require(path == extra or os.path.basename(path) == bug["id"] + ".toml", bug["id"], f"its file is called {path}")
        require(switch(bug) not in map(switch, found.values()), bug["id"], f"there is one of that name already ({path})")
        found[bug["id"]] = bug
    return dict(sorted(found.items()))


def switch(bug):
    return bug["id"].replace(".", "_")


def nearest(text, find):
    wanted = max((line.strip() for line in find.split("\n")), key=len)
    lines = text.split("\n")
    close = difflib.get_close_matches(wanted, {line.strip() for line in lines}, n=3, cutoff=0.5)
    shown = [f"\n    {number}: {line}" for number, line in enumerate(lines, 1) if line.strip() in close]
    return " The nearest lines are" + "".join(shown) if shown else " No line is like it."


def spans(path, text, bugs):
    """[(from, to, what takes its place)], in order; and what is wrong."""
    found = {}  # find: [(bug, edit)]
    errors = []
    for bug in bugs.values():
        for edit in bug["edit"]:
            if edit["file"] == path:
                found.setdefault(edit["find"], []).append((bug, edit))
    edits = []
    for find, planted in found.items():
        names = ", ".join(bug["id"] for bug, _ in planted)
        times = text.count(find)
        if times != 1:
            errors.append(f"planted bug {names}: in {path} this stands {times} times, not once:\n{find}\n"
                          + (nearest(text, find) if times == 0 else " Add lines around it."))
            continue
        place = find
        for number, (bug, edit) in enumerate(planted):
            if number > 0 and not FOUND.search(edit["replace"]):
                errors.append(f"planted bug {bug['id']}: {planted[0][0]['id']} is at the same place of {path}: say FOUND for the text "
                              "as that one left it")
            asked = SWITCH.sub(f"(::vigil::planted::{switch(bug)}.load(std::memory_order_relaxed))", edit["replace"])
            place = FOUND.sub(lambda _, there=place: there, asked)
        edits.append((text.index(find), text.index(find) + len(find), place, names))
    edits.sort()
    for one, two in zip(edits, edits[1:]):
        if two[0] < one[1]:
            errors.append(f"planted bugs {one[3]} and {two[3]}: what they look for in {path} overlaps; look for the same text, or "
                          "for less")
    return edits, errors


def woven(path, text, bugs, shown_as):
    """`text` with its bugs. Messages and debuggers show the lines of the file itself."""
    edits, errors = spans(path, text, bugs)
    if errors:
        raise Wrong("\n".join(errors))
    mine = [bug for bug in bugs.values() if any(edit["file"] == path for edit in bug["edit"])]
    out = [f"// {path} with its planted bugs, woven by properties/planted/weave.py. Edit that file, not this one.\n#include <atomic>\n"
           "namespace vigil::planted {\n"]
    out += [f"extern std::atomic<bool> {switch(bug)};\n" for bug in mine]
    out += ["}  // namespace vigil::planted\n", f'#line 1 "{shown_as}"\n']
    at = 0
    edits.append((len(text), len(text), "", ""))
    moved = False  # lines are not where they were
    for begin, end, place, _ in edits:
        while moved and at < begin:
            newline = text.find("\n", at, begin)
            if newline < 0:
                break
            out.append(text[at : newline + 1])
            at = newline + 1
            # Not within the arguments of a macro, where no directive may stand.
            if text[newline - 1] in ";{}":
                out.append(f'#line {text.count(chr(10), 0, at) + 1} "{shown_as}"\n')
                moved = False
        out += [text[at:begin], place]
        moved = moved or place.count("\n") != text.count("\n", begin, end)
        at = end
    return "".join(out)


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def switches(bugs):
    lines = ["// Made by properties/planted/weave.py.", '#include "vigil/properties/planted/switches.h"', "", "#include <atomic>",
             "#include <cstdio>", "#include <cstdlib>", "",
             "namespace vigil::planted {"]
    lines += [f"extern std::atomic<bool> {switch(bug)};\nconstinit std::atomic<bool> {switch(bug)}{{false}};" for bug in bugs.values()]
    lines += ["}  // namespace vigil::planted", "", "namespace vigil {", "namespace {", "struct Switch {", "  std::string_view id;",
              "  std::atomic<bool>* on;", "};", "constexpr Switch kSwitches[] = {"]
    lines += [f"    {{{literal(bug['id'])}, &planted::{switch(bug)}}}," for bug in bugs.values()]
    lines += ["};", "}  // namespace", "", "bool TurnOnPlantedBug(std::string_view id) {", "  for (const Switch& each : kSwitches) {",
              "    if (each.id != id) continue;", "    each.on->store(true);", "    return true;", "  }", "  return false;", "}",
              "bool PlantedBugIsOn(std::string_view id) {",
              "  for (const Switch& each : kSwitches) {", "    if (each.id == id) return each.on->load();", "  }", "  return false;", "}",
              "void TurnOffPlantedBugs() {", "  for (const Switch& each : kSwitches) each.on->store(false);", "}",
              # Any program, a test for example, may be run with a bug: VIGIL_PLANT=ID program.
              "namespace {", "[[maybe_unused]] const bool kByEnvironment = [] {", "  const char* const id = std::getenv(\"VIGIL_PLANT\");",
              "  if (id == nullptr || TurnOnPlantedBug(id)) return true;",
              "  std::fprintf(stderr, \"error: VIGIL_PLANT: no planted bug is called '%s'\\n\", id);", "  std::exit(2);", "}();",
              "}  // namespace", "}  // namespace vigil", ""]
    return "\n".join(lines)


def registry(bugs):
    lines = ["// Made by properties/planted/weave.py.", '#include "vigil/properties/planted/registry.h"', "",
             "namespace vigil::properties {", "namespace {", "constexpr PlantedBug kBugs[] = {"]
    for bug in bugs.values():
        needs = " | ".join(NEEDS[need] for need in bug.get("needs", [])) or "0"
        lines.append(f"    {{.id = {literal(bug['id'])},\n     .where = {literal(bug['edit'][0]['file'])},\n"
                     f"     .mistake = {literal(bug['mistake'])},\n     .needs = {needs},\n"
                     f"     .rules = {literal(' '.join(bug.get('rules', [])))},\n"
                     f"     .suite = {SUITES[bug.get('suite', 'random')]},\n     .without = {literal(bug.get('without', ''))},\n"
                     f"     .probes_only = {str(bug.get('probes_only', False)).lower()},\n"
                     f"     .takes_back_a_measure = {str(bug.get('takes_back_a_measure', False)).lower()}}},")
    lines += ["};", "}  // namespace", "", "std::span<const PlantedBug> PlantedBugs() { return kBugs; }", "",
              "}  // namespace vigil::properties", ""]
    return "\n".join(lines)


def check(root):
    """What is wrong with the bugs of that tree."""
    try:
        bugs = bugs_of(root)
    except Wrong as wrong:
        return [str(wrong)]
    errors = []
    for path in sorted({edit["file"] for bug in bugs.values() for edit in bug["edit"]}):
        if not os.path.exists(os.path.join(root, path)):
            errors.append(f"planted bugs name {path}, which is not there")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            errors += spans(path, file.read(), bugs)[1]
    return errors


def write(path, text):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    what = parser.add_mutually_exclusive_group(required=True)
    for option in ("--files", "--switches", "--registry"):
        what.add_argument(option, action="store_true")
    what.add_argument("--id")
    what.add_argument("--weave")
    parser.add_argument("--out")
    parser.add_argument("--extra")
    args = parser.parse_args()
    if args.id:
        print(load(args.id)["id"])
        return
    bugs = bugs_of(ROOT, args.extra or None)
    if args.files:
        files = sorted({edit["file"] for bug in bugs.values() for edit in bug["edit"]})
        missing = [path for path in files if not os.path.exists(os.path.join(ROOT, path))]
        if missing:
            raise Wrong(f"planted bugs name {', '.join(missing)}, which is not there")
        print("\n".join(files))
    elif args.weave:
        source = os.path.join(ROOT, args.weave)
        with open(source, encoding="utf-8") as file:
            write(args.out, woven(args.weave, file.read(), bugs, source))
    else:
        write(args.out, switches(bugs) if args.switches else registry(bugs))


if __name__ == "__main__":
    try:
        main()
    except (Wrong, OSError) as wrong:
        sys.exit(f"error: {wrong}")
