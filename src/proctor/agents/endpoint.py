"""Agents behind an address: JSON over HTTP, whole or streamed."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from proctor.agents.process import Broken, NoAnswer
from proctor.agents.sessions import TimedSession, named, resolved, unset
from proctor.agents.steps import round_of, text_of
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.access import Destination
from proctor.core.cause import Cause
from proctor.core.names import holds_user_info
from proctor.core.rounds import Round
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.io.event_stream import MEDIA_TYPE, event_data, events
from proctor.io.redaction import SECRETS, redact_body

if TYPE_CHECKING:
    import aiohttp


_STEP = re.compile(r"\.([^.\[\]'\"]+)|\[(-?\d+)\]|\[(\*)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")


@lru_cache(maxsize=256)
def parse(path: str) -> tuple[str | int | None, ...]:
    """Return the steps of a path, none for all of a list, or raise a ValueError."""
    if not path.startswith("$"):
        raise ValueError(f"the path {path!r} does not begin with $")
    steps: list[str | int | None] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(
                f"the path {path!r} cannot be read from {path[at:]!r} on (known are .name, [0],"
                " [-1], [*] and ['name'])"
            )
        name, number, every, single, double = match.groups()
        if number is not None:
            steps.append(int(number))
        elif every or name == "*":
            steps.append(None)
        else:
            steps.append(next(text for text in (name, single, double) if text is not None))
        at = match.end()
    return tuple(steps)


def find(path: str, data: Json) -> list[Json]:
    """Return all that a path leads to; nothing where it leads nowhere."""
    values = [data]
    for step in parse(path):
        values = [inner for value in values for inner in _inside(value, step)]
    return values


def first(path: str, data: Json) -> Json:
    """Return the first thing that a path leads to and that is not null."""
    return next((value for value in find(path, data) if value is not None), None)


def _inside(value: Json, step: str | int | None) -> list[Json]:
    if step is None:
        if isinstance(value, dict):
            return list(value.values())
        return list(value) if isinstance(value, list) else []
    if isinstance(step, int):
        fits = isinstance(value, list) and -len(value) <= step < len(value)
        return [value[step]] if fits else []
    return [value[step]] if isinstance(value, dict) and step in value else []


NAMES = ("message", "session", "history", "case", "turn")
DEFAULT: Mapping[str, Any] = {
    "message": "{{message}}",
    "session": "{{session}}",
    "history": "{{history}}",
    "case": "{{case}}",
}
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def filled(template: Json, values: Mapping[str, Json]) -> Json:
    """Put values into their places: alone as they are, inside a text as text."""
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = _PLACE.fullmatch(template.strip())
    if whole is not None and whole[1] in values:
        return values[whole[1]]
    return _PLACE.sub(lambda match: _inserted(match, values), template)


def _inserted(match: re.Match[str], values: Mapping[str, Json]) -> str:
    if match[1] not in values:
        return match[0]
    value = values[match[1]]
    return "" if value is None else text_of(value)


def places(template: Json) -> set[str]:
    """Return the names of all places in a template."""
    if isinstance(template, Mapping):
        return {name for value in template.values() for name in places(value)}
    if isinstance(template, list | tuple):
        return {name for value in template for name in places(value)}
    return set(_PLACE.findall(template)) if isinstance(template, str) else set()


LINES = (
    "application/x-ndjson",
    "application/jsonl",
    "application/jsonlines",
    "application/json-seq",
)


async def parts(
    chunks: AsyncIterator[bytes], kind: str, count: Callable[[int], None]
) -> AsyncIterator[Json]:
    """Yield what a stream holds, thing by thing; ``count`` is told of every byte."""
    counted = _counted(chunks, count)
    if kind == MEDIA_TYPE:
        pieces = (event_data(event) async for event in events(counted))
    else:
        pieces = (line.strip(b"\x1e \t\r") async for line in _lines(counted))
    async for data in pieces:
        if data:
            yield _json(data)


async def _counted(
    chunks: AsyncIterator[bytes], count: Callable[[int], None]
) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        count(len(chunk))
        yield chunk


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    buffer = b""
    async for chunk in chunks:
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            yield line
    yield buffer


def _json(data: bytes) -> Json:
    """Read a part; one that is no JSON is a piece of text."""
    try:
        return json_bytes.loads_foreign(data)
    except ValueError:
        pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Broken("what it streams is not UTF-8") from None


REPLIES = (
    "$.reply", "$.response", "$.answer", "$.output", "$.text", "$.message.content", "$.message",
    "$.content", "$.delta",
    "$.choices[0].message.content", "$.choices[0].delta.content", "$.choices[0].text",
)  # fmt: skip
"""Where a reply is looked for where nobody says where it is."""
BUSY = {408, 425, 429, 502, 503, 504}
"""The agent was not reached, but may be later."""
WRONG = {401, 403, 404, 405, 406, 407, 410, 411, 415, 501}
"""The address or the key is wrong: that is no fault of the agent's."""
PAUSES = (0.5, 2.0)
SECRET_HEADERS = {"authorization", "cookie", "proxy-authorization"}
SECRET_WORDS = ("key", "token", "secret", "password", "signature")
SHOWN = 300


