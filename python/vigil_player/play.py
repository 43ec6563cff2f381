"""Plays one scenario on the TensorFlow that is installed, and says what happened."""

import os

from . import directory as checkpoints
from . import scope, seams, unit_players, world
from .caller import Caller, log
from .errors import make_error, noted
from .hooks import make_hook
from .model import Model, new_server_state
from .supervised import SupervisorCaller
from .tensorflow_v1 import tf, tf_logging

TRAINING_ARGUMENTS = ("is_chief", "save_checkpoint_steps", "save_checkpoint_secs", "save_summaries_steps",
                      "save_summaries_secs", "log_step_count_steps", "max_wait_secs")
GRACE = "stop_grace_period_secs"


def play(scenario):
    """A recording's `expect`: {"events", "final", "messages"} of a session; {"events"} of a unit. Raises Runaway."""
    return play_in(world.World(scenario, make_error, scope.events_limit(scenario)))


def play_for_others(scenario):
    """The same as the player protocol has it; what ran away says how far it got."""
    w = world.World(scenario, make_error, scope.events_limit(scenario))
    try:
        played = {"verdict": "played", **play_in(w)}
    except world.Runaway:
        played = {"verdict": "runaway", "reason": f"more than {w.limit} events", "messages": w.messages}
    if "unit" in scenario:
        return {"events": w.events, **played}
    typed = scenario.get("session", {}).get("kind") != "supervisor"
    return {**played, "events": w.stream, "typed": typed}


def play_hook(scenario, maker, evidence, lives=1, patience=None):
    """The same with a hook of somebody's own, which stands for "foreign" in the list of hooks: `maker(parts)`.
    `patience`: with threads that a coordinator waits for."""
    w = world.World(scenario, make_error, scope.events_limit(scenario))
    w.patience = patience
    try:
        played = {"verdict": "played", **play_in(w, Foreign(maker, evidence, lives))}
    except world.Runaway:
        played = {"verdict": "runaway", "reason": f"more than {w.limit} events", "messages": w.messages}
        if evidence.inside:
            evidence.offend("hook.blocks", f"does not return {evidence.where()}")
    return {**played, "events": w.stream, "hook": evidence.said()}


class Foreign:
    """A hook under verification, and how it is played."""

    def __init__(self, maker, evidence, lives):
        self.maker = maker
        self.evidence = evidence
        self.lives = lives

    def make(self, directory):
        from .verified import HookParts, Verified

        self.evidence.may_write_in(directory)
        try:
            hook = self.maker(HookParts(world.active.model, directory))
            if not isinstance(hook, tf.train.SessionRunHook):
                raise TypeError(f"it is no SessionRunHook: {hook!r}")
        except Exception as error:
            self.evidence.error = f"the hook could not be made: {type(error).__name__}: {error}"
            raise
        return Verified(hook, self.evidence)

    def end_of_life(self):
        self.evidence.end_of_life()
        world.active.calm = True
        world.active.model.graph._unsafe_unfinalize()


def play_in(w, foreign=None):
    scenario = w.scenario
    world.active = w
    tf_logging._log_counter_per_token.clear()  # a process-wide "first five"
    directory = None
    try:
        if "unit" in scenario:
            return unit_players.play(scenario)
        directory = checkpoints.new_directory()
        w.model = Model(scenario.get("model", {}), falling=foreign is not None)
        checkpoints.prepare(scenario.get("checkpoint", {}), directory)
        with w.model.graph.as_default():
            if scenario.get("session", {}).get("kind") == "supervisor":
                supervised(scenario, directory)
            else:
                monitored(scenario, directory, foreign)
        w.check_limit()  # a service may have met it
        return {"events": w.events, "final": checkpoints.final_state(directory), "messages": w.messages}
    finally:
        world.active = None
        if w.turns is not None:
            w.turns.end()
        if directory is not None:
            checkpoints.remove(directory)


def play_twice(scenario):
    """None if two plays differ."""
    first, second = play(scenario), play(scenario)
    return first if first == second else None


def supervised(scenario, directory):
    try:
        caller = SupervisorCaller(scenario, directory)
    except Exception as error:
        log("construct failed " + noted(world.active, error))
        return
    drive(caller, scenario, caller.drive)


def monitored(scenario, directory, foreign=None):
    model, scaffold = world.active.model, scenario.get("scaffold", {})
    parts = {}
    if scaffold.get("init_fn"):
        parts["init_fn"] = lambda scaffold, session: seams.run_init_fn(session)
    if "init_feed" in scaffold:
        parts["init_feed_dict"] = {model.base_value: scaffold["init_feed"]}
    model.scaffold = tf.train.Scaffold(**parts)
    try:
        hooks = [foreign.make(directory) if foreign is not None and spec["hook"] == "foreign" else
                 make_hook(spec, directory) for spec in scenario.get("hooks", [])]
    except Exception as error:
        world.active.log("hooks rejected " + noted(world.active, error))
        return
    for _ in range(1 if foreign is None else foreign.lives):
        one_session(scenario, directory, hooks)
        if foreign is not None:
            foreign.end_of_life()


def one_session(scenario, directory, hooks):
    try:
        session = construct(scenario, directory, hooks)
    except Exception as error:
        log("construct failed " + noted(world.active, error))
        return
    caller = Caller(session)

    def in_scope():
        if scenario.get("scope", "with") == "bare":
            return caller.block(scenario["drive"])
        with session:
            caller.block(scenario["drive"])

    drive(caller, scenario, in_scope)


def drive(caller, scenario, in_scope):
    try:
        in_scope()
        log("exit clean")
    except Exception as error:
        log("exit failed " + noted(world.active, error))
    try:
        caller.block(scenario.get("after", []))
    except Exception as error:
        log("after failed " + noted(world.active, error))


def construct(scenario, directory, hooks):
    """The session of the scenario."""
    scaffold, spec = world.active.model.scaffold, scenario.get("session", {})
    checkpoint, kind = scenario.get("checkpoint", {}), spec.get("kind", "monitored")
    grace = {GRACE: spec[GRACE]} if GRACE in spec else {}
    restore = {}
    if checkpoint.get("dir"):
        restore["checkpoint_dir"] = directory
    if kind == "training":
        args = {k: v for k, v in spec.items() if k in TRAINING_ARGUMENTS}
        chief_only = [make_hook(hook, directory) for hook in spec.get("chief_only_hooks", [])]
        if spec.get("shared_state"):
            args["master"] = new_server_state()
        return tf.train.MonitoredTrainingSession(
            hooks=hooks, chief_only_hooks=chief_only, scaffold=scaffold, **restore, **grace, **args)
    if "filename" in checkpoint:
        restore["checkpoint_filename_with_path"] = os.path.join(directory, "model.ckpt-%d" % checkpoint["filename"])
    if kind == "singular":
        return tf.train.SingularMonitoredSession(hooks=hooks, scaffold=scaffold, **restore, **grace)
    creator = tf.train.ChiefSessionCreator(scaffold=scaffold, **restore)
    return tf.train.MonitoredSession(session_creator=creator, hooks=hooks, **grace)
