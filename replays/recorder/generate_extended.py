"""Random scenarios over what the recorder learned last. Needs no TensorFlow.

The order of the draws is part of what a seed means.

Each starts from a session scenario of the profile `order` and is then about one thing.
"""

import generate_sessions
from generate_sessions import CODES, PREEMPTIONS
from generate_supervisor import sometimes

NAMES = ["step", "train", "fed", "loss", "train_op", "missing"]
DEAF = 100000  # seconds, longer than any grace period
THINGS = ["options", "options", "fetches", "fetches", "init_feed", "enqueue", "stuck", "profiler", "catch",
          "device_setter", "looper"]


def scenario(r):
    thing = r.choice(THINGS)
    if thing == "device_setter":
        return device_setter(r)
    if thing == "looper":
        return looper(r)
    made = generate_sessions.scenario(r, "stepfn" if thing == "catch" else "order")
    {"options": options, "fetches": fetches, "init_feed": init_feed, "enqueue": enqueue, "stuck": stuck,
     "profiler": profiler, "catch": catch}[thing](r, made)
    return made


def statements(body, *ops):
    """All statements of these kinds, inside others too."""
    for statement in body:
        if statement["op"] in ops:
            yield statement
        yield from statements(statement.get("body", []), *ops)


def probes(made):
    return [hook for hook in made["hooks"] if hook["hook"] == "probe"]


def some_probe(r, made):
    if not probes(made):
        made["hooks"].append({"hook": "probe", "name": "p", "plan": []})
    return r.choice(probes(made))


def run_options(r):
    spec = sometimes(r, .5, lambda: {"trace_level": r.choice(["none", "software", "hardware", "full", "full"])})
    spec.update(sometimes(r, .4, lambda: {"timeout_in_ms": 1000 * r.randint(600, 900)}))
    spec.update(sometimes(r, .2, lambda: {"inter_op_thread_pool": r.randint(0, 2)}))
    for flag in ("output_partition_graphs", "report_tensor_allocations_upon_oom", "reset_disk_byte_usage"):
        spec.update(sometimes(r, .15, lambda: {flag: r.random() < .8}))
    spec.update(sometimes(r, .4, lambda: {"watches": r.sample(["fed:0", "train:0", "loss:0"], r.randint(1, 2))}))
    return spec


def options(r, made):
    """Who asks for what of a run, and what comes of it."""
    for _ in range(r.randint(1, 3)):
        call = r.choice([None, None, 1, 2, [2, 3]])
        entry = {"method": "before_run", "call": call, "do": "options", "options": run_options(r)}
        some_probe(r, made)["plan"].append(entry)
    some_probe(r, made)["plan"].append({"method": "after_run", "call": None, "do": "show"})
    for statement in statements(made["drive"], "run", "run_with_hooks"):
        statement.update(sometimes(r, .4, lambda: {"options": run_options(r)}))
        statement.update(sometimes(r, .3, lambda: {"metadata": True}))


def fetch(r, depth=0):
    x = r.random()
    if depth == 3 or x < .5:
        return r.choice(NAMES[:-1]) if depth or r.random() < .9 else "missing"
    if x < .75:
        return [fetch(r, depth + 1) for _ in range(r.choice([0, 1, 2, 2, 3]))]
    return {key: fetch(r, depth + 1) for key in r.sample(["b", "a", "loss", "c"], r.choice([0, 1, 2, 3]))}


def fetches(r, made):
    for statement in statements(made["drive"], "run", "run_with_hooks"):
        statement.update(sometimes(r, .7, lambda: {"fetch": fetch(r)}))
    for _ in range(r.randint(0, 2)):
        entry = {"method": "before_run", "call": r.choice([None, 1, 2]), "do": "fetch", "what": fetch(r, 1)}
        some_probe(r, made)["plan"].append(entry)
    for probe in probes(made):
        probe["plan"].append({"method": "after_run", "call": None, "do": "show"})


def init_feed(r, made):
    """A variable whose initial value must be fed to the init op."""
    made.setdefault("model", {})["fed_variable"] = True
    made.setdefault("scaffold", {}).update(sometimes(r, .85, lambda: {"init_feed": r.randint(-5, 50)}))
    made.get("checkpoint", {}).pop("preload", None)
    made.get("checkpoint", {}).pop("damage", None)
    for statement in statements(made["drive"], "run"):
        statement.update(sometimes(r, .5, lambda: {"fetch": ["base", "train"]}))


