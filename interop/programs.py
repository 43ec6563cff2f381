"""Programs of TensorFlow 1 that are drawn: data, a model, a loss, an optimizer. A program is a function of its seed."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import drawn_training
import numpy as np
from vigil_player.tensorflow_v1 import tf

STEPS = 20
ACTIVATIONS = [tf.nn.relu, tf.tanh, tf.sigmoid, tf.nn.elu, tf.nn.softplus, tf.nn.relu6, tf.identity, tf.sin, tf.square]


@dataclasses.dataclass
class Program:
    """What is run of it. `batches`: what is fed in each step."""

    about: list[str]
    init: tf.Operation
    train: tf.Operation
    loss: tf.Tensor
    values: list[tf.Tensor]
    batches: list[dict[tf.Tensor, np.ndarray]]


class Drawer:
    """`repeatable`: a run that begins in the middle sees the same data: nothing is fed, iterated or dropped."""

    def __init__(self, seed: str, repeatable: bool = False) -> None:
        self.r = random.Random(seed)
        self.numbers = np.random.RandomState(self.r.randrange(2**31))
        self.repeatable = repeatable
        self.dtype = self.r.choice([tf.float32, tf.float32, tf.float32, tf.float64])
        self.kinds = self.r.choice(["ref", "resource", "both"])
        self.rows = self.r.randrange(3, 8)
        self.source = "constant" if repeatable else self.r.choice(["constant", "fed", "fed", "dataset"])
        self.columns: list[np.ndarray] = []  # of a dataset, whose elements these are
        self.makers: list[tuple[tf.Tensor, Callable[[], np.ndarray]]] = []
        self.trained: list[tf.Variable] = []
        self.about = [self.dtype.name, f"{self.kinds} variables", self.source]

    def note(self, what: str) -> None:
        self.about.append(what)

    def array(self, shape: list[int], low: float = -1.0, high: float = 1.0) -> np.ndarray:
        return self.numbers.uniform(low, high, shape).astype(self.dtype.as_numpy_dtype)

    def data(self, make: Callable[[], np.ndarray]) -> tf.Tensor:
        """Rows of data: a constant, fed, or from a dataset of its own."""
        first = make()
        if self.source == "fed":
            place = tf.placeholder(first.dtype, [None, *first.shape[1:]] if self.r.random() < 0.5 else first.shape)
            self.makers.append((place, make))
            return place
        if self.source == "dataset":
            many = np.concatenate([first, make(), make()])
            data = tf.data.Dataset.from_tensor_slices(many)
            if self.r.random() < 0.5:
                data = data.shuffle(self.r.randrange(2, 30), seed=self.r.randrange(100)).repeat()
            else:
                data = data.repeat(200)
            data = data.batch(self.rows, drop_remainder=True).prefetch(1)
            iterator = tf.data.make_initializable_iterator(data)
            tf.add_to_collection("interop_iterators", iterator.initializer)
            return iterator.get_next()
        return tf.constant(first)

    def variable(self, name: str, shape: list[int]) -> tf.Variable:
        r, seed = self.r, self.r.randrange(1000)
        cut = len(shape) == 2 and shape[0] > 2 and r.random() < 0.15
        initializer = r.choice([
            lambda: tf.constant_initializer(self.numbers.uniform(-0.7, 0.7, []) if cut else self.array(shape, -0.7, 0.7)),
            lambda: tf.truncated_normal_initializer(stddev=0.4, seed=seed),
            lambda: tf.random_uniform_initializer(-0.6, 0.6, seed=seed),
            lambda: tf.random_normal_initializer(stddev=0.3, seed=seed),
            lambda: tf.glorot_uniform_initializer(seed=seed),
            lambda: tf.variance_scaling_initializer(seed=seed),
        ])()
        use_resource = {"ref": False, "resource": True, "both": r.random() < 0.5}[self.kinds]
        partitioner = None
        if cut:
            self.note("partitioned")
            partitioner = tf.fixed_size_partitioner(2)
        made = tf.get_variable(name, shape, self.dtype, initializer, use_resource=use_resource, partitioner=partitioner)
        self.trained.extend(made if partitioner is not None else [made])
        return made

    def dense(self, name: str, x: tf.Tensor, size: int) -> tf.Tensor:
        n = int(x.shape[-1])
        with tf.variable_scope(name):
            if self.r.random() < 0.25:
                product = tf.matmul(x, self.variable("kernel", [size, n]), transpose_b=True)
            else:
                product = tf.matmul(x, tf.convert_to_tensor(self.variable("kernel", [n, size])))
            bias = self.variable("bias", [size])
            return tf.nn.bias_add(product, bias) if self.r.random() < 0.5 else product + bias

    def dense_part(self) -> tf.Tensor:
        self.note("dense")
        n = self.r.randrange(2, 6)
        x = self.data(lambda: self.array([self.rows, n]))
        for layer in range(self.r.randrange(1, 4)):
            x = self.r.choice(ACTIVATIONS)(self.dense(f"dense_{layer}", x, self.r.randrange(2, 7)))
        return x

    def conv_part(self) -> tf.Tensor:
        self.note("conv")
        r, side = self.r, self.r.randrange(4, 8)
        channels, filters = r.randrange(1, 3), r.randrange(1, 4)
        x = self.data(lambda: self.array([self.rows, side, side, channels]))
        with tf.variable_scope("conv"):
            kernel = tf.convert_to_tensor(self.variable("kernel", [r.randrange(1, 4), r.randrange(1, 4), channels, filters]))
            x = tf.nn.conv2d(x, kernel, strides=r.choice([1, 2, [1, 1, 2, 1]]), padding=r.choice(["SAME", "VALID"]))
            x = r.choice(ACTIVATIONS)(tf.nn.bias_add(x, self.variable("bias", [filters])))
        pool = r.choice([tf.nn.max_pool2d, tf.nn.avg_pool2d, None])
        if pool is not None:
            x = pool(x, ksize=r.choice([2, [1, 3, 2, 1]]), strides=r.choice([1, 2]), padding="SAME")
        return tf.reshape(x, [self.rows, int(np.prod(x.shape.as_list()[1:]))])

    def embedding_part(self) -> tf.Tensor:
        self.note("embedding")
        rows, size, each = self.r.randrange(4, 11), self.r.randrange(2, 5), self.r.randrange(1, 4)
        kind = self.r.choice([np.int32, np.int64])
        ids = self.data(lambda: self.numbers.randint(0, rows, [self.rows, each]).astype(kind))
        table = self.variable("table", [rows, size])
        if not isinstance(table, tf.Variable):
            table = tf.convert_to_tensor(table)
        picked = tf.nn.embedding_lookup(table, ids) if self.r.random() < 0.7 else tf.gather(table, ids)
        if self.r.random() < 0.5:
            return tf.reduce_mean(picked, axis=1)
        return tf.reshape(picked, [self.rows, each * size])

    def bend(self, x: tf.Tensor) -> tf.Tensor:
        """Something more that models do: the rows stay rows."""
        n, r = int(x.shape[-1]), self.r
        choice = r.choice(["none", "none", "normalized", "dropout", "slices", "stack", "tiled", "padded", "where", "turned"])
        if choice == "dropout" and self.repeatable:
            return x
        if choice != "none":
            self.note(choice)
        if choice == "normalized":
            mean, variance = tf.nn.moments(x, [0])
            with tf.variable_scope(None, "normalized"):
                beta, gamma = self.variable("beta", [n]), self.variable("gamma", [n])
            return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 0.01)
        if choice == "dropout":
            return tf.nn.dropout(x, rate=0.25, seed=r.randrange(100))
        if choice == "slices":
            return tf.concat([x[:, 1:] * 2.0, x[:, :1], x[:, ::-1]], axis=1)
        if choice == "stack":
            return tf.reduce_sum(tf.stack([x, tf.exp(-tf.abs(x)), tf.maximum(x, 0.1)], axis=1), axis=1)
        if choice == "tiled":
            return tf.tile(x, [1, 2])
        if choice == "padded":
            return tf.pad(x, [[0, 0], [1, 2]])
        if choice == "where":
            return tf.where(x > 0.05, x, 0.1 * x)
        if choice == "turned":
            return tf.transpose(tf.transpose(x) / (1.0 + tf.reduce_max(tf.abs(x))))
        return x

    def model(self) -> tf.Tensor:
        which = self.r.randrange(1, 8)
        parts = [self.bend(part()) for bit, part in [(1, self.dense_part), (2, self.conv_part), (4, self.embedding_part)]
                 if which & bit]
        joined = parts[0] if len(parts) == 1 else tf.concat(parts, axis=1)
        joined.set_shape([self.rows, int(joined.shape[-1])])
        return self.dense("out", joined, self.r.randrange(2, 5))

    def loss(self, out: tf.Tensor) -> tf.Tensor:
        r, size = self.r, int(out.shape[-1])
        name = r.choice(["mean_squared_error", "sparse_softmax_cross_entropy", "softmax_cross_entropy", "huber_loss",
                         "sigmoid_cross_entropy", "absolute_difference", "by hand"])
        self.note(name)
        if name == "sparse_softmax_cross_entropy":
            tf.losses.sparse_softmax_cross_entropy(self.data(lambda: self.numbers.randint(0, size, [self.rows])), out)
        elif name in ("softmax_cross_entropy", "sigmoid_cross_entropy"):
            labels = self.data(lambda: np.eye(size, dtype=np.int32)[self.numbers.randint(0, size, [self.rows])])
            getattr(tf.losses, name)(labels, out, label_smoothing=r.choice([0, 0, 0.1]))
        else:
            y = self.data(lambda: self.array([self.rows, size]))
            if name == "by hand":
                loss = tf.reduce_sum(tf.reduce_mean(tf.squared_difference(out, y), axis=0))
                tf.losses.add_loss(loss + tf.reduce_mean(tf.log1p(tf.exp(-out))))
            else:
                getattr(tf.losses, name)(y, out)
        if r.random() < 0.3:
            self.note("regularized")
            tf.losses.add_loss(0.05 * tf.nn.l2_loss(self.trained[0]))
        return tf.add_n([tf.cast(loss, self.dtype) for loss in tf.losses.get_losses()])


def draw(seed: str, repeatable: bool = False) -> Program:
    """Adds a program to the default graph, with a saver and a summary."""
    drawer = Drawer(seed, repeatable)
    if drawer.r.random() < 0.3:
        tf.set_random_seed(drawer.r.randrange(1000))
    step = tf.train.get_or_create_global_step()
    loss = drawer.loss(drawer.model())
    train, more = drawn_training.draw(drawer.r, loss, step, drawer.trained, drawer.note)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("trained", drawer.trained[0])
    more.append(tf.summary.histogram("numbers", drawer.array([3, 5], -2.0, 2.0), collections=[]))
    tf.summary.merge_all()
    tf.add_to_collection("interop_train", train)
    tf.add_to_collection("interop_loss", loss)
    saver = tf.train.Saver(sharded=drawer.r.random() < 0.3)
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    values = [loss, *more] + [v.read_value() if v.dtype.base_dtype == v.dtype else tf.identity(v)
                              for v in tf.global_variables()]
    init = tf.group(tf.global_variables_initializer(), *tf.get_collection("interop_iterators"))
    batches = [{place: make() for place, make in drawer.makers} for _ in range(STEPS)]
    return Program(drawer.about, init, train, loss, values, batches)
