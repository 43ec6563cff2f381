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
from .errors import code_of
from .recorded import Writer, put_under_sessions, session_text
from .tensorflow_v1 import (
    basic_session_run_hooks,
    checkpoint_management,
    config_pb2,
    coordinator,
    saver,
    session_manager,
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
    """The coordinator's: waiting for threads takes no virtual time, unless one of them is really stuck. Those that are
    not end, however busy the machine is: their grace is no shorter than LEAST_GRACE seconds a look, real ones. A hook's
    thread that ends by the end of its session only (it waits in a run) is given up before, as TensorFlow does when the
    grace is over; the virtual clock moves by that."""

    LEAST_GRACE = 1

    def sleep(self, secs):
        w = world.active
        if w and w.turns and w.turns.others:
            w.turns.join(secs)
        elif w and any(t.is_alive() for t in w.deaf):
            w.pass_time(secs)
            # With the grace of the last of them that of all others may be over: in virtual time they have long ended.
            if w.joining and not w.patience and not any(t.is_alive() for t in w.deaf):
                self.join(w.joining, secs)
        elif w and w.joining and w.patience:
            w.deaf += w.patience.left_of([thread for thread in w.joining if thread.is_alive()])
        elif w and w.joining:
            self.join(w.joining, secs)
        else:
            time.sleep(secs)

    def join(self, threads, secs):
        until = time.monotonic() + max(secs, self.LEAST_GRACE)
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0, until - time.monotonic()))


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


def _patch_writers():
    basic_session_run_hooks.SummaryWriterCache = WriterCache
    supervisor._summary = types.SimpleNamespace(FileWriter=Writer, merge_all=tf.summary.merge_all)


def _patch_waits():
    """Waiting for a stop takes virtual time."""
    kind = coordinator.Coordinator
    wait_for_stop = kind.wait_for_stop

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

    kind.wait_for_stop = virtual_wait_for_stop


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


world.World.options = staticmethod(without_services)
_patch_clock()
put_under_sessions()
_patch_writers()
_patch_waits()
_patch_loopers()
_patch_log()
