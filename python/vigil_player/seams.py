"""What the player puts under TensorFlow's session classes: a clock, writers, sessions, a log.

Installed by the import.

Everything above (hooks, recovery, managers, supervisors, savers) is TensorFlow's own code.
"""

import logging
import re
import threading
import time
import types

from . import world
from .errors import code_of, noted
from .tensorflow_v1 import (
    basic_session_run_hooks,
    checkpoint_management,
    config_pb2,
    coordinator,
    event_pb2,
    monitored_session,
    ops,
    saver,
    session_manager,
    session_module,
    summary_pb2,
    supervisor,
    tf,
)


class VirtualTime(types.ModuleType):
    """Stands for the module `time`. Somebody who sleeps moves the clock, then meets the environment."""

    def __init__(self):
        super().__init__("time")

    def time(self):
        return world.active.now if world.active else 0.0

    monotonic = perf_counter = time

    def sleep(self, secs):
        w = world.active
        w.log("sleep %g" % secs)
        w.pass_time(secs)
        w.meet("sleep")


class JoiningTime(VirtualTime):
    """The coordinator's: waiting for threads takes no virtual time, unless one of them is really stuck."""

    def sleep(self, secs):
        w = world.active
        if w and w.turns and w.turns.others:
            w.turns.join(secs)
        elif w and any(t.is_alive() for t in w.deaf):
            w.pass_time(secs)
        else:
            time.sleep(secs)


class Writer:
    """A summary writer that writes events of the recording instead of files."""

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


class WriterCache:
    @staticmethod
    def get(logdir):
        return world.active.writers.setdefault(logdir, Writer(logdir))

    @staticmethod
    def clear():
        world.active.writers.clear()


def without_services(options):
    """What a run really gets: no debugger and no thread pool is there to be used."""
    if options is None:
        return None
    kept = config_pb2.RunOptions()
    kept.CopyFrom(options)
    kept.ClearField("debug_options")
    kept.ClearField("inter_op_thread_pool")
    return kept


class RecordedSession(session_module.Session):
    """A raw session that logs its calls and meets the faults of the scenario."""

    def __init__(self, *args, **kwargs):
        w = world.active
        if w.evidence is not None:  # the session of a hook that trains or evaluates by itself
            super().__init__(*args, **kwargs)
            self.number, self.is_closed, self.quiet = 0, False, True
            return
        error, _ = w.meet("create")
        if error is not None:
            w.log("session create failed %s" % code_of(error))
            raise error
        super().__init__(*args, **kwargs)
        w.sessions += 1
        self.number = w.sessions
        self.is_closed = False
        self.quiet = False  # the player's own run
        w.model.session = self
        w.log(f"session {self.number} created")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        w = world.active
        if self.quiet or w.speaker() is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        kind = w.model.kind_of(fetches)
        evidence = w.evidence
        if evidence is not None:
            evidence.runs(self, fetches)
        error, applied = w.meet(kind)
        out = None
        if error is None or applied:
            try:
                out = super().run(fetches, feed_dict, without_services(options), run_metadata)
            except Exception as own:  # an error of the call itself wins
                error = own
        if kind == "run":
            w.run_takes_time()
        if error is not None and evidence is not None:
            evidence.own_call = code_of(error)
        if error is not None:
            says_no = kind in ("ready", "ready_for_local_init") and "uninitialized" in str(error)
            w.log(f"session {self.number} {kind} failed {noted(w, error)}", **({"value": 0} if says_no else {}))
            raise error
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
        if error is None:
            super().close()
        else:
            w.log(f"session {self.number} close failed {code_of(error)}")
            super().close()
        self.is_closed = True
        if error is not None:
            raise error
        w.log(f"session {self.number} close")

    def __del__(self):
        self.is_closed = True
        try:
            super().__del__()
        except Exception:
            pass


def answer_text(kind, out):
    if kind == "read_step":
        return " -> %d" % out
    if kind in ("ready", "ready_for_local_init"):
        return " -> %s" % ("yes" if len(out) == 0 else "no")
    return ""


def session_text(session):
    if session is None:
        return "none"
    return "%d%s" % (session.number, "(closed)" if session.is_closed else "")


def run_init_fn(session):
    """The scenario's init function: only logs."""
    error, _ = world.active.meet("init_fn")
    if error is not None:
        world.active.log("init_fn failed %s" % code_of(error), session=session.number)
        raise error
    world.active.log("init_fn session=%s" % session_text(session))


class LogCapture(logging.Handler):
    """The lines of TensorFlow's log that are part of a recording."""

    WANTED = re.compile(
        r"^(step|fed|loss|global_step/sec)( =|:)|^Recording summary|^Saving checkpoint to path|^Standard services need"
        r"|^It seems that global step|^Model diverged|^Input queue|^An OutOfRange")

    def emit(self, record):
        if world.active is None:
            return
        text = world.without_directory(record.getMessage())
        if self.WANTED.search(text):
            world.active.log("log %s %s" % (record.levelname, text.split(" " * 4)[0].split(". ")[0][:120]))


