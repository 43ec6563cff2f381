#!/usr/bin/env python3
"""Records what TensorFlow's client and server say to each other, for core/cluster/server/tensorflow_client_test.cc.

  record_client.py FILE        lines as core/cluster/server/testing.h reads them
"""

from __future__ import annotations

import subprocess
import sys
from concurrent import futures

import grpc
import numpy as np
from vigil_player.tensorflow_v1 import tf


class Recorder(grpc.GenericRpcHandler):
    """Passes every call on as it is."""

    def __init__(self, target: str) -> None:
        self.channel = grpc.insecure_channel(target, options=(("grpc.enable_http_proxy", 0),))
        self.lines: list[str] = []

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        method = handler_call_details.method
        forward = self.channel.unary_unary(method)

        def call(request: bytes, _context: grpc.ServicerContext) -> bytes:
            reply = forward(request)
            self.lines.append(f"worker0:2222 {method} {request.hex() or '-'} {reply.hex() or '-'}")
            return reply

        return grpc.unary_unary_rpc_method_handler(call)


def program(target: str) -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.array([1, 2, 4], np.float32), use_resource=False)
        x = tf.placeholder(tf.float32, [3])
        names = tf.report_uninitialized_variables()
        loss = tf.reduce_sum(tf.square(v - x))
        train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        with tf.Session(target) as session:
            session.list_devices()
            session.run(names)
            session.run(tf.global_variables_initializer())
            session.run(names)
            for _ in range(3):
                session.run([loss, train], {x: np.zeros(3)})
            session.run([tf.identity(tf.constant(["a", ""])), tf.range(3), v])  # the graph grows
            try:
                session.run(x)
            except tf.errors.InvalidArgumentError:
                pass


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--client":
        program(sys.argv[2])
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = tf.train.Server.create_local_server()
    recorder = Recorder(server.target.removeprefix("grpc://"))
    relay = grpc.server(futures.ThreadPoolExecutor(4))
    relay.add_generic_rpc_handlers((recorder,))
    port = relay.add_insecure_port("127.0.0.1:0")
    relay.start()
    # In a process of its own: it holds Python's lock while it lists devices.
    subprocess.run([sys.executable, __file__, "--client", f"grpc://127.0.0.1:{port}"], check=True)
    relay.stop(None).wait()
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(f"# TensorFlow {tf.__version__}, client and server: interop/record_client.py\n")
        out.writelines(line + "\n" for line in recorder.lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
