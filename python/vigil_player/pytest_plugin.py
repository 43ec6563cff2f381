"""A fixture that verifies a hook of one's own:

def test_early_stopping(vigil_hook):
    vigil_hook(lambda w: EarlyStopping(w.loss, patience=2), may_request_stop=True)

The maker is called in this process, again for each play. VIGIL_VERIFY_CASE plays one case only.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from .protocol import Player, serve
from .verify_cli import MAY, find_vigil, leave_of

CASE = "VIGIL_VERIFY_CASE"


def answer_all(player: Player, connection: socket.socket) -> None:
    """Until no more is asked. Whoever asks may be gone at any time, as from a play that took too long: what is still to
    be said then, also by closing the streams, is said to nobody."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError), connection, \
            connection.makefile("r") as questions, connection.makefile("w") as answers:
        serve(player, questions, answers)


def verify(maker: Callable[[Any], Any], name: str, leave: list[str], scenarios: int, again: str,
           may_write: Iterable[str] = ()) -> tuple[int, str]:
    """The exit code of `vigil verify`, and what it says."""
    from .tensorflow_player import TensorFlowPlayer

    vigil = find_vigil()
    if not vigil:
        pytest.fail("there is no program vigil in the PATH; name it by VIGIL")
    with tempfile.TemporaryDirectory(prefix="vigil") as folder, socket.socket(socket.AF_UNIX) as listener, \
            tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        path = os.path.join(folder, "player")
        listener.bind(path)
        listener.listen()
        listener.settimeout(0.1)
        relay = shlex.join([sys.executable, "-S", os.path.join(os.path.dirname(__file__), "relay.py"), path])
        case = os.environ.get(CASE)
        command = [vigil, "verify", "--player", relay, "--replay-as", again, "--jobs", "1"]
        command += ["--case", case, "--trace"] if case else ["--scenarios", str(scenarios)]
        with subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT) as process:
            player = TensorFlowPlayer(maker, name, leave, may_write)
            while process.poll() is None:
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                except socket.timeout:  # its name before Python 3.10
                    continue
                connection.settimeout(None)
                answer_all(player, connection)
            said.seek(0)
            return process.returncode, said.read()


@pytest.fixture
def vigil_hook(request: pytest.FixtureRequest) -> Callable[..., None]:
    """vigil_hook(maker, may_request_stop=True, may_feed=False, ..., may_write=(), scenarios=200): fails with what it
    found. `may_write`: folders."""

    def check(maker: Callable[[Any], Any], scenarios: int = 200, may_request_stop: bool = True,
              may_write: Iterable[str] = (), **may: bool) -> None:
        unknown = [word for word in may if word[len("may_"):] not in MAY or not word.startswith("may_")]
        if unknown:
            raise TypeError(f"vigil_hook has no {unknown[0]}; there are may_request_stop, may_write, "
                            + ", ".join(f"may_{word}" for word in MAY))
        leave = leave_of(not may_request_stop, {word[len("may_"):]: value for word, value in may.items()})
        again = f"python -m pytest {shlex.quote(request.node.nodeid)}"
        code, said = verify(maker, request.node.name, leave, scenarios, again, may_write)
        said = said.replace(f"{again} --case ", f"{CASE}=CASE {again}    # CASE is ")
        if code != 0:
            pytest.fail(said, pytrace=False)

    return check
