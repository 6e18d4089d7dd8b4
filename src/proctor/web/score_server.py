"""The server of ``proctor serve``: outputs in, scores out, within limits."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from proctor.core.suite import Json
from proctor.engine.grading.column_scoring import Numbered
from proctor.engine.grading.output_grading import OutputGrading
from proctor.errors import UsageError
from proctor.io import json_bytes
from proctor.io.loopback import LOOPBACK
from proctor.web.score_document import NDJSON, openapi

if TYPE_CHECKING:
    import socket

    from aiohttp.web import Request, StreamResponse

SHORTEST_TOKEN = 16
BODY_SECONDS = 60.0
"""How long the body of a request may take."""
TAKING_SECONDS = 60.0
"""How long a client may go without reading results."""
RETRY_SECONDS = 1
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """What a server accepts."""

    body: int = 64 * 2**20
    """Bytes of a request."""
    outputs: int = 10_000
    """Outputs in a request."""
    queue: int = 20_000
    """Outputs that wait or are worked at; beyond, clients are asked to come again."""
    grace: float = 10.0
    """Seconds in which requests are completed once the server is told to stop."""


class RefusedRequest(Exception):
    """A request that is refused: status, reason and headers."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers


@dataclass
class ScoreServer:
    """A server over one grading: who may ask, for how much, and what is answered."""

    grading: OutputGrading
    suite: str
    limits: ServerLimits = field(default_factory=ServerLimits)
    hosts: Collection[str] = LOOPBACK
    """Names by which clients may call this server."""
    token: str | None = field(default=None, repr=False)
    stopping: bool = False
    _admitted: int = 0
    """Outputs of requests that are being answered."""

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise UsageError(f"the token must have at least {SHORTEST_TOKEN} characters")
        self._names = {host.strip("[]").lower() for host in self.hosts}

    @asynccontextmanager
    async def serving(self, listener: "socket.socket") -> AsyncIterator[None]:
        """Serve on a socket within the block; at its end, requests may be completed."""
        from aiohttp import web

        app = web.Application(client_max_size=self.limits.body)
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            handler_cancellation=True,
            shutdown_timeout=self.limits.grace,
        )
        await runner.setup()
        await web.SockSite(runner, listener, backlog=1024).start()
        try:
            yield
        finally:
            self.stopping = True
            await runner.cleanup()

    async def _answer(self, request: "Request") -> "StreamResponse":
        from aiohttp import web

        try:
            self._check_sender(request.headers, request.method)
            return await self._routed(request)
        except RefusedRequest as refusal:
            answer = {"error": {"status": refusal.status, "message": str(refusal)}}
            headers = {**HEADERS, **refusal.headers}
            if request.can_read_body:
                headers["Connection"] = "close"
            return web.Response(
                body=json_bytes.dumps(answer),
                status=refusal.status,
                content_type="application/json",
                headers=headers,
            )

    async def _routed(self, request: "Request") -> "StreamResponse":
        authorized = self._is_authorized(request.headers.get("Authorization", ""))
        match request.method, request.path:
            case "GET" | "HEAD", "/healthz":
                return _json(self._health(whole=authorized))
            case _ if not authorized:
                raise RefusedRequest(
                    401,
                    "a token is needed: Authorization: Bearer TOKEN",
                    **{"WWW-Authenticate": "Bearer"},
                )
            case "GET" | "HEAD", "/openapi.json":
                return _json(openapi(self.limits.outputs))
            case "POST", "/score":
                return await self._score(request)
            case _, "/score":
                raise RefusedRequest(405, "outputs are sent by POST", Allow="POST")
            case _, "/healthz" | "/openapi.json":
                raise RefusedRequest(405, "this is only read", Allow="GET, HEAD")
        raise RefusedRequest(404, "there is POST /score, GET /healthz and GET /openapi.json")

    def _check_sender(self, headers: Mapping[str, str], method: str) -> None:
        """Refuse pages in browsers, and names that were rebound to this machine."""
        if _host_name(headers.get("Host", "")) not in self._names:
            raise RefusedRequest(421, "this server does not accept that Host header")
        site = headers.get("Sec-Fetch-Site", "none")
        if "Origin" in headers or site not in ("none", "same-origin"):
            raise RefusedRequest(403, "a page in a browser may not use this")

    def _is_authorized(self, authorization: str) -> bool:
        if self.token is None:
            return True
        kind, _, presented = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(
            presented.strip().encode("utf-8", "replace"), self.token.encode()
        )

    def _health(self, *, whole: bool) -> dict[str, Json]:
        state: dict[str, Json] = {"status": "stopping" if self.stopping else "ok"}
        if whole:
            counts = self.grading.counts
            state |= {
                "suite": self.suite,
                "cases": len(self.grading.cases),
                "pending": self._admitted,
                "graded": counts.graded,
                "unscored": counts.unscored,
                "late": counts.late,
                "slowest": [
                    {"case": one.case_id, "seconds": round(one.seconds, 3)}
                    for one in counts.slow_outputs()
                ],
            }
        return state

    async def _score(self, request: "Request") -> "StreamResponse":
        if request.content_type != "application/json":
            raise RefusedRequest(415, "the body must be application/json")
        if self.stopping:
            raise RefusedRequest(503, "the server is stopping", **{"Retry-After": "10"})
        self._check_room(1)
        single, outputs = self._read_outputs(await self._body(request))
        self._check_room(len(outputs))
        self._admitted += len(outputs)
        try:
            if single:
                result = await self.grading.grade(*outputs[0])
                return _json(result.to_json())
            return await self._stream(request, outputs)
        finally:
            self._admitted -= len(outputs)

    def _check_room(self, outputs: int) -> None:
        if self._admitted + outputs > self.limits.queue and (self._admitted or outputs == 1):
            raise RefusedRequest(
                429,
                f"{self._admitted} outputs are waiting; try again later",
                **{"Retry-After": str(RETRY_SECONDS)},
            )

    async def _body(self, request: "Request") -> bytes:
        from aiohttp import web

        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await request.read()
        except TimeoutError:
            raise RefusedRequest(408, "the request was not completed in time") from None
        except web.HTTPRequestEntityTooLarge:
            most = self.limits.body
            raise RefusedRequest(413, f"the body has more than {most:,} bytes") from None

    def _read_outputs(self, body: bytes) -> tuple[bool, list[Numbered]]:
        """Return the outputs of a request with their cases, and whether it is a single one."""
        try:
            data = json_bytes.loads(body)
        except (ValueError, RecursionError) as error:
            raise RefusedRequest(400, f"the body is not JSON: {error}"[:300]) from None
        if isinstance(data, Mapping) and "outputs" not in data:
            return True, [self._numbered(0, data)]
        rows = data.get("outputs") if isinstance(data, Mapping) else data
        if not isinstance(rows, list):
            raise RefusedRequest(400, 'expected {"case": …, "output": …} or {"outputs": […]}')
        if len(rows) > self.limits.outputs:
            raise RefusedRequest(
                413, f"{len(rows):,} outputs; a request may have {self.limits.outputs:,}"
            )
        return False, [self._numbered(index, row) for index, row in enumerate(rows)]

    def _numbered(self, index: int, row: Json) -> Numbered:
        if not isinstance(row, Mapping) or not {*row} <= {"case", "output"} or "output" not in row:
            raise RefusedRequest(
                400, f'output {index}: expected an object with "case" and "output"'
            )
        case_id, output = row.get("case"), row["output"]
        if not isinstance(case_id, str):
            raise RefusedRequest(400, f'output {index}: "case" must be the id of a case')
        if not isinstance(output, str | None):
            raise RefusedRequest(
                400, f'output {index}: "output" must be a text, or null for no answer'
            )
        try:
            return index, self.grading.find_case(case_id), output
        except UsageError as error:
            raise RefusedRequest(404, f"output {index}: {error}") from None

    async def _stream(self, request: "Request", outputs: list[Numbered]) -> "StreamResponse":
        from aiohttp import web

        response = web.StreamResponse(headers={**HEADERS, "Content-Type": NDJSON})
        await response.prepare(request)
        try:
            async with aclosing(self.grading.stream(outputs)) as results:
                async for result in results:
                    async with asyncio.timeout(TAKING_SECONDS):
                        await response.write(json_bytes.dumps(result.to_json()) + b"\n")
        except (ConnectionError, TimeoutError):
            # Nobody reads any more: what is left is not scored.
            if request.transport is not None:
                request.transport.abort()
        return response


def _json(data: Mapping[str, Json]) -> "StreamResponse":
    from aiohttp import web

    return web.Response(
        body=json_bytes.dumps(data), content_type="application/json", headers=HEADERS
    )


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
