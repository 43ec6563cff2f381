"""What record_ops.py asks of each op: inputs and attributes, drawn at random, about one in six that do not fit."""

import inspect

import numpy as np
import parsing_samples
import tensorflow.compat.v1 as tf

NAMES = {"float32": "float", "float64": "double", "int32": "int32", "int64": "int64", "bool": "bool"}
FLOATS = [np.float32, np.float64]
NUMBERS = [np.float32, np.float64, np.int32, np.int64]


class Listed(list):
    """An attribute that is a list of `kind`: types, shapes, strings."""

    def __init__(self, kind, values):
        super().__init__(values)
        self.kind = kind


def for_tensorflow(attr):
    """-1, a dimension that is not known, is None there."""
    if isinstance(attr, Listed) and attr.kind == "shapes":
        return [[None if dim == -1 else dim for dim in dims] for dims in attr]
    return attr


class Sample:
    def __init__(self, op, inputs, attrs=None, refs=0, ours=None):
        self.op, self.inputs, self.attrs, self.refs = op, [np.asarray(x) for x in inputs], attrs or {}, refs
        self.ours = ours or {}  # attributes that TensorFlow's Python gives a node by itself

    def arguments(self, inputs):
        """By the names of the raw op, whose order is that of the inputs; ops of a list take it as one."""
        if self.op == "AddN":
            return {"inputs": inputs}
        if self.op == "Pack":
            return {"values": inputs}  # N follows
        if self.op == "ConcatV2":
            return {"values": inputs[:-1], "axis": inputs[-1]}
        if self.op == "ConcatOffset":
            return {"concat_dim": inputs[0], "shape": inputs[1:]}
        if self.op == "DynamicStitch":
            half = len(inputs) // 2
            return {"indices": inputs[:half], "data": inputs[half:]}
        if self.op == "DecodeCSV":
            return {"records": inputs[0], "record_defaults": inputs[1:]}
        if self.op.startswith("Parse"):
            return parsing_samples.arguments(self, inputs)
        names = [name for name in inspect.signature(getattr(tf.raw_ops, self.op)).parameters if name not in self.attrs]
        return dict(zip(names, inputs))


def shape(r, most_rank=3, least_rank=0):
    return tuple(int(x) for x in r.choice([0, 1, 2, 3, 4], size=r.randint(least_rank, most_rank + 1),
                                          p=[0.05, 0.2, 0.3, 0.25, 0.2]))


def full(r, rank):
    return tuple(int(x) for x in r.randint(1, 5, size=rank))


def numbers(r, dims, dtype, low=-3.0, high=3.0):
    if np.issubdtype(dtype, np.floating):
        return np.asarray(r.uniform(low, high, size=dims).round(2), dtype=dtype)
    return np.asarray(r.randint(int(low), int(high) + 1, size=dims), dtype=dtype)


def positive(r, dims, dtype):
    return numbers(r, dims, dtype, 0.1, 4.0)


def one_of(r, items):
    return items[r.randint(len(items))]


def odd(r):
    """Whether this case is to have something that does not fit."""
    return r.randint(6) == 0


def partner(r, dims):
    """A shape that broadcasts with that one, mostly."""
    if odd(r):
        return shape(r)
    other = [1 if r.randint(4) == 0 else d for d in dims]
    return tuple(other[r.randint(len(other) + 1):]) if r.randint(3) == 0 else tuple(other)


def other_shape(r, dims):
    return shape(r) if odd(r) else dims


# Each gives a Sample, or None where this draw makes none.


def unary(low, high, types=None):
    def draw(op, r):
        dtype = one_of(r, types or FLOATS)
        return Sample(op, [numbers(r, shape(r), dtype, low, high)])
    return draw


def binary(low, high, types=None):
    def draw(op, r):
        dtype = one_of(r, types or NUMBERS)
        dims = shape(r)
        first, second = numbers(r, dims, dtype, low, high), numbers(r, partner(r, dims), dtype, low, high)
        return Sample(op, [first, second] if r.randint(2) else [second, first])
    return draw


def pair(low, high):
    def draw(op, r):
        dtype = one_of(r, FLOATS)
        dims = shape(r)
        return Sample(op, [numbers(r, dims, dtype, low, high), numbers(r, other_shape(r, dims), dtype, low, high)])
    return draw


def logical(op, r):
    dims = shape(r)
    return Sample(op, [r.randint(2, size=dims).astype(bool), r.randint(2, size=partner(r, dims)).astype(bool)])


