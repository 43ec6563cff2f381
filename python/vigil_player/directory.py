"""The checkpoint directory: what it holds before a scenario, and what after."""

import os
import re
import shutil
import tempfile

from .tensorflow_v1 import checkpoint_management, tf

SHARED_MEMORY = "/dev/shm"


def new_directory():
    return tempfile.mkdtemp(prefix="rec", dir=SHARED_MEMORY if os.path.isdir(SHARED_MEMORY) else None)


def remove(directory):
    shutil.rmtree(directory, ignore_errors=True)


def prepare(spec, directory):
    """What an earlier process left there, and what happened to it since."""
    steps = spec.get("preload", [])
    if steps:
        preload(steps, spec.get("preload_keep", 5), directory)
    damage(spec.get("damage"), steps, directory)


def preload(steps, keep, directory):
    with tf.Graph().as_default():
        global_step = tf.train.get_or_create_global_step()
        value = tf.placeholder(tf.int64, [])
        set_step = tf.assign(global_step, value)
        saver = tf.train.Saver(sharded=True, max_to_keep=keep)
        with tf.Session() as session:
            for step in steps:
                session.run(set_step, {value: step})
                saver.save(session, os.path.join(directory, "model.ckpt"), global_step=step)


def damage(what, steps, directory):
    state = os.path.join(directory, "checkpoint")
    if what == "empty_state":
        write(state, "")
    elif what == "garbage_state":
        write(state, "!!! not a state file {{{")
    elif what == "missing_state" and os.path.exists(state):
        os.remove(state)
    elif what in ("missing_index", "missing_data"):
        kind = "index" if what == "missing_index" else "data"
        for name in os.listdir(directory):
            if name.startswith("model.ckpt-%d.%s" % (steps[-1], kind)):
                os.remove(os.path.join(directory, name))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def final_state(directory):
    """The steps that have a checkpoint file, and what the state file says."""
    found = [re.fullmatch(r"model\.ckpt-(\d+)\.index", name) for name in os.listdir(directory)]
    out = {"checkpoints": sorted({int(m.group(1)) for m in found if m})}
    if not os.path.exists(os.path.join(directory, "checkpoint")):
        return out
    try:
        state = checkpoint_management.get_checkpoint_state(directory)
    except ValueError:
        out["latest"] = "invalid"
        return out
    if state is not None:
        out["latest"] = os.path.basename(state.model_checkpoint_path)
        out["all"] = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    return out
