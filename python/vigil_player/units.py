"""Units that were recorded first, and what all units have in common."""

import os
import types

from . import directory as checkpoints
from . import world
from .errors import EXCEPTIONS, code_of, make_error
from .tensorflow_v1 import basic_session_run_hooks, coordinator, tf
from .text import yes_no


def constructed(out, make):
    """None if the constructor refused its arguments: then the event says so."""
    try:
        return make()
    except Exception as error:
        out.append("error " + code_of(error))
        return None


def timer(scenario, out):
    made = constructed(out, lambda: basic_session_run_hooks.SecondOrStepTimer(**scenario["args"]))
    if made is None:
        return
    for op in scenario["ops"]:
        if op["op"] == "advance":
            world.active.now += op["secs"]
        elif op["op"] == "should_trigger":
            out.append("should_trigger %d -> %s" % (op["step"], yes_no(made.should_trigger_for_step(op["step"]))))
        elif op["op"] == "update":
            secs, steps = made.update_last_triggered_step(op["step"])
            out.append("update %d -> %s" % (op["step"], "none" if secs is None else "secs=%g steps=%d" % (secs, steps)))
        else:
            made.reset()
            out.append("reset")


def coordinate(scenario, out):
    args = {}
    if "clean" in scenario:
        args["clean_stop_exception_types"] = tuple(EXCEPTIONS[code] for code in scenario["clean"])
    made = coordinator.Coordinator(**args)

    def request_stop(op):
        if "code" not in op:
            made.request_stop()
            return "request_stop ok"
        try:
            raise make_error(op["code"])
        except Exception as error:
            made.request_stop(error)
        return "request_stop %s ok" % op["code"]

    def scope(op):
        with made.stop_on_exception():
            if "code" in op:
                raise make_error(op["code"])
        return "scope left"

    def clear_stop(_op):
        made.clear_stop()
        return "clear_stop"

    def join(_op):
        made.join()
        return "join ok"

    def raise_requested(_op):
        made.raise_requested_exception()
        return "raise_requested ok"

    does = {
        "request_stop": request_stop, "scope": scope, "clear_stop": clear_stop, "join": join,
        "raise_requested": raise_requested,
        "should_stop": lambda op: "should_stop -> " + yes_no(made.should_stop()),
        "wait_for_stop": lambda op: "wait_for_stop -> " + yes_no(made.wait_for_stop(0.0)),
        "joined": lambda op: "joined -> " + yes_no(made.joined),
    }
    for op in scenario["ops"]:
        try:
            out.append(does[op["op"]](op))
        except Exception as error:
            out.append("%s failed %s" % (op["op"], code_of(error)))


def play_ops(player, disk):
    """Each operation is the player's method of that name, which returns its line; disk() is the line after it."""
    for op in player.scenario["ops"]:
        if op["op"] == "advance":
            world.active.now += op["secs"]
            continue
        try:
            player.out.append(getattr(player, op["op"])(op))
        except Exception as error:
            player.out.append("%s failed %s" % (op["op"], code_of(error)))
        player.out.append(disk())


class Savers:
    """A saver, those that replace it, and the directory they work on."""

    def __init__(self, scenario, out, directory):
        self.scenario = scenario
        self.out = out
        self.directory = directory
        self.global_step = tf.train.get_or_create_global_step()
        self.value = tf.placeholder(tf.int64, [])
        self.set_step = tf.assign(self.global_step, self.value)
        self.saver = constructed(out, lambda: tf.train.Saver(**scenario["args"]))
        self.session = None
        self.later = []

    def play(self):
        if self.saver is None:
            return
        # All of them before the first op: a saver adds nodes, and the graph would differ from run to run.
        self.later = [tf.train.Saver(**op["args"]) for op in self.scenario["ops"] if op["op"] == "new_saver"]
        with tf.Session() as self.session:
            play_ops(self, lambda: disk_text(self.directory))

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def save(self, op):
        self.session.run(self.set_step, {self.value: op["step"]})
        args = {k: op[k] for k in ("latest_filename", "write_meta_graph", "write_state") if k in op}
        step = op["step"] if op.get("with_step", True) else None
        saved = self.saver.save(self.session, self.path(op.get("name", "model.ckpt")), global_step=step, **args)
        for name in os.listdir(self.directory):
            if name.startswith(os.path.basename(saved) + "."):
                os.utime(self.path(name), (world.active.now, world.active.now))
        return "save %d -> %s" % (op["step"], os.path.basename(saved))

    def restore(self, op):
        path = self.path(op["path"]) if "path" in op else tf.train.latest_checkpoint(self.directory)
        self.saver.restore(self.session, path)
        return "restore %s -> step %d" % (os.path.basename(path), self.session.run(self.global_step))

    def new_saver(self, op):
        self.saver = self.later.pop(0)
        hours = self.saver.saver_def.keep_checkpoint_every_n_hours
        self.saver._next_checkpoint_time = world.active.now + hours * 3600  # as if it had been constructed now
        if op.get("recover"):
            state = tf.train.get_checkpoint_state(self.directory)
            self.saver.recover_last_checkpoints(state.all_model_checkpoint_paths if state else [])
        return "new_saver"

    def damage(self, op):
        return damage(op, self.directory, "model.ckpt")

    def latest(self, _op):
        path = tf.train.latest_checkpoint(self.directory)
        return "latest -> " + ("none" if path is None else os.path.basename(path))

    def last(self, _op):
        return "last -> " + " ".join(os.path.basename(path) for path in self.saver.last_checkpoints)


