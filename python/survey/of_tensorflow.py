"""The hooks that ship with TensorFlow, as somebody would use them on the model of a verification."""

import tensorflow.compat.v1 as tf
from tensorflow.python.training import basic_session_run_hooks, evaluation

from .listing import hook

tensorflow = hook(f"tensorflow {tf.__version__}", __name__)


@tensorflow()
def StopAtStepHook(w):
    return tf.train.StopAtStepHook(last_step=4)


@tensorflow()
def StopAtStepHook_num_steps(w):
    return tf.train.StopAtStepHook(num_steps=4)


@tensorflow()
def MultiStepStopAtStepHook(w):
    return basic_session_run_hooks._MultiStepStopAtStepHook(last_step=4)


@tensorflow()
def LoggingTensorHook(w):
    return tf.train.LoggingTensorHook({"loss": w.loss}, every_n_iter=2, at_end=False)


@tensorflow()
def LoggingTensorHook_at_end(w):
    return tf.train.LoggingTensorHook({"loss": w.loss}, at_end=True)


@tensorflow()
def CheckpointSaverHook(w):
    return tf.train.CheckpointSaverHook(w.directory, save_steps=2, scaffold=w.scaffold)


@tensorflow()
def StepCounterHook(w):
    return tf.train.StepCounterHook(every_n_steps=2, output_dir=w.directory)


@tensorflow("fail")
def NanTensorHook(w):
    return tf.train.NanTensorHook(w.loss)


@tensorflow()
def NanTensorHook_that_stops(w):
    return tf.train.NanTensorHook(w.loss, fail_on_nan_loss=False)


@tensorflow()
def SummarySaverHook(w):
    return tf.train.SummarySaverHook(save_steps=2, output_dir=w.directory, summary_op=tf.summary.scalar("of", w.loss))


@tensorflow("wait")
def GlobalStepWaiterHook(w):
    return tf.train.GlobalStepWaiterHook(0)  # nobody else trains: any other step would never come


@tensorflow()
def FinalOpsHook(w):
    return tf.train.FinalOpsHook({"loss": w.loss})


@tensorflow("feed")
def FeedFnHook(w):
    return tf.train.FeedFnHook(lambda: {w.feedable: 3})


@tensorflow()
def ProfilerHook(w):
    return tf.train.ProfilerHook(save_steps=2, output_dir=w.directory)


def after_evals(made):
    made._set_evals_completed_tensor(w_step(made))
    return made


def w_step(_made):
    return tf.identity(tf.train.get_or_create_global_step())


@tensorflow()
def StopAfterNEvalsHook(w):
    return after_evals(evaluation._StopAfterNEvalsHook(4))


@tensorflow()
def MultiStepStopAfterNEvalsHook(w):
    return after_evals(evaluation._MultiStepStopAfterNEvalsHook(4))


@tensorflow()
def SyncReplicasOptimizerHook(w):
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    optimizer.apply_gradients([(tf.ones([]), weight)],
                              global_step=tf.get_variable("own_step", [], tf.int64, tf.zeros_initializer(),
                                                          trainable=False))
    return optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
