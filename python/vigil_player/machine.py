"""What a hook under verification asks of the machine past what it is offered: files, clocks, sleep, random numbers,
connections and programs, raw threads. What of it is wrong, `vigil verify` says.

Seen by Python's audit events, by a profiler, which sees the functions of C that are called, by whatever name, and by
what TensorFlow's Python asks its files for. What C and C++ do by themselves is not seen.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import datetime
import functools
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Container, Iterator
from types import FrameType
from typing import Any

import numpy

from . import whose

MOST_CHANGES = 10_000  # files that are told of in one play, so that the line does not become too long
MOST_EVENTS = 200_000  # of a thread in one play: calls and returns
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
NO_FILES = ("/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr")
RANDOM_MODULES = ("", "random", "secrets", "uuid")
BITS_OF_SEED = 128  # of a generator of numpy's
SIZE_OF_MT19937 = 4 * 624 + 4  # the words, and which is the next

_here = threading.local()  # .watch: of the hook that this thread works for


def real_path(named: Any, folder: Any = None) -> str:
    """Absolute, without links; of another file system as it is. `folder`: an open one that it is relative to."""
    path: str = os.fsdecode(named)
    if path.startswith("file://"):
        path = path[len("file://"):]
    if "://" in path:
        return path
    if isinstance(folder, int) and folder >= 0:
        path = os.path.join(f"/proc/self/fd/{folder}", path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def folder_path(path: str) -> str:
    return path.rstrip("/") if "://" in path else os.path.realpath(path).rstrip("/")


class Watch:
    """Of one play. `place()`: the method that is being called, and the step."""

    def __init__(self, place: Callable[[], tuple[str, int]]) -> None:
        self.place = place
        self.seen: list[dict[str, Any]] = []
        self.told: set[str] = set()
        self.free: tuple[str, ...] = ()  # folders whose files may be read
        self.driver = threading.current_thread()
        self.of_driver = self.profiler(frozenset(_KINDS.values()) | {"sleep"})

    def asks(self, what: str, name: str) -> None:
        """Only the first of each kind counts; of files each."""
        key = f"changes {name}" if what == "changes" else what
        if key in self.told or (what == "changes" and len(self.told) > MOST_CHANGES):
            return
        self.told.add(key)
        inside, step = self.place()
        inside = inside if threading.current_thread() is self.driver else ""
        self.seen.append({"what": what, "name": name, "inside": inside, "step": step})

    def changes(self, path: Any, folder: Any = None) -> None:
        real = real_path(path, folder)
        if real not in NO_FILES:
            self.asks("changes", real)

    def makes(self, path: Any, folder: Any = None) -> None:
        """A folder: where there is one, nothing changes."""
        if not os.path.isdir(real_path(path, folder)):
            self.changes(path, folder)

    def reads(self, path: Any, name: str) -> None:
        real = os.path.realpath(os.fsdecode(path))
        ours = whose.of_python(real) or real.endswith((".py", ".pyc", ".so")) or real in NO_FILES
        is_file = os.path.exists(real) and not os.path.isdir(real)
        if is_file and not ours and not any(real == folder or real.startswith(folder + "/") for folder in self.free):
            self.asks("files", name)

    def profiler(self, kinds: Container[str]) -> Callable[[FrameType, str, Any], None]:
        """Sees what is called, until that is too much: it makes each call dearer."""
        left = MOST_EVENTS
        names, builtin, codes = _NAMES, _Builtin, (_SEED, _WAIT)

        def profile(frame: FrameType, event: str, value: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                sys.setprofile(None)
            elif event == "c_call":
                if type(value) is builtin and value in names and _FUNCTIONS[value] in kinds:
                    self.calls(_FUNCTIONS[value], frame, names[value])
            elif frame.f_code in codes:
                if event == "call":
                    self.seeds(frame)
                elif event == "return" and value is False and "sleep" in kinds:
                    self.waited(frame)

        return profile

    def of_thread(self, frame: FrameType, event: str, value: Any) -> None:
        """The first event of a thread. Its clock is the machine's: no time can be virtual that runs in two places."""
        _here.watch = self
        sys.setprofile(self.profiler(("random", "thread")))

    def waited(self, frame: FrameType) -> None:
        """In vain: that is a sleep."""
        if (frame.f_locals.get("timeout") or 0) <= 0 or "sleep" in self.told:
            return
        asked = whose.behind(frame)
        if asked.whose == whose.HOOK:
            self.asks("sleep", asked.through)

    def seeds(self, frame: FrameType) -> None:
        """A generator without a seed takes one of the machine's."""
        if frame.f_code is _SEED and frame.f_locals.get("a", 0) is None:
            self.calls("random", frame, "random.seed")

    def calls(self, what: str, frame: FrameType, name: str) -> None:
        if what in self.told:
            return
        asked = whose.behind(frame)
        wanted = RANDOM_MODULES if what == "random" else ("",)  # Python's library may look at a clock for itself
        if asked.through == "random.SystemRandom.getrandbits" and _seeds_numpy(frame):
            return
        if asked.whose == whose.HOOK and asked.module in wanted:
            self.asks(what, asked.through or name)


