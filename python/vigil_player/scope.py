"""Which scenarios can be played here: what of them TensorFlow has, and this player a way to do. Needs no TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .protocol import Cannot, Scenario

KINDS = ("monitored", "singular", "training", "supervisor", "unit")
HOOKS = ("probe", "stop_at_step", "checkpoint_saver", "step_counter", "summary_saver", "logging_tensor", "nan_tensor",
         "final_ops", "feed_fn", "global_step_waiter", "profiler")
FAULTS = ("create", "restore", "init", "init_fn", "ready_for_local_init", "local_init", "ready", "queue_runners", "run",
          "read_step", "raw_run", "save", "summary", "final_ops", "close", "sleep", "enqueue")

FIELDS = {
    "": {"id", "title", "format", "seed", "behaviour", "session", "scope", "model", "scaffold", "checkpoint", "hooks",
         "faults", "drive", "after", "limits", "choices", "expect"},
    "model": {"global_step", "steps_per_run", "nan_at", "batches", "input", "local_variable", "fed_variable", "device",
              "summary", "run_secs"},
    "scaffold": {"init_fn", "init_feed"},
    "checkpoint": {"dir", "filename", "preload", "preload_keep", "damage"},
    "fault": {"at", "call", "code", "effect", "advance_step", "chief_init"},
    "limits": {"events", "virtual_s"},
}


def unknown(known: str, value: Scenario) -> Iterator[str]:
    place = f"{known}." if known else ""
    return (f"{place}{field}" for field in value if field not in FIELDS[known])


def fields_beyond(scenario: Scenario) -> Iterator[str]:
    """Fields that nobody here looks at."""
    yield from unknown("", scenario)
    for part in ("model", "scaffold", "checkpoint", "limits"):
        yield from unknown(part, scenario.get(part, {}))
    for fault in scenario.get("faults", []):
        yield from unknown("fault", fault)
    if "stop_on_sigterm" in scenario.get("session", {}):
        yield "session.stop_on_sigterm"


def check(scenario: Scenario) -> None:
    """Raises Cannot for what would be played in another way than it is meant."""
    if "unit" in scenario:
        return
    for field in fields_beyond(scenario):
        raise Cannot(f"not the field {field}")
    model = scenario.get("model", {})
    for fault in scenario.get("faults", []):
        for field in ("chief_init", "advance_step"):
            if field in fault and not model.get("global_step", True):
                raise Cannot(f"no {field} of a model without a global step")
        if "chief_init" in fault and (model.get("fed_variable") or not scenario.get("session", {}).get("shared_state")):
            raise Cannot("no chief_init of what nothing can initialise")


def events_limit(scenario: Scenario) -> int:
    limits: dict[str, Any] = scenario.get("limits", {})
    return int(limits.get("events", 600))
