"""What is seen of the machine, and what is nobody's doing. Needs no TensorFlow."""

import _thread
import cProfile
import datetime
import logging
import os
import pathlib
import random
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from time import sleep, time_ns

import numpy as np
import pytest

from vigil_player import machine


def seen_of(does):
    """As a hook's method would do it, in a thread whose only work it is."""
    watch = machine.Watch(lambda: ("after_run", 3))

    def call():
        with machine.watched(watch):
            does()

    thread = threading.Thread(target=call)
    watch.driver = thread
    thread.start()
    thread.join()
    return [(seen["what"], seen["name"], seen["inside"]) for seen in watch.seen]


def in_a_thread(does):
    def do():
        thread = threading.Thread(target=does)
        thread.start()
        thread.join()

    return do


def numbers_of_seeds():
    random.Random(3).random()
    np.random.default_rng(3).random()
    np.random.RandomState(3).rand()


ASKED = {
    "a clock by a name of its own": (lambda: time_ns(), ("clock", "time.time_ns")),
    "a date": (lambda: datetime.datetime.now(), ("clock", "datetime.datetime.now")),
    "sleep by a name of its own": (lambda: sleep(0), ("sleep", "time.sleep")),
    "waiting in vain": (lambda: threading.Event().wait(0.001), ("sleep", "threading.Event.wait")),
    "everybody's generator": (lambda: random.choice("ab"), ("random", "random.choice")),
    "a generator without a seed": (lambda: random.Random(), ("random", "random.Random")),
    "numpy's generator": (lambda: np.random.rand(), ("random", "numpy.random")),
    "a generator of numpy's without a seed": (lambda: np.random.default_rng(), ("random", "numpy.random.default_rng")),
    "the machine's random numbers": (lambda: os.urandom(1), ("random", "os.urandom")),
    "a secret": (lambda: secrets.token_hex(), ("random", "secrets.token_hex")),
    "a name that there is once": (lambda: uuid.uuid4(), ("random", "uuid.uuid4")),
    "a file": (lambda: pathlib.Path("/etc/passwd").read_text(), ("files", "pathlib.Path.read_text")),
    "a program": (lambda: subprocess.run(["true"], check=True), ("others", "subprocess.run")),
    "a raw thread": (lambda: _thread.start_new_thread(int, ()), ("thread", "_thread.start_new_thread")),
    "a name of the network": (lambda: socket.getaddrinfo("127.0.0.1", 9), ("others", "socket.getaddrinfo")),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_is_seen(name):
    does, (what, function) = ASKED[name]
    assert seen_of(does) == [(what, function, "after_run")]


def test_generators_in_threads_are_seen_and_their_clocks_are_not():
    assert seen_of(in_a_thread(lambda: random.random())) == [("random", "random.random", "")]
    assert seen_of(in_a_thread(lambda: time_ns())) == []


@pytest.mark.parametrize("does", [
    numbers_of_seeds, lambda: logging.getLogger("nobody").warning("of the time"), lambda: datetime.datetime(2020, 1, 1),
    lambda: open(__file__, encoding="utf-8").close(), lambda: open(os.devnull, "w", encoding="utf-8").close(),
    lambda: threading.Event().wait(0)])
def test_what_is_nobodys_business(does):
    assert seen_of(does) == []


def test_changes_are_told_by_path(tmp_path):
    path = os.path.realpath(tmp_path)
    file, folder = os.path.join(path, "file"), os.path.join(path, "a")
    assert seen_of(lambda: open(file, "w", encoding="utf-8").close()) == [("changes", file, "after_run")]
    assert seen_of(in_a_thread(lambda: os.rename(file, file + "2"))) == [
        ("changes", file, ""), ("changes", file + "2", "")]
    assert seen_of(lambda: os.makedirs(folder)) == [("changes", folder, "after_run")]
    assert seen_of(lambda: os.makedirs(folder, exist_ok=True)) == []
    os.mkdir(os.path.join(folder, "b"))
    assert seen_of(lambda: shutil.rmtree(folder)) == [
        ("changes", os.path.join(folder, "b"), "after_run"), ("changes", folder, "after_run")]
    assert [name for _, name, _ in seen_of(lambda: tempfile.mkdtemp(dir=path))] == [
        os.path.join(path, name) for name in os.listdir(path) if name.startswith("tmp")]


def test_many_files_hide_nothing(tmp_path):
    def does():
        for number in range(50):
            (tmp_path / str(number)).write_text("")
        random.random()

    seen = seen_of(does)
    assert len(seen) == 51 and seen[-1] == ("random", "random.random", "after_run")


def test_a_module_that_is_imported_asks_for_nothing(tmp_path, monkeypatch):
    (tmp_path / "draws_when_imported.py").write_text("import random\nrandom.random()\nopen('/etc/passwd').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert seen_of(lambda: __import__("draws_when_imported")) == []


def test_a_profiler_of_ones_own_is_left_alone():
    profiler = cProfile.Profile()

    def does():
        open("/etc/passwd", encoding="utf-8").close()
        random.random()

    def measured():
        profiler.enable()
        watch = machine.Watch(lambda: ("end", 0))
        with machine.watched(watch):
            does()
        profiler.disable()
        assert [seen["what"] for seen in watch.seen] == ["files"]

    measured()
    assert any("does" in str(entry.code) for entry in profiler.getstats())


def test_too_many_calls_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(machine, "MOST_EVENTS", 1000)
    assert seen_of(lambda: ([abs(i) for i in range(1000)], random.random())) == []
    assert seen_of(lambda: time.sleep) == []
