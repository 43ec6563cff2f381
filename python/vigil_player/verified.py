"""A hook under verification: what it decides, and what it had no right to. The judge is `vigil verify`, which knows
what to compare with what; the words are those that it has for hooks in C++.
"""

import contextlib
import sys
import threading
import time

from . import gfile, machine, world  # noqa: F401  (gfile: installed by the import)
from .errors import code_of
from .tensorflow_v1 import tf, writer_cache
from .virtual_time import virtual_time

LONGEST_CALL = 60  # seconds, virtual
LEAVES = ("request_stop", "run_train_op", "feed", "wait", "fail", "need_session", "use_outside")
LONG, SHORT, SHORT_OF_JOIN = 10, 0.05, 1  # seconds, real: see Patience


class HookParts:
    """What the maker of a hook gets: the model it is for."""

    def __init__(self, model, directory):
        self.graph = model.graph
        self.loss = model.loss  # falls from 1 to 0.25, which it reaches at step 4, and stays there
        self.global_step = model.global_step
        self.train_op = model.train
        self.feedable = model.feed_me
        self.scaffold = model.scaffold
        self.directory = directory


class Patience:
    """With the threads of a hook. One that ends is waited for until it has ended, however busy the machine is: no
    thread that ends meets the bound. A hook that has met it leaves threads behind, and is not waited for as long in
    further plays."""

    def __init__(self, seconds=LONG, then=SHORT):
        self.seconds = seconds
        self.then = then

    def left_of(self, threads):
        """Those that do not end."""
        until = time.monotonic() + self.seconds
        for thread in threads:
            thread.join(max(0, until - time.monotonic()))
        left = [thread for thread in threads if thread.is_alive()]
        if left:
            self.seconds = self.then
        return left


class Evidence:
    """Of one play."""

    def __init__(self, leave=(), patience=None, may_write=()):
        self.leave = frozenset(leave)
        self.may_write = [machine.folder_path(folder) for folder in may_write]
        self.machine = machine.Watch(lambda: (self.inside, self.last_step))
        self.patience = patience or Patience()
        self.decisions = []
        self.offences = {}
        self.life = 0
        self.last_step = 0
        self.inside = ""  # the method that is being called
        self.ended = False
        self.session = 0  # the newest; 0: none, or it is gone
        self.stopped_last_run = False
        self.own_failures = set()  # the codes of the calls that the hook made on a session in this method
        self.error = ""
        self.threads = set()  # that it has started
        self.coordinators = []  # that it was given in this life

    def offend(self, promise, actual):
        self.offences.setdefault(promise, actual)

    def decide(self, what):
        decision = {"life": self.life, "step": self.last_step, "what": what}
        if decision not in self.decisions:
            self.decisions.append(decision)

    def where(self):
        return f"in {self.inside} after step {self.last_step}" if self.inside else f"after step {self.last_step}"

    def may(self, what):
        return what in self.leave

    def may_write_in(self, folder):
        """The session's own, where its checkpoints are."""
        self.may_write.append(machine.folder_path(folder))
        self.machine.free = tuple(self.may_write)

    def said(self):
        said = {"decisions": self.decisions, "stopped_last_run": self.stopped_last_run,
                "offences": [{"promise": promise, "actual": actual} for promise, actual in self.offences.items()]}
        if self.machine.seen:
            said.update(seen=self.machine.seen, may_use_outside=self.may("use_outside"), may_write=self.may_write)
        return {**said, "error": self.error} if self.error else said

    # What a session tells of calls that the hook makes on it.
    def uses(self, how, session):
        if self.ended:
            self.offend("hook.acts_after_end", f"{how} session {session.number} after End")
        elif session.number != self.session:
            place = f": session {self.session} has taken its place" if self.session else ""
            self.offend("hook.keeps_old_session",
                        f"{how} session {session.number} {self.where()}, which was given up{place}")

    def runs(self, session, fetches):
        self.uses("runs", session)
        if not self.may("run_train_op") and trains(fetches):
            self.offend("hook.runs_train_op", f"runs the train op {self.where()}")

    def closes(self, session):
        self.offend("hook.closes_session", f"closes session {session.number} {self.where()}")

    def end_of_life(self):
        """A session is gone."""
        self.session = 0
        # TensorFlow forgets the coordinator of a session of which another hook has failed the creation: it is never
        # asked to stop. That threads wait for it is no fault of the hook. (An event of the play it must not become.)
        for coordinator in self.coordinators:
            coordinator._stop_event.set()
        self.coordinators.clear()
        for thread in self.patience.left_of(sorted(self.threads, key=lambda thread: thread.name)):
            self.offend("hook.thread_outlives_session",
                        f"the task '{thread.name}' still runs after the session was closed")
        self.life += 1


def threads_of_writers():
    """Writers of TensorFlow's cache are everybody's, and so are their threads: they live as long as the process."""
    writers = [writer.event_writer for writer in writer_cache.FileWriterCache._cache.values()]
    return {getattr(writer, "_worker", None) for writer in writers}


