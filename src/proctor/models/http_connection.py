"""Kept-alive HTTP/1.1 connections to one server, written by hand because they must be cheap.

A call is one block of bytes out and one reply in. A general client makes objects, streams and
timers for each, which costs more than the call itself. Redirects are not followed, cookies not
kept.
"""

import asyncio
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from proctor.version import __version__

if TYPE_CHECKING:
    from ssl import SSLContext

CONNECT_LIMIT = 10.0
IDLE_LIMIT = 30.0
"""Seconds after which a connection that nobody used is not used any more."""
NEXT_ADDRESS = 0.25
"""Seconds after which another address of the same server is tried as well."""
BLOCK = 32 * 2**10
"""Bytes that are read at once."""
LONGEST_HEAD = 256 * 2**10
LONGEST_LINE = 8 * 2**10
MOST_MEMBERS = 100
"""Parts that a packed reply may consist of; each costs time, and may be empty."""
_STATUS = re.compile(rb"HTTP/1\.([01])[ \t]+([1-5][0-9][0-9])(?:[ \t\r\n]|$)")
_END_OF_HEAD = re.compile(rb"\n\r?\n")
"""What begins with a certain character is found ten times as fast; one before it does no harm."""
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")
_NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class HungUp(ConnectionError):
    """End of a connection before its reply was whole."""


class NotHttp(ConnectionError):
    """What a server sent that is no reply of HTTP."""


class ReplyTooLong(Exception):
    """Reply that is longer than any that is meant."""


class Unreachable(OSError):
    """Failure to connect."""


class ConnectTimedOut(Unreachable):
    """Failure to connect within the limit."""


class NotTrusted(Unreachable):
    """Failure to agree on a secret connection with the server that was meant."""


class HttpReply(NamedTuple):
    """Reply of a server; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class _Body(ABC):
    """Body of a reply as it comes in, piece by piece."""

    def __init__(self) -> None:
        self.data: bytes | bytearray = b""
        """What has come of it; thousands of tiny pieces take no more room than one."""

    @abstractmethod
    def feed(self, data: bytes) -> bytes | None:
        """Take bytes; return those beyond the end, or None as long as something is missing."""

    def _add(self, piece: bytes) -> None:
        if not self.data:
            self.data = piece
            return
        if isinstance(self.data, bytes):
            self.data = bytearray(self.data)
        self.data += piece


class _SizedBody(_Body):
    """Body whose length was announced."""

    def __init__(self, length: int, largest: int) -> None:
        super().__init__()
        if length > largest:
            raise ReplyTooLong
        self._missing = length

    def feed(self, data: bytes) -> bytes | None:
        missing = self._missing = self._missing - len(data)
        if missing >= 0:
            self._add(data)
            return None if missing else b""
        self._add(data[:missing])
        return data[missing:]


class _EndlessBody(_Body):
    """Body that ends where the server hangs up."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._room = largest

    def feed(self, data: bytes) -> bytes | None:
        self._room -= len(data)
        if self._room < 0:
            raise ReplyTooLong
        self._add(data)
        return None


