"""The one concurrency helper."""

import asyncio
import gc
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextvars import ContextVar

import pytest

from proctor.io import concurrency
from proctor.io.concurrency import TimeLimit, map_unordered, run_sync


@pytest.mark.parametrize(("count", "limit"), [(0, 3), (1, 3), (10, 3), (10, 1), (3, 10)])
def test_never_more_than_the_limit(count: int, limit: int) -> None:
    running = most = 0

    async def work(n: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return n * 2

    async def all_of_it() -> list[int]:
        return [made async for made in map_unordered(range(count), work, limit=limit)]

    assert sorted(run_sync(all_of_it())) == [n * 2 for n in range(count)]
    assert most == min(count, limit)


def test_things_are_taken_as_there_is_room() -> None:
    taken: list[int] = []

    def things() -> object:
        for n in range(100):
            taken.append(n)
            yield n

    async def work(n: int) -> int:
        return n

    async def three() -> list[int]:
        found = []
        stream = map_unordered(things(), work, limit=2)  # type: ignore[arg-type]
        async for made in stream:
            found.append(made)
            if len(found) == 3:
                break
        await stream.aclose()
        return found

    assert len(run_sync(three())) == 3
    assert len(taken) < 10


def test_the_first_error_ends_everything() -> None:
    ended: list[int] = []

    async def work(n: int) -> int:
        if n == 1:
            raise ValueError("one")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(n)
        return n

    async def all_of_it() -> None:
        async for _ in map_unordered(range(3), work, limit=3):
            pass

    with pytest.raises(ValueError, match="one"):
        run_sync(all_of_it())
    assert sorted(ended) == [0, 2]


def test_run_sync_works_where_a_loop_runs_already() -> None:
    async def inner() -> int:
        await asyncio.sleep(0)
        return 42

    async def outer() -> int:
        return run_sync(inner())

    assert asyncio.run(outer()) == 42


@pytest.mark.parametrize("loop_later", [False, True])
@pytest.mark.parametrize("how", ["waits", "pauses", "computes", "resists"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_an_interrupt_ends_the_work_soon_whatever_it_does(how: str, loop_later: bool) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                if how == "pauses":
                    await concurrency.pause()
                elif how != "computes":
                    await concurrency.loop_needed()
                    await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            if how == "resists":
                await asyncio.sleep(30)
            raise
        finally:
            ended.append(how)

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_sync(work(), loop_later=loop_later)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 29
    assert ended == ([] if how == "resists" else [how])


UNTIDY = """
import asyncio, contextvars, signal
from contextlib import contextmanager
from proctor.io import concurrency
from proctor.io.concurrency import TimeLimit, map_unordered, run_sync

scope = contextvars.ContextVar("scope", default=None)

@contextmanager
def opened():
    token = scope.set(1)
    try:
        yield
    finally:
        scope.reset(token)

async def slow_to_end(number):
    with opened():
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(30)

async def work():
    async for _ in map_unordered(range(3), slow_to_end, limit=3):
        pass

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    run_sync(work())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_work_that_does_not_end_in_time_is_left_without_a_word() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", UNTIDY], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\n", "", 0)


def test_work_that_needs_no_loop_has_none() -> None:
    async def stream() -> AsyncGenerator[int, None]:
        for number in range(3):
            await concurrency.pause()
            yield number

    async def work(fails: bool) -> list[int]:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        numbers = [number async for number in stream()]
        if fails:
            raise ValueError(numbers)
        return numbers

    assert run_sync(work(False), loop_later=True) == [0, 1, 2]
    with pytest.raises(ValueError, match="0, 1, 2"):
        run_sync(work(True), loop_later=True)


SCOPE: ContextVar[str] = ContextVar("scope", default="none")


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_work_goes_on_in_a_loop_from_where_it_needs_one(ends: str) -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    async def stream() -> AsyncGenerator[int, None]:
        yield 1
        async for number in map_unordered([1, 2], double, limit=2):
            yield number
        yield await concurrency.in_thread(lambda: 8)

    async def work() -> list[int]:
        token = SCOPE.set("inside")
        try:
            assert concurrency.is_without_loop()
            numbers = [number async for number in stream()]
            assert not concurrency.is_without_loop()
            assert SCOPE.get() == "inside"
            await concurrency.loop_needed()
            if ends == "badly":
                raise ValueError("so it is")
            return sorted(numbers)
        finally:
            SCOPE.reset(token)  # refused in another context than it was set in

    if ends == "badly":
        with pytest.raises(ValueError, match="so it is"):
            run_sync(work(), loop_later=True)
    else:
        assert run_sync(work(), loop_later=True) == [1, 2, 4, 8]
    assert SCOPE.get() == "none"


@pytest.mark.parametrize("loop_later", [False, True])
def test_an_interrupt_while_the_loop_is_made_ends_the_work_in_its_context(
    loop_later: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A coroutine that is left lying complains when it is collected, which fails the test."""
    ended: list[str] = []

    async def work() -> None:
        token = SCOPE.set("inside")
        try:
            await concurrency.loop_needed()
        finally:
            ended.append(SCOPE.get())
            SCOPE.reset(token)

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio, "new_event_loop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_sync(work(), loop_later=loop_later)
    gc.collect()
    assert ended == (["inside"] if loop_later else [])


def test_whoever_listens_is_told_how_far_the_work_has_come() -> None:
    told: list[tuple[str, int, int | None]] = []
    token = concurrency.LISTENER.set(lambda *words: told.append(words))
    try:
        assert sum(concurrency.tallied("read", range(1200), 1200)) == sum(range(1200))
        tally = concurrency.PhaseCount("check")
    finally:
        concurrency.LISTENER.reset(token)
    tally.add()
    tally.tell()
    assert told == [
        *(("read", done, 1200) for done in (0, 500, 1000, 1200)),
        ("check", 0, None), ("check", 1, None),
    ]  # fmt: skip


def test_where_nobody_listens_things_are_only_passed_on() -> None:
    things = iter([1, 2])
    assert concurrency.tallied("read", things) is things


def test_time_in_line_does_not_count() -> None:
    async def work() -> tuple[float, bool]:
        late = False
        try:
            async with asyncio.timeout(0.2) as limit:
                with concurrency.leaving_out_time_in_line(limit) as in_line:
                    with concurrency.in_line(), concurrency.in_line():
                        await asyncio.sleep(0.4)
                    await asyncio.sleep(30)
        except TimeoutError:
            late = True
        return in_line.seconds, late

    seconds, late = asyncio.run(work())
    assert late
    assert 0.4 <= seconds < 30


def test_waiting_in_line_without_a_limit_is_plain_waiting() -> None:
    async def work() -> None:
        with concurrency.in_line():
            await asyncio.sleep(0)

    asyncio.run(work())


async def _ended_after(limit: TimeLimit, seconds: float) -> str:
    """Return how a piece of work ended that would take so many seconds."""
    try:
        with limit.around():
            await asyncio.sleep(seconds)
    except TimeoutError:
        return "late"
    except asyncio.CancelledError:
        return "cancelled"
    return "in time"


def test_each_piece_of_work_has_its_own_time_within_a_shared_limit() -> None:
    async def both() -> tuple[list[str], float]:
        limit, began = TimeLimit(0.3), time.monotonic()
        first = asyncio.ensure_future(_ended_after(limit, 60))
        await asyncio.sleep(0.2)
        later = [asyncio.ensure_future(_ended_after(limit, 0.2)) for _ in range(3)]
        hanging = asyncio.ensure_future(_ended_after(limit, 60))
        ends = [await first]
        assert not hanging.done()
        ends += [await one for one in later]
        return [*ends, await hanging], time.monotonic() - began

    ends, took = asyncio.run(both())
    assert ends == ["late", "in time", "in time", "in time", "late"]
    assert 0.5 <= took < 5


def test_who_is_cancelled_by_others_is_not_late() -> None:
    async def cancelled() -> tuple[str, bool]:
        limit = TimeLimit(60)
        work = asyncio.ensure_future(_ended_after(limit, 60))
        await asyncio.sleep(0)
        work.cancel()
        return await work, limit.is_idle

    assert asyncio.run(cancelled()) == ("cancelled", True)


def test_an_outer_limit_that_ends_at_the_same_moment_is_heard() -> None:
    async def both() -> str:
        limit = TimeLimit(0.05)
        try:
            async with asyncio.timeout(0.05):
                try:
                    with limit.around():
                        await asyncio.sleep(0)
                        time.sleep(0.2)  # both ring in one iteration
                        await asyncio.sleep(60)
                except TimeoutError:
                    return "inner"
        except TimeoutError:
            return "outer"
        return "nobody"

    assert asyncio.run(both()) == "outer"


def test_a_limit_leaves_no_timer_and_lets_errors_pass() -> None:
    async def failing() -> bool:
        limit = TimeLimit(60)
        with pytest.raises(ValueError, match="broken"), limit.around():
            raise ValueError("broken")
        return limit.is_idle

    assert asyncio.run(failing())
