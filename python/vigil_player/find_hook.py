"""Who makes the hook that is to be verified: MODULE:HOOK, where MODULE is imported or a file that ends in .py. Needs no
TensorFlow."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class NoHook(Exception):
    """MODULE:HOOK names nothing that can be verified."""


def module_of(name: str) -> ModuleType:
    if not name.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise NoHook(f"there is no module {name!r}: {error}") from error
    spec = importlib.util.spec_from_file_location(os.path.basename(name)[:-3], name)
    if spec is None or spec.loader is None or not os.path.exists(name):
        raise NoHook(f"there is no file {name!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_maker(words: str) -> Callable[[Any], Any]:
    """A function of HookParts. HOOK is one already, or a class or a function that needs no arguments."""
    name, _, attribute = words.rpartition(":")
    if not name:
        raise NoHook(f"expected MODULE:HOOK, got {words!r}")
    maker: Callable[..., Any] | None = getattr(module_of(name), attribute, None)
    if maker is None or not callable(maker):
        raise NoHook(f"{name!r} has no hook {attribute!r}")
    needed = [parameter for parameter in inspect.signature(maker).parameters.values()
              if parameter.default is parameter.empty and parameter.kind in
              (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)]
    if not needed:
        made = maker
        return lambda _parts: made()
    if inspect.isclass(maker) or len(needed) > 1:
        raise NoHook(f"{attribute!r} needs arguments ({', '.join(p.name for p in needed)}): name a function of one "
                     f"argument that makes it, as `def {attribute.lower()}(w): return {attribute}(w.loss)`")
    return maker
