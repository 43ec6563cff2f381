"""python -m vigil_player.relay PATH: hands lines on, from and to a socket. It stands for a player that lives in another
process, as the one of a test does. Needs no TensorFlow."""

import os
import selectors
import socket
import sys


def main(path: str) -> int:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(connection, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == 0:
                data = os.read(0, 1 << 16)
                if not data:
                    return 0
                connection.sendall(data)
                continue
            data = connection.recv(1 << 16)
            if not data:
                return 1
            while data:
                data = data[os.write(1, data):]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
