"""Cache of model calls, each stored before it is used, so that none is paid for twice."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any

from proctor.contracts.model import Model, Price, Recorder
from proctor.contracts.redacted import redact_reply
from proctor.core.encoding import reply_from
from proctor.core.exchange import Reply, Request
from proctor.core.fingerprint import digest, digest_plain, plain
from proctor.core.suite import Json
from proctor.engine.models.budget import UNCOUNTED, Budget, PricedRequest
from proctor.engine.models.call_scope import CallScope, NotStored, StoredOnly, UsedReply
from proctor.errors import ProctorError
from proctor.io.redaction import redact_error
from proctor.records import dataclass
from proctor.store.rows import CallRow
from proctor.store.store import Store

BUSY = 4
"""The number of calls at once from which on others are likely to follow within a moment."""
MOMENT = 0.008
"""Seconds that replies wait for others to share their transaction, where many are under way."""


@dataclass
class CallLog:
    """Lookup and storage of calls, with those that come together in one transaction.

    A call is in the database before ``keep`` returns. Under load, what comes within a few
    milliseconds shares a transaction; a single reply is written at once. What is looked up waits
    for nothing but what is looked up in the same iteration of the loop. An unusable reply is
    discarded: it stays in the database, marked as such, and is not found any more.
    """

    store: Store | None
    recording: bool = False
    """Whether all traffic of a run is recorded, discarded replies included."""
    flying: "dict[str, asyncio.Future[CachedCall | None]]" = field(default_factory=dict)
    """Running calls by key; if one is cancelled, waiting callers ask themselves."""
    _finds: list[tuple[str, asyncio.Future[CallRow | None]]] = field(default_factory=list)
    _keeps: list[tuple[CallRow, asyncio.Future[None]]] = field(default_factory=list)
    _discards: list[tuple[str, float, asyncio.Future[None]]] = field(default_factory=list)
    _discarded: set[tuple[str, float]] = field(default_factory=set)
    """Calls discarded while traffic is recorded."""
    _writing_soon: bool = False
    _busy: bool = False
    """Whether many were written together the last time."""

    async def find(self, key: str) -> CallRow | None:
        """Return a call with a usable reply, or None."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[CallRow | None] = loop.create_future()
        if not self._finds:
            loop.call_soon(self._find)
        self._finds.append((key, future))
        return await future

    async def keep_reply(
        self, key: str, label: str, request_json: Json, reply: Reply
    ) -> "CachedCall":
        """Store a reply to a request durably, before anybody uses it."""
        response = plain(reply)
        row = CallRow(
            key=key,
            model=label,
            request=request_json,
            response=response,
            usage=response["usage"],
            cost=reply.usage.cost,
            seconds=reply.seconds,
            created=time.time(),
        )
        await self._written(self._kept(row))
        return CachedCall(reply, row.created)

    async def keep(self, row: CallRow) -> None:
        """Store a call durably."""
        await self._written(self._kept(row))

    def _kept(self, row: CallRow) -> "asyncio.Future[None]":
        """Have a call stored, and return what is done once it is."""
        future: asyncio.Future[None] = self._loop().create_future()
        self._keeps.append((row, future))
        return future

    async def discard(self, key: str, created: float) -> None:
        """Mark a call as unusable, durably."""
        if self.recording:
            self._discarded.add((key, created))
        future: asyncio.Future[None] = self._loop().create_future()
        self._discards.append((key, created, future))
        await self._written(future)

    async def _written(self, future: "asyncio.Future[None]") -> None:
        try:
            await future
        except asyncio.CancelledError:
            # What was paid for is kept; the loop may end before it would be written.
            self._write()
            raise

    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if not self._writing_soon:
            self._writing_soon = True
            loop.call_later(MOMENT, self._write) if self._busy else loop.call_soon(self._write)
        return loop

    def _write(self) -> None:
        self._writing_soon = False
        keeps, self._keeps = self._keeps, []
        discards, self._discards = self._discards, []
        written = [future for *_, future in keeps] + [future for *_, future in discards]
        if not written:
            return
        self._busy = len(written) >= BUSY
        assert self.store is not None
        calls = self.store.calls
        try:
            if keeps:
                calls.put(row for row, _ in keeps)
            if discards:
                calls.discard((key, created) for key, created, _ in discards)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            _fail(written, error)
            return
        for future in written:
            if not future.done():
                future.set_result(None)

    def _find(self) -> None:
        finds, self._finds = self._finds, []
        wanted = {key for key, _ in finds}
        if any(row.key in wanted for row, _ in self._keeps) or any(
            key in wanted for key, *_ in self._discards
        ):
            self._write()
        assert self.store is not None
        try:
            rows_by_key = self.store.calls.get_many(key for key, _ in finds)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            _fail([future for _, future in finds], error)
            return
        for key, future in finds:
            if not future.done():
                row = rows_by_key.get(key)
                future.set_result(row if row is not None and self._usable(row) else None)

    def _usable(self, row: CallRow) -> bool:
        if self.recording and row.status == "unusable":
            return (row.key, row.created) not in self._discarded
        return row.status == "ok"


