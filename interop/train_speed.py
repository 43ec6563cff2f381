#!/usr/bin/env python3
"""Steps of training a second, ours against TensorFlow's, on the same cores and in one run.

    /tmp/tf/bin/python interop/train_speed.py build/release/bench/train_speed [--rounds 5] [--seconds 2] [--core 0]
        [--threads 1]

The same models (bench/train_speed.cc) in a MonitoredTrainingSession with its default hooks (step counter, summaries,
checkpoints), trained in turn, each in a process of its own on that core. TensorFlow: compat.v1, one thread between
ops; within ops so many threads on both sides, each with a core. Prints medians of the steps per second of the processor (which others on the machine disturb less than
those per second of the wall) and of both ratios.
"""
import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time

MODELS = ["mlp", "digits", "convnet"]


def tensorflow_steps(name, how, folder, seconds, threads):
    """Trains one model and prints the line that bench/train_speed.cc prints."""
    import numpy as np
    import tensorflow as tensorflow2

    tf = tensorflow2.compat.v1
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)

    def numbers(shape, scale, offset):
        state, out = 1, np.empty(int(np.prod(shape)), np.float32)
        for i in range(out.size):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            out[i] = np.float32(state >> 8) / np.float32(16777216) * np.float32(scale) + np.float32(offset)
        return out.reshape(shape)

    def variable(name, value):
        return tf.Variable(value, name=name)

    def layer(name, x, inputs, outputs):
        weights = variable(name + "/w", numbers((inputs, outputs), 0.2, -0.1))
        return tf.nn.bias_add(tf.matmul(x, weights), variable(name + "/b", np.zeros(outputs, np.float32)))

    def conv_layer(name, x, inputs, outputs):
        weights = variable(name + "/w", numbers((5, 5, inputs, outputs), 0.2, -0.1))
        conv = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME")
        relu = tf.nn.relu(tf.nn.bias_add(conv, variable(name + "/b", np.zeros(outputs, np.float32))))
        return tf.nn.max_pool(relu, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

    def logits_of(x):
        if name == "mlp":
            return layer("out", tf.nn.relu(layer("hidden", x, 32, 16)), 16, 4)
        if name == "digits":
            return layer("out", tf.nn.relu(layer("hidden", x, 784, 128)), 128, 10)
        pooled = conv_layer("conv2", conv_layer("conv1", x, 1, 8), 8, 16)
        return layer("out", tf.reshape(pooled, [-1, 7 * 7 * 16]), 7 * 7 * 16, 10)

    shape, classes = {"mlp": ((8, 32), 4), "digits": ((32, 784), 10), "convnet": ((32, 28, 28, 1), 10)}[name]
    images, labels = numbers(shape, 1, 0), (np.arange(shape[0]) % classes).astype(np.int32)
    step = tf.train.get_or_create_global_step()
    feeds = None
    x, y = tf.constant(images), tf.constant(labels)
    if how == "fed":
        x, y = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32, shape[:1])
        feeds = {x: images, y: labels}
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits_of(x))
    loss = tf.reduce_mean(losses)
    tf.summary.scalar("loss", loss)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, config=config) as session:
        for _ in range(20):
            session.run(train, feeds)
        steps, processor, begin = 0, time.process_time(), time.perf_counter()
        while (took := time.perf_counter() - begin) < seconds:
            for _ in range(10):
                assert not session.should_stop()
                session.run(train, feeds)
                steps += 1
        used = time.process_time() - processor
        print(f"{name} {how}: {steps} steps in {took:.3f} s ({used:.3f} s of the processor)")


def steps_per_second(command, cores):
    """(by the wall, by the processor) of one process."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["taskset", "-c", cores] + [part.replace("FOLDER", folder) for part in command]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    steps, wall, processor = re.search(r": (\d+) steps in ([\d.]+) s \(([\d.]+) s", out).groups()
    return int(steps) / float(wall), int(steps) / float(processor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="bench/train_speed of a release build")
    parser.add_argument("--tensorflow", nargs=3, metavar=("MODEL", "HOW", "FOLDER"), help="only TensorFlow's part")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="within an op, on as many cores from --core on")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--how", nargs="*", default=["const", "fed"])
    args = parser.parse_args()
    if args.tensorflow:
        return tensorflow_steps(*args.tensorflow, args.seconds, args.threads)
    cores, threads = f"{args.core}-{args.core + args.threads - 1}", str(args.threads)
    print("model           ours/s  TensorFlow/s   ratio  ratio by the wall")
    for name in args.models:
        for how in args.how:
            theirs = [sys.executable, __file__, "--seconds", str(args.seconds), "--threads", threads,
                      "--tensorflow", name, how, "FOLDER"]
            ours = [args.program, name, how, "FOLDER", str(args.seconds), threads]
            pairs = [[steps_per_second(command, cores) for command in (ours, theirs)] for _ in range(args.rounds)]
            median = [statistics.median(pair[i][1] for pair in pairs) for i in range(2)]
            by_processor = statistics.median(us[1] / them[1] for us, them in pairs)
            by_wall = statistics.median(us[0] / them[0] for us, them in pairs)
            print(f"{name + ' ' + how:14} {median[0]:8.0f} {median[1]:12.0f} {by_processor:9.2f} {by_wall:9.2f}")


if __name__ == "__main__":
    main()
