"""Lets a program without network reach one port of the host: runs inside, before the program.

``door.py PORT SOCKET [PORT SOCKET…] -- COMMAND…``: listens on loopback, passes each connection on
to a socket that the host listens at, and ends with the status of the command.
"""

import socket
import subprocess
import sys
import threading
from contextlib import suppress


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes from one connection to the other, to the end."""
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve(listener: socket.socket, path: str) -> None:
    """Join every connection with one of the host's."""
    while True:
        inner, _ = listener.accept()
        outer = socket.socket(socket.AF_UNIX)
        try:
            outer.connect(path)
        except OSError:
            inner.close()
            continue
        for pair in ((inner, outer), (outer, inner)):
            threading.Thread(target=pass_on, args=pair, daemon=True).start()


def main(words: list[str]) -> None:
    """Open the doors, run the command, and end as it did."""
    place = words.index("--")
    for port, path in zip(words[:place:2], words[1:place:2], strict=True):
        listener = socket.create_server(("127.0.0.1", int(port)))
        threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    status = subprocess.run(words[place + 1 :], check=False).returncode
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main(sys.argv[1:])
