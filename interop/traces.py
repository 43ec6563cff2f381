#!/usr/bin/env python3
"""Traces of steps (RunMetadata) that TensorFlow's client gets of `vigil serve`, beside those of TensorFlow's own
servers: of a cluster with a parameter server and a worker each, which nodes ran on which task, and what TensorFlow's
timeline makes of it.

  traces.py SEED COUNT
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
from collections.abc import Callable, Iterator

import clients
import numpy as np
from exchange import Exchange, run_drawn, serving, tool_path
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.client import timeline
from vigil_player.tensorflow_v1 import config_pb2, tf

# Nodes without work, which have no steps here: constants, resources, groups.
IDLE = {"Const", "NoOp", "VariableV2", "VarHandleOp", "FIFOQueueV2", "Placeholder"}
FULL = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
Ran = set[tuple[str, str]]  # nodes, and on which task
Program = tuple[list, list, dict]  # what is run before, what is run and traced, what is fed


def trained(r: np.random.RandomState) -> Program:
    """Variables on the parameter server, all else on the worker."""
    with tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec({"ps": ["a"], "worker": ["b"]}))):
        step = tf.train.get_or_create_global_step()
        loss, feed = clients.linear(r)
        optimizer = r.choice([tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, tf.train.AdagradOptimizer])
        train = optimizer(0.1).minimize(loss, global_step=step)
    return [tf.global_variables_initializer()], [loss, train], feed()


def scattered(r: np.random.RandomState) -> Program:
    """A chain whose links are on either task."""
    with tf.device("/job:ps"):
        value = clients.variable("v", r.rand(2, 3), resource=bool(r.randint(2))) + 0.0
    for _ in range(r.randint(2, 9)):
        with tf.device(r.choice(["/job:ps", "/job:worker"])):
            value = r.choice([tf.nn.relu, tf.tanh, tf.square, lambda v: tf.stack(tf.unstack(v)) * v])(value)
    return [tf.global_variables_initializer()], [value], {}


def branched(r: np.random.RandomState) -> Program:
    """A branch that is not taken has not run."""
    with tf.device("/job:ps"):
        v = clients.variable("v", r.rand(), resource=True)
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 1, lambda: tf.square(v) * x, lambda: tf.tanh(v) - x)
    return [tf.global_variables_initializer()], [y], {x: np.float32(r.randint(3))}


def queued(r: np.random.RandomState) -> Program:
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(9, [tf.float32])
        put = queue.enqueue_many([np.float32(r.rand(3))])
    return [put], [tf.exp(queue.dequeue())], {}


Maker = Callable[[np.random.RandomState], Program]
PROGRAMS: list[Maker] = [trained, scattered, branched, queued]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def addresses() -> dict[str, list[str]]:
    return {job: [f"127.0.0.1:{free_port()}"] for job in ("ps", "worker")}


def served(cluster: dict[str, list[str]], job: str) -> contextlib.AbstractContextManager:
    """That task of it, by `vigil serve`."""
    words = ["--cluster", ";".join(f"{each}={tasks[0]}" for each, tasks in cluster.items()), "--quiet"]
    return serving(tool_path("../cli/vigil-serve"), *words, "--job", job, "--task", "0")


@contextlib.contextmanager
def our_cluster() -> Iterator[str]:
    cluster = addresses()
    with contextlib.ExitStack() as stack:
        for job in cluster:
            stack.enter_context(served(cluster, job))
        yield "grpc://" + cluster["worker"][0]


THEIRS: list[tf.train.Server] = []  # TensorFlow's cannot be ended


def their_cluster() -> str:
    if not THEIRS:
        cluster = addresses()
        THEIRS.extend(tf.train.Server(cluster, job_name=job, task_index=0) for job in cluster)
    return THEIRS[1].target


def traced(target: str, program: Maker, drawn: int) -> tuple[list, config_pb2.RunMetadata]:
    """What a run fetched, and its trace. No node is rewritten or left out."""
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    tf.Session.reset(target)
    metadata = config_pb2.RunMetadata()
    with tf.Graph().as_default():
        before, fetches, feed = program(np.random.RandomState(drawn))
        with tf.Session(target, config=config) as session:
            session.run(before)
            out = session.run(fetches, feed, options=FULL, run_metadata=metadata)
            silent = config_pb2.RunMetadata()
            session.run(fetches, feed, run_metadata=silent)
            if silent.ByteSize():
                raise ValueError("a run that was not traced has metadata")
    return out, metadata


def ran(metadata: config_pb2.RunMetadata) -> Ran:
    """Without what either has for itself: transfers between tasks, to and from the client, and nodes without work."""
    nodes = set()
    for device in metadata.step_stats.dev_stats:
        task = device.device.removesuffix("/device:CPU:0")
        for node in device.node_stats:
            op = node.timeline_label.partition(" = ")[2].partition("(")[0]
            if "/_" in node.node_name or node.node_name.startswith("_") or node.node_name == "RecvTensor" or op in IDLE:
                continue
            nodes.add((node.node_name, task))
    return nodes


def unlike(metadata: config_pb2.RunMetadata) -> str:
    """What is wrong with it by itself; empty: nothing."""
    nodes = [node for device in metadata.step_stats.dev_stats for node in device.node_stats]
    if not nodes:
        return "the trace is empty"
    if any(node.all_end_rel_nanos < 0 or node.all_start_nanos // 1000 != node.all_start_micros for node in nodes):
        return "times that make no sense"
    values = [output.tensor_description.allocation_description for node in nodes for output in node.output]
    if not any(value.requested_bytes for value in values):
        return "no node has made a value"
    drawing = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
    named = {event["args"]["name"] for event in drawing["traceEvents"] if event.get("cat") == "Op"}
    left_out = {node.node_name for node in nodes} - named
    return f"the timeline leaves out {sorted(left_out)}" if left_out else ""


def play(exchange: Exchange, seed: str, number: int, _folder: str) -> None:
    program = PROGRAMS[number % len(PROGRAMS)]
    drawn = random.Random(f"traces {seed} {number}").randrange(2**32)
    which = f"seed {seed} number {number}, {program.__name__}"
    expected, theirs = traced(their_cluster(), program, drawn)
    with our_cluster() as target:
        out, ours = traced(target, program, drawn)
    exchange.counts["traces"] += 1
    exchange.counts["nodes"] += len(ran(ours))
    exchange.counts["tasks"] += len(ours.step_stats.dev_stats)
    if not all(np.allclose(a, b, 1e-5, 1e-5) for a, b in zip(out, expected, strict=True) if a is not None):
        exchange.differ(f"{which}: {out!r}, by TensorFlow {expected!r}")
    if what := unlike(ours):
        exchange.differ(f"{which}: {what}")
    more, less = sorted(ran(ours) - ran(theirs)), sorted(ran(theirs) - ran(ours))
    if more or less:
        exchange.differ(f"{which}: only here {more}, only there {less}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
