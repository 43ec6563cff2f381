"""Sessions, writers, graphs and coordinators that tell the world of the moment what happens to them; what they do is
TensorFlow's.

Installed by the import. Who plays scenarios (seams.py) and who watches a program (observe.py) have this in common.
"""

import contextlib
import sys
import types

import numpy as np

from . import world
from .errors import code_of, noted
from .tensorflow_v1 import (
    coordinator,
    event_pb2,
    monitored_session,
    ops,
    session_manager,
    session_module,
    summary_pb2,
)


class RecordedSession(session_module.Session):
    """A raw session that logs its calls and meets the faults of the scenario."""

    owner = None  # who is told of its calls while it is in its caller's hands; else whoever's turn it is

    def __init__(self, *args, **kwargs):
        w = world.active
        # Of a hook that trains or evaluates by itself, or of a thread that nobody listens to.
        if w is None or w.evidence is not None or w.speaker() is None:
            super().__init__(*args, **kwargs)
            self.number, self.is_closed, self.quiet = 0, False, True
            return
        error, _ = w.meet("create")
        try:
            if error is not None:
                raise error
            super().__init__(*args, **kwargs)
        except Exception as failed:
            w.log("session create failed %s" % code_of(failed))
            raise
        w.sessions += 1
        self.number = w.sessions
        self.is_closed = False
        self.quiet = False  # the player's own run
        w.model.session = self
        w.log(f"session {self.number} created")

    def is_callers(self):
        """Whether it is used by its caller, not by what has made it."""
        return self.owner is not None and world.active is not self.owner

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        w = self.owner or world.active
        if self.quiet or w is None or w.speaker() is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        kind = "raw_run" if self.is_callers() else w.model.kind_of(fetches)
        evidence = w.evidence
        if evidence is not None:
            evidence.runs(self, fetches)
        error, applied = w.meet(kind)
        out = None
        try:
            if error is None or applied:
                try:
                    out = super().run(fetches, feed_dict, w.options(options), run_metadata)
                except Exception as own:  # an error of the call itself wins
                    error = own
            if kind == "run":
                w.run_takes_time()
            if error is not None:
                if evidence is not None:
                    evidence.own_failures.add(code_of(error))
                says_no = kind in ("ready", "ready_for_local_init") and "uninitialized" in str(error)
                w.log(f"session {self.number} {kind} failed {noted(w, error)}", **({"value": 0} if says_no else {}))
                raise error
        finally:
            error = None  # else it holds this call, and the call holds it: the session would live on
        w.log(f"session {self.number} {kind}{answer_text(kind, out)}")
        return out

    def make_callable(self, fetches, *args, **kwargs):
        """Only queue runners make callables: what they enqueue can fail, too."""
        inner = super().make_callable(fetches, *args, **kwargs)

        def call(*values):
            w = world.active  # it may be another one soon: this is a thread of its own
            error, applied = w.meet("enqueue") if w else (None, False)
            if error is not None and not applied:
                raise error
            out = inner(*values)
            if error is not None:
                raise error
            return out

        return call

    def close(self):
        w = self.owner or world.active
        if w is None or self.is_closed or self.number == 0:
            return super().close()
        with asked(w, "close", "closed") if self.is_callers() else contextlib.nullcontext():
            self.recorded_close(w)

    def recorded_close(self, w):
        if w.evidence is not None:
            w.evidence.closes(self)
        error, _ = w.meet("close")
        try:
            try:
                super().close()
            except Exception as own:
                error = error or own
            self.is_closed = True
            if error is not None:
                w.log(f"session {self.number} close failed {code_of(error)}")
                raise error
        finally:
            error = None  # as above
        w.log(f"session {self.number} close")

    def __del__(self):
        self.is_closed = True
        try:
            super().__del__()
        except Exception:
            pass


@contextlib.contextmanager
def in_its_callers_hands(session):
    """Meanwhile what is run on a session that is being made is its caller's business, as in an init function."""
    session.owner, world.active = world.active, None
    try:
        yield
    finally:
        session.owner, world.active = None, session.owner


@contextlib.contextmanager
def asked(w, what, done):
    """What the caller of a session or a supervisor asks for, and that it has come to an end."""
    w.log("driver " + what)
    yield
    w.log("driver " + done)


def hand_out(w, session):
    """A supervisor gives a session to its caller."""
    w.log("driver session=" + session_text(session))


def services_text(threads):
    """How many services were started."""
    return "services %s" % ("none" if threads is None else len(threads))


