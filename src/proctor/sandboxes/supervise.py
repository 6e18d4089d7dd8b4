"""Run the steps of one program and report; this file runs by itself, inside the sandbox.

It reads one job from standard input and writes to standard output: one byte once nothing but the
program is left to start, then a report as JSON. The program gets pipes of its own, so that it
cannot write the report, and this process cannot be traced or opened by it. In a sandbox it is the
first process, which nothing inside can kill or stop; it reaps the others. It uses the standard
library alone and imports nothing of the product.
"""

from __future__ import annotations

import binascii
import ctypes
import errno
import marshal
import os
import resource
import select
import stat
import sys
import time

TYPE_CHECKING = False  # the library's own takes milliseconds to import
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from typing import Any

    from proctor.sandboxes.limits_watch import (
        CapturedOutput,
        Police,
        ProcessorTime,
        Quietly,
        b64,
        feed,
        of_session,
        send,
        written,
    )

    Job = dict[str, Any]
else:
    import _signal as signal  # what lies around it takes milliseconds too, at every program

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from limits_watch import (  # it lies beside this file
        CapturedOutput,
        Police,
        ProcessorTime,
        Quietly,
        b64,
        feed,
        of_session,
        send,
        written,
    )

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
STARTED = b"+"
"""Written before the report: whatever is lost from then on, the program took with it."""
IDLE, BUSY = b"~", b"!"
"""Written between the two when the program begins to do nothing, and to do something again."""
NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENOEXEC)
CHANNEL = 3
"""The socket to another program, where there is one."""
LIBC = ctypes.CDLL(None, use_errno=True)
LIMITS = {n[7:]: number for n, number in vars(resource).items() if n.startswith("RLIMIT_")}
MAX_KEPT_FILE = 64 * 1024 * 1024


def libc_call(name: str, *args: Any) -> int:
    """Call a function of the C library, and raise OSError if it fails."""
    result: int = getattr(LIBC, name)(*args)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def guard_self() -> None:
    """Keep the program from tracing this process or opening its files."""
    if sys.platform == "linux":
        libc_call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def apply_limits(limits: dict[str, int]) -> None:
    """Set the limits of this process, which its children inherit."""
    for name, value in limits.items():
        which = LIMITS.get(name)
        if which is not None:
            # The soft limit on processor time gives a signal of its own, the hard one just kills.
            limit(which, value, value + 1 if name == "CPU" else value)


def limit(which: int, soft: int, hard: int) -> None:
    """Set one limit, or leave it as low as it is."""
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(which, (soft, hard))


class Spawned:
    """A step's first process, a child of this one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.processors: ProcessorTime | None = None

    def ended(self) -> int | None:
        """Return the exit code once it has ended."""
        return ended(self.pid)

    def kill(self) -> None:
        """Kill it and its group."""
        kill(self.pid)

    def clear(self) -> None:
        """Leave nothing of what it has started."""
        kill_group(self.pid)
        kill_all()


def watch(  # noqa: PLR0913
    process: Spawned,
    pipes: Sequence[int],
    wall: float,
    most: int,
    stdin: bytes = b"",
    stdin_fd: int | None = None,
    police: Police | None = None,
) -> tuple[int | None, str | None, list[CapturedOutput]]:
    """Wait for a process, reading its pipes; kill it at a limit.

    Return exit code (negative for a signal), the limit that stopped it or None, and the outputs.
    """
    seen = Watched(process, pipes, wall, most)
    for fd in [*pipes, *([] if stdin_fd is None else [stdin_fd])]:
        os.set_blocking(fd, False)
    while not seen.over():
        seen.judge(police)
        writing = [stdin_fd] if stdin_fd is not None else []
        ready, ready_to_write, _ = select.select(list(seen.open), writing, [], seen.pause())
        for fd in ready:
            seen.read(fd)
        if ready_to_write and stdin_fd is not None:
            stdin, stdin_fd = feed(stdin_fd, stdin)
    process.clear()
    for fd in [*pipes, *([] if stdin_fd is None else [stdin_fd])]:
        os.close(fd)
    return seen.code, seen.stopped, [seen.captured[fd] for fd in pipes]


class Watched:
    """What is known of a process while it runs."""

    def __init__(self, process: Spawned, pipes: Sequence[int], wall: float, most: int) -> None:
        self.process, self.most = process, most
        self.captured = {fd: CapturedOutput() for fd in pipes}
        self.open = set(pipes)
        self.deadline = time.monotonic() + wall
        self.grace = self.deadline
        self.near = 0.0
        self.code: int | None = None
        self.stopped: str | None = None

    def over(self) -> bool:
        """Tell whether the process has ended and its pipes are read."""
        if self.code is None:
            self.code = self.process.ended()
            # What the program left in its pipes is read; what its orphans still say is not.
            self.grace = time.monotonic() + 0.05
        return self.code is not None and (not self.open or time.monotonic() > self.grace)

    def judge(self, police: Police | None) -> None:
        """Stop the process at its limit of time, or at one that the police finds."""
        if self.code is not None or self.stopped is not None:
            return
        processors = self.process.processors
        if processors is not None:
            processors.watch()
        if time.monotonic() > self.deadline:
            if processors is not None:
                processors.look()
            self.stop("time")
        elif police is not None and (offence := police.offence()):
            self.stop(offence)

    def stop(self, limit: str) -> None:
        """Kill the process for passing a limit."""
        self.stopped = limit
        self.process.kill()

    def pause(self) -> float:
        """Return how long to wait for output: briefly when the pipes say that the end is near."""
        return 0.0005 if time.monotonic() < self.near else 0.01

    def read(self, fd: int) -> None:
        """Take in what the process has written."""
        taken = self.captured[fd].read(fd)
        if taken is None:
            return
        if not taken:
            self.open.discard(fd)
            self.near = 0.0 if self.open else time.monotonic() + 0.05
            return
        if self.captured[fd].size > self.most and self.code is None and self.stopped is None:
            self.stop("output")


def ended(pid: int) -> int | None:
    """Return the exit code of a process once it has ended; the first process reaps all others."""
    if os.getpid() != 1:
        done, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None
    code = None
    for _ in range(1000):
        try:
            done, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not done:
            break
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
    return code


def kill_all() -> None:
    """End every other process of the sandbox, so that none is there when the next step runs."""
    while os.getpid() == 1:
        with Quietly():
            os.kill(-1, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill(pid: int) -> None:
    """Kill a process and its group."""
    kill_group(pid)
    with Quietly():
        os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Kill what is left of a process's group."""
    with Quietly():
        os.killpg(pid, signal.SIGKILL)


