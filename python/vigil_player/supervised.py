"""The caller of a Supervisor: a managed session, or the same steps by hand."""

from . import world
from .caller import Statements, fetches_of, log, result_text
from .errors import make_error
from .hooks import start_deaf_thread
from .model import new_server_state
from .recorded import asked, hand_out, scaffold_of, services_text
from .seams import run_init_fn
from .tensorflow_v1 import summary_pb2, supervisor, tf

SERVICES = {
    "summary": supervisor.SVSummaryThread,
    "step_counter": supervisor.SVStepCounterThread,
    "checkpoint": supervisor.SVTimerCheckpointThread,
}


class SupervisorCaller(Statements):
    """The constructor may refuse the scenario's arguments."""

    def __init__(self, scenario, directory):
        self.scenario = scenario
        self.session = None
        self.services = {}
        self.master = new_server_state() if scenario["session"].get("shared_state") else ""
        model = world.active.model
        self.supervisor = tf.train.Supervisor(graph=model.graph, **self.arguments(directory))
        model.scaffold = scaffold_of(self.supervisor)

    def arguments(self, directory):
        spec, scaffold = self.scenario["session"], self.scenario.get("scaffold", {})
        args = {k: v for k, v in spec.items() if k not in ("kind", "logdir", "shared_state", "services")}
        for service in ("save_summaries_secs", "save_model_secs"):
            args.setdefault(service, 0)
        if spec.get("logdir"):
            args["logdir"] = directory
        if scaffold.get("init_fn"):
            args["init_fn"] = run_init_fn
        if "init_feed" in scaffold:
            args["init_feed_dict"] = {world.active.model.base_value: scaffold["init_feed"]}
        return args

    def drive(self):
        if self.scenario.get("scope", "with") == "bare":
            return self.block(self.scenario["drive"])
        with self.supervisor.managed_session(self.master) as self.session:
            hand_out(world.active, self.session)
            self.block(self.scenario["drive"])

    def should_stop(self):
        return self.supervisor.should_stop()

    def run(self, statement, prefix):
        values = self.session.run(fetches_of(statement))
        world.active.run_takes_time()
        log(prefix + result_text(statement, values))

    def do_prepare(self, statement):
        log("prepare")
        wait = statement.get("max_wait_secs", 7200)
        self.session = self.supervisor.prepare_or_wait_for_session(self.master, max_wait_secs=wait)
        hand_out(world.active, self.session)

    def do_request_stop(self, statement):
        if "code" not in statement:
            return self.supervisor.request_stop()
        try:
            raise make_error(statement["code"])
        except Exception as error:
            self.supervisor.request_stop(error)

    def do_guarded(self, statement):
        with self.supervisor.stop_on_exception():
            self.block(statement["body"])

    def do_stop(self, statement):
        with asked(world.active, "stop", "stopped"):
            self.supervisor.stop(
                **{k: statement[k] for k in ("close_summary_writer", "ignore_live_threads") if k in statement})

    def do_close(self, _statement):
        with asked(world.active, "close", "closed"):
            self.session.close()

    def do_start_services(self, _statement):
        threads = self.supervisor.start_standard_services(self.session)
        log(services_text(threads))

    def do_service(self, statement):
        """One pass of a service's loop, made by the caller."""
        name = statement["name"]
        if name not in self.services:
            self.services[name] = SERVICES[name](self.supervisor, self.session)
            world.active.log(f"service {name} start")
            self.services[name].start_loop()
        world.active.log(f"service {name} loop")
        self.services[name].run_loop()

    def do_start_loop(self, statement):
        def called():
            world.active.log("called at=%g" % (world.active.now - world.START))
            world.active.pass_time(statement.get("secs", 0))
            if "code" in statement:
                raise make_error(statement["code"])

        self.supervisor.loop(statement["every_secs"], called)

    def do_summary_computed(self, statement):
        value = summary_pb2.Summary.Value(tag="mine", simple_value=1.5)
        step = {"global_step": statement["step"]} if "step" in statement else {}
        self.supervisor.summary_computed(self.session, summary_pb2.Summary(value=[value]), **step)

    def do_start_thread(self, statement):
        start_deaf_thread(self.supervisor.coord, statement["secs"])
