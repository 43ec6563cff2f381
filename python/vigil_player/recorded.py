"""Sessions, writers, graphs and coordinators that tell the world of the moment what happens to them; what they do is
TensorFlow's.

Installed by the import. Who plays scenarios (seams.py) and who watches a program (observe.py) have this in common.
"""

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

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        w = world.active
        if self.quiet or w is None or w.speaker() is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        kind = w.model.kind_of(fetches)
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
                    evidence.own_call = code_of(error)
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
            error, applied = world.active.meet("enqueue") if world.active else (None, False)
            if error is not None and not applied:
                raise error
            out = inner(*values)
            if error is not None:
                raise error
            return out

        return call

    def close(self):
        w = world.active
        if w is None or self.is_closed or self.number == 0:
            return super().close()
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


def kind_of_call(fetches, model):
    """What a run on a raw session is for. The model has a scaffold (or None), and says which savers hooks have besides,
    what reads the global step, and what hooks fetch at the end; any of these may be None."""
    if isinstance(fetches, dict) and "caller" in fetches:
        return "run"
    if fetches is None or isinstance(fetches, (dict, list, tuple)):
        return "raw_run"
    scaffold = model.scaffold
    for kind in ("init", "local_init", "ready", "ready_for_local_init"):
        if scaffold is not None and fetches is getattr(scaffold, kind + "_op"):
            return kind
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
        return world.active and world.active.model and graph is world.active.model.graph

    def recorded_finalize(self):
        if is_recorded(self) and not self.finalized:
            world.active.log("graph finalized")
        finalize(self)

    def recorded_unfinalize(self):
        if is_recorded(self) and self.finalized:
            world.active.log("graph unfinalized")
        unfinalize(self)

    ops.Graph.finalize, ops.Graph._unsafe_unfinalize = recorded_finalize, recorded_unfinalize


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
        if is_played(self):
            code = None if ex is None else code_of(ex if isinstance(ex, BaseException) else ex[1])
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
                detail(self, "keeps", code=code_of(self._exc_info_to_raise[1]))
        if world.active and world.active.turns:
            world.active.turns.wake_all(world.active.turns.stop_waiters)

    def recorded_clear_stop(self):
        clear_stop(self)
        detail(self, "forgets")

    def recorded_join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        if is_played(self):
            self.world.log("coordinator join", **({"session": self.session} if self.session else {}))
        detail(self, "joins", value=stop_grace_period_secs)
        joined = set(self._registered_threads) | set(threads or [])
        code = None
        try:
            return join(self, threads, stop_grace_period_secs, ignore_live_threads)
        finally:
            if self._exc_info_to_raise is not None:
                code = code_of(self._exc_info_to_raise[1])
            detail(self, "has joined", code=code, index=sum(thread.is_alive() for thread in joined))

    kind.__init__, kind.clear_stop = recorded_init, recorded_clear_stop
    kind.request_stop, kind.join = recorded_request_stop, recorded_join


_patch_graph()
_patch_coordinator()
