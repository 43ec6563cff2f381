"""A TCP relay between two tasks of a cluster, which can be cut or fall silent."""

import select
import socket
import struct
import threading

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close sends a reset


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def reset(pair):
    for end in pair:
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            end.close()
        except OSError:
            pass


class Link(threading.Thread):
    """Listens on `port` and passes everything on to another one. Modes: open; cut (connections are reset, new ones, too);
    silent (nothing passes, nothing is closed)."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target
        self.mode = "open"
        self.pairs = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.start()

    def set(self, mode):
        self.mode = mode

    def run(self):
        while True:
            if self.mode == "cut":
                while self.pairs:
                    reset(self.pairs.pop())
            listening = [self.listener] if self.mode != "silent" else []
            ends = [end for pair in self.pairs for end in pair] if self.mode == "open" else []
            for ready in select.select(listening + ends, [], [], 0.02)[0]:
                if ready is self.listener:
                    self.accept()
                else:
                    self.pass_on(ready)

    def accept(self):
        near = self.listener.accept()[0]
        if self.mode == "cut":
            reset((near,))
            return
        far = socket.socket()
        try:
            far.connect(("127.0.0.1", self.target))
            self.pairs.append((near, far))
        except OSError:
            reset((near, far))

    def pass_on(self, ready):
        pair = next((pair for pair in self.pairs if ready in pair), None)
        if pair is None:
            return
        try:
            data = ready.recv(1 << 16)
            if not data:
                raise OSError
            (pair[1] if ready is pair[0] else pair[0]).sendall(data)
        except OSError:
            self.pairs.remove(pair)
            reset(pair)
