"""Limits on connections: how long a request may take, how many are open at once.

Responses of the server itself, sent before a request is parsed, carry the same headers as others.
"""

import asyncio
import sys
from typing import Any, Literal

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from proctor.web.safety import response_headers

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from its first byte or the connection's start."""
BODY_SECONDS = 30.0
"""How long its body may take."""
TAKING_SECONDS = 60.0
"""How long a client may go without reading the response."""
KEEP_ALIVE_SECONDS = 5
"""How long a connection stays open for another request."""
LARGEST_HEAD = 32 * 1024
MOST = 256
"""Connections at a time; beyond that, one that is waiting for its client is closed."""
LOOK = 0.5
"""Seconds between two checks of a connection."""
_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


def server_config(app: Any) -> uvicorn.Config:
    """Return the server's configuration, for any socket."""
    return uvicorn.Config(
        app,
        http=GuardedConnection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )


class GuardedConnection(H11Protocol):
    """A connection that is closed when its client is too slow."""

    _phase: Literal["", "head", "body"] = ""
    _until = 0.0
    _unsent, _unsent_since = 0, 0.0
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; above the limit, close the connection that has waited longest."""
        super().connection_made(transport)
        self._await("head")
        self._look()
        if len(self.connections) > MOST:
            waiting = [one for one in self.connections if isinstance(one, GuardedConnection)]
            waiting = [one for one in waiting if not one._answering]
            if waiting:
                min(waiting, key=lambda one: one._until).answer(503, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received bytes, and update the deadline."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the rest of the request, or for the next one."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            # uvicorn itself times out idle keep-alive connections.
            self._phase = ""
        else:
            self._follow()

    def send_400_response(self, msg: str) -> None:
        """Reject malformed requests, with the same headers as other responses."""
        hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
        if hint == 431:
            self.answer(431, f"the head of the request has more than {LARGEST_HEAD} bytes")
        else:
            self.answer(400, "not a valid HTTP request")

    def answer(self, status: int, words: str) -> None:
        """Send an error unless a response has begun, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE, h11.ERROR) and not self._begun:
            self.transport.write(_response(status, words))
        if self._answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._phase = ""
        self.transport.close()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _begun(self) -> bool:
        """Tell whether a response to the last request has begun but is not complete."""
        return self._answering and self.cycle.response_started

    def _follow(self) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            self._await("head")
        elif state is h11.SEND_BODY:
            self._await("body")
        else:
            self._phase = ""

    def _await(self, phase: Literal["head", "body"]) -> None:
        """Set the deadline of a phase; received bytes do not extend it."""
        if self._phase != phase:
            self._phase = phase
            self._until = self.loop.time() + (HEAD_SECONDS if phase == "head" else BODY_SECONDS)

    def _look(self) -> None:
        """Close the connection if a deadline has passed, and schedule the next check."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        if unsent and now - self._unsent_since > TAKING_SECONDS:
            self.transport.abort()
            return
        if self._phase and now > self._until and not self.transport.is_closing():
            self.answer(408, "the request was not completed in time")
        self._watch = self.loop.call_later(LOOK, self._look)


def _response(status: int, words: str) -> bytes:
    """Build a complete response, since h11 sends none after a protocol error."""
    body = f"{words}\n".encode()
    headers = {
        **response_headers(),
        "Cache-Control": "no-store",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    head = [f"HTTP/1.1 {status} {_REASONS[status]}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*head, "", ""]).encode("ascii") + body