def axes_of(r, rank):
    if odd(r):
        return np.asarray(r.randint(-5, 6, size=r.randint(0, 4)), np.int32)
    chosen = [int(a) for a in r.permutation(rank)[: r.randint(0, rank + 1)]]
    return np.asarray([a - rank if r.randint(3) == 0 else a for a in chosen], one_of(r, [np.int32, np.int64]))


def reduction(types):
    def draw(op, r):
        dims = shape(r) if op != "Mean" else full(r, r.randint(0, 4))
        dtype = one_of(r, types)
        value = r.randint(2, size=dims).astype(bool) if dtype is bool else numbers(r, dims, dtype)
        return Sample(op, [value, axes_of(r, len(dims))], {"keep_dims": bool(r.randint(2))})
    return draw


def scan(op, r):
    dims = full(r, r.randint(1, 4)) if not odd(r) else shape(r)
    axis = int(r.randint(-len(dims), len(dims))) if dims and not odd(r) else int(r.randint(-5, 6))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), one_of(r, [np.int32, np.int64])(axis)],
                  {"exclusive": bool(r.randint(2)), "reverse": bool(r.randint(2))})


def list_diff(op, r):
    dtype = one_of(r, [np.int32, np.int64])
    lists = [numbers(r, shape(r, 1, 1) if not odd(r) else shape(r, 2), dtype, 0, 6) for _ in range(2)]
    return Sample(op, lists, {"out_idx": one_of(r, [tf.int32, tf.int64])})


def arg_extreme(op, r):
    dims = full(r, r.randint(1, 4))
    axis = r.randint(-len(dims), len(dims)) if not odd(r) else r.randint(-5, 6)
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.int32(axis)],
                  {"output_type": one_of(r, [tf.int32, tf.int64])})


def mat_mul(op, r):
    a, b, c = (int(x) for x in r.randint(1, 5, size=3))
    ta, tb = bool(r.randint(2)), bool(r.randint(2))
    left, right = ((b, a) if ta else (a, b)), ((c, b) if tb else (b, c))
    dtype = one_of(r, FLOATS)
    return Sample(op, [numbers(r, left, dtype), numbers(r, other_shape(r, right), dtype)],
                  {"transpose_a": ta, "transpose_b": tb})


def bias_add(op, r):
    dims = full(r, r.randint(2, 5)) if not odd(r) else shape(r)
    dtype = one_of(r, NUMBERS)
    return Sample(op, [numbers(r, dims, dtype), numbers(r, other_shape(r, dims[-1:]), dtype)])


def bias_add_grad(op, r):
    return Sample(op, [numbers(r, full(r, r.randint(2, 5)) if not odd(r) else shape(r), one_of(r, NUMBERS))])


def softmax(op, r):
    return Sample(op, [numbers(r, full(r, r.randint(1, 4)), one_of(r, FLOATS), -5, 5)])


def cross_entropy(op, r):
    dims = full(r, 2)
    dtype = one_of(r, FLOATS)
    labels = positive(r, partner(r, dims), dtype)
    return Sample(op, [numbers(r, dims, dtype, -5, 5), labels])


def sparse_cross_entropy(op, r):
    dims = full(r, 2) if not odd(r) else shape(r)
    labels = other_shape(r, dims[:1])
    most = dims[-1] if dims and dims[-1] > 0 else 1
    high = most + (1 if odd(r) else 0)
    return Sample(op, [numbers(r, dims, one_of(r, FLOATS), -5, 5),
                       np.asarray(r.randint(0, high, size=labels), one_of(r, [np.int32, np.int64]))])


def image(r, dtype, rank=4):
    dims = (int(r.randint(1, 3)), int(r.randint(2, 7)), int(r.randint(2, 7)), int(r.randint(1, 4)))
    return numbers(r, dims[:rank], dtype)


def strides(r):
    return [1, int(r.randint(1, 4)), int(r.randint(1, 4)), 1]


def conv_question(r):
    dtype = one_of(r, FLOATS)
    images = image(r, dtype)
    fits = images.shape[3] if not odd(r) else images.shape[3] + 1  # one that divides it makes groups
    dims = (int(r.randint(1, 4)), int(r.randint(1, 4)), fits, int(r.randint(1, 4)))
    return images, numbers(r, dims, dtype), {"strides": strides(r), "padding": one_of(r, ["SAME", "VALID"])}


def conv(op, r):
    images, filters, attrs = conv_question(r)
    return Sample(op, [images, filters], attrs)


