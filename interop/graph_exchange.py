#!/usr/bin/env python3
"""Graphs both ways: drawn programs are exported with what 20 steps of training gave, and trained on the other side.

  graph_exchange.py theirs SEED COUNT     TensorFlow's, imported and trained by vigil; exported again, by TensorFlow
  graph_exchange.py ours SEED COUNT       vigil's, imported and trained by TensorFlow
  graph_exchange.py gradients SEED COUNT  graphs of TensorFlow with branches; vigil's gradients through them
  graph_exchange.py record FOLDER         a few of both for the tests of replays/graphs, as TensorFlow ran them
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

import branch_programs
import graphs  # replays/recorder
import numpy as np
import programs
from exchange import Exchange, run_tool
from vigil_player.tensorflow_v1 import tf

TOLERANCE = 1e-5
# For the tests: small ones, of many kinds.
RECORDED_THEIRS = ["3/1", "3/5", "3/6"]
RECORDED_GRADIENTS = ["1/0", "1/1", "1/2", "1/3", "1/4", "1/5"]
RECORDED_OURS = [("3", "1"), ("3", "3"), ("3", "4"), ("3", "5")]


def write_play(path: str, records: list[bytes]) -> None:
    with tf.io.TFRecordWriter(path) as writer:
        for each in records:
            writer.write(each)


def nudge(play: graphs.Play) -> None:
    """Changes the last bit of each floating-point variable, up or down."""
    random = np.random.RandomState(1)
    with play.graph.as_default():
        for variable in tf.global_variables():
            if not variable.dtype.base_dtype.is_floating:
                continue
            value = play.session.run(variable)
            up = random.randint(2, size=value.shape) == 1
            variable.load(np.nextafter(value, np.where(up, np.inf, -np.inf).astype(value.dtype)), play.session)


def record_theirs(seed: str, path: str, nudged: bool = False) -> programs.Program:
    """A program of TensorFlow with what it gave, written to a file. `nudged`: with other last bits in the beginning."""
    play = graphs.Play()
    with play.graph.as_default():
        program = programs.draw(seed)
        play.export(saver_def=tf.get_collection(tf.GraphKeys.SAVERS)[0].as_saver_def())
    play.run(targets=[program.init])
    if nudged:
        nudge(play)
    for batch in program.batches:
        play.run(program.values, feeds=batch)
        play.run(targets=[program.train], feeds=batch)
    play.run(program.values, feeds=program.batches[0])
    play.close()
    write_play(path, play.records)
    return program


def record_gradients(seed: str, path: str) -> branch_programs.BranchProgram:
    """A program with branches, its loss and TensorFlow's gradients, written to a file."""
    # TensorFlow's optimizer loses the values of some nested branches ("Retval[0] does not have value").
    play = graphs.Play(optimizes=False)
    with play.graph.as_default():
        program = branch_programs.draw(seed)
        play.export()
    play.run(targets=[program.init])
    for batch in program.batches:
        play.run(program.fetches, feeds=batch)
    play.close()
    write_play(path, play.records)
    return program


def read_play(path: str) -> tuple[tf.MetaGraphDef, list[tuple]]:
    records = list(tf.python_io.tf_record_iterator(path))
    requests = [graphs.RunStepRequest.FromString(each) for each in records[1::2]]
    responses = [graphs.RunStepResponse.FromString(each) for each in records[2::2]]
    return tf.MetaGraphDef.FromString(records[0]), list(zip(requests, responses))


def values_differ(mine: np.ndarray, wanted: np.ndarray, tolerance: float = TOLERANCE) -> str:
    if mine.dtype != wanted.dtype or mine.shape != wanted.shape:
        return f"is {mine.dtype} {mine.shape}, not {wanted.dtype} {wanted.shape}"
    if not np.issubdtype(mine.dtype, np.floating):
        return "" if np.array_equal(mine, wanted) else f"is {mine}, not {wanted}"
    off = np.abs(mine - wanted) > tolerance * np.maximum(1.0, np.abs(wanted))
    off |= np.isnan(mine) != np.isnan(wanted)
    return f"is {mine[off][:3]}, not {wanted[off][:3]}" if off.any() else ""


