#!/usr/bin/env python3
"""Mutants: planted bugs that nobody thought of (docs/mutation.md). Small changes of production code, made by a machine; whatever
changes nothing that the campaigns see is a hole in a judge, a second line of defence, or no change at all.

    mutants.py make --out DIR [--count N] [--seed N] [FOLDER...]    writes planted bugs, a file each
    mutants.py build --bugs DIR --build DIR                          builds vigil with them; those that do not compile are dropped
    mutants.py play --bugs DIR --build DIR --state FILE              plays each by the campaign of `vigil check --planted`
    mutants.py recorded --bugs DIR --build DIR --state FILE          replays what TensorFlow did
    mutants.py tests --bugs DIR --build DIR --state FILE             runs the tests of its folder
    mutants.py report --bugs DIR --state FILE [--reviewed FILE]      the score, and every survivor, as Markdown

The last three take those that nothing has found yet; FILE gets a line for each, so that they can be gone on with.

A mutant changes one line, and a line has one mutant in a sample. Which, and which lines, follows from the seed alone.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys

import weave

FOLDERS = ("core/cluster", "core/coord", "core/checkpoint", "core/train")
CODE = re.compile(r"Code::k(?!Ok\b)[A-Z]\w*")
COMPARISONS = {" <= ": " < ", " >= ": " > ", " < ": " <= ", " > ": " >= ", " == ": " != ", " != ": " == "}
STATEMENT = re.compile(r"((\+\+|--)[\w.>\[\]:-]+|[\w:]+([.\w:]|->|\[[\w:.]*\]|\(\))*(\(.*\)|\+\+|--| [+|-]?= .+));")
TEST_BYTES = 8 << 30  # of address space; the largest takes an eighth
TEST_SECONDS = 30  # of one test program, on the processor: they take a tenth; ten times as long by the clock
PASSED_OVER = ("VIGIL_ASSIGN", "#", "//", "case ", "default:", "constexpr ", "static ", "using ", "template", "namespace ", "VIGIL_CHECK")


def masked(line):
    """`line` with what stands in quotes blanked out, so that nothing is found there."""
    return re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', lambda found: "_" * len(found.group()), line)


def closing(text, start):
    """Where the bracket closes that opens at `start`; -1 if it does not."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1


def changed_values(value):
    """[(what, a value of another kind)] of an expression that is a truth value, or holds one."""
    plain = masked(value)
    changes = []
    for old, new in ((" && ", " || "), (" || ", " && ")):
        if plain.count(old) == 1 and " || " not in plain.replace(old, new if old == " || " else "_"):
            at = plain.index(old)
            changes.append((f"{old.strip()} is {new.strip()}", value[:at] + new + value[at + 4 :]))
    for old, new in COMPARISONS.items():
        if plain.count(old) == 1 and "<" not in plain.replace(old, "") and ">" not in plain.replace(old, "").replace("->", ""):
            at = plain.index(old)
            changes.append((f"{old.strip()} is {new.strip()}", value[:at] + new + value[at + len(old) :]))
    return changes


def changes_of(line, before):
    """[(what, the line with PLANTED)]. `before`: the line before, which says whether a statement may get an `if`."""
    text = line.strip()
    plain = masked(text)
    if not text or text.startswith(PASSED_OVER) or plain.count("(") != plain.count(")"):
        return []
    indent = line[: len(line) - len(line.lstrip())]
    changes = []
    found = re.match(r"(\} else )?(if|while) \(", plain)
    if found:
        opens = found.end() - 1
        closes = closing(plain, opens)
        value, rest = text[opens + 1 : closes], text[closes + 1 :]
        if closes > 0 and " = " not in plain[opens:closes] and ";" not in plain[opens:closes]:
            head = indent + text[: opens + 1]
            changes += [("the condition is the opposite", f"{head}PLANTED ? !({value}) : ({value})){rest}")]
            changes += [(what, f"{head}PLANTED ? ({new}) : ({value})){rest}") for what, new in changed_values(value)]
            if rest.startswith(" return") or rest == " {":
                changes.append(("this never holds", f"{head}!PLANTED && ({value})){rest}"))
    elif re.match(r"return (true|false);$", plain):
        changes.append(("the opposite is returned", f"{indent}return {'!' if 'true' in plain else ''}PLANTED;"))
    elif re.match(r"return .*;$", plain) and (" && " in plain or " || " in plain or any(op in plain for op in COMPARISONS)):
        value = text[len("return ") : -1]
        changes += [(what, f"{indent}return PLANTED ? ({new}) : ({value});") for what, new in changed_values(value)]
    elif STATEMENT.fullmatch(plain) and before.rstrip().endswith(("{", "}", ";")) and not plain.startswith("return"):
        changes.append(("this is left out", f"{indent}if (!PLANTED) {text}"))
    if "constexpr" not in plain:
        found = CODE.search(plain)
        if found and len(CODE.findall(plain)) == 1:
            other = "Code::kInternal" if found.group() != "Code::kInternal" else "Code::kUnavailable"
            swapped = f"(PLANTED ? {other} : {found.group()})"
            changes.append((f"{found.group()} is {other}", indent + text[: found.start()] + swapped + text[found.end() :]))
        found = re.search(r" ([+-]) 1\b(?![.\w'])", plain)
        if found:
            at = found.start()
            changes.append((f"{found.group(1)} 1 is left out",
                            f"{indent}{text[:at]} {found.group(1)} (PLANTED ? 0 : 1){text[found.end():]}"))
    return changes


