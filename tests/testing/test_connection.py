"""One connection of the fake server: requests one after the other, and what is refused."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.testing.connection import FakeConnection, Incoming


class _Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def close(self) -> None:
        self.closed = True


class _Host:
    def __init__(self) -> None:
        self.seen: list[Incoming] = []
        self.events: list[str] = []

    def serve(self, incoming: Incoming, connection: FakeConnection) -> None:
        self.seen.append(incoming)

    def came(self, connection: FakeConnection) -> None:
        self.events.append("came")

    def went(self, connection: FakeConnection, *, reset: bool) -> None:
        self.events.append("reset" if reset else "went")


def opened() -> tuple[FakeConnection, _Host, _Transport]:
    host, transport = _Host(), _Transport()
    connection = FakeConnection(host)
    connection.connection_made(transport)
    return connection, host, transport


def post(body: bytes, more: str = "") -> bytes:
    return f"POST /v1/x?q=1 HTTP/1.1\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def nothing() -> None:
    pass


def test_a_request_may_come_in_any_pieces() -> None:
    connection, host, _ = opened()
    for byte in post(b'{"a":1}', "X-Key: v\r\n"):
        connection.data_received(bytes([byte]))
    (incoming,) = host.seen
    assert (incoming.method, incoming.path, incoming.body) == ("POST", "/v1/x", b'{"a":1}')
    assert incoming.headers["x-key"] == "v"


def test_the_next_request_waits_until_the_reply_is_out() -> None:
    connection, host, transport = opened()
    connection.data_received(post(b"1") + post(b"2"))
    assert [one.body for one in host.seen] == [b"1"]
    done: list[str] = []
    connection.send(200, b"{}", headers={"x-a": "b"}, then=lambda: done.append("sent"))
    assert done == ["sent"]
    assert [one.body for one in host.seen] == [b"1", b"2"]
    head, _, body = transport.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: 2" in head
    assert b"x-a: b" in head
    assert body == b"{}"


def test_half_a_reply_announces_the_whole() -> None:
    connection, _, transport = opened()
    connection.send_half(299, b"1234")
    assert b"HTTP/1.1 299 Unknown" in transport.sent
    assert b"content-length: 4" in transport.sent
    assert transport.sent.endswith(b"\r\n\r\n12")
    assert transport.closed


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"411"),
        (b"nonsense\r\n\r\n", b"411"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
    ],
)
def test_what_has_no_length_or_too_much_is_refused_once(
    request_bytes: bytes, status: bytes
) -> None:
    connection, host, transport = opened()
    connection.data_received(request_bytes)
    assert b" " + status + b" " in transport.sent.split(b"\r\n")[0]
    before = transport.sent
    connection.data_received(post(b"1"))
    assert (host.seen, transport.sent) == ([], before)


def test_a_client_that_asks_whether_to_go_on_is_told_so() -> None:
    connection, host, transport = opened()
    connection.data_received(
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    )
    assert transport.sent == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.data_received(b"ok")
    assert host.seen[0].body == b"ok"


@pytest.mark.parametrize(("error", "event"), [(None, "went"), (ConnectionResetError(), "reset")])
def test_the_host_learns_how_a_client_left(error: Exception | None, event: str) -> None:
    connection, host, _ = opened()
    connection.connection_lost(error)
    assert host.events == ["came", event]
    connection.data_received(post(b"1"))
    assert host.seen == []


def test_a_reply_that_drips_arrives_whole() -> None:
    async def work(then: Callable[[], None]) -> bytes:
        connection, _, transport = opened()
        connection.drip(200, b"x" * 500, 0.0, then=then)
        for _ in range(100):
            await asyncio.sleep(0)
        return transport.sent

    done: list[int] = []
    assert asyncio.run(work(lambda: done.append(1))).endswith(b"x" * 500)
    assert done == [1]
