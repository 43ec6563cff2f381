"""One scenario being played: its events, its virtual clock, the faults it meets. Needs no TensorFlow.

TensorFlow is patched for the whole process, so what is patched asks for the world of the moment: `world.active`, None
between scenarios.
"""

import contextlib
import re
import threading

from .turns import Turns

START = 1000.0  # seconds on the virtual clock

# Whose events have a task of their own: as our own core calls it.
TASKS = {"summary": "chief/SVSummaryThread", "step_counter": "chief/SVStepCounterThread",
         "checkpoint": "chief/SVTimerCheckpointThread", "loop": "chief/LooperThread"}

active = None
observes = False  # this process is that of somebody's own program (observe.py)


class Runaway(BaseException):
    """The scenario exceeded the event limit. No Exception: nothing may catch it on the way."""


class World:
    """`make_error(code, not_ready)` makes the error that stands for a code."""

    @staticmethod
    def options(options):
        """What a run really gets of the options that it was given."""
        return options

    @staticmethod
    def name_of(_hook):
        """What its events call a hook that has no name of its own; None: nothing."""
        return None

    def __init__(self, scenario, make_error, limit=600):
        self.scenario = scenario
        self.make_error = make_error
        self.limit = limit
        self.events = []  # the lines of a recording
        self.stream = []  # those, and all that recordings have no line for, as the player protocol wants it
        self.told = 0  # the time that was told last, in nanoseconds since the start
        self.messages = []
        self.calls = {}
        self.now = START
        self.sessions = 0
        self.writers = {}
        self.driver = threading.current_thread()
        self.model = None
        self.files_carry_time = False  # a unit recording stamps its files itself
        self.evidence = None  # of a hook under verification, while it is being called
        self.calm = False  # no fault is met any more
        self.deaf = []  # threads that hear of no stop
        self.joining = ()  # those that a coordinator waits for
        self.patience = None  # with them, in seconds of the machine; None: they all end
        self.wait_for_stop = None  # a unit recording's own way to wait for a stop
        # With `services` their threads take turns with the driver, and their events are recorded, too.
        self.turns = Turns(self) if scenario.get("session", {}).get("services") else None

    @property
    def is_open(self):
        """Whether it is still played: threads may outlive their play."""
        return self is active

    @staticmethod
    def in_order():
        """Around what is told together with what it does: here one thread runs at a time."""
        return contextlib.nullcontext()

    def stop_is_forgotten(self):
        """By a coordinator that was told so."""

    def cut_off(self):
        """Somebody has left by what is no error, as Ctrl-C is none."""

    def speaker(self):
        """Whose events the calling thread's are; "": the driver's; None: they are not recorded."""
        if self.turns is not None:
            return self.turns.speaker()
        return "" if threading.current_thread() is self.driver else None

    def log(self, text, **more):
        """An event. Only those of the driver and, with `services`, of their threads are recorded.

        `more`: fields of the event that its line does not say."""
        speaker = self.speaker()
        if speaker is None:
            return
        if speaker:
            more["task"] = TASKS.get(speaker, "chief/LooperThread")
        self.stream.append(self.stamped({"line": text, **more}))
        self.events.append(f"{speaker}: {text}" if speaker else text)
        self.check_limit()

    def note(self, kind, **fields):
        """An event that recordings have no line for; fields that are None are left out."""
        if self.speaker() == "":
            self.stream.append(self.stamped({"e": kind, **{k: v for k, v in fields.items() if v is not None}}))

    def note_elsewhere(self, kind, **fields):
        """One of a thread that is not recorded: rules look at it, lines do not show it."""
        self.stream.append({"e": kind, "task": "chief/thread", **{k: v for k, v in fields.items() if v is not None}})

    def stamped(self, event):
        now = round((self.now - START) * 1e9)
        if now != self.told:
            event["at"] = self.told = now
        return event["line"] if event.keys() == {"line"} else event

    def check_limit(self):
        if len(self.events) > self.limit:
            raise Runaway()

    def pass_time(self, secs):
        if self.turns is not None:
            self.turns.sleep(secs)
        else:
            self.now += secs

    def give_way(self):
        """Whoever can run at this moment does so."""
        if self.turns is not None:
            self.turns.sleep(0)

    def message(self, error):
        """Keeps the text of an error of the library's own: for reading, not for comparing."""
        text = without_directory(str(error).split("\n")[0])[:200]
        self.messages.append(f"{type(error).__name__}: {text}")

    def meet(self, point):
        """The environment's say at the next call of a kind: (error or None, whether it took effect all the same)."""
        number = self.calls[point] = self.calls.get(point, 0) + 1
        hit = (None, False)
        if self.calm:
            return hit
        for fault in self.scenario.get("faults", []):
            if fault["at"] != point or not matches(fault["call"], number):
                continue
            if "advance_step" in fault:
                self.model.advance(fault["advance_step"])
            if "chief_init" in fault:
                self.model.chief_init(fault["chief_init"])
            if "code" in fault:
                effect = fault.get("effect")
                hit = (self.make_error(fault["code"], effect == "not_ready"), effect == "lost_reply")
        return hit

    def run_takes_time(self):
        secs = self.scenario.get("model", {}).get("run_secs", 0)
        if secs > 0:
            self.pass_time(secs)


def matches(call, number):
    """Whether a scenario's `call` (a number, a list of numbers, None = all) names this one."""
    if call is None:
        return True
    return number in call if isinstance(call, list) else number == call


def without_directory(text):
    """Paths below the scenario's directory show as DIR."""
    return re.sub(r"(/dev/shm|/tmp)/rec[^/ ,']*", "DIR", text)
