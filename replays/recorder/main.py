#!/usr/bin/env python3
"""Records scenarios on real TensorFlow. README.md says how to set it up.

  main.py record IN... OUT             the scenarios of IN anew (what they expect is not looked at)
  main.py check [--sample N] IN...     the same, compared with what they expect: nothing but differences is printed
  main.py random SEED N OUT [PROFILE]  N random scenarios; PROFILE is one of order builtin
                                       training stepfn worker supervisor units extended services
                                       managers
  main.py pairs OUT                    every fault and every pair of faults in a small scope
  main.py cases OUT [GROUP]            the named scenarios of cases.py; GROUP is extended (if none is said), services or
                                       managers

Files are .jsonl or .jsonl.xz. Each scenario is recorded twice and dropped where the two differ.
"""

import argparse
import json
import lzma
import random
import sys

import player_path  # noqa: F401


def open_text(path, mode):
    return (lzma.open if path.endswith(".xz") else open)(path, mode + "t", encoding="utf-8")


def read(paths):
    for path in paths:
        with open_text(path, "r") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def meaningless(scenario, expect):
    """A random scenario that calls a service without a session: what Python says of None is nothing to compare with."""
    return (scenario["id"].startswith("random_") and any("NoneType" in text for text in expect.get("messages", []))
            and any(event.startswith("service") for event in expect["events"]))


def write_recordings(scenarios, path):
    from vigil_player.play import play_twice
    from vigil_player.world import Runaway

    counts = {"recorded": 0, "runaway": 0, "unstable": 0, "meaningless": 0}
    with open_text(path, "w") as out:
        for scenario in scenarios:
            scenario = {k: v for k, v in scenario.items() if k != "expect"}
            try:
                expect = play_twice(scenario)
            except Runaway:
                counts["runaway"] += 1
                print("runaway", scenario["id"])
                continue
            if expect is None:
                counts["unstable"] += 1
                print("unstable", scenario["id"])
            elif meaningless(scenario, expect):
                counts["meaningless"] += 1
            else:
                counts["recorded"] += 1
                out.write(json.dumps({**scenario, "expect": expect}, separators=(",", ":")) + "\n")
                out.flush()  # what is there is whole, whenever somebody stops it
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


def check(paths, sample):
    """Whether the scenarios still give what they expect."""
    from vigil_player.play import play
    from vigil_player.world import Runaway

    recordings = [r for r in read(paths) if "events" in r.get("expect", {})]
    if sample is not None and sample < len(recordings):
        recordings = random.Random(0).sample(recordings, sample)
    different = 0
    for recording in recordings:
        expect = recording["expect"]
        try:
            got = play({k: v for k, v in recording.items() if k != "expect"})
        except Runaway:
            got = {"events": ["(runaway)"]}
        for key in ("events", "final", "messages"):
            if got.get(key) != expect.get(key):
                different += 1
                print(f"{recording['id']}: {key} differ\n  expected {expect.get(key)}\n  got      {got.get(key)}")
                break
    print(f"{len(recordings)} recorded again, {different} differ")
    return different == 0


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("record")
    command.add_argument("inputs", nargs="+")
    command.add_argument("out")
    command = commands.add_parser("check")
    command.add_argument("--sample", type=int)
    command.add_argument("inputs", nargs="+")
    command = commands.add_parser("random")
    command.add_argument("seed", type=int)
    command.add_argument("count", type=int)
    command.add_argument("out")
    command.add_argument("profile", nargs="?")
    commands.add_parser("pairs").add_argument("out")
    command = commands.add_parser("cases")
    command.add_argument("out")
    command.add_argument("group", nargs="?", default="extended")
    return parser.parse_args(argv)


def main(argv):
    args = parse(argv)
    if args.command == "check":
        return 0 if check(args.inputs, args.sample) else 1
    if args.command == "record":
        scenarios = list(read(args.inputs))
    elif args.command == "pairs":
        import generate_pairs

        scenarios = generate_pairs.scenarios()
    elif args.command == "cases":
        import cases

        scenarios = cases.scenarios(args.group)
    else:
        import generate

        scenarios = [generate.scenario(args.seed, number, args.profile) for number in range(args.count)]
    write_recordings(scenarios, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
