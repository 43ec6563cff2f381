"""What `vigil-verify` found in hooks that others wrote, on plain TensorFlow, by hand: nothing of vigil is imported.

  python survey/by_hand.py [NAME...]

Prints a line a finding, and what happened.
"""

import sys
import tempfile
import threading

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
FINDINGS = {}


def finding(make):
    FINDINGS[make.__name__] = make
    return make


def model():
    """A training with a loss."""
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    return tf.assign_add(step, 1), weight * 0.5


def closed_twice(hook_of):
    """What comes out when the session is closed inside of its `with`, which closes it again: end(None)."""
    with tf.Graph().as_default():
        train, loss = model()
        with tf.train.MonitoredSession(hooks=[hook_of(loss)]) as session:
            session.run(train)
            session.close()


@finding
def saver_at_a_second_close():
    closed_twice(lambda _loss: tf.train.CheckpointSaverHook(tempfile.mkdtemp(), save_steps=2))


@finding
def logging_at_end_at_a_second_close():
    closed_twice(lambda loss: tf.train.LoggingTensorHook({"loss": loss}, at_end=True))


@finding
def final_ops_at_a_second_close():
    closed_twice(lambda loss: tf.train.FinalOpsHook(loss))


@finding
def no_hook_at_a_second_close():
    """For comparison: what TensorFlow itself says."""
    closed_twice(lambda _loss: tf.train.SessionRunHook())


@finding
def kmeans_hook_in_a_second_training():
    """A loss that stays as it is when the first training ends with an error, then one that falls: it stops at once."""
    from tensorflow_estimator.python.estimator.canned import kmeans

    runs = []
    with tf.Graph().as_default():
        train, _ = model()
        loss = 1 / tf.cast(train, tf.float32)
        hook = kmeans._LossRelativeChangeHook(loss, 0.1)
        for error in (ValueError, None):
            runs.append(0)
            try:
                with tf.train.MonitoredSession(hooks=[hook]) as session:
                    while not session.should_stop() and runs[-1] < 20:
                        session.run(train)
                        runs[-1] += 1
                        if error and runs[-1] == 1:
                            raise error
            except ValueError:
                pass
    return f"runs of the first and the second training: {runs}"


@finding
def kmeans_hook_in_a_first_training():
    """For comparison."""
    from tensorflow_estimator.python.estimator.canned import kmeans

    with tf.Graph().as_default():
        train, _ = model()
        runs = 0
        hooks = [kmeans._LossRelativeChangeHook(1 / tf.cast(train, tf.float32), 0.1)]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
                runs += 1
    return f"runs: {runs}"


@finding
def magenta_train_time_in_a_second_training():
    """With VIGIL_SURVEY (README.md). Its variable after one run: of a first training, and of a second one."""
    import time

    from listing import from_source

    kind = from_source("magenta/magenta/models/gansynth/lib/train_util.py", "TrainTimeHook", tf=tf, time=time)
    with tf.Graph().as_default():
        train, _ = model()
        spent = tf.get_variable("train_time", [], initializer=tf.zeros_initializer())
        hook = kind(spent)
        after = []
        for _ in range(2):
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                session.run(train)
                after.append(session.run_step_fn(lambda step_context: step_context.session.run(spent)))
    return f"time is counted after one run of a first training: {after[0] > 0}, of a second: {after[1] > 0}"


@finding
def tensorlayer_load_checkpoint():
    """With VIGIL_SURVEY (README.md)."""
    from listing import from_source

    kind = from_source("tensorlayer/tensorlayer/distributed.py", "LoadCheckpoint",
                       session_run_hook=tf.train, deprecated=lambda **_of: lambda kind: kind)
    with tf.Graph().as_default():
        train, _ = model()
        saver = tf.train.Saver()
        with tf.train.MonitoredSession(hooks=[kind(saver, "/nowhere")]) as session:
            session.run(train)


def sync_replicas_beside(other):
    """A training with SyncReplicasOptimizer's hook and another one, and whether its queue runner's threads end."""
    before = set(threading.enumerate())
    with tf.Graph().as_default():
        train, _ = model()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
        own_step = tf.get_variable("own_step", [], tf.int64, tf.zeros_initializer(), trainable=False)
        optimizer.apply_gradients([(tf.ones([]), tf.trainable_variables()[0])], global_step=own_step)
        hooks = [optimizer.make_session_run_hook(is_chief=True, num_tokens=0), other]
        with tf.train.MonitoredSession(hooks=hooks, stop_grace_period_secs=1) as session:
            session.run(train)
    threads = set(threading.enumerate()) - before
    for thread in threads:
        thread.join(5)
    return f"threads of its queue runner that wait for ever: {sum(thread.is_alive() for thread in threads)}"


@finding
def sync_replicas_beside_a_hook_that_fails_in_after_create_session():
    """It fails once, with ABORTED: TensorFlow creates another session, and closes that one alone at the end."""

    class FailsOnce(tf.train.SessionRunHook):
        failed = False

        def after_create_session(self, session, coord):
            if not self.failed:
                self.failed = True
                raise tf.errors.AbortedError(None, None, "once")

    return sync_replicas_beside(FailsOnce())


@finding
def sync_replicas_beside_a_hook_that_does_nothing():
    """For comparison."""
    return sync_replicas_beside(tf.train.SessionRunHook())


def told(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def main(names):
    for name, make in FINDINGS.items():
        if names and name not in names:
            continue
        try:
            outcome = make() or "nothing"
        except Exception as error:
            outcome = told(error) + (f" (while handling {told(error.__context__)})" if error.__context__ else "")
        print(f"{name}: {outcome}")


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    main(sys.argv[1:])
