#!/usr/bin/env python3
"""TensorFlow's own monitored sessions and supervisors, made wrong on purpose: who watches a program
(vigil_player.observe) and judges it (vigil judge) must find each mistake by the rule that is about it, and nothing in
what is right.

  observed.py SEED COUNT
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections.abc import Callable, Iterator

import observed_supervisors
from exchange import Exchange, judged, run_drawn
from observed_supervisors import Mistake, Program
from vigil_player import observe
from vigil_player.tensorflow_v1 import monitored_session, tf

tf.logging.set_verbosity(tf.logging.ERROR)
Hooked = monitored_session._HookedSession
Monitored = monitored_session._MonitoredSession
Recoverable = monitored_session._RecoverableSession
Coordinated = monitored_session._CoordinatedSession


class Preempted(tf.train.SessionRunHook):
    """Fails the third run, once, as a server that goes away does; or asks for a stop."""

    def __init__(self, code: type[Exception], stop_at: int = 0) -> None:
        self.code = code
        self.stop_at = stop_at
        self.runs = 0

    def after_run(self, run_context: tf.train.SessionRunContext, run_values: tf.train.SessionRunValues) -> None:
        self.runs += 1
        if self.runs == self.stop_at:
            run_context.request_stop()
        elif self.runs == 3:
            raise self.code(None, None, "on purpose")


class Quiet(tf.train.SessionRunHook):
    pass


def program(code: type[Exception], stop_at: int, runs: int) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    hooks = [Quiet(), Preempted(code, stop_at), Quiet()]
    with contextlib.suppress(tf.errors.OpError, RuntimeError), tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(runs):
            if session.should_stop():
                break
            session.run(train)


class Preemption(tf.errors.AbortedError):
    """TensorFlow recovers from what is derived, too."""


def stepped(code: type[Exception] | None, runs: int) -> None:
    """By a step function, which fails once, after a run with hooks; or asks for a stop."""
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    calls = 0

    def step_fn(step_context: object) -> None:
        nonlocal calls
        calls += 1
        step_context.session.run(step)
        step_context.run_with_hooks(train)
        if calls == 3 and code is None:
            step_context.request_stop()
        if calls == 3:
            raise code(None, None, "on purpose") if issubclass(code, tf.errors.OpError) else code("on purpose")

    with contextlib.suppress(Exception), tf.train.MonitoredSession(hooks=[Quiet()]) as session:
        while calls < runs and not session.should_stop():
            session.run_step_fn(step_fn)


def session_of(code: type[Exception], stop_at: int = 0) -> Program:
    return lambda _folder, runs: program(code, stop_at, runs)


def steps_of(code: type[Exception] | None) -> Program:
    return lambda _folder, runs: stepped(code, runs)


# Nothing is wrong with these.
RIGHT: list[Program] = [
    steps_of(None), steps_of(tf.errors.AbortedError), steps_of(tf.errors.OutOfRangeError), steps_of(tf.errors.InternalError),
    steps_of(KeyError), session_of(Preemption), *observed_supervisors.RIGHT,
]

ABORTED = session_of(tf.errors.AbortedError)
INTERNAL = session_of(tf.errors.InternalError)
END = session_of(tf.errors.OutOfRangeError)


def backwards(_inner: Callable, self: object, exception_type: object = None) -> None:
    self._hooks.reverse()
    _inner(self, exception_type)


def ends_anyway(inner: Callable, self: object, exception_type: object = None) -> None:
    inner(self, None)


def never_ends(inner: Callable, self: object, exception_type: object = None) -> None:
    inner(self, exception_type or ValueError)


def forgets_the_stop(inner: Callable, self: object, *args: object, **kwargs: object) -> object:
    done = inner(self, *args, **kwargs)
    self._should_stop = False
    return done


def keeps_the_session_open(_inner: Callable, self: object) -> None:
    self._sess = None


def leaves_the_coordinator(_inner: Callable, self: object) -> None:
    monitored_session._WrappedSession.close(self)


def gives_up(_inner: Callable, self: object, *args: object, **kwargs: object) -> object:
    return self._sess.run(*args, **kwargs)


def runs_twice(inner: Callable, self: object, *args: object, **kwargs: object) -> object:
    inner(self, *args, **kwargs)
    return inner(self, *args, **kwargs)


def leaves_a_hook_out(inner: Callable, self: object, *args: object, **kwargs: object) -> object:
    hooks, self._hooks = self._hooks, self._hooks[1:]
    try:
        return inner(self, *args, **kwargs)
    finally:
        self._hooks = hooks


def recovers_from_anything(inner: Callable, self: object, *args: object, **kwargs: object) -> object:
    try:
        return inner(self, *args, **kwargs)
    except tf.errors.InternalError:
        self.close()
        self._sess = self._create_session()
        return inner(self, *args, **kwargs)


MISTAKES: list[Mistake] = [
    ("end in reverse", "order.end", Monitored, "_close_internal", backwards, ABORTED),
    ("end after an error", "end.only_on_clean_exit", Monitored, "_close_internal", ends_anyway, INTERNAL),
    ("no end", "end.for_every_hook_unless_one_fails", Monitored, "_close_internal", never_ends, ABORTED),
    ("a stop is forgotten", "stop.request_makes_should_stop_true", Hooked, "run", forgets_the_stop,
     session_of(tf.errors.AbortedError, 2)),
    ("a session stays open", "close.closes_the_session", Hooked, "close", keeps_the_session_open, END),
    ("no join", "close.coordinator_stop_then_join_then_close", Coordinated, "close", leaves_the_coordinator, END),
    ("no recovery", "recovery.preemption_never_leaves_run", Recoverable, "run", gives_up, ABORTED),
    ("a run is made twice", "run.ok_means_one_session_run", Recoverable, "run", runs_twice, ABORTED),
    ("a hook is left out", "run.after_before_run_of_every_hook", Hooked, "run", leaves_a_hook_out, ABORTED),
    ("recovery from INTERNAL", "recovery.only_on_aborted_or_unavailable", Recoverable, "run", recovers_from_anything, INTERNAL),
    *observed_supervisors.MISTAKES,
]


@contextlib.contextmanager
def made(mistake: Mistake) -> Iterator[None]:
    _, _, kind, method, wrongly, _ = mistake
    own = kind.__dict__.get(method)
    inner = getattr(kind, method)
    setattr(kind, method, lambda self, *args, **kwargs: wrongly(inner, self, *args, **kwargs))
    try:
        yield
    finally:
        if own is None:
            delattr(kind, method)
        else:
            setattr(kind, method, own)


WATCHED: list[observe.Output] = []


def watched(path: str, watched_program: Program, runs: int) -> str:
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), WATCHED[0].watching(path):
        watched_program(folder, runs)
    return judged(path)


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    mistake = MISTAKES[number % len(MISTAKES)]
    runs = random.Random(f"observed {seed} {number}").randint(5, 9)
    if not WATCHED:
        WATCHED.append(observe.installed())
    for right in (mistake[5], RIGHT[number % len(RIGHT)]):
        said = watched(os.path.join(folder, "right.jsonl"), right, runs)
        if said:
            exchange.differ(f"seed {seed} number {number}: rules are broken by what is right:\n{said}")
    with made(mistake):
        said = watched(os.path.join(folder, "wrong.jsonl"), mistake[5], runs)
    if f"\n  {mistake[1]}:" not in said:
        exchange.differ(f"seed {seed} number {number}: {mistake[0]}: {mistake[1]} does not find it:\n{said}")
    exchange.counts["right"] += 2
    exchange.counts["wrong"] += 1


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
