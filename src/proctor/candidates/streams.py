"""Replies that come in parts: server-sent events, and lines of JSON."""

from collections.abc import AsyncIterator, Callable

from proctor import wire
from proctor.candidates.held import Broken
from proctor.core.suite import Json

EVENTS, LINES = (
    "text/event-stream",
    ("application/x-ndjson", "application/jsonl", "application/jsonlines", "application/json-seq"),
)


async def parts(
    chunks: AsyncIterator[bytes], kind: str, count: Callable[[int], None]
) -> AsyncIterator[Json]:
    """Yield what a stream holds, thing by thing; ``count`` is told of every byte."""
    buffer = b""
    event: list[bytes] = []
    async for chunk in chunks:
        count(len(chunk))
        *lines, buffer = (buffer + chunk).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            for part in _of_line(line, kind, event):
                yield part
    for line in (buffer, b""):
        for part in _of_line(line, kind, event):
            yield part


def _of_line(line: bytes, kind: str, event: list[bytes]) -> list[Json]:
    """Return what is whole after this line; lines of one event gather until an empty one."""
    if kind != EVENTS:
        line = line.strip(b"\x1e \t\r")
        return [_json(line)] if line else []
    if line.strip():
        if line.startswith(b"data:"):
            event.append(line[5:].removeprefix(b" "))
        return []
    whole = b"\n".join(event)
    event.clear()
    if not whole or whole.strip() == b"[DONE]":
        return []
    return [_json(whole)]


def _json(data: bytes) -> Json:
    """Read a part; one that is no JSON is a piece of text."""
    try:
        return wire.loads_foreign(data)
    except ValueError:
        pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Broken("what it streams is not UTF-8") from None
