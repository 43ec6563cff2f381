"""Every single fault and every pair of faults in a small scope: two probes and three runs. Needs no TensorFlow."""

HOOK_CALLS = (("begin", 1), ("after_create_session", 2), ("before_run", 3), ("after_run", 3), ("end", 1))
SESSION_CALLS = (("create", 2), ("init", 2), ("local_init", 1), ("ready", 1), ("run", 3), ("close", 1))
CODES = ("ABORTED", "OUT_OF_RANGE", "INTERNAL")


def scenarios():
    singles = [(point, code) for point in points() for code in CODES]
    sets = [(one,) for one in singles]
    sets += [(one, other) for i, one in enumerate(singles) for other in singles[i + 1:] if one[0] != other[0]]
    for kind in ("monitored", "singular"):
        for number, errors in enumerate(sets):
            yield {"id": "pair_%s_%d" % (kind, number), "session": {"kind": kind}, **with_errors(errors),
                   "drive": [{"op": "loop", "max": 3, "body": [{"op": "run"}]}]}


def points():
    """(hook or None, method or kind of call, number)"""
    made = [(hook, method, call) for hook in "ab" for method, calls in HOOK_CALLS for call in range(1, calls + 1)]
    return made + [(None, at, call) for at, calls in SESSION_CALLS for call in range(1, calls + 1)]


def with_errors(errors):
    plans, faults = {"a": [], "b": []}, []
    for (hook, at, call), code in errors:
        if hook is None:
            faults.append({"at": at, "call": call, "code": code})
        else:
            plans[hook].append({"method": at, "call": call, "do": "raise", "code": code})
    made = {"hooks": [{"hook": "probe", "name": name, "plan": plan} for name, plan in plans.items()]}
    if faults:
        made["faults"] = faults
    return made
