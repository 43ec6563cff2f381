"""How a drawn program is trained: optimizer, learning rate, what is done to its gradients, averages."""

from __future__ import annotations

import random
from collections.abc import Callable

from vigil_player.tensorflow_v1 import tf


def rate_of(r: random.Random, base: float, step: tf.Tensor, note: Callable[[str], None]) -> float | tf.Tensor:
    decays = {
        "exponential": lambda: tf.train.exponential_decay(base, step, 5, 0.8, staircase=r.random() < 0.5),
        "natural": lambda: tf.train.natural_exp_decay(base, step, 5, 0.3),
        "inverse": lambda: tf.train.inverse_time_decay(base, step, 4, 0.5),
        "polynomial": lambda: tf.train.polynomial_decay(base, step, 15, power=2.0, cycle=r.random() < 0.5),
        "cosine": lambda: tf.train.cosine_decay(base, step, 12, alpha=0.1),
        "piecewise": lambda: tf.train.piecewise_constant(step, [4, 12], [base, base / 2, base / 8]),
        "cond": lambda: tf.cond(step < 7, lambda: tf.constant(base), lambda: base / tf.cast(step, tf.float32)),
    }
    name = r.choice([*decays, "constant", "constant", "constant", "constant"])
    if name == "constant":
        return base
    note(f"{name} rate")
    return decays[name]()


def optimizer_of(r: random.Random, step: tf.Tensor, note: Callable[[str], None]) -> tuple[tf.train.Optimizer, list[tf.Tensor]]:
    """Early steps of those that normalize go far where a gradient is all rounding: their epsilon is not small."""
    name = r.choice(["GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad", "Ftrl"])
    # What Ftrl keeps is a sum of differences over the rate: with a small one it is mostly rounding.
    rate = rate_of(r, {"Adam": 0.02, "RMSProp": 0.02, "Ftrl": 0.3}.get(name, 0.1), step, note)
    options: dict[str, object] = {
        "GradientDescent": {},
        "Momentum": {"momentum": 0.8, "use_nesterov": r.random() < 0.5},
        "Adam": {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3},
        "RMSProp": {"momentum": 0.3, "epsilon": 1e-3, "centered": r.random() < 0.5},
        "Adagrad": {"initial_accumulator_value": r.choice([0.1, 0.5])},
        "Ftrl": {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02,
                 "l2_shrinkage_regularization_strength": r.choice([0.0, 0.03])},
    }[name]
    note(name)
    made = getattr(tf.train, f"{name}Optimizer")(learning_rate=rate, use_locking=r.random() < 0.3, **options)
    return made, [rate] if isinstance(rate, tf.Tensor) else []


def clipped(r: random.Random, pairs: list, note: Callable[[str], None]) -> list:
    choice = r.choice(["none", "none", "by value", "by norm", "by global norm"])
    pairs = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if choice == "none":
        return pairs
    note(f"clipped {choice}")
    gradients, variables = zip(*pairs)
    if choice == "by global norm":
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    elif choice == "by norm":
        gradients = [tf.clip_by_norm(gradient, 0.5) for gradient in gradients]
    else:
        gradients = [tf.clip_by_value(tf.convert_to_tensor(gradient), -0.3, 0.3) for gradient in gradients]
    return list(zip(gradients, variables))


def draw(r: random.Random, loss: tf.Tensor, step: tf.Tensor, trained: list, note: Callable[[str], None]) \
        -> tuple[tf.Operation, list[tf.Tensor]]:
    """The op of one step, and tensors of the training to look at."""
    optimizer, values = optimizer_of(r, step, note)
    pairs = clipped(r, optimizer.compute_gradients(loss, trained), note)
    train = optimizer.apply_gradients(pairs, step)
    if r.random() < 0.25:
        note("averages")
        averages = tf.train.ExponentialMovingAverage(0.9, num_updates=step if r.random() < 0.5 else None)
        with tf.control_dependencies([train]):
            train = averages.apply(trained)
    return train, values
