"""Records graphs of TensorFlow with what running them gives: replays/graphs/tensorflow/*.play.

    graphs.py OUT [NAME...]

A play is a file of records (TFRecord): the MetaGraphDef, then a RunStepRequest and the RunStepResponse that it got, in
turns. Requests of one session_handle belong to one session, and each session begins with nothing.
"""

import os
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import player_path  # noqa: F401
from vigil_player.tensorflow_v1 import tf
import graph_cases


def messages():
    """RunStepRequest and RunStepResponse, as far as they are used: the package has no master_pb2."""
    file = descriptor_pb2.FileDescriptorProto(name="play.proto", package="play", syntax="proto3")
    file.dependency.append("tensorflow/core/framework/tensor.proto")
    kind = descriptor_pb2.FieldDescriptorProto
    tensor = (kind.TYPE_MESSAGE, ".tensorflow.TensorProto")
    named = (kind.TYPE_MESSAGE, ".play.NamedTensor")
    text, number = (kind.TYPE_STRING, None), (kind.TYPE_INT32, None)
    for name, fields in [
        ("NamedTensor", [("name", 1, text, False), ("tensor", 2, tensor, False)]),
        ("RunStepRequest", [("session_handle", 1, text, False), ("feed", 2, named, True), ("fetch", 3, text, True),
                            ("target", 4, text, True)]),
        ("RunStepResponse", [("tensor", 1, named, True), ("status_code", 3, number, False),
                             ("status_error_message", 4, text, False)]),
    ]:
        message = file.message_type.add(name=name)
        for field, at, (of, type_name), repeated in fields:
            message.field.add(name=field, number=at, type=of, type_name=type_name,
                              label=kind.LABEL_REPEATED if repeated else kind.LABEL_OPTIONAL)
    pool = descriptor_pool.Default()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"play.{name}"))
            for name in ("RunStepRequest", "RunStepResponse")]


RunStepRequest, RunStepResponse = messages()


class Play:
    """What a case is given: it builds its graph, says what is run, and the answers are kept."""

    def __init__(self, optimizes=True):
        self.optimizes = optimizes  # whether TensorFlow changes the graph before it runs it
        self.records = []
        self.graph = tf.Graph()
        self._sessions = {}

    def export(self, strip=True, **options):
        """To be called when the graph is built. Stripped: without the list of ops, which is larger than the graph."""
        meta = tf.train.export_meta_graph(graph=self.graph, **options)
        if strip:
            meta.meta_info_def.ClearField("stripped_op_list")
            meta.ClearField("object_graph_def")
            for node in meta.graph_def.node:
                node.attr.pop("_output_shapes", None)
        self.records.append(meta.SerializeToString(deterministic=True))

    def run(self, fetches=(), targets=(), feeds=None, session="1"):
        """Returns the fetched values, or None after an error."""
        if session not in self._sessions:
            config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
            config.graph_options.rewrite_options.disable_meta_optimizer = not self.optimizes
            self._sessions[session] = tf.Session(graph=self.graph, config=config)
        fetches, targets = list(fetches), list(targets)
        request = RunStepRequest(session_handle=session)
        request.fetch.extend(tensor.name for tensor in fetches)
        request.target.extend(op.name for op in targets)
        for tensor, value in (feeds or {}).items():
            request.feed.add(name=tensor.name, tensor=tf.make_tensor_proto(value, tensor.dtype))
        response = RunStepResponse()
        values = None
        try:
            values = self._sessions[session].run(fetches + targets, feeds)[: len(fetches)]
        except tf.errors.OpError as error:
            response.status_code = error.error_code
            response.status_error_message = error.message.splitlines()[0]
        for tensor, value in zip(fetches, values or []):
            response.tensor.add(name=tensor.name, tensor=tf.make_tensor_proto(value, tensor.dtype))
        self.records.append(request.SerializeToString(deterministic=True))
        self.records.append(response.SerializeToString(deterministic=True))
        return values

    @property
    def session(self):
        """That of runs that name none."""
        return self._sessions["1"]

    def close(self):
        for session in self._sessions.values():
            session.close()


def record(name, directory):
    play = Play()
    with play.graph.as_default():
        graph_cases.CASES[name](play)
    play.close()
    path = os.path.join(directory, f"{name}.play")
    with tf.io.TFRecordWriter(path) as writer:
        for each in play.records:
            writer.write(each)
    print(f"{path}: {os.path.getsize(path)} bytes, {len(play.records) // 2} runs")


if __name__ == "__main__":
    for wanted in sys.argv[2:] or graph_cases.CASES:
        record(wanted, sys.argv[1])
