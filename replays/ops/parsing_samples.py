"""Records of CSV and Examples for record_ops.py: inputs, attributes, and those that only our graph must be told."""

import numpy as np
import tensorflow.compat.v1 as tf

KINDS = {"float": tf.float32, "int64": tf.int64, "string": tf.string}
DEFAULTS = {"float": np.float32, "int64": np.int64, "string": object, "double": np.float64, "int32": np.int32}


def odd(r):
    return r.randint(8) == 0


def one_of(r, items):
    return items[r.randint(len(items))]


def strings(values, dims=None):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(dims) if dims is not None else array


def tensor_of(kind, values, dims):
    return strings(values, dims) if kind == "string" else np.asarray(values, DEFAULTS[kind]).reshape(dims)


# --- CSV


def csv_field(r, kind, quotes):
    if r.randint(8) == 0:
        return one_of(r, ["", "NA"])
    if odd(r):
        return one_of(r, ["x", "1e", "0x10", " 7 ", "\n", "a\"b", "\"a\"b\"", "-", "+3", "1e400", "nan", "-inf", ".5",
                          "3000000000", "9223372036854775807", "99999999999999999999", "\"", "\"\""])
    if kind == "string":
        text = one_of(r, ["a", "b c", "\u00e9", "q\"q", "1,2", "l\nl", ""])
        return "\"" + text.replace("\"", "\"\"") + "\"" if quotes and set(text) & set("\",\n") or r.randint(4) == 0 else text
    number = str(r.randint(-1000, 1000)) if kind.startswith("int") else str(round(r.uniform(-50, 50), 3))
    return "\"" + number + "\"" if quotes and r.randint(6) == 0 else number


def decode_csv(r):
    kinds = [one_of(r, list(DEFAULTS)) for _ in range(r.randint(1, 4))]
    delimiter, quotes = one_of(r, [",", ",", ";", "\t"]), bool(r.randint(4))
    defaults, attrs = [], {"field_delim": delimiter, "use_quote_delim": quotes}
    for kind in kinds:
        count = int(r.randint(2)) if not odd(r) else int(r.randint(3))
        value = [one_of(r, [b"", b"none"]) for _ in range(count)] if kind == "string" else list(r.randint(0, 9, size=count))
        dims = () if count == 1 and r.randint(2) else (count,) if not odd(r) else (1, count)
        defaults.append(tensor_of(kind, value, dims))
    if r.randint(2):
        attrs["na_value"] = "NA"
    columns = len(kinds)
    if r.randint(3) == 0:
        columns += int(r.randint(0, 3))
        chosen = sorted(int(x) for x in r.permutation(columns)[: len(kinds)])
        attrs["select_cols"] = chosen if not odd(r) else [int(x) for x in r.randint(-1, columns + 1, size=len(chosen))]
    dims = [(), (1,), (3,), (2, 2), (0,)][r.randint(5)]
    records = []
    for _ in range(int(np.prod(dims))):
        wanted = dict(zip(attrs.get("select_cols", range(columns)), kinds))
        fields = [csv_field(r, wanted.get(c, "float"), quotes) for c in range(columns if not odd(r) else columns + 1)]
        records.append((delimiter.join(fields) + one_of(r, ["", "", "", "\n"]) * odd(r)).encode())
    return [strings(records, dims), *defaults], attrs, {}


# --- Examples


def feature_of(r, kind, count):
    feature = tf.train.Feature()
    if kind == "float":
        feature.float_list.value.extend(float(np.float32(x)) for x in r.uniform(-9, 9, size=count).round(2))
        feature.float_list.SetInParent()
    elif kind == "int64":
        feature.int64_list.value.extend(int(x) for x in r.randint(-99, 2 ** 40, size=count))
        feature.int64_list.SetInParent()
    else:
        feature.bytes_list.value.extend([one_of(r, [b"", b"x", b"\xff\x00z", b"longer than that"]) for _ in range(count)])
        feature.bytes_list.SetInParent()
    return feature


def delimited(tag, data):
    size, out = len(data), bytes([tag << 3 | 2])
    while size >= 0x80:
        out, size = out + bytes([size & 0x7f | 0x80]), size >> 7
    return out + bytes([size]) + data


def one_by_one(feature):
    """The same feature with its numbers not packed, as old writers have them."""
    if feature.HasField("float_list"):
        body = b"".join(b"\x0d" + np.float32(x).tobytes() for x in feature.float_list.value)
        return delimited(2, body)
    if feature.HasField("int64_list"):
        body = b"".join(b"\x08" + delimited(1, b"")[:0] + varint(x) for x in feature.int64_list.value)
        return delimited(3, body)
    return feature.SerializeToString()


