"""The servers behind a model: connections kept open, the load shared, dead ones left out."""

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from proctor.core.access import Destination
from proctor.core.names import without_user_info
from proctor.errors import ModelError, UsageError
from proctor.io.loopback import is_loopback_host
from proctor.io.redaction import SECRETS, redact, redact_body
from proctor.models.http_connection import (
    CONNECT_LIMIT,
    Connections,
    ConnectTimedOut,
    HungUp,
    NotHttp,
    NotTrusted,
    ReplyTooLong,
    Unreachable,
    ascii_host,
)
from proctor.models.refused_fields import Lessons
from proctor.models.retrying import TryFailed

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientTimeout


def base_of(url: str, endings: Sequence[str]) -> str:
    """Return the base URL that an address means.

    A bare host gets ``/v1``; an address that ends in one of the endings (the path of a call) names
    its base exactly; any other path is kept as it is.
    """
    text = url.strip()
    parts = _parts(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"{without_user_info(text)!r} is no base URL (fix: write it like"
            " http://127.0.0.1:8000/v1)"
        )
    if "@" in parts.netloc:
        raise UsageError(
            f"the base URL of {parts.hostname} contains a user name or a password"
            " (fix: put the key into an environment variable)"
        )
    if parts.query or parts.fragment:
        raise UsageError(f"the base URL of {parts.hostname} must not contain '?' or '#'")
    path = parts.path.rstrip("/")
    called = next((ending for ending in endings if path.endswith(ending)), None)
    if called is not None:
        path = path.removesuffix(called).rstrip("/")
    elif not path:
        path = "/v1"
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def is_loopback(url: str) -> bool:
    """Tell whether an address never leaves this machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    return host.endswith(".localhost") or is_loopback_host(host)


def is_private(url: str) -> bool:
    """Tell whether nobody on the way can read what is sent to an address."""
    return url.startswith("https://") or is_loopback(url)


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment prescribes for an address."""
    if is_loopback(url):
        return None
    if sys.platform == "linux" and not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if proxy_bypass(parts.netloc):
        return None
    proxy = getproxies().get(parts.scheme)
    if proxy is not None:
        SECRETS.add(urlsplit(proxy).password or "")
    return proxy


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
        if parts.hostname:
            ascii_host(parts.hostname)
    except ValueError as error:
        shown = without_user_info(text)
        why = "" if shown != text else f": {error}"
        raise UsageError(f"{shown!r} is no base URL{why}") from None
    return parts


PROBE_LIMIT = 5.0
FIRST_REST, LONGEST_REST = 1.0, 60.0
"""Seconds before a dead server is looked at again: at first, and at most."""
GONE_AFTER = 90.0
"""Seconds without any sign of life after which calls no longer wait for a server to come back."""
LARGEST = 64 * 2**20
"""Bytes of a reply beyond which it cannot be one."""