def _patch_clock():
    virtual = VirtualTime()
    for module in (basic_session_run_hooks, checkpoint_management, session_manager, saver, supervisor):
        module.time = virtual
    coordinator.time = JoiningTime()
    real_times = checkpoint_management.get_checkpoint_mtimes

    def times(prefixes):
        """Files carry virtual time: the moment they are listed."""
        w = world.active
        if w is None or w.files_carry_time:
            return real_times(prefixes)
        return [w.now for prefix in prefixes if real_times([prefix])]

    saver.checkpoint_management.get_checkpoint_mtimes = times


def _patch_sessions():
    session_manager.session = types.SimpleNamespace(
        Session=RecordedSession, SessionInterface=session_module.SessionInterface)
    start = monitored_session.queue_runner.start_queue_runners

    def start_queue_runners(*args, **kwargs):
        if world.active.evidence is not None:
            return start(*args, **kwargs)
        whose = {"session": world.active.sessions}
        error, _ = world.active.meet("queue_runners")
        if error is not None:
            world.active.log("queue_runners failed %s" % code_of(error), **whose)
            raise error
        started = start(*args, **kwargs)
        world.active.log("queue_runners started", **whose)
        return started

    monitored_session.queue_runner = types.SimpleNamespace(start_queue_runners=start_queue_runners)


def _patch_writers():
    basic_session_run_hooks.SummaryWriterCache = WriterCache
    supervisor._summary = types.SimpleNamespace(FileWriter=Writer, merge_all=tf.summary.merge_all)


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
    request_stop, join, wait_for_stop = kind.request_stop, kind.join, kind.wait_for_stop

    def is_played(self):
        """Threads may outlive their play: nobody hears of their coordinators any more."""
        return world.active is not None and getattr(self, "world", None) is world.active

    def detail(self, call, **fields):
        if is_played(self):
            fields = {"call": call, "session": self.session or None, **fields}
            tell = world.active.note if world.active.speaker() == "" else world.active.note_elsewhere
            tell("coordinator_detail", **fields)

    def recorded_init(self, *args, **kwargs):
        self.world = world.active if world.active and world.active.evidence is None else None
        self.session = world.active.sessions if world.active else 0
        init(self, *args, **kwargs)

    def recorded_request_stop(self, ex=None):
        if is_played(self):
            code = None if ex is None else code_of(ex if isinstance(ex, BaseException) else ex[1])
            if world.active.speaker() is None:
                world.active.note_elsewhere("coordinator_request_stop", code=code, session=self.session)
            else:
                world.active.log("coordinator request_stop" + ("" if code is None else " " + code),
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
            world.active.log("coordinator join", **({"session": self.session} if self.session else {}))
        detail(self, "joins", value=stop_grace_period_secs)
        joined = set(self._registered_threads) | set(threads or [])
        code = None
        try:
            return join(self, threads, stop_grace_period_secs, ignore_live_threads)
        finally:
            if self._exc_info_to_raise is not None:
                code = code_of(self._exc_info_to_raise[1])
            detail(self, "has joined", code=code, index=sum(thread.is_alive() for thread in joined))

    def virtual_wait_for_stop(self, timeout=None):
        turns = getattr(threading.current_thread(), "turns", None)
        if turns is not None and turns.over:  # the scenario has ended before this thread
            return True
        w = world.active
        if w and w.turns:
            return w.turns.wait_for_stop(self, timeout)
        if w and w.wait_for_stop:
            return w.wait_for_stop(self, timeout)
        return wait_for_stop(self, timeout)

    kind.__init__, kind.clear_stop = recorded_init, recorded_clear_stop
    kind.request_stop, kind.join, kind.wait_for_stop = recorded_request_stop, recorded_join, virtual_wait_for_stop


def _patch_loopers():
    """Threads of a supervisor's services and loops take turns."""
    kind = coordinator.LooperThread
    start, run, is_alive = kind.start, kind.run, kind.is_alive
    names = {"SVSummaryThread": "summary", "SVStepCounterThread": "step_counter",
             "SVTimerCheckpointThread": "checkpoint"}

    def recorded_start(self):
        turns = world.active.turns if world.active else None
        self.turn = turns.spawn(names.get(type(self).__name__, "loop"), self) if turns else None
        self.turns = turns
        if self.turn:
            self.name = self.turn.name  # stragglers are told by name
        start(self)

    def recorded_run(self):
        if getattr(self, "turn", None) is None:
            return run(self)
        try:
            if self.turns.enter(self.turn):
                run(self)
        except BaseException:  # handed back by a coordinator that was joined: nobody is left to be told
            pass
        finally:
            self.turns.leave(self.turn)

    def recorded_is_alive(self):
        if getattr(self, "turn", None) is None:
            return is_alive(self)
        return self.turn in self.turns.others

    kind.start, kind.run, kind.is_alive = recorded_start, recorded_run, recorded_is_alive


def _patch_log():
    log = tf.get_logger()
    log.handlers[:] = [LogCapture()]
    log.setLevel(logging.INFO)
    log.propagate = False


_patch_clock()
_patch_sessions()
_patch_writers()
_patch_graph()
_patch_coordinator()
_patch_loopers()
_patch_log()
