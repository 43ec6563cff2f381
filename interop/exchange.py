"""What the exchanges of this folder share: how one tells what it found, and how the tools are run."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = "RESULT "


class Exchange:
    """Counts what was exchanged and keeps what differs. The last line of an exchange's output is its result."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.differences: list[str] = []

    def differ(self, what: str) -> None:
        self.differences.append(what)
        print(f"differs: {what[:2000]}", flush=True)

    def finish(self) -> int:
        print(RESULT + json.dumps({"counts": self.counts, "differ": len(self.differences)}), flush=True)
        return 1 if self.differences else 0


def tool_path(name: str) -> str:
    """Of a program of this folder; VIGIL_INTEROP_TOOLS names where they were built."""
    return str(pathlib.Path(os.environ.get("VIGIL_INTEROP_TOOLS", ROOT / "build/release/interop")) / name)


def run_tool(name: str, *words: str) -> list[str]:
    """The lines that a tool prints. It must not fail."""
    done = subprocess.run([tool_path(name), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {' '.join(words)[:300]} ends with {done.returncode}: {done.stderr[-2000:]}")
    sys.stderr.write(done.stderr)
    return done.stdout.splitlines()


def judged(observed: str) -> str:
    """What `vigil judge` says of an observed program whose sessions broke a rule; empty: none did."""
    done = subprocess.run([tool_path("../cli/vigil"), "judge", observed], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"vigil judge {observed} ends with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout if done.returncode == 1 else ""


@contextlib.contextmanager
def serving(*command: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """A process whose first line ends with the address at which it serves; it is ended by a signal."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.terminate()


SERVE_ARGUMENTS = ["--cluster", "local=127.0.0.1:0", "--quiet"]  # of vigil-serve: one task, at a port that is free


def run_drawn(usage: str | None, play: Callable[[Exchange, str, int, str], None]) -> int:
    """The main function of a script that is called with SEED COUNT: each number is played in a folder of its own."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    exchange = Exchange()
    for number in range(int(sys.argv[2])):
        with tempfile.TemporaryDirectory() as folder:
            play(exchange, sys.argv[1], number, folder)
    return exchange.finish()
