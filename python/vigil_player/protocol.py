"""The player protocol (docs/players.md) from the side of a player. Needs no TensorFlow.

A player is asked by lines of JSON and answers each with one line, until there are no more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol, TextIO

PROTOCOL = 1

Scenario = dict[str, Any]


class Cannot(Exception):
    """The scenario is one that the player does not play; says why, in the same words for the same reason."""


class Player(Protocol):
    """Who plays."""

    def greeting(self) -> dict[str, Any]:
        """Name, version, kinds, hooks, faults, behaviours, ...: all of a hello but type and protocol."""

    def play(self, scenario: Scenario, lives: int = 1) -> dict[str, Any]:
        """All of a "played" but type and id; `lives`: sessions one after the other. Raises Cannot."""


class NoQuestion(Exception):
    """A line that is no question: whoever asks speaks another language."""


def answer(player: Player, line: str) -> dict[str, Any]:
    """The answer to one line."""
    try:
        question = json.loads(line)
        kind = question["type"]
    except (ValueError, KeyError, TypeError) as error:
        raise NoQuestion(f"no question: {line[:80]!r}") from error
    if kind == "hello":
        if PROTOCOL not in question.get("protocols", []):
            raise NoQuestion(f"this player speaks protocol {PROTOCOL}, asked for are {question.get('protocols')}")
        return {"type": "hello", "protocol": PROTOCOL, **player.greeting()}
    if kind != "play":
        raise NoQuestion(f"no question: {line[:80]!r}")
    try:
        played = player.play(question["scenario"], question.get("lives", 1))
        return {"type": "played", "id": question["id"], **played}
    except Cannot as why:
        return {"type": "cannot", "id": question["id"], "reason": str(why)}


def serve(player: Player, questions: Iterable[str], answers: TextIO) -> None:
    """Answers all questions."""
    for line in questions:
        if line.strip():
            answers.write(json.dumps(answer(player, line), separators=(",", ":")) + "\n")
            answers.flush()
