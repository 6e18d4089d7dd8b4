"""One run of the supervisor as a child process, under an outer limit of time."""

import asyncio
import base64
import marshal
import os
import py_compile
import secrets
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from proctor.contracts.sandbox import PartActivity, begin_part
from proctor.core.program import SECRET, Limits, Program, Ran, Stopped
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.child_processes import spawn

SUPERVISOR = Path(__file__).with_name("supervise.py")
LIMITS_WATCH = Path(__file__).with_name("limits_watch.py")
WORK = "/sandbox"
"""The working folder of programs inside a sandbox."""
ENVIRONMENT = {
    "HOME": WORK,
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "TMPDIR": "/tmp",  # nosec B108  # a place inside the sandbox
}
GRACE = 10.0
"""Seconds beyond a program's own limit for starting the sandbox and reporting back."""
OWN_MEMORY = 64 * 1024 * 1024
"""What the sandbox itself may use besides the program."""
STARTED = b"+"
"""What the supervisor writes before its report, once nothing but the program is left to start."""
IDLE, BUSY = ord("~"), ord("!")
"""What it writes before that, too, when the program begins to do nothing, and something again."""
LOST = "the program was lost together with its supervisor"
THREADS = 4
"""Threads for each process that a program may have; virtual machines start many."""


def job_of(program: Program, cwd: str, limits: Mapping[str, int]) -> dict[str, Json]:
    """Write down a program for the supervisor, with a fresh secret in its files and input."""
    secret = secrets.token_hex(16)
    files = {
        name: data.replace(SECRET.encode(), secret.encode()) for name, data in program.files.items()
    }
    files |= {f"{name}.py": data for name, data in program.modules.items()}
    return {
        "secret": secret,
        "cwd": cwd,
        "files": {name: _b64(data) for name, data in files.items()},
        "tools": list(program.tools),
        "steps": [
            {
                "argv": list(step.argv),
                "wall": step.wall,
                "hide": list(step.hide),
                "stdin": step.stdin,
            }
            for step in program.steps
        ],
        "stdin": _b64(program.stdin.replace(SECRET.encode(), secret.encode())),
        "env": dict(program.env),
        "wall": program.limits.wall,
        "output": program.limits.output,
        "limits": dict(limits),
        "keep": list(program.keep),
    }


def cpu_limit(program: Program) -> float:
    """Return the seconds of processor time that a program has."""
    limits = program.limits
    return limits.cpu if limits.cpu is not None else 2 * limits.wall + 1


def police_of(program: Program) -> list[float]:
    """Return what the supervisor watches over all processes together."""
    limits = program.limits
    return [limits.memory, limits.processes, cpu_limit(program)]


def tasks_of(limits: Limits) -> int:
    """Return how many threads the processes of a program may have together."""
    return THREADS * limits.processes


def group_bounds(limits: Limits) -> tuple[int, int]:
    """Return how many tasks, and how much memory, the control group of a program may have."""
    return tasks_of(limits) + 8, limits.memory + limits.disk + OWN_MEMORY


def rlimits(program: Program, *, address_space: bool, processes: bool) -> dict[str, int]:
    """Return the limits that the kernel keeps for each process by itself."""
    limits = program.limits
    values = {
        "CPU": max(1, int(cpu_limit(program) + 0.999)),
        "FSIZE": limits.file_size,
        "NOFILE": limits.open_files,
        "CORE": 0,
        "MEMLOCK": 64 * 1024,
        "MSGQUEUE": 64 * 1024,
        "SIGPENDING": 4096,
    }
    if address_space:
        values["AS"] = limits.memory
    if processes:
        values["NPROC"] = tasks_of(limits) + 8
    return values


async def supervised(  # noqa: PLR0913
    argv: Sequence[str],
    job: Mapping[str, Json],
    *,
    wall: float,
    prepare: Callable[[], None] | None = None,
    pass_fds: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
    channel: socket.socket | None = None,
) -> Ran:
    """Run a command that ends in the supervisor, hand it the job, and read its report.

    A channel is the program's alone from then on.
    """
    clock = asyncio.get_running_loop().time
    begun = clock()
    try:
        joint = (channel.fileno(),) if channel is not None else ()
        process = await spawn(
            [*argv, *map(str, joint)],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(*pass_fds, *joint),
            env=env if env is not None else {"PATH": os.defpath},
            preexec_fn=prepare,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Ran(code=None, step=0, finished=False, not_started=f"{argv[0]}: {error}")
    finally:
        if channel is not None:
            channel.close()
    out = bytearray()
    activity = begin_part()
    try:
        sent = {name: value for name, value in job.items() if name != "secret"}
        with suppress(TimeoutError):
            async with asyncio.timeout(wall + GRACE):
                await _exchange(process, marshal.dumps(sent), out, activity)
    finally:
        activity.end()
        await end(process)
    assert process.stderr is not None
    err = await process.stderr.read()
    ran = _read(bytes(out), err, process.returncode, clock() - begun, late=clock() - begun >= wall)
    return proven(ran, str(job["secret"]))


async def _exchange(
    process: asyncio.subprocess.Process, data: bytes, out: bytearray, activity: PartActivity
) -> None:
    """Write the input, and collect the output as it comes: some of it is better than none."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(data)
    process.stdin.close()
    while piece := await process.stdout.read(65536):
        out += piece
        if signs := [sign for sign in piece if sign in (IDLE, BUSY)]:
            activity.tell(idle=signs[-1] == IDLE)


def proven(ran: Ran, secret: str) -> Ran:
    """Note whether the secret came back, and take it out of the output."""
    lines = ran.stdout.split("\n")
    if secret not in lines:
        return ran
    rest = "\n".join(line for line in lines if line != secret)
    return replace(ran, proved=True, stdout=rest)


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill a process with its session, and reap it."""
    # Not by the process's own kill: that reaps it first, and the loop then looks for it in vain.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]


def _read(out: bytes, err: bytes, code: int | None, seconds: float, *, late: bool) -> Ran:
    """Read what the supervisor wrote; only that tells whether the program was started at all."""
    text = err.decode("utf-8", "replace")
    started = out.startswith(STARTED)
    try:
        report = json_bytes.loads(out.removeprefix(STARTED).translate(None, bytes([IDLE, BUSY])))
    except ValueError:
        if started and late:
            return Ran(code=None, step=0, finished=False, stopped=Stopped.TIME, seconds=seconds)
        last_line = (text.strip().splitlines() or [f"status {code}"])[-1]
        return Ran(
            code=None,
            step=0,
            finished=False,
            stderr=LOST if started else text,
            not_started="" if started else f"the sandbox did not start: {last_line}",
            seconds=seconds,
        )
    return Ran(
        code=report["code"],
        step=report["step"],
        finished=report["finished"],
        stdout=_text(report["out"]),
        stderr=_text(report["err"]) or text,
        not_started=_text(report["not_started"]),
        stopped=Stopped(report["stopped"]) if report["stopped"] else None,
        starved=report["short"],
        seconds=report["seconds"],
        files={_text(name): base64.b64decode(data) for name, data in report["files"].items()},
    )


def _text(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", "replace")


@cache
def compiled(path: Path) -> Path:
    """Return a file of ours that runs inside as bytecode, so that it is not compiled every time."""
    try:
        return Path(py_compile.compile(str(path), doraise=True) or path)
    except (OSError, py_compile.PyCompileError):
        return path


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
