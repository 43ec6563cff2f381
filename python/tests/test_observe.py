"""Programs that are observed do what they did, and what their supervisors do is told: needs TensorFlow."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("tensorflow")

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ENVIRONMENT = {**os.environ, "PYTHONPATH": PYTHON, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
BEGINNING = """
import contextlib, threading
import tensorflow.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_eager_execution()
step = tf.train.get_or_create_global_step()
train = tf.assign_add(step, 1)
"""


class Observed:
    """A program that was run under observe: what it printed, what was said of it, and what was told."""

    def __init__(self, folder, text):
        program, to = folder / "program.py", folder / "observed.jsonl"
        program.write_text(BEGINNING + textwrap.dedent(text))
        self.program = str(program)
        self.out, self.err = self.run("-m", "vigil_player.observe", "--to", str(to), self.program)
        lines = [json.loads(line) for line in to.read_text().splitlines()]
        self.jobs = [line for line in lines if "job" in line]
        self.events = [[line["event"] for line in lines if line.get("of") == job["job"] and "event" in line]
                       for job in self.jobs]
        self.ended = [line["of"] for line in lines if line.get("ends")]

    def plainly(self):
        """What it prints when nobody observes it."""
        return self.run(self.program)[0]

    @staticmethod
    def run(*words):
        done = subprocess.run([sys.executable, *words], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def lines(self, job=1):
        return [event["line"] for event in self.events[job - 1] if "line" in event]


MADE = ["graph finalized", "session 1 created", "session 1 init", "session 1 local_init", "session 1 ready -> yes"]
ENDS = ["coordinator request_stop", "coordinator join", "session 1 close"]


def test_a_managed_session_is_a_job(tmp_path):
    observed = Observed(tmp_path, """
        made = tf.train.Supervisor()
        for _ in range(2):
            with made.managed_session() as session:
                session.run(train)
                session.run(made.init_op)  # its caller's business
                made.should_stop()
        """)
    assert [job["supervisor"] for job in observed.jobs] == 2 * [
        {"by_hand": False, "initialises": True, "asks_ready": True}]
    for job in (1, 2):
        assert observed.lines(job) == [
            *MADE, "queue_runners started", "driver session=1", "session 1 raw_run", "session 1 raw_run",
            "driver should_stop -> no", *ENDS, "driver exit clean"]
    assert observed.ended == [1, 2]


def test_what_a_caller_does_by_hand(tmp_path):
    observed = Observed(tmp_path, """
        made = tf.train.Supervisor(init_fn=lambda session: session.run(step), ready_op=None)
        session = made.prepare_or_wait_for_session(start_standard_services=False)
        made.start_standard_services(session)
        session.run(train)
        made.stop()
        session.close()
        """)
    assert observed.jobs[0]["supervisor"] == {"by_hand": True, "initialises": True, "asks_ready": False}
    assert observed.lines() == [
        "graph finalized", "driver prepare", "session 1 created", "session 1 init", "session 1 raw_run",
        "init_fn session=1", "session 1 local_init", "driver session=1", "driver services none", "session 1 raw_run",
        "driver stop", "coordinator request_stop", "coordinator join", "driver stopped", "driver close",
        "session 1 close", "driver closed"]


def test_errors_come_out_and_are_told(tmp_path):
    observed = Observed(tmp_path, """
        made = tf.train.Supervisor()
        for error in (KeyError("mine"), tf.errors.OutOfRangeError(None, None, "the end")):
            try:
                with made.managed_session():
                    raise error
            except KeyError as same:
                print(same is error)
        broken = tf.train.Supervisor(init_op=None, local_init_op=None)
        try:
            with broken.managed_session():
                pass
        except RuntimeError:
            print("not made ready")
        """)
    assert observed.out == observed.plainly() == "True\nnot made ready\n"
    assert "coordinator request_stop OTHER" in observed.lines(1)
    assert observed.lines(1)[-1] == "driver exit failed OTHER"
    assert "coordinator request_stop OUT_OF_RANGE" in observed.lines(2)
    assert observed.lines(2)[-1] == "driver exit clean"
    assert observed.lines(3)[-1] == "driver exit failed USAGE"
    assert not [line for line in observed.lines(3) if line.startswith("driver session=")]


def test_a_stop_that_is_reported_outside_of_an_except_block(tmp_path):
    """TensorFlow fails in its own way there, whatever is reported, and so it does when it is observed."""
    observed = Observed(tmp_path, """
        class Reports(tf.train.SessionRunHook):
            def __init__(self, what):
                self.what = what
            def after_create_session(self, session, coord):
                self.coord = coord
            def after_run(self, run_context, run_values):
                self.coord.request_stop(self.what)

        def say(*calls):
            for call in calls:
                try:
                    print(call())
                except BaseException as error:
                    print(type(error).__name__, error, repr(error.__context__), repr(error.__cause__))

        def monitored(what):
            with tf.train.MonitoredSession(hooks=[Reports(what)]) as session:
                say(lambda: session.run(train) > 0, session.should_stop)
                session.run(train)

        def supervised(what):
            made = tf.train.Supervisor()
            def scope():
                with made.managed_session():
                    say(lambda: made.request_stop(what), made.should_stop)
            say(scope, made.stop)

        aborted = tf.errors.AbortedError(None, None, "on purpose")
        for what in (ValueError("a"), ValueError, "text", 5, {}, (), (1,), (None, None, None), aborted):
            print(repr(what))
            say(lambda: monitored(what), lambda: supervised(what))
        """)
    assert "TypeError" in observed.out
    assert observed.out == observed.plainly()
    reports = [line for line in observed.lines(1) if line.startswith("coordinator request_stop")]
    assert reports[0] == "coordinator request_stop USAGE"  # as what comes of it


def test_a_stop_from_a_thread_is_told_together_with_what_it_does(tmp_path):
    observed = Observed(tmp_path, """
        from vigil_player import world

        def is_free(lock):
            free = []
            def asks():
                free.append(lock.acquire(blocking=False))
                if free[0]:
                    lock.release()
            asker = threading.Thread(target=asks)
            asker.start()
            asker.join()
            return free[0]

        made = tf.train.Supervisor()
        with made.managed_session():
            lock, coord = made._vigil_job.output.lock, made.coord
            should_stop, taken = coord.should_stop, coord._filter_exception
            coord.should_stop = lambda: print("asked", is_free(lock)) or should_stop()
            coord._filter_exception = lambda error: print("told", is_free(lock)) or taken(error)
            made.should_stop()
            thread = threading.Thread(target=made.request_stop)
            thread.start()
            thread.join()
            del coord.should_stop, coord._filter_exception
            made.should_stop()
        """)
    assert observed.out == "asked False\ntold False\n"
    told = [event.get("line", event.get("e")) for event in observed.events[0]]
    first = told.index("driver should_stop -> no")
    assert told[first + 1:first + 3] == ["coordinator_request_stop", "driver should_stop -> yes"]


def test_who_is_not_watched(tmp_path):
    observed = Observed(tmp_path, """
        class Manager(tf.train.SessionManager):
            pass

        class Writer:
            __slots__ = ()
            def reopen(self): pass
            def add_graph(self, *args): pass
            def add_meta_graph(self, *args): pass
            def add_session_log(self, *args): pass
            def close(self): pass

        def use(**arguments):
            with tf.train.Supervisor(**arguments).managed_session() as session:
                session.run(train)

        ready = tf.report_uninitialized_variables()
        use(session_manager=Manager(ready_op=ready))
        use(summary_writer=Writer())
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        tf.train.Supervisor().prepare_or_wait_for_session().close()
        try:
            with tf.train.Supervisor().managed_session():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        forgets = tf.train.Supervisor()
        with forgets.managed_session():
            forgets.request_stop()
            forgets.coord.clear_stop()
            print(forgets.should_stop())
        """)
    assert len(observed.jobs) == 3
    assert observed.ended == [1]  # the others were cut off
    assert observed.lines(3)[-1] == "coordinator request_stop"
    assert observed.out == "False\n"
    assert "1 session(s) by a Manager: not watched" in observed.err
    assert "1 session(s) with a summary writer that takes no attributes: not watched" in observed.err
    assert "1 session(s) of another thread: not watched" in observed.err


def test_writers_are_told_of_and_stay_what_they_are(tmp_path):
    observed = Observed(tmp_path, """
        import sys
        writer = tf.summary.FileWriter(sys.argv[0] + ".events")
        made = tf.train.Supervisor(logdir=sys.argv[0] + ".logs", summary_writer=writer, save_model_secs=0,
                                   save_summaries_secs=0)
        with made.managed_session() as session:
            print(made.summary_writer is writer, type(writer).__name__)
            made.summary_computed(session, tf.Summary())
        """)
    assert observed.out == "True FileWriter\n"
    told = [line for line in observed.lines() if line.startswith("writer ")]
    assert told == ["writer reopen", "writer graph", "writer meta_graph", "writer session_log START step=0",
                    "writer session_log STOP step=None", "writer close"]
