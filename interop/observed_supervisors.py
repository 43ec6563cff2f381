"""Programs with TensorFlow's supervisors for observed.py: right ones, and those that show what a mistake in TensorFlow
does. Each is called with a folder of its own and a number of runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import numpy as np
from vigil_player.tensorflow_v1 import coordinator, session_manager, supervisor, tf

Supervisor = supervisor.Supervisor
Manager = session_manager.SessionManager
Coordinator = coordinator.Coordinator
Program = Callable[[str, int], None]

SERVERS: list[tf.train.Server] = []


def train_op() -> tf.Tensor:
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def served(folder: str, runs: int) -> None:
    """A chief with all its services, which run all the time, until it stops itself."""
    train = train_op()
    tf.summary.scalar("step", tf.cast(train, tf.float32))
    made = Supervisor(logdir=folder, save_summaries_secs=0.001, save_model_secs=0.001)
    with made.managed_session() as session:
        while not made.should_stop():
            if session.run(train) >= runs:
                made.request_stop()


def restored(folder: str, runs: int) -> None:
    """The second session goes on where the first one has stopped."""
    train = train_op()
    made = Supervisor(logdir=folder, save_model_secs=0)
    for _ in range(2):
        with made.managed_session() as session:
            for _ in range(runs):
                session.run(train)
            made.saver.save(session, made.save_path, made.global_step)


def queued(_folder: str, _runs: int) -> None:
    """Until its queue runners have no more for it."""
    batch = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    made = Supervisor()
    with made.managed_session() as session:
        while not made.should_stop():
            session.run(batch)


def failing(code: type[Exception]) -> Program:
    def fails(folder: str, runs: int) -> None:
        train = train_op()
        made = Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
        with contextlib.suppress(tf.errors.OpError, KeyError), made.managed_session() as session:
            for _ in range(runs):
                session.run(train)
            raise code(None, None, "on purpose") if issubclass(code, tf.errors.OpError) else code("on purpose")

    return fails


def stopped_by_thread(code: type[Exception] | None) -> Program:
    """A thread that the supervisor looks after asks for the stop, or fails."""

    def stops(_folder: str, runs: int) -> None:
        train = train_op()
        made = Supervisor()
        enough = threading.Event()

        def thread() -> None:
            enough.wait()
            if code is not None:
                raise code(None, None, "on purpose")
            made.request_stop()

        with contextlib.suppress(tf.errors.OpError), made.managed_session() as session:
            made.loop(None, thread)
            while not made.should_stop():
                if session.run(train) >= runs:
                    enough.set()

    return stops


def by_hand(folder: str, runs: int) -> None:
    """Without a scope, twice; its caller closes sessions, also before the stop."""
    train = train_op()
    made = Supervisor(logdir=folder, save_summaries_secs=0, save_model_secs=0)
    for close_first in (False, True):
        session = made.prepare_or_wait_for_session(start_standard_services=False)
        made.start_standard_services(session)
        made.start_queue_runners(session)
        with contextlib.suppress(tf.errors.AbortedError), made.stop_on_exception():
            for _ in range(runs):
                session.run(train)
        if close_first:
            session.close()
            made.stop()
        else:
            made.stop()
            session.close()


def asks_once(_folder: str, runs: int) -> None:
    train = train_op()
    made = Supervisor()
    with made.managed_session() as session:
        for _ in range(runs):
            session.run(train)
        made.request_stop()
        made.should_stop()


def reports_twice(_folder: str, _runs: int) -> None:
    made = Supervisor()
    with contextlib.suppress(tf.errors.OpError), made.managed_session():
        for code in (tf.errors.InternalError, tf.errors.AbortedError):
            try:
                raise code(None, None, "on purpose")
            except tf.errors.OpError as error:
                made.request_stop(error)


def own_parts(_folder: str, runs: int) -> None:
    """An init function that restores; a chief that has nothing to ask and nothing to initialise."""
    train = train_op()
    made = Supervisor(init_fn=lambda session: session.run(tf.train.get_global_step().initializer), init_op=None)
    with made.managed_session() as session:
        for _ in range(runs):
            session.run(train)
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.int64, [])
        bare = Supervisor(ready_op=None, init_op=None, saver=None, global_step=None)
        with bare.managed_session() as session:
            for each in range(runs):
                session.run(fed, {fed: each})


def of_a_thread(_folder: str, _runs: int) -> None:
    """One that is not the supervisor's stops it, to the end; then the scope does, too."""
    made = Supervisor()
    with made.managed_session():
        thread = threading.Thread(target=made.stop)
        thread.start()
        thread.join()


def worker(_folder: str, runs: int) -> None:
    """Waits for a model on a server that its chief makes ready: what says so says no at first."""
    if not SERVERS:
        SERVERS.append(tf.train.Server.create_local_server())
    looks = 0

    def missing() -> np.ndarray:
        nonlocal looks
        looks += 1
        return np.array(["step"] if looks < 3 else [], dtype=object)

    with tf.device("/cpu:0"):
        train = train_op()
        init = tf.global_variables_initializer()
    with tf.Session(SERVERS[0].target) as chief:
        chief.run(init)
    ready = tf.py_func(missing, [], tf.string, stateful=True)
    ready.set_shape([None])
    made = Supervisor(is_chief=False, init_op=init, ready_op=ready, ready_for_local_init_op=None, recovery_wait_secs=0.001)
    with made.managed_session(SERVERS[0].target) as session:
        for _ in range(runs):
            session.run(train)


