"""Stand in for `proctor`: a fork of a process that has everything loaded.

It listens at a socket. A small program sends its arguments, folder, environment and standard
streams, and ends with the exit code that comes back. Its limit on memory holds for the fork too.
"""

import importlib
import marshal
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
import warnings

PACKAGES = ("proctor.cli", "proctor.engine", "proctor.store", "proctor.formats", "proctor.origins")
APART = (".migrations", ".launcher.")
"""Modules that are not imported, but run."""
MODULES = ("alembic.command", "alembic.runtime.migration", "proctor.scorers.text.keywords")
SIZE = struct.Struct("<I")
CLIENT = """\
#!{python} -IS
import marshal, os, socket, struct, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    told = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [struct.pack("<I", len(told))], [0, 1, 2])
    server.sendall(told)
    code = server.recv(1)
sys.exit(code[0] if code else 255)
"""


def load() -> None:
    """Import what commands import, and start nothing."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}."
        ):
            if not any(part in module.name for part in APART):
                importlib.import_module(module.name)
    for name in MODULES:
        importlib.import_module(name)


def serve(place: str) -> None:
    """Be forked for every caller until the process that started this one ends."""
    from proctor.executors.worker import die_with_parent

    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        load()
        while True:
            caller, _ = listener.accept()
            if os.fork() == 0:
                answer(caller)
            caller.close()


def answer(caller: socket.socket) -> None:
    """Be the command that a caller wants, in this process, and end it."""
    from proctor.cli import main
    from proctor.io.search_paths import forget_working_directory

    code = 255
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        header, streams, _, _ = socket.recv_fds(caller, SIZE.size, 3)
        (size,) = SIZE.unpack(header)
        told = b""
        while len(told) < size:
            told += caller.recv(size - len(told))
        arguments, folder, environment = marshal.loads(told)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        (caller_id,) = SIZE.unpack(
            caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, SIZE.size)
        )
        limit = resource.prlimit(caller_id, resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, limit)
        if environment.get("PYTHONWARNINGS") == "error":
            warnings.simplefilter("error")
        modules = environment.get("PYTHONPATH", "")
        sys.path[:0] = [os.path.abspath(part) for part in modules.split(os.pathsep) if modules]
        forget_working_directory()
        code = main._run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        caller.sendall(bytes([code]))
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