def draw(seed, *what):
    return int.from_bytes(hashlib.sha256(":".join(map(str, (seed, *what))).encode()).digest()[:8], "big")


def sources(root, folders):
    for folder in folders:
        for place, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), root)
                if name.endswith(".cc") and not name.endswith("_test.cc") and name not in ("testing.cc",):
                    yield path


def candidates(path, text, taken, seed):
    """Mutants of a source: (draw, path, number of the line, line, what, replacement), a line each at most one."""
    lines = text.split("\n")
    at = 0
    for number, line in enumerate(lines, 1):
        begin, at = at, at + len(line) + 1
        if text.count(line) != 1 or any(begin < end and at > start for start, end in taken):
            continue
        changes = changes_of(line, lines[number - 2] if number > 1 else "")
        if changes:
            what, place = changes[draw(seed, "which", path, number) % len(changes)]
            yield draw(seed, "whether", path, number), path, number, line, what, place


def letters(number):
    text = ""
    while number > 0 or len(text) < 3:
        number, digit = divmod(number, 26)
        text = chr(ord("a") + digit) + text
    return text


def toml(text):
    return "'''\n" + text + "'''"


def make(args):
    bugs = weave.bugs_of(weave.ROOT)
    found = []
    for path in sources(weave.ROOT, args.folders or FOLDERS):
        with open(os.path.join(weave.ROOT, path), encoding="utf-8") as file:
            text = file.read()
        taken = [(begin, end) for begin, end, _, _ in weave.spans(path, text, bugs)[0]]
        found += candidates(path, text, taken, args.seed)
    found.sort()
    chosen = sorted(found[: args.count], key=lambda mutant: mutant[1:3])
    os.makedirs(args.out, exist_ok=True)
    for number, (_, path, line_number, line, what, place) in enumerate(chosen):
        name = f"mutant.{letters(number)}"
        suite = "cluster" if path.startswith("core/cluster") else "random"
        weave.write(os.path.join(args.out, name + ".toml"),
                    f'id = "{name}"\nmistake = {json.dumps(f"{path}:{line_number}: {what}")}\nsuite = "{suite}"\n\n[[edit]]\n'
                    f'file = "{path}"\nfind = {toml(line)}\nreplace = {toml(place)}\n')
    print(f"{len(chosen)} of {len(found)} mutants (--seed {args.seed}), in {args.out}")


def mutants(folder):
    """By id."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    return {bug["id"]: bug for bug in (weave.load(os.path.join(folder, name)) for name in names)}


def at_fault(bugs, printed):
    """The mutants that a compiler complained of: by their line, or the last one before it (a function that returns all at once)."""
    places = collections.defaultdict(list)
    for name, bug in bugs.items():
        path, line = bug["mistake"].split(": ")[0].rsplit(":", 1)
        places[path].append((int(line), name))
    drop = set()
    for path, line in re.findall(r"^(/[^:\n]+):(\d+):\d+: error", printed, re.MULTILINE):
        before = [(at, name) for at, name in sorted(places[os.path.relpath(path, weave.ROOT)]) if at <= int(line)]
        drop.update(name for _, name in before[-1:])
    return sorted(drop)


def build(args):
    command = ["cmake", "--preset", "dev", "-B", args.build, f"-DVIGIL_PLANT_FILE={os.path.abspath(args.bugs)}"]
    while True:
        subprocess.run(command, cwd=weave.ROOT, check=True, stdout=subprocess.DEVNULL)
        built = subprocess.run(["cmake", "--build", args.build, "--target", args.target, "--", "-k", "0"], cwd=weave.ROOT, text=True,
                               capture_output=True, check=False)
        if built.returncode == 0:
            print(f"{len(mutants(args.bugs))} mutants compile")
            return
        drop = at_fault(mutants(args.bugs), built.stdout + built.stderr)
        if not drop:
            sys.exit(built.stdout[-4000:] + built.stderr[-4000:] + "\nerror: this is no mutant's fault")
        for name in drop:
            os.remove(os.path.join(args.bugs, name + ".toml"))
        print(f"{len(drop)} mutants do not compile: {', '.join(drop)}", flush=True)


def known(path):
    """What the state file says of each mutant and suite; a line that was cut off is none."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    continue
                try:
                    one = json.loads(line)
                    found[one["id"], one["suite"]] = one
                except (ValueError, TypeError, KeyError) as error:
                    raise weave.Wrong(f"{path}, line {number}: no result of a mutant: take the line out, or name another "
                                      "file") from error
    return found