def answers(meta: tf.MetaGraphDef, runs: list[tuple], optimizes: bool = True) -> Iterator[list]:
    """What TensorFlow gets for each run of a play."""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.rewrite_options.disable_meta_optimizer = not optimizes
        with tf.Session(config=config) as session:
            for request, _ in runs:
                feeds = {feed.name: tf.make_ndarray(feed.tensor) for feed in request.feed}
                targets = [graph.get_operation_by_name(name) for name in request.target]
                yield session.run([*request.fetch, *targets], feeds)[: len(request.fetch)]


def differences(meta: tf.MetaGraphDef, runs: list[tuple], optimizes: bool) -> Iterator[str]:
    """Where TensorFlow gets something else."""
    for number, (values, (_, response)) in enumerate(zip(answers(meta, runs, optimizes), runs), 1):
        for value, wanted in zip(values, response.tensor):
            mine = np.asarray(value, object if isinstance(value, bytes) else None)
            what = values_differ(mine, tf.make_ndarray(wanted.tensor))
            if what:
                yield f"run {number}: {wanted.name} {what}"


def check(exchange: Exchange, name: str, meta: tf.MetaGraphDef, runs: list[tuple], optimizes: bool = True) -> None:
    try:
        found = list(differences(meta, runs, optimizes))
    except (tf.errors.OpError, ValueError, TypeError, KeyError) as error:
        found = [f"{type(error).__name__}: {error}"]
    if found:
        exchange.differ(f"{name}: " + "; ".join(found[:5]))


def exported_again(path: str, meta: tf.MetaGraphDef) -> str:
    """The file with what vigil exports of the graph that it imported."""
    with open(path + ".meta", "wb") as file:
        file.write(meta.SerializeToString())
    run_tool("graph_tool", "export", path + ".meta", path + ".again")
    return path + ".again"


def played_here(paths: list[str], command: str = "play") -> dict[str, str]:
    """What vigil says of each play, or of the gradients that it adds itself: "same", or what differs."""
    return dict(line.split(" ", 1) for line in run_tool("graph_tool", command, str(TOLERANCE), *paths))


def leave_out_chaos(seed: str, path: str) -> int:
    """Drops the runs from where on TensorFlow itself would have got something else with other last bits in the beginning:
    what a tenth of the tolerance can tell. There another order of the same sums tells nothing about an op. Says how many
    were dropped."""
    record_theirs(seed, path + ".nudged", nudged=True)
    _, runs = read_play(path)
    _, others = read_play(path + ".nudged")
    firm = 1  # the initialisation
    for (_, response), (_, other) in list(zip(runs, others))[1:]:
        pairs = zip(response.tensor, other.tensor)
        if any(values_differ(tf.make_ndarray(a.tensor), tf.make_ndarray(b.tensor), TOLERANCE / 10) for a, b in pairs):
            break
        firm += 1
    write_play(path, list(tf.python_io.tf_record_iterator(path))[: 1 + 2 * firm])
    return len(runs) - firm


def theirs(exchange: Exchange, seed: str, count: int, folder: str) -> None:
    paths, seeds = {}, {}
    for number in range(count):
        path = os.path.join(folder, f"{number}.play")
        seeds[path] = f"{seed}/{number}"
        program = record_theirs(seeds[path], path)
        paths[path] = f"program {seeds[path]} ({', '.join(program.about)})"
        exchange.counts["programs"] += 1
        exchange.counts["values"] += len(program.values) * (programs.STEPS + 1)
    for path, said in played_here(list(paths)).items():
        if said != "same":
            exchange.counts["chaotic runs"] += (dropped := leave_out_chaos(seeds[path], path))
            said = played_here([path])[path] if dropped else said
        if said != "same":
            exchange.differ(f"{paths[path]}: {said}")
            continue
        meta, runs = read_play(path)
        with open(exported_again(path, meta), "rb") as file:
            check(exchange, f"{paths[path]}, exported again", tf.MetaGraphDef.FromString(file.read()), runs)
        exchange.counts["exported again"] += 1


