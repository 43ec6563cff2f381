#!/usr/bin/env python3
"""Runs the exchanges with TensorFlow, one process each, and reports what was exchanged and how much of it differs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

from exchange import RESULT, ROOT


@dataclasses.dataclass
class Kind:
    """An exchange: the script and its arguments before the seed; how many at `--count 100`."""

    name: str
    what: str
    script: list[str]
    of_hundred: float


KINDS = [
    Kind("checkpoints", "sets of variables, saved by each: the bytes, and what each reads of the other",
         ["bundles.py"], 100),
    Kind("graphs-theirs", "graphs of TensorFlow trained here, exported again and trained there",
         ["graph_exchange.py", "theirs"], 20),
    Kind("graphs-ours", "graphs of vigil trained there", ["graph_exchange.py", "ours"], 20),
    Kind("gradients", "graphs of TensorFlow with branches: gradients through them, made here",
         ["graph_exchange.py", "gradients"], 100),
    Kind("training", "trainings that go on elsewhere, in three parts", ["training_exchange.py"], 6),
    Kind("events", "events files, written by each and read by the other", ["events_exchange.py"], 20),
    Kind("tensorboard", "events of vigil as TensorBoard's Python and its data server find them", ["tensorboard_exchange.py"], 4),
    Kind("clients", "training programs of TensorFlow's client against vigil serve and TensorFlow's server", ["clients.py"], 20),
    Kind("masters", "conversations, graphs and trainings of vigil's client with TensorFlow's servers", ["masters.py"], 21),
    Kind("mixed", "clusters of a server of TensorFlow's and one of vigil's, either way round", ["mixed.py"], 16),
    Kind("traces", "traces of steps on clusters of vigil serve and of TensorFlow's servers", ["traces.py"], 40),
    Kind("proxied", "the same programs through vigil proxy before TensorFlow's server, with faults, held to the rules",
         ["proxied.py"], 20),
    Kind("observed", "sessions and supervisors that are wrong on purpose, each found by its rule", ["observed.py"], 26),
    Kind("ops", "random cases of ops, forward and gradients (of each op)", ["ops_exchange.py"], 4),
]


@dataclasses.dataclass
class Outcome:
    kind: Kind
    counts: dict[str, int]
    differ: int
    seconds: float
    broken: bool


def play(kind: Kind, seed: str, count: int) -> Outcome:
    paths = [str(ROOT / folder) for folder in ("interop", "python", "replays/recorder", "replays/ops")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    start = time.monotonic()
    script, *words = kind.script
    command = [sys.executable, str(pathlib.Path(__file__).parent / script), *words, seed, str(count)]
    result = None
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(RESULT):
                result = json.loads(line.removeprefix(RESULT))
            else:
                print(f"  {line}", end="", flush=True)
    seconds = time.monotonic() - start
    if result is None:
        return Outcome(kind, {}, 0, seconds, True)
    return Outcome(kind, result["counts"], result["differ"], seconds, False)


def report(outcomes: list[Outcome], seed: str) -> int:
    print(f"\nWith TensorFlow and back, seed {seed}:\n")
    for outcome in outcomes:
        counts = ", ".join(f"{value:,} {name}" for name, value in outcome.counts.items())
        said = "did not end" if outcome.broken else f"{outcome.differ} differ"
        print(f"  {outcome.kind.name:<15} {said:<13} {counts}  ({outcome.seconds:.0f} s)")
    differ = sum(outcome.differ for outcome in outcomes)
    broken = sum(outcome.broken for outcome in outcomes)
    print(f"\n{differ} differ" + (f"; {broken} did not end" if broken else ""))
    return 1 if differ or broken else 0


def arguments() -> argparse.Namespace:
    kinds = "\n".join(f"  {kind.name:<15} {kind.what}; {kind.of_hundred:g} with --count 100" for kind in KINDS)
    parser = argparse.ArgumentParser(
        prog="./vigil interop", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Exchanges with TensorFlow itself: each side reads, runs and trains what the other has written.",
        epilog=f"""exchanges:
{kinds}

Examples:
  ./vigil interop                                    all, some minutes
  ./vigil interop --only checkpoints --count 600     600 sets of variables
  ./vigil interop --only graphs-theirs --seed 7      other graphs
  VIGIL_INTEROP_VENV=/tmp/tf ./vigil interop         with that virtual environment of Python

Exit codes: 0 nothing differs, 1 something does or an exchange did not end, 2 misuse, 3 not built or no TensorFlow.""")
    parser.add_argument("--seed", default="1", help="what all is drawn from (default: 1)")
    parser.add_argument("--count", type=int, default=100, help="how much of everything (default: 100)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", choices=[kind.name for kind in KINDS],
                        help="this exchange; may be given more than once")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # only of the arguments
    parsed = parser.parse_args()
    if parsed.count < 1 or not parsed.seed.isdecimal():
        parser.error("--count and --seed are numbers, --count at least 1")
    return parsed


def main() -> int:
    given = arguments()
    if given.check:
        return 0
    outcomes = []
    for kind in KINDS:
        if given.only and kind.name not in given.only:
            continue
        count = max(1, round(kind.of_hundred * given.count / 100))
        print(f"{kind.name}: {count}: {kind.what}", flush=True)
        outcomes.append(play(kind, given.seed, count))
    return report(outcomes, given.seed)


if __name__ == "__main__":
    sys.exit(main())
