"""Graphs with branches (tf.cond, nested), and TensorFlow's gradients through them, drawn from a seed."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
from vigil_player.tensorflow_v1 import tf

SIZE = 3
RUNS = 6


@dataclasses.dataclass
class BranchProgram:
    """Of each variable V that the loss depends on, "theirs/V" is the loss's gradient."""

    about: str
    init: tf.Operation
    fetches: list[tf.Tensor]
    batches: list[dict[tf.Tensor, Any]]


class Drawn:
    """Expressions of one shape over variables, constants and what is fed; which branch is taken is fed, too."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(f"branches {seed}")
        self.resources = self.random.random() < 0.5
        self.variables = [
            tf.get_variable(f"v{i}", initializer=tf.constant(self.numbers()), use_resource=self.resources)
            for i in range(self.random.randint(1, 3))]
        self.fed = tf.placeholder(tf.float32, [SIZE], name="fed")
        self.ways = [tf.placeholder(tf.bool, [], name=f"way{i}") for i in range(2)]
        self.conds = 0

    def numbers(self) -> np.ndarray:
        return np.asarray([self.random.uniform(-1, 1) for _ in range(SIZE)], np.float32)

    def leaf(self) -> Any:
        what = self.random.random()
        if what < 0.7:
            variable = self.random.choice(self.variables)
            # As a reference it comes into a branch by RefSwitch.
            return variable if self.resources or self.random.random() < 0.6 else variable._ref()
        return self.fed if what < 0.85 else tf.constant(self.numbers())

    def expression(self, depth: int) -> Any:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf()
        what = self.random.random()
        if what < 0.45:
            return self.branches(depth)
        left = self.expression(depth - 1)
        if what < 0.6:
            return self.random.choice([tf.tanh, tf.square, tf.negative, tf.identity])(left)
        return self.random.choice([tf.add, tf.multiply, tf.subtract, tf.maximum])(left, self.expression(depth - 1))

    def branches(self, depth: int) -> Any:
        self.conds += 1
        way = self.random.choice([*self.ways, tf.reduce_sum(self.fed) > 0])
        outer = self.expression(depth - 1) if self.random.random() < 0.5 else None

        def side() -> Any:
            inner = self.expression(depth - 1)
            if outer is not None and self.random.random() < 0.5:
                inner = inner * outer
            return tf.identity(inner)

        return tf.cond(way, side, side)


def draw(seed: str) -> BranchProgram:
    """Adds a program to the default graph."""
    drawn = Drawn(seed)
    value = drawn.branches(3)
    if drawn.random.random() < 0.5:
        value = value * drawn.expression(2)
    loss = tf.reduce_sum(value, name="loss")
    fetches = [loss]
    for variable, gradient in zip(drawn.variables, tf.gradients(loss, drawn.variables)):
        if gradient is not None:
            fetches.append(tf.identity(gradient, name=f"theirs/{variable.op.name}"))
    batches = [{drawn.fed: drawn.numbers(), **{way: drawn.random.random() < 0.5 for way in drawn.ways}}
               for _ in range(RUNS)]
    kind = "resource" if drawn.resources else "reference"
    return BranchProgram(f"{drawn.conds} conds, {len(drawn.variables)} {kind} variables",
                         tf.global_variables_initializer(), fetches, batches)
