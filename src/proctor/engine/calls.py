"""Calls of models, each kept before it is used: what was bought once is never bought again."""

import asyncio
import re
import time
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from proctor.core.encoding import reply_from
from proctor.core.fingerprint import digest, digest_plain, plain
from proctor.core.model import Model, Reply, Request, Usage
from proctor.core.suite import Json
from proctor.errors import BudgetError, ProctorError
from proctor.redaction import redact_error, redact_reply
from proctor.store.rows import CallRow
from proctor.store.store import Store

_WIDE = re.compile(r"[\u2e80-\U0010ffff]")
GUESS_TOKENS = 500
"""How long a reply is taken to be before the first one has been seen."""


@dataclass
class CallLog:
    """Look calls up and keep them, all that come in one turn of the loop in one transaction.

    A call is in the database before ``keep`` returns. Under load replies arrive together, so that
    they share a transaction; alone, a reply is written at once.
    """

    store: Store | None
    _finds: list[tuple[str, asyncio.Future[CallRow | None]]] = field(default_factory=list)
    _keeps: list[tuple[CallRow, asyncio.Future[None]]] = field(default_factory=list)
    _scheduled: bool = False

    async def find(self, key: str) -> CallRow | None:
        """Return a call that ended well, none where there is no such."""
        future: asyncio.Future[CallRow | None] = self._loop().create_future()
        self._finds.append((key, future))
        return await future

    async def keep(self, row: CallRow) -> None:
        """Store a call for good."""
        future: asyncio.Future[None] = self._loop().create_future()
        self._keeps.append((row, future))
        await future

    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._work)
        return loop

    def _work(self) -> None:
        self._scheduled = False
        keeps, self._keeps = self._keeps, []
        finds, self._finds = self._finds, []
        waiting: list[asyncio.Future[Any]] = [future for _, future in keeps]
        waiting += [future for _, future in finds]
        assert self.store is not None
        try:
            if keeps:
                self.store.put_calls(row for row, _ in keeps)
            found = self.store.calls(key for key, _ in finds) if finds else {}
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for _, kept in keeps:
            if not kept.done():
                kept.set_result(None)
        for key, future in finds:
            if not future.done():
                row = found.get(key)
                future.set_result(row if row is not None and row.status == "ok" else None)


@dataclass
class Budget:
    """Watch what the calls of a run cost; calls under way count as much as those before them."""

    most: float | None = None
    spent: float = 0.0
    spent_up: bool = False
    """Whether a call was refused."""
    _under_way: float = 0.0
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=50))

    @property
    def words(self) -> str:
        """Return what a person is told when a call was refused."""
        return (
            f"the {self.most:g} dollars of --max-cost are spent"
            f" ({self.spent:.4f} so far; fix: start again with a higher --max-cost)"
        )

    def before(self, usage: Usage) -> None:
        """Take in what was paid for things that are stored and not asked for again."""
        if usage.cost:
            self.spent += usage.cost
            self._recent.append(usage.cost / max(1, usage.calls))

    def check(self) -> None:
        """Raise a BudgetError where nothing is left."""
        if self.most is not None and self.spent >= self.most:
            self.spent_up = True
            raise BudgetError(self.words)

    def reserve(self, request: Request, price: tuple[float, float] | None) -> float:
        """Set money aside for a call, or raise a BudgetError where there is too little."""
        if self.most is None:
            return 0.0
        guess = self._guess(request, price)
        if self.spent + self._under_way + guess > self.most:
            self.spent_up = True
            raise BudgetError(self.words)
        self._under_way += guess
        return guess

    def settle(self, reserved: float, cost: float | None) -> None:
        """Replace what was set aside by what the call cost."""
        self._under_way -= reserved
        if cost:
            self.spent += cost
            self._recent.append(cost)

    def _guess(self, request: Request, price: tuple[float, float] | None) -> float:
        if self._recent:
            return sum(self._recent) / len(self._recent)
        if price is None:
            return 0.0
        asked = sum(tokens(message.content) for message in request.messages)
        limit = request.sampling.max_tokens or GUESS_TOKENS
        return (asked * price[0] + min(limit, GUESS_TOKENS) * price[1]) / 1e6


class Wrapped(Model):
    """Be a model that another one stands behind."""

    inner: Model

    @property
    def identity(self) -> Json:
        """Return the identity of the model inside."""
        return self.inner.identity

    @property
    def label(self) -> str:
        """Return the name of the model inside."""
        return self.inner.label

    @property
    def price(self) -> tuple[float, float] | None:
        """Return dollars per million tokens in and out, none where they are not known."""
        found: tuple[float, float] | None = getattr(self.inner, "price", None)
        return found

    async def check(self) -> None:
        """Check the model inside."""
        await self.inner.check()

    async def close(self) -> None:
        """Close the model inside."""
        await self.inner.close()


@dataclass
class StoredModel(Wrapped):
    """Wrap a model for a run: replies come from the store where they can, and always go there."""

    inner: Model
    log: CallLog
    budget: Budget = field(default_factory=Budget)
    recorder: Any = None
    """Writes all traffic to a cassette, where one was asked for."""
    bought: int = 0
    """How many calls were really made."""
    _flying: dict[str, asyncio.Future[Reply | None]] = field(default_factory=dict)
    """The calls under way; one that gives none was stopped, and others ask for themselves."""

    @cached_property
    def _identity(self) -> str:
        return digest(self.inner.identity)

    async def reply(self, request: Request) -> Reply:
        """Return the stored reply to this very request, or ask and store what comes."""
        asked = plain(request)
        key = digest_plain(["call", self._identity, asked])
        while (flying := self._flying.get(key)) is not None:
            if (shared := await asyncio.shield(flying)) is not None:
                return shared
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._flying[key] = future
        try:
            reply = await self._found(key)
            if reply is None:
                reply = await self._buy(key, request, asked)
            if self.recorder is not None:
                self.recorder.add(self.inner.identity, request, reply)
            future.set_result(reply)
            return reply
        except asyncio.CancelledError:
            future.set_result(None)
            raise
        except BaseException as error:
            future.set_exception(error)
            future.exception()
            raise
        finally:
            del self._flying[key]

    async def _found(self, key: str) -> Reply | None:
        row = await self.log.find(key)
        if row is None:
            return None
        reply = redact_reply(reply_from(row.response))
        self.budget.settle(0.0, reply.usage.cost)
        return reply

    async def _buy(self, key: str, request: Request, asked: Json) -> Reply:
        reserved = self.budget.reserve(request, self.price)
        cost = None
        try:
            self.bought += 1
            reply = redact_reply(await self.inner.reply(request))
            cost = reply.usage.cost
        except ProctorError as error:
            redact_error(error)
            raise
        finally:
            self.budget.settle(reserved, cost)
        if reply.usage.calls == 0:
            reply = replace(reply, usage=replace(reply.usage, calls=1))
        await self.log.keep(
            CallRow(
                key=key,
                model=self.inner.label,
                request=asked,
                response=plain(reply),
                usage=plain(reply.usage),
                cost=cost,
                seconds=reply.seconds,
                created=time.time(),
            )
        )
        return reply


def tokens(text: str) -> int:
    """Guess how many tokens a text has: four Latin letters make one, a Chinese character is one."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) // 4 + 1
