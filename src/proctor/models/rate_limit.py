"""How many calls a model gets at a time, and how many a minute."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

START = 16
HALVE_EVERY = 1.0
"""Seconds between two halvings: many refusals at once are one piece of news."""


class Limiter:
    """Gate for calls in the order they came, as many at once as the server can take.

    The number grows with the replies and halves when the server says that there were too many. It
    never exceeds the limit. Optionally only so many calls and tokens are let through a minute.
    """

    def __init__(
        self,
        limit: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.limit = limit
        self.allowed = float(min(START, limit))
        """How many may be under way now."""
        self.running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refused = False
        self._halved = float("-inf")
        self._clock, self._sleep = clock, sleep
        self._requests = _pace(requests_per_minute, burst=1.0)
        self._tokens = _pace(tokens_per_minute, burst=6.0)

    async def acquire(self, tokens: float = 0) -> None:
        """Wait for a place, and for the pace; tokens is how many the call will likely take."""
        if self._waiting or self.running >= int(self.allowed):
            await self._queue()
        else:
            self.running += 1
        if self._requests is None and self._tokens is None:
            return
        try:
            await self._keep_pace(tokens)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give a place back."""
        self.running -= 1
        self._wake()

    def replied(self, surplus: float = 0) -> None:
        """Take note of a reply, which took so many more tokens than were reckoned with."""
        step = 1 / self.allowed if self._refused else 1.0
        self.allowed = min(float(self.limit), self.allowed + step)
        if self._tokens is not None:
            self._tokens.take(surplus)
        self._wake()

    def refused(self, sent: float) -> None:
        """Take note that the server refused a call, sent at a moment, for being too many."""
        self._refused = True
        now = self._clock()
        if sent < self._halved or now - self._halved < HALVE_EVERY:
            return
        self._halved = now
        self.allowed = max(1.0, self.allowed / 2)

    async def _queue(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release()
            else:
                self._waiting.remove(place)
                self._wake()
            raise

    def _wake(self) -> None:
        """Hand free places to those who wait; a place is taken in their name at once."""
        while self._waiting and self.running < int(self.allowed):
            place = self._waiting.popleft()
            if not place.done():
                self.running += 1
                place.set_result(None)

    async def _keep_pace(self, tokens: float) -> None:
        now = self._clock()
        waits = [
            pace.wait(now, amount)
            for pace, amount in ((self._requests, 1.0), (self._tokens, tokens))
            if pace is not None
        ]
        if (wait := max(waits)) > 0:
            await self._sleep(wait)


class _Pace:
    """Time when the next unit is due; what is taken beyond a short burst moves it on."""

    def __init__(self, per_minute: float, burst: float) -> None:
        self.seconds = 60 / per_minute
        self.burst = burst
        self.due = float("-inf")

    def wait(self, now: float, amount: float) -> float:
        """Take an amount, and return for how long to wait before it may be used."""
        self.due = max(self.due, now - self.burst)
        wait = self.due - now
        self.due += amount * self.seconds
        return max(0.0, wait)

    def take(self, amount: float) -> None:
        """Correct what was taken."""
        self.due += amount * self.seconds


def _pace(per_minute: int | None, burst: float) -> _Pace | None:
    return None if per_minute is None else _Pace(per_minute, burst)
