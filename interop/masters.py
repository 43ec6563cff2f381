#!/usr/bin/env python3
"""Vigil's client against TensorFlow's own servers: one conversation with a cluster of theirs and with one of
`vigil serve`, recorded graphs run on TensorFlow's, and a training there that TensorFlow's checkpoints go on with.

  masters.py SEED COUNT
"""

from __future__ import annotations

import os
import random

from exchange import ROOT, Exchange, run_drawn, run_tool
from traces import our_cluster, their_cluster
from vigil_player.tensorflow_v1 import tf

TASKS = ["/job:ps/task:0", "/job:worker/task:0"]
TOLERANCE = "1e-5"
# Without graphs that vigil does not import, and one with errors that TensorFlow's direct sessions give otherwise than its
# servers.
LEFT_OUT = ("refused.play", "iterator_one_shot.play", "branches.play")
PLAYS = sorted(path for path in (ROOT / "replays/graphs/tensorflow").glob("*.play") if path.name not in LEFT_OUT)


def talk(exchange: Exchange, target: str, who: str) -> None:
    theirs = run_tool("client_tool", "talk", their_cluster(), *TASKS)
    ours = run_tool("client_tool", "talk", target, *TASKS)
    exchange.counts["answers"] += len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        if mine != wanted:
            exchange.differ(f"{who}: '{mine}', by TensorFlow alone '{wanted}'")


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    """A conversation, a graph, a training."""
    if number == 0:
        with our_cluster() as target:
            talk(exchange, target, "vigil alone")
    path = PLAYS[number % len(PLAYS)]
    for line in run_tool("client_tool", "play", their_cluster(), TOLERANCE, str(path)):
        exchange.counts["graphs"] += 1
        if not line.endswith(" same"):
            exchange.differ(line)
    last = random.Random(f"masters {seed} {number}").randrange(1, 20)
    seen = run_tool("client_tool", "train", their_cluster(), folder, str(last))
    exchange.counts["steps"] += len(seen)
    if seen != [f"step {step + 1}" for step in range(last)]:
        exchange.differ(f"a training to step {last} sees {seen}")
    saved = tf.train.latest_checkpoint(folder)
    if saved != os.path.join(folder, f"model.ckpt-{last}"):
        exchange.differ(f"a training to step {last} ends with the checkpoint {saved}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