def scaffold_of(supervisor):
    """What a supervisor's session manager runs, by the names that scaffolds have for it."""
    manager = supervisor.session_manager
    return types.SimpleNamespace(
        init_op=supervisor.init_op, local_init_op=manager._local_init_op, ready_op=manager._ready_op,
        ready_for_local_init_op=manager._ready_for_local_init_op, saver=supervisor.saver)


def kind_of_call(fetches, model):
    """What a run on a raw session is for. The model has a scaffold (or None), and says which savers hooks have besides,
    what reads the global step, and what hooks fetch at the end; any of these may be None."""
    if isinstance(fetches, dict) and "caller" in fetches:
        return "run"
    scaffold = model.scaffold
    for kind in ("init", "local_init", "ready", "ready_for_local_init"):
        if scaffold is not None and fetches is not None and fetches is getattr(scaffold, kind + "_op"):
            return kind
    if fetches is None or isinstance(fetches, (dict, list, tuple)):
        return "raw_run"
    if isinstance(fetches, str):
        own = scaffold.saver if scaffold is not None else None
        if own is not None and own.saver_def is not None and fetches == own.saver_def.restore_op_name:
            return "restore"
        built = [saver.saver_def for saver in (own, *model.savers()) if saver is not None]
        return "save" if any(each is not None and fetches == each.save_tensor_name for each in built) else "raw_run"
    if any(fetches is each for each in model.steps()):
        return "read_step"
    return "final_ops" if any(fetches is each for each in model.finals()) else "raw_run"


def answer_text(kind, out):
    if kind == "read_step":
        return " -> %d" % out
    if kind in ("ready", "ready_for_local_init"):
        return " -> %s" % ("yes" if np.size(out) == 0 else "no")
    return ""


def session_text(session):
    if session is None:
        return "none"
    return "%d%s" % (session.number, "(closed)" if session.is_closed else "")


class Writer:
    """A summary writer that writes no files, and tells of each call."""

    def __init__(self, logdir):
        self.logdir = logdir
        self.run_tags = set()

    def get_logdir(self):
        return self.logdir

    def add_summary(self, summary, global_step=None):
        if isinstance(summary, bytes):
            summary = summary_pb2.Summary.FromString(summary)
        values = " ".join("%s=%.6g" % (v.tag, v.simple_value) for v in summary.value)
        world.active.log(f"writer summary step={global_step} {values}")

    def add_session_log(self, log, global_step=None):
        status = event_pb2.SessionLog.SessionStatus.Name(log.status)
        world.active.log(f"writer session_log {status} step={global_step}")

    def add_run_metadata(self, _metadata, tag, global_step=None):
        world.active.log(f"writer run_metadata {tag} step={global_step}")
        if tag in self.run_tags:  # as TensorFlow's FileWriter
            raise ValueError("The provided tag was already used for this event type")
        self.run_tags.add(tag)

    def add_graph(self, *_args, **_kwargs):
        world.active.log("writer graph")

    def add_meta_graph(self, *_args, **_kwargs):
        world.active.log("writer meta_graph")

    def flush(self):
        world.active.log("writer flush")

    def close(self):
        world.active.log("writer close")

    def reopen(self):
        world.active.log("writer reopen")


def told_writer_call(call, name):
    """The method of a summary writer that is called so; what this thread asks for is told."""
    call, told = getattr(call, "watched", call), getattr(Writer(None), name, None)
    if told is None:
        return call

    def told_call(*args, **kwargs):
        w = world.active
        if w is not None and w.speaker() == "":
            with contextlib.suppress(Exception):  # what the writer makes of nonsense is its business
                told(*args, **kwargs)
        return call(*args, **kwargs)

    told_call.watched = call
    return told_call


def told_init_fn(inner):
    """A function that makes a model ready; None stays None."""
    if inner is None or hasattr(inner, "watched"):
        return inner

    def init_fn(session):
        w, whose = world.active, getattr(session, "number", 0)
        if w is None:
            return inner(session)
        try:
            with in_its_callers_hands(session):
                done = inner(session)
        except Exception as error:
            w.log("init_fn failed %s" % code_of(error), session=whose)
            raise
        w.log("init_fn session=%d" % whose)
        return done

    init_fn.watched = inner
    return init_fn


def watch_queue_runners(start):
    """`start`, which starts them: what comes of it is told."""

    def start_queue_runners(*args, **kwargs):
        w = world.active
        if w is None or w.evidence is not None:
            return start(*args, **kwargs)
        whose = {"session": w.sessions}
        error, _ = w.meet("queue_runners")
        try:
            if error is not None:
                raise error
            started = start(*args, **kwargs)
        except Exception as failed:
            w.log("queue_runners failed %s" % code_of(failed), **whose)
            raise
        w.log("queue_runners started", **whose)
        return started

    return start_queue_runners


