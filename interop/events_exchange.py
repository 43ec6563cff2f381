#!/usr/bin/env python3
"""Events files both ways: drawn events are written by TensorFlow's FileWriter and by vigil's, each read by the other.

  events_exchange.py SEED COUNT
"""

from __future__ import annotations

import glob
import os
import random
import struct
import subprocess
import sys

import numpy as np
from exchange import Exchange, run_drawn, run_tool, tool_path
from vigil_player.tensorflow_v1 import config_pb2, event_pb2, summary_pb2, tf

TAGS = ["loss", "accuracy", "layer_1/kernel", "a b", "ä", "x" * 80]


def float32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def drawn_summary(r: random.Random) -> summary_pb2.Summary:
    summary = summary_pb2.Summary()
    for tag in r.sample(TAGS, r.randrange(1, 4)):
        kind = r.choice(["scalar", "scalar", "histogram", "tensor"])
        if kind == "scalar":
            value = summary.value.add(tag=tag, simple_value=r.choice([0.0, 1.5, -3e-9, 1e30, float("inf"), r.random()]))
        elif kind == "histogram":
            with tf.Graph().as_default(), tf.Session() as session:
                numbers = np.array([r.gauss(0, 3) for _ in range(r.randrange(20))], np.float32)
                text = session.run(tf.raw_ops.HistogramSummary(tag=tag, values=numbers))
            summary.MergeFromString(text)
            value = summary.value[-1]
        else:
            value = summary.value.add(tag=tag, tensor=tf.make_tensor_proto([r.random(), 2.0]))
        if kind == "tensor" or r.random() < 0.2:
            value.metadata.plugin_data.plugin_name = r.choice(["scalars", "text", "mine"])
            value.metadata.display_name = tag.upper()
    return summary


def drawn_metadata(r: random.Random) -> tuple[config_pb2.RunMetadata, str]:
    """As vigil writes what it has measured, and in the words of events_tool."""
    metadata, words = config_pb2.RunMetadata(), []
    device = metadata.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for i in range(r.randrange(1, 4)):
        start, took = r.randrange(10**15), r.randrange(10**7)
        device.node_stats.add(
            node_name=f"node_{i}", timeline_label=f"node_{i} = MatMul()", all_start_micros=start // 1000,
            op_end_rel_micros=took // 1000, all_end_rel_micros=took // 1000, all_start_nanos=start,
            op_end_rel_nanos=took, all_end_rel_nanos=took)
        words.append(f"node_{i}:MatMul:{start}:{start + took}")
    return metadata, ",".join(words)


def drawn_graph(r: random.Random) -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        v = tf.Variable(np.ones([r.randrange(1, 4)], np.float32), use_resource=r.random() < 0.5, name="v")
        tf.assign_add(v, tf.fill(tf.shape(v), 2.0))
    return graph


def write_both(r: random.Random, theirs: str, ours: str) -> None:
    """The same events by the two writers."""
    writer, lines, tags = tf.summary.FileWriter(theirs), [], 0
    for _ in range(r.randrange(1, 30)):
        step = r.choice([None, 0, 1, r.randrange(2**40)])
        word = "-" if step is None else str(step)
        kind = r.choice(["summary"] * 6 + ["log", "metadata", "graph"])
        if kind == "summary":
            data = drawn_summary(r).SerializeToString()
            writer.add_summary(data, step)
            lines.append(f"summary {data.hex() or '-'} {word}")
        elif kind == "log":
            status, path = r.randrange(4), r.choice(["", "/tmp/model.ckpt-7"])
            writer.add_session_log(event_pb2.SessionLog(status=status, checkpoint_path=path), step)
            lines.append(f"log {status} {word} {path.encode().hex() or '-'}")
        elif kind == "metadata":
            metadata, nodes = drawn_metadata(r)
            writer.add_run_metadata(metadata, f"step {tags}", step)
            lines.append(f"metadata {nodes} {f'step {tags}'.encode().hex()} {word}")
            tags += 1
        else:
            graph = drawn_graph(r)
            meta = tf.train.export_meta_graph(graph=graph)
            writer.add_graph(graph)
            writer.add_meta_graph(meta)
            lines.append(f"graph {meta.SerializeToString().hex()}")
    writer.close()
    subprocess.run([tool_path("events_tool"), "write", ours], input="\n".join(lines) + "\n", text=True, check=True)


