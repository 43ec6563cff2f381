"""The TensorFlow that is installed, as a player."""

from __future__ import annotations

from typing import Any

from . import scope, watch  # noqa: F401  (watch: installed by the import)
from .play import play_for_others
from .protocol import Scenario
from .tensorflow_v1 import tf


class TensorFlowPlayer:
    """Plays one scenario after the other in this process."""

    def greeting(self) -> dict[str, Any]:
        return {
            "name": "tensorflow",
            "version": tf.__version__,
            "kinds": list(scope.KINDS),
            "hooks": list(scope.HOOKS),
            "faults": list(scope.FAULTS),
            "behaviours": ["tensorflow"],
            "typed": True,
            "details": [],
            "choices": False,
        }

    def play(self, scenario: Scenario) -> dict[str, Any]:
        scope.check(scenario)
        return play_for_others(scenario)
