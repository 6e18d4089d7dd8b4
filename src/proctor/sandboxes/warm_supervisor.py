"""Supervise programs that a warm interpreter forks; runs by itself, inside the sandbox.

This process takes the jobs and holds their secrets. It forks the interpreter, in which programs
begin, before it has seen any job, and sits in the namespace around theirs: nothing of a job lies
in memory that a program inherits, and no program sees this process. Jobs come marshalled, reports
go as JSON, both with their length before them.
"""

import json
import marshal
import os
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import supervise
import zygote

HEADER = struct.Struct("<I")
SETUP_TIME = 30.0
"""Seconds in which a child has to be ready."""
MESSAGE = 4096


def read_exactly(fd, size):
    """Read so many bytes, or none at the end; nothing beyond them is taken in."""
    data = b""
    while len(data) < size:
        piece = os.read(fd, size - len(data))
        if not piece:
            return b""
        data += piece
    return data


def receive(fd):
    """Read one message; None at the end."""
    header = read_exactly(fd, HEADER.size)
    if not header:
        return None
    data = read_exactly(fd, HEADER.unpack(header)[0])
    return marshal.loads(data) if data else None  # noqa: S302 - from the grader  # nosec B302


def send(fd, message):
    """Write one message whole."""
    data = json.dumps(message).encode()
    supervise.send(fd, HEADER.pack(len(data)) + data)


class Lost(Exception):
    """The interpreter has ended, and no program can be started any more."""


class Child:
    """A process that the interpreter has forked; it becomes one program."""

    outputs = ()

    def __init__(self, control):
        self.control = control
        self.problem = ""
        self.places = []
        self.ends = (control.fileno(),)
        try:
            data, fds, _, _ = socket.recv_fds(control, MESSAGE, 4)
        except TimeoutError:
            raise Lost from None
        if not data:
            raise Lost
        self.pidfd, line, *self.pipes = fds
        self.line = socket.socket(fileno=line)
        self.line.settimeout(SETUP_TIME)
        self.hear()

    def hear(self):
        """Wait until the child says that it is ready, or why it is not."""
        try:
            data, places, _, _ = socket.recv_fds(self.line, MESSAGE, len(zygote.PLACES))
            self.places += places
        except OSError as error:
            data = b"-" + str(error).encode()
        if data[:1] != supervise.STARTED:
            self.problem = data[1:].decode("utf-8", "replace") or "a child ended before its program"

    def start(self, program, sockets):
        """Hand the program over; return why it could not be started, or an empty text.

        The child closes its end before a line of the program runs: what is said here, it says.
        """
        if not self.problem:
            try:
                socket.send_fds(self.line, [HEADER.pack(len(program))], sockets)
                self.line.sendall(program)
            except OSError as error:
                self.problem = str(error)
        if not self.problem:
            self.hear()
        self.line.close()
        return self.problem

    def ended(self):
        """Return the exit code once nothing of the program is left."""
        try:
            # Not by the socket, which would wait for as long as it waits for children.
            data = os.read(self.control.fileno(), MESSAGE)
        except BlockingIOError:
            return None
        if not data:
            raise Lost
        return int(data)

    def kill(self):
        """Kill the child; the interpreter then kills all that it left behind."""
        with supervise.Quietly():
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def clear(self):
        """Leave nothing of the program: the interpreter has seen to that."""

    def release(self):
        """Let go of the program's folders, which end with that."""
        for fd in (self.pidfd, *self.places):
            os.close(fd)

    def abandon(self):
        """End a child that could not become a program."""
        self.kill()
        if not self.control.recv(MESSAGE):
            raise Lost


class Server:
    """Run programs one after the other."""

    def __init__(self, channel, control, interpreter, joints):
        self.channel, self.control, self.interpreter = channel, control, interpreter
        self.joints = joints
        self.child = Child(control)

    def serve(self, job):
        """Run one program, report, and have the next child prepared."""
        # Not made by the interpreter, whose network would then not be as it was.
        ours, theirs = (end.detach() for end in socket.socketpair())
        channel = socket.recv_fds(self.joints, 1, 1)[1] if job["joined"] else []
        problem = self.child.start(job["program"], [theirs, *channel])
        for fd in (theirs, *channel):
            os.close(fd)
        self.child.pipes.append(ours)
        if problem:
            for fd in self.child.pipes:
                os.close(fd)
            report = {"not_started": problem}
            self.child.abandon()
        else:
            report = self.watch(job)
        # What a program has written is gone before its group gets the limits of the next one.
        self.child.release()
        send(self.channel, report)
        self.child = Child(self.control)

    def watch(self, job):
        """Watch a program to its end; return what became of it."""
        started = time.monotonic()
        police = supervise.Police(*job["police"], self.interpreter, self.child.places)
        # The test goes to a program that has asked for it, and not before.
        later = HEADER.pack(len(job["test"])) + job["test"]
        pipes = self.child.pipes
        gate = pipes[2], job["secret"][: len(job["secret"]) // 2]
        code, stopped, (out, err, proof) = supervise.watch(
            self.child, pipes, job["wall"], job["output"], later, os.dup(pipes[2]), police, gate
        )
        stopped = stopped or police.verdict(code)
        finished = code == 0 and not stopped
        return {
            "not_started": "",
            "code": None if stopped else code,
            "stopped": stopped,
            "finished": finished,
            "proved": finished and proof.head == job["secret"],
            "out": out.text(),
            "err": err.text(),
            "seconds": time.monotonic() - started,
        }


def main():
    """Serve until the input ends."""
    supervise.guard_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    joints = socket.socket(fileno=int(sys.argv[1]))
    joints.set_inheritable(False)
    jobs, channel = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    settings = receive(jobs)
    if settings is None:
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    supervise.libc_call("unshare", zygote.NEW_PROCESSES)
    interpreter = os.fork()
    if interpreter == 0:
        try:
            ours.detach()
            joints.detach()
            zygote.close_all_but(theirs.fileno(), *settings["doors"])
            zygote.breed(theirs, settings)
        finally:
            os._exit(1)
    theirs.close()
    ours.settimeout(SETUP_TIME)
    for door in settings["doors"]:
        os.close(door)
    try:
        server = Server(channel, ours, interpreter, joints)
        send(channel, {"not_started": server.child.problem})
        while (job := receive(jobs)) is not None:
            server.serve(job)
    except (Lost, OSError):
        return


if __name__ == "__main__":
    main()
