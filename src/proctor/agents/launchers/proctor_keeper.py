"""Hold an agent's process and all that it starts; this file runs by itself, around the agent.

It is the one that processes without a parent come to, so none of them can get away from it. It ends
all of them when its control pipe is closed, also because the one who held the other end is gone.
It uses the standard library alone and imports nothing of the product.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PERIOD = 0.25
"""Seconds between two looks at how many processes there are."""
PATIENCE = 8.0
"""Seconds in which killed processes must have gone."""


def prctl(option: int, value: int) -> None:
    """Ask the kernel of Linux for something; elsewhere there is nothing to ask."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def spawn(command: list[str], report: int) -> int | None:
    """Start the agent in a session of its own; none where it could not be started."""
    failed_read, failed_write = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(127)
            for number in (signal.SIGINT, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)  # noqa: S606 - no shell is meant
        except OSError as error:
            os.write(failed_write, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(failed_write)
    failed = os.read(failed_read, 16)
    os.close(failed_read)
    if failed:
        os.waitpid(pid, 0)
        os.write(report, b"failed %s\n" % failed)
        return None
    os.write(report, b"began %d\n" % pid)
    return pid


def forget_streams() -> None:
    """Let the agent alone hold the pipes that it talks through."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def parents() -> dict[int, int]:
    """Return the parent of every process of this machine."""
    by_pid = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            with (
                suppress(OSError, IndexError, ValueError),
                open(f"/proc/{name}/stat", "rb") as file,
            ):
                by_pid[int(name)] = int(file.read().rpartition(b") ")[2].split()[1])
    return by_pid


def below(root: int) -> list[int]:
    """Return all processes that come from one."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents().items():
        children.setdefault(parent, []).append(pid)
    descendants, at = [], [root]
    while at:
        more = children.get(at.pop(), [])
        descendants += more
        at += more
    return descendants


class Keeper:
    """Hold the processes of one agent."""

    def __init__(self, pid: int, report: int) -> None:
        self.pid, self.report = pid, report
        self.alone = False
        """Whether nothing that was started is left."""

    def reap(self) -> None:
        """Take note of those that have ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.alone = True
                return
            if not pid:
                return
            if pid == self.pid:
                self.tell(b"ended %d\n" % os.waitstatus_to_exitcode(status))

    def tell(self, line: bytes) -> None:
        """Report, if somebody is still there to hear it."""
        with suppress(OSError):
            os.write(self.report, line)

    def watch(self, control: int, wake: int, most: int) -> None:
        """Wait until nothing is left, or somebody wants it to end, or there are too many."""
        due = time.monotonic() + PERIOD
        while not self.alone:
            ready, _, _ = select.select([control, wake], [], [], max(0.0, due - time.monotonic()))
            if control in ready:
                return
            if wake in ready:
                os.read(wake, 4096)
                self.reap()
            if time.monotonic() >= due:
                if len(below(os.getpid())) > most:
                    self.tell(b"processes %d\n" % most)
                    return
                due = time.monotonic() + PERIOD

    def end(self) -> bool:
        """Kill all that is left, and tell whether it has gone."""
        until = time.monotonic() + PATIENCE
        while not self.alone and time.monotonic() < until:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            left = below(os.getpid())
            # They are stopped first, so that none has time to start another one.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in left:
                    with suppress(OSError):
                        os.kill(pid, number)
            self.reap()
            time.sleep(0.002)
        return self.alone


def main(arguments: list[str]) -> None:
    """Start the agent, hold it, and leave nothing of it behind."""
    control, report, most = (int(text) for text in arguments[:3])
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    for fd in (control, report):
        os.set_inheritable(fd, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    pid = spawn(arguments[3:], report)
    if pid is None:
        return
    forget_streams()
    os.chdir("/")
    keeper = Keeper(pid, report)
    keeper.reap()
    keeper.watch(control, wake_read, most)
    if keeper.end():
        keeper.tell(b"clean\n")


if __name__ == "__main__":
    main(sys.argv[1:])
