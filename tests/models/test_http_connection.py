"""Connections to a server, against servers that say exactly what a test wants, byte by byte."""

import asyncio
import gzip
import ssl
import sys
import zlib
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.models.network_guard import offline
from proctor.errors import ModelError
from proctor.io.concurrency import map_unordered
from proctor.models import http_connection as module
from proctor.models.http_connection import (
    Connections,
    HttpReply,
    HungUp,
    NotHttp,
    NotTrusted,
    ReplyTooLong,
    Unreachable,
)

LIMIT, LARGEST = 20.0, 1000
OK = b"HTTP/1.1 200 OK\r\n"
CERTIFICATE = Path(__file__).parent / "localhost.pem"
"""A certificate with its key, signed by itself."""


class Server:
    """Answer each request by the next of some replies, and keep what came."""

    def __init__(self, replies: Sequence[bytes], *, cut: int = 0, hang_up: bool = False) -> None:
        self.replies = list(replies)
        self.cut, self.hang_up = cut, hang_up
        self.requests: list[bytes] = []
        self.connections = 0
        self.base = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.replies:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                self.requests.append(head + await reader.readexactly(length))
                reply = self.replies.pop(0)
                step = self.cut or len(reply) or 1
                for at in range(0, len(reply), step):
                    writer.write(reply[at : at + step])
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.hang_up:
                    break
            if not self.hang_up:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def served(
    server: Server, secure: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Connections]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=secure)
    scheme = "http" if secure is None else "https"
    server.base = f"{scheme}://{host}:{listening.sockets[0].getsockname()[1]}/v1"
    connections = Connections(server.base, {"Authorization": "Bearer key", "Content-Type": "a/b"})
    try:
        yield connections
    finally:
        await connections.close()
        listening.close()
        await listening.wait_closed()


def post(connections: Connections, limit: float = LIMIT) -> Coroutine[Any, Any, HttpReply]:
    return connections.send("POST", "/chat", b'{"a": 1}', limit, LARGEST)


def asked(server: Server, times: int = 1, **how: float) -> list[HttpReply]:
    async def work() -> list[HttpReply]:
        async with served(server) as connections:
            return [await post(connections, **how) for _ in range(times)]

    return asyncio.run(work())


def sized(body: bytes, *headers: bytes) -> bytes:
    lines = [OK, *(header + b"\r\n" for header in headers)]
    return b"".join(lines) + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    pieces = b"".join(b"%x;name=x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n" + trailer + b"\r\n"


BODY = b"the reply, all of it"


@pytest.mark.parametrize("cut", [0, 1, 7])
@pytest.mark.parametrize(
    ("reply", "keeps"),
    [
        (sized(BODY), True),
        (sized(BODY, b"Connection: keep-alive", b"X-Folded: a", b"  b"), True),
        (sized(BODY, b"Connection: close"), False),
        (sized(BODY).replace(b"1.1", b"1.0"), False),
        (sized(BODY, b"connection: Keep-Alive").replace(b"1.1", b"1.0"), True),
        (sized(BODY).replace(b"\r\n", b"\n"), True),
        (chunked(BODY), True),
        (chunked(BODY[:3], BODY[3:9], BODY[9:]), True),
        (chunked(BODY, trailer=b"X-Sum: 1\r\nX-More: 2\r\n"), True),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + sized(BODY), True),
        (sized(gzip.compress(BODY, mtime=0), b"Content-Encoding: gzip"), True),
        (
            sized(
                gzip.compress(BODY[:5], mtime=0) + gzip.compress(BODY[5:], mtime=0),
                b"Content-Encoding: gzip",
            ),
            True,
        ),
        (sized(zlib.compress(BODY), b"Content-Encoding: deflate"), True),
        (sized(zlib.compress(BODY, wbits=-15), b"Content-Encoding: deflate"), True),
        (sized(BODY, b"Content-Encoding: identity"), True),
        (sized(BODY, b"Transfer-Encoding: identity"), True),
        (sized(BODY) + b"HTTP/1.1 200 OK\r\n", False),
    ],
)
def test_a_reply_is_read_however_it_comes(reply: bytes, keeps: bool, cut: int) -> None:
    server = Server([reply, reply], cut=cut)
    first, second = asked(server, 2)
    assert first.data == second.data == BODY
    assert first.status == 200
    if cut == 0:
        assert server.connections == (1 if keeps else 2)


