#!/usr/bin/env python3
"""Records what ordinary tests read without Python: a training that TensorFlow left in the middle, and its events file.

  record_training.py FOLDER

FOLDER gets model.ckpt-10 (checkpoint and meta graph, written after 10 steps), losses.txt (what TensorFlow got in steps
11 to 30), variables.txt (their sums after step 30), events.out.tfevents.recorded and events.txt (what is in it, in the
words of events_exchange.py).
"""

from __future__ import annotations

import glob
import os
import sys
import tempfile

import numpy as np
from events_exchange import said
from vigil_player.tensorflow_v1 import config_pb2, event_pb2, tf

FIRST, LAST = 10, 30


def build() -> tuple[object, object, object]:
    """A small network on data of its own: resource and reference variables, one in parts, a rate that decays, averages."""
    tf.set_random_seed(11)
    random = np.random.RandomState(3)
    x = tf.constant(random.normal(size=[24, 6]).astype(np.float32))
    y = tf.constant(random.randint(0, 3, size=[24]))
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("hidden", use_resource=True):
        kernel = tf.get_variable("kernel", [6, 5], initializer=tf.glorot_uniform_initializer(seed=1),
                                 partitioner=tf.fixed_size_partitioner(2))
        bias = tf.get_variable("bias", [5], initializer=tf.zeros_initializer())
    with tf.variable_scope("out", use_resource=False):
        out = tf.get_variable("kernel", [5, 3], initializer=tf.glorot_uniform_initializer(seed=2))
    hidden = tf.nn.relu(tf.matmul(x, tf.convert_to_tensor(kernel)) + bias)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(hidden, out)), name="loss")
    rate = tf.train.exponential_decay(0.05, step, 7, 0.9, staircase=True)
    minimize = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([minimize]):
        train = tf.group(averages.apply(tf.trainable_variables()), name="train")
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("bias", bias)
    return loss, train, tf.summary.merge_all()


def small_graph() -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        tf.assign_add(tf.Variable(1.0, name="v"), 2.0)
    return graph


def export(path: str, saver: tf.train.Saver) -> None:
    """As Saver.save() does, without what is larger than the graph: the list of ops, the shapes of outputs."""
    meta = tf.train.export_meta_graph(saver_def=saver.as_saver_def())
    meta.meta_info_def.ClearField("stripped_op_list")
    meta.ClearField("object_graph_def")
    for node in meta.graph_def.node:
        node.attr.pop("_output_shapes", None)
    with open(path, "wb") as file:
        file.write(meta.SerializeToString(deterministic=True))


def record(folder: str) -> None:
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    loss, train, summaries = build()
    saver = tf.train.Saver()
    losses, events = [], tempfile.mkdtemp()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        writer = tf.summary.FileWriter(events)
        writer.add_graph(small_graph())
        writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.START), 0)
        for step in range(1, LAST + 1):
            metadata = config_pb2.RunMetadata()
            value, _ = session.run([loss, train])
            if step % 10 == 0:
                full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if step == LAST else None
                writer.add_summary(session.run(summaries, options=full, run_metadata=metadata), step)
            if step == LAST:
                for device in metadata.step_stats.dev_stats:  # short: the file is kept
                    del device.node_stats[3:]
                metadata.ClearField("partition_graphs")
                writer.add_run_metadata(metadata, "last", step)
            if step > FIRST:
                losses.append(float(value))
            if step == FIRST:
                path = saver.save(session, os.path.join(folder, "model.ckpt"), step, write_state=False, write_meta_graph=False)
                export(path + ".meta", saver)
        variables = [(v.op.name, session.run(v)) for v in tf.global_variables()]
        writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.STOP), LAST)
        writer.close()
    with open(os.path.join(folder, "losses.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{value!r}\n" for value in losses)
    with open(os.path.join(folder, "variables.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{name} {float(np.sum(value, dtype=np.float64))!r}\n" for name, value in variables)
    (path,) = glob.glob(os.path.join(events, "events.out.tfevents.*"))
    with open(os.path.join(folder, "events.txt"), "w", encoding="utf-8") as file:
        file.writelines(said(event) + "\n" for event in tf.train.summary_iterator(path))
    os.replace(path, os.path.join(folder, "events.out.tfevents.recorded"))


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    record(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
