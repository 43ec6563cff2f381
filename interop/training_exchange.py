#!/usr/bin/env python3
"""Trainings that go on elsewhere: the same curve of losses, and the same events, wherever which part of it was run.

  training_exchange.py SEED COUNT

A drawn program is trained for 30 steps in a monitored training session of TensorFlow; then in three parts of 10 steps,
each restored from what the other has saved: TensorFlow, vigil, TensorFlow, and vigil, TensorFlow, vigil. The programs are
TensorFlow's (odd ones: vigil's).
"""

from __future__ import annotations

import glob
import os
import sys

import programs
from exchange import Exchange, run_drawn, run_tool
from graph_exchange import read_play
from tensorboard_exchange import compare_folders
from vigil_player.tensorflow_v1 import tf

LAST = 30
TOLERANCE = 1e-5


def train_there(meta: str, folder: str, last: int) -> list[float]:
    """TensorFlow, from what is in the folder up to a step. The losses."""
    losses = []
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(meta)
        (train,), (loss,) = tf.get_collection("interop_train"), tf.get_collection("interop_loss")
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, scaffold=tf.train.Scaffold(saver=saver), hooks=[tf.train.StopAtStepHook(last_step=last)],
                save_checkpoint_steps=5, save_summaries_steps=1, log_step_count_steps=5,
                config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)) as session:
            while not session.should_stop():
                losses.append(float(session.run([loss, train])[0]))
    return losses


def train_here(meta: str, folder: str, last: int) -> list[float]:
    return [float(line) for line in run_tool("graph_tool", "train", meta, folder, str(last))]


def program_of(seed: str, number: int, folder: str) -> tuple[str, str]:
    """A meta graph file and what it holds."""
    path = os.path.join(folder, "program.meta")
    if number % 2 == 0:
        with tf.Graph().as_default():
            program = programs.draw(f"{seed}/{number}", repeatable=True)
            saver = tf.get_collection(tf.GraphKeys.SAVERS)[0]
            tf.train.export_meta_graph(path, saver_def=saver.as_saver_def())
        return path, f"TensorFlow's program {seed}/{number} ({', '.join(program.about)})"
    (line,) = run_tool("graph_tool", "record", seed, str(number), "1", folder, "repeatable")
    play, about = line.split(" ", 1)
    meta, _ = read_play(play)
    with open(path, "wb") as file:
        file.write(meta.SerializeToString())
    return path, f"vigil's program {seed}/{number} ({about})"


def compare(exchange: Exchange, name: str, losses: list[float], wanted: list[float]) -> None:
    exchange.counts["losses"] += len(wanted)
    if len(losses) != len(wanted):
        exchange.differ(f"{name}: {len(losses)} steps, not {len(wanted)}")
    for step, (a, b) in enumerate(zip(losses, wanted)):
        if not abs(a - b) <= TOLERANCE * max(1.0, abs(b)):
            exchange.differ(f"{name}, step {step}: the loss is {a!r}, not {b!r}")
            return


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    meta, name = program_of(seed, number, folder)
    alone = os.path.join(folder, "alone")
    wanted = train_there(meta, alone, LAST)
    exchange.counts["programs"] += 1
    for order in ((train_there, train_here, train_there), (train_here, train_there, train_here)):
        way = ", ".join("vigil" if part is train_here else "TensorFlow" for part in order)
        there = os.path.join(folder, way.replace(", ", "_"))
        losses: list[float] = []
        for part, train in enumerate(order):
            losses += train(meta, there, (part + 1) * LAST // len(order))
        compare(exchange, f"{name}: {way}", losses, wanted)
        exchange.counts["checkpoints restored"] += len(order) - 1
        if not glob.glob(os.path.join(there, f"model.ckpt-{LAST}.index")):
            exchange.differ(f"{name}: {way}: no checkpoint of step {LAST}")
        for what in compare_folders(alone, there):
            exchange.differ(f"{name}: {way}: {what}")


def play_or_tell(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    try:
        play(exchange, seed, number, folder)
    except (RuntimeError, ValueError, tf.errors.OpError) as error:
        exchange.differ(f"program {seed}/{number}: {type(error).__name__}: {error}")


def main() -> int:
    tf.logging.set_verbosity(tf.logging.ERROR)
    return run_drawn(__doc__, play_or_tell)


if __name__ == "__main__":
    sys.exit(main())