def enqueue(r, made):
    """What fills the queue fails, at the first call of a session: later ones race with the runs."""
    made["model"] = {**made.get("model", {}), "batches": r.randint(1, 4), "input": "queue"}
    made["hooks"] = probes(made)
    for hook in made["hooks"]:
        hook["plan"] = [e for e in hook["plan"] if e["do"] in ("fetch", "feed", "request_stop")]
    made["drive"] = [{"op": "run", **sometimes(r, .4, lambda: {"catch": True})} for _ in range(r.randint(1, 3))]
    code = r.choice(PREEMPTIONS + [c for c in CODES if c not in ("STOP_ITERATION", "OTHER")])
    made["faults"] = [{"at": "enqueue", "call": r.choice([1, 1, [1, 2]]), "code": code}]


def stuck(r, made):
    """A thread that hears of no stop costs its grace period. (One that ends within it is seen late.)"""
    if r.random() < .6:
        made["session"]["stop_grace_period_secs"] = r.choice([0, 1, 5, 30])
    entry = {"method": r.choice(["after_create_session", "before_run", "after_run"]), "call": r.choice([None, 1, 1]),
             "do": "start_thread", "value": DEAF}
    some_probe(r, made)["plan"].insert(0, entry)
    if made.get("model", {}).pop("input", None):
        made["model"].pop("batches")
    made["after"] = [{"op": "clock"}] + made.get("after", [])
    made["drive"].append({"op": "clock"})


def profiler(r, made):
    checkpoint = made.setdefault("checkpoint", {})
    checkpoint["dir"] = True
    value = r.randint(1, 3)
    hook = {"hook": "profiler", r.choice(["save_steps", "save_steps", "save_secs"]): value}
    made["hooks"].insert(r.randint(0, len(made["hooks"])), hook)


def catch(r, made):
    """The function of a step catches what its statements fail with."""
    for statement in statements(made["drive"], "run_with_hooks", "raw_run", "raise"):
        statement.update(sometimes(r, .5, lambda: {"catch": True}))


def device_setter(r):
    args = sometimes(r, .3, lambda: {"cluster": r.choice([["ps", "ps", "worker"], ["worker"], ["ps"], ["main", "ps"]])})
    if not args or r.random() < .3:
        args["ps_tasks"] = r.randint(0, 3)
    args.update(sometimes(r, .3, lambda: {"ps_device": r.choice(
        ["/job:main", "/job:ps/cpu:0", "/cpu:0", "/job:ps/task:3"])}))
    args.update(sometimes(r, .3, lambda: {"worker_device": r.choice(
        ["/job:worker/task:7", "/gpu:0", "/job:main/gpu:1"])}))
    args.update(sometimes(r, .2, lambda: {"merge_devices": False}))
    args.update(sometimes(r, .2, lambda: {"ps_ops": r.choice([["Const"], ["VariableV2", "NoOp"], []])}))
    ops = []
    for _ in range(r.randint(1, 7)):
        device = sometimes(r, .4, lambda: {"device": r.choice(
            ["/job:ps", "/job:worker", "/cpu:1", "/job:ps/task:1", "/job:ps/gpu:2", "/task:2", "/job:main/replica:1"])})
        ops.append({"op": "node", "type": r.choice(["VariableV2"] * 3 + ["Const", "NoOp", "Placeholder"]), **device})
    return {"unit": "device_setter", "args": args, "ops": ops}


def looper(r):
    args = {"timer_interval_secs": r.choice([None, 0.5, 2, 2, 10])}
    args.update(sometimes(r, .08, lambda: {"start_code": r.choice(CODES)}))
    args.update(sometimes(r, .08, lambda: {"stop_code": r.choice(CODES)}))
    ops = []
    for _ in range(r.randint(1, 8)):
        op = {"op": "pass", **sometimes(r, .6, lambda: {"secs": r.choice([0.25, 1, 2, 5, 21])})}
        op.update(sometimes(r, .07, lambda: {"stop": True}))
        op.update(sometimes(r, .07, lambda: {"code": r.choice(CODES)}))
        ops.append(op)
    return {"unit": "looper", "args": args, "ops": ops}