RIGHT: list[Program] = [
    served, restored, queued, by_hand, asks_once, reports_twice, own_parts, of_a_thread, worker, stopped_by_thread(None),
    stopped_by_thread(tf.errors.AbortedError), stopped_by_thread(tf.errors.OutOfRangeError),
    failing(tf.errors.OutOfRangeError), failing(tf.errors.AbortedError), failing(KeyError),
]


# What is wrong: each stands for a method.
def never_joins(_inner: Callable, self: Supervisor, *_args: object, **_kwargs: object) -> None:
    self._coord.request_stop()


def logs_no_stop(_inner: Callable, self: Supervisor, *_args: object, **_kwargs: object) -> None:
    self._coord.request_stop()
    self._coord.join()
    self.summary_writer.close()


def swallows(inner: Callable, self: Supervisor, *args: object, **kwargs: object) -> None:
    with contextlib.suppress(Exception):
        inner(self, *args, **kwargs)


def never_asks(_inner: Callable, _self: Manager, _session: tf.Session) -> tuple[bool, None]:
    return True, None


def initialises_too(inner: Callable, self: Manager, *args: object, init_op: tf.Operation = None, **kwargs: object) -> object:
    session = inner(self, *args, init_op=init_op, **kwargs)
    session.run(init_op)
    return session


def initialises(inner: Callable, self: Manager, master: str, **kwargs: object) -> tf.Session:
    with session_manager.session.Session(master, graph=self._graph) as session:
        session.run(self._graph.get_operation_by_name("init"))
    return inner(self, master, **kwargs)


def forgets(_inner: Callable, _self: Coordinator) -> bool:
    return False


def takes_the_end_for_an_error(_inner: Callable, _self: Coordinator, error: object) -> object:
    return error


def logs_stop_first(inner: Callable, self: Supervisor, *args: object, **kwargs: object) -> None:
    self.summary_writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP))
    inner(self, *args, **kwargs)


def recovers(inner: Callable, self: Supervisor, ex: Exception | None = None) -> None:
    self.session_manager.prepare_session("", init_op=self.init_op).close()
    inner(self, ex)


def looks_at_once(_inner: Callable, self: Manager, master: str, config: object, max_wait_secs: float) -> tf.Session:
    while True:
        session = session_manager.session.Session(master, graph=self._graph, config=config)
        session.run(self._local_init_op)
        if self._model_ready(session)[0]:
            return session
        session.close()


def leaves_it_open(_inner: Callable, self: Manager, master: str, config: object, max_wait_secs: float) -> tf.Session:
    while True:
        session = session_manager.session.Session(master, graph=self._graph, config=config)
        session.run(self._local_init_op)
        if self._model_ready(session)[0]:
            return session
        session_manager.time.sleep(self._recovery_wait_secs)


def keeps_the_last(inner: Callable, self: Coordinator, ex: object = None) -> None:
    self._stop_event.clear()
    self._exc_info_to_raise = None
    inner(self, ex)


# What is wrong, the rule that must find it, and the program that shows it.
Mistake = tuple[str, str, type, str, Callable, Program]
MISTAKES: list[Mistake] = [
    ("no join", "supervisor.session_is_closed_after_the_join", Supervisor, "stop", never_joins, served),
    ("no STOP", "supervisor.stop_is_logged_after_the_join", Supervisor, "stop", logs_no_stop, served),
    ("an error is swallowed", "supervisor.reported_error_comes_out", Supervisor, "stop", swallows, failing(KeyError)),
    ("an error of a thread is swallowed", "supervisor.reported_error_comes_out", Supervisor, "stop", swallows,
     stopped_by_thread(tf.errors.AbortedError)),
    ("ready unasked", "supervisor.session_is_ready", Manager, "_model_ready", never_asks, queued),
    ("services of what is not ready", "supervisor.start_is_logged_of_a_ready_session", Manager, "_model_ready", never_asks,
     served),
    ("restored and initialised", "supervisor.restored_or_initialised", Manager, "prepare_session", initialises_too, restored),
    ("a worker initialises", "worker.never_initialises", Manager, "wait_for_session", initialises, worker),
    ("a worker does not sleep", "worker.sleeps_between_two_looks", Manager, "wait_for_session", looks_at_once, worker),
    ("a worker leaves sessions open", "worker.closes_what_is_not_ready", Manager, "wait_for_session", leaves_it_open, worker),
    ("a stop is forgotten", "supervisor.should_stop_after_a_report", Coordinator, "should_stop", forgets, asks_once),
    ("the end is an error", "supervisor.end_of_input_is_no_error", Coordinator, "_filter_exception",
     takes_the_end_for_an_error, failing(tf.errors.OutOfRangeError)),
    ("a clean stop fails", "supervisor.clean_stop_ends_well", Coordinator, "_filter_exception", takes_the_end_for_an_error,
     failing(tf.errors.OutOfRangeError)),
    ("STOP before the join", "supervisor.stop_is_logged_after_the_join", Supervisor, "stop", logs_stop_first, served),
    ("a recovery", "supervisor.never_recovers", Supervisor, "request_stop", recovers, failing(tf.errors.AbortedError)),
    ("the last error is kept", "coordinator.keeps_the_first_error", Coordinator, "request_stop", keeps_the_last,
     reports_twice),
]
