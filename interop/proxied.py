#!/usr/bin/env python3
"""The programs of clients.py through `vigil proxy` before TensorFlow's own server: without faults, with one fault drawn
for each, and with several. They must come to what is known of TensorFlow's client and of its monitored sessions, and
what these did must keep the rules.

  proxied.py SEED COUNT
"""

from __future__ import annotations

import gc
import json
import os
import random

import clients
from clients import Numbers
from exchange import Exchange, judged, run_drawn, serving, tool_path
from vigil_player import observe
from vigil_player.tensorflow_v1 import tf

# Of each program, which calls a fault may meet, and whether its session recovers.
CALLS = {
    clients.monitored: (["train", "save", "ready", "init", "create_session"], True),
    clients.resumed: (["train", "ready", "init", "create_session"], True),
    clients.classes: (["train", "ready", "init", "create_session"], True),
    clients.embedded: (["train", "ready", "init", "create_session"], True),
    clients.hooked: (["train", "ready", "init", "create_session"], True),
    clients.supervised: (["train", "ready", "init", "create_session"], False),
    clients.convolved: (["train", "init"], False),
    clients.saved: (["init", "save", "restore"], False),
    clients.branched: (["init"], False),
    clients.queued: (["init", "run", "enqueue"], False),
}
MOST = {"train": 5}  # so many of these calls there are, at least; of others one
# Their threads share the calls, and a recovery finds the queues of an input closed: where they end is not one thing.
OPEN_ENDED = (clients.hooked, clients.queued)
# The rules speak of monitored sessions and of supervisors; these have neither.
WITHOUT_RULES = (clients.convolved, clients.saved, clients.branched, clients.queued)
PREEMPTIONS = ("UNAVAILABLE", "ABORTED")
ERRORS = {"UNAVAILABLE": "UnavailableError", "ABORTED": "AbortedError", "INTERNAL": "InternalError"}


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


def drawn_faults(r: random.Random, program: object) -> list[dict]:
    """Two to four, of calls that none of the others meets. A client that asks once more meets what comes next, so
    between two calls of a kind there is one without a fault."""
    faults: dict[tuple[str, int], dict] = {}
    for _ in range(r.randint(2, 4)):
        fault = drawn_fault(r, program)
        fault["nth"] = 2 * fault["nth"] - 1
        faults.setdefault((fault["on"], fault["nth"]), fault)
    return list(faults.values())


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


def wrong_sessions(fired: list[dict], quiet: list[dict], faulty: list[dict], seen: Numbers | str) -> str:
    if isinstance(seen, str) or any(fault["on"] == "create_session" for fault in fired):
        return ""
    more, lost = sessions(faulty) - sessions(quiet), sum(code_seen(fault) is not None for fault in fired)
    return "" if more == lost else f"it has {more} more sessions than without faults, of which {lost} cost one"


def wrong(program: object, plan: list[dict], quiet: list[dict], faulty: list[dict], direct: Numbers | str,
          seen: Numbers | str) -> str:
    """What is not as it must be; empty: nothing."""
    numbers = [call["fault"] for call in faulty if "fault" in call]
    if len(set(numbers)) != len(numbers) or (len(plan) == 1 and not numbers):
        return f"of {len(plan)} faults these fired: {numbers}"
    fired = [plan[number - 1] for number in numbers]
    if program in OPEN_ENDED:
        return ""
    what = wrong_sessions(fired, quiet, faulty, seen)
    if what:
        return what
    codes = [code for code in map(code_seen, fired) if code is not None]
    fatal = [code for code in codes if not (CALLS[program][1] and code in PREEMPTIONS)]
    if fatal:
        return "" if isinstance(seen, str) and seen.startswith(ERRORS[fatal[0]]) else f"it does not end with {ERRORS[fatal[0]]}"
    if not codes:
        return "" if clients.same(direct, seen) else "it sees other numbers, though nothing reaches it"
    if isinstance(seen, str):
        return "it ends with an error, though its session recovers"
    return "" if program is not clients.monitored or seen[-1] == 20 else f"it ends at step {seen[-1]}"


SERVER: list[tf.train.Server] = []  # TensorFlow's cannot be ended
WATCHED: list[observe.Output] = []


def play_one(name: str, program: object, plan: list[dict], drawn: int, folder: str) -> tuple[Numbers | str, list[dict], str]:
    """What the program sees, what the proxy saw of it, and which rules it broke."""
    path = os.path.join(folder, name)
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(plan, file)
    with serving(tool_path("../cli/vigil-proxy"), "--to", SERVER[0].target.removeprefix("grpc://"), "--plan", file.name,
                 "--trace", path + ".calls") as (_, proxy), WATCHED[0].watching(path + ".jsonl"):
        seen = clients.run(program, proxy, drawn, path)
        # A supervisor that cannot prepare its session leaves it open, and TensorFlow's waits for ever, when it is collected,
        # for a master that is gone.
        gc.collect()
    return seen, calls(path + ".calls"), "" if program in WITHOUT_RULES else judged(path + ".jsonl")


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    r = random.Random(f"proxied {seed} {number}")
    program = list(CALLS)[number % len(CALLS)]
    drawn = r.randrange(2**32)
    plans = {"quiet": [], "one": [drawn_fault(r, program)], "several": drawn_faults(r, program)}
    if not SERVER:
        SERVER.append(tf.train.Server.create_local_server())
        WATCHED.append(observe.installed())
    direct = clients.run(program, SERVER[0].target, drawn, os.path.join(folder, "direct"))
    quiet: list[dict] = []
    for name, plan in plans.items():
        seen, traced, broken = play_one(name, program, plan, drawn, folder)
        exchange.counts["plays"] += 1
        exchange.counts["held to the rules"] += program not in WITHOUT_RULES
        exchange.counts["faults"] += sum("fault" in call for call in traced)
        if plan:
            exchange.counts["recovered" if not isinstance(seen, str) else "ended by a fault"] += 1
            what = wrong(program, plan, quiet, traced, direct, seen)
        else:
            quiet = traced
            what = "" if clients.same(direct, seen) else "it sees other numbers behind a proxy that does nothing"
        if what or broken:
            exchange.differ(f"seed {seed} number {number}, {program.__name__}, {json.dumps(plan)}: {what}: {seen!r}, "
                            f"without the proxy {direct!r}\n{broken}")


if __name__ == "__main__":
    raise SystemExit(run_drawn(__doc__, play))
