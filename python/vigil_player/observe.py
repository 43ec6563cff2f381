"""Somebody's own program, watched: what its monitored sessions do is written down, to be judged by `vigil judge`.

  python -m vigil_player.observe [--to FILE] PROGRAM.py [ARGUMENTS...]
  python -m vigil_player.observe [--to FILE] -m MODULE [ARGUMENTS...]

The program runs as it always does: TensorFlow's classes do what they did, in real time, on real files and servers. Each
session is written by itself: a line that says what it was given, one for each event (docs/players.md has the words), one
when the program has ended. `vigil judge FILE` holds the rules against them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import runpy
import sys
import threading
import time
import traceback
import types

from . import world

FORMAT = 1
OWN_CODES = re.compile(r"\b(PY|CODE)_\w+")  # of errors that are none of TensorFlow's


class Model:
    """What calls on a session are for, as far as its scaffold and hooks tell."""

    def __init__(self, graph, scaffold, hooks):
        self.graph = graph
        self.scaffold = scaffold
        self.hooks = hooks

    # A play keeps the last raw session; of a real program it must not live longer than it would.
    session = property(None, lambda self, session: None)

    def savers(self):
        """Of the hooks; each may have one of its own."""
        return [self.scaffold.saver, *(getattr(hook, "_saver", None) for hook in self.hooks)]

    def is_step(self, fetches):
        from .tensorflow_v1 import training_util

        reads = self.graph.get_collection(training_util.GLOBAL_STEP_READ_KEY)
        return any(fetches is each for each in [*reads, training_util.get_global_step(self.graph)] if each is not None)

    def kind_of(self, fetches):
        if isinstance(fetches, dict) and "caller" in fetches:
            return "run"
        if isinstance(fetches, (dict, list, tuple)):
            return "raw_run"
        if isinstance(fetches, str):
            saver = self.scaffold.saver
            if saver is not None and saver.saver_def is not None and fetches == saver.saver_def.restore_op_name:
                return "restore"
            names = [each.saver_def.save_tensor_name for each in self.savers() if each is not None and each.saver_def]
            return "save" if fetches in names else "raw_run"
        for kind in ("init", "local_init", "ready", "ready_for_local_init"):
            if fetches is getattr(self.scaffold, kind + "_op") and fetches is not None:
                return kind
        if self.is_step(fetches):
            return "read_step"
        final = any(fetches is getattr(hook, "_final_ops", None) for hook in self.hooks)
        return "final_ops" if final and fetches is not None else "raw_run"


class Job:
    """One monitored session of the program: stands where a play has its world."""

    evidence = turns = wait_for_stop = None
    is_open = True

    def __init__(self, output, number, model):
        self.output = output
        self.number = number
        self.model = model
        self.sessions = 0
        self.start = time.monotonic_ns()
        self.muted = False

    @staticmethod
    def options(options):
        return options

    @staticmethod
    def name_of(hook):
        return type(hook).__name__

    @staticmethod
    def meet(_point):
        """Nothing is done to a real program."""
        return None, False

    def run_takes_time(self):
        pass

    def message(self, error):
        pass

    def speaker(self):
        return "" if not self.muted and threading.current_thread() is self.output.driver else None

    def log(self, text, **more):
        if self.speaker() == "":
            self.write(line=OWN_CODES.sub("OTHER", text), **more)

    def note(self, kind, **fields):
        if self.speaker() == "":
            self.write(e=kind, **fields)

    def note_elsewhere(self, kind, **fields):
        if not self.muted:
            self.write(e=kind, task="chief/thread", **fields)

    def write(self, **fields):
        if fields.get("code") is not None:
            fields["code"] = OWN_CODES.sub("OTHER", fields["code"])
        self.output.write_event(self, {key: value for key, value in fields.items() if value is not None})


class Output:
    """The file, and whose turn it is. Sessions of the thread that makes the first one are watched; others are counted."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.driver = threading.current_thread()
        self.begin(path)

    def begin(self, path):
        """A program begins."""
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115  (until the program has ended)
        self.jobs = []
        self.passed_over = {}  # why: how many
        self.write({"observed": FORMAT})

    def end(self):
        """The program has ended; what it left at rest has ended by itself."""
        with self.lock:
            for job in self.jobs:
                if not job.muted:
                    self.write({"of": job.number, "ends": True})
                job.muted = True
            self.file.close()
        for why, times in sorted(self.passed_over.items()):
            print(f"vigil: {times} monitored session(s) {why}: not watched", file=sys.stderr)

    def write_event(self, job, event):
        with self.lock:
            if job.muted:
                return
            event["at"] = time.monotonic_ns() - job.start
            self.write({"of": job.number, "event": event})

    def write(self, fields):
        self.file.write(json.dumps(fields, separators=(",", ":")) + "\n")
        self.file.flush()

    def pass_over(self, why):
        self.passed_over[why] = self.passed_over.get(why, 0) + 1

    def new_job(self, session, creator, hooks, recovers):
        """Begins to watch a session that is being made, unless nobody could say what it does."""
        from .tensorflow_v1 import monitored_session, ops, tf

        if threading.current_thread() is not self.driver:
            return self.pass_over("of another thread")
        if type(creator) not in (monitored_session.ChiefSessionCreator, monitored_session.WorkerSessionCreator):
            return self.pass_over(f"by a {type(creator).__name__}")
        job = Job(self, len(self.jobs) + 1, Model(ops.get_default_graph(), creator._scaffold, hooks))
        self.jobs.append(job)
        session._vigil_job = job
        folder = getattr(creator, "_checkpoint_dir", None)
        file = getattr(creator, "_checkpoint_filename_with_path", None)
        worker = type(creator) is monitored_session.WorkerSessionCreator
        self.write({
            "job": job.number,
            "hooks": [type(hook).__name__ for hook in hooks],
            "listeners": [type(each).__name__ for hook in hooks for each in getattr(hook, "_listeners", None) or []],
            "recovers": recovers,
            "worker": worker,
            "remote": bool(creator._master),
            "init_fn": creator._scaffold._init_fn is not None,
            "queue": bool(ops.get_collection(tf.GraphKeys.QUEUE_RUNNERS)),
            "may_restore": bool(folder or file),
            "saves_something": bool(saver_variables(tf)),
        })
        return job


