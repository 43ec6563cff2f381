"""Codes of the scenario format and the exceptions that stand for them."""

from .tensorflow_v1 import tf

EXCEPTIONS = {
    "ABORTED": tf.errors.AbortedError,
    "UNAVAILABLE": tf.errors.UnavailableError,
    "OUT_OF_RANGE": tf.errors.OutOfRangeError,
    "CANCELLED": tf.errors.CancelledError,
    "INVALID_ARGUMENT": tf.errors.InvalidArgumentError,
    "INTERNAL": tf.errors.InternalError,
    "DEADLINE_EXCEEDED": tf.errors.DeadlineExceededError,
    "DATA_LOSS": tf.errors.DataLossError,
    "FAILED_PRECONDITION": tf.errors.FailedPreconditionError,
    "NOT_FOUND": tf.errors.NotFoundError,
    "UNKNOWN": tf.errors.UnknownError,
    "RESOURCE_EXHAUSTED": tf.errors.ResourceExhaustedError,
    "ALREADY_EXISTS": tf.errors.AlreadyExistsError,
    "PERMISSION_DENIED": tf.errors.PermissionDeniedError,
    "UNIMPLEMENTED": tf.errors.UnimplementedError,
    "UNAUTHENTICATED": tf.errors.UnauthenticatedError,
}


class OtherError(Exception):
    """A user's own error: no TensorFlow code."""


def make_error(code, not_ready=False):
    """`not_ready`: it says that a variable has no value, which a question for readiness takes for a "no"."""
    if code == "STOP_ITERATION":
        return StopIteration("scenario")
    if code == "OTHER":
        return OtherError("scenario")
    return EXCEPTIONS[code](None, None, "scenario " + code + (": uninitialized" if not_ready else ""))


def code_of(error):
    if isinstance(error, StopIteration):
        return "STOP_ITERATION"
    if isinstance(error, OtherError):
        return "OTHER"
    if isinstance(error, tf.train.NanLossDuringTrainingError):
        return "NAN_LOSS"
    for name, kind in EXCEPTIONS.items():
        if isinstance(error, kind):
            return name
    if isinstance(error, tf.errors.OpError):
        return "CODE_%d" % error.error_code
    if isinstance(error, (RuntimeError, ValueError, TypeError, AttributeError)):
        return "USAGE"
    return "PY_" + type(error).__name__


def noted(world, error):
    """The code of an error; its text is kept in the world if it is the library's own complaint."""
    code = code_of(error)
    if code in ("USAGE", "NAN_LOSS"):
        world.message(error)
    return code
