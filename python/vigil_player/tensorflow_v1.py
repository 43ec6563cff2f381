"""TensorFlow, imported quietly and on the CPU, with the inner modules that the player needs under short names.

If `world.observes`, somebody else's program runs in this process: then it is imported as that program would.
"""

# ruff: noqa: F401, I001
import os

from . import world

if not world.observes:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

_stderr = os.dup(2)
_null = os.open(os.devnull, os.O_WRONLY)
os.dup2(_null, 2)  # its native part writes there before any log level can be set
import tensorflow.compat.v1 as tf  # noqa: E402

os.dup2(_stderr, 2)
os.close(_stderr)
os.close(_null)

# pylint: disable=wrong-import-position, unused-import
from tensorflow.core.framework import summary_pb2  # noqa: E402
from tensorflow.core.protobuf import config_pb2, debug_pb2  # noqa: E402
from tensorflow.core.util import event_pb2  # noqa: E402
from tensorflow.python.checkpoint import checkpoint as object_checkpoint  # noqa: E402
from tensorflow.python.checkpoint import checkpoint_management  # noqa: E402
from tensorflow.python.client import session as session_module  # noqa: E402
from tensorflow.python.eager import context as eager_context  # noqa: E402
from tensorflow.python.framework import ops  # noqa: E402
from tensorflow.python.platform import tf_logging  # noqa: E402
from tensorflow.python.summary.writer import writer_cache  # noqa: E402
from tensorflow.python.training import (  # noqa: E402
    basic_session_run_hooks,
    coordinator,
    monitored_session,
    saver,
    session_manager,
    supervisor,
    training_util,
)

if not world.observes:
    tf.get_logger().setLevel("ERROR")  # what it says of the switch to version 1
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.INFO)
