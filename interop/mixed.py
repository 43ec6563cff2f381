#!/usr/bin/env python3
"""Clusters of which one task is TensorFlow's server and the other `vigil serve`, either way round: a conversation of
vigil's client, and training programs of TensorFlow's client with their variables on the parameter server. What these see
must be what they see on a cluster of TensorFlow's alone.

  mixed.py SEED COUNT
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
from collections.abc import Callable

import clients
import numpy as np
from exchange import Exchange, run_drawn
from masters import talk
from traces import addresses, served, their_cluster
from vigil_player.tensorflow_v1 import tf

ENDED_WITH_THIS = contextlib.ExitStack()
atexit.register(ENDED_WITH_THIS.close)
MIXED: dict[str, str] = {}  # by the job that is ours: the worker's address


def mixed_cluster(ours: str) -> str:
    """One for all: TensorFlow's server cannot be ended."""
    if ours not in MIXED:
        cluster = addresses()
        theirs = "worker" if ours == "ps" else "ps"
        server = tf.train.Server(cluster, job_name=theirs, task_index=0)
        ENDED_WITH_THIS.callback(lambda: server)  # as long as the others
        ENDED_WITH_THIS.enter_context(served(cluster, ours))
        MIXED[ours] = "grpc://" + cluster["worker"][0]
    return MIXED[ours]


def on_both(program: Callable[..., clients.Numbers]) -> Callable[..., clients.Numbers]:
    """The same program with its variables and queues on the parameter server."""

    def placed(target: str, r: np.random.RandomState, folder: str) -> clients.Numbers:
        setter = tf.train.replica_device_setter(
            cluster=tf.train.ClusterSpec({"ps": ["a"], "worker": ["b"]}),
            ps_ops=["Variable", "VariableV2", "VarHandleOp", "FIFOQueueV2", "RandomShuffleQueueV2"],
        )
        with tf.device(setter):
            return program(target, r, folder)

    return placed


# Without those that read in a run what it updates: between two tasks either comes first.
PROGRAMS = [program for program in clients.PROGRAMS if program not in (clients.supervised, clients.resumed)]


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    if number == 0:
        for ours in ("ps", "worker"):
            talk(exchange, mixed_cluster(ours), f"ours is the {ours}")
    program = PROGRAMS[number % len(PROGRAMS)]
    drawn = random.Random(f"mixed {seed} {number}").randrange(2**32)
    theirs = clients.run(on_both(program), their_cluster(), drawn, os.path.join(folder, "theirs"))
    for ours in ("ps", "worker"):
        seen = clients.run(on_both(program), mixed_cluster(ours), drawn, os.path.join(folder, ours))
        exchange.counts["programs"] += 1
        exchange.counts["numbers"] += len(seen)
        if not clients.same(seen, theirs):
            exchange.differ(f"seed {seed} number {number}, {program.__name__}, ours is the {ours}: {seen!r}, "
                            f"by TensorFlow alone {theirs!r}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
