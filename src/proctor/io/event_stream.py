"""Server-sent events: a stream of bytes cut into events, and what each one carries."""

import re
from collections.abc import AsyncIterator, Iterator

MEDIA_TYPE = "text/event-stream"
DONE = b"[DONE]"
"""What servers of models send as the last event; it carries nothing."""
_LINE_END = rb"(?:\r\n|\n|\r(?!\n))"
_BLANK_LINE = re.compile(_LINE_END + _LINE_END)


async def events(chunks: AsyncIterator[bytes], most: int | None = None) -> AsyncIterator[bytes]:
    """Cut a stream into whole events, each with the blank line behind it.

    What is left at the end is one too. Where one is longer than ``most`` bytes, the stream ends.
    """
    buffer = b""
    async for chunk in chunks:
        buffer += chunk
        start = 0
        for end in _BLANK_LINE.finditer(buffer):
            yield buffer[start : end.end()]
            start = end.end()
        buffer = buffer[start:]
        if most is not None and len(buffer) > most:
            return
    if buffer:
        yield buffer


def split_events(body: bytes) -> Iterator[bytes]:
    """Yield the events of a stream that has ended."""
    return (event for event in _BLANK_LINE.split(body) if event)


def event_data(event: bytes) -> bytes:
    """Return what an event carries; nothing of a comment, a name, or the mark of the end."""
    lines = [line[5:].removeprefix(b" ") for line in event.splitlines() if line[:5] == b"data:"]
    data = b"\n".join(lines)
    return b"" if data.strip() == DONE else data
