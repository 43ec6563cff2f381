"""The zoo, verified: needs TensorFlow, and the program vigil (VIGIL, or in the PATH)."""

import re

import pytest

pytest.importorskip("tensorflow")
from vigil_player.pytest_plugin import CASE, verify  # noqa: E402
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


@pytest.mark.parametrize("name", zoo.RIGHT)
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


def test_the_fixture_passes_right_hooks(vigil_hook):
    vigil_hook(lambda w: zoo.StopsAtAStep(), scenarios=0)


def test_the_fixture_fails_by_wrong_ones(vigil_hook):
    with pytest.raises(pytest.fail.Exception, match="hook.before_run_not_idempotent"):
        vigil_hook(lambda w: zoo.CountsBeforeRuns(), scenarios=0)


def test_a_leave_that_there_is_not(vigil_hook):
    with pytest.raises(TypeError, match="no may_fly"):
        vigil_hook(lambda w: zoo.DoesNothing(), may_fly=True)
