#!/usr/bin/env python3
"""How fast TensorFlow's client runs steps on `vigil serve`, beside TensorFlow's own server: in turn, each in a process.

  serve_speed.py [SERVE]        the program vigil-serve (default: build/release/cli/vigil-serve)
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from exchange import SERVE_ARGUMENTS, serving, tool_path
from vigil_player.tensorflow_v1 import tf

ROUNDS = 5
SECONDS = 2.0
MEBIBYTES = 64

THEIRS = """
from vigil_player.tensorflow_v1 import tf
server = tf.train.Server.create_local_server()
print("serves at", server.target, flush=True)
server.join()
"""


def per_second(run: Callable[[], object]) -> float:
    run()
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        run()
        count += 1
    return count / (time.perf_counter() - start)


def measure(target: str) -> dict[str, float]:
    with tf.Graph().as_default():
        one = tf.placeholder(tf.float32, [])
        large = tf.placeholder(tf.float32, [None])
        more, size, made = one + 1, tf.size(large), tf.fill([MEBIBYTES << 18], one)
        value = np.zeros(MEBIBYTES << 18, np.float32)
        with tf.Session(target) as session:
            return {
                "round trips a second": per_second(lambda: session.run(more, {one: 1.0})),
                f"MiB a second fed ({MEBIBYTES} at a time)": MEBIBYTES * per_second(lambda: session.run(size, {large: value})),
                f"MiB a second fetched ({MEBIBYTES} at a time)": MEBIBYTES * per_second(lambda: session.run(made, {one: 1.0})),
            }


def main() -> int:
    serve = sys.argv[1] if len(sys.argv) > 1 else tool_path("../cli/vigil-serve")
    found: dict[str, dict[str, list[float]]] = {"vigil": {}, "TensorFlow": {}}
    with serving(serve, *SERVE_ARGUMENTS) as (_, ours_at), serving(sys.executable, "-c", THEIRS) as (_, theirs_at):
        for _ in range(ROUNDS):
            for name, target in (("vigil", ours_at), ("TensorFlow", theirs_at)):
                for what, value in measure(target).items():
                    found[name].setdefault(what, []).append(value)
    print(f"TensorFlow {tf.__version__}'s client, medians of {ROUNDS} rounds:\n")
    for what, values in found["vigil"].items():
        ours, theirs = statistics.median(values), statistics.median(found["TensorFlow"][what])
        print(f"  {what:<36} vigil {ours:>8,.0f}   TensorFlow {theirs:>8,.0f}   ratio {ours / theirs:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
