"""One kept-alive HTTP/1.1 connection to a fake server, written by hand because it must be cheap."""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

PIECES = 24
"""Into how many pieces a reply is cut that drips."""
MOST = 64 * 1024 * 1024
"""Bytes that a request may have."""
ESTABLISHED = 1
"""The state of a socket, as the system counts them, whose other end is still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class FakeHost(Protocol):
    """Owner of connections, which receives their requests."""

    def serve(self, incoming: Incoming, connection: "FakeConnection") -> None:
        """Answer a request, now or later, by one of the connection's ways to send."""

    def came(self, connection: "FakeConnection") -> None:
        """Learn that a client has connected."""

    def went(self, connection: "FakeConnection", *, reset: bool) -> None:
        """Learn that a client is gone; it resets when it left with a reply unread."""


class FakeConnection(asyncio.Protocol):
    """Connection that reads requests one after the other, and sends the host's replies."""

    def __init__(self, host: FakeHost) -> None:
        self.host = host
        self.transport: asyncio.Transport
        self.gone = False
        self._buffer = bytearray()
        self._busy = False
        self._refused = False
        self._when_flushed: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=0)
        self.host.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and say how."""
        self.gone = True
        self.host.went(self, reset=isinstance(exc, ConnectionError))

    @property
    def is_open(self) -> bool:
        """Tell whether there is still somebody at the other end, as far as the system knows."""
        taken: socket.socket = self.transport.get_extra_info("socket")
        if not hasattr(socket, "TCP_INFO"):
            return True
        try:
            return taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED
        except OSError:
            return False

    def data_received(self, data: bytes) -> None:
        """Take bytes, and serve the request that they complete."""
        if not self._refused:
            self._buffer += data
            self._advance()

    def resume_writing(self) -> None:
        """Learn that everything written has been handed to the system."""
        self._flushed()

    def send(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
        then: Callable[[], None],
    ) -> None:
        """Send a whole reply, and call ``then`` when the system has taken all of it."""
        self._write(_head(status, len(body), kind, headers or {}) + body, self._done(then))

    def send_half(self, status: int, body: bytes) -> None:
        """Announce a whole reply, send half of it, and hang up."""
        head = _head(status, len(body), "application/json", {})
        self.transport.write(head + body[: len(body) // 2])
        self.transport.close()

    def drip(self, status: int, body: bytes, seconds: float, *, then: Callable[[], None]) -> None:
        """Send a whole reply in small pieces, spread over some seconds."""
        whole = _head(status, len(body), "application/json", {}) + body
        size = -(-len(whole) // PIECES)
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        loop = asyncio.get_running_loop()

        def next_piece() -> None:
            if self.gone:
                return
            piece = pieces.pop(0)
            if pieces:
                self.transport.write(piece)
                loop.call_later(seconds / PIECES, next_piece)
            else:
                self._write(piece, self._done(then))

        next_piece()

    def reset(self) -> None:
        """Drop the connection so that the client sees a reset, not an end."""
        taken: socket.socket = self.transport.get_extra_info("socket")
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _write(self, data: bytes, then: Callable[[], None]) -> None:
        self._when_flushed = then
        self.transport.write(data)
        if self.transport.get_write_buffer_size() == 0:
            self._flushed()

    def _flushed(self) -> None:
        then, self._when_flushed = self._when_flushed, None
        if then is not None:
            then()

    def _done(self, then: Callable[[], None]) -> Callable[[], None]:
        def done() -> None:
            then()
            self._busy = False
            if self._buffer:
                self._advance()

        return done

    def _advance(self) -> None:
        if self._busy or self.gone:
            return
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        first = lines[0].split(" ")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        length = headers.get("content-length", "0")
        if len(first) != 3 or not length.isdigit() or "transfer-encoding" in headers:
            self._refuse(HTTPStatus.LENGTH_REQUIRED)
            return
        size = int(length)
        if size > MOST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        begin = end + 4
        if len(self._buffer) < begin + size:
            if len(self._buffer) == begin and "100-continue" in headers.get("expect", ""):
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = bytes(self._buffer[begin : begin + size])
        del self._buffer[: begin + size]
        self._busy = True
        path = first[1].partition("?")[0]
        self.host.serve(Incoming(method=first[0], path=path, headers=headers, body=body), self)

    def _refuse(self, status: HTTPStatus) -> None:
        """Say why, and let the client hang up: closing while it still sends would be a reset."""
        self._refused = True
        self._buffer.clear()
        self.transport.write(_head(status, 0, "text/plain", {"connection": "close"}))


def _head(status: int, length: int, kind: str, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {_phrase(status)}",
        f"content-type: {kind}",
        f"content-length: {length}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