def out_size(size, window, stride, padding):
    return -(-size // stride) if padding == "SAME" else (size - window) // stride + 1


def pooled(images, windows, attrs, channels):
    steps, padding = attrs["strides"], attrs["padding"]
    dims = [out_size(images.shape[i], windows[i - 1], steps[i], padding) for i in (1, 2)]
    return None if min(dims) <= 0 else (images.shape[0], *dims, channels)


def conv_back(op, r):
    images, filters, attrs = conv_question(r)
    dims = pooled(images, filters.shape[:2], attrs, filters.shape[3])
    if dims is None or filters.shape[2] != images.shape[3]:
        return None
    grad = numbers(r, dims, images.dtype)
    if op == "Conv2DBackpropInput":
        return Sample(op, [np.asarray(images.shape, np.int32), filters, grad], attrs)
    return Sample(op, [images, np.asarray(filters.shape, np.int32), grad], attrs)


def pool(op, r):
    windows = [int(r.randint(1, 4)), int(r.randint(1, 4))]
    attrs = {"ksize": [1, *windows, 1], "strides": strides(r), "padding": one_of(r, ["SAME", "VALID"])}
    images = image(r, one_of(r, FLOATS), 4 if not odd(r) else 3)
    if images.ndim != 4:
        return Sample(op, [images], attrs) if op in ("MaxPool", "AvgPool") else None
    dims = pooled(images, windows, attrs, images.shape[3])
    if dims is None:  # then TensorFlow's gradient is what lay in memory
        return None
    if op in ("MaxPool", "AvgPool"):
        return Sample(op, [images], attrs)
    grad = numbers(r, dims, images.dtype)
    if op == "AvgPoolGrad":
        return Sample(op, [np.asarray(images.shape, np.int32), grad], attrs)
    with tf.Graph().as_default(), tf.Session() as session:
        best = session.run(tf.raw_ops.MaxPool(input=tf.constant(images), **attrs))
    return Sample(op, [images, best, grad], attrs)


def reshape(op, r):
    dims = shape(r)
    size = int(np.prod(dims, dtype=np.int64))
    target = [size] if r.randint(2) else ([-1, 1] if r.randint(2) else list(reversed(dims)))
    if odd(r):
        target = [int(x) for x in r.randint(-1, 4, size=r.randint(0, 3))]
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(target, one_of(r, [np.int32, np.int64]))])


def transpose(op, r):
    dims = shape(r)
    perm = r.permutation(len(dims)) if not odd(r) else r.randint(-1, 4, size=r.randint(0, 4))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(perm, one_of(r, [np.int32, np.int64]))])


def tile(op, r):
    dims = shape(r)
    times = r.randint(0, 4, size=len(dims)) if not odd(r) else r.randint(-1, 3, size=r.randint(0, 4))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(times, np.int32)])


def broadcast_to(op, r):
    dims = shape(r)
    target = [d if d != 1 else int(r.randint(1, 4)) for d in dims]
    target = [int(x) for x in r.randint(1, 3, size=r.randint(0, 2))] + target
    if odd(r):
        target = list(shape(r))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(target, np.int32)])


def slice_of(op, r):
    dims = shape(r)
    begin = [int(r.randint(0, d + 1)) for d in dims]
    size = [int(r.randint(-1, d - b + 1)) for d, b in zip(dims, begin)]
    if odd(r) and dims:
        begin[0] += int(r.randint(-2, 5))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(begin, np.int32), np.asarray(size, np.int32)])


def pad(op, r):
    dims = shape(r)
    around = r.randint(0, 3, size=(len(dims), 2)) if not odd(r) else r.randint(-1, 3, size=(r.randint(0, 4), 2))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(around, np.int32)])


def pack(op, r):
    dims = shape(r, 2)
    dtype = one_of(r, NUMBERS)
    inputs = [numbers(r, dims, dtype) for _ in range(r.randint(1, 4))]
    if odd(r):
        inputs.append(numbers(r, shape(r, 2), dtype))
    return Sample(op, inputs, {"axis": int(r.randint(-len(dims) - 1, len(dims) + 1))})


def unpack(op, r):
    dims = full(r, r.randint(1, 4))
    axis = int(r.randint(-len(dims), len(dims)))
    num = dims[axis] if not odd(r) else int(r.randint(1, 4))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS))], {"num": num, "axis": axis})