class _ChunkedBody(_Body):
    """Body in chunks, each with its length before it."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._room = largest
        self._missing = 0
        """Bytes of the current chunk that have not come."""
        self._line = b""
        """The beginning of a line that is not whole."""
        self._expects = "size"
        """The next line: ``size`` of a chunk, ``end`` of one, ``trailer`` after the last."""

    def feed(self, data: bytes) -> bytes | None:
        data, self._line = self._line + data, b""
        at = 0
        while True:
            if self._missing:
                piece = data[at : at + self._missing]
                self._missing -= len(piece)
                self._add(piece)
                at += len(piece)
                if self._missing:
                    return None
            end = data.find(b"\n", at)
            if (end if end >= 0 else len(data)) - at > LONGEST_LINE:
                raise NotHttp("a line of a chunked body is too long")
            if end < 0:
                self._line = data[at:]
                return None
            line, at = data[at:end].rstrip(b"\r"), end + 1
            if self._ended_by(line):
                return data[at:]

    def _ended_by(self, line: bytes) -> bool:
        """Take a line, and tell whether it was the last."""
        if self._expects == "trailer":
            return not line
        if self._expects == "end":
            if line:
                raise NotHttp("a chunk is longer than announced")
            self._expects = "size"
            return False
        size = line.partition(b";")[0].strip()
        if not _SIZE.fullmatch(size):
            raise NotHttp("a chunk has no length")
        self._missing = int(size, 16)
        self._room -= self._missing
        if self._room < 0:
            raise ReplyTooLong
        self._expects = "end" if self._missing else "trailer"
        return False


class Connection(asyncio.BufferedProtocol):
    """One connection, on which one request after the other is answered.

    What comes is put into one block that is always the same: a plain protocol is given a new one of
    256 KiB for each reply, which the system has to find and to take back.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.idle_since = 0.0
        self.is_open = False
        self._loop = loop
        self._transport: asyncio.Transport
        self._waiting: asyncio.Future[HttpReply] | None = None
        self._largest = 0
        self._block: memoryview | None = None
        self._early = bytearray()
        """What has come of a head that is not whole."""
        self._body: _Body | None = None
        self._status = 0
        self._headers: dict[str, str] = {}
        self._persists = False
        """Whether the connection can be used again after this reply."""
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, request: bytes, deadline: float, largest: int) -> "asyncio.Future[HttpReply]":
        """Send a request; the reply, or what became of it, will be in the future."""
        self._waiting = waiting = self._loop.create_future()
        self._largest = largest
        self._deadline = deadline
        # One timer for many requests: it is set again only where it would ring too late.
        if self._timer is None or self._timer.when() > deadline:
            self._set_timer()
        self._transport.write(request)
        return waiting

    def abort(self) -> None:
        """Close at once; whoever still waits for a reply waits no more."""
        self.is_open = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and tell whoever waits for a reply."""
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting is None:
            return
        if exc is None and isinstance(self._body, _EndlessBody):
            self._deliver(bytes(self._body.data))
            return
        self._fail(exc or HungUp("the server hung up before its reply was whole"))

    def get_buffer(self, _wanted: int) -> memoryview:
        """Return where to put what comes."""
        if self._block is None:
            self._block = memoryview(bytearray(BLOCK))
        return self._block

    def buffer_updated(self, count: int) -> None:
        """Take bytes of a reply; a server that speaks without being asked is not listened to."""
        if self._waiting is None:
            self.abort()
            return
        assert self._block is not None
        try:
            self._take(bytes(self._block[:count]))
        except (NotHttp, ReplyTooLong) as error:
            self._fail(error)

    def _take(self, data: bytes) -> None:
        if self._body is None:
            rest = self._take_head(data)
            if rest is None:
                return
            data = rest
        assert self._body is not None
        beyond = self._body.feed(data)
        if beyond is not None:
            self._persists = self._persists and not beyond
            self._deliver(bytes(self._body.data))

    def _take_head(self, data: bytes) -> bytes | None:
        """Read the head of a reply; return what comes after it, or None while it is not whole."""
        early = self._early
        # The end of a head may come in two pieces; what came before them is not searched again.
        start = max(0, len(early) - 3)
        if early:
            early += data
        while (end := _END_OF_HEAD.search(early or data, start)) is not None:
            if early:
                data = bytes(early)
                early.clear()
            self._read_head(data[: end.start()])
            data, start = data[end.end() :], 0
            if self._status >= 200:
                self._body = self._announced_body()
                return data
            if self._status == 101:
                raise NotHttp("the server wants to speak another protocol")
        if not early:
            early += data
        if len(early) > LONGEST_HEAD:
            raise NotHttp("the head of the reply is too long")
        return None

    def _read_head(self, head: bytes) -> None:
        status = _STATUS.match(head)
        if status is None:
            raise NotHttp("what the server sent is no HTTP")
        headers: dict[str, str] = {}
        name = ""
        for line in head.decode("latin-1").split("\n")[1:]:
            if line[:1] in (" ", "\t") and name:
                headers[name] += f" {line.strip()}"
                continue
            name, colon, value = line.partition(":")
            name, value = name.strip().lower(), value.strip(" \t\r")
            if not colon or not name:
                raise NotHttp("a header of the reply cannot be read")
            if name not in headers:
                headers[name] = value
            elif name == "content-length" and headers[name] != value:
                raise NotHttp("the reply has two lengths")
            elif name in ("transfer-encoding", "connection"):
                headers[name] += f", {value}"
        self._status, self._headers = int(status[2]), headers
        options = headers.get("connection", "").lower()
        self._persists = "close" not in options if status[1] == b"1" else "keep-alive" in options

    def _announced_body(self) -> _Body:
        headers = self._headers
        if self._status in (204, 304):
            return _SizedBody(0, 0)
        coding = headers.get("transfer-encoding", "").lower()
        if coding not in ("", "identity"):
            if "content-length" in headers:
                self._persists = False
            if coding == "chunked":
                return _ChunkedBody(self._largest)
            if coding.endswith("chunked"):
                raise NotHttp(f"the reply is encoded as {coding[:40]!r}")
        elif (length := headers.get("content-length")) is not None:
            if not (length.isascii() and length.isdigit() and len(length) < 20):
                raise NotHttp("the length of the reply is no number")
            return _SizedBody(int(length), self._largest)
        self._persists = False
        return _EndlessBody(self._largest)

    def _deliver(self, data: bytes) -> None:
        coding = self._headers.get("content-encoding")
        if coding is not None:
            try:
                data = _decoded(data, coding.lower(), self._largest)
            except (zlib.error, ReplyTooLong) as error:
                too_long = isinstance(error, ReplyTooLong)
                self._fail(error if too_long else NotHttp("the reply cannot be unpacked"))
                return
        waiting, self._waiting, self._body = self._waiting, None, None
        self.idle_since = self._loop.time()
        # Behind a request that is not out yet the next one would wait for ever.
        if not self._persists or self._transport.get_write_buffer_size():
            self.is_open = False
            self._transport.close()
        if waiting is not None and not waiting.done():
            waiting.set_result(HttpReply(self._status, self._headers, data))

    def _fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, None
        self.abort()
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, self._rung)

    def _rung(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if self._loop.time() >= self._deadline:
            self._fail(TimeoutError())
        else:
            self._set_timer()


class Connections:
    """Connections to one base address, with the headers that are sent there."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(base)
        self._secure = parts.scheme == "https"
        self._host = ascii_host(parts.hostname or "")
        self._port = parts.port or (443 if self._secure else 80)
        self._path = parts.path
        shown = f"[{self._host}]" if ":" in self._host else self._host
        own = {
            "Host": shown if parts.port is None else f"{shown}:{parts.port}",
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate",
            "User-Agent": f"proctor/{__version__}",
        }
        self._headers = {
            name.lower(): (name, value) for name, value in [*own.items(), *headers.items()]
        }
        self._heads: dict[tuple[str, str, str], bytes] = {}
        self._context: SSLContext | None = None
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._dropped = False

    async def send(
        self, method: str, path: str, body: bytes | None, limit: float, largest: int, kind: str = ""
    ) -> HttpReply:
        """Send a request, and return the reply, whatever its status."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        key = (method, path, kind)
        head = self._heads.get(key) or self._head(key)
        if body is None:
            request = head + b"\r\n"
        else:
            request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        connection = self._taken(now) or await self._connect(loop, now + limit)
        try:
            reply = await connection.ask(request, now + limit, largest)
        except BaseException:
            connection.abort()
            self._all.discard(connection)
            raise
        if connection.is_open:
            self._idle.append(connection)
        else:
            self._all.discard(connection)
        return reply

    async def close(self) -> None:
        """Close all connections, and let the loop see to it."""
        self.drop()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def drop(self) -> None:
        """Begin to close all connections, and those that are not there yet once they are."""
        self._dropped = True
        self._idle.clear()
        while self._all:
            self._all.pop().abort()

    def _taken(self, now: float) -> Connection | None:
        """Return the connection that was used last; those that rest for too long are closed."""
        idle = self._idle
        while idle:
            connection = idle.pop()
            if connection.is_open and now - connection.idle_since < IDLE_LIMIT:
                return connection
            connection.abort()
            self._all.discard(connection)
        return None

    async def _connect(self, loop: asyncio.AbstractEventLoop, deadline: float) -> Connection:
        limit = min(CONNECT_LIMIT, deadline - loop.time())
        # Other loops than asyncio's own know no race between addresses, and a number needs none.
        racing = isinstance(loop, asyncio.BaseEventLoop) and not _is_number(self._host)
        how: dict[str, Any] = {"happy_eyeballs_delay": NEXT_ADDRESS} if racing else {}
        if self._secure:
            how |= {"ssl": self._tls(), "server_hostname": self._host.rstrip(".")}
        connection: Connection
        try:
            async with asyncio.timeout(limit):
                _, connection = await loop.create_connection(
                    lambda: Connection(loop), self._host, self._port, **how
                )
        except TimeoutError:
            if limit < CONNECT_LIMIT:
                raise
            raise ConnectTimedOut from None
        except OSError as error:
            cause = error.strerror or str(error)
            if type(error).__module__ == "ssl":
                raise NotTrusted(str(error)) from None
            raise Unreachable(cause) from None
        if self._dropped:
            connection.abort()
            raise HungUp("it was closed before it was there")
        self._all.add(connection)
        return connection

    def _tls(self) -> "SSLContext":
        if self._context is None:
            from ssl import create_default_context

            self._context = create_default_context()
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context

    def _head(self, key: tuple[str, str, str]) -> bytes:
        """Return a request without its length and body; those that are sent often are kept."""
        method, path, kind = key
        target = quote(_NO_ESCAPE.sub("%25", self._path + path), safe="/:?&=%~@!$'()*+,;[]") or "/"
        headers = self._headers
        if kind:
            headers = {**headers, "content-type": ("Content-Type", kind)}
        lines = [f"{method} {target} HTTP/1.1", *(f"{n}: {value}" for n, value in headers.values())]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header has more than one line")
        if len(self._heads) >= 64:
            self._heads.clear()
        head = self._heads[key] = "".join(f"{line}\r\n" for line in lines).encode()
        return head


def ascii_host(host: str) -> str:
    """Return a host as it is looked up; raise a ValueError for one that cannot have an address."""
    if not host.isascii():
        # Python's own codec is older, and makes another name of some: strasse of straße.
        from yarl import URL

        with suppress(UnicodeError):
            host = URL.build(scheme="http", host=host).raw_host or ""
    labels = host.removesuffix(".").split(".")
    possible = host.isascii() and host.isprintable() and " " not in host
    if not possible or not all(0 < len(one) < 64 for one in labels):
        raise ValueError("it names no host that can be looked up")
    return host


def _is_number(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _decoded(data: bytes, coding: str, largest: int) -> bytes:
    """Unpack a body, at most so many bytes; what is packed in another way is left as it is."""
    if not data:
        return data
    if coding in ("gzip", "x-gzip"):
        parts: list[bytes] = []
        room = largest
        while data:
            if len(parts) == MOST_MEMBERS:
                raise zlib.error("it has too many parts")
            unpacking = zlib.decompressobj(wbits=31)
            parts.append(_unpacked(unpacking, data, room))
            room -= len(parts[-1])
            data = unpacking.unused_data
        return b"".join(parts)
    if coding == "deflate":
        try:
            return _unpacked(zlib.decompressobj(), data, largest)
        except zlib.error:
            return _unpacked(zlib.decompressobj(wbits=-15), data, largest)
    return data


def _unpacked(unpacking: "zlib._Decompress", data: bytes, largest: int) -> bytes:
    unpacked = unpacking.decompress(data, largest + 1)
    if len(unpacked) > largest:
        raise ReplyTooLong
    if not unpacking.eof:
        raise zlib.error("it breaks off")
    return unpacked
