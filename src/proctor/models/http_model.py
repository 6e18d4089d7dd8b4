"""What all models behind a server share: keys, retries, limits, health checks, what a call took."""

import asyncio
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from json import JSONDecodeError
from typing import ClassVar

from proctor.contracts.model import Model, ModelListener
from proctor.contracts.redacted import redact_reply
from proctor.core.access import Destination
from proctor.core.exchange import (
    Rates,
    Reply,
    ReplyShape,
    Request,
    Sampling,
    Upstream,
    Usage,
)
from proctor.core.suite import Json, Message, ToolCall
from proctor.errors import ModelError, UsageError
from proctor.io import concurrency as concurrency_module
from proctor.io import json_bytes
from proctor.io.redaction import SECRETS, redact
from proctor.models.endpoints import (
    Endpoints,
    HttpAnswer,
    ModelEndpoint,
    base_of,
    is_loopback,
    is_private,
)
from proctor.models.prices import rates_of
from proctor.models.rate_limit import Limiter
from proctor.models.refused_fields import (
    LADDER,
    STATUSES,
    Lessons,
    Refusal,
    adjusted,
    changes,
    code_of,
    drop,
    error_message,
    learn_field,
    lessons_about,
    nested,
    on_ladder,
)
from proctor.models.retrying import Retrying, TryFailed, seconds_of

OPEN, CLOSE = "<think>", "</think>"


def split(text: str) -> tuple[str, str | None]:
    """Return the thinking and the answer; none where there is thinking and nothing after it.

    Blocks count from the start of the text; the answer is what comes after the last one. A block
    that is never closed has no answer after it. Templates that open the block in the prompt leave a
    closing tag alone: all before it is thinking then.
    """
    start = text.lstrip()
    opened = start.startswith(OPEN)
    if not opened and (CLOSE not in text or OPEN in text[: text.index(CLOSE)]):
        return "", text
    thoughts: list[str] = []
    rest = start
    while True:
        before, tag, after = rest.partition(CLOSE)
        if not tag:
            break
        thoughts.append(before.replace(OPEN, "", 1).strip())
        rest = after
    if OPEN in rest and (not thoughts or rest.lstrip().startswith(OPEN)):
        thoughts.append(rest.replace(OPEN, "", 1).strip())
        rest = ""
    return "\n\n".join(part for part in thoughts if part), rest.strip() or None


