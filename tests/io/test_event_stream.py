"""Server-sent events, however the stream is cut."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from proctor.io.event_stream import event_data, events, split_events

STREAM = b"data: one\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\n: a comment\r\rdata: [DONE]\n\ndata: 4"
EXPECTED = [b"one", b"two\nlines", b"", b"", b"4"]


def cut(chunks: Iterable[bytes], most: int | None = None) -> list[bytes]:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def work() -> list[bytes]:
        return [event async for event in events(stream(), most)]

    return asyncio.run(work())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_whole_however_they_arrive(size: int) -> None:
    parts = cut(STREAM[at : at + size] for at in range(0, len(STREAM), size))
    assert b"".join(parts) == STREAM, "every byte is passed on"
    carried = [event_data(part) for part in parts]
    assert list(filter(None, carried)) == list(filter(None, EXPECTED))


def test_an_event_comes_when_it_is_whole() -> None:
    assert cut([b"data: a\r\n", b"\r\ndata: b"]) == [b"data: a\r\n\r\n", b"data: b"]


def test_a_stream_that_has_ended() -> None:
    assert [event_data(event) for event in split_events(STREAM)] == EXPECTED


def test_an_event_without_end() -> None:
    assert cut([b"data: a\n\n", b"x" * 11, b"\n\ndata: b"], most=10) == [b"data: a\n\n"]
