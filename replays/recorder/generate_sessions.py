"""Random scenarios of monitored sessions. Needs no TensorFlow.

The order of the draws is part of what a seed means: a new choice is drawn after the old ones, or under a new profile.
"""

PREEMPTIONS = ["ABORTED", "UNAVAILABLE"]
CODES = PREEMPTIONS * 3 + ["OUT_OF_RANGE"] * 3 + [
    "CANCELLED", "INTERNAL", "OTHER", "STOP_ITERATION", "INVALID_ARGUMENT", "DATA_LOSS", "UNKNOWN",
    "FAILED_PRECONDITION", "NOT_FOUND", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"]
FAULT_CODES = [code for code in PREEMPTIONS * 5 + CODES if code not in ("STOP_ITERATION", "OTHER")]
DAMAGES = ["empty_state", "garbage_state", "missing_state", "missing_index", "missing_data"]


def scenario(r, profile):
    kind = "training" if profile in ("training", "worker") else r.choice(["monitored"] * 3 + ["singular"])
    made = {"session": {"kind": kind}}
    model = random_model(r)
    if r.random() < .2:
        made["scaffold"] = {"init_fn": True}
    checkpoint = random_checkpoint(r, profile)
    hooks = [probe(r, "abc"[i]) for i in range(r.randint(0, 3))]
    if profile in ("builtin", "training", "worker") or r.random() < .15:
        add_builtin_hooks(r, hooks, model, checkpoint)
    faults = random_faults(r)
    if profile == "training":
        training_arguments(r, made["session"])
    if profile == "worker":
        faults, hooks = as_worker(r, made["session"], model, faults, hooks)
    made["hooks"] = hooks
    if faults:
        made["faults"] = faults
    avoid_race(model, hooks + made["session"].get("chief_only_hooks", []))
    if model:
        made["model"] = model
    if checkpoint:
        made["checkpoint"] = checkpoint
    made["drive"] = random_drive(r, profile)
    if r.random() < .25:
        made["scope"] = "bare"
    if r.random() < .3:
        made["after"] = [
            r.choice([{"op": "should_stop"}, {"op": "run", "catch": True}, {"op": "close", "catch": True}])
            for _ in range(r.randint(1, 2))]
    return made


def avoid_race(model, hooks):
    """A stop of the coordinator races with the thread that fills a queue: such models get their input without one."""
    if any(entry["do"] in ("coordinator_stop", "report") for hook in hooks for entry in hook.get("plan", [])):
        model.pop("input", None)


def random_model(r):
    model = {}
    if r.random() < .3:
        model["batches"] = r.randint(0, 6)
    if "batches" in model and r.random() < .3:
        model["input"] = "queue"
    if r.random() < .3:
        model["run_secs"] = r.choice([0.25, 0.5, 1, 2, 7])
    if r.random() < .1:
        model["steps_per_run"] = r.choice([0, 2, 3])
    if r.random() < .1:
        model["nan_at"] = r.randint(1, 6)
    if r.random() < .2:
        model["local_variable"] = True
    if r.random() < .4:
        model["summary"] = True
    return model


def random_checkpoint(r, profile):
    checkpoint = {}
    if profile == "worker" or r.random() >= (.8 if profile in ("builtin", "training") else .35):
        return checkpoint
    checkpoint["dir"] = True
    if r.random() < .4:
        checkpoint["preload"] = sorted(r.sample(range(0, 12), r.randint(1, 6)))
        if r.random() < .2:
            checkpoint["damage"] = r.choice(DAMAGES)
    return checkpoint


def probe(r, name):
    return {"hook": "probe", "name": name, "plan": [plan_entry(r) for _ in range(r.choice([0, 0, 1, 1, 2, 3]))]}


def plan_entry(r):
    method = r.choice(
        ["before_run"] * 4 + ["after_run"] * 4 + ["after_create_session"] * 2 + ["begin", "end", "end"])
    in_run = method in ("before_run", "after_run")
    call = r.randint(1, 5) if in_run else r.randint(1, 2) if method == "after_create_session" else 1
    actions = ["raise"] * 5
    if in_run:
        actions += ["request_stop"] * 2
    if method == "before_run":
        actions += ["fetch", "feed"]
    if in_run or method == "after_create_session":
        actions += ["report", "coordinator_stop", "read_step"]
    elif method == "end":
        actions += ["read_step"]
    entry = {"method": method, "call": call, "do": r.choice(actions)}
    if entry["do"] == "raise":
        entry["code"] = r.choice(CODES)
    elif entry["do"] == "report":
        entry["code"] = r.choice([code for code in CODES if code != "STOP_ITERATION"])
    elif entry["do"] == "fetch":
        entry["what"] = r.choice(["step", "fed"])
    elif entry["do"] == "feed":
        entry["value"] = r.randint(1, 9)
    return entry


def listeners(r):
    made = []
    for name in "lm"[:r.randint(1, 2)]:
        plan = []
        if r.random() >= .5:
            entry = {"method": r.choice(["before_save", "after_save", "after_save", "end"]), "call": r.randint(1, 3),
                     "do": r.choice(["raise", "request_stop"]), "code": r.choice(CODES)}
            if entry["do"] == "request_stop":
                del entry["code"]
                entry["method"] = "after_save"
            plan.append(entry)
        made.append({"name": name, "plan": plan})
    return made


def one_of(r, names, most):
    """One of the arguments, with a small number."""
    value = r.randint(1, most)
    return {r.choice(names): value}


def add_builtin_hooks(r, hooks, model, checkpoint):
    for _ in range(r.randint(1, 3)):
        kind = r.choice(["stop_at_step", "checkpoint_saver", "step_counter", "summary_saver", "logging_tensor",
                         "nan_tensor", "final_ops", "feed_fn", "stop_at_step", "checkpoint_saver"])
        hook = {"hook": kind, **builtin_arguments(r, kind, model, checkpoint)}
        if kind == "final_ops" and any(other["hook"] == "final_ops" for other in hooks):
            continue
        hooks.insert(r.randint(0, len(hooks)), hook)


def builtin_arguments(r, kind, model, checkpoint):
    if kind == "stop_at_step":
        return one_of(r, ["last_step", "num_steps"], 9)
    if kind == "checkpoint_saver":
        checkpoint["dir"] = True
        args = one_of(r, ["save_steps", "save_steps", "save_secs"], 4)
        return {**args, "listeners": listeners(r)} if r.random() < .3 else args
    if kind == "step_counter":
        if r.random() < .7:
            return {"every_n_steps": r.randint(1, 4)}
        return {"every_n_steps": None, "every_n_secs": r.randint(1, 4)}
    if kind == "summary_saver":
        model["summary"] = True
        return one_of(r, ["save_steps", "save_secs"], 4)
    if kind == "logging_tensor":
        args = {"tensors": r.choice([["step"], ["fed"], ["step", "fed"]])}
        if r.random() < .7:
            args.update(one_of(r, ["every_n_iter", "every_n_secs"], 4))
        if r.random() < .4 or len(args) == 1:
            args["at_end"] = True
        return args
    if kind == "nan_tensor":
        return {"fail_on_nan_loss": False} if r.random() < .5 else {}
    if kind == "final_ops":
        return {"what": r.choice(["fed", "loss"])}
    return {"value": r.randint(1, 9)}  # feed_fn


def random_faults(r):
    points = ["run"] * 6 + ["create"] * 3 + [
        "init", "local_init", "ready", "ready_for_local_init", "restore", "save", "read_step", "close", "init_fn",
        "queue_runners", "final_ops", "raw_run"]
    faults = []
    for _ in range(r.choice([0, 0, 1, 1, 2, 3, 4])):
        at = r.choice(points)
        call = r.randint(1, 6) if at == "run" else r.randint(1, 3)
        fault = {"at": at, "call": call if r.random() < .85 else [call, call + 1], "code": r.choice(FAULT_CODES)}
        if at in ("run", "save", "init") and r.random() < .3:
            fault["effect"] = "lost_reply"
        faults.append(fault)
    return faults


def training_arguments(r, session):
    if r.random() < .5:
        session["save_checkpoint_steps"] = r.randint(1, 4)
    elif r.random() < .3:
        session["save_checkpoint_secs"] = r.choice([None, 0, 1, 3])
    if r.random() < .5:
        session["save_summaries_steps"] = r.choice([None, 1, 2, 3])
    elif r.random() < .3:
        session["save_summaries_secs"] = r.randint(1, 4)
    if r.random() < .5:
        session["log_step_count_steps"] = r.choice([None, 1, 2, 3])
    if r.random() < .3:
        session["chief_only_hooks"] = [probe(r, "x")]


def as_worker(r, session, model, faults, hooks):
    """A worker waits until its chief has initialised what they share. Returns the faults and hooks that it can have."""
    session.update(is_chief=False, shared_state=True)
    model.pop("batches", None)
    model.pop("input", None)
    if r.random() < .3:
        session["max_wait_secs"] = r.choice([10, 30, 70, 100])
    faults = [fault for fault in faults if fault["at"] not in ("init", "restore", "save")]
    faults.append(
        {"at": r.choice(["create", "sleep", "sleep"]), "call": r.randint(1, 3), "chief_init": r.randint(0, 5)})
    return faults, [hook for hook in hooks if hook["hook"] != "checkpoint_saver"]


def statement(r):
    made = random_statement(r)
    if made["op"] == "run":
        if r.random() < .1:
            made["feed"] = r.randint(1, 9)
        if r.random() < .1:
            made["times"] = r.randint(2, 3)
    if made["op"] in ("run", "step", "close", "should_stop") and r.random() < .15:
        made["catch"] = True
    return made


def random_statement(r):
    x = r.random()
    if x < .7:
        return {"op": "run"}
    if x < .78:
        return {"op": "should_stop"}
    if x < .82:
        return {"op": "close"}
    if x < .86:
        return {"op": "raise", "code": r.choice(CODES)}
    if x < .9:
        return {"op": "advance", "secs": r.choice([.5, 3, 40])}
    return step(r)


def step(r):
    body = []
    for _ in range(r.randint(1, 3)):
        made = {"op": r.choice(["raw_run", "run_with_hooks", "run_with_hooks", "request_stop", "raise"])}
        if made["op"] == "raise":
            made["code"] = r.choice(CODES)
            made["on_call"] = r.randint(1, 2)
        if made["op"] == "request_stop" and r.random() < .5:
            made["on_call"] = r.randint(1, 2)
        body.append(made)
    return {"op": "step", "body": body}


def random_drive(r, profile):
    x = r.random()
    if profile == "stepfn":
        most = r.randint(1, 4)
        drive = [{"op": "loop", "max": most, "body": [step(r)] + ([statement(r)] if r.random() < .3 else [])}]
    elif x < .6:
        most = r.randint(0, 8)
        body = [statement(r) if r.random() < .2 else {"op": "run"} for _ in range(r.choice([1, 1, 1, 2]))]
        drive = [{"op": "loop", "max": most, "body": body}]
    else:
        drive = [statement(r) for _ in range(r.randint(0, 6))]
    if r.random() < .2:
        drive.append(statement(r))
    return drive
