"""Hooks that others wrote, out of packages on PyPI. Needs TensorFlow 2.12, the newest with the 1.x estimator; README.md
says how the packages are laid out."""

import logging
import math
import os
import tempfile
import time

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.python.training import basic_session_run_hooks, session_run_hook, training_util

from .listing import from_source, hook


class Settings:
    """Stands for an object of which a hook asks a few fields."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def step_read():
    return tf.identity(tf.train.get_global_step())


def checkpoint_of(names):
    """A checkpoint of variables with these names and value 7."""
    folder = tempfile.mkdtemp(prefix="survey")
    with tf.Graph().as_default(), tf.Session() as session:
        for name in names:
            tf.get_variable(name, [], tf.int64, initializer=tf.constant_initializer(7))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, os.path.join(folder, "of"))


estimator = hook("tensorflow-estimator 2.12.0", __name__)


def estimator_of(w):
    """An estimator whose training is the session of the verification: hooks ask it for its directory only."""
    return tf.estimator.Estimator(lambda features: None, model_dir=w.directory)


@estimator()
def estimator_stop_if_no_decrease_hook(w):
    return tf.estimator.experimental.stop_if_no_decrease_hook(estimator_of(w), "loss", 2, run_every_secs=None,
                                                              run_every_steps=1)


@estimator()
def estimator_make_early_stopping_hook(w):
    started = time.time()
    return tf.estimator.experimental.make_early_stopping_hook(
        estimator_of(w), lambda: time.time() - started >= 0, run_every_secs=None, run_every_steps=2)


def evaluated(features, labels, mode):
    loss = tf.reduce_mean(features * tf.get_variable("weight", [], initializer=tf.ones_initializer()))
    train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


@estimator()
def estimator_InMemoryEvaluatorHook(w):
    def input_fn():
        return tf2.data.Dataset.from_tensors((tf.ones([1]), tf.ones([1])))

    tf.get_variable("weight", [], initializer=tf.ones_initializer())
    return tf.estimator.experimental.InMemoryEvaluatorHook(
        tf.estimator.Estimator(evaluated, model_dir=w.directory), input_fn, steps=1, every_n_iter=2)


@estimator()
def estimator_StopAtCheckpointStepHook(w):
    from tensorflow_estimator.python.estimator.hooks import hooks

    return hooks._StopAtCheckpointStepHook(w.directory, 4, wait_after_file_check_secs=1)


@estimator()
def estimator_StopAtSecsHook(w):
    from tensorflow_estimator.python.estimator import training

    return training._StopAtSecsHook(3)


@estimator()
def estimator_LossRelativeChangeHook(w):
    from tensorflow_estimator.python.estimator.canned import kmeans

    return kmeans._LossRelativeChangeHook(w.loss, 0.1)


slim = hook("tf-slim 1.1.0", __name__)


@slim()
def slim_SummaryAtEndHook(w):
    kind = from_source("tf-slim/tf_slim/training/evaluation.py", "SummaryAtEndHook", session_run_hook=session_run_hook,
                       summary=tf.summary, training_util=training_util)
    return kind(w.directory, summary_op=tf.summary.scalar("of", w.loss))


t2t = hook("tensor2tensor 1.15.7", __name__)
T2T = "tensor2tensor/tensor2tensor/utils/"


@t2t()
def t2t_EarlyStoppingHook(w):
    from tensorboard.backend.event_processing import event_accumulator, event_multiplexer

    kind = from_source(T2T + "metrics_hook.py", "MetricsBasedHook", "has_metric_plateaued", "EarlyStoppingHook", tf=tf,
                       os=os, event_accumulator=event_accumulator, event_multiplexer=event_multiplexer)
    with tf.Graph().as_default(), tf.Session() as session:
        writer = tf.summary.FileWriter(os.path.join(w.directory, "eval"))
        value = tf.placeholder(tf.float32, [])
        for step in range(4):
            writer.add_summary(session.run(tf.summary.scalar(f"loss{step}", value), {value: 1}), step)
        writer.close()
    return kind(os.path.join(w.directory, "eval"), "loss0", num_plateau_steps=2, every_n_steps=2)


@t2t()
def t2t_UpdateOpsHook(w):
    count = tf.get_variable("updates", [], tf.int64, initializer=tf.zeros_initializer())
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1))
    return from_source(T2T + "update_ops_hook.py", "UpdateOpsHook", tf=tf)()


@t2t()
def t2t_GlowInitHook(w):
    value = tf.get_variable("glow", [], tf.int64, initializer=tf.zeros_initializer())
    tf.add_to_collection("glow_init_op", tf.assign(value, 1))
    return from_source("tensor2tensor/tensor2tensor/models/research/glow_init_hook.py", "GlowInitHook", tf=tf)()


@t2t()
def t2t_PartialCheckpointLoad(w):
    tf.get_variable("new/part", [], tf.int64, initializer=tf.zeros_initializer())
    context = Settings(hparams=Settings(partial_load_checkpoint=checkpoint_of(["old/part"])))
    return from_source(T2T + "partial_checkpoint_load_hook.py", "PartialCheckpointLoad", tf=tf)(context, "old", "new")


gan = hook("tensorflow-gan 2.1.0", __name__)
EVALUATION = "tensorflow-gan/tensorflow_gan/examples/evaluation_helper.py"
OF_GAN = {"tf": tf2, "math": math, "basic_session_run_hooks": basic_session_run_hooks}


@gan()
def gan_RunTrainOpsHook(w):
    count = tf.get_variable("generator", [], tf.int64, initializer=tf.zeros_initializer())
    return from_source("tensorflow-gan/tensorflow_gan/python/train.py", "RunTrainOpsHook", tf=tf2)(
        tf.assign_add(count, 1), 2)


@gan()
def gan_StopAfterNEvalsHook(w):
    made = from_source(EVALUATION, "StopAfterNEvalsHook", **OF_GAN)(4)
    made._set_evals_completed_tensor(step_read())
    return made


@gan()
def gan_SummaryAtEndHook(w):
    return from_source(EVALUATION, "SummaryAtEndHook", **OF_GAN)(
        w.directory, summary_op=tf.summary.scalar("of", w.loss))


adanet = hook("adanet 0.9.0", __name__)
OF_ADANET = {"tf": tf2, "np": np, "logging": logging, "tf_compat": Settings(
    SessionRunHook=tf.train.SessionRunHook, SessionRunArgs=tf.train.SessionRunArgs, v1=tf)}


class Manager:
    """adanet's, which keeps who is done."""

    def __init__(self):
        self.done = set()

    def should_train(self, spec):
        return spec.name not in self.done

    def request_stop(self, spec, _message):
        self.done.add(spec.name)

    def is_over(self):
        return bool(self.done)


