"""Run main.py and then its test to the end, and prove it; runs by itself, inside a sandbox.

Two processes: this one reads the secret and the test from standard input, when the other has been
forked already, and cannot be opened or traced by it. The other runs the program, asks for the test
when all its lines have run, and gives a sign of the end. It uses the standard library alone.
"""

import ctypes
import os
import select
import socket
import sys

SOURCE = "main.py"
PR_SET_DUMPABLE = 4
CHANNEL = 3
"""The number of a socket to another program, where there is one."""
KEY = 32
"""Bytes by which the program asks for the test, and then says that it has ended."""
MOST = 64
PAUSE = 0.01


def main() -> None:
    """Fork the program, and give back the proof once it has ended well."""
    ours, theirs = socket.socketpair()
    names_read, names_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        os.close(names_write)
        become_program(theirs.detach(), names_read)
    theirs.close()
    os.close(names_read)
    if ours.fileno() != CHANNEL:
        os.close(CHANNEL)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    with os.fdopen(0, "rb") as file:
        secret, names, test = (*file.read().split(b"\n", 2), b"", b"")[:3]
    key = os.urandom(KEY)
    with os.fdopen(names_write, "wb") as file:
        file.write(key + names)
    received, status = serve(pid, ours, key[: KEY // 2], len(test).to_bytes(4, "little") + test)
    if status == 0 and received == key:
        os.write(1, b"\n" + secret + b"\n")
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)


def serve(pid: int, line: socket.socket, request: bytes, later: bytes) -> tuple[bytes, int]:
    """Hand over what comes later when it is asked for; return all that was said, and the end."""
    received = b""
    line.setblocking(False)
    while True:
        open_lines = [line] if len(received) < MOST else []
        waiting = open_lines if received.startswith(request) and later else []
        ready, free, _ = select.select(open_lines, waiting, [], PAUSE)
        try:
            if ready:
                received += line.recv(MOST)
            if free:
                later = later[line.send(later) :]
        except OSError:
            later = b""
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return received + rest(line), os.waitstatus_to_exitcode(status)


def rest(line: socket.socket) -> bytes:
    """Return what was said last."""
    try:
        return line.recv(MOST)
    except OSError:
        return b""


def become_program(line: int, names: int) -> None:
    """Run the program in this process, without a way to standard input."""
    with os.fdopen(names, "rb") as file:
        key = file.read(KEY)
        modules = file.read().decode("ascii", "replace").split()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the program
    moved = os.dup2(line, 300 + os.urandom(1)[0], inheritable=False)
    os.closerange(4, moved)
    if line == 3:
        os.close(line)
    sys.path.insert(0, os.getcwd())
    import pristine

    sys.argv = [SOURCE]
    for name in ("pristine", "__main__"):
        del sys.modules[name]
    arguments = [read_source(), modules, moved, key]
    del modules, moved, key, line, names, file
    pristine.run(arguments)


def read_source() -> str:
    """Return the program's text."""
    with open(SOURCE, encoding="utf-8", errors="surrogatepass") as file:
        return file.read()


if __name__ == "__main__":
    main()