def put_under_sessions():
    """What TensorFlow's session classes make and start is recorded from now on."""
    session_manager.session = types.SimpleNamespace(
        Session=RecordedSession, SessionInterface=session_module.SessionInterface)
    monitored_session.queue_runner = types.SimpleNamespace(
        start_queue_runners=watch_queue_runners(monitored_session.queue_runner.start_queue_runners))


def _patch_graph():
    finalize, unfinalize = ops.Graph.finalize, ops.Graph._unsafe_unfinalize

    def is_recorded(graph):
        w = world.active
        return w and w.model and graph is w.model.graph

    def recorded_finalize(self):
        if is_recorded(self) and not self.finalized:
            world.active.log("graph finalized")
        finalize(self)

    def recorded_unfinalize(self):
        if is_recorded(self) and self.finalized:
            world.active.log("graph unfinalized")
        unfinalize(self)

    ops.Graph.finalize, ops.Graph._unsafe_unfinalize = recorded_finalize, recorded_unfinalize


def code_kept(exc_info):
    """Of what a coordinator keeps: where that is no error (told outside of an except block), raising it is one."""
    return code_of(exc_info[1]) if isinstance(exc_info[1], BaseException) else "USAGE"


def code_reported(coord, ex):
    """Of what a coordinator is told: as TensorFlow takes it, which keeps the error that is being handled."""
    error = (ex[1] if len(ex) > 1 else None) if isinstance(ex, tuple) else ex
    if isinstance(error, coord._clean_stop_exception_types):
        return code_of(error)
    if not ex:
        return None
    return code_kept(ex if isinstance(ex, tuple) and len(ex) > 1 else sys.exc_info())


def _patch_coordinator():
    kind = coordinator.Coordinator
    init, clear_stop = kind.__init__, kind.clear_stop
    request_stop, join = kind.request_stop, kind.join

    def is_played(self):
        return getattr(self, "world", None) is not None and self.world.is_open

    def detail(self, call, **fields):
        if is_played(self):
            fields = {"call": call, "session": self.session or None, **fields}
            tell = self.world.note if self.world.speaker() == "" else self.world.note_elsewhere
            tell("coordinator_detail", **fields)

    def recorded_init(self, *args, **kwargs):
        w = world.active
        self.world = w if w is not None and w.evidence is None and w.speaker() is not None else None
        self.session = w.sessions if w is not None else 0
        init(self, *args, **kwargs)

    def recorded_request_stop(self, ex=None):
        # Told together with what it does: whoever asks for a stop, each looks at it before or after.
        with self.world.in_order() if is_played(self) else contextlib.nullcontext():
            if is_played(self):
                code = code_reported(self, ex)
                if self.world.speaker() is None:
                    self.world.note_elsewhere("coordinator_request_stop", code=code, session=self.session)
                else:
                    self.world.log("coordinator request_stop" + ("" if code is None else " " + code),
                                   **({"session": self.session} if self.session else {}))
            empty = self._exc_info_to_raise is None
            try:
                request_stop(self, ex)
            finally:
                if empty and self._exc_info_to_raise is not None:
                    detail(self, "keeps", code=code_kept(self._exc_info_to_raise))
        w = world.active
        if w and w.turns:
            w.turns.wake_all(w.turns.stop_waiters)

    def recorded_clear_stop(self):
        clear_stop(self)
        detail(self, "forgets")
        if is_played(self):
            self.world.stop_is_forgotten()

    def recorded_join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        if is_played(self):
            self.world.log("coordinator join", **({"session": self.session} if self.session else {}))
        detail(self, "joins", value=stop_grace_period_secs)
        joined = set(self._registered_threads) | set(threads or [])
        code = None
        if is_played(self):
            self.world.joining = joined
        try:
            return join(self, threads, stop_grace_period_secs, ignore_live_threads)
        finally:
            if self._exc_info_to_raise is not None:
                code = code_kept(self._exc_info_to_raise)
            if is_played(self):
                self.world.joining = ()
            detail(self, "has joined", code=code, index=sum(thread.is_alive() for thread in joined))

    kind.__init__, kind.clear_stop = recorded_init, recorded_clear_stop
    kind.request_stop, kind.join = recorded_request_stop, recorded_join


_patch_graph()
_patch_coordinator()
