"""Cache of programs run for scorers: each runs once, with a limit on concurrency."""

import asyncio
import base64
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.environment import EnvironmentNeeds
from proctor.core.fingerprint import digest
from proctor.core.program import Program, Ran, Step, Stopped
from proctor.core.suite import Json
from proctor.engine.run.attempt_writer import StoredSoon
from proctor.engine.run.program_slots import ProgramSlots
from proctor.io.concurrency import in_line
from proctor.store.rows import CallRow
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.contracts.environment import Environment

STORE_SECONDS = 0.5
STORE_ROWS = 500


@dataclass
class SharedSandbox(Sandbox):
    """Sandbox of a whole run, with cached results and limited concurrency.

    A program that hit its time limit while others had the processors is run once more. Results
    are stored within half a second: those of many programs share a transaction.
    """

    tier: ClassVar[str] = "shared"

    inner: Sandbox
    store: Store | None
    limit: int
    brings_along: str = ""
    """Languages that the inner sandbox provides itself."""
    joins: bool = False  # type: ignore[misc]
    _flying: dict[str, asyncio.Future[Ran]] = field(default_factory=dict)
    ran: int = 0
    """The number of programs run."""
    _unstored: dict[str, CallRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.joins = self.inner.joins
        self._soon = StoredSoon(self._store_results, STORE_SECONDS)
        self.places = ProgramSlots(self.limit)

    async def run(self, program: Program) -> Ran:
        return await self._once(program, warm=False)

    async def run_python(self, program: Program) -> Ran:
        return await self._once(program, warm=True)

    def environment(self, needs: EnvironmentNeeds) -> "Environment":
        return self.inner.environment(needs)

    def processors_kept_by(self) -> str:
        return self.inner.processors_kept_by()

    def problems(self) -> Iterable[str]:
        return self.inner.problems()

    async def close(self) -> None:
        try:
            self._soon.stop()
            self._store_results()
        finally:
            await self.inner.close()

    async def _once(self, program: Program, *, warm: bool) -> Ran:
        own = [self.brings_along] if self.brings_along else []
        key = digest("program", self.inner.tier, warm, _document(program), *own)
        while (flying := self._flying.get(key)) is not None:
            try:
                with in_line():
                    return await asyncio.shield(flying)
            except asyncio.CancelledError:
                # Where only the first of them was given up, the next one runs the program.
                if not flying.cancelled() or _is_cancelled():
                    raise
        if (stored_result := self._stored(key)) is not None:
            return stored_result
        future: asyncio.Future[Ran] = asyncio.get_running_loop().create_future()
        self._flying[key] = future
        try:
            result = await self._really_run(program, warm=warm)
            future.set_result(result)
            self._remember(key, result)
            return result
        except asyncio.CancelledError:
            future.cancel()
            raise
        except BaseException as error:
            if not future.done():
                future.set_exception(error)
                future.exception()
            raise
        finally:
            self._flying.pop(key, None)

    async def _really_run(self, program: Program, *, warm: bool) -> Ran:
        memory = program.limits.memory
        if program.partner is not None:
            memory += program.partner.limits.memory
        async with self.places.place(memory):
            ran = await self._run(program, warm=warm)
        if ran.stopped is not Stopped.TIME or ran.starved is False:
            return ran
        async with self.places.place(memory, second=True):
            return replace(await self._run(program, warm=warm), retried=True)

    async def _run(self, program: Program, *, warm: bool) -> Ran:
        self.ran += 1
        if warm and (ran := await self.inner.run_python(program)) is not None:
            return ran
        ran = await self.inner.run(program)
        # Lost once, the cause may be elsewhere; lost twice, it is the program.
        return await self.inner.run(program) if ran.lost else ran

    def _stored(self, key: str) -> Ran | None:
        if self.store is None:
            return None
        row = self._unstored.get(key) or self.store.calls.find(key)
        if row is None or row.status != "ok" or _ambiguous(row.response):
            return None
        return _ran_from(row.response)

    def _remember(self, key: str, ran: Ran) -> None:
        if self.store is None or ran.not_started or ran.lost:
            return
        call = CallRow(
            key=key,
            model=f"sandbox:{self.inner.tier}",
            request=None,
            response=_ran_json(ran),
            seconds=ran.seconds,
            created=time.time(),
        )
        self._unstored[key] = call
        if len(self._unstored) >= STORE_ROWS:
            self._store_results()
        else:
            self._soon.wish()

    def _store_results(self) -> None:
        if self._unstored and self.store is not None:
            self.store.calls.put(list(self._unstored.values()))
            self._unstored.clear()


def _is_cancelled() -> bool:
    """Tell whether the caller itself was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _document(program: Program) -> Json:
    """Return a program as a document for hashing, without the secret."""
    limits = program.limits
    more: dict[str, Json] = {}
    if program.modules:
        more["modules"] = {name: _module_key(data) for name, data in program.modules.items()}
    if program.partner is not None:
        more["partner"] = _document(program.partner)
    return {
        **more,
        "steps": [[_words(step), step.wall, list(step.hide)] for step in program.steps],
        "files": {name: digest(_b64(data)) for name, data in program.files.items()},
        "stdin": _b64(program.stdin),
        "env": dict(program.env),
        "limits": [limits.wall, limits.cpu, limits.memory, limits.processes, limits.disk],
        "keep": list(program.keep),
        "toolchain": program.toolchain,
    }


@lru_cache(maxsize=64)
def _module_key(data: bytes) -> str:
    """Return the hash of a module of ours, which is the same in many programs."""
    return digest(_b64(data))


def _words(step: Step) -> list[str]:
    """Return a command for hashing; one without input in its earlier form, so that keys stay."""
    closed = () if step.stdin else ("sh", "-c", 'exec "$@" </dev/null', "sh")
    return [*closed, *step.argv]


def _ran_json(ran: Ran) -> dict[str, Json]:
    return {
        "code": ran.code,
        "step": ran.step,
        "finished": ran.finished,
        "proved": ran.proved,
        "stdout": ran.stdout,
        "stderr": ran.stderr,
        "stopped": ran.stopped,
        "seconds": ran.seconds,
        "retried": ran.retried,
        "not_started": ran.not_started,
        "files": {name: _b64(data) for name, data in ran.files.items()},
    }


def _ambiguous(data: Json) -> bool:
    """Tell whether a row of an earlier version does not say if the program was started."""
    return "not_started" not in data and data["code"] == 127


def _ran_from(data: Json) -> Ran:
    return Ran(
        **{
            **data,
            "stopped": Stopped(data["stopped"]) if data["stopped"] else None,
            "files": {name: base64.b64decode(text) for name, text in data["files"].items()},
        }
    )


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
