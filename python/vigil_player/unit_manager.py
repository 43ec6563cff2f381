"""Unit recordings of checkpoint managers: what they write, keep, preserve, delete and remember over restarts."""

import os
import types

from . import directory as checkpoints
from . import units, world
from .tensorflow_v1 import eager_context, object_checkpoint, tf


class Managers:
    """A checkpoint manager, those of the processes after this one, and the directory they work on.

    Each process begins with a step of its own, which the manager's checkpoints hold.
    """

    def __init__(self, scenario, out, directory):
        self.scenario = scenario
        self.out = out
        self.directory = directory
        self.step = None
        self.name = None
        self.manager = units.constructed(out, lambda: self.begin(scenario["args"]))

    def begin(self, args):
        step = tf.Variable(0, dtype=tf.int64)
        arguments = {"max_to_keep": None, **args}
        if arguments.get("checkpoint_interval") is not None:
            arguments["step_counter"] = step
        if arguments.pop("no_step_counter", False):
            arguments.pop("step_counter", None)
        if arguments.pop("init_fn", False):
            arguments["init_fn"] = lambda: self.out.append("init_fn")
        made = tf.train.CheckpointManager(object_checkpoint.Checkpoint(step=step), self.directory, **arguments)
        self.step, self.name = step, args.get("checkpoint_name", "ckpt")
        return made

    def play(self):
        if self.manager is None:
            return
        units.play_ops(self, lambda: units.disk_text(self.directory) + self.times())

    def save(self, op):
        self.step.assign(op["step"])
        args = {"checkpoint_number": op["number"]} if "number" in op else {}
        if "check_interval" in op:
            args["check_interval"] = op["check_interval"]
        return "save %d -> %s" % (op["step"], name_of(self.manager.save(**args)))

    def restore(self, _op):
        restored = self.manager.restore_or_initialize()
        return "restore -> %s step %d" % (name_of(restored), self.step.numpy())

    def new_manager(self, op):
        self.manager = self.begin(op["args"])
        return "new_manager"

    def damage(self, op):
        return units.damage(op, self.directory, self.name)

    def latest(self, _op):
        return "latest -> " + name_of(self.manager.latest_checkpoint)

    def checkpoints(self, _op):
        return "checkpoints -> " + " ".join(name_of(path) for path in self.manager.checkpoints)

    def times(self):
        """What the state file says of when, in seconds of the scenario."""
        try:
            state = tf.train.get_checkpoint_state(self.directory)
        except ValueError:
            return ""
        if state is None:
            return ""
        times = ",".join("%g" % (at - world.START) for at in state.all_model_checkpoint_timestamps)
        return " times=%s preserved=%g" % (times, state.last_preserved_timestamp - world.START)


def name_of(path):
    return "none" if path is None else os.path.basename(path)


def manage(scenario, out):
    directory = checkpoints.new_directory()
    try:
        with eager_context.eager_mode():
            Managers(scenario, out, directory).play()
    finally:
        checkpoints.remove(directory)


PLAYERS = types.MappingProxyType({"checkpoint_manager": manage})
