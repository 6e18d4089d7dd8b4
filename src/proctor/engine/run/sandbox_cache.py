"""Cache of programs run for scorers: each runs once, with a limit on concurrency."""

import asyncio
import base64
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from signal import SIGKILL
from typing import TYPE_CHECKING, ClassVar, Protocol

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


class ProgramResults(Protocol):
    """Where results of programs are kept."""

    def find(self, key: str) -> CallRow | None:
        """Return a result that is kept, or None."""

    def put(self, results: Sequence[CallRow]) -> None:
        """Keep results."""

    def close(self) -> None:
        """Keep what is not kept yet."""


class StoredResults:
    """Results of programs in the store, within half a second: many share a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, CallRow] = {}
        self._soon = StoredSoon(self._put_all, STORE_SECONDS)

    def find(self, key: str) -> CallRow | None:
        """Return a result that is kept, or None."""
        return self._waiting.get(key) or self._store.calls.find(key)

    def put(self, results: Sequence[CallRow]) -> None:
        """Keep results."""
        self._waiting.update((result.key, result) for result in results)
        if len(self._waiting) >= STORE_ROWS:
            self._put_all()
        elif results:
            self._soon.wish()

    def close(self) -> None:
        """Keep what is not kept yet."""
        self._soon.stop()
        self._put_all()

    def _put_all(self) -> None:
        if self._waiting:
            self._store.calls.put(list(self._waiting.values()))
            self._waiting.clear()


@dataclass
class SharedSandbox(Sandbox):
    """Sandbox of a whole run, with cached results and limited concurrency.

    A program that hit its time limit while others had the processors is run once more, and so is
    one that was killed for memory that others may have had.
    """

    tier: ClassVar[str] = "shared"

    inner: Sandbox
    results: ProgramResults | None
    limit: int
    most: int = 0
    """How many programs may run at once, those included that only wait; 0: by the limit."""
    sharing: int = 1
    """How many processes with such a sandbox share the free memory."""
    brings_along: str = ""
    """Languages that the inner sandbox provides itself."""
    joins: bool = False  # type: ignore[misc]
    _flying: dict[str, asyncio.Future[Ran]] = field(default_factory=dict)
    ran: int = 0
    """The number of programs run."""

    def __post_init__(self) -> None:
        self.joins = self.inner.joins
        self.places = ProgramSlots(self.limit, self.most, self.sharing)

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
            if self.results is not None:
                self.results.close()
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
        async with self.places.place(memory) as place:
            ran = await self._run(program, warm=warm)
        out_of_time = ran.stopped is Stopped.TIME and ran.starved is not False
        out_of_memory = place.crowded and (ran.stopped is Stopped.MEMORY or ran.code == -SIGKILL)
        if not out_of_time and not out_of_memory:
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
        row = self.results.find(key) if self.results is not None else None
        if row is None or row.status != "ok" or _ambiguous(row.response):
            return None
        return _ran_from(row.response)

    def _remember(self, key: str, ran: Ran) -> None:
        if self.results is None or ran.not_started or ran.lost:
            return
        call = CallRow(
            key=key,
            model=f"sandbox:{self.inner.tier}",
            request=None,
            response=_ran_json(ran),
            seconds=ran.seconds,
            created=time.time(),
        )
        self.results.put([call])


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
