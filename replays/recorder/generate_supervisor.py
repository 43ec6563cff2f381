"""Random scenarios of the Supervisor: managed and by hand, chief and worker. Needs no TensorFlow.

The order of the draws is part of what a seed means.
"""

from generate_sessions import DAMAGES

ERRORS = ["ABORTED", "UNAVAILABLE", "OUT_OF_RANGE", "INTERNAL", "CANCELLED", "OTHER", "DATA_LOSS"]
CODES = ERRORS + ["STOP_ITERATION"]


def sometimes(r, chance, make):
    """`make()` with this chance, else nothing."""
    return make() if r.random() < chance else {}


def scenario(r):
    worker = r.random() < .25
    session = {"kind": "supervisor"}
    model, checkpoint = {}, {}
    if worker:
        session.update(is_chief=False, shared_state=True)
        model["device"] = "/job:localhost/task:0"
        session.update(sometimes(r, .4, lambda: {"recovery_wait_secs": r.choice([1, 5, 30, 60])}))
    session.update(sometimes(r, .2 if worker else .8, lambda: {"logdir": True}))
    random_model(r, model)
    if not worker and r.random() < .4:
        checkpoint["preload"] = sorted(r.sample(range(1, 12), r.randint(1, 3)))
        checkpoint.update(sometimes(r, .3, lambda: {"damage": r.choice(DAMAGES)}))
    init_fn = r.random() < .3
    made = {"session": session, "model": model, "checkpoint": checkpoint,
            "scaffold": {"init_fn": True} if init_fn and not worker else {}, "hooks": []}
    services = ["checkpoint", "step_counter"] + (["summary"] if model.get("summary") else [])
    says = Statements(r, services if session.get("logdir") and not worker else [])
    body = [says.any() for _ in range(r.randint(1, 6))]
    if r.random() < .3:
        made["scope"] = "bare"
        made["drive"] = by_hand(r, body, worker)
    else:
        made["drive"] = body + ([says.stop()] if r.random() < .15 else [])
    made.update(sometimes(r, .2, lambda: {"after": [{"op": "should_stop"}]}))
    made["faults"] = random_faults(r, worker)
    return made


def random_model(r, model):
    if r.random() < .5:
        model["run_secs"] = r.choice([.25, 1, 3])
    if r.random() < .3:
        model["steps_per_run"] = r.choice([0, 2, 3])
    if r.random() < .3:
        model["batches"] = r.randint(0, 5)
    if "batches" in model and r.random() < .3:
        model["input"] = "queue"
    if r.random() < .5:
        model["summary"] = True
    if r.random() < .3:
        model["local_variable"] = True
    if r.random() < .15:
        model["nan_at"] = r.randint(1, 4)


class Statements:
    """`services`: those that can be called; none if the supervisor has no directory or is no chief."""

    def __init__(self, r, services):
        self.r = r
        self.services = services

    def any(self):
        r = self.r
        if r.random() >= .5:
            return self.simple()
        most = r.randint(1, 5)
        return {"op": "loop", "max": most, "body": [self.simple() for _ in range(r.randint(1, 3))]}

    def simple(self):
        r = self.r
        x = r.random()
        catch = sometimes(r, .3, lambda: {"catch": True})
        if x < .40:
            return {"op": "run", **catch, **sometimes(r, .3, lambda: {"times": r.randint(2, 3)})}
        if x < .50:
            return {"op": "should_stop"}
        if x < .72 and self.services:
            return {"op": "service", "name": r.choice(self.services), **catch}
        if x < .58:
            return {"op": "run"}
        if x < .78:
            return {"op": "summary_computed", **sometimes(r, .5, lambda: {"step": r.randint(0, 50)}), **catch}
        if x < .84:
            return {"op": "advance", "secs": r.choice([.5, 2, 40])}
        if x < .88:
            return {"op": "request_stop", **sometimes(r, .6, lambda: {"code": r.choice(ERRORS)}), **catch}
        if x < .93:
            guarded = {"op": "run"} if r.random() < .5 else {"op": "raise", "code": r.choice(CODES)}
            return {"op": "guarded", "body": [guarded]}
        if x < .96:
            return {"op": "start_services", **catch}
        return {"op": "raise", "code": r.choice(CODES), **catch}

    def stop(self):
        return {"op": "stop", "catch": self.r.random() < .5}


def by_hand(r, body, worker):
    """Up to three sessions, one after the other, each with a share of the body."""
    drive = []
    for share in range(r.randint(1, 3)):
        prepare = {"op": "prepare", **sometimes(r, .2, lambda: {"catch": True})}
        if worker:
            prepare["max_wait_secs"] = r.choice([10, 70])
        drive.append(prepare)
        drive += body[share::2]
        if r.random() < .8:
            drive.append({
                "op": "stop",
                **sometimes(r, .3, lambda: {"close_summary_writer": False}),
                **sometimes(r, .2, lambda: {"ignore_live_threads": True}),
                **sometimes(r, .5, lambda: {"catch": True})})
        if r.random() < .7:
            drive.append({"op": "close"})
    return drive


def random_faults(r, worker):
    faults = []
    if worker:
        faults.append({"at": r.choice(["create", "sleep"]), "call": r.randint(1, 2), "chief_init": r.randint(0, 5)})
    points = ["raw_run", "raw_run", "create", "ready", "local_init", "close", "read_step", "summary"]
    if not worker:
        points += ["init", "init_fn", "restore", "save", "save"]
    for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
        fault = {"at": r.choice(points), "call": r.randint(1, 4), "code": r.choice(ERRORS)}
        if fault["at"] in ("save", "raw_run") and r.random() < .3:
            fault["effect"] = "lost_reply"
        faults.append(fault)
    return faults