@pytest.mark.parametrize("cut", [0, 1])
def test_without_a_length_a_reply_ends_where_the_server_hangs_up(cut: int) -> None:
    server = Server([OK + b"\r\n" + BODY] * 2, cut=cut, hang_up=True)
    assert [reply.data for reply in asked(server, 2)] == [BODY, BODY]
    assert server.connections == 2


def test_what_is_sent() -> None:
    server = Server([sized(b"{}", b"X-Request-ID: r1"), b"HTTP/1.1 204 No\r\n\r\n", sized(b"")])

    async def work() -> list[HttpReply]:
        async with served(server) as connections:
            return [
                await post(connections),
                await connections.send("GET", "/models/a b?x=%41&100%", None, LIMIT, LARGEST),
                await connections.send("POST", "/files", b"--x", LIMIT, LARGEST, "multipart/x"),
            ]

    first, second, third = asyncio.run(work())
    assert (first.status, first.headers["x-request-id"], first.data) == (200, "r1", b"{}")
    assert (second.status, second.data, third.data) == (204, b"", b"")
    post_head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = post_head.split(b"\r\n")
    assert lines[0] == b"POST /v1/chat HTTP/1.1"
    assert body == b'{"a": 1}'
    host = server.base.removeprefix("http://").removesuffix("/v1").encode()
    assert {b"Host: " + host, b"Authorization: Bearer key", b"Content-Type: a/b"} <= set(lines)
    assert lines[-1] == b"Content-Length: 8"
    assert server.requests[1].startswith(b"GET /v1/models/a%20b?x=%41&100%25 HTTP/1.1\r\n")
    assert b"ontent-Length" not in server.requests[1]
    assert b"Content-Type: multipart/x\r\n" in server.requests[2]
    assert b"a/b" not in server.requests[2]
    assert server.connections == 1


def test_headers_stay_in_their_lines() -> None:
    connections = Connections("http://127.0.0.1:1/v1", {"X": "a\r\nY: b"})
    with pytest.raises(ValueError, match="more than one line"):
        asyncio.run(post(connections))
    plain = Connections("http://127.0.0.1:1/v1", {})
    assert b"\r\nX: y" not in plain._head(("GET", "/a HTTP/1.1\r\nX: y", ""))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", NotHttp),
        (b"HTTP/2 200\r\n\r\n", NotHttp),
        (b"HTTP/1.1 101 Switching\r\n\r\n", NotHttp),
        (OK + b"no colon\r\n\r\n", NotHttp),
        (OK + b"Content-Length: x\r\n\r\n", NotHttp),
        (OK + b"Content-Length: -1\r\n\r\n", NotHttp),
        (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", NotHttp),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", NotHttp),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", NotHttp),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", NotHttp),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 9000, NotHttp),
        (OK + b"X: " + b"y" * 300_000, NotHttp),
        (sized(b"no gzip", b"Content-Encoding: gzip"), NotHttp),
        (sized(gzip.compress(BODY, mtime=0)[:-9], b"Content-Encoding: gzip"), NotHttp),
        (OK + b"Content-Length: \xa03\r\n\r\nabc", NotHttp),
        (sized(BODY)[:-1], HungUp),
        (chunked(BODY)[:-2], HungUp),
        (OK, HungUp),
        (b"", HungUp),
        (sized(bytes(LARGEST + 1)), ReplyTooLong),
        (chunked(bytes(LARGEST), b"x"), ReplyTooLong),
        (OK + b"\r\n" + bytes(LARGEST + 1), ReplyTooLong),
        (
            sized(gzip.compress(bytes(LARGEST + 1), mtime=0), b"Content-Encoding: gzip"),
            ReplyTooLong,
        ),
        (sized(gzip.compress(bytes(600), mtime=0) * 2, b"Content-Encoding: gzip"), ReplyTooLong),
    ],
)
def test_a_reply_that_is_none_is_told_and_its_connection_is_not_used_again(
    reply: bytes, error: type[Exception]
) -> None:
    server = Server([reply, sized(BODY)], hang_up=error is HungUp)

    async def work() -> HttpReply:
        async with served(server) as connections:
            with pytest.raises(error):
                await post(connections)
            return await post(connections)

    assert asyncio.run(work()).data == BODY
    assert server.connections == 2


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_nothing_packed_is_nothing(coding: str) -> None:
    (reply,) = asked(Server([sized(b"", b"Content-Encoding: " + coding.encode())]))
    assert reply.data == b""


