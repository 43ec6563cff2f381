#!/usr/bin/env python3
"""What TensorFlow's clusters did, what processes of ours do, and what the simulator does, in three columns.

  vigil replay --real replays/cluster --seeds 4 --jobs 8 --json real.json
  vigil replay replays/cluster --json simulated.json
  replays/cluster/columns.py real.json simulated.json > docs/three_columns.md
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
INTRODUCTION = """# TensorFlow's clusters, ours, and the simulator's

Made by [replays/cluster/columns.py](../replays/cluster/columns.py) from
[what TensorFlow's clusters did](../replays/cluster/README.md), from what clusters of real processes of ours did in the same scenarios
(`./vigil replay --real`: gRPC between them, killed, stopped and cut off for real), and from what the simulator does. In a cell: what all plays had
in common, by task; `2..3` is a range, `UNAVAILABLE x1` a code and how often in a play. Times are seconds.

{held} of {scenarios} scenarios hold in all plays of real processes ({real} plays each); {simulated} simulated plays each (200 where
the recorded ones were kept one by one) hold for {simulated_held}.

| scenario | task | | TensorFlow | ours, real | ours, simulated |
|---|---|---|---|---|---|"""


def span(value, unit=""):
    if value is None:
        return "never"
    least, most = (f"{end:.3g}" if isinstance(end, float) else str(end) for end in value)
    return (least if least == most else f"{least}..{most}") + unit


def failures(task, kind):
    times = task[kind + "_times"]
    return f"{', '.join(task[kind])} x{span(times)}" if task[kind] else "none"


ROWS = {
    "ends": lambda task: ", ".join(task["outcome"]),
    "sessions": lambda task: span(task["sessions"]),
    "runs failed": lambda task: failures(task, "run_failed"),
    "creations failed": lambda task: failures(task, "create_failed"),
    "steps back, in a session": lambda task: span(task["step_back_silent_times"]),
    "steps back, with a new one": lambda task: span(task["step_back_recovered_times"]),
    "longest run": lambda task: span([float(end) for end in task["longest_run_s"]]),
}
# Shown only where one of the three has it.
QUIET = {"runs failed": "none", "creations failed": "none", "steps back, in a session": "0", "steps back, with a new one": "0"}


def report(path):
    with open(path, encoding="utf-8") as file:
        return {each["id"]: each for each in json.load(file)["scenarios"]}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    recorded = {}
    for path in sorted(HERE.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            recorded[record["id"]] = record
    real, simulated = report(sys.argv[1]), report(sys.argv[2])
    missing = [each for each in recorded if "plays" not in real.get(each, {}) or "plays" not in simulated.get(each, {})]
    if missing:
        sys.exit(f"not in both reports: {', '.join(missing)}")
    passed = lambda reports: sum(reports[each]["status"] == "passed" for each in recorded)
    first = next(iter(recorded))
    print(INTRODUCTION.format(held=passed(real), scenarios=len(recorded), real=real[first]["plays"]["repeats"],
                              simulated=simulated[first]["plays"]["repeats"], simulated_held=passed(simulated)))
    for name, record in recorded.items():
        head = f"`{name}`: {record['title']}"
        for task in record["expect"]["tasks"]:
            columns = [source["tasks"][task] for source in (record["expect"], real[name]["plays"], simulated[name]["plays"])]
            shown = task
            for row, cell in ROWS.items():
                cells = [cell(column) for column in columns]
                if all(each == QUIET.get(row) for each in cells):
                    continue
                print(f"| {head} | {shown} | {row} | {' | '.join(cells)} |")
                head = shown = ""
    misses = [(name, miss) for name in recorded for miss in real[name].get("misses", [])]
    if misses:
        print("\n## Plays of real processes that are not like the recorded ones\n")
        for name, miss in misses:
            print(f"* `{name}`: {miss}")


main()
