"""The caller of a session: executes the statements of a scenario. supervisor.py has the caller of a supervisor."""

from . import watch, world
from .errors import make_error, noted
from .hooks import is_traced, run_options
from .recorded import session_text
from .tensorflow_v1 import config_pb2
from .text import options_text, value_text, yes_no


def log(text):
    world.active.log("driver " + text)


class Statements:
    """What both callers have in common. A subclass has `should_stop`, `run` and a do_OP for each further statement."""

    def block(self, body):
        for statement in body:
            world.active.give_way()
            try:
                getattr(self, "do_" + statement["op"])(statement)
            except Exception as error:
                if not statement.get("catch"):
                    raise
                log("caught " + noted(world.active, error))

    def asks_should_stop(self):
        stop = self.should_stop()
        log("should_stop -> " + yes_no(stop))
        return stop

    def do_should_stop(self, _statement):
        self.asks_should_stop()

    def do_loop(self, statement):
        for _ in range(statement["max"]):
            if self.asks_should_stop():
                break
            self.block(statement["body"])

    def do_raise(self, statement):
        log("raises " + statement["code"])
        raise make_error(statement["code"])

    def do_advance(self, statement):
        world.active.pass_time(statement["secs"])

    def do_clock(self, _statement):
        log("clock %g" % (world.active.now - world.START))

    def do_run(self, statement):
        for _ in range(statement.get("times", 1)):
            log("run")
            self.run(statement, "result ")


def fetches_of(statement):
    if "fetch" in statement:
        return world.active.model.fetches(statement["fetch"])
    return {"step": world.active.model.train, "fed": world.active.model.fed}


def result_text(statement, values):
    if "fetch" in statement:
        return value_text(values)
    return "step=%d fed=%d" % (values["step"], values["fed"])


class Caller(Statements):
    """Of a monitored session."""

    def __init__(self, session):
        self.session = session
        self.step_body = []

    def should_stop(self):
        return self.session.should_stop()

    def run(self, statement, prefix, run=None):
        """A run as the statement says, on the session or with `run`."""
        args = {}
        if "feed" in statement:
            args["feed_dict"] = {world.active.model.feed_me: statement["feed"]}
        options = run_options(statement.get("options", {}))
        if options_text(options) != "defaults":  # they are no options
            args["options"] = options
        metadata = config_pb2.RunMetadata() if statement.get("metadata") else None
        if metadata is not None:
            args["run_metadata"] = metadata
        values = (run or self.session.run)(fetches_of(statement), **args)
        log(prefix + result_text(statement, values))
        if metadata is not None:
            log("metadata traced=" + is_traced(metadata))

    def do_close(self, _statement):
        log("close")
        self.session.close()
        log("closed")

    def do_step(self, statement):
        calls = 0

        def step_fn(step_context):
            nonlocal calls
            calls += 1
            watch.step_fn_is_called(step_context.session)
            log(f"step call={calls} session={session_text(step_context.session)}")
            body = [s for s in statement["body"] if s.get("on_call", calls) == calls]
            step = StepBody(self, step_context)
            with watch.told("step_fn_return", value=lambda: int(step.asked_to_stop)):
                step.block(body)

        log("run_step_fn")
        self.session.run_step_fn(step_fn)
        log("run_step_fn done")


class StepBody(Statements):
    """Inside a step function."""

    def __init__(self, caller, step_context):
        self.caller = caller
        self.context = step_context
        self.asked_to_stop = False

    def do_raw_run(self, _statement):
        self.context.session.run(world.active.model.fed)

    def do_run_with_hooks(self, statement):
        def run(*args, **kwargs):
            world.active.note("inner_run_start")
            with watch.told("inner_run_end"):
                return self.context.run_with_hooks(*args, **kwargs)

        self.caller.run(statement, "step result ", run)

    def do_request_stop(self, _statement):
        log("step requests_stop")
        self.asked_to_stop = True
        self.context.request_stop()

    def do_raise(self, statement):
        log("step raises " + statement["code"])
        raise make_error(statement["code"])
