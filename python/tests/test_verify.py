"""The zoo, verified: needs TensorFlow, and the program vigil (VIGIL, or in the PATH)."""

import contextlib
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading

import pytest

pytest.importorskip("tensorflow")
import tensorflow.compat.v1 as tf  # noqa: E402

from vigil_player import machine, tensorflow_player  # noqa: E402
from vigil_player.pytest_plugin import CASE, answer_all, verify  # noqa: E402
from vigil_player.verified import LONG, SHORT, Patience  # noqa: E402
from vigil_player.verify_cli import MAY, find_vigil, leave_of  # noqa: E402

from . import zoo, zoo_outside  # noqa: E402

pytestmark = pytest.mark.skipif(not find_vigil(), reason="no program vigil")


def said_of(name, maker, leave, scenarios):
    words = leave_of(not leave.get("may_request_stop", True), {word: leave.get(f"may_{word}", False) for word in MAY})
    make = maker if not isinstance(maker, type) else lambda _w: maker()
    return verify(make, name, words, scenarios, "again", leave.get("may_write", ()))


@pytest.mark.parametrize("name", sorted(set(zoo.WRONG) - {name for name, *_ in zoo_outside.WRONG}))
def test_wrong_hooks_are_found(name):
    maker, promise, leave = zoo.WRONG[name]
    code, said = said_of(name, maker, leave, 0)
    assert code == 1 and promise in said, said
    assert "again --case " in said


@pytest.mark.parametrize("name", [name for name, *_ in zoo_outside.WRONG])
def test_what_a_hook_asks_of_the_machine_is_found_and_nothing_else(name, monkeypatch):
    monkeypatch.setenv(CASE, "calm.monitored.alone")  # each run asks for it, so the first case shows it
    maker, promise, leave = zoo.WRONG[name]
    code, said = said_of(name, maker, leave, 0)
    assert code == 1 and re.findall(r"^  (hook\.\w+):", said, re.M) == [promise], said
    assert "again --case " in said


@pytest.mark.parametrize("name", [name for name, *_ in zoo_outside.RIGHT])
def test_what_looks_like_it_is_left_in_peace(name, monkeypatch):
    monkeypatch.setenv(CASE, "calm.monitored.alone")
    maker, leave = zoo.RIGHT[name]
    code, said = said_of(name, maker, leave, 0)
    assert code == 0, said


@pytest.mark.parametrize("name", sorted(set(zoo.RIGHT) - {name for name, *_ in zoo_outside.RIGHT}))
def test_right_hooks_pass(name):
    maker, leave = zoo.RIGHT[name]
    code, said = said_of(name, maker, leave, 50)
    assert code == 0, said


class FakeThread:
    """One that ends as soon as somebody waits for it, or never does."""

    def __init__(self, ends):
        self.ends = ends
        self.waits = []

    def join(self, seconds):
        self.waits.append(seconds)

    def is_alive(self):
        return not (self.ends and self.waits)


def test_threads_that_end_are_waited_for():
    patience, ends, stays = Patience(), FakeThread(True), FakeThread(False)
    assert patience.left_of([ends]) == [] and patience.seconds == LONG
    assert patience.left_of([stays, ends]) == [stays] and patience.seconds == SHORT
    assert patience.left_of([stays]) == [stays]
    assert SHORT < stays.waits[0] <= LONG and stays.waits[1] <= SHORT


def test_who_asks_may_be_gone_before_the_answer():
    asks, answers = socket.socketpair()

    class Slow:
        def greeting(self):
            asks.close()
            return {}

    asks.sendall(b'{"type":"hello","protocols":[1]}\n')
    answer_all(Slow(), answers)
    assert answers.fileno() == -1


def test_the_fixture_passes_right_hooks(vigil_hook):
    vigil_hook(lambda w: zoo.StopsAtAStep(), scenarios=0)


def test_the_fixture_fails_by_wrong_ones(vigil_hook):
    with pytest.raises(pytest.fail.Exception, match="hook.before_run_not_idempotent"):
        vigil_hook(lambda w: zoo.CountsBeforeRuns(), scenarios=0)


