"""Started inside a confinement: passes a loopback port on to the proxy's socket, runs the agent."""

import contextlib
import os
import socket
import subprocess
import sys
import threading


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _join(client: socket.socket, path: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_join, args=(client, path), daemon=True).start()


def main() -> None:
    """Serve the port, run the command, and end as it ended."""
    port, path, *argv = sys.argv[1:]
    if path:
        listener = socket.create_server(("127.0.0.1", int(port)))
        threading.Thread(target=_serve, args=(listener, path), daemon=True).start()
    status = subprocess.call(argv)  # noqa: S603 - the command that a person named
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