def damage(op, directory, checkpoint_name):
    what = op["what"]
    if what == "empty_state":
        checkpoints.write(os.path.join(directory, "checkpoint"), "")
    elif what == "garbage_state":
        checkpoints.write(os.path.join(directory, "checkpoint"), "!!! not a state file {{{")
    else:
        prefix = "%s-%d.%s" % (checkpoint_name, op["step"], "index" if what == "missing_index" else "")
        for name in os.listdir(directory):
            if name.startswith(prefix):
                os.remove(os.path.join(directory, name))
    return "damage " + what


def disk_text(directory):
    """The files of a directory and what its state file says."""
    names = os.listdir(directory)

    def with_ending(ending):
        return ",".join(sorted(name[:-len(ending)] for name in names if name.endswith(ending)))

    state = ""
    if "checkpoint" in names:
        try:
            read = tf.train.get_checkpoint_state(directory)
        except ValueError:
            state = " state=invalid"
        else:
            latest = "none" if read is None else os.path.basename(read.model_checkpoint_path)
            every = [] if read is None else [os.path.basename(path) for path in read.all_model_checkpoint_paths]
            state = " state=%s all=%s" % (latest, ",".join(every))
    return "disk index=%s meta=%s%s" % (with_ending(".index"), with_ending(".meta"), state)


def save(scenario, out):
    directory = checkpoints.new_directory()
    try:
        with tf.Graph().as_default():
            Savers(scenario, out, directory).play()
    finally:
        checkpoints.remove(directory)


GIVEN = {"saver": lambda: tf.train.Saver(allow_empty=True), "scaffold": tf.train.Scaffold, "summary_op": tf.no_op}
CONSTRUCTORS = {
    "stop_at_step": tf.train.StopAtStepHook,
    "checkpoint_saver": lambda **args: tf.train.CheckpointSaverHook("unused", **args),
    "step_counter": tf.train.StepCounterHook,
    "summary_saver": tf.train.SummarySaverHook,
    "logging_tensor": lambda **args: tf.train.LoggingTensorHook({"t": "x:0"}, **args),
    "profiler": tf.train.ProfilerHook,
    "timer": basic_session_run_hooks.SecondOrStepTimer,
}


def check_arguments(scenario, out):
    """A constructor of a built-in hook, and what its begin says of the graph."""
    with tf.Graph().as_default():
        if scenario.get("global_step", True):
            tf.train.get_or_create_global_step()

        def make():
            args = dict(scenario["args"])
            for name, given in GIVEN.items():
                if isinstance(args.get(name), bool) and args.pop(name):
                    args[name] = given()
            return CONSTRUCTORS[scenario["hook"]](**args)

        hook = constructed(out, make)
        if hook is None:
            return
        out.append("constructed")
        if scenario.get("begin") and hasattr(hook, "begin"):
            try:
                hook.begin()
                out.append("begin ok")
            except Exception as error:
                out.append("begin failed " + code_of(error))


PLAYERS = types.MappingProxyType(
    {"timer": timer, "coordinator": coordinate, "saver": save, "arguments": check_arguments})
