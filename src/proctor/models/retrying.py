"""How often and how long a call is tried: only what can succeed, and never without end."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from proctor.errors import ModelError
from proctor.models.rate_limit import Limiter

Result = TypeVar("Result")

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
LEAST_LIMIT, FIRST_LIMIT = 20.0, 120.0
"""Seconds that a try may take: at least, and as long as no reply has come yet."""
LOOK_EVERY = 2.0
"""Seconds between two looks at a call whose time limit may have become known."""
RECENT, LOOK_AFTER = 32, 8
"""How many replies tell what is usual, and after how many new ones it is sought again."""
SLOWER = 20
"""How many times the usual time of a reply is taken for a call that hangs."""
REFUSAL = 0.25
"""What part of a try a refusal for too many calls costs: the next ones mostly get through."""


class TryFailed(Exception):
    """Failure of one try of a call, and whether another may succeed."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        passing: bool = True,
        retry_after: float | None = None,
        kind: str = "",
    ) -> None:
        super().__init__(message)
        self.status, self.passing, self.retry_after = status, passing, retry_after
        self.kind = kind
        """``busy`` (too many calls), ``timeout``, ``unreachable``, ``gone`` (for long), or else."""

    def error(self, who: str, tries: int = 1, seconds: float = 0.0) -> ModelError:
        """Return what the caller of the model gets to see."""
        after = f" (after {tries} tries in {seconds:.0f} s)" if tries > 1 else ""
        return ModelError(f"{who}: {self}{after}", status=self.status, passing=self.passing)


@dataclass(eq=False)
class Retrying:
    """Retries of one model's calls, with time limits that follow how quick it is."""

    limiter: Limiter
    retries: int = 8
    timeout: float = 600.0
    """The most seconds that one try may take."""
    deadline: float = 1800.0
    """The most seconds for all tries of a call together, waiting in the queue not counted."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._unsorted = 0
        """How many replies came since what is usual was sought."""
        self._usual: float | None = None

    async def run(
        self, once: Callable[[float], Awaitable[Result]], *, who: str, tokens: float = 0
    ) -> Result:
        """Return what one try gives that succeeds; ``once`` is told how long it may take."""
        used = cost = 0.0
        tries = slow = 0
        while True:
            await self.limiter.acquire(tokens)
            sent = self.clock()
            limit = min(self.time_limit(slow), self.deadline - used)
            try:
                if self._usual is None:
                    return await self._watched(once, limit, slow)
                return await once(limit)
            except TryFailed as failed:
                if failed.kind == "busy":
                    self.limiter.refused(sent)
                tries += 1
                cost += REFUSAL if failed.kind == "busy" else 1
                slow += failed.kind == "timeout"
                wait = self.delay(tries, failed.retry_after)
                used += self.clock() - sent
                hopeless = not failed.passing or failed.kind == "gone"
                if hopeless or cost > self.retries or used + wait >= self.deadline:
                    raise failed.error(who, tries, used) from None
            finally:
                self.limiter.release()
            used += wait
            await self.sleep(wait)

    async def _watched(
        self, once: Callable[[float], Awaitable[Result]], limit: float, slow: int
    ) -> Result:
        """Try a call before it is known how quick the model is, and learn it from others meanwhile.

        The very first calls would wait longest for a server that hangs.
        """
        began = self.clock()
        trying = asyncio.ensure_future(once(limit))
        try:
            while True:
                done, _ = await asyncio.wait({trying}, timeout=LOOK_EVERY)
                if done:
                    return trying.result()
                passed = self.clock() - began
                if self._usual is not None and passed > self.time_limit(slow):
                    message = f"no reply within {passed:.0f} s, and others come much sooner"
                    raise TryFailed(message, kind="timeout")
        finally:
            trying.cancel()

    def took(self, seconds: float) -> None:
        """Take note of how long a reply took.

        Among many, a single one hardly moves what is usual, so that it is not sought each time.
        """
        self._recent.append(seconds)
        self._unsorted += 1
        if len(self._recent) < RECENT or self._unsorted >= LOOK_AFTER:
            self._unsorted = 0
            self._usual = _middle(self._recent)

    def time_limit(self, slow: int = 0) -> float:
        """Return how long a try may take, after so many that took too long."""
        usual = self._usual
        first = FIRST_LIMIT if usual is None else max(LEAST_LIMIT, SLOWER * usual)
        return min(self.timeout, first * 2.0 ** min(slow, 20))

    def delay(self, tries: int, retry_after: float | None) -> float:
        """Return how long to wait before the next try, never the same for two callers."""
        if retry_after:
            return retry_after * (1 + self.chance() / 4)
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(tries - 1, 20))
        return wait * (0.5 + self.chance() / 2)


def _middle(numbers: Collection[float]) -> float:
    """Return the median; the standard library's comes with all of its statistics."""
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def seconds_of(retry_after: str | None, now: datetime | None = None) -> float | None:
    """Read a ``Retry-After`` header: seconds, or the date after which to come again."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            date = parsedate_to_datetime(retry_after)
        except ValueError:
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None