def _fail(waiting: "Iterable[asyncio.Future[Any]]", error: Exception) -> None:
    for future in waiting:
        if not future.done():
            future.set_exception(error)


class Wrapped(Model):
    """Base for models that delegate."""

    inner: Model

    @property
    def identity(self) -> Json:
        return self.inner.identity

    @property
    def label(self) -> str:
        return self.inner.label

    @property
    def price(self) -> Price | None:
        return self.inner.price

    async def discard(self, requests: Sequence[Request]) -> bool:
        return await self.inner.discard(requests)

    async def check(self) -> None:
        await self.inner.check()

    async def close(self) -> None:
        await self.inner.close()


def call_key(identity: str, request: Request, request_json: Json = None) -> str:
    """Return the key of a call to a model of an identity, without one store's own marks."""
    looked_up = request.addressed
    written = request_json if looked_up is request and request_json is not None else None
    return digest_plain(["call", identity, plain(looked_up) if written is None else written])


@dataclass(frozen=True, slots=True)
class CachedCall:
    """A stored reply with its time."""

    reply: Reply
    created: float


@dataclass
class StoredModel(Wrapped):
    """A model whose replies come from the store where possible, and are always stored."""

    inner: Model
    log: CallLog
    budget: Budget = field(default_factory=Budget)
    recorder: Recorder | None = None
    """Records all traffic, if requested."""
    role: str = "candidate"
    """The role: ``candidate``, ``judge`` or ``simulator``."""
    refused: dict[str, str] = field(default_factory=dict)
    """Settings that the server had rejected when the stored replies were made."""
    bought: int = 0
    """The number of calls made."""

    @cached_property
    def _identity(self) -> str:
        return digest(self.inner.identity)

    @cached_property
    def _who(self) -> str:
        return f"{self._identity} {self.role}"

    async def reply(self, request: Request) -> Reply:
        scope = CallScope.current()
        request_json = plain(request)
        key = self._key(request, request_json)
        try:
            cached_call, stored = await self._cached(key, request, request_json)
        except BaseException:
            if scope is not None:
                scope.note_broken()
            raise
        if scope is not None:
            scope.note(UsedReply(self.role, self.log, key, cached_call.created, stored))
        return cached_call.reply

    async def discard(self, requests: Sequence[Request]) -> bool:
        """Mark the replies to requests as unusable.

        Return whether the last of them came from the store, so that asking now may help.
        """
        if (looking := StoredOnly.current()) is not None:
            raise looking.refuse()
        scope = CallScope.current()
        keys = [self._key(request, plain(request)) for request in requests]
        if scope is None:
            for row in [await self.log.find(key) for key in keys]:
                if row is not None:
                    await self.log.discard(row.key, row.created)
            return False
        used_replies = [scope.latest(key) for key in keys]
        replies = [reply for reply in used_replies if reply is not None]
        await scope.discard(replies)
        return bool(replies) and replies[-1].stored

    def _key(self, request: Request, request_json: Json) -> str:
        return call_key(self._identity, request, request_json)

    async def _cached(
        self, key: str, request: Request, request_json: Json
    ) -> tuple[CachedCall, bool]:
        """Return a call that is now stored, and whether it was stored before."""
        while (flying := self.log.flying.get(key)) is not None:
            if (shared := await asyncio.shield(flying)) is not None:
                return shared, False
        future: asyncio.Future[CachedCall | None] = asyncio.get_running_loop().create_future()
        self.log.flying[key] = future
        looking = StoredOnly.current()
        try:
            counted = self.budget.most is not None
            priced = PricedRequest.of(request, self._who, self.price) if counted else UNCOUNTED
            row = await self.log.find(key)
            if row is None:
                if looking is not None:
                    raise looking.refuse()
                cached_call = await self._buy(key, request, request_json, priced)
            else:
                cached_call = CachedCall(redact_reply(reply_from(row.response)), row.created)
                self.refused |= cached_call.reply.refused
                count = partial(self.budget.stored, priced, cached_call.reply)
                count() if looking is None else looking.used.append(count)
            if self.recorder is not None:
                self.recorder.add(self.inner.identity, request, cached_call.reply)
            future.set_result(cached_call)
            return cached_call, row is not None
        except (asyncio.CancelledError, NotStored):
            future.set_result(None)
            raise
        except BaseException as error:
            future.set_exception(error)
            future.exception()
            raise
        finally:
            del self.log.flying[key]

    async def _buy(
        self, key: str, request: Request, request_json: Json, priced: PricedRequest
    ) -> CachedCall:
        reserved = 0.0 if priced is UNCOUNTED else await self.budget.reserve(priced)
        reply = None
        try:
            self.bought += 1
            reply = redact_reply(await self.inner.reply(request))
        except ProctorError as error:
            redact_error(error)
            raise
        finally:
            self.budget.settle(reserved, priced, reply)
        if reply.usage.calls == 0:
            reply = replace(reply, usage=replace(reply.usage, calls=1))
        return await self.log.keep_reply(key, self.inner.label, request_json, reply)