ELSEWHERE = (404, 405)
"""What servers answer where they have nothing at a path."""
_REFUSALS = frozenset((*STATUSES, *ELSEWHERE))
TOOL_FIELDS = frozenset({"tools"})
"""What tools are sent as, by every provider."""
CHECK_LIMIT = 10.0
CHECK_ALL_LIMIT = 15.0
GRACE = 2.0
"""Seconds that a health check still waits for the other servers when one is alive."""
HELLO = Request(
    messages=(Message(role="user", content="Hello"),),
    sampling=Sampling(max_tokens=10, temperature=1),
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(eq=False)
class Served(Model):
    """A model behind one or several servers."""

    model: str
    urls: tuple[str, ...] = ()
    """Base URLs; several share the load. None means the provider's own."""
    key_env: str = ""
    """The environment variable that holds the key; empty where no key is needed."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers of every request."""
    timeout: float = 600.0
    """The most seconds that one try of a call may take."""
    concurrency: int = 64
    """How many calls may be under way at most."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    retries: int = 8
    """How many tries may fail before a call fails."""
    deadline: float = 1800.0
    """The most seconds for all tries of a call together."""
    price_given: tuple[float, float] | None = None
    """US dollars per million tokens in and out, where the price list is not right."""
    price_file: str = ""
    """A file of prices that is asked before the price list."""

    queues: ClassVar[bool] = True
    provider: ClassVar[str]
    home: ClassVar[str]
    """The provider's own base URL."""
    home_env: ClassVar[str]
    """The environment variable that may name another."""
    path: ClassVar[str]
    """The path of a call under the base URL."""
    needed: ClassVar[frozenset[str]] = frozenset()
    """Fields of a request that cannot be left out, whatever a server says."""
    ladder: ClassVar[frozenset[str]] = LADDER
    """Fields for which there is another way to ask."""
    rephrased: ClassVar[frozenset[str]] = frozenset()
    """Fields that are told people when they are sent in another form, such as thinking."""
    schema_fields: ClassVar[frozenset[str]] = frozenset({"response_format"})
    """Fields that carry the schema of a wanted shape."""
    unasked: ClassVar[frozenset[str]] = frozenset()
    """Fields that nobody asked for, so that nobody needs to know whether they are sent."""

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.timeout <= 0 or self.deadline <= 0 or self.retries < 0:
            raise UsageError(f"{self.label}: concurrency, timeout and deadline must be above 0")
        rates = (self.requests_per_minute, self.tokens_per_minute)
        if any(rate is not None and rate < 1 for rate in rates):
            raise UsageError(f"{self.label}: a rate must be above 0")
        named = self.urls or (os.environ.get(self.home_env) or self.home,)
        self._bases = tuple(dict.fromkeys(self._base(url) for url in named))
        self._secret = ""  # nosec B105  # no password
        self.refused: dict[str, str] = {}
        """What calls should have sent and the server does not take, with what is sent instead."""
        self._listener = ModelListener()
        self._endpoints: Endpoints | None = None
        self._limiter = Limiter(
            self.concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )
        self._retrying = Retrying(
            self._limiter, retries=self.retries, timeout=self.timeout, deadline=self.deadline
        )

    @property
    def identity(self) -> Json:
        return {"provider": self.provider, "model": self.model, "urls": list(self._bases)}

    @property
    def label(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def price(self) -> tuple[float, float] | None:
        return None if self.rates is None else self.rates.pair

    @cached_property
    def rates(self) -> Rates | None:
        """Return what tokens cost in full, with those of caches; none where nobody knows."""
        if self._known_rates is None and all(is_loopback(base) for base in self._bases):
            return Rates(prompt=0.0, completion=0.0)
        return self._known_rates

    @property
    def price_known(self) -> bool:
        return self._known_rates is not None

    @cached_property
    def _known_rates(self) -> Rates | None:
        listed = self._bases == (self.home,)
        price, file = self.price_given, self.price_file
        return rates_of(self.provider, self.model, price=price, file=file, listed=listed)

    def listen(self, listener: ModelListener) -> None:
        self._listener = listener

    def use_key(self, secret: str) -> None:
        self._secret = secret.strip()
        self._endpoints = None

    async def reply(self, request: Request) -> Reply:
        endpoints = self._servers()
        reckoned = _reckoned(request) if self.tokens_per_minute else 0
        last: ModelEndpoint | None = None

        async def once(limit: float) -> Reply:
            nonlocal last
            last = endpoints.pick(avoid=last)
            try:
                reply = await self._ask(last, request, limit)
            except TryFailed as failed:
                if failed.kind == "unreachable" and endpoints.gone:
                    failed.kind = "gone"
                raise
            used = reply.usage.prompt_tokens + reply.usage.completion_tokens
            self._limiter.replied(used - reckoned if used else 0)
            return reply

        return await self._retrying.run(once, who=self.label, tokens=reckoned)

    async def check(self) -> None:
        waiting = dict.fromkeys(self._servers().endpoints, f"no answer in {CHECK_ALL_LIMIT:.0f} s")
        alive = False
        looks = concurrency_module.map_unordered(list(waiting), self._look, limit=len(waiting))
        try:
            async with asyncio.timeout(CHECK_ALL_LIMIT) as timer, aclosing(looks):
                async for endpoint, cause in looks:
                    waiting[endpoint] = cause
                    if not cause and not alive:
                        alive = True
                        soon = asyncio.get_running_loop().time() + GRACE
                        timer.reschedule(min(soon, timer.when() or soon))
        except TimeoutError:
            for endpoint, cause in waiting.items():
                if cause and not endpoint.failures:
                    endpoint.rest()
        if not alive:
            raise ModelError(f"{self.label}: {'; '.join(waiting.values())}", passing=True)

    async def close(self) -> None:
        if self._endpoints is not None:
            await self._endpoints.close()

    def _base(self, url: str) -> str:
        """Return the base URL that an address means."""
        return base_of(url, (self.path,))

    def _call(self, request: Request, learned: Mapping[str, str]) -> str:
        """Return where a call goes, under the base URL."""
        return self.path

    def _moved(self, refusal: Refusal, request: Request, learned: dict[str, str]) -> bool:
        """Learn from a refusal that calls go to another path, where there is another."""
        return False

    @abstractmethod
    def _auth(self, key: str) -> dict[str, str]:
        """Return the headers that carry a key, or those needed without one."""

    @abstractmethod
    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        """Write a request as this kind of server wants it."""

    @abstractmethod
    def _read(self, payload: Json, rung: str) -> Reply:
        """Read a reply, or raise ValueError, LookupError or TypeError."""

    @abstractmethod
    def _learn(
        self, refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
    ) -> None:
        """Learn from a refusal how else the server can be asked for the same."""

    async def _ask(self, endpoint: ModelEndpoint, request: Request, limit: float) -> Reply:
        """Try one call at one server, in the way it takes."""
        answer, body = await self._put(endpoint, request, limit)
        reply = self._understood(endpoint.base, answer, self._rung(request, body))
        if endpoint.lessons.learned:
            refused = self._note_refused(request, body, endpoint.lessons)
            reply = replace(reply, refused=refused)
        self._retrying.took(answer.seconds)
        return reply

    async def _put(
        self, endpoint: ModelEndpoint, request: Request, limit: float
    ) -> tuple[HttpAnswer, dict[str, Json]]:
        """Send a request; where the server does not take a field, send it as it takes it."""
        learned = dict(endpoint.lessons.learned)
        body = adjusted(self._body(request, learned), learned)
        first: tuple[HttpAnswer, dict[str, Json]] | None = None
        while True:
            path = self._call(request, learned)
            answer = await endpoint.post(path, json_bytes.dumps(nested(body)), limit)
            if answer.status not in _REFUSALS:
                break
            refusal = Refusal.of(answer.data, answer.status)
            if first is None and self._moved(refusal, request, learned):
                first = answer, body
                body = adjusted(self._body(request, learned), learned)
                continue
            if answer.status in ELSEWHERE:
                break
            if (other := self._otherwise(request, body, answer.data, learned)) == body:
                return answer, body
            body = other
        if 200 <= answer.status < 300:
            endpoint.lessons.learned.update(learned)
        elif first is not None and answer.status in ELSEWHERE:
            return first
        return answer, body

    def _otherwise(
        self, request: Request, body: dict[str, Json], data: bytes, learned: dict[str, str]
    ) -> dict[str, Json]:
        """Return a request as it may be taken after a refusal, or as it was where none helps."""
        refusal = Refusal.of(data)
        if on_ladder(refusal, body, self.ladder | self.rephrased):
            self._learn(refusal, request, body, learned)
            if (other := adjusted(self._body(request, learned), learned)) != body:
                return other
        needed = self.needed | TOOL_FIELDS if request.tools else self.needed
        learn_field(refusal, body, learned, needed)
        return adjusted(self._body(request, learned), learned)

    def _rung(self, request: Request, body: Mapping[str, Json]) -> str:
        """Tell how the wanted shape was asked for."""
        if request.shape is None:
            return ""
        if not self.schema_fields.isdisjoint(body):
            return "schema"
        return "tool" if not request.tools and not TOOL_FIELDS.isdisjoint(body) else ""

    def _note_refused(
        self, request: Request, sent: Mapping[str, Json], lessons: Lessons
    ) -> dict[str, str]:
        full_body = self._body(request, self._lasting(lessons.learned))
        chosen = {*request.sampling.extra, *(("tool_choice",) if request.tool_choice else ())}
        changed = changes(full_body, sent, chosen, self.ladder | self.unasked)
        news = {name: instead for name, instead in changed.items() if name not in self.refused}
        self.refused |= news
        for name in sorted(news.keys() - lessons.noticed):
            lessons.noticed.add(name)
            self._listener.setting_refused(name, full_body[name], news[name])
        if news:
            self._listener.refusals_changed()
        return changed

    def _lasting(self, learned: Mapping[str, str]) -> Mapping[str, str]:
        """Return the lessons that say where calls go, not what is left out of them."""
        return {}

    def leave_out(self, names: Iterable[str]) -> None:
        for base in self._bases:
            drop(lessons_about(self.provider, self.model, base).learned, names)

    def _understood(self, base: str, answer: HttpAnswer, rung: str) -> Reply:
        """Read an answer, or say what is wrong with it."""
        if not 200 <= answer.status < 300:
            raise self._refusal(base, answer, answer.status)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind and "json" not in kind and kind not in ("text/plain", "application/octet-stream"):
            raise TryFailed(f"{base} sent {kind} where JSON was expected", status=answer.status)
        try:
            payload = json_bytes.loads_foreign(answer.data)
        except (JSONDecodeError, UnicodeDecodeError):
            raise TryFailed(f"{base} sent JSON that breaks off", status=answer.status) from None
        except ValueError as error:
            raise _unusable(base, answer, error) from None
        if isinstance(payload, dict) and payload.get("error"):
            code = code_of(payload)
            if re.fullmatch("[45][0-9][0-9]", code):
                raise self._refusal(base, answer, int(code))
            message = error_message(answer.data, self._secrets())
            raise TryFailed(f"{base} sent an error: {message}", status=answer.status)
        try:
            reply = self._read(payload, rung)
        except ImpossibleNumber as error:
            raise _unusable(base, answer, error) from None
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            message = f"{base} sent a reply without its parts: {type(error).__name__}: {error}"
            raise TryFailed(message, status=answer.status) from None
        reply = redact_reply(reply)
        return reply.received(
            rung=rung,
            seconds=round(answer.seconds, 6),
            request_id=redact(_request_id(answer) or reply.request_id),
            cost=None if self.rates is None else self.rates.cost(reply.usage),
        )

    def _refusal(self, base: str, answer: HttpAnswer, status: int) -> TryFailed:
        reason = error_message(answer.data, self._secrets()) or "no reason given"
        wait = seconds_of(answer.headers.get("retry-after"))
        if status == 429:
            spent = "insufficient_quota" in answer.data.decode("utf-8", "replace")
            return TryFailed(
                f"{base} is asked too much (429): {reason}",
                status=status, passing=not spent, retry_after=wait, kind="busy",
            )  # fmt: skip
        if status >= 500 or status == 408:
            reason = f"{base} failed ({status}): {reason}"
            return TryFailed(reason, status=status, retry_after=wait)
        if 300 <= status < 400:
            reason = "it redirects elsewhere (fix: name the right base URL)"
        return TryFailed(
            f"{base} refused ({status}): {reason}{self._advice(status, base)}",
            status=status,
            passing=False,
        )

    def _advice(self, status: int, base: str) -> str:
        if status in (401, 403):
            if self._secret or not self.key_env:
                return " (fix: check the key in your settings)"
            if not is_private(base):
                return f" (the key in {self.key_env} is not sent over plain http to other machines)"
            return f" (fix: check the key in {self.key_env})"
        if status == 404:
            return f" (fix: check the model's name {self.model!r} and the base URL {base})"
        return ""

    async def _look(self, endpoint: ModelEndpoint) -> tuple[ModelEndpoint, str]:
        """Return why a server cannot be used now, nothing where it is alive."""
        try:
            answer = await endpoint.get("/models", CHECK_LIMIT)
            if answer.status in (401, 403):
                raise self._refusal(endpoint.base, answer, answer.status)
            if answer.status >= 300 and answer.status != 429:
                if answer.status < 500 or answer.status == 501:
                    await self._hello(endpoint)
                else:
                    raise self._refusal(endpoint.base, answer, answer.status)
        except TryFailed as failed:
            if not failed.passing:
                raise failed.error(self.label) from None
            if failed.kind != "unreachable":
                endpoint.rest()
            return endpoint, str(failed)
        return endpoint, ""

    async def _hello(self, endpoint: ModelEndpoint) -> None:
        """Ask the smallest question, where a server does not list its models."""
        answer, _ = await self._put(endpoint, HELLO, CHECK_LIMIT)
        if not 200 <= answer.status < 300 and answer.status != 429:
            raise self._refusal(endpoint.base, answer, answer.status)

    def _servers(self) -> Endpoints:
        if self._endpoints is None:
            self._endpoints = Endpoints([self._endpoint(base) for base in self._bases])
        return self._endpoints

    def _endpoint(self, base: str) -> ModelEndpoint:
        lessons = lessons_about(self.provider, self.model, base)
        return ModelEndpoint(self._destination(base), self.concurrency, lessons)

    def _upstream(self, speaks: Iterable[str]) -> Upstream:
        """Return where calls are passed on to unchanged, in APIs that are taken there."""
        return Upstream(
            destination=self._destination(self._bases[0]),
            model=self.model,
            price=self.price,
            rates=self.rates,
            speaks=frozenset(speaks),
        )

    def _destination(self, base: str) -> Destination:
        """Bind the key and the headers to one of the base URLs that were named with them."""
        key = self._key_for(base)
        if not key.isascii() or not key.isprintable():
            raise ModelError(f"{self.label}: the key contains characters that no key has")
        for name, value in self.headers.items():
            if not _is_header(name, value):
                raise ModelError(f"{self.label}: the header {name!r} cannot be sent as it is")
        headers = {"Content-Type": "application/json", **self._auth(key), **self.headers}
        SECRETS.add(key)
        SECRETS.add_headers(headers)
        return Destination(base=base, headers=headers)

    def _key_for(self, base: str) -> str:
        if self._secret:
            return self._secret
        if not is_private(base):
            return ""
        key = os.environ.get(self.key_env, "").strip() if self.key_env else ""
        if not key and self.key_env and not is_loopback(base) and not self._brings_own_key():
            raise ModelError(
                f"{self.label}: no key for {base} (fix: put it into the environment variable"
                f" {self.key_env})"
            )
        return key

    def _brings_own_key(self) -> bool:
        carriers = {name.lower() for name in self._auth("key")}
        return any(name.lower() in carriers for name in self.headers)

    def _secrets(self) -> list[str]:
        secrets = [self._secret, *self.headers.values()]
        if self.key_env:
            secrets.append(os.environ.get(self.key_env, "").strip())
        return sorted(secrets, key=len, reverse=True)


def _is_header(name: str, value: str) -> bool:
    """Tell whether a header can be sent: no control characters, and a name that is one.

    Where a request ends is said by the connection alone.
    """
    if name.lower() in ("content-length", "transfer-encoding"):
        return False
    return _TOKEN.fullmatch(name) is not None and value.isprintable()


class ImpossibleNumber(ValueError):
    """A number in a reply that cannot be meant."""


def _unusable(base: str, answer: HttpAnswer, error: ValueError) -> TryFailed:
    """Return how a try failed whose reply would be no better the next time."""
    message = f"{base} sent a reply that cannot be used: {error}"
    return TryFailed(message, status=answer.status, passing=False)


def _request_id(answer: HttpAnswer) -> str:
    return answer.headers.get("x-request-id") or answer.headers.get("request-id") or ""


def _reckoned(request: Request) -> float:
    """Estimate the tokens of a call before it is made."""
    prompt_tokens = sum(len(message.content) for message in request.messages) / 4
    return prompt_tokens + (request.sampling.max_tokens or 256)


def shape_name(shape: ReplyShape) -> str:
    """Return the name of a shape in the letters that servers take."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", shape.name)[:64] or "reply"


def usage_of(prompt: Json, completion: Json, **more: Json) -> Usage:
    """Count one call with its tokens, as far as the server told them."""
    return Usage(
        calls=1,
        prompt_tokens=count_of(prompt),
        completion_tokens=count_of(completion),
        **{name: count_of(number) for name, number in more.items()},
    )


def called(name: Json, arguments: Json, call_id: Json) -> ToolCall:
    """Read one call of a tool; what is not valid JSON stays the text that it is."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json_bytes.loads_foreign(arguments.encode()) if arguments.strip() else {}
    return ToolCall(name=str(name or ""), arguments=arguments, id=str(call_id or ""))


def arguments_text(arguments: Json) -> str:
    """Write the arguments of a call as the JSON text that some servers want."""
    return arguments if isinstance(arguments, str) else json_bytes.dumps(arguments).decode()


MOST_TOKENS = 10**12


def count_of(reported: Json) -> int:
    """Read a number of tokens; what is none is 0."""
    if reported is None or not isinstance(reported, int | float) or reported <= 0:
        return 0
    if reported > MOST_TOKENS:
        raise ImpossibleNumber(f"it counts {reported:.6g} tokens")
    return int(reported)