def saver_variables(tf):
    return tf.global_variables() or tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)


def install(output):
    """Around TensorFlow's own classes."""
    from . import recorded, watch
    from .errors import code_of
    from .tensorflow_v1 import basic_session_run_hooks, monitored_session, session_manager, session_module

    session_manager.session = types.SimpleNamespace(
        Session=recorded.RecordedSession, SessionInterface=session_module.SessionInterface)
    monitored_session.queue_runner = types.SimpleNamespace(
        start_queue_runners=recorded.watch_queue_runners(monitored_session.queue_runner.start_queue_runners))
    for module in (session_manager, basic_session_run_hooks):
        module.time = TellingTime()
    cache = basic_session_run_hooks.SummaryWriterCache
    basic_session_run_hooks.SummaryWriterCache = types.SimpleNamespace(
        get=lambda logdir: TellingWriter(cache.get(logdir)), clear=cache.clear)
    watch_sessions(output, monitored_session._MonitoredSession, watch, code_of)


def watch_sessions(output, kind, watch, code_of):
    init = kind.__init__

    def observed_init(self, session_creator, hooks, should_recover, *args, **kwargs):
        from .tensorflow_v1 import monitored_session

        # As TensorFlow does: then its default can be looked at, too.
        creator, hooks = session_creator or monitored_session.ChiefSessionCreator(), list(hooks or [])
        job = output.new_job(self, creator, hooks, should_recover)
        with turn_of(output, job):
            if job is not None:
                watch_parts(job, code_of)
            init(self, creator, hooks, should_recover, *args, **kwargs)

    def observed(method):
        inner = getattr(kind, method)

        def call(self, *args, **kwargs):
            job = getattr(self, "_vigil_job", None)
            with turn_of(output, job):
                if method == "run_step_fn" and job is not None:
                    args, kwargs = (told_step(watch, *args, **kwargs),), {}
                if method == "__exit__" and job is not None and not isinstance(args[1], (Exception, type(None))):
                    job.muted = True
                return inner(self, *args, **kwargs)

        return call

    kind.__init__ = observed_init
    for method in ("run", "run_step_fn", "should_stop", "close", "__exit__"):
        setattr(kind, method, observed(method))