def trains(fetches):
    """Whether the train op is a part of what is run."""
    graph, train = world.active.model.graph, world.active.model.train.op
    todo, seen = [], set()
    for fetch in tf.nest.flatten(fetches) if not isinstance(fetches, str) else [fetches]:
        try:
            element = graph.as_graph_element(fetch)
        except (TypeError, ValueError, KeyError):
            continue
        todo.append(getattr(element, "op", element))
    while todo:
        op = todo.pop()
        if op is train:
            return True
        if op not in seen:
            seen.add(op)
            todo += [*op.control_inputs, *(tensor.op for tensor in op.inputs)]
    return False


class Verified(tf.train.SessionRunHook):
    """The hook, and what it does."""

    def __init__(self, hook, evidence):
        self.hook = hook
        self.evidence = evidence
        self.contexts = []  # its own, each for a run: [context, over, stop seen]
        self.fetches_own = False

    @contextlib.contextmanager
    def call(self, method):
        e, w = self.evidence, world.active
        e.inside, start = method, w.now
        e.own_failures.clear()
        before = set(threading.enumerate())
        w.evidence = e
        try:
            with virtual_time(), machine.watched(e.machine):
                yield
        except Exception as error:
            code = code_of(error)
            e.decide(f"fails with {code} in {method}")
            if "finalized" in str(error) and code == "USAGE":
                e.offend("hook.changes_graph_late", f"adds nodes to the graph {e.where()}")
            elif code not in e.own_failures and not e.may("fail") and not (method == "end" and e.session == 0):
                first = str(error).split("\n")[0]
                e.offend("hook.fails_by_itself", f'fails {e.where()}: {code} "{first}"')
            raise
        finally:
            w.evidence = None
            e.threads |= set(threading.enumerate()) - before - threads_of_writers()
            self.note_contexts()
            if w.now - start >= LONGEST_CALL and not e.may("wait"):
                e.offend("hook.blocks", f"waits {w.now - start:.0f} s {e.where()}")
            if not isinstance(sys.exc_info()[1], world.Runaway):
                e.inside = ""

    def note_contexts(self):
        """A context that is asked for a stop after its run is one that the hook has kept."""
        for shadow in self.contexts:
            context, over, seen = shadow
            if over and not seen and context.stop_requested:
                shadow[2] = True
                self.evidence.offend("hook.keeps_run_context",
                                     f"asks the context of an earlier run for a stop {self.evidence.where()}")

    def note_stop(self, real):
        """What the hook asked its context, the real one is asked."""
        shadow = self.contexts[-1]
        if shadow[2] or not shadow[0].stop_requested:
            return
        e = self.evidence
        shadow[2] = e.stopped_last_run = True
        e.decide("asks for a stop")
        if not e.may("request_stop"):
            e.offend("hook.requests_stop", f"asks for a stop after step {e.last_step}")
        real.request_stop()

    def note_feeds(self, context, feeds):
        original = context.original_args.feed_dict or {}
        for tensor, value in (feeds or {}).items():
            try:
                self.evidence.decide(f"feeds {tensor.name} with {float(value):g}")
            except (TypeError, ValueError):
                self.evidence.decide(f"feeds {tensor.name}")
            if not self.evidence.may("feed") and any(tensor is known for known in original):
                self.evidence.offend("hook.feeds_collide",
                                     f"feeds {tensor.name}, which the caller feeds, {self.evidence.where()}")

    def begin(self):
        e = self.evidence
        e.ended, e.session, e.last_step = False, 0, 0
        with self.call("begin"):
            self.hook.begin()

    def after_create_session(self, session, coord):
        self.evidence.session = session.number
        self.evidence.coordinators.append(coord)
        with self.call("after_create_session"):
            self.hook.after_create_session(session, coord)

    def before_run(self, context):
        if self.contexts:
            self.contexts[-1][1] = True
        self.evidence.stopped_last_run = False
        own = tf.train.SessionRunContext(context.original_args, context.session)
        self.contexts.append([own, False, False])
        with self.call("before_run"):
            args = self.hook.before_run(own) or tf.train.SessionRunArgs(None)
        self.note_feeds(context, args.feed_dict)
        self.note_stop(context)
        self.fetches_own = args.fetches is not None
        fetches = [world.active.model.train] + ([args.fetches] if self.fetches_own else [])
        return tf.train.SessionRunArgs(fetches, args.feed_dict, args.options)

    def after_run(self, context, values):
        self.evidence.last_step = int(values.results[0])
        own = values._replace(results=values.results[1] if self.fetches_own else None)
        with self.call("after_run"):
            self.hook.after_run(self.contexts[-1][0], own)
        self.note_stop(context)
        self.contexts[-1][1] = True

    def end(self, session):
        e = self.evidence
        if session is None:
            e.session = 0
        try:
            with self.call("end"):
                self.hook.end(session)
        except Exception as error:
            if session is None and not e.may("need_session"):
                e.offend("hook.end_needs_session", f"End(None) fails: {code_of(error)} \"{error}\"")
            raise
        finally:
            e.ended = True