def concat(op, r):
    dims = list(full(r, r.randint(1, 4)))
    axis = int(r.randint(0, len(dims)))
    dtype = one_of(r, NUMBERS)
    inputs = []
    for _ in range(r.randint(2, 4)):
        dims[axis] = int(r.randint(0, 4))
        inputs.append(numbers(r, tuple(dims), dtype))
    given = axis - (len(dims) if r.randint(3) == 0 else 0)
    return Sample(op, [*inputs, np.int32(given if not odd(r) else r.randint(-4, 5))])


def one_hot(op, r):
    dims = shape(r, 2)
    dtype = one_of(r, NUMBERS)
    on, off = numbers(r, (), dtype), numbers(r, (), dtype)
    axis = int(r.randint(-1, len(dims) + 1))
    return Sample(op, [np.asarray(r.randint(-1, 5, size=dims), one_of(r, [np.int32, np.int64])),
                       np.int32(r.randint(0, 5) if not odd(r) else -1), on, off], {"axis": axis})


def gather(op, r):
    dims = full(r, r.randint(1, 4))
    axis = int(r.randint(-len(dims), len(dims))) if op == "GatherV2" else 0
    high = dims[axis] + (1 if odd(r) else 0)
    indices = np.asarray(r.randint(0, high, size=shape(r, 2)), one_of(r, [np.int32, np.int64]))
    inputs = [numbers(r, dims, one_of(r, NUMBERS)), indices]
    return Sample(op, inputs + [np.int32(axis)] if op == "GatherV2" else inputs)


def segment_sum(op, r):
    dims = full(r, r.randint(1, 4))
    count = int(r.randint(1, 5))
    ids = r.randint(-1, count + (1 if odd(r) else 0), size=other_shape(r, dims[: r.randint(1, len(dims) + 1)]))
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.asarray(ids, np.int32), np.int32(count)])


def stitch(op, r):
    inner = full(r, r.randint(0, 2))
    counts = [int(x) for x in r.randint(1, 4, size=r.randint(1, 3))]
    dtype = one_of(r, NUMBERS)
    order = [int(x) for x in r.permutation(sum(counts))]
    indices = [np.asarray([order.pop() for _ in range(n)], np.int32) for n in counts]
    return Sample(op, indices + [numbers(r, (n, *inner), dtype) for n in counts])


def unique(op, r):
    return Sample(op, [np.asarray(r.randint(0, 5, size=r.randint(0, 8)), one_of(r, [np.int32, np.int64]))],
                  {"out_idx": one_of(r, [tf.int32, tf.int64])})


def broadcast_args(op, r):
    dims = shape(r)
    dtype = one_of(r, [np.int32, np.int64])
    return Sample(op, [np.asarray(dims, dtype), np.asarray(partner(r, dims), dtype)])


def permutation(op, r):
    values = r.permutation(r.randint(0, 6)) if not odd(r) else r.randint(-1, 4, size=r.randint(1, 4))
    return Sample(op, [np.asarray(values, one_of(r, [np.int32, np.int64]))])


def expand_dims(op, r):
    dims = shape(r)
    axis = r.randint(-len(dims) - 1, len(dims) + 1) if not odd(r) else r.randint(-6, 7)
    return Sample(op, [numbers(r, dims, one_of(r, NUMBERS)), np.int32(axis)])


def squeeze(op, r):
    return Sample(op, [numbers(r, tuple(int(x) for x in r.randint(1, 3, size=r.randint(0, 4))), one_of(r, NUMBERS))])


def clip(op, r):
    dtype = one_of(r, FLOATS)
    dims = full(r, r.randint(1, 3))
    return Sample(op, [numbers(r, dims, dtype), numbers(r, (), dtype, -2, 0), numbers(r, (), dtype, 0, 2)])


def select(op, r):
    dims = shape(r)
    dtype = one_of(r, NUMBERS)
    return Sample(op, [r.randint(2, size=dims if r.randint(4) else ()).astype(bool), numbers(r, dims, dtype),
                       numbers(r, other_shape(r, dims), dtype)])


def select_v2(op, r):
    dims = shape(r)
    dtype = one_of(r, NUMBERS)
    return Sample(op, [r.randint(2, size=partner(r, dims)).astype(bool), numbers(r, dims, dtype),
                       numbers(r, partner(r, dims), dtype)])


def cast(op, r):
    return Sample(op, [numbers(r, shape(r), one_of(r, NUMBERS), -9, 9)],
                  {"DstT": one_of(r, [tf.float32, tf.float64, tf.int32, tf.int64, tf.bool])})


def fill(op, r):
    dims = shape(r) if not odd(r) else (-1, 2)
    return Sample(op, [np.asarray(dims, np.int32), numbers(r, (), one_of(r, NUMBERS))])