class HttpAnswer(NamedTuple):
    """Response of a server, whatever its status."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    seconds: float


class ModelEndpoint:
    """Open connections to one base URL, with what was learned about its server."""

    def __init__(
        self, destination: Destination, connections: int, lessons: Lessons | None = None
    ) -> None:
        self.base = destination.base
        self.lessons = lessons or Lessons()
        """How this server wants to be asked, where its refusals told."""
        self.in_flight = 0
        self.failures = 0
        """How often in a row it could not be reached."""
        self.rests_until = 0.0
        self.down_since = 0.0
        self._destination = destination
        self._most = connections
        self._connections: Connections | None = None
        self._session: ClientSession | None = None
        """Connections through a proxy."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._proxy = proxy_of(destination.base)

    async def post(self, path: str, body: bytes, limit: float, *, kind: str = "") -> HttpAnswer:
        """Send a body, JSON unless another kind is named; return the answer, or raise TryFailed."""
        self.in_flight += 1
        try:
            return await self._send("POST", path, body, limit, kind=kind)
        finally:
            self.in_flight -= 1

    async def get(self, path: str, limit: float, *, largest: int = LARGEST) -> HttpAnswer:
        """Return what lies at a path, or raise TryFailed."""
        return await self._send("GET", path, None, limit, largest=largest)

    def rest(self) -> None:
        """Leave this server out for a while, each time for longer."""
        now = time.monotonic()
        if not self.failures:
            self.down_since = now
        self.failures += 1
        self.rests_until = now + min(LONGEST_REST, FIRST_REST * 2.0 ** min(self.failures - 1, 20))

    async def close(self) -> None:
        """Close all connections."""
        connections, self._connections = self._connections, None
        session, self._session = self._session, None
        if self._loop is not asyncio.get_running_loop():
            _abandon(connections, session, self._loop)
            return
        if connections is not None:
            await connections.close()
        if session is not None:
            await session.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        limit: float,
        *,
        kind: str = "",
        largest: int = LARGEST,
    ) -> HttpAnswer:
        started = time.monotonic()
        try:
            if self._proxy is not None:
                status, headers, data = await self._through_proxy(
                    method, path, body, limit, kind, largest
                )
            else:
                self._destination.url(path)
                status, headers, data = await self._directly().send(
                    method, path, body, limit, largest, kind
                )
        except (TimeoutError, OSError, ReplyTooLong) as error:
            failed = _failure(error, self.base, time.monotonic() - started, largest)
        else:
            self.failures = 0
            return HttpAnswer(status, headers, redact_body(data), time.monotonic() - started)
        if failed.kind == "unreachable":
            self.rest()
        raise failed

    def _directly(self) -> Connections:
        """Return the connections of the running loop; there are new ones where the loop is new."""
        loop = asyncio.get_running_loop()
        if self._connections is None or self._loop is not loop:
            _abandon(self._connections, None, self._loop)
            self._loop = loop
            self._connections = Connections(self.base, self._destination.headers)
        return self._connections

    async def _through_proxy(
        self, method: str, path: str, body: bytes | None, limit: float, kind: str, largest: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        from aiohttp import ClientError

        try:
            async with self._open().request(
                method,
                self._destination.url(path),
                data=body,
                timeout=_timeout(limit),
                allow_redirects=False,
                proxy=self._proxy,
                headers={"Content-Type": kind} if kind else None,
            ) as response:
                data = await _whole(response.content, largest)
                return response.status, response.headers, data
        except (ClientError, TimeoutError, OSError) as error:
            raise _as_ours(error) from None

    def _open(self) -> "ClientSession":
        """Return the session of the running loop; there is a new one where the loop is new."""
        loop = asyncio.get_running_loop()
        if self._session is not None and self._loop is loop:
            return self._session
        _abandon(None, self._session, self._loop)
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        connector = TCPConnector(limit=self._most, keepalive_timeout=30, ttl_dns_cache=60)
        self._loop = loop
        self._session = ClientSession(
            connector=connector,
            headers=self._destination.headers,
            cookie_jar=DummyCookieJar(),
        )
        return self._session


class Endpoints:
    """The servers of one model, among which calls are shared."""

    def __init__(self, endpoints: Sequence[ModelEndpoint]) -> None:
        self.endpoints = list(endpoints)
        self._turn = 0
        self._probes: dict[ModelEndpoint, asyncio.Future[None]] = {}

    def pick(self, *, avoid: ModelEndpoint | None = None) -> ModelEndpoint:
        """Return the server with the fewest calls under way, and not the one just failed."""
        if len(self.endpoints) == 1:
            return self.endpoints[0]
        alive = [endpoint for endpoint in self.endpoints if not endpoint.failures]
        self._probe_the_dead()
        choice = [endpoint for endpoint in alive if endpoint is not avoid] or alive
        if not choice:
            return min(self.endpoints, key=lambda endpoint: endpoint.rests_until)
        self._turn += 1
        ranked = choice[self._turn % len(choice) :] + choice[: self._turn % len(choice)]
        return min(ranked, key=lambda endpoint: endpoint.in_flight)

    @property
    def gone(self) -> bool:
        """Tell whether no server has been reachable for long."""
        if not all(endpoint.failures for endpoint in self.endpoints):
            return False
        return time.monotonic() - max(e.down_since for e in self.endpoints) > GONE_AFTER

    async def close(self) -> None:
        """Close all connections, and look no longer for the dead."""
        for probe in self._probes.values():
            if not probe.get_loop().is_closed():
                probe.cancel()
        self._probes.clear()
        for endpoint in self.endpoints:
            await endpoint.close()

    def _probe_the_dead(self) -> None:
        """Look beside the calls whether the dead have come back, so that no call waits for it."""
        now = time.monotonic()
        for endpoint in self.endpoints:
            if endpoint.failures and endpoint.rests_until <= now:
                endpoint.rests_until = now + PROBE_LIMIT + FIRST_REST
                self._probes[endpoint] = asyncio.ensure_future(_probe(endpoint))


@lru_cache(maxsize=64)
def _timeout(limit: float) -> "ClientTimeout":
    from aiohttp import ClientTimeout

    return ClientTimeout(total=limit, sock_connect=CONNECT_LIMIT)


async def _probe(endpoint: ModelEndpoint) -> None:
    """Ask for anything: whatever the server says, it is there again."""
    try:
        await endpoint.get("/models", PROBE_LIMIT)
    except TryFailed as failed:
        if failed.kind != "unreachable":
            endpoint.rest()
    except ModelError:
        endpoint.rest()


async def _whole(content: Any, largest: int) -> bytes:
    chunks, size = [], 0
    while chunk := await content.readany():
        size += len(chunk)
        if size > largest:
            raise ReplyTooLong
        chunks.append(chunk)
    return b"".join(chunks)


def _as_ours(error: Exception) -> Exception:
    """Translate what aiohttp raises."""
    from aiohttp import ClientConnectorError, ClientSSLError, ConnectionTimeoutError

    if isinstance(error, ClientSSLError):
        return NotTrusted(str(error))
    if isinstance(error, ConnectionTimeoutError):
        return ConnectTimedOut()
    if isinstance(error, ClientConnectorError):
        return Unreachable(error.os_error.strerror or str(error.os_error))
    if isinstance(error, TimeoutError):
        return error
    return HungUp(f"{type(error).__name__}: {error}")


def _failure(error: Exception, base: str, seconds: float, largest: int = LARGEST) -> TryFailed:
    """Say how a try failed."""
    if isinstance(error, ReplyTooLong):
        return TryFailed(f"the reply is longer than {largest >> 20} MiB", passing=False)
    if isinstance(error, NotTrusted):
        message = f"{base} cannot be trusted: {redact(str(error))}"
        return TryFailed(message, passing=False, kind="unreachable")
    if isinstance(error, ConnectTimedOut):
        message = f"{base} cannot be reached: no connection within {CONNECT_LIMIT:.0f} s"
        return TryFailed(message, kind="unreachable")
    if isinstance(error, Unreachable):
        return TryFailed(f"{base} cannot be reached: {error}", kind="unreachable")
    if isinstance(error, TimeoutError):
        return TryFailed(f"{base} gave no reply within {seconds:.0f} s", kind="timeout")
    if isinstance(error, HungUp | NotHttp):
        return TryFailed(f"{base} broke off: {redact(str(error))}")
    return TryFailed(f"{base} broke off: {type(error).__name__}: {redact(str(error))}")


def _abandon(
    connections: Connections | None,
    session: "ClientSession | None",
    loop: asyncio.AbstractEventLoop | None,
) -> None:
    """Let go of the connections of another loop, which mostly has ended."""
    running = loop is not None and loop.is_running()
    if connections is not None and loop is not None and not loop.is_closed():
        loop.call_soon_threadsafe(connections.drop)
    if session is None:
        return
    if running and loop is not None:
        asyncio.run_coroutine_threadsafe(session.close(), loop)
        return
    connector = session.connector
    session.detach()
    if connector is not None:
        for _ in connector.close().__await__():
            break
