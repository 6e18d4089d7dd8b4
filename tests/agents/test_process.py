"""The process of an agent: what it wrote before it ended is told, whichever pipe is read first."""

import asyncio

import pytest

from proctor.agents.process import AgentProcess, Bounds


async def fell_silent(*, last: bytes) -> str:
    """Let a process end with status 1, and its last words arrive after that is known."""
    process = AgentProcess(Bounds())
    process._take("ended", "1")
    process.pipe_connection_lost(1, None)

    async def ended() -> str:
        await process.ended()
        return process.why()

    waiting = asyncio.ensure_future(ended())
    await asyncio.sleep(0)
    process.pipe_data_received(2, last)
    process.pipe_connection_lost(2, None)
    return await waiting


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (b"some boom\n", "it ended with exit status 1: some boom"),
        (b"", "it ended with exit status 1"),
    ],
)
def test_last_words_are_waited_for(last: bytes, reason: str) -> None:
    assert asyncio.run(fell_silent(last=last)) == reason


def test_a_pipe_that_others_hold_open_is_not_waited_for() -> None:
    async def ended() -> int:
        process = AgentProcess(Bounds())
        process._take("ended", "0")
        return await process.ended()

    assert asyncio.run(asyncio.wait_for(ended(), 60)) == 0