@adanet()
def adanet_TrainingLimitHook(w):
    step = tf.get_variable("its_step", [], tf.int64, initializer=tf.zeros_initializer())
    spec = Settings(name="a", step=step, loss=w.loss)
    return from_source("adanet/adanet/core/iteration.py", "_TrainingLimitHook", **OF_ADANET)(
        Manager(), spec, 3, tf.assign_add(step, 1))


@adanet()
def adanet_NanLossHook(w):
    return from_source("adanet/adanet/core/iteration.py", "_NanLossHook", **OF_ADANET)(
        Manager(), Settings(name="a", loss=w.loss))


@adanet()
def adanet_StopAfterTrainingHook(w):
    return from_source("adanet/adanet/core/estimator.py", "_StopAfterTrainingHook", **OF_ADANET)(
        Settings(train_manager=Manager(), number=0), lambda: None)


@adanet()
def adanet_SecondaryTrainOpRunnerHook(w):
    count = tf.get_variable("secondary", [], tf.int64, initializer=tf.zeros_initializer())
    return from_source("adanet/adanet/autoensemble/common.py", "_SecondaryTrainOpRunnerHook", **OF_ADANET)(
        tf.assign_add(count, 1))


magenta = hook("magenta 2.1.4", __name__)


@magenta()
def magenta_TrainTimeHook(w):
    spent = tf.get_variable("train_time", [], initializer=tf.zeros_initializer())
    return from_source("magenta/magenta/models/gansynth/lib/train_util.py", "TrainTimeHook", tf=tf, time=time)(spent, 3)


@magenta()
def magenta_EvalLoggingTensorHook(w):
    return from_source("magenta/magenta/models/shared/events_rnn_train.py", "EvalLoggingTensorHook", tf=tf)(
        {"loss": w.loss}, every_n_iter=2)


layers = hook("tensorlayer 1.11.1", __name__)
OF_LAYERS = {"session_run_hook": session_run_hook, "time": time, "deprecated": lambda **_of: lambda kind: kind}


@layers()
def tensorlayer_StopAtTimeHook(w):
    return from_source("tensorlayer/tensorlayer/distributed.py", "StopAtTimeHook", **OF_LAYERS)(3)


@layers()
def tensorlayer_LoadCheckpoint(w):
    value = tf.get_variable("loaded", [], tf.int64, initializer=tf.zeros_initializer())
    return from_source("tensorlayer/tensorlayer/distributed.py", "LoadCheckpoint", **OF_LAYERS)(
        tf.train.Saver([value]), checkpoint_of(["loaded"]))


@hook("mesh-tensorflow 0.1.21", __name__)()
def mesh_MtfRestoreHook(w):
    value = tf.get_variable("slices", [], tf.int64, initializer=tf.zeros_initializer())
    lowering = Settings(copy_masters_to_slices=lambda: tf.assign(value, 1).op)
    return from_source("mesh-tensorflow/mesh_tensorflow/ops.py", "MtfRestoreHook", tf=tf, tf_estimator=tf2.estimator)(
        lowering)


@hook("gin-config 0.5.0", __name__)()
def gin_GinConfigSaverHook(w):
    config = Settings(operative_config_str=lambda: "a = 1", markdown=lambda text: text)
    return from_source("gin-config/gin/tf/utils.py", "GinConfigSaverHook", tf=tf2, os=os, config=config,
                       summary_pb2=tf.summary)(w.directory, summarize_config=False)


@hook("wandb 0.12.21", __name__)()
def wandb_WandbHook(w):
    told = Settings(run=1, tensorboard=Settings(_log=lambda *_of, **_more: None))

    class Telemetry:
        def context(self):
            return self

        def __enter__(self):
            return Settings(feature=Settings())

        def __exit__(self, *_error):
            return False

    kind = from_source("wandb/wandb/integration/tensorflow/estimator_hook.py", "WandbHook", wandb=told,
                       telemetry=Telemetry(), SessionRunHook=tf.train.SessionRunHook,
                       SessionRunArgs=tf.train.SessionRunArgs, get_global_step=tf.train.get_global_step,
                       merge_all_summaries=tf.summary.merge_all)
    return kind(summary_op=tf.summary.scalar("of", w.loss), steps_per_log=2)