@dataclass(kw_only=True)
class HttpAgent(Agent):
    """An agent that answers JSON requests at an address."""

    url: str
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    template: Json = None
    """The request's body, with places such as ``{{message}}``; empty for the default one."""
    reply: str = ""
    """The path of the reply in the response; empty looks in the usual places."""
    session: str = ""
    """The path of a session id that the agent gives; empty sends one of our own."""
    steps: str = "$.steps"
    error: str = "$.error"
    usage: str = "$.usage"
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every request; ``$NAME`` takes the value of an environment variable."""
    timeout: float = 600.0
    output: int = 16 * 1024 * 1024
    concurrency: int = 16
    version: str = ""
    """What you call this agent's version: another one is examined anew."""

    @property
    def identity(self) -> Json:
        return {
            "kind": "http",
            "url": self.url,
            "version": self.version,
            "ask": [self.method, self.template],
            "paths": [self.reply, self.session, self.steps, self.error],
            "headers": sorted(
                [name.lower(), "" if named(value) else value]
                for name, value in self.headers.items()
            ),
        }

    @property
    def label(self) -> str:
        return self.url.partition("?")[0]

    @property
    def body(self) -> Json:
        """Return the template of requests."""
        return DEFAULT if self.template is None else self.template

    def problems(self) -> list[str]:
        problems = [*self._wrong_address(), *unset(self.headers), *unset(self._query())]
        for name in ("reply", "session", "steps", "error", "usage"):
            try:
                parse(getattr(self, name) or "$")
            except ValueError as problem:
                problems.append(f"{name}: {problem}")
        unknown = sorted(places(self.body) - set(NAMES))
        problems += [
            f"the template has no place {{{{{n}}}}}: known are {', '.join(NAMES)}" for n in unknown
        ]
        if "message" not in places(self.body) and "history" not in places(self.body):
            problems.append("the template has no place for the {{message}}")
        sent_values = {**self.headers, **self._query()}
        problems += [
            f"{name} holds a secret (fix: write $NAME, the name of an environment variable)"
            for name, value in sent_values.items()
            if _secret(name) and not any(named(part) for part in value.split())
        ]
        return problems

    def _wrong_address(self) -> list[str]:
        if holds_user_info(self.url):
            return ["the address holds a name or a password (fix: a header with $NAME)"]
        try:
            parts = urlsplit(self.url)
            there = bool(parts.hostname) and parts.port != 0
        except ValueError:
            there = False
        if not there or parts.scheme not in ("http", "https"):
            return [f"{self.url!r} is no address (fix: http://HOST:PORT/PATH)"]
        return []

    def _query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @property
    def address(self) -> str:
        """Return the address with the values of variables in its query."""
        parts, query = urlsplit(self.url), self._query()
        if not any(named(value) for value in query.values()):
            return self.url
        SECRETS.add(*(os.environ.get(value[1:], "") for value in query.values() if named(value)))
        return urlunsplit(parts._replace(query=urlencode(resolved(query))))

    @property
    def destination(self) -> Destination:
        """Return the address with the headers that are sent there, and nowhere else."""
        kinds = f"application/json, {MEDIA_TYPE}, {LINES[0]}"
        usual = {"Content-Type": "application/json", "Accept": kinds}
        return Destination(base=self.address, headers={**usual, **_headers(self.headers)})

    async def check(self) -> None:
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(10):
                _, writer = await asyncio.open_connection(parts.hostname, port)
        except (OSError, TimeoutError) as error:
            why = str(error) or "no answer within 10 s"
            raise ModelError(
                f"the agent at {self.label} cannot be reached: {why} (fix: is it started?)",
                passing=True,
                cause=Cause.PROVIDER.value,
            ) from None
        writer.close()

    async def open(self, workspace: Workspace) -> Session:
        return EndpointSession(workspace=workspace, timeout=self.timeout, agent=self)


