"""A warm Python interpreter for programs that only compute; runs by itself, inside the sandbox.

It forks a child for each program. Neither it nor a child has any rights, a place to write to, a
network, or the means to start another program: what a child would have to prepare for others is
done here once. The text of a program is read by its child alone, so that nothing of it lies in
memory that a later one inherits; what it prints lies where no child has memory. A child that wants
more than it may is killed, and its program is run in another way.
"""

import marshal
import mmap
import os
import resource
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import limits_watch
import supervise
import warm_supervisor
import zygote

JOB = struct.Struct("<dddI")
"""Seconds, seconds of processor time and bytes of output that a program has, and the length of what
its child reads."""
PIECE = 65536
"""Bytes that are read at a time."""


class Output:
    """What a program prints: beginning, end and length, in memory that no child inherits."""

    def __init__(self):
        self.memory = mmap.mmap(-1, limits_watch.MOST_CAPTURED + PIECE)
        self.memory.madvise(mmap.MADV_DONTFORK)
        self.end = self.size = 0

    def read(self, fd):
        """Take in what a pipe has; return how much that was, 0 at its end, None for nothing yet."""
        try:
            with memoryview(self.memory) as whole, whole[self.end : self.end + PIECE] as room:
                taken = os.readv(fd, [room])
        except BlockingIOError:
            return None
        except OSError:
            return 0
        self.size += taken
        self.end += taken
        if self.end > limits_watch.MOST_CAPTURED:
            half = limits_watch.MOST_CAPTURED // 2
            self.memory.move(half, self.end - half, half)
            self.end = limits_watch.MOST_CAPTURED
        return taken

    def starts(self):
        """Tell whether the mark of a program that began comes first."""
        return self.end > 0 and self.memory[: len(supervise.STARTED)] == supervise.STARTED

    def hand_over(self, fd):
        """Write what is kept, and forget it."""
        with memoryview(self.memory) as whole, whole[: self.end] as kept:
            supervise.send(fd, kept)
        self.end = self.size = 0


class Child:
    """A process that runs one program."""

    def __init__(self, pid, outputs):
        self.pid, self.outputs = pid, outputs
        self.pidfd = os.pidfd_open(pid)
        self.ends = (self.pidfd,)

    def ended(self):
        """Return the exit code once it has ended."""
        done, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None

    def kill(self):
        """Kill it."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def clear(self):
        """Leave nothing of what it may have forked, which is all that there is besides us."""
        os.close(self.pidfd)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        supervise.kill_all()


class Runner:
    """What every child needs and none changes."""

    def __init__(self, jobs, report, joints, settings):
        self.jobs, self.report, self.joints = jobs, report, joints
        self.single = zygote.Filter(settings["single"])
        self.outputs = [Output() for _ in range(3)]
        with open("/proc/self/statm", "rb") as file:
            self.space = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        """Bytes of addresses that are in use before there is a program."""


def serve(runner, header):
    """Run one program, and report."""
    wall, cpu, most, length = JOB.unpack(header)
    before = used_by_children()
    pipes = [os.pipe() for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        try:
            become(runner, length, [write for _, write in pipes])
        finally:
            os._exit(zygote.SETUP_FAILED)
    for _, write in pipes:
        os.close(write)
    started = time.monotonic()
    reads = [read for read, _ in pipes]
    child = Child(pid, runner.outputs)
    code, stopped, outputs = supervise.watch(child, reads, wall, int(most))
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and used_by_children() - before > cpu):
        stopped = stopped or "cpu"
    warm_supervisor.send(
        runner.report,
        {
            "not_started": "" if outputs[2].starts() else "a child ended before its program",
            "beyond": code == -signal.SIGSYS,
            "code": None if stopped else code,
            "stopped": stopped,
            "finished": code == 0 and not stopped,
            "outputs": [(output.end, output.size) for output in outputs],
            "seconds": time.monotonic() - started,
        },
    )
    for output in outputs:
        output.hand_over(runner.report)


def used_by_children():
    """Return the processor time of all programs so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def become(runner, length, writes):
    """Turn this process into a program; it does not return."""
    job = marshal.loads(warm_supervisor.read_exactly(runner.jobs, length))  # noqa: S302 - from the grader  # nosec B302
    _, channel, _, _ = socket.recv_fds(runner.joints, 1, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    proof = os.dup2(writes[2], 300 + os.urandom(1)[0], inheritable=False)
    for number, fd in enumerate((null, writes[0], writes[1])):
        os.dup2(fd, number)
    supervise.apply_limits({**job["limits"], "AS": runner.space + job["memory"]})
    runner.single.apply()
    zygote.become_main(job["env"])
    arguments = [job["text"], (), proof, job["secret"]]
    job.clear()
    os.write(proof, supervise.STARTED)
    zygote.close_all_but(proof, *channel)
    os.dup2(channel[0], supervise.CHANNEL)
    os.close(channel[0])
    runner.joints.detach()
    del runner, proof
    zygote.Plain.run(arguments)


def main():
    """Serve until the input ends."""
    supervise.guard_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    joints = socket.socket(fileno=int(sys.argv[1]))
    jobs, report = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    settings = warm_supervisor.receive(jobs)
    if settings is None:
        return
    zygote.make_ready(settings)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    runner = Runner(jobs, report, joints, settings)
    zygote.Filter(settings["filter"]).apply()
    warm_supervisor.send(report, {"not_started": ""})
    while header := warm_supervisor.read_exactly(jobs, JOB.size):
        serve(runner, header)


if __name__ == "__main__":
    main()
