#!/usr/bin/env python3
"""One task of a real TensorFlow cluster: cluster_task.py CONFIG_JSON, started by cluster.py.

Prints one line of JSON an event: {"t": seconds since the play began, "ev": ...}.
"""

import json
import os
import sys
import time

CONFIG = json.loads(sys.argv[1])
os.environ.update(no_proxy="*", grpc_proxy="")

import player_path  # noqa: E402, F401  # pylint: disable=wrong-import-position
from vigil_player.tensorflow_v1 import monitored_session, tf  # noqa: E402  # pylint: disable=wrong-import-position

import numpy as np  # noqa: E402  # pylint: disable=wrong-import-position

REPORT_EVERY_S = 1
LONG_RUN_S = 0.7
WEIGHTS = [1, 2, 3]


def say(event, **fields):
    print(json.dumps({"t": round(time.time() - CONFIG["begin"], 2), "ev": event, **fields}), flush=True)


def code_of(error):
    """"ABORTED" of an AbortedError; the class name of what is no error of TensorFlow."""
    if not isinstance(error, tf.errors.OpError):
        return type(error).__name__
    name = type(error).__name__.removesuffix("Error")
    return "".join("_" + letter if letter.isupper() and i else letter for i, letter in enumerate(name)).upper()


def say_failures(cls, method, event):
    """Tells of every exception that leaves the method."""
    inner = getattr(cls, method)

    def wrapped(self, *args, **kwargs):
        try:
            return inner(self, *args, **kwargs)
        except Exception as error:
            say(event, code=code_of(error))
            raise

    setattr(cls, method, wrapped)


class Watch(tf.train.SessionRunHook):
    """Tells of new sessions and of a global step that goes back: silently, or right after a new session."""

    def __init__(self, global_step):
        self.global_step = global_step
        self.last = -1
        self.fresh = True

    def after_create_session(self, session, coord):
        say("session", step=int(session.run(self.global_step)))
        self.fresh = True

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.global_step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if step < self.last:
            say("step_back", **{"from": self.last, "to": step, "silent": not self.fresh})
        self.last = step
        self.fresh = False

    def end(self, session):
        say("hook_end")


class SlowSave(tf.train.CheckpointSaverListener):
    """Stands still before each save, as one does that first copies or checks something: faults can fall into it."""

    def before_save(self, session, global_step_value):
        time.sleep(CONFIG["before_save_s"])


def saver_hook():
    listeners = [SlowSave()] if CONFIG.get("before_save_s") else []
    return tf.train.CheckpointSaverHook(CONFIG["dir"], save_steps=CONFIG.get("save_steps", 20), listeners=listeners)


def own_device(job, task):
    return f"/job:{job}/task:{task}"


def build_input(cluster, job, task):
    """A queue of numbers on the own server, filled by a queue runner; a step takes one. Their end ends the training.
    As sim/workloads/input_pipeline.h, with queues of each replica's own."""
    replicas = sum(len(cluster.job_tasks(job)) for job in cluster.jobs if job != "ps")
    limit = max(1, CONFIG["last_step"] // replicas)
    staged = CONFIG.get("staged_input", False)

    def add_queue(name, shared_name):
        return tf.FIFOQueue(1 if staged else 16, [tf.int64], shapes=[()], name=name,
                            shared_name=shared_name if staged else None)

    def fill(queue, value):
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(value)]))

    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=own_device(job, task))):
        step = tf.train.get_or_create_global_step()
        mean = tf.get_variable("mean", [], initializer=tf.zeros_initializer())
        total = tf.get_variable("sum", [], tf.int64, initializer=tf.zeros_initializer())
        queue = add_queue("input_queue", "input")
        with tf.device(own_device(job, task)):
            counter = tf.get_variable("counter", [], tf.int64, initializer=tf.zeros_initializer(), trainable=False,
                                      collections=[tf.GraphKeys.LOCAL_VARIABLES])
        count = counter.count_up_to(limit)
        if staged:
            first = add_queue("input_files", "input/files")
            fill(first, count)
            taken = first.dequeue()
            with tf.device(step.device):
                count = taken + tf.constant(0, tf.int64)
        fill(queue, count)
        number = queue.dequeue()
        gradients = tf.gradients(tf.square(mean - tf.cast(number, tf.float32) / limit), mean)
        with tf.control_dependencies([tf.assign_add(total, number)]):
            train = tf.train.GradientDescentOptimizer(0.05).apply_gradients(zip(gradients, [mean]), global_step=step)
    return step, train, dict, []


def build(cluster, job, task):
    """A linear regression, its variables on the parameter servers: the global step, what trains, what makes the feed of
    a step, further hooks."""
    extra_hooks = []
    random = np.random.RandomState(task + 10 * (job == "chief"))
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=own_device(job, task))):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, len(WEIGHTS)])
        y = tf.placeholder(tf.float32, [None])
        w = tf.get_variable("w", [len(WEIGHTS), 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w) + b, -1) - y))
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        replicas = CONFIG.get("sync")
        if replicas:
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=replicas,
                                                       total_num_replicas=replicas)
        train = optimizer.minimize(loss, global_step=step)
        if replicas:
            extra_hooks.append(optimizer.make_session_run_hook(job == "chief"))

    def feed():
        examples = random.randn(8, len(WEIGHTS)).astype("f")
        return {x: examples, y: examples.dot(WEIGHTS)}

    return step, train, feed, extra_hooks


def session_config(job, task):
    config = tf.ConfigProto()
    if CONFIG.get("filters", True):
        config.device_filters.extend(["/job:ps", own_device(job, task)])
    if CONFIG.get("timeout_ms"):
        config.operation_timeout_in_ms = CONFIG["timeout_ms"]
    return config


def train_all(server, cluster, job, task):
    by_input = CONFIG.get("name") == "input_pipeline"
    step, train, feed, extra_hooks = (build_input if by_input else build)(cluster, job, task)
    hooks = extra_hooks + [Watch(step)]
    if not by_input:
        hooks.append(tf.train.StopAtStepHook(last_step=CONFIG["last_step"]))
    reported = 0
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=job == "chief", checkpoint_dir=CONFIG["dir"],
            config=session_config(job, task), hooks=hooks, chief_only_hooks=[saver_hook()],
            save_checkpoint_steps=None, save_checkpoint_secs=None,
            save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None, stop_grace_period_secs=5,
            **CONFIG.get("session", {})) as session:
        say("open")
        while not session.should_stop():
            fed = feed()
            before = time.time()
            seen = session.run([train, step], fed)[1]
            now = time.time()
            if now - before > LONG_RUN_S or now - reported > REPORT_EVERY_S:
                say("run", secs=round(now - before, 2), step=int(seen))
                reported = now
            time.sleep(CONFIG.get("step_s", 0.05))


def main():
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    job, task = CONFIG["job"], CONFIG["task"]
    cluster = tf.train.ClusterSpec(CONFIG["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=task)
    say("up")
    if job == "ps":
        server.join()
    say_failures(monitored_session._CoordinatedSession, "run", "run_failed")
    say_failures(monitored_session._MonitoredSession._CoordinatedSessionCreator, "create_session", "create_failed")
    try:
        train_all(server, cluster, job, task)
        say("done", outcome="clean")
    except Exception as error:  # pylint: disable=broad-except
        say("done", outcome=code_of(error), text=str(error).split("\n")[0][:160])


if __name__ == "__main__":
    main()
