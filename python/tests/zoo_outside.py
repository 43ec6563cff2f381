"""Hooks that go to the machine past what they are offered, and right ones that look like them: a part of the zoo."""

import _thread
import datetime
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from time import time as bound_before_it_is_virtual

import numpy as np
import tensorflow.compat.v1 as tf

from .zoo import OfStep, right, wrong

MINE = os.path.join(tempfile.gettempdir(), "vigil_zoo_mine")
NOT_MINE = os.path.join(tempfile.gettempdir(), "vigil_zoo_not_mine")


def doing(name, does, *marks):
    """A hook that does it after each run, by this name in the zoo."""

    class AfterEachRun(OfStep):
        def after_run(self, context, values):
            does()

    AfterEachRun.__name__ = name
    for mark in marks:
        mark(AfterEachRun)


def write(path):
    with open(path, "a", encoding="utf-8") as file:
        file.write("step\n")


def write_of_tensorflow(path):
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("step\n")


def make_folder_with_a_file(path):
    os.makedirs(path, exist_ok=True)
    write(os.path.join(path, "steps"))


def connect():
    with socket.socket() as unconnected:
        unconnected.settimeout(0.1)
        unconnected.connect_ex(("127.0.0.1", 9))


def in_a_thread(does):
    def do():
        thread = threading.Thread(target=does)
        thread.start()
        thread.join()

    return do


def raw_thread():
    done = threading.Lock()
    done.acquire()
    _thread.start_new_thread(done.release, ())
    done.acquire()


WRONG = (
    ("WritesAFile", lambda: write(NOT_MINE), "hook.writes_files"),
    ("WritesByTensorFlow", lambda: write_of_tensorflow(NOT_MINE), "hook.writes_files"),
    ("WritesInAThread", in_a_thread(lambda: write(NOT_MINE)), "hook.writes_files"),
    ("ReadsAFile", lambda: open("/etc/passwd", encoding="utf-8").close(), "hook.touches_files"),
    ("DrawsOfEverybodys", lambda: random.randint(1, 6), "hook.draws_random"),
    ("DrawsOfNumpys", lambda: np.random.rand(), "hook.draws_random"),
    ("DrawsAName", lambda: uuid.uuid4(), "hook.draws_random"),
    ("DrawsWithoutASeed", lambda: random.Random().random(), "hook.draws_random"),
    ("DrawsOfNumpyWithoutASeed", lambda: np.random.default_rng().random(), "hook.draws_random"),
    ("AsksADateOfTheMachine", lambda: datetime.datetime.now(), "hook.reads_wall_clock"),
    ("AsksAClockByANameOfItsOwn", lambda: bound_before_it_is_virtual(), "hook.reads_wall_clock"),
    ("WaitsInVain", lambda: threading.Event().wait(0.001), "hook.sleeps_for_real"),
    ("StartsARawThread", raw_thread, "hook.starts_own_thread"),
    ("Connects", connect, "hook.reaches_out"),
    ("StartsAProgram", lambda: subprocess.run(["true"], check=True), "hook.reaches_out"),
)
for _name, _does, _promise in WRONG:
    doing(_name, _does, wrong(_promise))

RIGHT = (
    ("ReadsWithLeave", lambda: (open("/etc/passwd", encoding="utf-8").close(), random.random(), connect()),
     {"may_use_outside": True}),
    ("WritesWhereItMay", lambda: make_folder_with_a_file(MINE), {"may_write": [MINE]}),
    ("DrawsOfNumpyWithASeed", lambda: (np.random.default_rng(1).random(), np.random.RandomState(1).rand()), {}),
    ("AsksVirtualClocks", lambda: (time.time_ns(), time.perf_counter(), time.strftime("%H"), time.localtime()), {}),
    ("WaitsForItsThread", in_a_thread(lambda: time.time()), {}),
)
for _name, _does, _leave in RIGHT:
    doing(_name, _does, right(**_leave))


@right()
class DrawsOfItsOwn(OfStep):
    def begin(self):
        super().begin()
        self.random = random.Random(3)

    def after_run(self, context, values):
        if values.results >= 3 + self.random.randint(0, 2) // 4:
            context.request_stop()


@right()
def writes_beside_the_checkpoints(w):
    class Writes(OfStep):
        def after_run(self, context, values):
            make_folder_with_a_file(os.path.join(w.directory, "mine"))
            os.replace(os.path.join(w.directory, "mine", "steps"), os.path.join(w.directory, "steps"))

    return Writes()
