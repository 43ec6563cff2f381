#!/usr/bin/env python3
"""Checkpoints of ours and of TensorFlow's held against each other.

  bundles.py SEED COUNT     random sets of variables, both ways: the bytes, what each reads of the other
"""

from __future__ import annotations

import collections
import functools
import os
import random
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from exchange import Exchange, run_drawn, tool_path  # noqa: E402

OPS = tf.raw_ops
TYPES = [tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.string, tf.int64, tf.bool, tf.bfloat16, tf.uint16,
         tf.half, tf.uint32, tf.uint64]

PARTS_READ = [tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.int64, tf.bool, tf.bfloat16]


def hexed(data: bytes) -> str:
    return data.hex() or "-"


class Item:
    """A tensor of a save, or a piece of one: slice is "" or as in shape_and_slice."""

    def __init__(self, name: bytes, dtype: tf.DType, array: np.ndarray, piece: str = "") -> None:
        self.name, self.dtype, self.array, self.piece = name, dtype, array, piece

    def tensor(self) -> tf.Tensor:
        return tf.constant(self.array, self.dtype, shape=self.array.shape)


def text_of(dtype: tf.DType, array: np.ndarray | bytes) -> str:
    """The form of bundle_tool."""
    # An array of bytes that numpy makes itself would lose zeros at the end.
    array = np.array(array, object) if isinstance(array, bytes) else np.asarray(array)
    dims = ",".join(map(str, array.shape)) or "-"
    if dtype != tf.string:
        value = hexed(array.tobytes())
    else:
        value = ",".join(hexed(each) for each in array.ravel()) or "-"
    return f"{dtype.as_datatype_enum} {dims} {value}"


class Tool:
    def __init__(self, path: str) -> None:
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words: str) -> str:
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def must(self, *words: str) -> None:
        said = self(*words)
        if said != "OK":
            raise AssertionError(f"{words[0]}: {said}")

    def item(self, item: Item) -> None:
        dtype, dims, value = text_of(item.dtype, item.array).split(" ")
        self.must("item", hexed(item.name), dtype, dims, item.piece.replace(" ", "_") or "-", value)


def random_array(rng: random.Random, dtype: tf.DType, shape: list[int]) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == tf.string:
        texts = [rng.randbytes(rng.choice([0, 1, 3, 20, 200, 3000])) for _ in range(count)]
        array = np.empty(count, object)
        array[:] = texts
        return array.reshape(shape)
    if dtype == tf.bool:
        return np.array([rng.random() < 0.5 for _ in range(count)], bool).reshape(shape)
    return np.frombuffer(rng.randbytes(count * dtype.size), dtype.as_numpy_dtype).reshape(shape)


def random_name(rng: random.Random, taken: set[bytes]) -> bytes:
    while True:
        parts = [rng.choice(["w", "b", "layer", "layer_1", "Adam", "conv2d", "kernel:0", "a b", "ä", "x" * 70, "\x7f"])
                 for _ in range(rng.choice([1, 1, 2, 3, 5]))]
        name = "/".join(parts) + rng.choice(["", "", str(rng.randrange(1000))])
        data = name.encode() + rng.choice([b""] * 9 + [b"\xff\x00\xff"])
        if data not in taken:
            taken.add(data)
            return data


def random_pieces(rng: random.Random, name: bytes, dtype: tf.DType, shape: list[int]) -> tuple[np.ndarray, list[Item]]:
    """A partitioned variable: cut into ranges along some axes."""
    array = random_array(rng, dtype, shape)
    pieces = [[]]
    for size in shape:
        cuts = sorted(rng.sample(range(1, size), min(size - 1, rng.choice([0, 0, 1, 2]))))
        ranges = list(zip([0] + cuts, cuts + [size]))
        pieces = [piece + [each] for piece in pieces for each in ranges]
    items = []
    for piece in pieces:
        text = ":".join("-" if (a, b) == (0, size) and rng.random() < 0.3 else f"{a},{b - a}"
                        for (a, b), size in zip(piece, shape))
        part = np.ascontiguousarray(array[tuple(slice(a, b) for a, b in piece)])
        items.append(Item(name, dtype, part, " ".join(map(str, shape)) + " " + text))
    return array, items


def random_set(rng: random.Random) -> tuple[list[list[Item]], dict[bytes, tuple[tf.DType, np.ndarray]]]:
    """(shards, wholes): items by shard; name -> (dtype, array)."""
    shards = [[] for _ in range(rng.choice([1, 1, 1, 2, 3, 5]))]
    wholes, taken = {}, set()
    count = rng.choice([1, 3, 10, 30, 30, 60]) if rng.random() > 0.02 else 9000
    for _ in range(count):
        name, dtype = random_name(rng, taken), rng.choice(TYPES)
        if count <= 60 and rng.random() < 0.2:
            shape = [rng.randrange(1, 7) for _ in range(rng.choice([1, 2, 3]))]
            array, items = random_pieces(rng, name, dtype, shape)
            for item in items:
                rng.choice(shards).append(item)
        else:
            shape = [rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.choice([0, 0, 1, 2, 3, 5]))]
            if count <= 60 and dtype != tf.string and rng.random() < 0.02:
                shape = [rng.randrange(1, 400), 700]
            array = random_array(rng, dtype, shape)
            rng.choice(shards).append(Item(name, dtype, array))
        wholes[name] = (dtype, array)
    shards = [shard for shard in shards if shard]
    for shard in shards:
        if rng.random() < 0.5:
            shard.sort(key=lambda item: item.name)
        else:
            rng.shuffle(shard)
    return shards, wholes


