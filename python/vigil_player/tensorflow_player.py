"""The TensorFlow that is installed, as a player."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterable
from typing import Any

from . import scope, watch  # noqa: F401  (watch: installed by the import)
from .play import play_for_others, play_hook
from .protocol import Scenario
from .tensorflow_v1 import tf
from .verified import SHORT_OF_JOIN, Evidence, HookParts, Patience

LONG_PLAY = 45  # seconds
Maker = Callable[[HookParts], Any]


class TensorFlowPlayer:
    """Plays one scenario after the other in this process.

    `maker`: of a hook under verification, with its name, what it has leave to do (LEAVES in verified.py) and the
    folders that it may write.
    """

    def __init__(self, maker: Maker | None = None, name: str = "", leave: Iterable[str] = (),
                 may_write: Iterable[str] = ()) -> None:
        self.maker = maker
        self.name = name
        self.leave = frozenset(leave)
        self.may_write = tuple(may_write)
        self.patience = Patience()  # with threads that must see that their session is gone
        self.patience_of_joins = Patience(then=SHORT_OF_JOIN)  # before it is gone: some end by that only

    def greeting(self) -> dict[str, Any]:
        hooks = list(scope.HOOKS) + ([] if self.maker is None else ["foreign"])
        return {
            **({} if self.maker is None else {"hook": self.name}),
            "name": "tensorflow",
            "version": tf.__version__,
            "kinds": list(scope.KINDS),
            "hooks": hooks,
            "faults": list(scope.FAULTS),
            "behaviours": ["tensorflow"],
            "typed": True,
            "details": ["coordinator_detail"],
            "choices": False,
        }

    def play(self, scenario: Scenario, lives: int = 1) -> dict[str, Any]:
        scope.check(scenario)
        faulthandler.dump_traceback_later(LONG_PLAY)  # where it waits: the last words of a player that is killed
        try:
            if self.maker is None:
                return play_for_others(scenario)
            evidence = Evidence(self.leave, self.patience, self.may_write)
            return play_hook(scenario, self.maker, evidence, lives, self.patience_of_joins)
        finally:
            faulthandler.cancel_dump_traceback_later()
