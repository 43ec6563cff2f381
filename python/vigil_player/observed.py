"""What is kept of a program that is observed: a file, and in it the jobs, which are the monitored sessions and those
that supervisors hand out. Who puts them around TensorFlow's classes is observe.py (and observe_supervisors.py)."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import threading
import time

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
        return [getattr(hook, "_saver", None) for hook in self.hooks]  # each may have one of its own

    def steps(self):
        from .tensorflow_v1 import training_util

        reads = self.graph.get_collection(training_util.GLOBAL_STEP_READ_KEY)
        return [*reads, training_util.get_global_step(self.graph)]

    def finals(self):
        return [getattr(hook, "_final_ops", None) for hook in self.hooks]

    def kind_of(self, fetches):
        from .recorded import kind_of_call

        return kind_of_call(fetches, self)


class SupervisedModel(Model):
    """Of a supervisor: its scaffold is what its session manager runs."""

    def __init__(self, supervisor):
        from .recorded import scaffold_of

        super().__init__(supervisor._graph, scaffold_of(supervisor), [])
        self.step = supervisor.global_step

    def steps(self):
        return [*super().steps(), self.step]


class Job:
    """One session of the program, monitored or a supervisor's: stands where a play has its world."""

    evidence = turns = None
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

    def in_order(self):
        """Around what is told together with what it does: what threads tell meanwhile comes before or after."""
        return self.output.lock

    def stop_is_forgotten(self):
        """By a coordinator. Where its caller makes a supervisor's do that, nothing is promised any more."""
        if isinstance(self.model, SupervisedModel) and world.active is not self:
            self.cut_off()

    def cut_off(self):
        """Nobody promises anything of what follows Ctrl-C, an exit, or a call by another thread."""
        self.muted = True

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
    """The file, and whose turn it is. Sessions of the thread that makes this are watched; others are counted."""

    def __init__(self):
        self.lock = threading.RLock()  # see Job.in_order
        self.driver = threading.current_thread()
        self.file = None

    def begin(self, path):
        """A program begins."""
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115  (until the program has ended)
        self.jobs = []
        self.passed_over = {}  # why: how many
        self.write({"observed": FORMAT})

    @contextlib.contextmanager
    def watching(self, path):
        """What happens meanwhile."""
        self.begin(path)
        try:
            yield
        finally:
            self.end()

    def end(self):
        """The program has ended; what it left at rest has ended by itself."""
        with self.lock:
            for job in self.jobs:
                if not job.muted:
                    self.write({"of": job.number, "ends": True})
                job.muted = True
            self.file.close()
            self.file = None
        for why, times in sorted(self.passed_over.items()):
            print(f"vigil: {times} session(s) {why}: not watched", file=sys.stderr)

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

        if self.file is None:
            return None
        if threading.current_thread() is not self.driver:
            return self.pass_over("of another thread")
        if not all(takes_attributes(each) for hook in hooks for each in (hook, *listeners_of(hook))):
            return self.pass_over("with a hook or listener that takes no attributes")
        if len({id(hook) for hook in hooks}) < len(hooks):
            return self.pass_over("with a hook that is in the list twice")
        if type(creator) not in (monitored_session.ChiefSessionCreator, monitored_session.WorkerSessionCreator):
            return self.pass_over(f"by a {type(creator).__name__}")
        folder = getattr(creator, "_checkpoint_dir", None)
        file = getattr(creator, "_checkpoint_filename_with_path", None)
        session._vigil_job = self.begin_job(
            Model(ops.get_default_graph(), creator._scaffold, hooks),
            recovers=recovers,
            worker=type(creator) is monitored_session.WorkerSessionCreator,
            remote=bool(creator._master),
            init_fn=creator._scaffold._init_fn is not None,
            may_restore=bool(folder or file),
            saves_something=bool(saver_variables(tf)))
        return session._vigil_job

    def new_supervised(self, supervisor, master, by_hand):
        """Begins to watch a session that a supervisor is about to hand out; None: as above."""
        from .tensorflow_v1 import session_manager

        manager, writer = supervisor.session_manager, supervisor.summary_writer
        if self.file is None:
            return None
        if threading.current_thread() is not self.driver:
            return self.pass_over("of another thread")
        if type(manager) is not session_manager.SessionManager:
            return self.pass_over(f"by a {type(manager).__name__}")
        if writer is not None and not takes_attributes(writer):
            return self.pass_over("with a summary writer that takes no attributes")
        return self.begin_job(
            SupervisedModel(supervisor),
            recovers=False,
            worker=not supervisor.is_chief,
            remote=bool(master),
            init_fn=supervisor._init_fn is not None,
            may_restore=bool(supervisor._logdir),
            saves_something=supervisor.saver is not None,
            supervisor={
                "by_hand": by_hand,
                "initialises": supervisor.init_op is not None or supervisor._init_fn is not None,
                "asks_ready": manager._ready_op is not None,
            })

    def begin_job(self, model, **facts):
        from .tensorflow_v1 import tf

        job = Job(self, len(self.jobs) + 1, model)
        self.jobs.append(job)
        with self.lock:
            self.write({
                "job": job.number,
                "hooks": [type(hook).__name__ for hook in model.hooks],
                "listeners": [type(each).__name__ for hook in model.hooks for each in listeners_of(hook)],
                "queue": bool(model.graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)),
                **facts,
            })
        return job

    @contextlib.contextmanager
    def turn_of(self, job):
        """What the thread that is watched does now, it does in that session; None: in one that is not watched."""
        before, world.active = world.active, job
        try:
            yield
        except BaseException as error:
            if job is not None and not isinstance(error, Exception):
                job.cut_off()
            raise
        finally:
            world.active = before


def listeners_of(hook):
    return getattr(hook, "_listeners", None) or []


def takes_attributes(hook):
    """Whether its methods can be watched: by attributes of the object, which leave its class alone."""
    try:
        hook._vigil_watches = True
        del hook._vigil_watches
    except Exception:  # whatever its class has against it
        return False
    return True


def saver_variables(tf):
    return tf.global_variables() or tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
