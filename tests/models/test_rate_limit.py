"""How many calls are let through."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from proctor.models.rate_limit import Limiter


class Clock:
    """Stand still until somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await work()

    return asyncio.run(main())


def test_it_starts_low_and_grows_with_each_reply_to_the_limit() -> None:
    limiter = Limiter(20)
    assert limiter.allowed == 16
    seen = []
    for _ in range(6):
        limiter.replied()
        seen.append(limiter.allowed)
    assert seen == [17, 18, 19, 20, 20, 20]
    assert Limiter(3).allowed == 3


def test_it_halves_once_for_refusals_that_come_together_and_grows_slowly_then() -> None:
    clock = Clock()
    limiter = Limiter(64, clock=clock)
    limiter.refused(sent=99.0)
    limiter.refused(sent=99.0)
    assert limiter.allowed == 8
    clock.now = 100.5
    limiter.refused(sent=100.2)
    assert limiter.allowed == 8, "a second has not gone by"
    clock.now = 102.0
    limiter.refused(sent=99.9)
    assert limiter.allowed == 8, "it was sent before the halving"
    limiter.refused(sent=101.0)
    assert limiter.allowed == 4
    limiter.replied()
    assert limiter.allowed == 4.25
    for number in range(40):
        clock.now = 110.0 + 2 * number
        limiter.refused(sent=clock.now)
    assert limiter.allowed == 1


def test_places_are_given_in_the_order_of_coming_and_never_too_many() -> None:
    async def work() -> tuple[list[int], int]:
        limiter = Limiter(2)
        order: list[int] = []
        most = 0

        async def one(number: int) -> None:
            nonlocal most
            await limiter.acquire()
            order.append(number)
            most = max(most, limiter.running)
            await asyncio.sleep(0)
            limiter.release()

        tasks = [asyncio.ensure_future(one(number)) for number in range(50)]
        await asyncio.wait(tasks)
        assert limiter.running == 0
        return order, most

    order, most = run(work)
    assert order == list(range(50))
    assert most == 2


def test_no_place_is_lost_when_those_who_wait_are_cancelled() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = [asyncio.ensure_future(limiter.acquire()) for _ in range(4)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        limiter.release()
        waiting[1].cancel()  # it has been given the place already, and does not know yet
        await asyncio.wait(waiting[:3])
        assert [task.cancelled() for task in waiting[:3]] == [True, True, False]
        assert limiter.running == 1
        limiter.release()
        await waiting[3]
        limiter.release()
        assert limiter.running == 0

    run(work)


def test_requests_a_minute() -> None:
    async def work() -> list[float]:
        clock = Clock()
        limiter = Limiter(10, requests_per_minute=60, clock=clock, sleep=clock.sleep)
        for _ in range(5):
            await limiter.acquire()
        clock.now += 100
        await limiter.acquire()
        return clock.slept

    assert run(work) == [1.0, 2.0, 3.0]


def test_tokens_a_minute_are_corrected_by_what_was_used() -> None:
    async def work() -> list[float]:
        clock = Clock()
        limiter = Limiter(10, tokens_per_minute=600, clock=clock, sleep=clock.sleep)
        await limiter.acquire(tokens=100)  # ten seconds' worth, six of them saved up
        await limiter.acquire(tokens=0)
        limiter.replied(surplus=-40)
        await limiter.acquire(tokens=0)
        limiter.replied(surplus=100)
        await limiter.acquire(tokens=0)
        return clock.slept

    assert run(work) == [4.0, 10.0]


def test_a_caller_cancelled_while_keeping_pace_gives_its_place_back() -> None:
    async def work() -> int:
        limiter = Limiter(10, requests_per_minute=1)
        await limiter.acquire()
        waiting = asyncio.ensure_future(limiter.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        return limiter.running

    assert run(work) == 1
