"""Verifies hooks that others wrote, and makes the table of docs/python_hooks.md.

  python -m survey.survey play MODULE OUT.json [--scenarios N] [--only NAME]   MODULE: of_tensorflow, of_packages
  python -m survey.survey table IN.json... > ../docs/python_hooks.md

`play` needs TensorFlow and the program vigil (VIGIL, or in the PATH); README.md of python/ says more.
"""

import argparse
import importlib
import json
import re
import sys
import time


def play(module, out, scenarios, only):
    from vigil_player.pytest_plugin import verify

    from . import listing

    made = importlib.import_module(f"{__package__}.{module}")
    results = {}
    for name, (package, leave, _) in listing.HOOKS.items():
        if only and name not in only:
            continue
        start = time.monotonic()
        code, said = verify(getattr(made, name), name, ["request_stop", *leave], scenarios, "vigil-verify")
        results[name] = {"package": package, "leave": list(leave), "code": code, "said": said}
        print(f"{name}: {code}, {time.monotonic() - start:.0f} s", flush=True)
        with open(out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


def findings(said):
    """[(promise, what was seen, case)] of what `vigil verify` has printed."""
    found = []
    for line in said.splitlines():
        if match := re.match(r"  ((?:hook|player)\.\w+):", line):
            found.append([match[1], "", ""])
        elif found and (match := re.match(r"    actual +(.*)", line)):
            found[-1][1] = match[1]
        elif found and (match := re.search(r"--case (\S+)", line)):
            found[-1][2] = match[1]
    return found


INTRODUCTION = (
    "# Hooks that others wrote, verified\n\n"
    "What `vigil-verify` ([python/](../python/README.md)) found in the hooks that ship with TensorFlow and in some of "
    "packages on PyPI.\nGenerated: `python -m survey.survey`. Each was driven through the cases of every hook, with "
    "leave to stop the training and to do what\nthe column says; the hooks are the packages' own text. TensorFlow's "
    "own played on its newest version, the others on 2.12, the last with\nthe estimator. Each kind of finding was "
    "tried by hand on plain TensorFlow: [by_hand.py](../python/survey/by_hand.py).\n\n"
    "`hook.end_needs_session` is the promise that TensorFlow's own hooks break: the session that `end` gets is None "
    "when a session is\nclosed a second time.\n\n"
    "None was seen to ask the machine for what it has no leave for (files, clocks, sleep, random numbers, connections, "
    "threads): those that\nwrite do so beside the checkpoints, and those that look at a clock see the virtual one.\n\n"
    "All cases are 241 plays. Those of SyncReplicasOptimizerHook, whose queue runner waits in a run until the session "
    "is closed, took\neight minutes on a busy machine, at nice 15.\n")


def plays_of(result):
    found = re.search(r"in (\d+) plays|: (\d+) plays", result["said"])
    return int(found[1] or found[2]) if found else 0


def table(paths):
    """Of a hook that several files tell of, that with the most plays counts."""
    from .notes import NOTES

    results = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for name, result in json.load(file).items():
                if name not in results or plays_of(result) > plays_of(results[name]):
                    results[name] = result
    print(INTRODUCTION)
    print("| hook | of | leave | plays | found | what it is |\n|---|---|---|---|---|---|")
    for name, result in results.items():
        for promise, actual, case in findings(result["said"]) or [["nothing", "", ""]]:
            seen = f"`{promise}` (`{case}`): {actual}" if case else promise
            note = NOTES.get((name, promise), "" if promise == "nothing" else "**not explained**")
            leave = ", ".join(result["leave"])
            print(f"| {name} | {result['package']} | {leave} | {plays_of(result)} | {seen} | {note} |")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("play")
    command.add_argument("module")
    command.add_argument("out")
    command.add_argument("--scenarios", type=int, default=0)
    command.add_argument("--only", nargs="*")
    commands.add_parser("table").add_argument("results", nargs="+")
    args = parser.parse_args(argv)
    if args.command == "play":
        play(args.module, args.out, args.scenarios, args.only)
    else:
        table(args.results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
