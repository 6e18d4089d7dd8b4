"""A loopback address in the protocols of models that passes calls on, and remembers them."""

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from proctor.core.exchange import Reply, Upstream, Usage, cost_of
from proctor.core.suite import Json
from proctor.engine.models.budget import Budget, PricedRequest, tokens
from proctor.engine.models.proxy_calls import (
    ProxiedReply,
    ProxyCall,
    heard_in,
    heard_in_stream,
    only_usage,
)
from proctor.engine.models.proxy_rules import passed_headers, path_for, refusal_of, refusal_to
from proctor.errors import BudgetError, UsageError
from proctor.io import json_bytes
from proctor.io.event_stream import MEDIA_TYPE, events
from proctor.io.redaction import SECRETS, redact, redact_body, redact_json

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

LARGEST = 64 * 1024 * 1024
"""Bytes of a request, and of a response."""
LONGEST = 1800.0
BODY_SECONDS = 120.0
"""Seconds in which the body of a request must have come."""
SHORTEST_SECRET = 16
_SECRET = re.compile(r"[A-Za-z0-9_-]+")
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@dataclass
class Proxy:
    """Pass calls on to one model, for sessions that are told apart by their address.

    The address of a session holds a secret: whoever does not know it is not served.
    """

    upstream: Upstream
    budget: Budget = field(default_factory=Budget)
    """What the calls may cost, together with those of others."""
    told: Callable[[ProxyCall], None] = lambda _: None
    """Is told each call as soon as it has ended."""
    address: str = ""
    """Where it listens, while it does."""
    _port: int = 0
    _calls: dict[str, list[ProxyCall]] = field(default_factory=dict, repr=False)
    """The calls of each session, by its secret."""
    _refused: dict[str, BudgetError] = field(default_factory=dict, repr=False)
    """Sessions of which a call was not passed on for lack of money."""
    _client: Any = None

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator["Proxy"]:
        """Listen on loopback until the end."""
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web

        SECRETS.add_headers(self.upstream.destination.headers)
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{rest:.*}", self._serve)
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
            async with ClientSession(
                timeout=ClientTimeout(total=LONGEST), cookie_jar=DummyCookieJar()
            ) as self._client:
                self._port = runner.addresses[0][1]
                self.address = f"http://127.0.0.1:{self._port}"
                yield self
        finally:
            await runner.cleanup()

    def open(self, secret: str | None = None) -> str:
        """Begin a session, and return the secret in its address."""
        if secret and (len(secret) < SHORTEST_SECRET or not _SECRET.fullmatch(secret)):
            raise UsageError(
                f"the secret must have at least {SHORTEST_SECRET} letters, digits, - or _"
            )
        made = secret or secrets.token_urlsafe(32)
        self._calls[made] = []
        return made

    def base(self, session: str) -> str:
        """Return the base URL of a session."""
        return f"{self.address}/{session}/v1"

    def env(self, session: str) -> dict[str, str]:
        """Return what points the usual clients at a session, by their environment."""
        base = self.base(session)
        return {"OPENAI_BASE_URL": base, "OPENAI_API_BASE": base, "OPENAI_API_KEY": "none"}

    def taken(self, session: str) -> list[ProxyCall]:
        """Return the calls of a session since the last time."""
        found, self._calls[session] = self._calls.get(session, []), []
        return found

    def check(self, session: str) -> None:
        """Raise a BudgetError where a call of a session was refused for lack of money."""
        if (error := self._refused.get(session)) is not None:
            raise error

    def end(self, session: str) -> None:
        """Let nobody use a session any more."""
        self._calls.pop(session, None)
        self._refused.pop(session, None)

    async def _serve(self, request: "Request") -> "StreamResponse":
        """Answer one request; who asks and what for is settled before its body is read."""
        from aiohttp import web

        refusal = refusal_of(request.headers.items(), self._port)
        if refusal is not None:
            return _refused(web, *refusal)
        secret, _, rest = request.rel_url.raw_path.lstrip("/").partition("/")
        session = self._session(secret)
        version, _, path = rest.partition("/")
        if session is None or version != "v1":
            return _refused(web, 404, "use the base URL that Proctor names: it holds a secret")
        refusal = refusal_to(request.method, path)
        if refusal is not None:
            return _refused(web, *refusal)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                data = await request.read()
        except TimeoutError:
            return _refused(web, 408, "the request did not come to its end")
        body, own = _prepared(data, path, self.upstream.model)
        if body is None:
            return _refused(web, 400, "the body of a call is a JSON object")
        return await self._pass_on(request, _ProxiedRequest(session, path, body, own))

    def _session(self, secret: str) -> str | None:
        """Return the session of a secret; how long it takes tells nothing about the others."""
        given = secret.encode("utf-8", "replace")
        known = [one for one in self._calls if hmac.compare_digest(one.encode(), given)]
        return known[0] if known else None

    async def _pass_on(self, request: "Request", asked: "_ProxiedRequest") -> "StreamResponse":
        from aiohttp import ClientError, web

        try:
            async with self._paid(asked):
                return await self._ask(request, asked)
        except BudgetError as error:
            self._refused[asked.session] = error
            return _refused(web, 402, str(error))
        except _TooLong:
            said = f"the response is longer than {LARGEST >> 20} MiB"
        except (ClientError, TimeoutError, OSError) as error:
            base = self.upstream.destination.base
            said = f"{base} cannot be reached: {type(error).__name__}"
        self._note(asked, 502, ProxiedReply(), 0.0)
        return _refused(web, 502, said)

    @asynccontextmanager
    async def _paid(self, asked: "_ProxiedRequest") -> AsyncIterator[None]:
        """Set money aside for a call, as long as it lasts, or raise a BudgetError."""
        if not asked.body:
            yield
            return
        priced = PricedRequest(
            f"{self.upstream.destination.base} {self.upstream.model} agent",
            tokens(json_bytes.dumps(asked.question).decode()),
            asked.most,
            self.upstream.price,
        )
        reserved = await self.budget.reserve(priced)
        try:
            yield
        finally:
            self.budget.settle(reserved, priced, asked.reply)

    async def _ask(self, request: "Request", asked: "_ProxiedRequest") -> "StreamResponse":
        from aiohttp import web

        started = time.monotonic()
        destination = self.upstream.destination
        async with self._client.request(
            request.method,
            destination.url(f"/{path_for(asked.path, self.upstream.model)}"),
            data=json_bytes.dumps(asked.body) if asked.body else None,
            headers={**passed_headers(request.headers), **destination.headers},
            allow_redirects=False,
        ) as answer:
            passed = {**passed_headers(answer.headers), **_HEADERS}
            if MEDIA_TYPE not in answer.headers.get("content-type", ""):
                data = redact_body(await _whole(answer.content))
                self._note(asked, answer.status, heard_in(data), time.monotonic() - started)
                return web.Response(status=answer.status, body=data, headers=passed)
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            whole = bytearray()
            try:
                async for event in events(answer.content.iter_any(), LARGEST):
                    whole += event
                    if len(whole) > LARGEST:
                        break
                    if not (asked.own_usage and only_usage(event)):
                        await response.write(redact_body(event))
            finally:
                took = time.monotonic() - started
                self._note(asked, answer.status, heard_in_stream(bytes(whole)), took)
            return response

    def _note(
        self, asked: "_ProxiedRequest", status: int, heard: ProxiedReply, seconds: float
    ) -> None:
        if not asked.body:
            return
        usage = Usage(
            calls=1,
            prompt_tokens=heard.prompt_tokens,
            completion_tokens=heard.completion_tokens,
        )
        body = asked.body
        call = ProxyCall(
            path=asked.path,
            model=self.upstream.model or redact(str(body.get("model", ""))),
            asked=redact_json(asked.question),
            said=redact(heard.said),
            tools=tuple(redact_json(list(heard.tools))),
            status=status,
            usage=replace(usage, cost=cost_of(self.upstream.price, usage)),
            seconds=seconds,
            at=time.time(),
        )
        if status < 400:
            asked.reply = Reply(text=heard.said, usage=call.usage)
        if asked.session in self._calls:
            self._calls[asked.session].append(call)
        self.told(call)


