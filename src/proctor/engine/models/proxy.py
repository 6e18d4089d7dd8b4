"""A local proxy for model protocols that forwards calls, by rules, and records them."""

import asyncio
import hmac
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from proctor.core.exchange import (
    CHAT,
    GEMINI,
    MESSAGES,
    RESPONSES,
    ProxiedExchange,
    Reply,
    Upstream,
    cost_of,
)
from proctor.core.suite import Json
from proctor.engine.models.budget import Budget, PricedRequest, tokens
from proctor.engine.models.proxied_replies import (
    ProxiedReply,
    only_usage,
    reply_in,
    reply_in_stream,
)
from proctor.engine.models.proxy_call import QUESTIONS, ProxyCall, settings_of
from proctor.errors import BudgetError, UsageError
from proctor.io import json_bytes
from proctor.io.event_stream import MEDIA_TYPE, events
from proctor.io.redaction import SECRETS, is_secret_name, redact, redact_body, redact_json

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse
    from multidict import MultiMapping

_SEGMENT = r"(?!\.(?:[/:]|$))(?:[\w.@~-]|%(?!00)[0-9a-fA-F]{2})+"
_MODEL = rf"{_SEGMENT}(?:[/:]{_SEGMENT})*"
_LISTED = (
    ("POST", re.compile(r"chat/completions|completions|responses|embeddings", re.A)),
    ("POST", re.compile(r"messages(?:/count_tokens)?", re.A)),
    ("POST", re.compile(rf"models/{_MODEL}:(?:g|streamG)enerateContent", re.A)),
    ("GET", re.compile(rf"models(?:/{_MODEL})?", re.A)),
)
"""Paths of model calls; everything else (files, keys, fine-tuning) is refused."""
COUNTING = "messages/count_tokens"
"""The path of a question for a number of tokens, which is no call of a model."""
_VERSIONS = ("v1", "v1beta")
_QUERY = {"alt": "sse", "beta": "true"}
"""What of an address's query is passed on; a key in it is not."""
PROXY_URL, PROXY_SOCKET = "PROCTOR_PROXY_URL", "PROCTOR_PROXY_SOCKET"
PROXY_MODEL = "PROCTOR_PROXY_MODEL"
"""The variables by which agents that Proctor knows find the proxy."""
_ONE_CONNECTION = {
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "content-length", "content-encoding", "accept-encoding", "expect", "host", "alt-svc",
}  # fmt: skip
_OF_ONE_SIDE = re.compile(
    r"sec-.*|access-control-.*|forwarded|x-forwarded-.*|x-real-ip|origin|referer|via|proxy-.*"
    r"|openai-organization|openai-project",
)
_HARMLESS = re.compile(r"idempotency-key|(?:x|anthropic)-ratelimit-.*")
"""Headers that only look as if they carried a key."""


class ProxyRefusal(NamedTuple):
    """Reason why a request is refused."""

    status: int
    message: str


def refusal_of(headers: Iterable[tuple[str, str]], port: int) -> ProxyRefusal | None:
    """Return why a request with these headers is refused; only local programs may ask.

    A browser adds ``Origin`` or ``Sec-Fetch-Site`` to cross-site requests, and ``Host`` shows a
    name that was rebound to this machine.
    """
    named = [(name.lower(), value) for name, value in headers]
    hosts = [value for name, value in named if name == "host"]
    if len(hosts) != 1 or not _is_here(hosts[0], port):
        return ProxyRefusal(403, "this is not the host of the proxy")
    sites = [value for name, value in named if name == "sec-fetch-site"]
    if any(name == "origin" for name, _ in named) or any(site != "none" for site in sites):
        return ProxyRefusal(403, "a page in a browser may not use this")
    return None


def refusal_to(method: str, path: str) -> ProxyRefusal | None:
    """Return why a path is not forwarded."""
    methods = {listed for listed, pattern in _LISTED if pattern.fullmatch(path)}
    if not methods or ".." in unquote(path):
        return ProxyRefusal(
            404, "only calls of models are passed on: chat completions and the like"
        )
    if method not in methods:
        return ProxyRefusal(405, f"{path} takes {', '.join(sorted(methods))}")
    return None


