#!/usr/bin/env python3
"""Records the checkpoints of core/io/testdata, and what is in them, with TensorFlow.

  record_bundles.py FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from bundles import OPS, TYPES, Item, hexed, save_by_tensorflow, text_of


def values(dtype: tf.DType) -> list:
    """Small, at the ends of the type's range, and odd."""
    if dtype == tf.string:
        return [b"", b"a b", b"\x00x", b"y" * 300]
    if dtype == tf.bool:
        return [True, False, True]
    if dtype.is_integer:
        return [dtype.min, 0, 1, dtype.max]
    return [0.0, -0.0, 1.5, -2.0, float("inf"), float("nan")]


def vector(dtype: tf.DType) -> np.ndarray:
    array = np.empty(len(values(dtype)), object if dtype == tf.string else dtype.as_numpy_dtype)
    array[:] = values(dtype)
    return array


def numbers(dtype: tf.DType, *shape: int) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype=dtype.as_numpy_dtype).reshape(shape)


def cut(name: bytes, dtype: tf.DType, array: np.ndarray, slices: list[str]) -> list[Item]:
    items = []
    for text in slices:
        part = tuple(slice(None) if each == "-" else slice(int(each.split(",")[0]), sum(map(int, each.split(","))))
                     for each in text.split(":"))
        items.append(Item(name, dtype, np.ascontiguousarray(array[part]), " ".join(map(str, array.shape)) + " " + text))
    return items


GRID = ["0,2:0,3", "0,2:3,2", "2,1:-"]  # of a matrix of 3 x 5

WHOLE = {
    "types": [Item(dtype.name.encode(), dtype, vector(dtype)) for dtype in TYPES],
    "shapes": [Item(b"scalar", tf.float32, np.float32(2.5)), Item(b"step", tf.int64, np.int64(7)),
               Item(b"text", tf.string, np.array(b"scalar", object)), Item(b"flag", tf.bool, np.array(True)),
               Item(b"none", tf.float32, np.zeros([0], np.float32)), Item(b"no_rows", tf.int32, np.zeros([0, 3], np.int32)),
               Item(b"no_texts", tf.string, np.zeros([2, 0], object)), Item(b"matrix", tf.float64, numbers(tf.float64, 2, 3)),
               Item(b"deep", tf.int16, numbers(tf.int16, 1, 2, 1, 3, 2)), Item(b"half/scalar", tf.half, np.float16(-3))],
    "names": [Item(name, tf.float32, numbers(tf.float32, 2)) for name in
              [b"w", b"w/Adam", b"w/Adam_1", b"layer_1/kernel", b"layer_1/kernel/part_0", b"layer_10/kernel", b"\xff\xff",
               b"a\x00b",
               "\u00e4".encode(), b"z" * 300]],
    # More than one key in full in the index's block.
    "many": [Item(f"scope/variable_{i}".encode(), tf.float32, np.float32(i)) for i in range(100)],
}
PARTITIONED = {
    "partitioned": [cut(b"v", tf.float32, numbers(tf.float32, 3, 5), GRID) + [Item(b"w", tf.float32, np.float32(1))]],
    "sharded": [[Item(b"a", tf.float32, numbers(tf.float32, 4))], [Item(b"b", tf.string, vector(tf.string))],
                [Item(b"c", tf.int64, np.int64(9))]],
    "partitioned_sharded": [cut(b"v", tf.int32, numbers(tf.int32, 3, 5), GRID[:1]),
                            cut(b"v", tf.int32, numbers(tf.int32, 3, 5), GRID[1:]) + [Item(b"w", tf.half, vector(tf.half))]],
}
V1_TYPES = [tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.string, tf.int64, tf.bool, tf.half]


def record_command(folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    expected = []

    def expect(bundle: str, name: bytes, dtype: tf.DType, array: np.ndarray) -> None:
        expected.append(f"{bundle} {hexed(name)} {text_of(dtype, array)}")

    for bundle, items in WHOLE.items():
        save_by_tensorflow(f"{folder}/{bundle}", items)
        for item in items:
            expect(bundle, item.name, item.dtype, item.array)
    for bundle, shards in PARTITIONED.items():
        parts = [f"{folder}/{bundle}_temp/part-{i}" for i in range(len(shards))]
        for part, items in zip(parts, shards):
            save_by_tensorflow(part, items)
            for item in items:
                if not item.piece:
                    expect(bundle, item.name, item.dtype, item.array)
                elif item.piece.endswith(GRID[0]):
                    expect(bundle, item.name, item.dtype, numbers(item.dtype, 3, 5))
        OPS.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=f"{folder}/{bundle}", delete_old_dirs=True)
    record_v1(folder, expect)
    with open(f"{folder}/expected.txt", "w", encoding="ascii") as file:
        file.write("\n".join(expected) + "\n")
    return 0


def record_v1(folder: str, expect: Callable[[str, bytes, tf.DType, np.ndarray], None]) -> None:
    """The first format: one file, and two shards of a partitioned variable."""
    OPS.Save(filename=f"{folder}/v1", tensor_names=[dtype.name for dtype in V1_TYPES],
             data=[tf.constant(vector(dtype), dtype) for dtype in V1_TYPES])
    for dtype in V1_TYPES:
        expect("v1", dtype.name.encode(), dtype, vector(dtype))
    whole = numbers(tf.float32, 3, 5)
    for shard, slices in enumerate([GRID[:2], GRID[2:]]):
        items = cut(b"v", tf.float32, whole, slices)
        OPS.SaveSlices(filename=f"{folder}/v1_sharded-{shard:05}-of-00002", tensor_names=["v"] * len(items) + [f"w{shard}"],
                       shapes_and_slices=[item.piece for item in items] + [""],
                       data=[item.tensor() for item in items] + [tf.constant(shard)])
        expect("v1_sharded-?????-of-00002", f"w{shard}".encode(), tf.int32, np.int32(shard))
    expect("v1_sharded-?????-of-00002", b"v", tf.float32, whole)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(record_command(sys.argv[1]))