def said_of(value: summary_pb2.Summary.Value) -> str:
    text = f" tag={value.tag}"
    if value.HasField("metadata"):
        text += f" plugin={value.metadata.plugin_data.plugin_name}"
    if value.HasField("simple_value"):
        text += f" value={float32(value.simple_value):.9g}"
    if value.HasField("histo"):
        text += f" histogram={value.histo.num:.17g},{value.histo.sum:.17g}"
        text += "".join(f",{count:.17g}" for count in value.histo.bucket)
    return text


def said(event: event_pb2.Event) -> str:
    """As events_tool says it."""
    what = event.WhichOneof("what")
    if what == "file_version":
        return f"version {event.file_version}"
    if what == "session_log":
        return f"log step={event.step} {event.session_log.status} '{event.session_log.checkpoint_path}'"
    if what == "tagged_run_metadata":
        tagged = event.tagged_run_metadata
        return f"metadata step={event.step} tag={tagged.tag} {tagged.run_metadata.hex() or '-'}"
    if what == "graph_def":
        return f"graph nodes={len(tf.GraphDef.FromString(event.graph_def).node)}"
    if what == "meta_graph_def":
        return f"meta graph nodes={len(tf.MetaGraphDef.FromString(event.meta_graph_def).graph_def.node)}"
    return f"summary step={event.step}" + "".join(map(said_of, event.summary.value))


def comparable(event: event_pb2.Event) -> object:
    """Without the time, the writer's name, and what graphs hold beside their nodes."""
    event = event_pb2.Event.FromString(event.SerializeToString())
    event.ClearField("wall_time")
    event.ClearField("source_metadata")
    what = event.WhichOneof("what")
    if what in ("graph_def", "meta_graph_def"):
        graph = (tf.GraphDef.FromString(event.graph_def) if what == "graph_def"
                 else tf.MetaGraphDef.FromString(event.meta_graph_def).graph_def)
        return what, event.step, [(node.name, node.op, list(node.input)) for node in graph.node]
    return event.SerializeToString(deterministic=True)


def only_file(folder: str) -> str:
    (path,) = glob.glob(os.path.join(folder, "events.out.tfevents.*"))
    return path


def compare(exchange: Exchange, name: str, theirs: str, ours: str) -> None:
    wanted = list(tf.train.summary_iterator(only_file(theirs)))
    found = list(tf.train.summary_iterator(only_file(ours)))
    exchange.counts["files"] += 1
    exchange.counts["events"] += len(wanted)
    for i, (a, b) in enumerate(zip(wanted, found)):
        if comparable(a) != comparable(b):
            exchange.differ(f"{name}, event {i}: vigil wrote {said(b)}, TensorFlow {said(a)}")
    if len(wanted) != len(found):
        exchange.differ(f"{name}: vigil wrote {len(found)} events, not {len(wanted)}")
    for folder, events in ((theirs, wanted), (ours, found)):
        lines = run_tool("events_tool", "read", only_file(folder))
        for i, (line, event) in enumerate(zip(lines, events)):
            if line != said(event):
                exchange.differ(f"{name}, event {i}: vigil reads {line}, TensorFlow {said(event)}")
        if len(lines) != len(events):
            exchange.differ(f"{name}: vigil reads {len(lines)} events, not {len(events)}")


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
    write_both(random.Random(f"{seed}/{number}"), theirs, ours)
    compare(exchange, f"file {seed}/{number}", theirs, ours)


def main() -> int:
    tf.logging.set_verbosity(tf.logging.ERROR)
    return run_drawn(__doc__, play)


if __name__ == "__main__":
    sys.exit(main())