def api_of(path: str) -> str:
    """Return the API that a path belongs to; empty where several have it."""
    if path.startswith("messages"):
        return MESSAGES
    if path in ("chat/completions", "completions"):
        return CHAT
    if path == "responses":
        return RESPONSES
    return GEMINI if path.endswith("GenerateContent") or ":generate" in path else ""


def path_for(path: str, model: str) -> str:
    """Return the path with the upstream model, if the path names the model."""
    name, mark, call = path.rpartition(":")
    if not mark or not model or model == "none" or not name.startswith("models/"):
        return path
    return f"models/{model}:{call}"


def passed_headers(headers: "MultiMapping[str]") -> dict[str, str]:
    """Return the end-to-end headers, without hop-by-hop ones, cookies and keys."""
    own = {w.strip().lower() for line in headers.getall("Connection", []) for w in line.split(",")}
    return {
        name: redact(value)
        for name, value in headers.items()
        if (low := name.lower()) not in _ONE_CONNECTION
        and low not in own
        and not _OF_ONE_SIDE.fullmatch(low)
        and (_HARMLESS.fullmatch(low) or not is_secret_name(low))
    }


def _is_here(host: str, port: int) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        host_port = parts.port
    except ValueError:
        return False
    return parts.hostname in ("127.0.0.1", "localhost") and host_port == port and "@" not in host


