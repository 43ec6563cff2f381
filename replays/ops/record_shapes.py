"""Random nodes of which TensorFlow is asked before anything runs: the shapes of their outputs, or what it says of them.

    record_shapes.py SEED CASES_OF_EACH_OP OUT [OP...]

Inputs and attributes are those of op_samples.py; then shapes are changed, dimensions and ranks hidden, and values known
or not. A case is a function of the seed, the op and its number. See README.md for the form of a line.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np  # noqa: E402
import op_samples  # noqa: E402
import record_ops  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

# Ops that op_samples.py does not have: the ranks of inputs that mostly fit, their types, attributes.
T, I, B = np.float32, np.int32, np.bool_


def plain(*inputs, refs=0, **attrs):
    """An input is (type, rank), or (type, values) of a vector or scalar that the op wants to know."""
    def draw(op, r):
        dims = op_samples.full(r, 4)
        arrays = []
        for kind, what in inputs:
            if isinstance(what, int):
                arrays.append(np.ones(dims[:what], kind))
            else:
                arrays.append(np.asarray(what(r), kind))
        drawn = {name: value(r) if callable(value) else value for name, value in attrs.items()}
        return op_samples.Sample(op, arrays, drawn, refs=refs)
    return draw


def some_dims(r):
    return [int(x) for x in r.randint(-1 if r.randint(8) else -3, 5, size=r.randint(0, 4))]


def number(low, high):
    return lambda r: int(r.randint(low, high))


def flag(r):
    return bool(r.randint(2))


def strided_slice(op, r):
    """Of few entries, with all masks."""
    dims = op_samples.shape(r, 4)
    n = int(r.randint(0, len(dims) + 2))
    ends = [r.randint(-5, 6, size=n) for _ in range(2)]
    strides = r.choice([1, 1, 1, 1, 2, -1, -2, 0], p=[.2, .2, .2, .16, .1, .06, .04, .04], size=n)
    mask = lambda p: sum(1 << i for i in range(n) if r.random_sample() < p)
    attrs = {"begin_mask": mask(.2), "end_mask": mask(.2), "ellipsis_mask": mask(.08), "new_axis_mask": mask(.1),
             "shrink_axis_mask": mask(.2)}
    return op_samples.Sample(op, [np.ones(dims, T), *(np.asarray(x, I) for x in (*ends, strides))], attrs)


def merge(op, r):
    dims = op_samples.full(r, r.randint(0, 4))
    return op_samples.Sample(op, [np.ones(dims, T) for _ in range(r.randint(1, 4))])


def placeholder(op, r):
    dims = op_samples.shape(r)
    return op_samples.Sample(op, [np.ones(dims, T)], {"shape": list(dims) if r.randint(2) else list(op_samples.shape(r))})


MORE = {
    "StridedSlice": strided_slice,
    "RandomUniform": plain((I, some_dims), dtype=tf.float32),
    "RandomStandardNormal": plain((I, some_dims), dtype=tf.float32),
    "TruncatedNormal": plain((I, some_dims), dtype=tf.float32),
    "RandomUniformInt": plain((I, some_dims), (I, number(0, 3)), (I, number(3, 9))),
    "RandomShuffle": plain((T, 2)),
    "Range": plain((I, number(-3, 9)), (I, number(-3, 9)), (I, number(-1, 4))),
    "Where": plain((B, 2)),
    "Switch": plain((T, 2), (B, 0)),
    "Merge": merge,
    "PlaceholderWithDefault": placeholder,
    "Assign": plain((T, 2), (T, 2), refs=1, validate_shape=flag),
    "AssignAdd": plain((T, 2), (T, 2), refs=1),
    "AssignSub": plain((T, 2), (T, 2), refs=1),
    "CountUpTo": plain((I, 0), refs=1, limit=3),
    "IsVariableInitialized": plain((T, 2), refs=1),
    "AssignVariableOp": plain((T, 2), (T, 2), refs=1),
    "AssignAddVariableOp": plain((T, 2), (T, 2), refs=1),
    "ReadVariableOp": plain((T, 2), refs=1, dtype=tf.float32),
    "VarIsInitializedOp": plain((T, 2), refs=1),
    "VariableShape": plain((T, 2), refs=1),
    "ResourceGather": plain((T, 2), (I, 1), refs=1, dtype=tf.float32),
}


def changed(r, dims):
    """Mostly the same; else with another dimension, one more or one less."""
    dims = [int(d) for d in dims]
    if r.randint(8) == 0 and dims:
        dims[r.randint(len(dims))] += int(r.randint(1, 3))
    if r.randint(12) == 0:
        dims.insert(r.randint(len(dims) + 1), int(r.randint(1, 4)))
    if r.randint(12) == 0 and dims:
        dims.pop(r.randint(len(dims)))
    return dims


def hidden(r, dims):
    """As far as it is told: null for an unknown rank, -1 for an unknown dimension."""
    how = r.randint(10)
    if how == 0:
        return None
    return [-1 if how < 4 and r.randint(2) else int(d) for d in dims]


def question(sample, r):
    """The inputs, as a line has them."""
    inputs = []
    for i, array in enumerate(sample.inputs):
        kind = "string" if array.dtype == object else op_samples.NAMES[array.dtype.name]
        known = record_ops.tensor(array)
        small = kind in ("int32", "int64") and array.ndim <= 2 and array.size <= 8
        if i >= sample.refs and small and r.randint(5) < 4:
            spells_shape = array.ndim == 1 and array.size > 0 and array.min() >= 0
            how = r.randint(6) if spells_shape else 5
            if how == 0:  # the shape of something
                inputs.append({"t": kind, "shape_of": hidden(r, array)})
            elif how == 1:  # put together
                inputs.append({"t": kind, "pack": [None if r.randint(3) == 0 else int(x) for x in array]})
            else:
                inputs.append(known)
        else:
            inputs.append({"t": kind, "s": hidden(r, changed(r, array.shape))})
    return inputs


def open_dims(dims):
    return None if dims is None else [None if d == -1 else d for d in dims]


def build_input(i, asked, is_ref, is_resource):
    kind, name = tf.as_dtype(asked["t"]), f"i{i}"
    if is_ref:
        shape = tf.TensorShape(open_dims(asked["s"]))
        if is_resource:
            return tf.raw_ops.VarHandleOp(dtype=kind, shape=shape, shared_name=name, name=name)
        return tf.raw_ops.VariableV2(dtype=kind, shape=shape, name=name)
    if "shape_of" in asked:
        inner = tf.placeholder(tf.float32, open_dims(asked["shape_of"]), name=f"{name}p")
        return tf.raw_ops.Shape(input=inner, out_type=kind, name=name)
    if "pack" in asked:
        parts = [tf.placeholder(kind, [], name=f"{name}p{k}") if x is None else tf.constant(x, kind, name=f"{name}p{k}")
                 for k, x in enumerate(asked["pack"])]
        return tf.raw_ops.Pack(values=parts, name=name)
    if "v" in asked:
        return tf.constant(np.asarray(asked["v"]).reshape(asked["s"]), kind, name=name)
    return tf.placeholder(kind, open_dims(asked["s"]), name=name)


def ask(sample, inputs):
    with tf.Graph().as_default():
        is_resource = not op_def_registry.get(sample.op).input_arg[0].is_ref if sample.refs else False
        built = [build_input(i, asked, i < sample.refs, is_resource) for i, asked in enumerate(inputs)]
        attrs = {name: op_samples.for_tensorflow(value) for name, value in sample.attrs.items()}
        try:
            arguments = {"inputs": built} if sample.op == "Merge" else sample.arguments(built)
            result = getattr(tf.raw_ops, sample.op)(**arguments, **attrs, name="node")
        except ValueError as error:
            return {"error": str(error)}
        outputs = result.outputs if isinstance(result, tf.Operation) else tf.nest.flatten(result)
        shapes = [None if y.shape.rank is None else [-1 if d is None else d for d in y.shape.as_list()] for y in outputs]
        return {"shapes": shapes}


def line_of(op, seed, i):
    r = np.random.RandomState([seed, i, sum(map(ord, op)) * 131 + len(op)])
    sample = MORE[op](op, r) if op in MORE else op_samples.draw(op, r)
    if sample is None:
        return None
    inputs = question(sample, r)
    line = {"op": op, "attrs": {k: attr(k, v) for k, v in (sample.attrs | sample.ours).items()}, "inputs": inputs}
    if sample.refs:
        line["refs"] = sample.refs
    line.update(ask(sample, inputs))
    return line


def attr(name, value):
    return {"shape": value} if name == "shape" else record_ops.attr(value)


def main():
    seed, cases, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    skipped = 0
    with open(out, "w", encoding="utf-8") as file:
        for op in sys.argv[4:] or list(dict.fromkeys([*op_samples.OPS, *MORE])):
            for i in range(cases):
                try:
                    line = line_of(op, seed, i)
                except (TypeError, tf.errors.OpError) as error:  # of types, or refused by Python: another layer's words
                    print(f"{op} {i}: {str(error)[:150]}", file=sys.stderr)
                    line = None
                skipped += line is None
                if line is not None:
                    file.write(json.dumps(line, separators=(",", ":")) + "\n")
    print(f"{skipped} draws made no case", file=sys.stderr)


if __name__ == "__main__":
    main()
