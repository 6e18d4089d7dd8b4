"""A loop in a thread: work from outside, errors, cancelled work, and its end."""

import asyncio

import pytest

from proctor.io.background_loop import BackgroundLoop


async def doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_work_is_done_there_and_its_errors_come_back() -> None:
    loop = BackgroundLoop("test")

    async def broken() -> None:
        raise ValueError("no")

    assert loop.run(doubled(4)) == 8
    assert loop.submit(doubled(5)).result() == 10
    with pytest.raises(ValueError, match="no"):
        loop.run(broken())
    assert not loop.is_current
    loop.close()
    loop.close()


def test_it_knows_its_own_coroutines() -> None:
    loop = BackgroundLoop("test")

    async def inside() -> bool:
        return loop.is_current

    assert loop.run(inside())
    loop.close()


def test_closing_cancels_what_is_left() -> None:
    loop, ended = BackgroundLoop("test"), []

    async def waiting() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    future = loop.submit(waiting())
    loop.run(doubled(1))
    loop.close()
    assert ended == [True]
    assert future.cancelled()
