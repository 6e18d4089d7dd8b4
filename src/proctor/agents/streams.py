"""Replies that come in parts: server-sent events, and lines of JSON."""

from collections.abc import AsyncIterator, Callable

from proctor.agents.process import Broken
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.event_stream import MEDIA_TYPE, event_data, events

LINES = (
    "application/x-ndjson",
    "application/jsonl",
    "application/jsonlines",
    "application/json-seq",
)


async def parts(
    chunks: AsyncIterator[bytes], kind: str, count: Callable[[int], None]
) -> AsyncIterator[Json]:
    """Yield what a stream holds, thing by thing; ``count`` is told of every byte."""
    counted = _counted(chunks, count)
    if kind == MEDIA_TYPE:
        pieces = (event_data(event) async for event in events(counted))
    else:
        pieces = (line.strip(b"\x1e \t\r") async for line in _lines(counted))
    async for data in pieces:
        if data:
            yield _json(data)


async def _counted(
    chunks: AsyncIterator[bytes], count: Callable[[int], None]
) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        count(len(chunk))
        yield chunk


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    buffer = b""
    async for chunk in chunks:
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            yield line
    yield buffer


def _json(data: bytes) -> Json:
    """Read a part; one that is no JSON is a piece of text."""
    try:
        return json_bytes.loads_foreign(data)
    except ValueError:
        pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Broken("what it streams is not UTF-8") from None
