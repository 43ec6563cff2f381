"""The hooks of a scenario: probes and listeners that act by plan, and TensorFlow's own."""

from . import world
from .errors import make_error
from .recorded import session_text
from .tensorflow_v1 import config_pb2, tf
from .text import TRACE_LEVELS, options_text, value_text, yes_no


def run_options(spec):
    """RunOptions from a scenario's `options`."""
    fields = dict(spec)
    options = config_pb2.RunOptions(trace_level=TRACE_LEVELS.index(fields.pop("trace_level", "none")))
    for watch in fields.pop("watches", []):
        node, slot = watch.rsplit(":", 1)
        options.debug_options.debug_tensor_watch_opts.add(node_name=node, output_slot=int(slot))
    options.debug_options.reset_disk_byte_usage = fields.pop("reset_disk_byte_usage", False)
    for name, value in fields.items():
        setattr(options, name, value)
    return options


def is_traced(metadata):
    return yes_no(len(metadata.step_stats.dev_stats) > 0)


class DeafThread:
    """What a coordinator sees of a thread that hears of no stop until its time is over."""

    name = "deaf"

    def __init__(self, secs):
        self.end = world.active.now + secs

    def is_alive(self):
        return world.active.now < self.end


def start_deaf_thread(coordinator, secs):
    thread = DeafThread(secs)
    world.active.deaf.append(thread)
    coordinator.register_thread(thread)


class Probe(tf.train.SessionRunHook):
    """Logs each of its calls and does what its plan says."""

    tells_itself = True

    def __init__(self, name, plan):
        self.name = name
        self.plan = plan
        self.calls = {}
        self.coordinator = None
        self.index = None  # its place in the list

    def log(self, text, **more):
        world.active.log(f"hook {self.name} {text}", **more)

    def act(self, method, text, session=None, context=None, values=None):
        """The call's event, then all entries of the plan that match it, in order; `raise` ends it."""
        number = self.calls[method] = self.calls.get(method, 0) + 1
        self.log(method + text, **({} if self.index is None else {"index": self.index}))
        asked = {}
        for entry in self.plan:
            if entry["method"] == method and world.matches(entry.get("call"), number):
                asked.update(self.do(entry, session, context, values) or {})
        return tf.train.SessionRunArgs(asked.get("fetches"), asked.get("feed"), asked.get("options")) if asked else None

    def do(self, entry, session, context, values):
        """One entry of the plan. Returns what it adds to SessionRunArgs."""
        do, model = entry["do"], world.active.model
        if do == "raise":
            self.log("raises " + entry["code"])
            raise make_error(entry["code"])
        if do == "request_stop":
            self.log("requests_stop")
            context.request_stop()
        elif do == "coordinator_stop":
            self.log("stops_coordinator")
            self.coordinator.request_stop()
        elif do == "report":
            self.log("reports " + entry["code"])
            try:
                raise make_error(entry["code"])
            except Exception as error:
                self.coordinator.request_stop(error)
        elif do == "start_thread":
            self.log("starts_thread %g" % entry["value"])
            start_deaf_thread(self.coordinator, entry["value"])
        elif do == "read_step":
            session.run(model.read)
        elif do == "fetch":
            return {"fetches": model.fetches(entry["what"])}
        elif do == "feed":
            return {"feed": {model.feed_me: entry["value"]}}
        elif do == "options":
            return {"options": run_options(entry["options"])}
        elif do == "show":
            self.log(f"sees results {value_text(values.results)}")
            self.log(f"sees options {options_text(values.options)} traced={is_traced(values.run_metadata)}")
        else:
            raise KeyError(do)
        return None

    def begin(self):
        self.act("begin", "")

    def after_create_session(self, session, coord):
        self.coordinator = coord
        self.act("after_create_session", " session=%s" % session_text(session), session)

    def before_run(self, context):
        world.active.model.session = context.session
        return self.act("before_run", " session=%s" % session_text(context.session), context.session, context)

    def after_run(self, context, values):
        text = " session=%s" % session_text(context.session)
        if values.results is not None and not isinstance(values.results, (dict, list)):
            text += " results=%g" % values.results
        self.act("after_run", text, context.session, context, values)

    def end(self, session):
        self.act("end", " session=%s" % session_text(session), session)


class Listener(tf.train.CheckpointSaverListener):
    """A checkpoint saver's listener that acts by plan."""

    def __init__(self, name, plan):
        self.name = name
        self.plan = plan
        self.calls = {}

    def act(self, method, text):
        number = self.calls[method] = self.calls.get(method, 0) + 1
        world.active.log(f"listener {self.name} {method}{text}")
        for entry in self.plan:
            if entry["method"] != method or entry["call"] != number:
                continue
            if entry["do"] == "raise":
                world.active.log(f"listener {self.name} raises {entry['code']}")
                raise make_error(entry["code"])
            world.active.log(f"listener {self.name} requests_stop")
            return True
        return None

    def begin(self):
        self.act("begin", "")

    def before_save(self, _session, step):
        self.act("before_save", " step=%d" % step)

    def after_save(self, _session, step):
        return self.act("after_save", " step=%d" % step)

    def end(self, _session, step):
        self.act("end", " step=%d" % step)


def make_hook(spec, directory):
    """A hook of the scenario. Its constructor may refuse its arguments."""
    args = dict(spec)
    kind = args.pop("hook")
    model = world.active.model
    if kind == "probe":
        return Probe(args["name"], args.get("plan", []))
    if kind == "stop_at_step":
        return tf.train.StopAtStepHook(**args)
    if kind == "checkpoint_saver":
        listeners = [Listener(entry["name"], entry.get("plan", [])) for entry in args.pop("listeners", [])]
        return tf.train.CheckpointSaverHook(directory, scaffold=model.scaffold, listeners=listeners or None, **args)
    if kind == "step_counter":
        return tf.train.StepCounterHook(output_dir=directory, **args)
    if kind == "summary_saver":
        return tf.train.SummarySaverHook(output_dir=directory, scaffold=model.scaffold, **args)
    if kind == "logging_tensor":
        return tf.train.LoggingTensorHook({name: model.named(name) for name in args.pop("tensors")}, **args)
    if kind == "nan_tensor":
        return tf.train.NanTensorHook(model.loss, **args)
    if kind == "final_ops":
        with model.graph.as_default():
            final = tf.identity(model.named(args["what"]))
        model.final.append(final)
        return tf.train.FinalOpsHook(final)
    if kind == "feed_fn":
        return tf.train.FeedFnHook(lambda: {model.feed_me: args["value"]})
    if kind == "global_step_waiter":
        return tf.train.GlobalStepWaiterHook(**args)
    if kind == "profiler":
        return tf.train.ProfilerHook(output_dir=directory, **args)
    raise KeyError(kind)