def add_n(op, r):
    dims = shape(r)
    dtype = one_of(r, NUMBERS)
    inputs = [numbers(r, dims, dtype) for _ in range(r.randint(1, 4))]
    if odd(r):
        inputs.append(numbers(r, shape(r), dtype))
    return Sample(op, inputs)


def pow_of(op, r):
    dtype = one_of(r, NUMBERS)
    dims = shape(r)
    if dtype in FLOATS:
        return Sample(op, [positive(r, dims, dtype), numbers(r, partner(r, dims), dtype)])
    return Sample(op, [numbers(r, dims, dtype), numbers(r, partner(r, dims), dtype, -1 if odd(r) else 0, 5)])


def value_only(op, r):
    return Sample(op, [numbers(r, shape(r), one_of(r, NUMBERS))])


def scatter(op, r):
    use_locking = {} if op.startswith("Resource") else {"use_locking": True}
    dims = full(r, r.randint(1, 4))
    dtype = one_of(r, NUMBERS)
    indices = np.asarray(r.randint(0, dims[0] + (1 if odd(r) else 0), size=full(r, r.randint(0, 3))), np.int32)
    if op.endswith("ScatterUpdate"):  # of an index that comes twice either may win
        indices = np.asarray(r.permutation(dims[0])[: r.randint(1, dims[0] + 1)], np.int32)
    updates = numbers(r, other_shape(r, indices.shape + dims[1:]), dtype)
    rows = updates.shape[: indices.ndim] == indices.shape and updates.ndim == indices.ndim + len(dims) - 1
    if op.startswith("Resource") and rows and updates.shape[indices.ndim:] != dims[1:]:
        return None  # rows of another length: TensorFlow writes where they come to lie
    return Sample(op, [numbers(r, dims, dtype), indices, updates], use_locking, refs=1)


# slots, numbers, whether the gradient comes before the numbers, or at that place.
APPLY = {
    "ApplyGradientDescent": (0, ["lr"], 1, None),
    "ApplyMomentum": (1, ["lr", "fraction"], 1, "use_nesterov"),
    "ApplyAdagrad": (1, ["lr"], 1, "update_slots"),
    "ApplyRMSProp": (2, ["lr", "fraction", "fraction", "small"], 4, None),
    "ApplyCenteredRMSProp": (3, ["lr", "fraction", "fraction", "small"], 4, None),
    "ApplyAdam": (2, ["fraction", "fraction", "lr", "fraction", "fraction", "small"], 6, "use_nesterov"),
    "ApplyFtrl": (2, ["lr", "fraction", "fraction", "power"], 0, None),
    "ApplyFtrlV2": (2, ["lr", "fraction", "fraction", "fraction", "power"], 0, None),
}


def apply(op, r):
    slots, names, place, flag = APPLY[op.replace("Sparse", "").replace("Resource", "")]
    sparse = "Sparse" in op
    dims = full(r, r.randint(1, 3))
    dtype = one_of(r, FLOATS)
    # What TensorFlow says of three slots names the wrong shape.
    refs = [numbers(r, dims, dtype)] + [positive(r, other_shape(r, dims) if odd(r) and slots < 3 else dims, dtype)
                                        for _ in range(slots)]
    if op.endswith("CenteredRMSProp"):  # what is under the root must not be negative
        refs[2] = np.asarray(refs[1] ** 2 + np.abs(refs[2]) if refs[1].shape == refs[2].shape else refs[2], dtype)
    draws = {"lr": lambda: r.uniform(0.01, 1), "fraction": lambda: r.uniform(0.1, 0.95),
             "small": lambda: r.uniform(1e-3, 1e-1), "power": lambda: -0.5 if r.randint(2) else -0.7}
    inputs = [np.asarray(round(draws[name](), 3), dtype) for name in names]
    if sparse:
        rows = r.permutation(dims[0])[: r.randint(1, dims[0] + 1)]
        grad = [numbers(r, (len(rows), *dims[1:]), dtype), np.asarray(rows, one_of(r, [np.int32, np.int64]))]
    else:
        grad = [numbers(r, other_shape(r, dims), dtype)]
    inputs[place:place] = grad
    attrs = {"use_locking": True}
    if flag:
        attrs[flag] = bool(r.randint(2))
    return Sample(op, refs + inputs, attrs, refs=slots + 1)