def spawn(
    argv: list[str], env: dict[str, str], limits: dict[str, int], joined: bool
) -> tuple[int, int, int, int]:
    """Start a command in a session of its own, with pipes; return its pid and our ends.

    One that is joined to another keeps its channel, which this process then has no more.
    """
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    in_read, in_write = os.pipe()
    fail_read, fail_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.dup2(in_read, 0)
            os.dup2(out_write, 1)
            os.dup2(err_write, 2)
            apply_limits(limits)
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            offer_to_killer()
            os.set_inheritable(fail_write, False)
            os.closerange(CHANNEL + joined, fail_write)
            os.closerange(fail_write + 1, 4096)
            os.execvpe(argv[0], argv, env)
        except OSError as error:
            os.write(fail_write, str(error.errno).encode())
        except ValueError:
            os.write(fail_write, str(errno.EINVAL).encode())
        finally:
            os._exit(127)
    for fd in (in_read, out_write, err_write, fail_write, *([CHANNEL] if joined else ())):
        os.close(fd)
    failed = os.read(fail_read, 16)
    os.close(fail_read)
    if failed:
        os.close(in_write)
        os.waitpid(pid, 0)
        os.close(out_read)
        os.close(err_read)
        raise OSError(int(failed), os.strerror(int(failed)), argv[0])
    return pid, out_read, err_read, in_write


def offer_to_killer() -> None:
    """Let the kernel choose the program rather than the supervisor when memory runs out."""
    with Quietly():
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(fd, b"1000")
        os.close(fd)


def leaves(name: str) -> bool:
    """Tell whether a name leads out of the working folder."""
    return os.path.isabs(name) or ".." in name.split("/")


def write_files(files: dict[str, str]) -> None:
    """Write the program's files into the working folder."""
    for name, data in files.items():
        if leaves(name):
            raise OSError(errno.EINVAL, "not a place in the working folder", name)
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(binascii.a2b_base64(data))
        if name.endswith((".sh", ".bin")):
            os.chmod(name, 0o755)  # nosec B103  # inside the sandbox


def hide(names: Sequence[str]) -> None:
    """Remove files before a step, whatever the steps before did to their folders."""
    for name in names:
        folder = os.path.dirname(name) or "."
        try:
            os.unlink(name)
            continue
        except FileNotFoundError:
            continue
        except OSError:
            pass
        try:
            os.chmod(folder, 0o700)
            os.unlink(name)
        except OSError as error:
            raise OSError(error.errno, "cannot be removed before the next step", name) from None


def read_kept(names: Sequence[str]) -> dict[str, str]:
    """Read the files that are to be brought back; links are not followed, on no part of the way."""
    contents = {}
    for name in names:
        if leaves(name):
            continue
        fd = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
        try:
            for part in name.split("/"):
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                above, fd = fd, os.open(part, flags, dir_fd=fd)
                os.close(above)
            if stat.S_ISREG(os.fstat(fd).st_mode):
                contents[name] = b64(read_whole(fd))
        except OSError:
            continue
        finally:
            os.close(fd)
    return contents


def read_whole(fd: int) -> bytes:
    """Read a file up to the size that is brought back."""
    with os.fdopen(os.dup(fd), "rb") as file:
        return file.read(MAX_KEPT_FILE)