LARGEST = 64 * 1024 * 1024
"""Bytes of a request, and of a response."""
LONGEST = 1800.0
BODY_SECONDS = 120.0
"""Time limit for the body of a request, in seconds."""
_PROVIDER_FAULTS = frozenset({401, 403, 408, 429})
SHORTEST_SECRET = 16
_SECRET = re.compile(r"[A-Za-z0-9_-]+")
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@dataclass
class ModelProxy:
    """Proxy to one model, with sessions that differ in their address.

    The address of a session contains a secret, without which nothing is served.
    """

    upstream: Upstream
    budget: Budget = field(default_factory=Budget)
    """The budget that the calls share with others."""
    on_call: Callable[[ProxyCall], None] = lambda _: None
    """Callback for each finished call."""
    on_exchange: Callable[[ProxiedExchange], None] = lambda _: None
    """Callback for each finished call as it was sent and answered, for a cassette."""
    address: str = ""
    """The address while it listens."""
    socket: str = ""
    """The socket at which it listens as well, for agents without a network."""
    _port: int = 0
    _calls: dict[str, list[ProxyCall]] = field(default_factory=dict, repr=False)
    """The calls of each session, by its secret."""
    _refused: dict[str, BudgetError] = field(default_factory=dict, repr=False)
    """Sessions with a call that was refused for lack of money."""
    _failed: dict[str, str] = field(default_factory=dict, repr=False)
    """Why the last call of a session failed for a reason of the provider's."""
    _whose: dict[str, tuple[str, int]] = field(default_factory=dict, repr=False)
    """The case and attempt of each session."""
    _begun: dict[str, int] = field(default_factory=dict, repr=False)
    """How many calls each session has begun."""
    _client: Any = None

    @asynccontextmanager
    async def serving(self, port: int = 0, *, socket: bool = False) -> AsyncIterator["ModelProxy"]:
        """Listen on this machine within the block, also at a socket if one is wanted."""
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web

        SECRETS.add_headers(self.upstream.destination.headers)
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{rest:.*}", self._serve)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        folder = mkdtemp(prefix="proctor-proxy-") if socket else ""
        try:
            try:
                await site.start()
                if folder:
                    self.socket = os.path.join(folder, "socket")
                    await web.UnixSite(runner, self.socket).start()
            except OSError as error:
                raise UsageError(
                    f"port {port} cannot be listened on: {error.strerror} (fix: --port N)"
                ) from None
            # Redirects are not followed: they would receive the key.
            async with ClientSession(
                timeout=ClientTimeout(total=LONGEST), cookie_jar=DummyCookieJar()
            ) as self._client:
                self._port = next(a[1] for a in runner.addresses if isinstance(a, tuple))
                self.address = f"http://127.0.0.1:{self._port}"
                yield self
        finally:
            await runner.cleanup()
            self.socket = ""
            if folder:
                shutil.rmtree(folder, ignore_errors=True)

    def open(self, secret: str | None = None, *, case: str = "", index: int = 0) -> str:
        """Begin a session, and return the secret in its address."""
        if secret and (len(secret) < SHORTEST_SECRET or not _SECRET.fullmatch(secret)):
            raise UsageError(
                f"the secret must have at least {SHORTEST_SECRET} letters, digits, - or _"
            )
        session_secret = secret or secrets.token_urlsafe(32)
        self._calls[session_secret] = []
        self._whose[session_secret] = (case, index)
        return session_secret

    def base(self, session: str) -> str:
        """Return the base URL of a session."""
        return f"{self.address}/{session}/v1"

    def env(self, session: str) -> dict[str, str]:
        """Return the environment variables that point common clients at a session."""
        base, root = self.base(session), f"{self.address}/{session}"
        speaks = self.upstream.speaks
        env = {PROXY_URL: root, PROXY_SOCKET: self.socket, PROXY_MODEL: self.upstream.model}
        if not speaks or CHAT in speaks or RESPONSES in speaks:
            env |= {"OPENAI_BASE_URL": base, "OPENAI_API_BASE": base, "OPENAI_API_KEY": "none"}
        if MESSAGES in speaks and RESPONSES not in speaks:
            env |= {"ANTHROPIC_BASE_URL": root, "ANTHROPIC_API_KEY": "none"}
        if GEMINI in speaks:
            env |= {"GOOGLE_GEMINI_BASE_URL": root, "GEMINI_API_KEY": "none"}
        return env

    def taken(self, session: str) -> list[ProxyCall]:
        """Return the calls of a session since the last time."""
        calls, self._calls[session] = self._calls.get(session, []), []
        return calls

    def check(self, session: str) -> None:
        """Raise a BudgetError if a call of a session was refused for lack of money."""
        if (error := self._refused.get(session)) is not None:
            raise error

    def provider_fault(self, session: str) -> str:
        """Return why the last call of a session had no answer, if that is the provider's fault."""
        return self._failed.get(session, "")

    def end(self, session: str) -> None:
        """Close a session."""
        self._calls.pop(session, None)
        for kept in (self._refused, self._failed, self._whose, self._begun):
            kept.pop(session, None)

    async def _serve(self, request: "Request") -> "StreamResponse":
        """Serve one request; sender and path are checked before its body is read."""
        from aiohttp import web

        refusal = refusal_of(request.headers.items(), self._port)
        if refusal is not None:
            return _refused(web, *refusal)
        secret, _, rest = request.rel_url.raw_path.lstrip("/").partition("/")
        session = self._session(secret)
        version, _, path = rest.partition("/")
        if session is None or version not in _VERSIONS:
            return _refused(web, 404, "use the base URL that Proctor names: it holds a secret")
        refusal = refusal_to(request.method, path) or self._not_spoken(path)
        if refusal is not None:
            return _refused(web, *refusal)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                data = await request.read()
        except TimeoutError:
            return _refused(web, 408, "the request was not completed in time")
        body, own = _prepared(data, path, self.upstream.model)
        if body is None:
            return _refused(web, 400, "the body of a call is a JSON object")
        return await self._pass_on(request, _ProxiedRequest(session, path, body, own))

    def _not_spoken(self, path: str) -> ProxyRefusal | None:
        """Return why a call is refused that the model behind the proxy does not take."""
        api, speaks = api_of(path), self.upstream.speaks
        if not api or not speaks or api in speaks:
            return None
        return ProxyRefusal(
            404, f"{self.upstream.model} is not asked by {api}, but by {', '.join(sorted(speaks))}"
        )

    def _session(self, secret: str) -> str | None:
        """Return the session of a secret, in constant time."""
        presented = secret.encode("utf-8", "replace")
        sessions = [one for one in self._calls if hmac.compare_digest(one.encode(), presented)]
        return sessions[0] if sessions else None

    async def _pass_on(self, request: "Request", proxied: "_ProxiedRequest") -> "StreamResponse":
        from aiohttp import ClientError, web

        try:
            async with self._paid(proxied):
                return await self._ask(request, proxied)
        except BudgetError as error:
            self._refused[proxied.session] = error
            return _refused(web, 402, str(error))
        except _TooLong:
            message = f"the response is longer than {LARGEST >> 20} MiB"
        except (ClientError, TimeoutError, OSError) as error:
            base = self.upstream.destination.base
            message = f"{base} cannot be reached: {type(error).__name__}"
            self._failed[proxied.session] = message
        self._note(proxied, 502, ProxiedReply(), 0.0)
        return _refused(web, 502, message)

    @asynccontextmanager
    async def _paid(self, proxied: "_ProxiedRequest") -> AsyncIterator[None]:
        """Reserve money for a call while it runs, or raise a BudgetError."""
        if not proxied.counts:
            yield
            return
        priced = PricedRequest(
            f"{self.upstream.destination.base} {self.upstream.model} agent",
            tokens(json_bytes.dumps(proxied.body).decode()),
            proxied.most,
            self.upstream.price,
        )
        reserved = await self.budget.reserve(priced)
        try:
            yield
        finally:
            self.budget.settle(reserved, priced, proxied.reply)

    async def _ask(self, request: "Request", proxied: "_ProxiedRequest") -> "StreamResponse":
        from aiohttp import web

        started = time.monotonic()
        destination = self.upstream.destination
        if self.upstream.exchanges is not None:
            return self._played_back(web, proxied)
        place = self._place(proxied)
        query = "&".join(f"{k}={v}" for k, v in _QUERY.items() if request.query.get(k) == v)
        async with self._client.request(
            request.method,
            destination.url(f"/{path_for(proxied.path, self.upstream.model)}")
            + (f"?{query}" if query else ""),
            data=json_bytes.dumps(proxied.body) if proxied.body else None,
            headers={**passed_headers(request.headers), **destination.headers},
            allow_redirects=False,
        ) as answer:
            passed = {**passed_headers(answer.headers), **_HEADERS}
            self._judge(proxied, answer.status)
            if MEDIA_TYPE not in answer.headers.get("content-type", ""):
                data = redact_body(await _whole(answer.content))
                self._note(proxied, answer.status, reply_in(data), time.monotonic() - started)
                self._keep(proxied, place, answer, data)
                return web.Response(status=answer.status, body=data, headers=passed)
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            whole = bytearray()
            try:
                async for event in events(answer.content.iter_any(), LARGEST):
                    whole += event
                    if len(whole) > LARGEST:
                        break
                    if not (proxied.own_usage and only_usage(event)):
                        await response.write(redact_body(event))
            finally:
                took = time.monotonic() - started
                self._note(proxied, answer.status, reply_in_stream(bytes(whole)), took)
            self._keep(proxied, place, answer, redact_body(bytes(whole)))
            return response

    def _place(self, proxied: "_ProxiedRequest") -> int:
        """Return the number of a call within its session."""
        place = self._begun.get(proxied.session, 0)
        if proxied.body:
            self._begun[proxied.session] = place + 1
        return place

    def _judge(self, proxied: "_ProxiedRequest", status: int) -> None:
        """Note whether a call failed for a reason that is the provider's, or an earlier did."""
        if status in _PROVIDER_FAULTS or status >= 500:
            self._failed[proxied.session] = (
                f"the model behind the proxy answered with status {status}"
            )
        elif status < 400 and proxied.body:
            self._failed.pop(proxied.session, None)

    def _keep(self, proxied: "_ProxiedRequest", place: int, answer: Any, data: bytes) -> None:
        """Hand an exchange to the cassette."""
        if not proxied.body or answer.status >= 400:
            return
        case, index = self._whose.get(proxied.session, ("", 0))
        self.on_exchange(
            ProxiedExchange(
                case=case,
                index=index,
                place=place,
                path=proxied.path,
                status=answer.status,
                kind=answer.headers.get("content-type", ""),
                body=data.decode("utf-8", "replace"),
            )
        )

    def _played_back(self, web: Any, proxied: "_ProxiedRequest") -> "StreamResponse":
        """Answer from a cassette: the call of the same place in the same attempt at the case."""
        assert self.upstream.exchanges is not None
        case, index = self._whose.get(proxied.session, ("", 0))
        place = self._place(proxied)
        exchange = self.upstream.exchanges.get((case, index, place))
        if exchange is None or api_of(exchange.path) != api_of(proxied.path):
            message = f"the cassette has no call {place + 1} of {case or 'this session'!r} to "
            return _refused(web, 404, message + proxied.path)
        data = exchange.body.encode()
        read = reply_in_stream if MEDIA_TYPE in exchange.kind else reply_in
        self._note(proxied, exchange.status, read(data), 0.0)
        headers = {**_HEADERS, "Content-Type": exchange.kind or "application/json"}
        response: StreamResponse = web.Response(status=exchange.status, body=data, headers=headers)
        return response

    def _note(
        self, proxied: "_ProxiedRequest", status: int, proxied_reply: ProxiedReply, seconds: float
    ) -> None:
        if not proxied.counts:
            return
        usage = replace(proxied_reply.usage, calls=1)
        rates = self.upstream.rates
        cost = cost_of(self.upstream.price, usage) if rates is None else rates.cost(usage)
        body = proxied.body
        call = ProxyCall(
            path=proxied.path,
            model=self.upstream.model or redact(str(body.get("model", ""))),
            request_messages=redact_json(proxied.question),
            settings=redact_json(proxied.settings),
            reply_text=redact(proxied_reply.text),
            tools=tuple(redact_json(list(proxied_reply.tools))),
            status=status,
            usage=replace(usage, cost=cost),
            seconds=seconds,
            at=time.time(),
        )
        if status < 400:
            proxied.reply = Reply(text=proxied_reply.text, usage=call.usage)
        if proxied.session in self._calls:
            self._calls[proxied.session].append(call)
        self.on_call(call)


