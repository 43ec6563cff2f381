"""The graphs that graphs.py records, by name: typical programs of TensorFlow 1, and ops one by one."""

import numpy as np

from tensorflow_v1 import tf

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def random_numbers(play):
    """Each random op, some seeds and sizes, four runs of one session and one of another."""
    all_of = []
    for seed in [(0, 1), (87654321, 42), (2**31 - 2, 0)]:
        for shape in [[], [7], [0]]:
            for dtype in [tf.float32, tf.float64]:
                for op in [tf.raw_ops.RandomUniform, tf.raw_ops.RandomStandardNormal, tf.raw_ops.TruncatedNormal]:
                    all_of.append(op(shape=tf.constant(shape, tf.int32), dtype=dtype, seed=seed[0], seed2=seed[1]))
            for dtype, low, high in [(tf.int32, 0, 10), (tf.int64, -5, 2**40), (tf.int32, -2**31, 2**31 - 1)]:
                all_of.append(tf.raw_ops.RandomUniformInt(
                    shape=tf.constant(shape, tf.int64), minval=tf.constant(low, dtype), maxval=tf.constant(high, dtype),
                    seed=seed[0], seed2=seed[1]))
        for value in [np.arange(7), np.arange(12).reshape(4, 3), np.array([b"a", b"b", b"c"]), np.arange(1), np.float32(3)]:
            all_of.append(tf.raw_ops.RandomShuffle(value=tf.constant(value), seed=seed[0], seed2=seed[1]))
    many = tf.raw_ops.TruncatedNormal(shape=tf.constant([600]), dtype=tf.float32, seed=3, seed2=4)
    bad = tf.raw_ops.RandomUniformInt(shape=tf.constant([2]), minval=tf.constant(3), maxval=tf.constant(3), seed=1)
    play.export()
    for session in ["1", "1", "1", "2"]:
        play.run(all_of, session=session)
    play.run([many])
    play.run([bad])


@case
def random_seeds(play):
    """Which seeds the ops of a graph get: of the graph and of the op."""
    ops = []
    for graph_seed in [None, 7, 0, -1]:
        tf.set_random_seed(graph_seed) if graph_seed is not None else None
        for op_seed in [None, 5, 0, None, -3, 2**31 + 4]:
            if graph_seed is None and op_seed is None:
                continue
            ops.append(tf.random_uniform([2], seed=op_seed))
    play.export()
    play.run(ops)
