#!/usr/bin/env python3
"""How long TensorFlow's processes and clients took, from the recordings.

  durations.py           the tenths of each kind, in seconds
  durations.py --rows    those that random jobs draw from: the rows of properties/generators/measured.cc, in milliseconds

Recorded: each scenario of replays/cluster says how long its processes took from their start to their server (`boots_s`), and
each play that was kept until a task had its first session open; client_durations.json has what a client spends on a new
session and on the first run of each kind in it, among these its restore.
"""

import json
import os
import sys

from cluster_facts import tenths

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = os.path.join(HERE, "..", "cluster")


def recordings():
    for name in sorted(os.listdir(CLUSTER)):
        if name.endswith(".jsonl"):
            with open(os.path.join(CLUSTER, name), encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines)


def samples():
    """By name, in seconds."""
    with open(os.path.join(HERE, "client_durations.json"), encoding="utf-8") as file:
        client = json.load(file)
    kinds = client["signature_ms"]
    found = {"process to server": [], "process to session, chief": [], "process to session, worker": []}
    for record in recordings():
        found["process to server"] += record["workload"].get("boots_s", [])
        for play in record["expect"].get("plays", []):
            for task, facts in play["tasks"].items():
                if "opened_after_s" in facts:
                    found[f"process to session, {task.split(':')[0]}"].append(facts["opened_after_s"])
    found["new session"] = [ms / 1000 for ms in client["session_ms"]]
    found["first run of a kind"] = [ms / 1000 for kind in kinds.values() for ms in kind]
    for name, kind in kinds.items():
        found[f"first run: {name}"] = [ms / 1000 for ms in kind]
    return found


def rows():
    found = samples()
    for name, kind in (("Boots", "process to server"), ("Sessions", "new session"), ("Signatures", "first run of a kind")):
        times = ", ".join(str(round(1000 * value)) for value in tenths(found[kind]))
        yield f"constexpr std::int64_t k{name}[] = {{{times}}};"


def main():
    if sys.argv[1:] == ["--rows"]:
        print("\n".join(rows()))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for name, values in samples().items():
            print(f"{name:28} {len(values):5}  " + " ".join(f"{value:6.3f}" for value in tenths(values)))


if __name__ == "__main__":
    main()
