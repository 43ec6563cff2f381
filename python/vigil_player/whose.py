"""Who is to be asked for what Python does: the frames of a thread, and whose code they are. Needs no TensorFlow.

Python's own library works for who calls it, and so does numpy's. What happens while a module is imported is nobody's
doing: it happens once in a process.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sysconfig
from types import FrameType
from typing import NamedTuple

LIBRARY, IMPORT, HARNESS, TENSORFLOW, HOOK = "library", "import", "harness", "tensorflow", "hook"

HERE = os.path.dirname(os.path.abspath(__file__))
STANDARD = tuple({os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib")})
PACKAGES = tuple({os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("purelib", "platlib")})
PACKAGE_FOLDERS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


@functools.cache
def _packages_of_tensorflow() -> tuple[str, ...]:
    """Folders of TensorFlow, and of what it is made with."""
    specs = (importlib.util.find_spec(name) for name in ("tensorflow", "keras", "absl", "google"))
    folders = (spec.submodule_search_locations or () for spec in specs if spec is not None)
    return tuple(folder + os.sep for some in folders for folder in some)


def in_packages(path: str) -> bool:
    return path.startswith(PACKAGES) or any(folder in path for folder in PACKAGE_FOLDERS)


def of_python(path: str) -> bool:
    """Python's own library, and what is installed beside it."""
    return path.startswith(STANDARD) or in_packages(path)


@functools.cache
def whose_file(path: str) -> str:
    if path.startswith("<frozen importlib"):
        return IMPORT
    if path.startswith("<frozen"):
        return LIBRARY
    if os.path.dirname(path) == HERE:
        return HARNESS
    if path.startswith(_packages_of_tensorflow()):
        return TENSORFLOW
    real = os.path.realpath(path)
    return LIBRARY if real.startswith(STANDARD) and not in_packages(real) else HOOK


class Asked(NamedTuple):
    """Who is behind what is done in a frame."""

    whose: str
    through: str  # the function of Python's library that they have called for it; "": none
    module: str  # where that is


def _name_of(frame: FrameType) -> str:
    name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    name = name[: -len(".__init__")] if name.endswith(".__init__") else name
    return f"{frame.f_globals.get('__name__', '')}.{name}".replace("random.Random.", "random.")


def behind(frame: FrameType | None) -> Asked:
    """`frame`: the innermost one."""
    through = module = ""
    whose = HARNESS
    while frame is not None:
        whose = whose_file(frame.f_code.co_filename)
        if whose != LIBRARY:
            break
        through, module = _name_of(frame), frame.f_globals.get("__name__", "")
        frame = frame.f_back
    return Asked(IMPORT if imports(frame) else whose, through, module)


def outside(frame: FrameType) -> FrameType | None:
    """The innermost frame that is none of ours."""
    found: FrameType | None = frame
    while found is not None and whose_file(found.f_code.co_filename) == HARNESS:
        found = found.f_back
    return found


def imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported, up to where the hook was called."""
    while frame is not None:
        whose = whose_file(frame.f_code.co_filename)
        if whose in (IMPORT, HARNESS):
            return whose == IMPORT
        frame = frame.f_back
    return False