def waiting(args, suite):
    """Those that nothing has found yet, and that have not been played so."""
    done = known(args.state)
    found = {name for (name, _), one in done.items() if one["first"] > 0}
    return [(name, bug) for name, bug in mutants(args.bugs).items() if name not in found and (name, suite or bug["suite"]) not in done]


def note(args, **line):
    with open(args.state, "a", encoding="utf-8") as state:
        state.write(json.dumps(line) + "\n")


def ran(args, name, *command):
    print(" ".join(command), flush=True) if args.verbose else None
    return subprocess.run(["nice", "-n", "10", *command], cwd=weave.ROOT, text=True, capture_output=True, check=False,
                          env=os.environ | ({"VIGIL_PLANT": name} if name else {}))


def vigil(args):
    return os.path.abspath(os.path.join(args.build, "cli", "vigil"))


def play(args):
    """By the campaign of `vigil check --planted`, which plays on until something is found."""
    of_suite = [(name, bug) for name, bug in waiting(args, args.suite) if args.own in ("", bug["suite"])]
    for at in range(0, len(of_suite), args.together):
        part = of_suite[at : at + args.together]
        command = [vigil(args), "check", "--planted", ",".join(name for name, _ in part), "--jobs", str(args.jobs), "--json", "-"]
        command += ["--seeds", args.seeds] if args.seeds else []
        command += ["--suite", args.suite] if args.suite else []
        end = ran(args, "", *command)
        if end.returncode not in (0, 1):
            sys.exit(f"{end.stdout}{end.stderr}\nerror: {' '.join(command)}: exit {end.returncode}")
        for bug in json.loads(end.stdout)["bugs"]:
            note(args, **{key: bug[key] for key in ("id", "mistake", "first", "found")}, suite=args.suite or bug["suite"])
        print(f"{at + len(part)} of {len(of_suite)}", flush=True)


def recorded(args):
    """Everything that TensorFlow did, once."""
    each = waiting(args, "recorded")
    for number, (name, bug) in enumerate(each, 1):
        end = ran(args, name, vigil(args), "replay", args.recordings, "--jobs", str(args.jobs))
        note(args, id=name, suite="recorded", mistake=bug["mistake"], first=int(end.returncode != 0), found="")
        print(f"{number} of {len(each)}: {name} {'found' if end.returncode else 'survives'}", flush=True)


def tests(args):
    """Of its room and those within, or what `--labels` names: `--build` must have them."""
    suite = f"tests {args.labels}" if args.labels else "tests"
    each = waiting(args, suite)
    for number, (name, bug) in enumerate(each, 1):
        folder = "/".join(bug["edit"][0]["file"].split("/")[:2])
        end = ran(args, name, "prlimit", f"--cpu={TEST_SECONDS}", f"--as={TEST_BYTES}", "timeout", str(10 * TEST_SECONDS), "ctest", "--test-dir", args.build,
                  "-L", args.labels or f"^{folder}", "--stop-on-failure")
        failed = re.findall(r"^\s*\d+ - (\S+) \(", end.stdout, re.MULTILINE)
        if end.returncode == 124:
            failed = ["timeout"]
        if (end.returncode != 0) != bool(failed):
            sys.exit(f"{end.stdout}{end.stderr}\nerror: exit {end.returncode}")
        note(args, id=name, suite=suite, mistake=bug["mistake"], first=len(failed), found=" ".join(failed))
        print(f"{number} of {len(each)}: {name} {' '.join(failed) or 'survives'}", flush=True)


