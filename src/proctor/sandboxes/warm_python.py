"""Warm Python interpreters inside sandboxes: a program costs a fork instead of a start."""

import asyncio
import base64
import marshal
import os
import re
import secrets
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from proctor.contracts.sandbox import begin_part
from proctor.core.program import Limits, Program, Ran, Stopped
from proctor.core.suite import Json
from proctor.errors import SandboxError
from proctor.io import json_bytes
from proctor.io.child_processes import spawn
from proctor.io.concurrency import available_cores
from proctor.sandboxes.control_groups import ControlGroup
from proctor.sandboxes.pairs import run_joined
from proctor.sandboxes.seccomp import filter_code
from proctor.sandboxes.supervisor_job import (
    GRACE,
    cpu_limit,
    end,
    group_bounds,
    police_of,
    rlimits,
)

ZYGOTE = Path(__file__).with_name("zygote.py")
WARM_SUPERVISOR = Path(__file__).with_name("warm_supervisor.py")
CONFINED = Path(__file__).with_name("confined.py")
HEAVY = (
    "numpy", "numpy.random", "pandas", "scipy", "sklearn", "torch", "matplotlib", "requests",
    "openpyxl",
)  # fmt: skip
"""Packages that take long to import: an interpreter that has them serves programs naming them."""
SOURCE = "main.py"
MOST = max(8, 6 * available_cores())
"""How many interpreters are kept; the one unused for longest makes room."""
START_LIMIT = 120.0
_HEADER = struct.Struct("<I")
_HEAVY = re.compile(rf"\b(?:{'|'.join(sorted({name.partition('.')[0] for name in HEAVY}))})\b")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """How a warm interpreter is started in a sandbox."""

    argv: Sequence[str]
    settings: Mapping[str, Json]
    """What its supervisor is told before there is a program."""
    prepare: Callable[[], None]
    """What its process does before anything else."""
    doors: Sequence[int] = ()
    """Open files by which its children join the control group of the programs."""
    programs: ControlGroup | None = None
    """The control group of the programs."""
    groups: Sequence[ControlGroup] = ()
    """What is removed when it has ended."""


@dataclass(eq=False)
class _Zygote:
    """One interpreter in its sandbox, with its supervisor; it runs one program at a time."""

    process: asyncio.subprocess.Process
    kind: tuple[str, ...]
    """The packages and modules that it has loaded."""
    joints: socket.socket
    """Where its supervisor gets the sockets that join programs."""
    programs: ControlGroup | None
    groups: Sequence[ControlGroup]
    bounds: tuple[int, int] = (0, 0)
    events: tuple[int, int] = (0, 0)

    async def send(self, data: bytes) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(_HEADER.pack(len(data)) + data)
        await self.process.stdin.drain()

    async def hear(self) -> Json:
        """Wait for one message."""
        assert self.process.stdout is not None
        header = await self.process.stdout.readexactly(_HEADER.size)
        data = await self.process.stdout.readexactly(_HEADER.unpack(header)[0])
        return json_bytes.loads(data)

    async def kill(self) -> None:
        """End the interpreter with all it has started."""
        self.joints.close()
        await end(self.process)
        for group in self.groups:
            await asyncio.to_thread(group.remove)

    def bind(self, limits: Limits) -> None:
        """Give the programs' group the limits of the next one."""
        bounds = group_bounds(limits)
        if self.programs is not None and bounds != self.bounds:
            self.programs.limit(*bounds)
            self.bounds = bounds

    def explain(self, ran: Ran) -> Ran:
        """Name the limit that the kernel enforced on this program."""
        if self.programs is None:
            return ran
        before, self.events = self.events, self.programs.events()
        return self.programs.explain(ran, before, self.events)


class _NotStarted(Exception):
    """A program that has not begun, and why."""


class _ZygoteLost(Exception):
    """A supervisor that ended with the program."""