def ours(exchange: Exchange, seed: str, count: int, folder: str) -> None:
    for number, line in enumerate(run_tool("graph_tool", "record", seed, "0", str(count), folder)):
        path, about = line.split(" ", 1)
        meta, runs = read_play(path)
        check(exchange, f"program {seed}/{number} ({about})", meta, runs)
        exchange.counts["programs"] += 1
        exchange.counts["values"] += sum(len(response.tensor) for _, response in runs)


def gradients(exchange: Exchange, seed: str, count: int, folder: str) -> None:
    paths = {}
    for number in range(count):
        path = os.path.join(folder, f"{number}.play")
        program = record_gradients(f"{seed}/{number}", path)
        paths[path] = f"program {seed}/{number} ({program.about})"
        exchange.counts["programs"] += 1
        exchange.counts["gradients"] += (len(program.fetches) - 1) * len(program.batches)
    for command in ("play", "gradients"):
        for path, said in played_here(list(paths), command).items():
            if said != "same":
                exchange.differ(f"{command}: {paths[path]}: {said}")
    for path, what in paths.items():
        gradients_there(exchange, path, what)


def gradients_there(exchange: Exchange, path: str, what: str) -> None:
    """TensorFlow adds gradients to a graph that vigil has exported: for those it needs the contexts of its branches."""
    meta, runs = read_play(path)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(exported_again(path, meta))
        names = [fetch.removeprefix("theirs/") for fetch in runs[1][0].fetch[1:]]
        by_name = {variable.name: variable for variable in tf.global_variables()}
        made = tf.gradients(graph.get_tensor_by_name("loss:0"), [by_name[name] for name in names])
        for name, gradient in zip(names, made):
            tf.identity(gradient, name=f"again/{name.removesuffix(':0')}")
        again = tf.train.export_meta_graph()
    for request, _ in runs[1:]:
        request.fetch[1:] = [f"again/{name}" for name in names]
    check(exchange, f"{what}, gradients added by TensorFlow", again, runs, optimizes=False)
    exchange.counts["exported again"] += 1


def record(folder: str) -> int:
    for seed in RECORDED_GRADIENTS:
        record_gradients(seed, os.path.join(folder, f"gradients_{seed.replace('/', '_')}.play"))
    for seed in RECORDED_THEIRS:
        record_theirs(seed, os.path.join(folder, f"drawn_theirs_{seed.replace('/', '_')}.play"))
    for seed, number in RECORDED_OURS:
        with tempfile.TemporaryDirectory() as scratch:
            (line,) = run_tool("graph_tool", "record", seed, number, "1", scratch)
            meta, runs = read_play(line.split(" ", 1)[0])
        records = [meta.SerializeToString(deterministic=True)]
        for (request, response), values in zip(runs, answers(meta, runs)):
            for value, tensor in zip(values, response.tensor):
                tensor.tensor.CopyFrom(tf.make_tensor_proto(value))
            records += [request.SerializeToString(deterministic=True), response.SerializeToString(deterministic=True)]
        write_play(os.path.join(folder, f"drawn_ours_{seed}_{number}.play"), records)
    return 0


KINDS = {"theirs": theirs, "ours": ours, "gradients": gradients}


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "record":
        return record(sys.argv[2])
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    tf.logging.set_verbosity(tf.logging.ERROR)
    exchange = Exchange()
    with tempfile.TemporaryDirectory() as folder:
        KINDS[sys.argv[1]](exchange, sys.argv[2], int(sys.argv[3]), folder)
    return exchange.finish()


if __name__ == "__main__":
    sys.exit(main())
