"""Warm Python interpreters inside sandboxes: a program costs a fork instead of a start."""

import asyncio
import base64
import os
import re
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from proctor import wire
from proctor.core.program import Program, Ran, Stopped
from proctor.core.suite import Json
from proctor.errors import SandboxError
from proctor.sandboxes.processes import GRACE, end, police_of, rlimits
from proctor.sandboxes.seccomp import filter_code

ZYGOTE = Path(__file__).with_name("zygote.py")
HEAVY = (
    "numpy", "numpy.random", "pandas", "scipy", "sklearn", "torch", "matplotlib", "requests",
    "openpyxl",
)  # fmt: skip
"""Packages that take long to import: an interpreter that has them serves programs naming them."""
SOURCE = "main.py"
MOST = 8
"""How many interpreters are kept; the one unused for longest makes room."""
START_LIMIT = 120.0
_HEADER = struct.Struct("<I")
_HEAVY = re.compile(rf"\b(?:{'|'.join(sorted({name.partition('.')[0] for name in HEAVY}))})\b")


@dataclass(eq=False)
class _Zygote:
    """Hold one interpreter in its sandbox; it runs one program at a time."""

    process: asyncio.subprocess.Process
    imports: tuple[str, ...]
    release: Callable[[], None]

    async def ask(self, message: Json, limit: float) -> Json:
        """Send a message and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        data = wire.dumps(message)
        self.process.stdin.write(_HEADER.pack(len(data)) + data)
        await self.process.stdin.drain()
        async with asyncio.timeout(limit):
            header = await self.process.stdout.readexactly(_HEADER.size)
            return wire.loads(await self.process.stdout.readexactly(_HEADER.unpack(header)[0]))

    async def kill(self) -> None:
        """End the interpreter with all it has started."""
        await end(self.process)
        self.release()


@dataclass
class WarmPython:
    """Hold the interpreters of one sandbox."""

    command: Callable[[], tuple[list[str], Callable[[], None] | None, Callable[[], None]]]
    """Makes a command line for an interpreter, what its child does first, and what ends it."""
    broken: str = ""
    """Why there is no warm interpreter on this machine, once that is known."""
    _idle: list[_Zygote] = field(default_factory=list)
    _all: set[_Zygote] = field(default_factory=set)

    async def run(self, program: Program) -> Ran | None:
        """Run the program's text; none where warm interpreters do not work here."""
        code = filter_code()
        if self.broken or code is None:
            return None
        text = program.files[SOURCE].decode("utf-8", "surrogatepass")
        try:
            zygote = await self._zygote(_heavy(text), code)
            report = await self._ask(zygote, _job(program, text), program.limits.wall + GRACE)
        except SandboxError as error:
            self.broken = str(error)
            return None
        if report is None:
            note = "the warm interpreter was lost with the program"
            return Ran(code=None, step=0, finished=False, stderr=note)
        if report["setup_failed"]:
            self.broken = report["err"]
            await self.close()
            return None
        return Ran(
            code=report["code"],
            step=0,
            finished=report["finished"],
            proved=report["proved"],
            stdout=report["out"],
            stderr=report["err"],
            stopped=Stopped(report["stopped"]) if report["stopped"] else None,
            seconds=report["seconds"],
        )

    async def close(self) -> None:
        """End all interpreters."""
        while self._all:
            await self._all.pop().kill()
        self._idle.clear()

    async def _ask(self, zygote: _Zygote, job: Json, limit: float) -> Json:
        try:
            report = await zygote.ask(job, limit)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            await self._discard(zygote)
            return None
        except BaseException:
            await self._discard(zygote)
            raise
        self._idle.append(zygote)
        return report

    async def _zygote(self, imports: tuple[str, ...], code: bytes) -> _Zygote:
        """Return an idle interpreter that has the packages, or a new one."""
        for zygote in reversed(self._idle):
            if zygote.imports == imports:
                self._idle.remove(zygote)
                return zygote
        while len(self._all) >= MOST and self._idle:
            await self._discard(self._idle.pop(0))
        return await self._start(imports, code)

    async def _start(self, imports: tuple[str, ...], code: bytes) -> _Zygote:
        argv, prepare, release = self.command()
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            preexec_fn=prepare,
            start_new_session=True,
        )
        zygote = _Zygote(process, imports, release)
        self._all.add(zygote)
        try:
            hello = {"imports": list(imports), "filter": base64.b64encode(code).decode("ascii")}
            await zygote.ask(hello, START_LIMIT)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            await self._discard(zygote)
            raise SandboxError("a warm interpreter does not start in the sandbox") from None
        except BaseException:
            await self._discard(zygote)
            raise
        return zygote

    async def _discard(self, zygote: _Zygote) -> None:
        self._all.discard(zygote)
        if zygote in self._idle:
            self._idle.remove(zygote)
        await zygote.kill()


def _heavy(text: str) -> tuple[str, ...]:
    """Return the packages that take long to import and that a text names."""
    named = set(_HEAVY.findall(text))
    return tuple(name for name in HEAVY if name.partition(".")[0] in named)


def _job(program: Program, text: str) -> dict[str, Json]:
    limits = rlimits(program, address_space=False, processes=True)
    return {
        "text": text,
        "files": {
            name: base64.b64encode(data).decode("ascii")
            for name, data in program.files.items()
            if name != SOURCE
        },
        "wall": program.limits.wall,
        "output": program.limits.output,
        "disk": program.limits.disk,
        "limits": limits,
        "police": police_of(program),
        "secret": secrets.token_hex(16),
    }
