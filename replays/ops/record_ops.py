"""Random cases of ops, played by the real TensorFlow: what it gives, what its gradients give, or what it says.

    record_ops.py SEED CASES_OF_EACH_OP OUT [OP...]

A case is a function of the seed, the op and its number. See README.md for the form of a line.
"""

import json
import math
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np  # noqa: E402
import op_samples  # noqa: E402
import parsing_samples  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.framework import ops as framework  # noqa: E402

tf.disable_v2_behavior()
tf.get_logger().setLevel("ERROR")

CONFIG = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True
# Cross entropy: a formula that holds for probabilities only. MaxPoolGrad: TensorFlow's is sometimes zero.
NO_GRADIENT = {"MaxPoolGrad", "SoftmaxCrossEntropyWithLogits"}


def number(value):
    digits = 12 if value.dtype == np.float64 else 8
    value = value.item()
    if isinstance(value, float):
        if value != value:
            return "nan"
        if value in (float("inf"), float("-inf")):
            return "inf" if value > 0 else "-inf"
        short = float(f"{value:.{digits}g}")
        if short == 0 and math.copysign(1, short) < 0:
            return short
        return int(short) if short == int(short) and abs(short) < 1e6 else short
    return value


def tensor(array):
    array = np.asarray(array)
    if array.dtype.kind in "OSU":  # strings, in hexadecimal digits
        return {"t": "string", "s": list(array.shape), "v": [bytes(x).hex() for x in array.ravel()]}
    return {"t": op_samples.NAMES[array.dtype.name], "s": list(array.shape), "v": [number(x) for x in array.ravel()]}


def attr(value):
    if isinstance(value, tf.DType):
        return {"type": value.name}
    if isinstance(value, op_samples.Listed):
        return {value.kind: [x.name if isinstance(x, tf.DType) else x for x in value]}
    return value


def message(error):
    """Without the place in Python that TensorFlow puts around it."""
    text = error.message.split("\n\t [[")[0]
    if "Could not parse example input" in error.message:  # what follows are the bytes themselves, of which the first is a line end
        return "Could not parse example input, value: '"
    return text.split("\nNode: ")[-1].split("\n", 1)[-1] if "\nNode: " in text else text


def play(sample):
    """The line's fields beside the question."""
    with tf.Graph().as_default(), tf.Session(config=CONFIG) as session:
        feeds, inputs, variables = {}, [], []
        for i, array in enumerate(sample.inputs):
            if i < sample.refs:
                is_resource = sample.op.startswith("Resource")
                variable = tf.Variable(array, use_resource=is_resource, validate_shape=False, name=f"v{i}")
                variables.append(variable)
                inputs.append(variable.handle if is_resource else variable._ref())  # pylint: disable=protected-access
            else:
                place = tf.placeholder(tf.string if array.dtype == object else array.dtype)
                feeds[place] = array
                inputs.append(place)
        outputs = build(sample, inputs)
        session.run([variable.initializer for variable in variables])
        try:
            values = session.run(outputs, feeds)
        except tf.errors.OpError as error:
            return {"error": [error_name(error), message(error)]}
        if variables:
            return {"outputs": [tensor(v) for v in session.run([v.value() for v in variables])]}
        result = {"outputs": [tensor(value) for value in values]}
        floats = [x for x in inputs if x.dtype.base_dtype in (tf.float32, tf.float64)]
        ys = [y for y in outputs if y.dtype in (tf.float32, tf.float64)]
        # Of a convolution without places TensorFlow's derivative by the filter is what lay in memory.
        nowhere = sample.op == "Conv2D" and values[0].size == 0
        if not nowhere and sample.op not in NO_GRADIENT and floats and ys and has_gradient(sample.op):
            result["grads"] = gradients(session, ys, floats, feeds)
        return result


def gradients(session, ys, floats, feeds):
    found = tf.gradients(ys[:1], floats)
    dense = [None if g is None else tf.convert_to_tensor(g) for g in found]
    values = session.run([g for g in dense if g is not None], feeds)
    return [None if g is None else tensor(values.pop(0)) for g in dense]


def has_gradient(op):
    try:
        return framework._gradient_registry.lookup(op) is not None  # pylint: disable=protected-access
    except LookupError:
        return False


def error_name(error):
    return {code: name for name, code in error_codes().items()}[error.error_code]


def error_codes():
    return {name: value for name, value in tf.errors.__dict__.items() if name.isupper() and isinstance(value, int)}


def build(sample, inputs):
    arguments = sample.arguments(inputs)
    attrs = {name: op_samples.for_tensorflow(value) for name, value in sample.attrs.items()}
    result = getattr(tf.raw_ops, sample.op)(**arguments, **attrs)
    flat = tf.nest.flatten(result)
    return [flat] if not isinstance(flat, list) else flat


def line_of(op, seed, i):
    random = np.random.RandomState([seed, i, sum(map(ord, op)) * 131 + len(op)])
    sample = op_samples.draw(op, random)
    if sample is None:
        return None
    line = {"op": op, "attrs": {k: attr(v) for k, v in (sample.attrs | sample.ours).items()},
            "inputs": [tensor(x) for x in sample.inputs]}
    if sample.refs:
        line["refs"] = sample.refs
    line.update(play(sample))
    return line


def record(op, seed, first, cases, file, progress):
    for i in range(first, cases):
        os.write(progress, b"%d\n" % i)
        try:
            line = line_of(op, seed, i)
        except (ValueError, TypeError, tf.errors.OpError):  # refused when the graph was built: another layer's words
            continue
        if line is not None:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()


def main():
    seed, cases, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with open(out, "w", encoding="utf-8") as file:
        for op in sys.argv[4:] or [*op_samples.OPS, *parsing_samples.OPS]:
            first = 0
            while first < cases:  # a process of its own, which TensorFlow may crash
                read, write = os.pipe()
                if (child := os.fork()) == 0:
                    record(op, seed, first, cases, file, write)
                    os._exit(0)
                os.close(write)
                with os.fdopen(read) as progress:
                    last = int(progress.read().split()[-1])
                status = os.waitpid(child, 0)[1]
                if status != 0:
                    print(f"{op} {last}: TensorFlow ends with status {status}", file=sys.stderr)
                first = cases if status == 0 else last + 1


if __name__ == "__main__":
    main()
