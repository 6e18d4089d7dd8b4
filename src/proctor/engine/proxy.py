"""A loopback address in OpenAI's protocol that passes calls on, and remembers them."""

import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from proctor import wire
from proctor.core.model import Upstream, Usage, cost_of
from proctor.core.suite import Json
from proctor.engine.proxy_calls import Heard, ProxyCall, heard_in, heard_in_stream, only_usage
from proctor.errors import UsageError

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

LARGEST = 64 * 1024 * 1024
LONGEST = 1800.0
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding",
        "host", "authorization", "api-key", "x-api-key", "accept-encoding", "cookie", "set-cookie",
        "upgrade", "te", "trailer", "proxy-authorization", "openai-organization"}  # fmt: skip
"""Headers that concern one connection, or that carry the keys of one side."""


@dataclass
class Proxy:
    """Pass calls on to one model, for sessions that are told apart by their address."""

    upstream: Upstream
    told: Callable[[ProxyCall], None] = lambda _: None
    """Is told each call as soon as it has ended."""
    address: str = ""
    """Where it listens, while it does."""
    _calls: dict[str, list[ProxyCall]] = field(default_factory=dict)
    _client: Any = None

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator["Proxy"]:
        """Listen on loopback until the end."""
        from aiohttp import ClientSession, ClientTimeout, web

        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/s/{session}/v1/{rest:.*}", self._pass_on)
        app.router.add_route("*", "/v1/{rest:.*}", self._pass_on)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        try:
            try:
                await site.start()
            except OSError as error:
                raise UsageError(
                    f"port {port} cannot be listened on: {error.strerror} (fix: --port N)"
                ) from None
            # Redirects are not followed: the key would go along.
            async with ClientSession(timeout=ClientTimeout(total=LONGEST)) as self._client:
                self.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
                yield self
        finally:
            await runner.cleanup()

    def open(self) -> str:
        """Return the name of a new session."""
        session = secrets.token_hex(16)
        self._calls[session] = []
        return session

    def env(self, session: str) -> dict[str, str]:
        """Return what points the usual clients at a session, by their environment."""
        base = f"{self.address}/s/{session}/v1"
        return {"OPENAI_BASE_URL": base, "OPENAI_API_BASE": base, "OPENAI_API_KEY": session}

    def taken(self, session: str) -> list[ProxyCall]:
        """Return the calls of a session since the last time."""
        found, self._calls[session] = self._calls.get(session, []), []
        return found

    def end(self, session: str) -> None:
        """Let nobody use a session any more."""
        self._calls.pop(session, None)

    async def _pass_on(self, request: "Request") -> "StreamResponse":
        from aiohttp import ClientError, web

        session = request.match_info.get("session", "")
        if session and session not in self._calls:
            return _refused(web, 404, "there is no such session")
        if _foreign(request.headers):
            return _refused(web, 403, "a page in a browser may not use this")
        rest = request.match_info["rest"]
        if ".." in rest.split("/"):
            return _refused(web, 400, "no such path")
        body, asked, own = _prepared(await request.read(), self.upstream.model)
        try:
            return await self._ask(request, rest, body, _Asked(session, rest, asked, own))
        except (ClientError, TimeoutError, OSError) as error:
            self._note(_Asked(session, rest, asked, own), 502, Heard(), 0.0)
            said = f"{self.upstream.destination.base} cannot be reached: {type(error).__name__}"
            return _refused(web, 502, said)

    async def _ask(
        self, request: "Request", rest: str, body: bytes, asked: "_Asked"
    ) -> "StreamResponse":
        from aiohttp import web

        started = time.monotonic()
        headers = {n: v for n, v in request.headers.items() if n.lower() not in _HOP}
        async with self._client.request(
            request.method,
            self.upstream.destination.url(f"/{rest}"),
            data=body or None,
            headers={**headers, **self.upstream.destination.headers},
            allow_redirects=False,
        ) as answer:
            passed = {n: v for n, v in answer.headers.items() if n.lower() not in _HOP}
            if "text/event-stream" not in answer.headers.get("content-type", ""):
                data = await answer.read()
                self._note(asked, answer.status, heard_in(data), time.monotonic() - started)
                return web.Response(status=answer.status, body=data, headers=passed)
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            whole = bytearray()
            try:
                async for event in _events(answer.content):
                    whole += event
                    if not (asked.own_usage and only_usage(event)):
                        await response.write(event)
            finally:
                took = time.monotonic() - started
                self._note(asked, answer.status, heard_in_stream(bytes(whole)), took)
            return response

    def _note(self, asked: "_Asked", status: int, heard: Heard, seconds: float) -> None:
        if not asked.asks:
            return
        usage = Usage(
            calls=1,
            prompt_tokens=heard.prompt_tokens,
            completion_tokens=heard.completion_tokens,
        )
        call = ProxyCall(
            session=asked.session,
            path=asked.rest,
            model=self.upstream.model or str(asked.body.get("model", "")),
            asked=asked.body.get("messages") or asked.body.get("input") or asked.body.get("prompt"),
            said=heard.said,
            tools=heard.tools,
            status=status,
            usage=replace(usage, cost=cost_of(self.upstream.price, usage)),
            seconds=seconds,
            at=time.time(),
        )
        if asked.session in self._calls:
            self._calls[asked.session].append(call)
        self.told(call)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Hold what a call asked for."""

    session: str
    rest: str
    body: Mapping[str, Json]
    own_usage: bool
    """Whether it was us who asked for tokens at the end of a stream."""

    @property
    def asks(self) -> bool:
        """Tell whether a model was asked something, and not only looked for."""
        return bool(self.body)


def _prepared(data: bytes, model: str) -> tuple[bytes, Mapping[str, Json], bool]:
    """Name the model that is meant, and ask for tokens at the end of a stream."""
    try:
        body = wire.loads(data) if data else {}
    except ValueError:
        return data, {}, False
    if not isinstance(body, dict) or not body:
        return data, {}, False
    if model and model != "none":
        body["model"] = model
    own = bool(body.get("stream")) and "messages" in body and "stream_options" not in body
    if own:
        body["stream_options"] = {"include_usage": True}
    return wire.dumps(body), body, own


def _foreign(headers: Mapping[str, str]) -> bool:
    """Tell whether a browser sends this for a page, which no agent does."""
    host = headers.get("Host", "").rpartition(":")[0] or headers.get("Host", "")
    return "Origin" in headers or host not in ("127.0.0.1", "localhost")


def _refused(web: Any, status: int, message: str) -> "StreamResponse":
    error = {"error": {"message": message, "type": "proctor_proxy"}}
    response: StreamResponse = web.json_response(error, status=status)
    return response


async def _events(content: Any) -> AsyncIterator[bytes]:
    """Cut a stream into its events, so that none is passed on in part."""
    waiting = b""
    async for part in content.iter_any():
        waiting += part
        *whole, waiting = waiting.split(b"\n\n")
        for event in whole:
            yield event + b"\n\n"
    if waiting:
        yield waiting
