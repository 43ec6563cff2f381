"""What TensorFlow's monitored sessions do and no line of a recording tells: calls and returns, as typed events.

Installed by the import, around TensorFlow's own methods, which do what they always do.
"""

import contextlib
import sys
import types

import numpy as np

from . import world
from .errors import code_of
from .tensorflow_v1 import monitored_session

METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")


def listens():
    """Whether somebody plays, in this thread, and no hook under verification is being called: what that does with
    monitored sessions of its own is nobody's business."""
    w = world.active
    return w is not None and w.evidence is None and w.speaker() == ""


def session_fields(session):
    """How an event says which raw session it is about."""
    number = getattr(session, "number", 0)
    return {"session": number, "closed": True if session.is_closed else None} if number else {}


@contextlib.contextmanager
def told(kind, value=None, **fields):
    """Says how the block has ended. `value`: called then."""
    code = None
    try:
        yield
    except Exception as error:
        code = code_of(error)
        raise
    finally:
        told_value = {} if value is None else {"value": value()}
        error = sys.exc_info()[1]
        if listens() and error is not None and not isinstance(error, (Exception, world.Runaway)):
            world.active.cut_off()
        elif not isinstance(error, world.Runaway) and listens():
            world.active.note(kind, code=code, **told_value, **fields)


def step_fn_is_called(session):
    world.active.note("step_fn_call", **session_fields(session))


def number_in(values):
    """What a hook's after_run sees, if that is one number."""
    results = values.results
    if isinstance(results, (int, float, np.number)) or (isinstance(results, np.ndarray) and results.shape == ()):
        number = float(results)
        return number if np.isfinite(number) else str(number)
    return None


def tells_itself(hook):
    """Whether its own line tells of each call, as those of the scenarios' probes do."""
    return getattr(hook, "tells_itself", False)


def watch_hook(hook, index):
    """Each call of the hook is told, and how it returned."""
    if tells_itself(hook):
        hook.index = index
    for method in METHODS:
        inner = getattr(hook, method)
        setattr(hook, method, watched(hook, index, method, getattr(inner, "watched", inner)))


def watched(hook, index, method, inner):
    def call(*args, **kwargs):
        w = world.active
        if w is None:
            return inner(*args, **kwargs)
        context = args[0] if method in ("before_run", "after_run") else None
        session = context.session if context is not None else args[0] if args else None
        fields = {"call": method, "index": index, **session_fields(session)}
        if tells_itself(hook):
            fields["name"] = hook.name
        else:
            fields["name"] = w.name_of(hook)
            w.note("hook_call", value=number_in(args[1]) if method == "after_run" else None, **fields)
        before = context is not None and context.stop_requested
        asked = {} if context is None else {"value": lambda: int(not before and context.stop_requested)}
        with told("hook_return", **asked, **fields):
            result = inner(*args, **kwargs)
        if context is not None and not before and context.stop_requested:
            w.note("hook_requests_stop", index=index, name=fields.get("name"))
        return result

    call.watched = inner
    return call


def _patch_sessions():
    kind = monitored_session._MonitoredSession
    init, run, run_step_fn, should_stop = kind.__init__, kind.run, kind.run_step_fn, kind.should_stop
    close, leave = kind.close, kind.__exit__

    def watched_init(self, session_creator, hooks, *args, **kwargs):
        if listens():
            for index, hook in enumerate(hooks or []):
                watch_hook(hook, index)
        with told("constructed"):
            init(self, session_creator, hooks, *args, **kwargs)

    def watched_run(self, *args, **kwargs):
        if self._sess is None or not listens():
            return run(self, *args, **kwargs)
        world.active.note("run_start")
        with told("run_end"):
            return run(self, *args, **kwargs)

    def watched_run_step_fn(self, step_fn):
        if self._sess is None or not listens():
            return run_step_fn(self, step_fn)
        world.active.note("run_start", call=1)
        with told("run_end", call=1):
            return run_step_fn(self, step_fn)

    def watched_should_stop(self):
        if self._sess is None or not listens():
            return should_stop(self)
        try:
            stop = should_stop(self)
        except Exception as error:
            world.active.note("should_stop", code=code_of(error))
            raise
        world.active.note("should_stop", value=int(stop))
        return stop

    def watched_close(self):
        if not listens():
            return close(self)
        world.active.note("close_start")
        with told("close_end"):
            return close(self)

    def watched_exit(self, exception_type, exception, traceback):
        if not listens() or (exception is not None and not isinstance(exception, Exception)):
            return leave(self, exception_type, exception, traceback)
        code = None if exception is None else code_of(exception)
        world.active.note("close_start", code=code)
        try:
            suppressed = leave(self, exception_type, exception, traceback)
        except Exception as error:
            world.active.note("close_end", code=code_of(error))
            raise
        world.active.note("close_end", code=None if suppressed else code)
        return suppressed

    kind.__init__, kind.run, kind.run_step_fn = watched_init, watched_run, watched_run_step_fn
    kind.should_stop, kind.close, kind.__exit__ = watched_should_stop, watched_close, watched_exit


def _patch_recovery():
    """A recovery is told by what TensorFlow logs of it, before it closes the session."""
    inner = monitored_session.logging

    def info(text, *args, **kwargs):
        error = sys.exc_info()[1]
        if listens() and error is not None and str(text).startswith("An error was raised"):
            creating = str(text).startswith("An error was raised while a session was being created")
            session = None if creating else world.active.sessions
            world.active.note("recovery", code=code_of(error), session=session)
        inner.info(text, *args, **kwargs)

    monitored_session.logging = types.SimpleNamespace(
        info=info, warning=inner.warning, warn=inner.warn, error=inner.error, debug=inner.debug)


_patch_sessions()
_patch_recovery()