def run_steps(job: Job) -> Job:
    """Run the steps one after the other, as long as each succeeds."""
    report: Job = {
        "code": None,
        "step": 0,
        "finished": False,
        "stopped": None,
        "short": None,
        "not_started": "",
        "out": "",
        "err": "",
    }
    started = time.monotonic()
    police = Police(*job["police"]) if job.get("police") else None
    processors = processor_time(job["channel"], police)
    for number, step in enumerate(job["steps"]):
        report["step"] = number
        left = job["wall"] - (time.monotonic() - started)
        try:
            hide(step.get("hide", ()))
            run_step(step, job, report, left, (police, processors))
        except NotStarted as error:
            report["not_started"] = missing(error, number, job["cwd"])
            report["err"] += f"{error}\n"
            report["code"] = 127
        except OSError as error:
            report["err"] += f"{error.filename}: {error.strerror}\n"
            report["code"] = 127
        if report["code"] != 0 or report["stopped"]:
            break
    else:
        report["finished"] = True
    report["seconds"] = time.monotonic() - started
    report["files"] = read_kept(job.get("keep", ()))
    return report


def processor_time(channel: int, police: Police | None) -> ProcessorTime:
    """Return who counts what the program uses of the processors, and says when it is idle."""

    def tell(idle: bool) -> None:
        send(channel, IDLE if idle else BUSY)

    if police is None:
        return ProcessorTime(list, tell=tell)
    return ProcessorTime(police.pids, police.reaped, tell)


class NotStarted(Exception):
    """Why a command could not be started, told by the kernel before it ran."""

    def __init__(self, command: str, number: int) -> None:
        super().__init__(f"{command}: {os.strerror(number)}")
        self.command, self.number = command, number


def missing(error: NotStarted, step: int, cwd: str) -> str:
    """Return why a step could not be started, unless the program is to blame for it.

    What lies in the working folder, the steps before should have made; and once they have run,
    they may have left too little of everything for the next.
    """
    inside = error.command.startswith(cwd + "/") or (
        "/" in error.command and not os.path.isabs(error.command)
    )
    if inside or (step and error.number not in NOT_THERE):
        return ""
    return f"{error} in the sandbox"


def run_step(
    step: Job,
    job: Job,
    report: Job,
    left: float,
    watchers: tuple[Police | None, ProcessorTime],
) -> None:
    """Run one step to its end, and note in the report what became of it."""
    police, processors = watchers
    stdin = binascii.a2b_base64(job["stdin"]) if step["stdin"] else b""
    wall = min(left, step.get("wall") or left)
    try:
        pid, out, err, inp = spawn(step["argv"], dict(job["env"]), job["limits"], job["joined"])
    except OSError as error:
        raise NotStarted(step["argv"][0], error.errno or errno.EINVAL) from None
    process = Spawned(pid)
    process.processors = processors
    processors.next_step()
    if police is None:
        processors.pids = lambda: of_session(pid)
    code, stopped, outputs = watch(process, (out, err), wall, job["output"], stdin, inp, police)
    if police is not None:
        stopped = stopped or police.verdict(code)
    elif code in (-signal.SIGXCPU, -signal.SIGXFSZ):
        stopped = stopped or ("cpu" if code == -signal.SIGXCPU else "disk")
    report["out"] += outputs[0].text()
    report["err"] += outputs[1].text()
    report["code"], report["stopped"] = (None if stopped else code), stopped
    report["short"] = processors.was_short(wall, job["wall"])


def failed_to_begin(job: Job) -> Job | None:
    """Write the program's files and look for its tools; report if the program cannot be started."""
    problem, stopped = "", None
    try:
        write_files(job["files"])
    except OSError as error:
        problem = f"its files cannot be written: {error}"
        # What does not fit is the program's own size, and no fault of the sandbox.
        stopped = "disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    lacking = [name for name in job["tools"] if not installed(name, job["env"].get("PATH", ""))]
    if lacking and not problem:
        problem = f"{lacking[0]}: {os.strerror(errno.ENOENT)} in the sandbox"
    if not problem:
        return None
    return {
        "code": None, "step": 0, "finished": False, "seconds": 0.0, "files": {}, "out": "",
        "stopped": stopped, "err": problem, "not_started": "" if stopped else problem,
        "short": None,
    }  # fmt: skip


def installed(name: str, path: str) -> bool:
    """Tell whether there is a command of this name."""
    places = [name] if "/" in name else [os.path.join(part, name) for part in path.split(":")]
    return any(os.access(place, os.X_OK) for place in places)


def main() -> None:
    """Serve one job."""
    guard_self()
    # The first process gets only signals that it has asked for; Python asks for this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    joined = len(sys.argv) > 1
    if joined:
        os.dup2(int(sys.argv[1]), CHANNEL)
    os.closerange(CHANNEL + joined, 256)
    job = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 - it comes from the grader  # nosec B302
    job["joined"] = joined
    # The report goes where standard output was; the program never sees that pipe.
    channel = job["channel"] = os.dup(1)
    os.dup2(2, 1)
    os.chdir(job["cwd"])
    report = failed_to_begin(job)
    if report is None:
        send(channel, STARTED)
        report = run_steps(job)
    send(channel, written(report).encode())


if __name__ == "__main__":
    main()
