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


def build(cluster, job, task):
    """A linear regression, its variables on the parameter servers."""
    extra_hooks = []
    device = tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:{job}/task:{task}")
    with tf.device(device):
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
    return step, x, y, train, extra_hooks


def session_config(job, task):
    config = tf.ConfigProto()
    if CONFIG.get("filters", True):
        config.device_filters.extend(["/job:ps", f"/job:{job}/task:{task}"])
    if CONFIG.get("timeout_ms"):
        config.operation_timeout_in_ms = CONFIG["timeout_ms"]
    return config


def train_all(server, cluster, job, task):
    step, x, y, train, extra_hooks = build(cluster, job, task)
    hooks = extra_hooks + [Watch(step), tf.train.StopAtStepHook(last_step=CONFIG["last_step"])]
    random = np.random.RandomState(task + 10 * (job == "chief"))
    reported = 0
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=job == "chief", checkpoint_dir=CONFIG["dir"],
            config=session_config(job, task), hooks=hooks, chief_only_hooks=[saver_hook()],
            save_checkpoint_steps=None, save_checkpoint_secs=None,
            save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None, stop_grace_period_secs=5,
            **CONFIG.get("session", {})) as session:
        say("open")
        while not session.should_stop():
            examples = random.randn(8, len(WEIGHTS)).astype("f")
            before = time.time()
            seen = session.run([train, step], {x: examples, y: examples.dot(WEIGHTS)})[1]
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
