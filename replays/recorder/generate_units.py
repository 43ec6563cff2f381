"""Random unit recordings. Needs no TensorFlow. The order of the draws is part of what a seed means."""

from generate_supervisor import ERRORS, sometimes


def scenario(r):
    kind = r.choice(["saver", "saver", "saver", "coordinator", "timer"])
    return {"timer": timer, "coordinator": coordinator, "saver": saver}[kind](r)


def timer(r):
    args = {"every_secs": r.choice([.5, 1.0, 3.0])} if r.random() < .5 else {"every_steps": r.randint(1, 5)}
    ops, step = [], 0
    for _ in range(r.randint(3, 14)):
        x = r.random()
        step = max(0, step + r.choice([0, 1, 1, 2, 5, -4]))
        if x < .3:
            ops.append({"op": "advance", "secs": r.choice([.25, .5, 1, 4])})
        elif x < .7:
            ops.append({"op": "should_trigger", "step": step})
        elif x < .95:
            ops.append({"op": "update", "step": step})
        else:
            ops.append({"op": "reset"})
    return {"unit": "timer", "args": args, "ops": ops}


def coordinator(r):
    ops = []
    for _ in range(r.randint(3, 12)):
        op = {"op": r.choice(["request_stop", "request_stop", "request_stop", "should_stop", "wait_for_stop",
                              "clear_stop", "join", "joined", "raise_requested", "scope", "scope"])}
        if op["op"] in ("request_stop", "scope"):
            op.update(sometimes(r, .6, lambda: {"code": r.choice(ERRORS)}))
        ops.append(op)
    clean = sometimes(r, .4, lambda: {"clean": r.sample(["OUT_OF_RANGE", "CANCELLED", "ABORTED"], r.randint(0, 2))})
    return {"unit": "coordinator", "ops": ops, **clean}


def saver(r):
    ops, step = [], r.randint(0, 3)
    for _ in range(r.randint(4, 16)):
        x = r.random()
        if x < .55:
            step = max(0, step + r.choice([1, 1, 1, 2, 5, 0, -2]))
            ops.append({"op": "save", "step": step, **save_arguments(r)})
        elif x < .68:
            ops.append({"op": "advance", "secs": r.choice([1.0, 900.0, 1800.0, 4000.0])})
        elif x < .75:
            ops.append({"op": "new_saver", "args": saver_arguments(r), **sometimes(r, .6, lambda: {"recover": True})})
        elif x < .83:
            path = sometimes(r, .5, lambda: {"path": "model.ckpt-%d" % max(0, step - r.randint(0, 4))})
            ops.append({"op": "restore", **path})
        elif x < .88:
            ops.append(damage(r, lambda: max(0, step - r.randint(0, 3))))
        else:
            ops.append({"op": "latest" if x < .94 else "last"})
    return {"unit": "saver", "args": saver_arguments(r), "ops": ops}


def damage(r, draw_step):
    """draw_step() says of which checkpoint, where it is one of them."""
    op = {"op": "damage", "what": r.choice(["empty_state", "garbage_state", "missing_index", "missing_dir_entry"])}
    return {**op, "step": draw_step()} if op["what"].startswith("missing") else op


def save_arguments(r):
    args = sometimes(r, .1, lambda: {"name": r.choice(["other.ckpt", "no/such/model.ckpt", "checkpoint"])})
    args.update(sometimes(r, .08, lambda: {"with_step": False}))
    args.update(sometimes(r, .1, lambda: {"write_meta_graph": False}))
    args.update(sometimes(r, .1, lambda: {"write_state": False}))
    args.update(sometimes(r, .06, lambda: {"latest_filename": r.choice(["other", "x/other"])}))
    return args


def saver_arguments(r):
    args = sometimes(r, .7, lambda: {"max_to_keep": r.choice([None, 0, 1, 2, 2, 3, 4])})
    args.update(sometimes(r, .4, lambda: {"keep_checkpoint_every_n_hours": r.choice([.5, 1, 2])}))
    args.update(sometimes(r, .15, lambda: {"pad_step_number": True}))
    args.update(sometimes(r, .2, lambda: {"save_relative_paths": True}))
    args.update(sometimes(r, .2, lambda: {"sharded": True}))
    return args