@dataclass
class EndpointSession(TimedSession):
    """A session with an agent behind an address."""

    agent: HttpAgent | None = None
    session_id: str | None = None
    """The session id that the agent gave."""
    _client: "aiohttp.ClientSession | None" = None

    async def answered(self, message: str) -> Round:
        import aiohttp

        assert self.agent is not None
        reply: dict[str, Json] = {}
        for pause in (*PAUSES, None):
            try:
                reply = await self._request(message)
                break
            except ModelError as error:
                if not error.passing or pause is None:
                    raise
                await asyncio.sleep(pause)
            except aiohttp.ClientError as error:
                raise Broken(f"it broke off the connection: {error}") from None
        return round_of(message, reply)

    async def drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _request(self, message: str) -> dict[str, Json]:
        import aiohttp

        agent = self.agent
        assert agent is not None
        values = self.request_fields(message)
        if agent.session:
            values["session"] = self.session_id
        if self._client is None:
            self._client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(sock_connect=30))
        destination = agent.destination
        try:
            async with self._client.request(
                agent.method,
                destination.base,
                data=json_bytes.dumps(filled(agent.body, values)),
                headers=destination.headers,
                allow_redirects=False,
            ) as response:
                return await self._read(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise ModelError(
                f"the agent at {agent.label} cannot be reached: {error}",
                passing=True,
                cause=Cause.PROVIDER.value,
            ) from None

    async def _read(self, response: "aiohttp.ClientResponse") -> dict[str, Json]:
        assert self.agent is not None
        kind = response.content_type
        if response.status < 200 or response.status >= 300:
            _refuse(self.agent, response.status, await _some(response))
        reader = _ReplyReader(self.agent)
        if kind == MEDIA_TYPE or kind in LINES:
            async for part in parts(response.content.iter_any(), kind, reader.count):
                reader.take(part)
        else:
            reader.take(_whole(await _body(response.content.iter_any(), reader), kind))
        if reader.session is not None:
            self.session_id = self.name = reader.session
        return reader.reply_parts()


class _ReplyReader:
    """Reader of an agent's answer, in one piece or in many."""

    def __init__(self, agent: HttpAgent) -> None:
        self.agent = agent
        self.size = 0
        self.texts: list[str] = []
        self.steps: list[Json] = []
        self.usage: Json = None
        self.error: Json = None
        self.session: str | None = None

    def count(self, more: int) -> None:
        """Count bytes, and stop at the limit."""
        self.size += more
        if self.size > self.agent.output:
            raise NoAnswer(f"it sent more than the {self.agent.output} bytes allowed")

    def take(self, part: Json) -> None:
        """Take in a response, or a part of one."""
        agent = self.agent
        if isinstance(part, str):
            self.texts.append(part)
            return
        if not isinstance(part, dict | list):
            raise Broken(f"it answered {part!r}, which is no object")
        self.error = self.error or (first(agent.error, part) if agent.error else None)
        self.usage = (first(agent.usage, part) if agent.usage else None) or self.usage
        if agent.session and (session := first(agent.session, part)) is not None:
            self.session = text_of(session)
        for match in find(agent.steps, part) if agent.steps else ():
            self.steps += match if isinstance(match, list) else [match]
        self.texts += self._texts(part)

    def _texts(self, part: Json) -> list[str]:
        if self.agent.reply:
            return [text_of(text) for text in find(self.agent.reply, part) if text is not None]
        for path in REPLIES:
            if isinstance(text := first(path, part), str):
                return [text]
        return []

    def reply_parts(self) -> dict[str, Json]:
        """Return the parts of the answer, as every agent tells them."""
        parts: dict[str, Json] = {"steps": self.steps, "usage": self.usage}
        if self.error:
            return {**parts, "error": self.error}
        if self.texts:
            return {**parts, "reply": "".join(self.texts)}
        where = self.agent.reply or "the usual places"
        raise Broken(f"its response has no reply at {where}")


def _refuse(agent: HttpAgent, status: int, text: str) -> None:
    """Raise for a response that is none: a ModelError where the agent was not reached."""
    status_text = f"status {status}" + (f": {text}" if text else "")
    if status in BUSY:
        raise ModelError(
            f"the agent at {agent.label} is busy: {status_text}",
            status=status,
            passing=True,
            cause=Cause.PROVIDER.value,
        )
    if status in WRONG or 300 <= status < 400:
        raise ModelError(
            f"the agent at {agent.label} refused: {status_text}",
            status=status,
            cause=Cause.PROVIDER.value,
        )
    raise Broken(f"it answered with {status_text}")


async def _some(response: "aiohttp.ClientResponse") -> str:
    data = await response.content.read(4096)
    return " ".join(redact_body(data).decode("utf-8", "replace").split())[:SHOWN]


async def _body(chunks: AsyncIterator[bytes], reader: _ReplyReader) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        reader.count(len(chunk))
        body += chunk
    return bytes(body)


def _whole(data: bytes, kind: str) -> Any:
    """Read a response in one piece: JSON, or a plain text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"its response is not UTF-8 (at byte {error.start})") from None
    try:
        return json_bytes.loads_foreign(text)
    except ValueError:
        if kind.endswith("json"):
            raise Broken(f"its response is no JSON: {text[:SHOWN]!r}") from None
        return text


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Put the values of variables into headers: ``$NAME`` alone, or as a word after others."""
    SECRETS.add(
        *(os.environ.get(w[1:], "") for w in " ".join(headers.values()).split() if named(w))
    )
    expanded = {
        name: " ".join(os.environ.get(w[1:], "") if named(w) else w for w in value.split(" "))
        for name, value in headers.items()
    }
    SECRETS.add_headers(expanded)
    return expanded


def _secret(name: str) -> bool:
    name = name.lower()
    return name in SECRET_HEADERS or any(word in name for word in SECRET_WORDS)
