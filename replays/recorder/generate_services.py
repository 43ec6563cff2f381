"""Random scenarios of a supervisor's running services, and of checkpoint managers. Needs no TensorFlow.

The order of the draws is part of what a seed means.
"""

from generate_supervisor import CODES, ERRORS, random_model, sometimes
from generate_units import damage


def services(r):
    """A supervisor whose services run in threads of their own, which take turns with the caller."""
    session = {"kind": "supervisor", "services": True, "logdir": True}
    session.update(sometimes(r, .75, lambda: {"save_summaries_secs": r.choice([.5, 1, 2, 5])}))
    session.update(sometimes(r, .75, lambda: {"save_model_secs": r.choice([1, 2, 3, 10])}))
    session.update(sometimes(r, .2, lambda: {"stop_grace_secs": r.choice([0, 1, 5])}))
    model, checkpoint = {}, {}
    random_model(r, model)
    model.pop("input", None)
    if r.random() < .25:
        checkpoint["preload"] = sorted(r.sample(range(1, 12), r.randint(1, 3)))
    made = {"session": session, "model": model, "checkpoint": checkpoint, "hooks": []}
    body = [statement(r) for _ in range(r.randint(2, 6))]
    if r.random() < .3:
        made["scope"] = "bare"
        made["drive"] = by_hand(r, body)
    else:
        made["drive"] = body
    made.update(sometimes(r, .2, lambda: {"after": [{"op": "should_stop"}, {"op": "clock"}]}))
    made["faults"] = faults(r)
    return made


def statement(r):
    if r.random() < .5:
        return simple(r)
    return {"op": "loop", "max": r.randint(2, 6), "body": [simple(r) for _ in range(r.randint(1, 3))]}


def simple(r):
    x = r.random()
    catch = sometimes(r, .2, lambda: {"catch": True})
    if x < .35:
        return {"op": "run", **catch, **sometimes(r, .3, lambda: {"times": r.randint(2, 3)})}
    if x < .65:
        return {"op": "advance", "secs": r.choice([.25, .5, 1, 2, 4, 11])}
    if x < .72:
        return {"op": "should_stop"}
    if x < .80:
        loop = {"op": "start_loop", "every_secs": r.choice([.5, 1, 3])}
        loop.update(sometimes(r, .5, lambda: {"secs": r.choice([.25, 1, 2, 7])}))
        return {**loop, **sometimes(r, .2, lambda: {"code": r.choice(CODES)})}
    if x < .85:
        return {"op": "start_services", **catch}
    if x < .90:
        return {"op": "summary_computed", **sometimes(r, .5, lambda: {"step": r.randint(0, 50)}), **catch}
    if x < .94:
        return {"op": "request_stop", **sometimes(r, .6, lambda: {"code": r.choice(ERRORS)}), **catch}
    if x < .97:
        return {"op": "clock"}
    return {"op": "raise", "code": r.choice(CODES), **catch}


def by_hand(r, body):
    """Up to two sessions, one after the other, each with a share of the body."""
    drive = []
    for share in range(r.randint(1, 2)):
        drive.append({"op": "prepare"})
        drive += body[share::2]
        if r.random() < .85:
            drive.append({"op": "stop", **sometimes(r, .5, lambda: {"catch": True})})
        if r.random() < .7:
            drive.append({"op": "close"})
    return drive


def faults(r):
    made = []
    for _ in range(r.choice([0, 0, 1, 1, 2])):
        fault = {"at": r.choice(["save", "save", "read_step", "read_step", "summary", "raw_run"]),
                 "call": r.randint(1, 8), "code": r.choice(ERRORS)}
        if fault["at"] in ("save", "raw_run") and r.random() < .3:
            fault["effect"] = "lost_reply"
        made.append(fault)
    return made


def manager(r):
    ops, step = [], r.randint(0, 3)
    for _ in range(r.randint(4, 16)):
        x = r.random()
        if x < .5:
            step = max(0, step + r.choice([1, 1, 1, 2, 5, 0, -2]))
            op = {"op": "save", "step": step, **sometimes(r, .15, lambda: {"number": r.randint(0, 9)})}
            ops.append({**op, **sometimes(r, .15, lambda: {"check_interval": r.random() < .3})})
        elif x < .68:
            ops.append({"op": "advance", "secs": r.choice([.25, 1.0, 900.0, 1800.0, 4000.0])})
        elif x < .78:
            ops.append({"op": "new_manager", "args": manager_arguments(r)})
            ops += [{"op": "restore"}] if r.random() < .6 else []
        elif x < .86:
            ops.append({"op": "restore"})
        elif x < .90:
            ops.append(damage(r, lambda: r.randint(1, 4)))
        else:
            ops.append({"op": "latest" if x < .94 else "checkpoints"})
    return {"unit": "checkpoint_manager", "args": manager_arguments(r), "ops": ops}


def manager_arguments(r):
    args = sometimes(r, .8, lambda: {"max_to_keep": r.choice([None, 0, 1, 1, 2, 2, 3, 4])})
    args.update(sometimes(r, .4, lambda: {"keep_checkpoint_every_n_hours": r.choice([0, .25, .5, 1])}))
    args.update(sometimes(r, .15, lambda: {"checkpoint_name": r.choice(["model.ckpt", "other-7"])}))
    if r.random() < .3:
        args["checkpoint_interval"] = r.choice([1, 2, 3])
        args.update(sometimes(r, .3, lambda: {"last_checkpoint_step": r.randint(0, 4)}))
        args.update(sometimes(r, .05, lambda: {"no_step_counter": True}))
    args.update(sometimes(r, .3, lambda: {"init_fn": True}))
    return args
