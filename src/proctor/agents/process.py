"""A process of an agent with everything that it starts: read with limits, and ended as a whole."""

import asyncio
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from proctor.errors import ModelError
from proctor.io.child_processes import find_program
from proctor.io.redaction import redact

KEEPER = Path(__file__).parent / "launchers" / "proctor_keeper.py"
MARK = "PROCTOR_AGENT_MARK"
"""A variable by which processes are known that have killed the one that held them."""
LAST_WORDS = 4000
PATIENCE = 10.0
"""Seconds in which an agent's keeper must have ended everything."""
MIB = 1024 * 1024


class Broken(Exception):
    """A crash, exception or loss of an agent: an error, whatever it would have answered."""

    def __init__(self, reason: str, *, traceback: str = "") -> None:
        super().__init__(reason)
        self.traceback = traceback


class NoAnswer(Broken):
    """Reason why a working agent gave no answer: it passed a limit, or had nothing to say."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits of an agent in one turn."""

    output: int = 16 * MIB
    processes: int = 256


@dataclass
class AgentProcess(asyncio.SubprocessProtocol):
    """A running agent."""

    bounds: Bounds
    out: bytearray = field(default_factory=bytearray)
    err: bytes = b""
    status: int | None = None
    """The exit status of the agent's own process, once it has ended."""
    began: bool = False
    failed: int | None = None
    """The number of the error that kept it from starting."""
    stopped: str = ""
    """Which limit was passed."""
    gone: bool = False
    """Whether its keeper has ended."""
    closed: bool = False
    """Whether nothing more can come from its standard output."""
    errors_closed: bool = False
    """Whether nothing more can come from its standard error."""
    clean: bool = False
    _spoken: int = 0
    _mark: str = field(default_factory=lambda: secrets.token_hex(12))
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _control: int | None = None
    _report: int | None = None
    _report_bytes: bytes = b""
    _transport: Any = None

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, folder: Path, env: Mapping[str, str], bounds: Bounds
    ) -> Self:
        """Start a command in a folder, or raise a ModelError."""
        process = cls(bounds)
        loop = asyncio.get_running_loop()
        control, process._control = os.pipe()
        process._report, report = os.pipe()
        keeper = [sys.executable, "-I", "-S", str(KEEPER), str(control), str(report)]
        restore(folder)
        try:
            process._transport, _ = await loop.subprocess_exec(
                lambda: process, *keeper, str(bounds.processes), *argv,
                cwd=folder, env={**env, MARK: process._mark}, pass_fds=(control, report),
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            process._let_go()
            raise ModelError(f"no process can be started: {error.strerror}", passing=True) from None
        finally:
            os.close(control)
            os.close(report)
        os.set_blocking(process._report, False)
        loop.add_reader(process._report, process._reported)
        try:
            await process.until(lambda: process.began or process.failed is not None or process.gone)
        except BaseException:
            await process.close()
            raise
        if not process.began:
            await process.close()
            why = os.strerror(process.failed) if process.failed else "its keeper did not start"
            raise ModelError(f"{argv[0]} cannot be started: {why}")
        return process

    def write(self, data: bytes, *, last: bool = False) -> None:
        """Write to its standard input, and close that after what is the last."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is None or pipe.is_closing():
            return
        pipe.write(data)
        if last:
            pipe.close()

    def refresh(self) -> None:
        """Begin a turn: what was said unasked is forgotten, and limits count anew."""
        self.out.clear()
        self._spoken = 0

    async def until(self, ready: Callable[[], object]) -> None:
        """Wait for something to be so."""
        while not ready():
            self._news.clear()
            await self._news.wait()

    async def ended(self) -> int:
        """Wait until the agent's own process has ended, and return its exit status."""
        await self.until(lambda: self.status is not None or self.stopped or self.gone)
        if self.status is None:
            raise self.broke()
        await self._drain()
        if self.stopped:
            raise self.broke()
        return self.status

    async def _drain(self) -> None:
        """Wait for the rest of what it wrote before it ended.

        Those that it left behind may hold the pipes open: what they say is not waited for.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await self.until(lambda: (self.closed and self.errors_closed) or self.stopped)

    async def line(self) -> bytes:
        """Return the next line of its standard output."""
        await self.until(lambda: b"\n" in self.out or self.stopped or self.closed or self.gone)
        if b"\n" not in self.out:
            if not self.stopped:
                # Why it fell silent is known a moment later, if it has ended.
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await self.until(lambda: self.status is not None or self.gone)
                if self.status is not None:
                    await self._drain()
            raise self.broke()
        line, _, rest = bytes(self.out).partition(b"\n")
        self.out[:] = rest
        return line

    def broke(self) -> Broken:
        """Return the exception that says what became of it, with all that it wrote as an error."""
        if self.stopped:
            return NoAnswer(self.why())
        return Broken(self.why(), traceback=last_words(self.err))

    def why(self) -> str:
        """Say what became of it, with its last words."""
        if self.stopped:
            return self.stopped
        if self.status is None:
            return "it closed its output" if not self.gone else "it ended what watches over it"
        return with_words(exit_text(self.status), self.err)

    async def close(self) -> None:
        """End it and everything that it has started."""
        if self._control is not None:
            os.close(self._control)
            self._control = None
        if self._transport is not None:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self.until(lambda: self.gone)
            except TimeoutError:
                with suppress(OSError):
                    os.killpg(self._transport.get_pid(), signal.SIGKILL)
            if not self.clean:
                self._reported()
            if not self.clean and self.failed is None:
                await asyncio.to_thread(sweep, self._mark)
            self._transport.close()
        self._let_go()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take in what it writes, up to the limit."""
        self._spoken += len(data)
        if fd == 1 and not self.stopped:
            self.out += data
        elif fd == 2:
            self.err = (self.err + data)[-LAST_WORDS:]
        if self._spoken > self.bounds.output and not self.stopped:
            self.stopped = f"it wrote more than the {_size(self.bounds.output)} allowed"
            for number in (1, 2):
                pipe = self._transport and self._transport.get_pipe_transport(number)
                if pipe is not None and not pipe.is_closing():
                    pipe.pause_reading()
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe has ended."""
        if fd == 1:
            self.closed = True
        elif fd == 2:
            self.errors_closed = True
        self._news.set()

    def process_exited(self) -> None:
        """Note that the keeper has ended."""
        self._reported()
        self.gone = True
        self._news.set()

    def _reported(self) -> None:
        """Read what the keeper tells."""
        if self._report is None:
            return
        try:
            data = os.read(self._report, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._report)
        self._report_bytes += data
        *whole, self._report_bytes = self._report_bytes.split(b"\n")
        for line in whole:
            word, _, number = line.decode("ascii", "replace").partition(" ")
            self._take(word, number)
        self._news.set()

    def _take(self, word: str, number: str) -> None:
        if word == "began":
            self.began = True
        elif word == "failed":
            self.failed = int(number)
        elif word == "ended":
            self.status = int(number)
        elif word == "processes":
            self.stopped = f"it had more than the {number} processes allowed"
        elif word == "clean":
            self.clean = True

    def _let_go(self) -> None:
        for fd in (self._control, self._report):
            if fd is not None:
                with suppress(RuntimeError):
                    asyncio.get_running_loop().remove_reader(fd)
                os.close(fd)
        self._control = self._report = None


def exit_text(status: int) -> str:
    """Say how a process ended."""
    if status >= 0:
        return f"it ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"it was ended by {name}"


def with_words(reason: str, err: bytes) -> str:
    """Add to a reason what was said last on standard error, without the keys of this machine."""
    words = err.decode("utf-8", "replace").strip().splitlines()
    last = redact(" ".join(words[-3:]).strip())
    return f"{reason}: {last[-600:]}" if last else reason


def last_words(err: bytes) -> str:
    """Return the end of what was written to standard error, without the keys of this machine."""
    return redact(err.decode("utf-8", "replace").strip())


def restore(folder: Path) -> None:
    """See to it that a working folder is there and can be entered, whatever became of it."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def sweep(mark: str) -> None:
    """Kill all processes that carry a mark, until there are none."""
    entry = f"{MARK}={mark}".encode()
    until = time.monotonic() + PATIENCE
    while sys.platform == "linux" and time.monotonic() < until:
        pids = [pid for pid in _processes() if _carries(pid, entry)]
        if not pids:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with suppress(OSError):
                    os.kill(pid, number)
        time.sleep(0.01)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _carries(pid: int, entry: bytes) -> bool:
    try:
        return entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _size(count: int) -> str:
    return f"{count // MIB} MiB" if count >= MIB and count % MIB == 0 else f"{count} bytes"


def program_of(name: str) -> str:
    """Return where the program that a person names lies, by its whole path; empty if nowhere."""
    if os.sep in name:
        whole = os.path.abspath(name)
        return whole if os.path.isfile(whole) and os.access(whole, os.X_OK) else ""
    return find_program(name)
