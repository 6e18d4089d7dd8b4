"""Models that run on this machine and need no key."""

import asyncio
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import IO, ClassVar

from proctor.contracts.model import Model, ModelListener
from proctor.core.exchange import Reply, Request, Upstream
from proctor.core.suite import Json
from proctor.errors import ModelError, UsageError
from proctor.io import child_processes
from proctor.io import concurrency as concurrency_module
from proctor.models import weights
from proctor.models.openai import OpenAI

START_LIMIT = 300.0


@dataclass(eq=False)
class Local(Model):
    """A GGUF file, served by a process beside this one; ``smollm2`` is fetched once."""

    computes: ClassVar[bool] = True

    model: str
    """``smollm2``, or the path of a GGUF file."""
    threads: int = 0
    """How many cores it may use; 0 means half of them: its threads wait for each other busily, so
    that one core too many, taken by something else, makes it many times slower."""
    context: int = 4096
    """How many tokens a question and its answer may have together."""
    slots: int = 4
    """How many calls it answers at once."""
    timeout: float = 600.0
    """The most seconds that one try of a call may take."""
    deadline: float = 1800.0
    concurrency: int = 64

    def __post_init__(self) -> None:
        if self.threads < 0 or min(self.context, self.slots, self.concurrency) < 1:
            raise UsageError(f"{self.label}: threads, context and slots must be above 0")
        self._notice: Callable[[str], None] = weights.log
        """Is told where a fetched model lies; a command puts it before its user."""
        self._serving: _Serving | None = None
        self._starts: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    @cached_property
    def identity(self) -> Json:
        if (named := weights.NAMED.get(self.model)) is not None:
            return {"provider": "local", "model": self.model, "sha256": named.sha256}
        path = weights.find(self.model)
        return {"provider": "local", "model": path.name, "sha256": weights.sha256_of(path)}

    @property
    def label(self) -> str:
        return f"local:{self.model}"

    @property
    def price(self) -> tuple[float, float]:
        return (0.0, 0.0)

    def listen(self, listener: ModelListener) -> None:
        self._notice = listener.notice

    async def reply(self, request: Request) -> Reply:
        """Answer; a process that has died is started again, once."""
        serving = await self._ready()
        try:
            return await serving.client.reply(request)
        except ModelError:
            if serving.alive:
                raise
        return await (await self._ready()).client.reply(request)

    async def check(self) -> None:
        await (await self._ready()).client.check()

    async def upstream(self) -> Upstream:
        return await (await self._ready()).client.upstream()

    async def close(self) -> None:
        serving, self._serving = self._serving, None
        if serving is not None and serving.loop is asyncio.get_running_loop():
            await serving.close()

    async def _ready(self) -> "_Serving":
        """Return the running process, starting it where there is none."""
        loop = asyncio.get_running_loop()
        if self._starts is None or self._starts[0] is not loop:
            self._starts = (loop, asyncio.Lock())
        async with self._starts[1]:
            serving = self._serving
            if serving is None or serving.loop is not loop or not serving.alive:
                if serving is not None and serving.loop is loop:
                    await serving.close()
                self._serving = None
                serving = self._serving = await self._start()
        return serving

    async def _start(self) -> "_Serving":
        if find_spec("xllamacpp") is None:
            raise ModelError(
                f"{self.label}: xllamacpp is not installed (fix: pip install 'proctor[local]')"
            )
        path = await asyncio.to_thread(weights.find, self.model, self._notice)
        settings = {
            "path": str(path.resolve()),
            "name": path.stem,
            "slots": self.slots,
            "context": self.context,
            "threads": self.threads or max(1, concurrency_module.available_cores() // 2),
        }
        with tempfile.TemporaryFile() as errors:
            # Not in the working directory: llama.cpp loads libraries of certain names from there.
            process = await child_processes.spawn(
                child_processes.own_module("proctor.models.llama_process", json.dumps(settings)),
                env=child_processes.own_environment(keys=False),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
            )
            try:
                url = await asyncio.wait_for(_address(process), START_LIMIT)
            except (ValueError, TimeoutError):
                await _end(process)
                raise ModelError(f"{self.label} cannot be started: {_last(errors)}") from None
            except BaseException:
                await _end(process)
                raise
        client = OpenAI(
            model=path.stem,
            urls=(url,),
            key_env="",
            timeout=self.timeout,
            deadline=self.deadline,
            concurrency=min(self.concurrency, self.slots),
            retries=2,
        )
        return _Serving(asyncio.get_running_loop(), process, client)


@dataclass(frozen=True, slots=True, eq=False)
class _Serving:
    """The process that serves a model, and its client."""

    loop: asyncio.AbstractEventLoop
    process: asyncio.subprocess.Process
    client: OpenAI

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def close(self) -> None:
        await self.client.close()
        await _end(self.process)


async def _address(process: asyncio.subprocess.Process) -> str:
    """Read where the process listens; an empty line means that it has ended."""
    assert process.stdout is not None
    return str(json.loads(await process.stdout.readline())["url"])


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _last(errors: IO[bytes]) -> str:
    """Return what llama.cpp said last that tells something."""
    errors.seek(0)
    lines = errors.read()[-20_000:].decode("utf-8", "replace").splitlines()
    telling = [line for line in lines if "rror" in line or "fail" in line]
    return " / ".join(line.strip()[:200] for line in (telling or lines)[-3:]) or "no reason given"