def test_a_packed_reply_of_many_empty_parts_is_not_unpacked() -> None:
    # Each part would be cut off the rest, which takes minutes where there are megabytes of them.
    packed = gzip.compress(b"", mtime=0) * module.MOST_MEMBERS
    assert module._decoded(packed, "gzip", LARGEST) == b""
    with pytest.raises(zlib.error, match="too many parts"):
        module._decoded(packed + gzip.compress(BODY), "gzip", LARGEST)


def test_a_head_in_tiny_pieces_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    class Pattern:
        def search(self, data: bytes, start: int) -> object:
            searched.append(len(data) - start)
            return end.search(data, start)

    end = module._END_OF_HEAD
    monkeypatch.setattr(module, "_END_OF_HEAD", Pattern())
    (reply,) = asked(Server([sized(BODY, b"X: " + b"y" * 2000)], cut=1))
    assert reply.data == BODY
    assert len(searched) > 1
    assert sum(searched) < 2 * 2000 * 4


def test_behind_a_request_that_is_not_out_yet_no_other_is_sent() -> None:
    connected = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connected
        connected += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        await gone.wait()
        writer.close()

    async def work() -> list[int]:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        connections = Connections(f"http://127.0.0.1:{port}/v1", {})
        large = bytes(40 * 2**20)
        replies = [await connections.send("POST", "/chat", large, LIMIT, LARGEST) for _ in range(2)]
        gone.set()
        await connections.close()
        listening.close()
        return [reply.status for reply in replies]

    gone = asyncio.Event()
    assert asyncio.run(work()) == [413, 413]
    assert connected == 2


@pytest.mark.parametrize(
    ("host", "looked_up"),
    [
        ("model.example", "model.example"),
        ("model.example.", "model.example."),
        ("::1", "::1"),
        ("straße.example", "xn--strae-oqa.example"),
    ],
)
def test_a_host_is_looked_up_by_its_own_name(host: str, looked_up: str) -> None:
    assert module.ascii_host(host) == looked_up


def test_a_reply_in_tiny_pieces_takes_no_more_room_than_in_one() -> None:
    chunked_body = module._ChunkedBody(LARGEST)
    for _ in range(LARGEST):
        assert chunked_body.feed(b"1\r\nx\r\n") is None
    assert chunked_body.feed(b"0\r\n\r\nmore") == b"more"
    assert chunked_body.data == b"x" * LARGEST
    assert sys.getsizeof(chunked_body.data) < 2 * LARGEST


def test_a_call_that_takes_too_long_ends_in_time_after_others_on_its_connection() -> None:
    server = Server([sized(BODY), sized(BODY), b""])

    async def work() -> None:
        async with served(server) as connections:
            await post(connections, limit=0.2)
            await post(connections, limit=LIMIT)
            with pytest.raises(TimeoutError):
                await post(connections, limit=0.3)
        assert server.connections == 1

    asyncio.run(work())