def _seeds_numpy(frame: FrameType) -> bool:
    """A RandomState that is given a seed takes one of the machine's first."""
    return bool(frame.f_locals.get("k") == BITS_OF_SEED)


def _watch_numpy() -> None:
    inner = numpy.random.default_rng

    @functools.wraps(inner)
    def default_rng(seed: Any = None) -> Any:
        watch = getattr(_here, "watch", None)
        if seed is None and watch is not None and whose.behind(sys._getframe(1)).whose == whose.HOOK:
            watch.asks("random", "numpy.random.default_rng")
        return inner(seed)

    numpy.random.default_rng = default_rng


_Builtin = type(len)
_WAIT = threading.Condition.wait.__code__
_SEED = random.Random.seed.__code__
_NAMES: dict[Any, str] = {
    **{getattr(time, name): f"time.{name}" for name in (
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
        "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "clock_gettime_ns", "sleep")
       if hasattr(time, name)},
    datetime.datetime.now: "datetime.datetime.now", datetime.datetime.utcnow: "datetime.datetime.utcnow",
    datetime.datetime.today: "datetime.datetime.today", datetime.date.today: "datetime.date.today",
    random.random: "random.random", random.getrandbits: "random.getrandbits", os.urandom: "os.urandom",
    **({os.getrandom: "os.getrandom"} if hasattr(os, "getrandom") else {}),
    _thread.start_new_thread: "_thread.start_new_thread",
}
_KINDS = {"time": "clock", "datetime": "clock", "random": "random", "os": "random", "_thread": "thread"}
_FUNCTIONS = {function: "sleep" if name == "time.sleep" else _KINDS[name.split(".")[0]]
              for function, name in _NAMES.items()}


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """While a method of the hook is called. Where somebody measures with a profiler, there is no other one."""
    before, of_threads = sys.getprofile(), getattr(threading, "_profile_hook", None)
    numbers = _state_of_numpy()
    _here.watch = watch
    if before is None:
        threading.setprofile(watch.of_thread)
        sys.setprofile(watch.of_driver)
    try:
        yield
    finally:
        if before is None:
            sys.setprofile(None)
            threading.setprofile(of_threads)
        _here.watch = None
        if _state_of_numpy() != numbers:
            watch.asks("random", "numpy.random")


def _state_of_numpy() -> bytes:
    """Of the generator that everybody has; its functions are not seen by a profiler. Asking for the state takes 0.1 ms,
    so it is looked at where it lies."""
    generator = numpy.random.mtrand._rand._bit_generator
    if type(generator).__name__ != "MT19937":
        return b""
    return ctypes.string_at(generator.ctypes.state_address, SIZE_OF_MT19937)


def for_tensorflow() -> Watch | None:
    """Where TensorFlow's Python, which is about to change a file, tells so; None: it is nobody's doing."""
    watch: Watch | None = getattr(_here, "watch", None)
    return None if watch is None or whose.imports(whose.outside(sys._getframe(1))) else watch


# Audit events.
def _opened(watch: Watch, name: str, path: Any, _mode: Any = None, flags: int = 0) -> None:
    if isinstance(path, int):
        return
    if flags & WRITES:
        watch.changes(path)
    else:
        watch.reads(path, name)


def _removed(watch: Watch, _name: str, path: Any, folder: Any = None) -> None:
    if os.path.lexists(real_path(path, folder)):
        watch.changes(path, folder)


def _made(watch: Watch, _name: str, path: Any, _mode: Any = None, folder: Any = None) -> None:
    watch.makes(path, folder)


def _renamed(watch: Watch, _name: str, old: Any, new: Any, old_folder: Any = None, new_folder: Any = None) -> None:
    watch.changes(old, old_folder)
    watch.changes(new, new_folder)


def _linked(watch: Watch, _name: str, _old: Any, new: Any, *_more: Any) -> None:
    watch.changes(new)


def _changed(watch: Watch, _name: str, path: Any, *_more: Any) -> None:
    if not isinstance(path, int) and os.fsdecode(path) != ":memory:":
        watch.changes(path)


def _reached_out(watch: Watch, name: str, *_more: Any) -> None:
    watch.asks("others", name)


_EVENTS: dict[str, Callable[..., None]] = {
    "open": _opened, "os.remove": _removed, "os.rmdir": _removed, "os.mkdir": _made, "os.rename": _renamed,
    "os.link": _linked, "os.symlink": _linked, "os.truncate": _changed, "os.chmod": _changed, "os.utime": _changed,
    "sqlite3.connect": _changed,
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
                     "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
                     "socket.gethostbyname", "socket.gethostbyaddr"), _reached_out),
}


def _audit(event: str, args: tuple[Any, ...]) -> None:
    handler = _EVENTS.get(event)
    watch = getattr(_here, "watch", None) if handler is not None else None
    if handler is None or watch is None:
        return
    with contextlib.suppress(OSError, TypeError, ValueError):  # of what it was called with: it will fail by itself
        asked = whose.behind(sys._getframe(1))
        if asked.whose == whose.HOOK:
            handler(watch, asked.through or event, *args)


_watch_numpy()
sys.addaudithook(_audit)
