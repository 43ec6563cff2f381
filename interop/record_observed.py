#!/usr/bin/env python3
"""Writes down what sessions of TensorFlow's do, for the tests of `vigil judge`: one that is preempted and recovers, and one
that recovers where it must not (observed.py).

  record_observed.py FOLDER
"""

from __future__ import annotations

import lzma
import pathlib
import sys

from observed import MISTAKES, made, program
from vigil_player import observe
from vigil_player.tensorflow_v1 import tf


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    output = observe.installed()
    mistake = next(each for each in MISTAKES if each[0] == "recovery from INTERNAL")
    right, wrong = folder / "recovered.jsonl", folder / "recovers_from_internal.jsonl"
    with tf.Graph().as_default(), output.watching(right):
        program(tf.errors.AbortedError, 0, 6)
    with tf.Graph().as_default(), made(mistake), output.watching(wrong):
        program(tf.errors.InternalError, 0, 6)
    for path in (right, wrong):
        path.with_suffix(".jsonl.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9))
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