def test_a_cancelled_call_takes_its_connection_with_it() -> None:
    server = Server([b"", sized(BODY)])

    async def work() -> HttpReply:
        async with served(server) as connections:
            calling = asyncio.ensure_future(post(connections))
            while not server.requests:
                await asyncio.sleep(0)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            return await post(connections)

    assert asyncio.run(work()).data == BODY
    assert server.connections == 2


def test_connections_are_used_again_unless_they_rested_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server([sized(BODY)] * 9)

    async def work() -> None:
        async with served(server) as connections:
            async for _ in map_unordered([connections] * 3, post, limit=3):
                pass
            assert server.connections == 3
            async for _ in map_unordered([connections] * 3, post, limit=3):
                pass
            assert server.connections == 3
            monkeypatch.setattr(module, "IDLE_LIMIT", 0.0)
            await post(connections)
            assert server.connections == 4

    asyncio.run(work())


def test_a_connection_that_comes_after_all_were_closed_is_closed_too() -> None:
    server = Server([sized(BODY)])

    async def work() -> None:
        async with served(server) as connections:
            calling = asyncio.ensure_future(post(connections))
            await asyncio.sleep(0)
            assert not connections._all
            connections.drop()
            with pytest.raises(HungUp, match="closed"):
                await calling
            assert not connections._all

    asyncio.run(work())
    assert not server.requests


def test_a_server_that_hung_up_meanwhile_is_connected_to_again() -> None:
    server = Server([sized(BODY), sized(BODY)], hang_up=True)

    async def work() -> list[bytes]:
        async with served(server) as connections:
            first = await post(connections)
            while any(connection.is_open for connection in connections._idle):
                await asyncio.sleep(0)
            return [first.data, (await post(connections)).data]

    assert asyncio.run(work()) == [BODY, BODY]


def test_what_a_server_says_without_being_asked_is_no_reply() -> None:
    speak = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sized(BODY))
        await speak.wait()
        writer.write(sized(b"a lie"))
        await reader.read()
        writer.close()

    async def work() -> None:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        connections = Connections(f"http://127.0.0.1:{port}/v1", {})
        first = await post(connections)
        speak.set()
        (connection,) = connections._idle
        while connection.is_open:
            await asyncio.sleep(0)
        again = await post(connections)
        assert (first.data, again.data) == (BODY, BODY)
        await connections.close()
        listening.close()

    asyncio.run(work())


def secure_server() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_a_secure_server_is_trusted_by_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    server = Server([sized(BODY), chunked(BODY)])

    async def work() -> list[bytes]:
        async with served(server, secure_server(), host="localhost") as connections:
            return [(await post(connections)).data for _ in range(2)]

    assert asyncio.run(work()) == [BODY, BODY]
    assert server.connections == 1


@pytest.mark.parametrize("case", ["unknown certificate", "another name", "not secure"])
def test_a_server_that_is_not_the_one_meant_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    if case == "another name":
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    server = Server([sized(BODY)])
    host = "127.0.0.1" if case == "another name" else "localhost"

    async def work() -> None:
        secure = None if case == "not secure" else secure_server()
        async with served(server, secure, host=host) as connections:
            meant = Connections(server.base.replace("http:", "https:"), {"Authorization": "key"})
            with pytest.raises((NotTrusted, Unreachable)) as raised:
                await post(meant)
            assert isinstance(raised.value, NotTrusted) or case == "not secure"
            await meant.close()
            await connections.close()

    asyncio.run(work())
    assert not server.requests


@pytest.mark.parametrize("base", ["http://127.0.0.1:{}/v1", "http://localhost:{}/v1"])
def test_nobody_listens(base: str) -> None:
    async def work() -> None:
        listening = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        listening.close()
        await listening.wait_closed()
        with pytest.raises(Unreachable, match="onnect"):
            await post(Connections(base.format(port), {}))

    asyncio.run(work())


def test_offline_nothing_leaves_this_machine() -> None:
    for base in ("http://192.0.2.1/v1", "https://model.example/v1"):
        with offline(), pytest.raises(ModelError, match="--offline"):
            asyncio.run(post(Connections(base, {})))
