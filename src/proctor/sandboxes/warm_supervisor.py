"""Supervise programs that a warm interpreter forks; runs by itself, inside the sandbox.

This process takes the jobs and holds their secrets. It forks the interpreter, in which programs
begin, before it has seen any job, and sits in the namespace around theirs: nothing of a job, and
nothing that was printed, lies in memory that a program inherits, and no program sees this process.
Jobs come marshalled, reports go as JSON, both with their length before them.
"""

import json
import marshal
import os
import select
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import limits_watch
import supervise
import zygote

HEADER = struct.Struct("<I")
SETUP_TIME = 30.0
"""Seconds in which a child has to be ready."""
ENDED = "a child ended before its program"
MESSAGE, FILES, PIECE = 4096, 8, 65536
MOST_PIECES = 32
"""Pieces that are read after a program's end: twice what the kernel lets a pipe hold."""


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

    def __init__(self, control, line):
        self.control, self.line = control, line
        self.files = []
        """Its number for signals, and its folders."""
        self.problem = ""
        self.reaped = 0.0
        """Processor time of all children so far, once it has ended."""

    def await_ready(self):
        """Wait until the child says that it is ready, or why it is not."""
        ready, _, _ = select.select([self.line, self.control], [], [], SETUP_TIME)
        if not ready:
            raise Lost
        if self.line not in ready:
            self.problem = ENDED
            return
        data, self.files, _, _ = socket.recv_fds(self.line, MESSAGE, FILES)
        self.problem = self.problem_in(data)

    def problem_in(self, data):
        """Return what a message from a child says of why it cannot become a program."""
        return "" if data == supervise.STARTED else data[1:].decode("utf-8", "replace") or ENDED

    def start(self, program, fds):
        """Hand the program over, with its files."""
        if self.problem:
            return
        data = HEADER.pack(len(program)) + program
        try:
            self.line.sendall(data[zygote.send_files(self.line, data, *fds) :])
        except OSError as error:
            self.problem = str(error)

    def why_not_started(self):
        """Return why a program that has ended never began, or an empty text.

        The child closes its end before a line of the program runs: what is said here, it says.
        """
        try:
            data = self.line.recv(MESSAGE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return ENDED
        return self.problem_in(data)

    def ended(self):
        """Return the exit code once nothing of the program is left."""
        try:
            data = self.control.recv(MESSAGE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        if not data:
            raise Lost
        code, hundredths = data.split()
        self.reaped = int(hundredths) / 100
        return int(code)

    def kill(self):
        """Kill the child; the interpreter then kills all that it left behind."""
        with supervise.Quietly():
            signal.pidfd_send_signal(self.files[0], signal.SIGKILL)

    def release(self):
        """Let go of the program's folders, which end with that."""
        for fd in self.files:
            os.close(fd)


class Network:
    """The network namespace of the next program: new, or one in which nothing has ever happened.

    To make one, and for the kernel to take it down, costs more than most programs do, and most
    never open a socket. One is kept only while no packet has passed its loopback, no socket is left
    in it, and no label of a flow: then it is as it was made.
    """

    def __init__(self, interpreter):
        self.interpreter = interpreter
        self.files, self.fresh = [], None

    def is_fresh(self):
        """Tell whether the next program may have the network of the last one."""
        return self.fresh is not None and self.state() == self.fresh

    def is_empty(self):
        """Tell whether there is no socket in it."""
        return self.fresh is not None and self.sockets() == self.fresh[1]

    def sockets(self):
        """Return how many sockets there are; what TCP holds on the whole machine comes after it."""
        return os.pread(self.files[1], PIECE, 0).partition(b"\n")[0]

    def note(self):
        """Note what the kernel counts of a new one."""
        for fd in self.files:
            os.close(fd)
        self.files = []
        for name in ("dev", "sockstat", "ip6_flowlabel"):
            with supervise.Quietly():
                self.files.append(os.open("/proc/%d/net/%s" % (self.interpreter, name), 0))
        self.fresh = self.state()

    def state(self):
        """Return what the kernel counts of all that happens here; none where it does not say."""
        if len(self.files) < 2:
            return None
        packets, *labels = (os.pread(fd, PIECE, 0) for fd in (self.files[0], *self.files[2:]))
        sockets = self.sockets()
        return (packets, sockets, *labels) if packets and sockets.startswith(b"sockets:") else None


class WarmPolice(supervise.Police):
    """Watch over a program whose network is known."""

    network = None

    def waiting(self, pids):
        """Return the bytes that wait in sockets, without asking for each kind where none is."""
        return 0 if self.network.is_empty() else super().waiting(pids)


class Outputs:
    """What a program writes, and what it is sent once it has asked for that.

    The program's own ends are open here too, so that nothing happens when it ends: all that it has
    written then waits to be read.
    """

    def __init__(self, most, test, gate):
        # Not made by the interpreter, whose network would then not be as it was.
        proof = [end.detach() for end in socket.socketpair()] if test else os.pipe()
        self.pipes = [os.pipe(), os.pipe(), proof]
        self.captured = {fd: supervise.CapturedOutput() for fd, _ in self.pipes}
        for fd in self.captured:
            os.set_blocking(fd, False)
        self.most, self.gate, self.proof = most, gate, proof[0]
        self.left = HEADER.pack(len(test)) + test if test else b""
        # The proof is read at the end, unless the test waits for a word of it.
        self.readable = list(self.captured) if test else list(self.captured)[:2]

    def writable(self):
        """Return where there is something to send; the test goes to who has asked for it."""
        wanted = self.left and self.captured[self.proof].head.startswith(self.gate)
        return [self.proof] if wanted else []

    def read(self, fd):
        """Take in what the program has written; return whether that is too much."""
        if self.captured[fd].read(fd) == 0:
            self.readable.remove(fd)
        return self.captured[fd].size > self.most

    def send(self):
        """Send some of the test."""
        try:
            self.left = self.left[os.write(self.proof, self.left[:PIECE]) :]
        except BlockingIOError:
            return
        except OSError:
            self.left = b""

    def end(self):
        """Read what is left, and close all; return the three outputs."""
        for fd in select.select(list(self.captured), [], [], 0)[0]:
            # More than a pipe can hold was not there when the program ended.
            for _ in range(MOST_PIECES):
                if self.captured[fd].read(fd) != PIECE:
                    break
        for pair in self.pipes:
            for fd in pair:
                os.close(fd)
        return self.captured.values()


class Server:
    """Run programs one after the other."""

    def __init__(self, report, control, line, joints):
        self.report, self.control, self.line, self.joints = report, control, line, joints
        self.interpreter, self.network, self.child = 0, None, None

    def prepare(self):
        """Have the next child made, in a network as new as it can be."""
        self.renewed = self.network is not None and not self.network.is_fresh()
        self.control.send(zygote.RENEW if self.renewed else zygote.FORK)
        self.before = self.child.reaped if self.child is not None else 0.0
        self.child = Child(self.control, self.line)

    def await_child(self):
        """Wait for the next child; return why it is not ready, or an empty text."""
        self.child.await_ready()
        if self.renewed:
            self.network.note()
        return self.child.problem

    def serve(self, job):
        """Run one program, and report; return whether another can follow."""
        if not self.child.files:
            self.await_child()
        outputs = Outputs(job["output"], job["test"], job["secret"][: len(job["secret"]) // 2])
        channel = socket.recv_fds(self.joints, 1, 1)[1] if job["joined"] else []
        started = time.monotonic()
        self.child.start(job["program"], [*(fd for _, fd in outputs.pipes), *channel])
        for fd in channel:
            os.close(fd)
        police = self.police(job["police"]) if job["police"] else None
        processors = self.processors(police)
        code, stopped = self.watch(outputs, started + job["wall"], police, processors)
        out, err, proof = outputs.end()
        stopped = stopped or (police.verdict(code) if police else self.verdict(code, job["cpu"]))
        finished = code == 0 and not stopped
        report = {
            "not_started": self.child.problem or self.child.why_not_started(),
            "beyond": not job["police"] and code == -signal.SIGSYS,
            "code": None if stopped else code,
            "stopped": stopped,
            "short": processors.was_short(job["wall"], job["wall"]),
            "finished": finished,
            "proved": finished and proof.head == job["secret"],
            "out": out.text(),
            "err": err.text(),
            "seconds": time.monotonic() - started,
        }
        # What a program has written is gone before its group gets the limits of the next one.
        self.child.release()
        send(self.report, report)
        return not report["not_started"]

    def police(self, limits):
        """Return who watches over the next program."""
        police = WarmPolice(*limits, self.interpreter, self.child.files[1:], self.before)
        police.network = self.network
        return police

    def processors(self, police):
        """Return who counts what the next program uses of the processors."""
        own = {"1", str(os.getpid()), str(self.interpreter)}

        def pids():
            return [name for name in os.listdir("/proc") if name.isdigit() and name not in own]

        def tell(idle):
            send(self.report, {"idle": idle})

        # One that has no police has no processes that it could wait for.
        reaped = police.reaped if police else lambda: 0.0
        return limits_watch.ProcessorTime(pids, reaped, tell)

    def watch(self, outputs, deadline, police, processors):
        """Wait for a program, and kill it at a limit; return its exit code and that limit."""
        end, stopped = self.control.fileno(), None
        if self.child.problem and self.child.files:
            self.child.kill()
        while (code := self.child.ended()) is None:
            limit = None
            now = time.monotonic()
            if stopped is None:
                processors.watch()
                limit = "time" if now > deadline else police and police.offence()
            # A longer pause would not wait any better where nobody looks in between.
            period = police.PERIOD if police else processors.PERIOD
            pause = min(period, max(0.0, deadline - now) + 0.001)
            ready, writable, _ = select.select(
                [end, *outputs.readable], outputs.writable(), [], 0 if limit else pause
            )
            for fd in ready:
                if fd != end and outputs.read(fd):
                    limit = limit or "output"
            if writable:
                outputs.send()
            if limit and stopped is None:
                stopped = limit
                processors.look()
                self.child.kill()
        return code, stopped

    def verdict(self, code, cpu):
        """Name the limit on processor time, where that has ended a program."""
        used = self.child.reaped - self.before
        beyond = code == -signal.SIGXCPU or (code == -signal.SIGKILL and used > cpu)
        return "cpu" if beyond else None


def interpret(control, line, settings):
    """Be the interpreter; it does not return."""
    try:
        zygote.close_all_but(control.fileno(), line.fileno(), *settings["doors"])
        kind = zygote.Own
        if settings["confined"]:
            import confined

            kind = confined.Confined
        zygote.breed(control, line, settings, kind)
    finally:
        os._exit(1)


def main():
    """Serve until the input ends."""
    supervise.guard_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    joints = socket.socket(fileno=int(sys.argv[1]))
    joints.set_inheritable(False)
    jobs, report = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    settings = receive(jobs)
    if settings is None:
        return
    control, their_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line, their_line = socket.socketpair()
    server = Server(report, control, line, joints)
    supervise.libc_call("unshare", zygote.NEW_PROCESSES)
    server.interpreter = os.fork()
    if server.interpreter == 0:
        joints.detach()
        control.detach()
        line.detach()
        interpret(their_control, their_line, settings)
    their_control.close()
    their_line.close()
    line.settimeout(SETUP_TIME)
    for door in settings["doors"]:
        os.close(door)
    if settings["confined"]:
        zygote.drop_capabilities()
    else:
        server.network = Network(server.interpreter)
    try:
        server.prepare()
        send(report, {"not_started": server.await_child()})
        while (job := receive(jobs)) is not None and server.serve(job):
            server.prepare()
    except (Lost, OSError):
        return


if __name__ == "__main__":
    main()
