"""Calls in batch jobs: gathered, stored, handed in once, and collected, also by a later command."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proctor.contracts.batch_model import BatchModel, WrittenCall
from proctor.contracts.model import Price
from proctor.contracts.redacted import redact_reply
from proctor.core.exchange import Reply, Request
from proctor.core.fingerprint import digest
from proctor.core.suite import Json
from proctor.engine.models.budget import PricedRequest
from proctor.engine.models.call_cache import CachedCall, CallLog, StoredModel
from proctor.errors import ModelError, UsageError
from proctor.io import json_bytes
from proctor.io.redaction import redact_error
from proctor.store.batches import BatchCall, BatchRow
from proctor.store.store import Store

QUIET = 1.0
"""Seconds without a new call after which those that came are handed in."""
FIRST_POLL, LONGEST_POLL = 1.0, 60.0
TELL_EVERY = 60.0
SUBMIT_TRIES = 5
"""How often a job is handed in that is known not to have arrived."""
AT_ONCE = 10_000
"""How many attempts are under way at once, where their calls wait for jobs."""
LONGEST_JOB = 26 * 3600.0
"""Seconds that an attempt may take whose calls wait for jobs."""
REFUSALS = (400, 422, 501)
"""Statuses of a call that the server may take in another form."""


@dataclass
class _Gathered:
    """A call that waits to be handed in."""

    key: str
    request: Request
    request_json: Json
    again: bool = False
    """Whether it was refused in an earlier job."""


@dataclass(eq=False)
class BatchQueue:
    """The calls to one model that go in jobs, from all roles.

    A job is in the store before it is handed in. If the process ends at any moment, the next one
    finds the job in the store, asks the provider whether it arrived, and collects its replies.
    """

    model: BatchModel
    store: Store
    log: CallLog
    notice: Callable[[str], None] = lambda _: None
    _gathered: list[_Gathered] = field(default_factory=list)
    _futures: dict[str, asyncio.Future[CachedCall]] = field(default_factory=dict)
    _tasks: set[asyncio.Future[None]] = field(default_factory=set)
    _resumed: asyncio.Future[None] | None = None
    _probes: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    """The first call of each role, which is made by itself."""
    _probing: int = 0
    _timer: asyncio.TimerHandle | None = None
    _locked: bool = False
    _handed_in: dict[str, _Gathered] = field(default_factory=dict)
    """Calls of this process that are in jobs for the first time."""

    @property
    def _lock(self) -> str:
        return f"batches-{self._identity[:16]}"

    @property
    def _identity(self) -> str:
        return digest(self.model.identity)

    async def reply(self, role: str, key: str, request: Request, request_json: Json) -> CachedCall:
        """Return the stored reply to a call, which may come hours later."""
        if self._resumed is None:
            self._resumed = asyncio.ensure_future(self._resume())
        await asyncio.shield(self._resumed)
        if (waiting := self._futures.get(key)) is not None:
            return await asyncio.shield(waiting)
        gathered = _Gathered(key, request, request_json)
        if role not in self._probes:
            return await self._probe(role, gathered)
        future = self._futures[key] = asyncio.get_running_loop().create_future()
        self._gathered.append(gathered)
        self._expect_more()
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Wait for nothing any more; jobs that were handed in are collected by the next command."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = [*self._tasks, *([self._resumed] if self._resumed is not None else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._locked:
            self.store.locks.release(self._lock)
            self._locked = False

    async def _probe(self, role: str, call: _Gathered) -> CachedCall:
        """Make the first call of a role by itself: what the server refuses is learned from it."""
        future = self._probes[role] = asyncio.get_running_loop().create_future()
        self._probing += 1
        try:
            reply = await self.model.reply(call.request)
            return await self._kept(call.key, call.request_json, reply)
        finally:
            self._probing -= 1
            future.set_result(None)
            if self._gathered:
                self._expect_more()

    def _expect_more(self) -> None:
        """Hand in what was gathered, once nothing more has come for a while."""
        if self._timer is not None:
            self._timer.cancel()
        full = len(self._gathered) >= self.model.largest_batch
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(0.0 if full else QUIET, self._hand_in)

    def _hand_in(self) -> None:
        if self._probing:
            return
        calls, self._gathered = self._gathered, []
        self._handed_in |= {call.key: call for call in calls if not call.again}
        for path, part in self._parts(calls):
            self._begin(self._job(path, part))

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _parts(
        self, calls: Sequence[_Gathered]
    ) -> Iterator[tuple[str, list[tuple[_Gathered, WrittenCall]]]]:
        """Yield calls in jobs: of one path, and not too many or too large."""
        by_path: dict[str, list[tuple[_Gathered, WrittenCall]]] = {}
        for call in calls:
            written = self.model.written(call.request)
            by_path.setdefault(written.path, []).append((call, written))
        for path, pairs in by_path.items():
            part: list[tuple[_Gathered, WrittenCall]] = []
            size = 0
            for call, written in pairs:
                bytes_of_it = len(json_bytes.dumps(written.body))
                full = len(part) >= self.model.largest_batch
                if part and (full or size + bytes_of_it > self.model.largest_batch_bytes):
                    yield path, part
                    part, size = [], 0
                part.append((call, written))
                size += bytes_of_it
            yield path, part

    async def _job(self, path: str, part: list[tuple[_Gathered, WrittenCall]]) -> None:
        """Store a job, hand it in, and collect it."""
        row = BatchRow(
            id=secrets.token_hex(8), model=self._identity, remote="", created=time.time()
        )
        calls = [
            BatchCall(
                key=call.key,
                request=call.request_json,
                written={"rung": written.rung, "refused": dict(written.refused or {})},
            )
            for call, written in part
        ]
        try:
            self.store.batches.add(row, calls)
            bodies = {
                f"{row.id}-{number}": written.body for number, (_, written) in enumerate(part)
            }
            remote = await self._submitted(row, path, bodies)
            self.store.batches.arrived(row.id, remote)
            self.notice(
                f"batch job {remote} of {self.model.label} has {len(calls)} calls: Ctrl-C leaves it"
                " at the provider, and the same command collects it"
            )
            await self._collected(replace(row, remote=remote), calls)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            self._fail([call.key for call in calls], error)

    async def _submitted(
        self, row: BatchRow, path: str, bodies: Mapping[str, Mapping[str, Json]]
    ) -> str:
        """Hand in a job; before it is tried again, ask whether it arrived."""
        for tries in range(1, SUBMIT_TRIES + 1):
            try:
                return await self.model.submit(row.id, path, bodies)
            except ModelError as error:
                if not error.passing:
                    self.store.batches.remove(row.id)
                    raise
                if remote := await self.model.find_job(row.id, row.created, len(bodies)):
                    return remote
                if tries == SUBMIT_TRIES:
                    self.store.batches.remove(row.id)
                    raise
                await asyncio.sleep(FIRST_POLL * 2**tries)
        raise AssertionError("unreachable")

    async def _resume(self) -> None:
        """Find the jobs of earlier commands, and wait for those that arrived."""
        if not self.store.locks.acquire(self._lock):
            raise UsageError(
                f"another process has batch jobs of {self.model.label} under way in this store"
                " (fix: wait until it has ended, or run without --batch)"
            )
        self._locked = True
        for row in self.store.batches.of_model(self._identity):
            calls = self.store.batches.calls(row.id)
            if not row.remote:
                remote = await self.model.find_job(row.id, row.created, len(calls))
                if not remote:
                    self.store.batches.remove(row.id)
                    continue
                self.store.batches.arrived(row.id, remote)
                row = replace(row, remote=remote)  # noqa: PLW2901 - the same job, now with its id
            loop = asyncio.get_running_loop()
            for call in calls:
                self._futures.setdefault(call.key, loop.create_future())
            self.notice(
                f"batch job {row.remote} of {self.model.label}, handed in earlier, has"
                f" {len(calls)} calls"
            )
            self._begin(self._resumed_job(row, calls))

    async def _resumed_job(self, row: BatchRow, calls: Sequence[BatchCall]) -> None:
        try:
            await self._collected(row, calls)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            self._fail([call.key for call in calls], error)

    async def _collected(self, row: BatchRow, calls: Sequence[BatchCall]) -> None:
        """Wait for a job, and store its replies; only then is it forgotten."""
        await self._ended(row.remote)
        by_name = {f"{row.id}-{number}": call for number, call in enumerate(calls)}
        rungs = {name: str(call.written.get("rung") or "") for name, call in by_name.items()}
        replies = await self.model.job_replies(row.remote, rungs)
        refused: list[_Gathered] = []
        for name, outcome in replies.items():
            call = by_name[name]
            first_try = self._handed_in.pop(call.key, None)
            if isinstance(outcome, ModelError):
                if first_try is not None and outcome.status in REFUSALS:
                    refused.append(replace(first_try, again=True))
                else:
                    self._fail([call.key], outcome)
                continue
            reply = replace(outcome, refused=call.written.get("refused") or {})
            self._answer(call.key, await self._kept(call.key, call.request, reply))
        self.store.batches.remove(row.id)
        if refused:
            await self._ask_otherwise(refused)

    async def _ask_otherwise(self, calls: Sequence[_Gathered]) -> None:
        """Make one of the refused calls by itself, to learn why, and hand in the others again."""
        first, *others = calls
        try:
            reply = await self.model.reply(first.request)
            self._answer(first.key, await self._kept(first.key, first.request_json, reply))
        except ModelError as error:
            self._fail([first.key], error)
        self._gathered += others
        if others:
            self._expect_more()

    async def _kept(self, key: str, request_json: Json, reply: Reply) -> CachedCall:
        return await self.log.keep_reply(key, self.model.label, request_json, redact_reply(reply))

    def _answer(self, key: str, stored: CachedCall) -> None:
        future = self._futures.pop(key, None)
        if future is not None and not future.done():
            future.set_result(stored)

    async def _ended(self, remote: str) -> None:
        wait, told, last = FIRST_POLL, time.monotonic(), -1
        while not (state := await self.model.job_state(remote)).ended:
            if state.done != last and time.monotonic() - told >= TELL_EVERY:
                self.notice(f"batch job {remote}: {state.done} of {state.total} calls are done")
                told, last = time.monotonic(), state.done
            await asyncio.sleep(wait)
            wait = min(LONGEST_POLL, wait * 1.5)

    def _fail(self, keys: Sequence[str], error: Exception) -> None:
        for key in keys:
            future = self._futures.pop(key, None)
            if future is not None and not future.done():
                future.set_exception(error)
                future.exception()


@dataclass
class BatchedModel(StoredModel):
    """A model whose calls go in batch jobs."""

    queue: BatchQueue | None = None
    """None for a plan, which calls no model."""

    @property
    def price(self) -> Price | None:
        price = self.inner.price
        if price is None or not isinstance(self.inner, BatchModel):
            return price
        return price[0] * self.inner.batch_share, price[1] * self.inner.batch_share

    async def _buy(
        self, key: str, request: Request, request_json: Json, priced: PricedRequest
    ) -> CachedCall:
        assert self.queue is not None
        reserved = await self.budget.reserve(priced)
        reply = None
        try:
            self.bought += 1
            cached_call = await self.queue.reply(self.role, key, request, request_json)
            reply = cached_call.reply
        except ModelError as error:
            redact_error(error)
            raise
        finally:
            self.budget.settle(reserved, priced, reply)
        return cached_call
