"""What TensorFlow's optimizers, learning-rate decays, averages and clipping do with one small model.

    record_optimizers.py OUT

The model: dense variables w and b, and a table of which some rows are gathered, one of them twice.
"""

import json
import sys

import numpy as np
import record_ops
import tensorflow.compat.v1 as tf

STEPS = [1, 2, 10, 20]
X = [[0.5, -1.2, 0.3], [1.1, 0.4, -0.7], [-0.6, 0.9, 1.3], [0.2, -0.3, 0.8]]
Y = [[0.7, -0.2], [-1.1, 0.6], [0.4, 1.2], [0.9, -0.8]]
W = [[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]]
B = [0.05, -0.1]
TABLE = [[0.3, 0.1], [-0.4, 0.2], [0.5, -0.6], [0.7, 0.8], [-0.9, 1.0]]
IDS = [1, 3, 1, 4]

OPTIMIZERS = [
    (tf.train.GradientDescentOptimizer, {"learning_rate": 0.1}),
    (tf.train.MomentumOptimizer, {"learning_rate": 0.05, "momentum": 0.9}),
    (tf.train.MomentumOptimizer, {"learning_rate": 0.05, "momentum": 0.8, "use_nesterov": True}),
    (tf.train.AdagradOptimizer, {"learning_rate": 0.3}),
    (tf.train.AdagradOptimizer, {"learning_rate": 0.3, "initial_accumulator_value": 0.7}),
    (tf.train.RMSPropOptimizer, {"learning_rate": 0.02}),
    (tf.train.RMSPropOptimizer, {"learning_rate": 0.02, "decay": 0.8, "momentum": 0.5, "epsilon": 0.01}),
    (tf.train.RMSPropOptimizer, {"learning_rate": 0.02, "momentum": 0.3, "epsilon": 0.01, "centered": True}),
    (tf.train.AdamOptimizer, {}),
    (tf.train.AdamOptimizer, {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.95, "epsilon": 0.001}),
    (tf.train.FtrlOptimizer, {"learning_rate": 0.2}),
    (tf.train.FtrlOptimizer, {"learning_rate": 0.2, "l1_regularization_strength": 0.01,
                              "l2_regularization_strength": 0.02}),
    (tf.train.FtrlOptimizer, {"learning_rate": 0.2, "learning_rate_power": -0.7, "initial_accumulator_value": 0.3,
                              "l2_shrinkage_regularization_strength": 0.05}),
]

DECAYS = [
    ("exponential_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9}),
    ("exponential_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9, "staircase": True}),
    ("natural_exp_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.3}),
    ("natural_exp_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.3, "staircase": True}),
    ("inverse_time_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.3}),
    ("inverse_time_decay", {"learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.3, "staircase": True}),
    ("polynomial_decay", {"learning_rate": 0.5, "decay_steps": 20, "end_learning_rate": 0.01, "power": 2.0}),
    ("polynomial_decay", {"learning_rate": 0.5, "decay_steps": 20, "end_learning_rate": 0.01, "cycle": True}),
    ("cosine_decay", {"learning_rate": 0.5, "decay_steps": 20}),
    ("cosine_decay", {"learning_rate": 0.5, "decay_steps": 20, "alpha": 0.1}),
    ("piecewise_constant", {"boundaries": [5, 20], "values": [1.0, 0.5, 0.1]}),
]
DECAY_STEPS = [0, 1, 5, 6, 10, 15, 20, 21, 37, 100]


def build(dtype):
    w, b, table = (tf.Variable(np.asarray(v, dtype), use_resource=False, name=n)
                   for n, v in (("w", W), ("b", B), ("table", TABLE)))
    y = tf.constant(np.asarray(Y, dtype))
    dense = tf.reduce_mean(tf.square(tf.matmul(tf.constant(np.asarray(X, dtype)), w) + b - y))
    return dense + tf.reduce_mean(tf.square(tf.gather(table, IDS) - y))


def run(add):
    """`add(loss)` gives a train op; the values of all variables after the steps."""
    variables = tf.global_variables()
    with tf.Session(config=record_ops.CONFIG) as session:
        session.run(tf.global_variables_initializer())
        values = []
        for step in range(1, STEPS[-1] + 1):
            session.run(add)
            if step in STEPS:
                values.append([record_ops.tensor(v) for v in session.run(variables)])
    return {"variables": [v.op.name for v in variables], "steps": STEPS, "values": values}


def trajectory(cls, options, dtype):
    with tf.Graph().as_default():
        train = cls(**{"learning_rate": 0.001, **options} if cls is tf.train.AdamOptimizer else options).minimize(
            build(dtype))
        return {"optimizer": cls.__name__, "double": dtype is np.float64, "options": options, **run(train)}


def clipped(kind):
    """Gradients clipped, a rate that decays, averages of the variables."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        loss = build(np.float32)
        rate = tf.train.exponential_decay(0.3, step, 5, 0.5)
        optimizer = tf.train.MomentumOptimizer(rate, 0.5)
        pairs = optimizer.compute_gradients(loss, tf.trainable_variables())
        if kind == "clip_by_global_norm":
            grads, _ = tf.clip_by_global_norm([g for g, _ in pairs], 0.4)
        elif kind == "clip_by_norm":
            grads = [tf.clip_by_norm(g, 0.3) for g, _ in pairs]
        else:
            grads = [tf.clip_by_value(g, -0.1, 0.15) for g, _ in pairs]
        train = optimizer.apply_gradients(zip(grads, [v for _, v in pairs]), step)
        average = tf.train.ExponentialMovingAverage(0.9, step if kind == "clip_by_norm" else None)
        with tf.control_dependencies([train]):
            # The values after the update, which the read made with the variable need not be.
            both = average.apply(tf.trainable_variables())
        return {"optimizer": kind, "double": False, "options": {}, **run(both)}


def decay(name, arguments):
    with tf.Graph().as_default(), tf.Session(config=record_ops.CONFIG) as session:
        step = tf.Variable(0, dtype=tf.int64, use_resource=False)
        place = tf.placeholder(tf.int64, [])
        if name == "piecewise_constant":
            rate = tf.train.piecewise_constant(step, [np.int64(x) for x in arguments["boundaries"]],
                                               arguments["values"])
        else:
            rate = getattr(tf.train, name)(global_step=step, **arguments)
        assign = tf.assign(step, place)
        values = []
        for at in DECAY_STEPS:
            session.run(assign, {place: at})
            values.append(record_ops.number(session.run(rate)))
        return {"decay": name, "arguments": arguments, "steps": DECAY_STEPS, "rates": values}


def main():
    lines = [trajectory(cls, options, np.float32) for cls, options in OPTIMIZERS]
    lines += [trajectory(cls, options, np.float64) for cls, options in OPTIMIZERS if len(options) > 1]
    lines += [clipped(kind) for kind in ("clip_by_value", "clip_by_norm", "clip_by_global_norm")]
    lines += [decay(*each) for each in DECAYS]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