def test_the_fixture_gives_leave_to_write(vigil_hook, tmp_path, monkeypatch):
    monkeypatch.setenv(CASE, "calm.monitored.alone")

    class Writes(zoo.Hook):
        def after_run(self, context, values):
            (tmp_path / "steps").write_text("1")

    vigil_hook(lambda w: Writes(), may_write=[str(tmp_path)])
    with pytest.raises(pytest.fail.Exception, match="changes '.*/steps' in after_run after step 1"):
        vigil_hook(lambda w: Writes(), may_write=[str(tmp_path) + "2"])


def test_the_command_gives_leave(tmp_path):
    hook = tmp_path / "hooks.py"
    hook.write_text(
        "import random\nimport tensorflow.compat.v1 as tf\n\n\nclass Notes(tf.train.SessionRunHook):\n"
        f"    def end(self, session):\n        open({str(tmp_path / 'note')!r}, 'w').write(str(random.random()))\n")
    command = [sys.executable, "-m", "vigil_player.verify_cli", f"{hook}:Notes", "--case", "calm.monitored.alone"]

    def said(*leave):
        ran = subprocess.run([*command, *leave], stdout=subprocess.PIPE, text=True, check=False)
        return ran.returncode, re.findall(r"^  (hook\.\w+):", ran.stdout, re.M), ran.stdout

    assert said()[:2] == (1, ["hook.writes_files", "hook.draws_random"])
    code, found, text = said("--may-write", str(tmp_path))
    assert (code, found) == (1, ["hook.draws_random"])
    assert f"vigil-verify {hook}:Notes --may-write {tmp_path} --case " in text
    assert said("--may-write", str(tmp_path), "--may-use-outside")[:2] == (0, [])


class WaitsInARun(zoo.Hook):
    """Its thread does not hear that it is asked to stop: only the end of its session ends it."""

    def begin(self):
        self.wanted = tf.FIFOQueue(1, tf.int64).dequeue()

    def after_create_session(self, session, coord):
        def wait():
            with contextlib.suppress(tf.errors.OpError):
                session.run(self.wanted)

        thread = threading.Thread(target=wait, daemon=True)
        coord.register_thread(thread)
        thread.start()


def test_a_thread_that_ends_by_the_end_of_its_session_is_given_up_before(vigil_hook, monkeypatch):
    monkeypatch.setattr(tensorflow_player, "Patience", lambda **of: Patience(seconds=1, **of))
    monkeypatch.setenv(CASE, "second_session.monitored")
    vigil_hook(lambda w: WaitsInARun())


@pytest.mark.parametrize("does, told", [
    ("tf.io.gfile.makedirs(folder)", ["new"]), ("tf.io.gfile.mkdir(folder)", ["new"]),
    ("tf.io.gfile.GFile(folder, 'w').write('1')", ["new"]), ("tf.io.gfile.makedirs(old)", []),
    ("tf.io.gfile.copy(old + '/file', folder)", ["new"]),
    ("tf.io.gfile.rename(old + '/file', folder)", ["file", "new"]),
    ("tf.io.gfile.remove(old + '/file')", ["file"]), ("tf.io.gfile.rmtree(old)", ["old"])])
def test_what_tensorflow_changes_is_the_hooks_doing_but_in_an_import(does, told, tmp_path, monkeypatch):
    old, folder = tmp_path / "old", tmp_path / "new"
    text = f"import tensorflow.compat.v1 as tf\n\nold, folder = {str(old)!r}, {str(folder)!r}\n{does}\n"
    (tmp_path / "changes_when_imported.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def seen(call):
        shutil.rmtree(old, ignore_errors=True)
        old.mkdir()
        (old / "file").write_text("1")
        watch = machine.Watch(lambda: ("begin", 0))
        with machine.watched(watch):
            call()
        return [(change["what"], os.path.basename(change["name"])) for change in watch.seen]

    assert seen(lambda: exec(compile(text, "hook.py", "exec"), {})) == [("changes", name) for name in told]
    shutil.rmtree(folder, ignore_errors=True)
    folder.unlink(missing_ok=True)
    assert seen(lambda: importlib.import_module("changes_when_imported")) == []
    del sys.modules["changes_when_imported"]


def test_a_leave_that_there_is_not(vigil_hook):
    with pytest.raises(TypeError, match="no may_fly"):
        vigil_hook(lambda w: zoo.DoesNothing(), may_fly=True)
