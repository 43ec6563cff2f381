"""What one task of a cluster did in a play, and what several plays had in common: sets and ranges."""

COUNTED_CODES = ("run_failed", "create_failed")
STEPS_BACK = ("step_back_silent", "step_back_recovered")
RANGES = ("longest_run_s", "opened_after_s", "last_step", "hook_end")


def task_facts(events, alive):
    """Of all lives of a task, from what it printed; `alive`: it ran when the play ended."""

    def of(kind):
        return [event for event in events if event["ev"] == kind]

    done, starts, opened, back = of("done"), of("start"), of("open"), of("step_back")
    if done and done[-1] is events[-1]:
        outcome = done[-1]["outcome"]
    else:
        outcome = "running" if alive else "killed"
    return {
        "outcome": outcome,
        "sessions": len(of("session")),
        "run_failed": [event["code"] for event in of("run_failed")],
        "create_failed": [event["code"] for event in of("create_failed")],
        "step_back_silent": [event["from"] - event["to"] for event in back if event["silent"]],
        "step_back_recovered": [event["from"] - event["to"] for event in back if not event["silent"]],
        "longest_run_s": max((event["secs"] for event in of("run")), default=0),
        "opened_after_s": round(opened[0]["t"] - starts[0]["t"], 1) if opened else None,
        "last_step": max((event["step"] for event in of("run")), default=0),
        "hook_end": len(of("hook_end")),
        "text": done[-1].get("text") if done else None,
    }


def span(values):
    return [min(values), max(values)]


def merge_task(facts):
    out = {"outcome": sorted({fact["outcome"] for fact in facts}), "sessions": span([f["sessions"] for f in facts])}
    for key in COUNTED_CODES:
        out[key] = sorted({code for fact in facts for code in fact[key]})
        out[key + "_times"] = span([len(fact[key]) for fact in facts])
    for key in STEPS_BACK:
        out[key + "_times"] = span([len(fact[key]) for fact in facts])
        steps = [step for fact in facts for step in fact[key]]
        if steps:
            out[key] = span(steps)
    for key in RANGES:
        values = [fact[key] for fact in facts if fact[key] is not None]
        if values:
            out[key] = span(values)
    texts = sorted({fact["text"] for fact in facts if fact["text"]})
    if texts:
        out["texts"] = texts
    return out


def merge(plays):
    """`expect` of a scenario, from its plays."""
    newest = [play["newest"] for play in plays if play["newest"] is not None]
    return {
        "tasks": {task: merge_task([play["tasks"][task] for play in plays]) for task in plays[0]["tasks"]},
        "newest_checkpoint": span(newest) if newest else None,
        "repeats": len(plays),
    }


def kept(play):
    """A play by itself, as `plays` of an `expect` has it."""
    out = {"tasks": {name: {key: value for key, value in task.items() if value is not None}
                     for name, task in play["tasks"].items()}}
    if play["newest"] is not None:
        out["newest_checkpoint"] = play["newest"]
    return out


def tenths(values):
    """The middles of ten equal parts."""
    ordered = sorted(values)
    return [ordered[int((part + 0.5) / 10 * len(ordered))] for part in range(10)]


def boots(plays):
    """From the start of a process to its server, of all lives but the first: its tenths.

    What is started first, with everything else at once, takes longer, and nothing hangs on it."""
    seen = []
    for play in plays:
        for events in play["events"].values():
            started = None
            lives = 0
            for event in events:
                if event["ev"] == "start":
                    started = event["t"]
                    lives += 1
                elif event["ev"] == "up" and lives > 1:
                    seen.append(event["t"] - started)
    if not seen:
        return []
    return sorted({round(value, 2) for value in tenths(seen)})


def join(a, b):
    """Of two sets the union, of two ranges the least that holds both."""
    if a is None or b is None:
        return b if a is None else a
    if any(isinstance(value, str) for value in a + b) or not a or not b:
        return sorted(set(a) | set(b))
    return [min(a[0], b[0]), max(a[1], b[1])]


def widen(recorded, further):
    """What was expected before, and what further plays showed."""
    tasks = {}
    for task, old in recorded["tasks"].items():
        new = further["tasks"][task]
        tasks[task] = {key: join(old.get(key), new.get(key)) for key in list(old) + [k for k in new if k not in old]}
    return {
        "tasks": tasks,
        "newest_checkpoint": join(recorded["newest_checkpoint"], further["newest_checkpoint"]),
        "repeats": recorded["repeats"] + further["repeats"],
    }
