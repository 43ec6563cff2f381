#!/usr/bin/env python3
"""How often TensorFlow's clusters and the simulated ones took each way, as a document.

  vigil replay replays/cluster --json simulated.json
  replays/cluster/frequencies.py simulated.json > docs/frequencies.md
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
INTRODUCTION = """# How often each way was taken

Made by [replays/cluster/frequencies.py](../replays/cluster/frequencies.py): of each scenario whose plays were kept one by one
([replays/cluster](../replays/cluster/README.md)), what TensorFlow's clusters did and how often, and what the simulated ones did. Left
out is what all plays of both have in common. p is the chance that two samples of one source lie so far apart or farther; of all lines
of a scenario together (those left out, too) one in a hundred scenarios would be reported by chance
([frequencies.h](../replays/judge/frequencies.h)).

{passed} of {all} scenarios are not reported.

| scenario | task | | TensorFlow | simulated | p |
|---|---|---|---|---|---|"""
WORDS = {
    "outcome": "ends",
    "run_failed": "runs failed",
    "create_failed": "creations failed",
    "step_back_silent": "steps back, in a session",
    "step_back_recovered": "steps back, with a new one",
    "longest_run_s": "longest run, s",
    "last_step": "last step",
    "hook_end": "ends of hooks",
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    titles = {}
    for path in sorted(HERE.glob("*.jsonl")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                titles[record["id"]] = record["title"]
    with open(sys.argv[1], encoding="utf-8") as file:
        scenarios = [each for each in json.load(file)["scenarios"] if "frequencies" in each]
    print(INTRODUCTION.format(passed=sum(each["status"] == "passed" for each in scenarios), all=len(scenarios)))
    for each in scenarios:
        head = f"`{each['id']}`: {titles[each['id']]}"
        task = ""
        for line in each["frequencies"]:
            one_way = "," not in line["recorded"] and "," not in line["seen"]
            if one_way and line["p"] == 1:
                continue
            shown = line["task"] if line["task"] != task else ""
            task = line["task"]
            field = WORDS.get(line["field"], line["field"])
            print(f"| {head} | {shown} | {field} | {line['recorded']} | {line['seen']} | {line['p']:.2g} |")
            head = ""


main()