def report(args):
    if not os.path.exists(args.state):
        raise weave.Wrong(f"--state: there is no {args.state}; play, recorded and tests write it")
    results = known(args.state)
    reviewed = {}
    if args.reviewed and os.path.exists(args.reviewed):
        with open(args.reviewed, encoding="utf-8") as file:
            reviewed = json.load(file)
    by_place = collections.defaultdict(collections.Counter)
    survivors = []
    for name, bug in mutants(args.bugs).items():
        mine = {suite: one for (id_, suite), one in results.items() if id_ == name}
        if not mine:
            continue
        file = bug["edit"][0]["file"]
        score = by_place[file if args.by == "file" else os.path.dirname(file)]
        score["played"] += 1
        by = [("rules" if suite in ("random", "cluster") else suite.split()[0]) for suite, one in mine.items() if one["first"] > 0]
        if by:
            score["found"] += 1
            score[by[0]] += 1
            continue
        why = reviewed.get(bug["mistake"], "")
        score["no effect"] += why.startswith("no effect")
        survivors.append((bug["mistake"], bug["edit"][0]["find"].strip(), why))
    print(f"| {args.by} | mutants | found by rules | by recordings | by tests | of no effect | score |\n|---|---|---|---|---|---|---|")
    total = sum(by_place.values(), collections.Counter())
    for place, score in [*sorted(by_place.items()), ("all", total)]:
        counts = " | ".join(str(score[key]) for key in ("played", "rules", "recorded", "tests", "no effect"))
        print(f"| `{place}` | {counts} | {score['found'] / max(score['played'] - score['no effect'], 1):.0%} |")
    print("\n| survivor | line | why |\n|---|---|---|")
    for mistake, line, why in sorted(survivors):
        print(f"| {mistake} | `{line.replace('|', chr(92) + '|')}` | {why} |")


SELF_TEST = {
    "  if (a < b) return 1;": {"the condition is the opposite", "< is <=", "this never holds"},
    "  if (const auto it = x.find(y); it != x.end()) {": set(),
    "  } else if (Ready(a, b) && c) {": {"the condition is the opposite", "&& is ||", "this never holds"},
    "  return true;": {"the opposite is returned"},
    "  return a == b;": {"== is !="},
    "  return text + \" a == b \";": set(),
    "  queue_.push_back(x);": {"this is left out"},
    "  const int x = 3;": set(),
    "  ++count_;": {"this is left out"},
    "  return MakeStatus(Code::kAborted, text);": {"Code::kAborted is Code::kInternal"},
    "  case Code::kAborted:": set(),
    "  // if (a < b) return 1;": set(),
    "  VIGIL_ASSIGN_OR_RETURN(const int x, F());": set(),
    "  at(i + 1).Close();": {"this is left out", "+ 1 is left out"},
}


def self_test(_):
    for line, expected in SELF_TEST.items():
        changes = changes_of(line, "}")
        found = {what for what, _ in changes}
        if found != expected:
            sys.exit(f"error: of {line!r} expected {sorted(expected)}, got {sorted(found)}")
        for _, place in changes:
            if weave.SWITCH.search(place) is None:
                sys.exit(f"error: {place!r} asks no switch")
    text = "void F() {\n  ++count_;\n  ++other_;\n  ++count_;\n}\n"
    found = [mutant[1:4] for mutant in candidates("f.cc", text, [], 1)]
    if found != [("f.cc", 3, "  ++other_;")]:
        sys.exit(f"error: only what stands there once has a mutant, got {found}")
    if list(candidates("f.cc", text, [(20, 40)], 1)):
        sys.exit("error: what a planted bug looks for has no mutant")
    if list(candidates("f.cc", text, [], 7)) != list(candidates("f.cc", text, [], 7)):
        sys.exit("error: the same seed, other mutants")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("make")
    one.add_argument("--out", required=True)
    one.add_argument("--count", type=positive, default=200)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("folders", nargs="*")
    one.set_defaults(run=make)
    one = commands.add_parser("build")
    one.add_argument("--bugs", required=True)
    one.add_argument("--build", required=True)
    one.add_argument("--target", default="vigil_cli", help="all: the tests, too")
    one.set_defaults(run=build)
    for name, run in (("play", play), ("recorded", recorded), ("tests", tests)):
        one = commands.add_parser(name)
        one.add_argument("--bugs", required=True)
        one.add_argument("--build", required=True)
        one.add_argument("--state", required=True)
        one.add_argument("--verbose", action="store_true")
        one.set_defaults(run=run)
        if name == "tests":
            one.add_argument("--labels", default="", help="regular expression of ctest's labels")
        else:
            one.add_argument("--jobs", type=int, default=1)
        if name == "play":
            one.add_argument("--suite", default="", help="random or cluster, instead of each one's own")
            one.add_argument("--own", default="", help="only those whose own suite this is")
            one.add_argument("--seeds", default="")
            one.add_argument("--together", type=int, default=10)
        if name == "recorded":
            one.add_argument("--recordings", default="replays/tensorflow")
    one = commands.add_parser("report")
    one.add_argument("--bugs", required=True)
    one.add_argument("--state", required=True)
    one.add_argument("--reviewed", default="")
    one.add_argument("--by", choices=("folder", "file"), default="folder", help="a line of the score for each")
    one.set_defaults(run=report)
    one = commands.add_parser("self-test")
    one.set_defaults(run=self_test)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    try:
        main()
    except (weave.Wrong, OSError) as wrong:
        sys.exit(f"error: {wrong}")
