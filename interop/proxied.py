#!/usr/bin/env python3
"""The programs of clients.py through `vigil proxy` before TensorFlow's own server: with one fault drawn for each, they
must come to what is known of TensorFlow's client and of its monitored sessions.

  proxied.py SEED COUNT
"""

from __future__ import annotations

import json
import os
import random

import clients
from clients import Numbers
from exchange import Exchange, run_drawn, serving, tool_path
from vigil_player.tensorflow_v1 import tf

# Of each program, which calls a fault may meet, and whether its session recovers. (The others: an input whose queues
# a recovery finds closed, threads that share the calls.)
CALLS = {
    clients.monitored: (["train", "save", "ready", "init", "create_session"], True),
    clients.resumed: (["train", "ready", "init", "create_session"], True),
    clients.classes: (["train", "ready", "init", "create_session"], True),
    clients.embedded: (["train", "ready", "init", "create_session"], True),
    clients.supervised: (["train"], False),
    clients.convolved: (["train", "init"], False),
    clients.saved: (["init", "save", "restore"], False),
    clients.branched: (["init"], False),
}
MOST = {"train": 5}  # so many of these calls there are, at least; of others one
PREEMPTIONS = ("UNAVAILABLE", "ABORTED")


def drawn_fault(r: random.Random, program: object) -> dict:
    fault = {"on": r.choice(CALLS[program][0]), "fault": r.choice(["error", "error", "error", "lost_reply", "reset", "delay"])}
    often = 3 if program is clients.monitored and fault["on"] == "save" else MOST.get(fault["on"], 1)
    fault["nth"] = r.randint(1, often)
    if fault["fault"] == "delay":
        fault["for_s"] = 0.2
    if fault["fault"] == "error":
        fault["code"] = r.choice(["UNAVAILABLE", "ABORTED", "INTERNAL"])
        fault["by"] = r.choice(["status", "body"]) if fault["on"] != "create_session" else "status"
        fault["when"] = r.choice(["before", "after"])
    return fault


def code_seen(fault: dict) -> str | None:
    """What the program's own session gets; None: nothing, as TensorFlow's client asks once more what was UNAVAILABLE
    by gRPC, and its server knows a step by its number."""
    if fault["fault"] == "delay":
        return None
    code = fault.get("code", "UNAVAILABLE")
    if code != "UNAVAILABLE" or fault.get("by") == "body":
        return code
    took_effect = fault["fault"] == "lost_reply" or fault.get("when") == "after"
    return "ABORTED" if took_effect and fault["on"] != "create_session" else None


def calls(trace: str) -> list[dict]:
    with open(trace, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def sessions(traced: list[dict]) -> int:
    return sum(call["kind"] == "create_session" for call in traced)


def wrong(program: object, fault: dict, quiet: list[dict], faulty: list[dict], direct: Numbers | str,
          seen: Numbers | str) -> str:
    """What is not as it must be; empty: nothing."""
    times = sum("fault" in call for call in faulty)
    if times != 1:
        return f"the fault fired {times} times"
    code = code_seen(fault)
    if not isinstance(seen, str) and fault["on"] != "create_session":
        more = sessions(faulty) - sessions(quiet)
        if more != (1 if code is not None else 0):
            return f"it has {more} more sessions than without the fault"
    if code is None:
        return "" if clients.same(direct, seen) else "it sees other numbers, though nothing reaches it"
    if CALLS[program][1] and code in PREEMPTIONS:
        if isinstance(seen, str):
            return "it ends with an error, though its session recovers"
        return "" if program is not clients.monitored or seen[-1] == 20 else f"it ends at step {seen[-1]}"
    expected = {"UNAVAILABLE": "UnavailableError", "ABORTED": "AbortedError", "INTERNAL": "InternalError"}[code]
    return "" if isinstance(seen, str) and seen.startswith(expected) else f"it does not end with {expected}"


SERVER: list[tf.train.Server] = []  # TensorFlow's cannot be ended


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    r = random.Random(f"proxied {seed} {number}")
    program = list(CALLS)[number % len(CALLS)]
    drawn = r.randrange(2**32)
    fault = drawn_fault(r, program)
    if not SERVER:
        SERVER.append(tf.train.Server.create_local_server())
    target = SERVER[0].target
    direct = clients.run(program, target, drawn, os.path.join(folder, "direct"))
    traces: list[list[dict]] = []
    for plan in ([], [fault]):
        name = "faulty" if plan else "quiet"
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(plan, file)
        trace = os.path.join(folder, name + ".jsonl")
        with serving(tool_path("../cli/vigil-proxy"), "--to", target.removeprefix("grpc://"), "--plan", file.name,
                     "--trace", trace) as (_, proxy):
            seen = clients.run(program, proxy, drawn, os.path.join(folder, name))
        exchange.counts["plays"] += 1
        traces.append(calls(trace))
        if plan:
            exchange.counts["recovered" if not isinstance(seen, str) else "ended by the fault"] += 1
            what = wrong(program, fault, *traces, direct, seen)
        else:
            what = "" if clients.same(direct, seen) else "it sees other numbers behind a proxy that does nothing"
        if what:
            exchange.differ(f"seed {seed} number {number}, {program.__name__}, {json.dumps(plan)}: {what}: {seen!r}, "
                            f"without the proxy {direct!r}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
