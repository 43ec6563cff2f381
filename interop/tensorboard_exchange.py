#!/usr/bin/env python3
"""What TensorBoard's own readers find in the events of vigil: scalars, histograms, graphs, by its Python and by its data
server.

  tensorboard_exchange.py SEED COUNT
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import numpy as np
from exchange import Exchange, run_drawn, run_tool
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.data import provider as data
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util
from vigil_player.tensorflow_v1 import tf

CONTEXT = context.RequestContext()
TOLERANCE = 1e-5
Found = dict[tuple, object]


@contextlib.contextmanager
def python_reader(folder: str) -> Iterator[data.DataProvider]:
    multiplexer = plugin_event_multiplexer.EventMultiplexer(
        tensor_size_guidance={"scalars": 0, "histograms": 0, "graphs": 0})
    multiplexer.AddRunsFromDirectory(folder)
    multiplexer.Reload()
    yield data_provider.MultiplexerDataProvider(multiplexer, folder)


@contextlib.contextmanager
def data_server(folder: str) -> Iterator[data.DataProvider]:
    """TensorBoard's own, a program of its own."""
    server = server_ingester.SubprocessServerDataIngester(
        server_ingester.get_server_binary(), folder, reload_interval=0,
        channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
        samples_per_plugin={"scalars": 0, "histograms": 0, "graphs": 0})
    server.start()
    yield server.data_provider


def found_by(provider: data.DataProvider) -> Found:
    """By plugin, run and tag: what there is."""
    found: Found = {}
    everything = data.RunTagFilter()
    common = {"ctx": CONTEXT, "experiment_id": ""}
    scalars = provider.read_scalars(**common, plugin_name="scalars", downsample=10**6, run_tag_filter=everything)
    for run, tags in scalars.items():
        for tag, points in tags.items():
            found["scalars", run, tag] = [(point.step, float(point.value)) for point in points]
    tensors = provider.read_tensors(**common, plugin_name="histograms", downsample=10**6, run_tag_filter=everything)
    for run, tags in tensors.items():
        for tag, points in tags.items():
            found["histograms", run, tag] = [(point.step, np.asarray(point.numpy)) for point in points]
    for run, tags in provider.list_blob_sequences(**common, plugin_name="graphs").items():
        for tag in tags:
            blobs = provider.read_blob_sequences(**common, plugin_name="graphs", downsample=1000,
                                                 run_tag_filter=data.RunTagFilter(runs=[run], tags=[tag]))
            (key,) = blobs[run][tag][-1].values
            graph = tf.GraphDef.FromString(provider.read_blob(ctx=CONTEXT, blob_key=key.blob_key))
            found["graphs", run, tag] = sorted(node.name for node in graph.node)
    return found


def same(a: object, b: object, exact: bool) -> bool:
    if not isinstance(a, list) or not a or not isinstance(a[0], tuple):
        return a == b
    if not isinstance(b, list) or [step for step, _ in a] != [step for step, _ in b]:
        return False
    tolerance = 0.0 if exact else TOLERANCE
    return all(abs(x - y) <= tolerance * max(1.0, abs(y)) for (_, x), (_, y) in zip(a, b))


def compare_found(found: Found, wanted: Found, who: str, exact: bool) -> Iterator[str]:
    for key in sorted(set(found) | set(wanted)):
        if key not in found or key not in wanted:
            yield f"{who}: {' '.join(map(str, key))} is {'missing' if key not in found else 'more than there should be'}"
        elif not same(found[key], wanted[key], exact):
            yield f"{who}: {' '.join(map(str, key))} is {str(found[key])[:300]}, not {str(wanted[key])[:300]}"


def written(folder: str) -> Found:
    """What the events files of a folder say, read record by record."""
    found: dict[tuple, dict] = {}
    graphs: list[list[str]] = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" not in name:
            continue
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            if event.graph_def:
                graphs.append(sorted(node.name for node in tf.GraphDef.FromString(event.graph_def).node))
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found.setdefault(("scalars", ".", value.tag), {})[event.step] = value.simple_value
                if value.HasField("histo"):
                    found.setdefault(("histograms", ".", value.tag), {})[event.step] = value.histo.num
    result: Found = {key: sorted(points.items()) for key, points in found.items()}
    result["graphs", ".", "__run_graph__"] = graphs
    return result


def compare_folders(wanted: str, found: str) -> Iterator[str]:
    """What the events of a training in the one folder say and those in the other do not: steps, losses, histograms of as
    many numbers. The graphs differ: each side adds nodes of its own for its sessions."""
    theirs, ours = ({key: value for key, value in written(folder).items() if key[2] in ("loss", "trained")}
                    for folder in (wanted, found))
    if not written(found)["graphs", ".", "__run_graph__"]:
        yield "there is no graph"
    yield from compare_found(ours, theirs, "events", exact=False)


def as_counted(found: Found) -> Found:
    """Histograms by how many numbers they are of."""
    return {key: [(step, float(np.sum(np.asarray(value)[:, 2]))) for step, value in points] if key[0] == "histograms" else points
            for key, points in found.items() if key[0] != "graphs" or key[2] == "__run_graph__"}


def play(exchange: Exchange, seed: str, number: int, folder: str) -> None:
    (line,) = run_tool("graph_tool", "record", seed, str(number), "1", folder, "repeatable")
    path = line.split(" ", 1)[0]
    meta = next(tf.io.tf_record_iterator(path))
    with open(path + ".meta", "wb") as file:
        file.write(meta)
    run = os.path.join(folder, "run")
    run_tool("graph_tool", "train", path + ".meta", run, "12")
    wanted = written(run)
    for who, reader in (("TensorBoard's Python", python_reader), ("TensorBoard's data server", data_server)):
        with reader(run) as provider:
            found = as_counted(found_by(provider))
        for key in found:
            exchange.counts[key[0]] += 1
            if key[0] == "graphs" and found[key] in wanted[key]:  # of several events TensorBoard shows one
                found[key] = wanted[key]
        for what in compare_found(found, wanted, who, exact=True):
            exchange.differ(f"program {seed}/{number}: {what}")
    exchange.counts["runs"] += 1


def main() -> int:
    tf.logging.set_verbosity(tf.logging.ERROR)
    return run_drawn(__doc__, play)


if __name__ == "__main__":
    sys.exit(main())
