"""Connections to the pages: how long a request may take, how many there may be at a time.

What the server itself answers, before there is a request, has the headers of every other answer.
"""

import asyncio
import sys
from typing import Any, Literal

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from proctor.web.safety import HEADERS

HEAD_SECONDS = 10.0
"""How long the head of a request may take to come, from its first byte or the connection's."""
BODY_SECONDS = 30.0
"""How long its body may take."""
TAKING_SECONDS = 60.0
"""How long a client may take nothing of what it is sent."""
KEPT_SECONDS = 5
"""How long a connection stays open for another request."""
LARGEST_HEAD = 32 * 1024
MOST = 256
"""Connections at a time; beyond them one is closed that waits for its client."""
LOOK = 0.5
"""Seconds between two looks at a connection."""
_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


def server_config(app: Any) -> uvicorn.Config:
    """Return how the pages are served, on whatever socket."""
    return uvicorn.Config(
        app,
        http=GuardedConnection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )


class GuardedConnection(H11Protocol):
    """A connection that is closed where its client keeps it waiting."""

    _phase: Literal["", "head", "body"] = ""
    _until = 0.0
    _unsent, _unsent_since = 0, 0.0
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; where there are too many, one that waits is closed."""
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
        """Take in what came, and see what is still awaited."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the rest of the request, or for the next one."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            # Whether another request comes is watched by the server itself.
            self._phase = ""
        else:
            self._follow()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, with the headers of every other answer."""
        hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
        if hint == 431:
            self.answer(431, f"the head of the request has more than {LARGEST_HEAD} bytes")
        else:
            self.answer(400, "this is no HTTP request")

    def answer(self, status: int, words: str) -> None:
        """Say why, where nothing was said yet, and close."""
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
        """Tell whether the answer to the last request was begun, and is not complete."""
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
        """Set a limit to what is awaited; it does not move with every byte that comes."""
        if self._phase != phase:
            self._phase = phase
            self._until = self.loop.time() + (HEAD_SECONDS if phase == "head" else BODY_SECONDS)

    def _look(self) -> None:
        """Close the connection where its client is late, and look again soon where it is not."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        if unsent and now - self._unsent_since > TAKING_SECONDS:
            self.transport.abort()
            return
        if self._phase and now > self._until and not self.transport.is_closing():
            self.answer(408, "the request did not come to its end")
        self._watch = self.loop.call_later(LOOK, self._look)


def _response(status: int, words: str) -> bytes:
    """Write a whole answer, as h11 would no longer do for a broken request."""
    body = f"{words}\n".encode()
    headers = {
        **HEADERS,
        "Cache-Control": "no-store",
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    head = [f"HTTP/1.1 {status} {_REASONS[status]}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*head, "", ""]).encode("ascii") + body
