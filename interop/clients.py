#!/usr/bin/env python3
"""Training programs of TensorFlow's, unchanged but for the master's address, against `vigil serve` and against
TensorFlow's own server: what they see must be the same.

  clients.py SEED COUNT
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy as np
from exchange import SERVE_ARGUMENTS, Exchange, run_drawn, serving, tool_path
from vigil_player.tensorflow_v1 import config_pb2, tf

tf.logging.set_verbosity(tf.logging.ERROR)
TOLERANCE = 2e-5
Numbers = list[float]


def variable(name: str, value: object, resource: bool = False) -> tf.Variable:
    return tf.get_variable(name, initializer=np.asarray(value, np.float32), use_resource=resource)


def linear(r: np.random.RandomState) -> tuple[tf.Tensor, Callable[[], dict]]:
    """A loss, and what is fed for a step."""
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None])
    w, b = variable("w", r.randn(2)), variable("b", 0.0)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) + b - y))

    def feed() -> dict:
        xs = r.rand(16, 2).astype(np.float32)
        return {x: xs, y: xs @ np.array([2, -3], np.float32) + 1}

    return loss, feed


def monitored(target: str, r: np.random.RandomState, folder: str) -> Numbers:
    step = tf.train.get_or_create_global_step()
    loss, feed = linear(r)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    seen = []
    with tf.train.MonitoredTrainingSession(
            master=target, checkpoint_dir=folder, save_checkpoint_steps=7,
            hooks=[tf.train.StopAtStepHook(last_step=20)]) as session:
        while not session.should_stop():
            seen.append(session.run([loss, train], feed())[0])
    saved = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
    return [*seen, *saved.get_tensor("w"), saved.get_tensor("global_step")]


def resumed(target: str, r: np.random.RandomState, folder: str) -> Numbers:
    """A second session goes on where the first has stopped."""
    step = tf.train.get_or_create_global_step()
    loss, feed = linear(r)
    train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    seen = []
    for last in (5, 11):
        with tf.train.MonitoredTrainingSession(
                master=target, checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(last_step=last)]) as session:
            while not session.should_stop():
                seen += session.run([loss, step, train], feed())[:2]
        tf.Session.reset(target)
    return seen


def classes(target: str, r: np.random.RandomState, _folder: str) -> Numbers:
    step = tf.train.get_or_create_global_step()
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int64, [None])
    hidden = tf.nn.relu(tf.matmul(x, variable("w1", r.randn(8, 16) / 3)) + variable("b1", np.zeros(16)))
    logits = tf.matmul(hidden, variable("w2", r.randn(16, 3) / 4)) + variable("b2", np.zeros(3))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
    xs = r.randn(64, 8)
    with tf.train.MonitoredTrainingSession(master=target) as session:
        return [session.run([loss, train], {x: xs, y: np.argmax(xs[:, :3], 1)})[0] for _ in range(25)]


def supervised(target: str, r: np.random.RandomState, folder: str) -> Numbers:
    step = tf.train.get_or_create_global_step()
    v = variable("v", r.rand())
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(tf.square(v), global_step=step)
    supervisor = tf.train.Supervisor(logdir=folder)
    seen: Numbers = []
    with supervisor.managed_session(target) as session:
        while not supervisor.should_stop():
            now, value, _ = session.run([step, v, train])
            seen.append(value)
            if now >= 30:
                supervisor.request_stop()
    return [len(seen), seen[0], seen[-1]]


def queued(target: str, r: np.random.RandomState, _folder: str) -> Numbers:
    """Queue runners under a coordinator, until the input ends."""
    element = tf.train.range_input_producer(r.randint(3, 9), num_epochs=2, shuffle=False).dequeue()
    seen: Numbers = []
    with tf.Session(target) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                seen.append(session.run(element))
        except tf.errors.OutOfRangeError:
            seen.append(-1)
        coordinator.request_stop()
        coordinator.join(threads)
    return seen


def saved(target: str, r: np.random.RandomState, folder: str) -> Numbers:
    """A saver by hand, a graph that grows, errors by their types."""
    v = variable("v", r.randn(3))
    add = v.assign_add([1.0, 2.0, 3.0])
    saver = tf.train.Saver()
    seen: Numbers = []
    with tf.Session(target) as session:
        for wrong in (v, tf.placeholder(tf.float32, [2]), tf.gather(tf.constant([1.0]), [7])):
            try:
                session.run(wrong)
            except tf.errors.OpError as error:
                seen.append(error.error_code)
        session.run(tf.global_variables_initializer())
        path = saver.save(session, os.path.join(folder, "model"))
        seen += list(session.run(add))
        saver.restore(session, path)
        seen += list(session.run(v))
        return seen + list(session.run(tf.range(3) + 1))


def convolved(target: str, r: np.random.RandomState, _folder: str) -> Numbers:
    x, y = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.float32, [None])
    hidden = tf.nn.relu(tf.nn.conv2d(x, variable("kernel", r.randn(3, 3, 1, 4) / 3), 1, "SAME"))
    hidden = tf.reshape(tf.nn.max_pool2d(hidden, 2, 2, "SAME"), [-1, 64])
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(hidden, variable("w", r.randn(64, 1) / 8)), 1) - y))
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, train], {x: r.rand(8, 8, 8, 1), y: r.rand(8)})[0] for _ in range(10)]


def branched(target: str, r: np.random.RandomState, _folder: str) -> Numbers:
    """Resource variables, branches, callables, options."""
    v = variable("v", r.rand(), resource=True)
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 1, lambda: v * x, lambda: v - x)
    update = v.assign_add(0.5, read_value=False)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        call = session.make_callable(y, [x])
        options = config_pb2.CallableOptions(feed=[x.name], fetch=[y.name], target=[update.name])
        by_name = session._make_callable_from_options(options)  # what Keras does with its functions
        by_name(np.float32(2))
        kept = [session.run(v)]
        del by_name
        options = tf.RunOptions(timeout_in_ms=60000)
        return [*kept, call(3.0), call(0.5), session.run(y, {x: 2.0}, options=options), *session.run([v, v + 1])]


class OwnHook(tf.train.SessionRunHook):
    def __init__(self) -> None:
        self.seen: Numbers = []

    def begin(self) -> None:
        self.seen.append(1)

    def after_create_session(self, session: tf.Session, coord: tf.train.Coordinator) -> None:
        self.seen.append(2)

    def before_run(self, run_context: tf.train.SessionRunContext) -> tf.train.SessionRunArgs:
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context: tf.train.SessionRunContext, run_values: tf.train.SessionRunValues) -> None:
        self.seen.append(100 + run_values.results)

    def end(self, session: tf.Session) -> None:
        self.seen.append(3)


def hooked(target: str, r: np.random.RandomState, folder: str) -> Numbers:
    """An input that ends, a hook of one's own beside TensorFlow's."""
    step = tf.train.get_or_create_global_step()
    element = tf.cast(tf.train.range_input_producer(7, num_epochs=1, shuffle=False).dequeue(), tf.float32)
    v = variable("v", r.rand())
    tf.summary.scalar("v", v)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.square(v - element), global_step=step)
    hook = OwnHook()
    with tf.train.MonitoredTrainingSession(
            master=target, checkpoint_dir=folder, save_summaries_steps=2,
            hooks=[hook, tf.train.LoggingTensorHook({"v": v}, every_n_iter=2), tf.train.NanTensorHook(v)]) as session:
        while not session.should_stop():
            session.run(train)
    # The global step is read beside the update of it: before or after.
    return [each for each in hook.seen if each < 100] + [tf.train.load_variable(folder, "v")]


def embedded(target: str, r: np.random.RandomState, _folder: str) -> Numbers:
    """Sparse gradients, a rate that decays, averages."""
    step = tf.train.get_or_create_global_step()
    ids, y = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
    w = variable("w", r.randn(4, 1))
    rows = tf.nn.embedding_lookup(variable("rows", r.randn(10, 4)), ids)
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(rows, w), 1) - y))
    rate = tf.train.exponential_decay(0.1, step, 20, 0.9)
    update = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([update]):
        train = average.apply([w])
    with tf.train.MonitoredTrainingSession(master=target) as session:
        seen = []
        for _ in range(20):
            drawn = r.randint(0, 10, 16)
            seen.append(session.run([loss, train], {ids: drawn, y: drawn / 10.0})[0])
        return seen + [float(each) for each in session.run(average.average(w)).flatten()]


PROGRAMS = [monitored, resumed, classes, supervised, queued, saved, convolved, branched, hooked, embedded]


def run(program: Callable[..., Numbers], target: str, seed: int, folder: str) -> Numbers | str:
    os.makedirs(folder)
    tf.Session.reset(target)
    with tf.Graph().as_default():
        try:
            return [float(each) for each in program(target, np.random.RandomState(seed), folder)]
        except Exception as error:  # whatever it is, it is what differs
            return f"{type(error).__name__}: {str(error)[:500]}"


def same(ours: Numbers | str, theirs: Numbers | str) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return False
    return len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)


SERVER: list[tf.train.Server] = []  # TensorFlow's cannot be ended


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    program = PROGRAMS[number % len(PROGRAMS)]
    drawn = random.Random(f"clients {seed} {number}").randrange(2**32)
    if not SERVER:
        SERVER.append(tf.train.Server.create_local_server())
    theirs = run(program, SERVER[0].target, drawn, os.path.join(folder, "theirs"))
    with serving(tool_path("../cli/vigil-serve"), *SERVE_ARGUMENTS) as (server, target):
        ours = run(program, target, drawn, os.path.join(folder, "ours"))
    exchange.counts["programs"] += 1
    exchange.counts["numbers"] += len(theirs)
    if server.returncode != 0:
        exchange.differ(f"seed {seed} number {number}, {program.__name__}: the server ends with {server.returncode}")
    if not same(ours, theirs):
        exchange.differ(f"seed {seed} number {number}, {program.__name__}: {ours!r}, by TensorFlow {theirs!r}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