OPS = {
    **{op: unary(-4, 4) for op in ("Exp", "Expm1", "Sin", "Cos", "Floor", "Ceil", "Sigmoid", "Tanh", "Elu", "Softplus",
                                   "IsFinite", "L2Loss")},
    **{op: unary(0.1, 6) for op in ("Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv")},
    **{op: unary(-4, 8, NUMBERS) for op in ("Neg", "Abs", "Sign", "Square", "Relu", "Relu6")},
    **{op: pair(0.1, 3) for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "SigmoidGrad", "TanhGrad")},
    **{op: pair(-3, 7) for op in ("ReluGrad", "Relu6Grad", "EluGrad", "SoftplusGrad")},
    **{op: binary(-3, 3) for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "Less",
                                    "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")},
    **{op: binary(-3, 3, FLOATS) for op in ("RealDiv", "DivNoNan")},
    **{op: binary(-4, 4, [np.int32, np.int64, np.float64]) for op in ("FloorDiv", "FloorMod")},
    "LogicalAnd": logical, "LogicalOr": logical, "Pow": pow_of, "AddN": add_n, "ClipByValue": clip, "Select": select,
    "SelectV2": select_v2,
    "Cast": cast,
    **{op: reduction(NUMBERS) for op in ("Sum", "Mean", "Max", "Min", "Prod")},
    "Cumsum": scan, "Cumprod": scan, "ListDiff": list_diff,
    **{op: reduction([bool]) for op in ("All", "Any")},
    "ArgMax": arg_extreme, "ArgMin": arg_extreme, "MatMul": mat_mul, "BiasAdd": bias_add, "BiasAddGrad": bias_add_grad,
    "Softmax": softmax, "LogSoftmax": softmax, "SoftmaxCrossEntropyWithLogits": cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": sparse_cross_entropy, "Conv2D": conv, "Conv2DBackpropInput": conv_back,
    "Conv2DBackpropFilter": conv_back, "MaxPool": pool, "AvgPool": pool, "MaxPoolGrad": pool, "AvgPoolGrad": pool,
    "Reshape": reshape, "Transpose": transpose, "Tile": tile, "BroadcastTo": broadcast_to, "Slice": slice_of,
    "Pad": pad, "Pack": pack, "Unpack": unpack, "ConcatV2": concat, "OneHot": one_hot, "Gather": gather,
    "GatherV2": gather, "UnsortedSegmentSum": segment_sum, "DynamicStitch": stitch, "Unique": unique,
    "BroadcastGradientArgs": broadcast_args, "InvertPermutation": permutation, "ExpandDims": expand_dims,
    "Squeeze": squeeze, "Fill": fill,
    **{op: value_only for op in ("Shape", "Size", "Rank", "ZerosLike", "OnesLike", "Identity")},
    **{op: scatter for op in ("ScatterAdd", "ScatterSub", "ScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub",
                              "ResourceScatterUpdate")},
    **{kind + op: apply for op in APPLY for kind in ("", "Resource")},
    **{kind + op: apply for op in APPLY for kind in ("Sparse", "ResourceSparse")
       if op not in ("ApplyGradientDescent", "ApplyAdam")},
}


# Infinite, not a number, denormal, nothing; where functions bend, and the ends of what they can give.
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, -1e-40, 1e-30, 1.0, -1.0]
LARGE = [3e38, -3e38, 1e20, -1e20, 88.0, -88.0, 100.0, -100.0, 710.0, -750.0]
# Where sums become infinite depends on their order, and where products do on theirs.
SUMS = ("MatMul", "Conv2D", "Apply", "Sum", "Mean", "Prod", "Cum", "L2Loss", "AddN", "Softmax", "Grad", "Pool", "Scatter")


def with_special_values(r, sample):
    """Of one case in four some elements are such numbers."""
    if sample is None or r.randint(4) != 0:
        return sample
    special = SPECIAL if any(name in sample.op for name in SUMS) else SPECIAL + LARGE
    for i, value in enumerate(sample.inputs):
        if value.dtype.kind == "f" and value.size > 0:
            chosen = r.rand(*value.shape) < 0.4
            sample.inputs[i] = np.where(chosen, r.choice(special, size=value.shape), value).astype(value.dtype)
    return sample


def draw(op, random):
    if op in parsing_samples.OPS:
        inputs, attrs, ours = parsing_samples.OPS[op](random)
        return Sample(op, inputs, {k: Listed(*v) if isinstance(v, tuple) else v for k, v in attrs.items()}, ours=ours)
    return with_special_values(random, OPS[op](op, random))
