"""Somebody's own program, watched: what its monitored sessions and its supervisors do is written down, to be judged by
`vigil judge`.

  python -m vigil_player.observe [--to FILE] PROGRAM.py [ARGUMENTS...]
  python -m vigil_player.observe [--to FILE] -m MODULE [ARGUMENTS...]

The program runs as it always does: TensorFlow's classes do what they did, in real time, on real files and servers.
Each session is written by itself: a line that says what it was given, one for each event (docs/players.md has the
words), one when the program has ended. `vigil judge FILE` holds the rules against them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.abc
import importlib.util
import os
import runpy
import sys
import threading
import time
import traceback
import types

from . import world
from .observed import Output, listeners_of


def installed():
    """Around TensorFlow's own classes, from now on; the output begins and ends with each program that is watched."""
    output = Output()
    install(output)
    return output


def install(output):
    from . import observe_supervisors, recorded, watch
    from .tensorflow_v1 import basic_session_run_hooks, monitored_session, session_manager

    recorded.put_under_sessions()
    for module in (session_manager, basic_session_run_hooks):
        module.time = TellingTime()
    cache = basic_session_run_hooks.SummaryWriterCache
    basic_session_run_hooks.SummaryWriterCache = types.SimpleNamespace(
        get=lambda logdir: TellingWriter(cache.get(logdir)), clear=cache.clear)
    watch_sessions(output, monitored_session._MonitoredSession, watch)
    observe_supervisors.watch_supervisors(output)


def watch_sessions(output, kind, watch):
    init = kind.__init__

    def observed_init(self, session_creator, hooks, should_recover, *args, **kwargs):
        from .tensorflow_v1 import monitored_session

        # As TensorFlow does: then its default can be looked at, too.
        creator, hooks = session_creator or monitored_session.ChiefSessionCreator(), list(hooks or [])
        job = output.new_job(self, creator, hooks, should_recover)
        with turn_of(output, job):
            if job is not None:
                watch_parts(job)
            init(self, creator, hooks, should_recover, *args, **kwargs)

    def observed(method):
        inner = getattr(kind, method)

        def call(self, *args, **kwargs):
            job = getattr(self, "_vigil_job", None)
            with turn_of(output, job):
                if method == "run_step_fn" and job is not None and not job.muted:
                    args, kwargs = (told_step(watch, *args, **kwargs),), {}
                if method == "__exit__" and job is not None and not isinstance(args[1], (Exception, type(None))):
                    job.cut_off()
                return inner(self, *args, **kwargs)

        return call

    kind.__init__ = observed_init
    for method in ("run", "run_step_fn", "should_stop", "close", "__exit__"):
        setattr(kind, method, observed(method))


@contextlib.contextmanager
def turn_of(output, job):
    """The same for any thread: others are not watched, and a session that they use is not any more."""
    if threading.current_thread() is output.driver:
        with output.turn_of(job):
            yield
        return
    if job is not None and not job.muted:
        job.cut_off()
        output.pass_over("used by another thread, from there on")
    yield


def watch_parts(job):
    """The scaffold's init function and the listeners of the hooks."""
    from .recorded import told_init_fn

    scaffold = job.model.scaffold
    scaffold._init_fn = told_init_fn(scaffold._init_fn)
    for hook in job.model.hooks:
        for index, listener in enumerate(listeners_of(hook)):
            for method in ("begin", "before_save", "after_save", "end"):
                call = getattr(listener, method)
                setattr(listener, method, told_listener(getattr(call, "watched", call), method, index, listener))


def told_listener(inner, method, index, listener):
    def call(*args, **kwargs):
        w = world.active
        if w is not None:
            step = args[1] if len(args) > 1 else kwargs.get("global_step_value")
            w.note("listener_call", call=method, index=index, name=type(listener).__name__,
                   value=None if step is None else int(step))
        return inner(*args, **kwargs)

    call.watched = inner
    return call


def told_step(watch, step_fn):
    """A step function that tells of itself. One that TensorFlow refuses stays as it is."""
    from tensorflow.python.util import function_utils

    from .errors import code_of

    if function_utils.fn_args(step_fn) not in (("step_context",), ("self", "step_context")):
        return step_fn

    def told(step_context):
        asked, passed_on = [], []
        stop, run = step_context.request_stop, step_context.run_with_hooks

        def request_stop():
            asked.append(True)
            world.active.log("driver step requests_stop")
            stop()

        def run_with_hooks(*args, **kwargs):
            world.active.note("inner_run_start")
            try:
                with watch.told("inner_run_end"):
                    return run(*args, **kwargs)
            except Exception as error:
                passed_on.append(error)
                raise

        step_context.request_stop, step_context.run_with_hooks = request_stop, run_with_hooks
        watch.step_fn_is_called(step_context.session)
        try:
            with watch.told("step_fn_return", value=lambda: len(asked)):
                try:
                    return step_fn(step_context)
                except Exception as error:
                    if not asked and not any(error is each for each in passed_on):
                        world.active.log("driver step raises " + code_of(error))
                    raise
        finally:
            passed_on.clear()  # they hold this call

    return told


class TellingTime(types.ModuleType):
    """The module `time`; who sleeps is told of."""

    def __init__(self):
        super().__init__("time")

    def __getattr__(self, name):
        return getattr(time, name)

    @staticmethod
    def sleep(secs):
        if world.active is not None:
            world.active.log("sleep %g" % secs)
        time.sleep(secs)


class TellingWriter:
    """A summary writer that others use, too: what it is asked for here is told."""

    def __init__(self, writer):
        self._writer = writer

    def __getattr__(self, name):
        from .recorded import told_writer_call

        return told_writer_call(getattr(self._writer, name), name)


class OnceImported(importlib.abc.MetaPathFinder):
    """Does something once that module has been imported: the program sets what its import looks at, we come after."""

    def __init__(self, name, do):
        self.name = name
        self.do = do

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self.do()

            spec.loader.exec_module = exec_module
        return spec


def run_program(arguments):
    """As the interpreter would. Returns the exit code."""
    try:
        if arguments.module:
            sys.argv = [arguments.module, *arguments.rest]
            runpy.run_module(arguments.module, run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments.rest
            program = os.path.abspath(arguments.rest[0])  # as the interpreter has it
            sys.path[0] = os.path.dirname(program)
            runpy.run_path(program, run_name="__main__")
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        prog="python -m vigil_player.observe", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", default="observed.jsonl", metavar="FILE", help="default: observed.jsonl")
    parser.add_argument("-m", dest="module", default="", metavar="MODULE", help="a module in place of a program")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENTS")
    arguments = parser.parse_args()
    if not arguments.module and not arguments.rest:
        parser.error("which program? python -m vigil_player.observe PROGRAM.py ARGUMENTS")
    if not arguments.to.endswith((".jsonl", ".json")):
        parser.error(f"--to {arguments.to}: call it {arguments.to}.jsonl, or vigil judge does not read it")
    if not arguments.module and not os.path.isfile(arguments.rest[0]):
        parser.error(f"there is no program {arguments.rest[0]}")
    world.observes = True
    output = Output()
    sys.meta_path.insert(0, OnceImported("tensorflow", lambda: install(output)))
    try:
        output.begin(arguments.to)
    except OSError as error:
        parser.error(f"--to: {error}")
    try:
        return run_program(arguments)
    finally:
        output.end()


if __name__ == "__main__":
    sys.exit(main())