@dataclass
class WarmPython:
    """The interpreters of one sandbox."""

    command: Callable[[bool], Interpreter]
    """How one is started; whether for confined programs."""
    broken: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Why there is no warm interpreter with some packages on this machine, once that is known."""
    _refused: set[tuple[str, ...]] = field(default_factory=set)
    _idle: list[_Zygote] = field(default_factory=list)
    _zygotes: set[_Zygote] = field(default_factory=set)

    async def run(self, program: Program) -> Ran | None:
        """Run the program's text; none where that must be done in a sandbox of its own.

        So it is where warm interpreters do not work, and where one was lost with the program.
        """
        if program.partner is None:
            return await self._run(program, None)
        ran = await run_joined(program, self._run)
        if ran is None and program.confined:
            ran = await run_joined(replace(program, confined=False), self._run)
        return ran

    async def _run(self, program: Program, channel: socket.socket | None) -> Ran | None:
        code = filter_code(confined=program.confined)
        try:
            text = program.files[SOURCE].decode("utf-8", "surrogatepass")
        except (KeyError, UnicodeDecodeError):
            return None
        imports = _heavy(program)
        kind = _kind(program, imports)
        if kind in self.broken or code is None:
            return None
        settings = {"imports": imports, "modules": dict(program.modules), "filter": code}
        try:
            zygote = await self._zygote(kind, settings, program.confined)
        except SandboxError as error:
            # Once it may be the machine's hour; twice it is the machine.
            if kind in self._refused:
                self.broken[kind] = str(error)
            self._refused.add(kind)
            return None
        try:
            report = await self._serve(zygote, program, text, channel)
        except (_NotStarted, _ZygoteLost):
            return None
        ran = Ran(
            code=report["code"],
            step=0,
            finished=report["finished"],
            proved=report["proved"],
            stdout=report["out"],
            stderr=report["err"],
            stopped=Stopped(report["stopped"]) if report["stopped"] else None,
            starved=report["short"],
            seconds=report["seconds"],
        )
        return zygote.explain(ran)

    async def close(self) -> None:
        """End all interpreters."""
        while self._zygotes:
            await self._zygotes.pop().kill()
        self._idle.clear()

    async def _serve(
        self, zygote: _Zygote, program: Program, text: str, channel: socket.socket | None
    ) -> Json:
        """Let an interpreter run a program; it is kept only if it reports."""
        try:
            async with asyncio.timeout(program.limits.wall + GRACE):
                if channel is not None:
                    socket.send_fds(zygote.joints, [b"+"], [channel.fileno()])
                    channel.close()
                zygote.bind(program.limits)
                job = _job(program, text) | {"joined": channel is not None}
                await zygote.send(marshal.dumps(job))
                report = await _report(zygote)
        except (TimeoutError, asyncio.IncompleteReadError, OSError):
            await self._discard(zygote)
            raise _ZygoteLost from None
        except BaseException:
            await self._discard(zygote)
            raise
        if report["not_started"]:
            await self._discard(zygote)
            raise _NotStarted(report["not_started"])
        self._idle.append(zygote)
        if report["beyond"]:
            raise _NotStarted("it wants more than it may")
        return report

    async def _zygote(
        self, kind: tuple[str, ...], settings: Mapping[str, Json], confined: bool
    ) -> _Zygote:
        """Return an idle interpreter of a kind, or a new one."""
        for zygote in reversed(self._idle):
            if zygote.kind == kind:
                self._idle.remove(zygote)
                return zygote
        while len(self._zygotes) >= MOST and self._idle:
            await self._discard(self._idle.pop(0))
        return await self._start(kind, settings, confined)

    async def _start(
        self, kind: tuple[str, ...], settings: Mapping[str, Json], confined: bool
    ) -> _Zygote:
        interpreter = self.command(confined)
        joints, theirs = socket.socketpair()
        try:
            process = await spawn(
                [*interpreter.argv, str(theirs.fileno())],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=(*interpreter.doors, theirs.fileno()),
                env={"PATH": os.defpath},
                preexec_fn=interpreter.prepare,
                start_new_session=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            for group in interpreter.groups:
                group.remove()
            raise SandboxError(f"a warm interpreter cannot be started: {error}") from None
        finally:
            theirs.close()
            for fd in interpreter.doors:
                os.close(fd)
        zygote = _Zygote(process, kind, joints, interpreter.programs, interpreter.groups)
        self._zygotes.add(zygote)
        try:
            async with asyncio.timeout(START_LIMIT):
                await zygote.send(marshal.dumps({**interpreter.settings, **settings}))
                problem = (await zygote.hear())["not_started"]
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            problem = "it ended before it was ready"
        except BaseException:
            await self._discard(zygote)
            raise
        if problem:
            await self._discard(zygote)
            raise SandboxError(f"a warm interpreter does not start in the sandbox: {problem}")
        return zygote

    async def _discard(self, zygote: _Zygote) -> None:
        self._zygotes.discard(zygote)
        if zygote in self._idle:
            self._idle.remove(zygote)
        await zygote.kill()


async def _report(zygote: _Zygote) -> Json:
    """Wait for what became of a program, passing on what is said of it meanwhile."""
    activity = begin_part()
    try:
        while "idle" in (message := await zygote.hear()):
            activity.tell(idle=message["idle"])
        return message
    finally:
        activity.end()


def _heavy(program: Program) -> tuple[str, ...]:
    """Return the packages that take long to import and that a program or its partner names."""
    texts = [program.files[SOURCE]]
    if program.modules:
        both = (program, *((program.partner,) if program.partner is not None else ()))
        texts = [data for half in both for data in (*half.files.values(), half.stdin)]
    named = {name for data in texts for name in _HEAVY.findall(data.decode("utf-8", "replace"))}
    return tuple(name for name in HEAVY if name.partition(".")[0] in named)


def _kind(program: Program, imports: Sequence[str]) -> tuple[str, ...]:
    """Name the packages and modules that an interpreter must have, and what it must allow."""
    return (*(("confined",) if program.confined else ()), *imports, *program.modules)


def _job(program: Program, text: str) -> dict[str, Json]:
    """Write down what the supervisor must know, and what the program alone may read.

    Standard input is what a launcher reads elsewhere: the line of the secret, the names of the
    modules that a test uses, and the test, which the program gets when all its lines have run.
    """
    secret = secrets.token_bytes(32)
    _, names, test = (*program.stdin.split(b"\n", 2), b"", b"")[:3]
    files = {name: data for name, data in program.files.items() if name != SOURCE}
    return {
        "wall": program.limits.wall,
        "output": program.limits.output,
        "cpu": cpu_limit(program),
        "police": [] if program.confined else police_of(program),
        "secret": secret,
        "test": test,
        "program": marshal.dumps(
            {
                "text": text if program.call is None else "",
                "call": program.call,
                "files": {
                    name: base64.b64encode(data).decode("ascii") for name, data in files.items()
                },
                "disk": program.limits.disk,
                "memory": program.limits.memory,
                "limits": rlimits(program, address_space=False, processes=True),
                "env": dict(program.env),
                "secret": secret,
                "late": bool(test),
                "names": names.decode("ascii", "replace").split(),
            }
        ),
    }
