#!/usr/bin/env python3
"""Saving and restoring, ours against TensorFlow's and against the same bytes raw, on one core and in one run.

    /tmp/tf/bin/python interop/checkpoint_speed.py build/release/bench/vigil_bench [--rounds 3] [--core 0] [--folder .]

1,000 variables of 1 KiB and one of 256 MiB (bench/checkpoint_bench.cc), each round once by us and once by TensorFlow,
which runs the SaveV2 and RestoreV2 of its Saver: no meta graph, no state file, nothing synced. Prints medians in
milliseconds, and ratios: to raw bytes of the same process, and TensorFlow's time by ours.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = [(1000, 1 << 10), (1, 256 << 20)]


def milliseconds(body, times):
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        body()
        took.append(1000 * (time.perf_counter() - begin))
    return statistics.median(took)


def tensorflow_part(folder):
    import numpy as np
    import tensorflow as tensorflow2

    tf = tensorflow2.compat.v1
    tf.disable_v2_behavior()
    out = {}
    for count, size in SIZES:
        with tf.Graph().as_default():
            for i in range(count):
                tf.get_variable(f"variable_{i}", shape=(size // 4,), initializer=tf.constant_initializer(float(i)))
            saver = tf.train.Saver()
            config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                values = [np.full(size // 4, float(i), np.float32) for i in range(count)]
                raw, prefix = os.path.join(folder, "m.raw"), os.path.join(folder, "m")
                definition = saver.saver_def

                def write_raw():
                    with open(raw, "wb", buffering=0) as file:
                        for value in values:
                            file.write(value)

                def read_raw():
                    with open(raw, "rb", buffering=0) as file:
                        for _ in values:
                            file.readinto(np.empty(size // 4, np.float32))

                def save():
                    session.run(definition.save_tensor_name, {definition.filename_tensor_name: prefix})

                def restore():
                    session.run(definition.restore_op_name, {definition.filename_tensor_name: prefix})

                times = 20 if count > 1 else 3
                for name, body in [("raw_save", write_raw), ("save", save), ("raw_restore", read_raw),
                                   ("restore", restore)]:
                    if "save" in name:
                        for file in os.listdir(folder):
                            os.remove(os.path.join(folder, file))
                    body()
                    if name == "restore":
                        body()
                    out[f"{name}/{count}"] = milliseconds(body, times)
                    if name == "save":
                        write_raw()
    print(json.dumps(out))


def our_part(program, folder):
    text = subprocess.run([program, "--benchmark_filter=BM_(Save/.*/0/real|Restore/)", "--benchmark_format=json"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder).stdout
    out = {}
    for run in json.loads(text)["benchmarks"]:
        kind, count, _, checkpoint = run["name"].split("/")[:4]
        name = ("raw_" if checkpoint == "0" else "") + kind.removeprefix("BM_").lower()
        out[f"{name}/{count}"] = run["real_time"] / 1000
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="bench/vigil_bench of a release build")
    parser.add_argument("--tensorflow", metavar="FOLDER", help="only TensorFlow's part")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--folder", default=None, help="where checkpoints are written")
    args = parser.parse_args()
    if args.tensorflow:
        return tensorflow_part(args.tensorflow)
    os.sched_setaffinity(0, {args.core})
    program, ours, theirs = os.path.abspath(args.program), [], []
    for _ in range(args.rounds):
        folder = tempfile.mkdtemp(dir=args.folder)
        ours.append(our_part(program, folder))
        text = subprocess.run([sys.executable, __file__, "--tensorflow", tempfile.mkdtemp(dir=folder)], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        theirs.append(json.loads(text))
        shutil.rmtree(folder)
    print("what              ours ms  by raw   TensorFlow ms  by raw   ratio")
    for count, _ in SIZES:
        for kind in ("save", "restore"):
            key, raw = f"{kind}/{count}", f"raw_{kind}/{count}"
            median = [statistics.median(each[key] for each in rounds) for rounds in (ours, theirs)]
            by_raw = [statistics.median(each[key] / each[raw] for each in rounds) for rounds in (ours, theirs)]
            print(f"{kind} {count:5} {median[0]:14.2f} {by_raw[0]:7.2f} {median[1]:14.2f} {by_raw[1]:8.2f} "
                  f"{median[1] / median[0]:8.2f}")


if __name__ == "__main__":
    main()