def varint(value):
    value, out = value & (2 ** 64 - 1), b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def example_of(r, features):
    """The bytes of an Example with most of the features."""
    entries = []
    for key, kind, count in features:
        if r.randint(5) == 0:
            continue
        for _ in range(2 if odd(r) and odd(r) else 1):
            kind_here = one_of(r, list(KINDS)) if odd(r) and odd(r) else kind
            feature = feature_of(r, kind_here, count(r))
            data = one_by_one(feature) if r.randint(3) == 0 else feature.SerializeToString()
            if odd(r) and odd(r):
                data = one_of(r, [b"", b"\x22\x00", b"\x3a\x00"])
            entries.append(delimited(1, delimited(1, key.encode()) + delimited(2, data)))
    if r.randint(2):
        entries.append(delimited(1, delimited(1, b"other") + delimited(2, feature_of(r, "string", 1).SerializeToString())))
    r.shuffle(entries)
    pieces = [entries] if r.randint(5) else [entries[:1], entries[1:]]
    data = b"".join(delimited(1, b"".join(piece)) for piece in pieces)
    if odd(r) and odd(r):  # cut off; elsewhere TensorFlow takes what there is, and vigil refuses
        return data[:-1]
    if odd(r):
        data += one_of(r, [b"\x10\x05", b"\x1a\x02ab", b"\x25abcd"])  # fields of another message
    return data


def wanted_features(r):
    """(sparse, dense): of each the key, the kind, and of a dense one shape and default."""
    sparse = [(f"s{i}", one_of(r, list(KINDS))) for i in range(r.randint(0, 3))]
    dense = []
    for i in range(r.randint(0 if sparse else 1, 3)):
        kind, dims = one_of(r, list(KINDS)), one_of(r, [(), (1,), (2,), (2, 2), (-1,), (-1, 2), (0,)])
        if dims[:1] == (-1,):
            size, dims_here = (1, ()) if not odd(r) else (2, (2,))
        elif r.randint(2):
            size, dims_here = int(np.prod(dims, dtype=int)), dims
        else:
            size, dims_here = 0, (0,)
        if odd(r) and odd(r):
            size, dims_here = 3, (3,)
        values = [b"none"] * size if kind == "string" else list(r.randint(0, 9, size=size))
        dense.append((f"d{i}", kind, dims, tensor_of(kind, values, dims_here)))
    return sparse, dense


def counts_of(sparse, dense):
    def of(dims):
        if dims[:1] == (-1,):
            step = int(np.prod(dims[1:], dtype=int))
            return lambda r: int(r.randint(0, 4)) * step + (1 if odd(r) and odd(r) else 0)
        return lambda r: int(np.prod(dims, dtype=int)) + (int(r.randint(0, 2)) if odd(r) and odd(r) else 0)
    return [(key, kind, lambda r: int(r.randint(0, 4))) for key, kind in sparse] + [
        (key, kind, of(dims)) for key, kind, dims, _ in dense]


def common(sparse, dense):
    return {"sparse_types": ("types", [KINDS[kind] for _, kind in sparse]),
            "dense_shapes": ("shapes", [list(dims) for _, _, dims, _ in dense])}


def examples(r, features, dims):
    return strings([example_of(r, features) for _ in range(int(np.prod(dims, dtype=int)))], dims)


def parse_example(r):
    sparse, dense = wanted_features(r)
    dims = one_of(r, [(1,), (2,), (4,), (0,)]) if not odd(r) else one_of(r, [(), (2, 2)])
    names = strings([b"first", b"second", b"third", b"fourth"][: dims[0]]) if dims[:1] and r.randint(3) == 0 else strings([])
    keys = [strings([key.encode()], ()) for key, *_ in sparse + dense]
    inputs = [examples(r, counts_of(sparse, dense), dims), names, *keys, *[default for *_, default in dense]]
    return inputs, common(sparse, dense), {"Nsparse": len(sparse), "Ndense": len(dense)}


def parse_example_v2(r):
    sparse, dense = wanted_features(r)
    dims = one_of(r, [(), (1,), (3,), (4,), (0,)]) if not odd(r) else (2, 2)
    names = strings([b"first", b"second"]) if odd(r) else strings([])
    keys = [strings([key.encode() for key, *_ in part]) for part in (sparse, dense, [])]
    inputs = [examples(r, counts_of(sparse, dense), dims), names, *keys, *[default for *_, default in dense]]
    return inputs, common(sparse, dense) | {"num_sparse": len(sparse), "ragged_value_types": ("types", []),
                                            "ragged_split_types": ("types", [])}, {}


def parse_single(r):
    sparse, dense = wanted_features(r)
    dims = () if not odd(r) else (1,)
    inputs = [examples(r, counts_of(sparse, dense), dims), *[default for *_, default in dense]]
    keys = {"sparse_keys": ("strings", [key for key, *_ in sparse]), "dense_keys": ("strings", [key for key, *_ in dense])}
    return inputs, common(sparse, dense) | keys | {"num_sparse": len(sparse)}, {}


OPS = {"DecodeCSV": decode_csv, "ParseExample": parse_example, "ParseExampleV2": parse_example_v2,
       "ParseSingleExample": parse_single}


def arguments(sample, inputs):
    """By the names of the raw op."""
    if sample.op == "ParseSingleExample":
        return {"serialized": inputs[0], "dense_defaults": inputs[1:]}
    start = {"serialized": inputs[0], "names": inputs[1]}
    if sample.op == "ParseExampleV2":
        return start | {"sparse_keys": inputs[2], "dense_keys": inputs[3], "ragged_keys": inputs[4],
                        "dense_defaults": inputs[5:]}
    sparse, dense = sample.ours["Nsparse"], sample.ours["Ndense"]
    return start | {"sparse_keys": inputs[2 : 2 + sparse], "dense_keys": inputs[2 + sparse : 2 + sparse + dense],
                    "dense_defaults": inputs[2 + sparse + dense :]}