@dataclass(slots=True)
class _ProxiedRequest:
    """What a call asked for, and what came of it."""

    session: str = field(repr=False)
    path: str
    body: Mapping[str, Json]
    """Empty where a model was not asked, but only looked for."""
    own_usage: bool
    """Whether it was us who asked for tokens at the end of a stream."""
    reply: Reply | None = None

    @property
    def question(self) -> Json:
        """Return the messages, under whatever name they go."""
        body = self.body
        return body.get("messages") or body.get("input") or body.get("prompt")

    @property
    def most(self) -> int | None:
        """Return the limit of tokens of the reply, where there is one."""
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        given = next((self.body[name] for name in names if self.body.get(name)), None)
        return given if isinstance(given, int) and given > 0 else None


class _TooLong(Exception):
    """A response that is longer than any can be."""


def _prepared(data: bytes, path: str, model: str) -> tuple[dict[str, Json] | None, bool]:
    """Name the model that is meant, and ask for tokens at the end of a stream; none for no JSON."""
    try:
        body = json_bytes.loads(data) if data else {}
    except (ValueError, RecursionError):
        return None, False
    if not isinstance(body, dict):
        return None, False
    if body and model and model != "none" and not path.startswith("models/"):
        body["model"] = model
    chat = path == "chat/completions"
    own = chat and bool(body.get("stream")) and "stream_options" not in body
    if own:
        body["stream_options"] = {"include_usage": True}
    return body, own


def _refused(web: Any, status: int, message: str) -> "StreamResponse":
    error = {"error": {"message": message, "type": "proctor_proxy"}}
    response: StreamResponse = web.json_response(error, status=status, headers=_HEADERS)
    return response


async def _whole(content: Any) -> bytes:
    found = bytearray()
    async for part in content.iter_any():
        found += part
        if len(found) > LARGEST:
            raise _TooLong
    return bytes(found)
