"""Supervisors of somebody's own program, watched: each session that one hands out is a job, from the moment it is
prepared, with all that its caller asks of the supervisor until the next one.

What the services, loopers and queue runners do in their threads is not told, but for what they report to the
coordinator. Installed by observe.py.
"""

import contextlib
import functools
import threading

from . import world
from .errors import code_of
from .recorded import (
    asked,
    hand_out,
    services_text,
    told_init_fn,
    told_writer_call,
    watch_queue_runners,
)
from .tensorflow_v1 import supervisor
from .text import yes_no

WRITER_METHODS = ("add_summary", "add_session_log", "add_graph", "add_meta_graph", "flush", "close", "reopen")


def watch_supervisors(output):
    kind = supervisor.Supervisor
    kind.managed_session = with_scope(output, kind.managed_session)
    kind.prepare_or_wait_for_session = with_job(output, kind.prepare_or_wait_for_session)
    kind.start_queue_runners = watch_queue_runners(kind.start_queue_runners)
    for method, tell in (("should_stop", tell_should_stop), ("stop", tell_stop),
                         ("start_standard_services", tell_services), ("start_queue_runners", tell_nothing)):
        setattr(kind, method, told_method(output, getattr(kind, method), tell))


def begin_job(output, made, master, by_hand):
    """The supervisor's further session. What it tells from now on belongs to that."""
    job = output.new_supervised(made, master, by_hand)
    before = job_of(made)
    if job is None and before is not None:
        before.cut_off()
    made._vigil_job = job
    if job is None:
        return
    made.coord.world, made.coord.session = job, 0
    made._init_fn = told_init_fn(made._init_fn)
    writer = made.summary_writer
    for method in WRITER_METHODS:
        if hasattr(writer, method):
            setattr(writer, method, told_writer_call(getattr(writer, method), method))
    if made._graph.finalized:
        job.log("graph finalized")


def job_of(made):
    return getattr(made, "_vigil_job", None)


def master_of(args, kwargs):
    return args[0] if args else kwargs.get("master", "")


def with_scope(output, managed_session):
    @functools.wraps(managed_session)
    def observed(self, *args, **kwargs):
        return Scope(output, self, master_of(args, kwargs), managed_session(self, *args, **kwargs))

    return observed


class Scope(contextlib.ContextDecorator):
    """Of a managed session: `inner` is TensorFlow's."""

    def __init__(self, output, made, master, inner):
        self.output = output
        self.made = made
        self.master = master
        self.inner = inner
        self.job = None

    def __enter__(self):
        begin_job(self.output, self.made, self.master, by_hand=False)
        self.job = job_of(self.made)
        self.made._vigil_enters = True
        try:
            if self.job is None:
                return self.inner.__enter__()
            with self.output.turn_of(self.job):
                return self.inner.__enter__()
        except Exception as error:
            if self.job is not None:
                self.job.log("driver exit failed " + code_of(error))
            raise
        finally:
            self.made._vigil_enters = False

    def __exit__(self, kind, error, trace):
        if self.job is None:
            return self.inner.__exit__(kind, error, trace)
        elsewhere = threading.current_thread() is not self.output.driver
        if elsewhere or not isinstance(error, (Exception, type(None))):
            self.job.cut_off()
        with contextlib.nullcontext() if elsewhere else self.output.turn_of(self.job):
            try:
                suppressed = self.inner.__exit__(kind, error, trace)
            except Exception as failed:
                self.job.log("driver exit failed " + code_of(failed))
                raise
        passes = error is not None and not suppressed
        self.job.log("driver exit failed " + code_of(error) if passes else "driver exit clean")
        return suppressed


def with_job(output, prepare):
    @functools.wraps(prepare)
    def observed(self, *args, **kwargs):
        by_hand = not getattr(self, "_vigil_enters", False)
        if by_hand:
            begin_job(output, self, master_of(args, kwargs), by_hand)
        job = job_of(self)
        if job is None:
            return prepare(self, *args, **kwargs)
        with output.turn_of(job):
            if by_hand:
                job.log("driver prepare")
            session = prepare(self, *args, **kwargs)
            hand_out(job, session)
            session.owner = job
            return session

    return observed


def told_method(output, method, tell):
    """`tell(job, by_caller, call)` makes the call. Not by the caller: by another method of the supervisor."""

    @functools.wraps(method)
    def observed(self, *args, **kwargs):
        job = job_of(self)
        if job is None or threading.current_thread() is not output.driver:
            return method(self, *args, **kwargs)
        by_caller = world.active is not job
        with output.turn_of(job):
            return tell(job, by_caller, lambda: method(self, *args, **kwargs))

    return observed


def tell_nothing(_job, _by_caller, call):
    return call()


def tell_should_stop(job, by_caller, call):
    with job.in_order():
        stop = call()
        if by_caller:
            job.log("driver should_stop -> " + yes_no(stop))
        return stop


def tell_stop(job, by_caller, call):
    with asked(job, "stop", "stopped") if by_caller else contextlib.nullcontext():
        return call()


def tell_services(job, by_caller, call):
    threads = call()
    if by_caller:
        job.log("driver " + services_text(threads))
    return threads