@dataclass(slots=True)
class _ProxiedRequest:
    """A forwarded request and its outcome."""

    session: str = field(repr=False)
    path: str
    body: Mapping[str, Json]
    """Empty for requests about models, such as their list."""
    own_usage: bool
    """Whether the proxy requested token counts at the end of a stream."""
    reply: Reply | None = None

    @property
    def question(self) -> Json:
        """Return the messages, whatever the protocol calls them."""
        return next((self.body[name] for name in QUESTIONS if self.body.get(name)), None)

    @property
    def settings(self) -> dict[str, Json]:
        """Return the rest of the request."""
        return settings_of(self.body)

    @property
    def counts(self) -> bool:
        """Tell whether it is a call of a model, which has a price."""
        return bool(self.body) and self.path != COUNTING

    @property
    def most(self) -> int | None:
        """Return the token limit of the reply, if any."""
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        config = self.body.get("generationConfig")
        limit = next((self.body[name] for name in names if self.body.get(name)), None)
        if limit is None and isinstance(config, Mapping):
            limit = config.get("maxOutputTokens")
        return limit if isinstance(limit, int) and limit > 0 else None


class _TooLong(Exception):
    """A response above the size limit."""


def _prepared(data: bytes, path: str, model: str) -> tuple[dict[str, Json] | None, bool]:
    """Set the model, and request token counts at the end of a stream; None if it is not JSON."""
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
    content_bytes = bytearray()
    async for part in content.iter_any():
        content_bytes += part
        if len(content_bytes) > LARGEST:
            raise _TooLong
    return bytes(content_bytes)
