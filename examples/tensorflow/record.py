#!/usr/bin/env python3
"""What TensorFlow has for the examples export_to_tensorflow and resume_from_tensorflow.

    record.py record      makes examples/tensorflow/model anew: a training of three steps, and (losses.txt) how it goes on
    record.py take FOLDER goes on from what export_to_tensorflow has saved, and says whether that is the same

TensorFlow 2.21, compat.v1. No test runs this; tests read what it has recorded. All numbers of the three steps are exact
in a float, so that the checkpoint does not depend on the order of any sum.
"""
import os
import shutil
import sys

import tensorflow as tensorflow2

tf = tensorflow2.compat.v1
tf.disable_v2_behavior()
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model")


def build():
    step = tf.train.get_or_create_global_step()
    x, y = tf.constant([0.0, 1, 2, 3]), tf.constant([2.0, 5, 8, 11])
    weight, bias = tf.Variable(0.0, name="weight"), tf.Variable(0.0, name="bias")
    loss = tf.reduce_mean(tf.square(weight * x + bias - y), name="loss")
    return loss, tf.train.MomentumOptimizer(0.125, 0.5).minimize(loss, step)


def go_on(session, loss, train):
    lines = []
    for step in range(4, 9):
        _, value = session.run([train, loss])
        lines.append(f"step {step}: loss {value:.5g}")
    return lines


def record():
    shutil.rmtree(MODEL, ignore_errors=True)
    os.makedirs(MODEL)
    loss, train = build()
    saver = tf.train.Saver(save_relative_paths=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        saver.save(session, os.path.join(MODEL, "model.ckpt"), 3)
        lines = go_on(session, loss, train)
    with open(os.path.join(MODEL, "losses.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


def take(folder):
    prefix = os.path.join(folder, "model.ckpt-3")
    with tf.Session() as session:
        tf.train.import_meta_graph(prefix + ".meta").restore(session, prefix)
        train = tf.get_collection("train_op")[0]
        lines = go_on(session, session.graph.get_tensor_by_name("loss:0"), train)
    with open(os.path.join(MODEL, "losses.txt")) as file:
        same = file.read() == "\n".join(lines) + "\n"
    print("\n".join(lines))
    print("goes on as TensorFlow's own" if same else "NOT as TensorFlow's own")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(record() if sys.argv[1:] == ["record"] else take(sys.argv[2]))