@contextlib.contextmanager
def turn_of(output, job):
    """What this thread does now, it does in that session; None: in one that is not watched."""
    if threading.current_thread() is not output.driver:
        yield
        return
    before, world.active = world.active, job
    try:
        yield
    except BaseException as error:
        if job is not None and not isinstance(error, Exception):
            job.muted = True  # Ctrl-C, or an exit: nobody promises anything of what follows
        raise
    finally:
        world.active = before


def watch_parts(job, code_of):
    """The scaffold's init function and the listeners of the hooks."""
    scaffold, inner = job.model.scaffold, job.model.scaffold._init_fn
    if inner is not None and not hasattr(inner, "watched"):

        def init_fn(session):
            w, whose = world.active, getattr(session, "number", 0)
            try:
                done = inner(session)
            except Exception as error:
                w and w.log("init_fn failed %s" % code_of(error), session=whose)
                raise
            w and w.log("init_fn session=%d" % whose)
            return done

        init_fn.watched = inner
        scaffold._init_fn = init_fn
    for hook in job.model.hooks:
        for index, listener in enumerate(getattr(hook, "_listeners", None) or []):
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

    if function_utils.fn_args(step_fn) not in (("step_context",), ("self", "step_context")):
        return step_fn

    def told(step_context):
        asked = []
        stop, run = step_context.request_stop, step_context.run_with_hooks

        def request_stop():
            asked.append(True)
            stop()

        def run_with_hooks(*args, **kwargs):
            world.active.note("inner_run_start")
            with watch.told("inner_run_end"):
                return run(*args, **kwargs)

        step_context.request_stop, step_context.run_with_hooks = request_stop, run_with_hooks
        watch.step_fn_is_called(step_context.session)
        with watch.told("step_fn_return", value=lambda: len(asked)):
            return step_fn(step_context)

    def named(step_context):
        return told(step_context)

    return named


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
    """A summary writer; what it is asked for is told."""

    def __init__(self, writer):
        from .recorded import Writer

        self._writer = writer
        self._told = Writer(None)

    def __getattr__(self, name):
        done, told = getattr(self._writer, name), getattr(self._told, name, None)
        if told is None:
            return done

        def call(*args, **kwargs):
            if world.active is not None:
                told(*args, **kwargs)
            return done(*args, **kwargs)

        return call


def run_program(arguments):
    """As the interpreter would. Returns the exit code."""
    try:
        if arguments.module:
            sys.argv = [arguments.module, *arguments.rest]
            runpy.run_module(arguments.module, run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments.rest
            sys.path[0] = os.path.dirname(os.path.abspath(arguments.rest[0]))
            runpy.run_path(arguments.rest[0], run_name="__main__")
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
        prog="python -m vigil_player.observe", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", default="observed.jsonl", metavar="FILE", help="default: observed.jsonl")
    parser.add_argument("-m", dest="module", default="", metavar="MODULE", help="a module in place of a program")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENTS")
    arguments = parser.parse_args()
    if not arguments.module and not arguments.rest:
        parser.error("which program? python -m vigil_player.observe PROGRAM.py ARGUMENTS")
    if not arguments.module and not os.path.exists(arguments.rest[0]):
        parser.error(f"there is no program {arguments.rest[0]}")
    try:
        output = Output(arguments.to)
    except OSError as error:
        parser.error(f"--to: {error}")
    world.observes = True
    install(output)
    try:
        return run_program(arguments)
    finally:
        output.end()


if __name__ == "__main__":
    sys.exit(main())