def save_by_tensorflow(prefix: str, items: list[Item]) -> None:
    OPS.SaveV2(prefix=prefix, tensor_names=[item.name for item in items], shape_and_slices=[item.piece for item in items],
               tensors=[item.tensor() for item in items])


def files_of(prefix: str) -> dict[str, bytes]:
    folder, base = os.path.split(prefix)
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith(base + "."):
            with open(os.path.join(folder, name), "rb") as file:
                out[name[len(base):]] = file.read()
    return out


def restored(prefix: str, names: list[bytes], slices: list[str], dtypes: list[tf.DType]) -> list[str]:
    if not names:
        return []
    values = OPS.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=slices, dtypes=dtypes)
    return [text_of(dtype, value.numpy()) for dtype, value in zip(dtypes, values)]


def random_part(rng: random.Random, array: np.ndarray) -> tuple[str, np.ndarray]:
    ranges = []
    for size in array.shape:
        start = rng.randrange(size)
        ranges.append((start, rng.randrange(1, size - start + 1)))
    text = " ".join(map(str, array.shape)) + " " + ":".join(f"{a},{n}" for a, n in ranges)
    return text, np.ascontiguousarray(array[tuple(slice(a, a + n) for a, n in ranges)])


def compare(tool: Tool, rng: random.Random, folder: str, counts: collections.Counter[str]) -> None:
    shards, wholes = random_set(rng)
    theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
    if len(shards) == 1:
        save_by_tensorflow(theirs, shards[0])
        for item in shards[0]:
            tool.item(item)
        tool.must("save", ours)
    else:
        parts = [f"{theirs}_temp/part-{i}" for i in range(len(shards))]
        our_parts = [f"{ours}_temp/part-{i}" for i in range(len(shards))]
        for part, our_part, shard in zip(parts, our_parts, shards):
            save_by_tensorflow(part, shard)
            for item in shard:
                tool.item(item)
            tool.must("part", our_part)
        OPS.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=theirs, delete_old_dirs=True)
        tool.must("merge", ours, *our_parts)
    a, b = files_of(theirs), files_of(ours)
    assert a == b, f"files differ: {[name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]}"
    # TensorFlow cannot read parts of some types, nor put them together.
    pieces = {item.name for shard in shards for item in shard if item.piece}
    unread = {name for name in pieces if wholes[name][0] not in PARTS_READ}
    readable = sorted(set(wholes) - unread)
    names = sorted(wholes)
    expected = [text_of(*wholes[name]) for name in names]
    read = restored(ours, readable, [""] * len(readable), [wholes[name][0] for name in readable])
    for name, text in zip(readable, read):
        wanted = text_of(*wholes[name])
        assert text == wanted, f"TensorFlow reads something else of our {name}: {text[:200]} for {wanted[:200]}"
    for name, text in zip(names, expected):
        said = tool("load", theirs, hexed(name), "-")
        assert said == text, f"we read something else of {name}: {said[:200]} for {text[:200]}"
    tool.must("verify", theirs)
    for name in names[:20]:
        dtype, array = wholes[name]
        if array.ndim == 0 or array.size == 0:
            continue
        text, part = random_part(rng, array)
        expected = text_of(dtype, part)
        if dtype in PARTS_READ:
            assert restored(ours, [name], [text], [dtype]) == [expected], \
                f"TensorFlow reads another part of {name}"
        assert tool("load", theirs, hexed(name), text.replace(" ", "_")) == expected, f"we read another part of {name}"
        counts["parts"] += 1
    counts["sets"] += 1
    counts["tensors"] += len(names)
    counts["sharded"] += len(shards) > 1
    counts["partitioned"] += sum(1 for shard in shards for item in shard if item.piece)
    counts["index of several blocks"] += len(a[".index"]) > 262144
    counts["bytes"] += sum(map(len, a.values()))


def main() -> int:
    tool = functools.cache(lambda: Tool(tool_path("bundle_tool")))

    def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
        try:
            compare(tool(), random.Random(f"{seed}/{number}"), folder, exchange.counts)
        except Exception as error:
            exchange.differ(f"set {seed}/{number}: {type(error).__name__}: {str(error)[:500]}")

    return run_drawn(__doc__, play)


if __name__ == "__main__":
    sys.exit(main())
