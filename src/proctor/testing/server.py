"""A model server on loopback: scripted replies, faults by rule or by rate, a record of it all."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from io import BufferedWriter
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self

from proctor.core.fingerprint import digest
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.suggestions import suggest
from proctor.testing import replies
from proctor.testing.batches import FakeBatches
from proctor.testing.connection import FakeConnection, Incoming
from proctor.testing.faults import USABLE, Fault, FaultRequest, Rule, choose, draw
from proctor.testing.formats import FORMATS, format_at, refusal_words, refused_field
from proctor.testing.replies import Answer, Script, ScriptedReply

PLAIN_PATHS = ("v1", "v1beta", "openai")
"""How paths begin that have no role; those of Azure begin with the last one."""
BATCHED = ("/files", "/batches")
"""What the paths of batch jobs hold."""
WHOLE = ("late", "null_content", "length", "no_choices", "error_inside")
"""The faults whose reply is sent as any other."""
HTML = b"<html><body><h1>It works!</h1></body></html>"


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """One request as the server saw it, and its outcome."""

    number: int
    """Counted from 1, in the order of arrival."""
    path: str
    role: str
    """The first part of the path, where it is not ``v1``."""
    key: str
    """The hash of path and body: the same question, asked in the same way, has the same one."""
    nth: int
    """Which try of this question it is, counted from 1."""
    began: float
    """When it came, by the machine's monotonic clock, which all processes share."""
    ended: float | None = None
    """When its reply was handed over, or its client was gone."""
    status: int = 0
    fault: str = ""
    finished: bool = False
    """Whether a usable reply was handed over whole to a client that was there and did not leave
    it unread."""
    body: Json = None
    said: Json = None


@dataclass
class FakeServer:
    """Server of fake models; used with ``with``, it lives in a thread of its own.

    It speaks chat completions, the Responses API, the Messages API and ``generateContent``, takes
    batch jobs of OpenAI and Anthropic, and lists its models, below any path: ``/v1``,
    ``/judge/v1``. Nothing is streamed.
    """

    script: Script = None
    """What is said; where it is none, the last message of the user is repeated."""
    _: KW_ONLY
    roles: Mapping[str, Script] = field(default_factory=dict)
    """Scripts for paths of their own: ``judge`` for ``/judge/v1``."""
    any_role: bool = True
    """Whether the path of a role without a script gets the plain replies, or an error that names
    the roles; ``python -m proctor.testing`` refuses it where its script has roles."""
    rules: Sequence[Rule] = ()
    """The faults, tried in their order."""
    seed: int = 0
    latency: float | tuple[float, float] = 0.0
    """Seconds before every reply; of two, a number between them that depends on the question."""
    port: int = 0
    """0 takes one that is free."""
    key: str = field(default="", repr=False)
    """The key that clients must send; any will do where it is empty."""
    log: Path | str | None = None
    """A file to which a line of JSON is added for every call that has ended."""
    refuses: tuple[str, ...] = ()
    """Fields that a request is refused for, as servers name them: ``temperature``,
    ``output_config.format``; ``reasoning_effort=xhigh`` refuses one value."""
    lacks: tuple[str, ...] = ()
    """Ends of paths where there is nothing, such as ``/responses``."""
    batch_seconds: float = 0.0
    """How long a batch job takes."""
    keep: bool = True
    """Whether calls hold what was asked and said; without, many of them take little memory."""
    calls: list[Call] = field(default_factory=list, init=False)
    max_in_flight: int = field(default=0, init=False)
    troubles: list[Exception] = field(default_factory=list, init=False)
    """What the script's own code raised."""

    def __post_init__(self) -> None:
        self.batches = FakeBatches(self._answer_in_batch, seconds=self.batch_seconds)
        self._tries: Counter[str] = Counter()
        self._in_flight = 0
        self._connections: dict[FakeConnection, Call | None] = {}
        self._file: BufferedWriter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is None and self.troubles:
            raise self.troubles[0]

    @property
    def url(self) -> str:
        """Return the base URL of the script: ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def url_of(self, role: str) -> str:
        """Return the base URL of a role: ``http://127.0.0.1:PORT/judge/v1``."""
        return f"http://127.0.0.1:{self.port}/{role}/v1"

    def start(self) -> None:
        """Begin to serve."""
        if self.log is not None:
            self._file = Path(self.log).open("ab")  # noqa: SIM115 - closed with the server
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="fake server", daemon=True)
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._listen(), self._loop)
        try:
            self._server = starting.result()
        except OSError:
            self._leave()
            raise

    def close(self) -> None:
        """Hang up on everyone, and leave no thread and no socket behind."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
            self._leave()

    def finished(self) -> list[Call]:
        """Return the calls whose reply was handed over."""
        return [call for call in self.calls if call.finished]

    def counts(self) -> Counter[str]:
        """Return how often each question came, by its key."""
        return Counter(call.key for call in self.calls)

    def finished_twice(
        self, *, kills: Sequence[float] = (), grace: float = 0.0
    ) -> list[tuple[Call, Call]]:
        """Return the calls that were made again although their reply had been handed over.

        A client that was killed may have held a reply for a moment without having stored it: a
        reply handed over less than ``grace`` seconds before one of the ``kills`` (times of the
        monotonic clock) counts as still on its way.
        """
        return list(_again(self.calls, kills, grace))

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: FakeConnection(self), "127.0.0.1", self.port, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _hang_up(self) -> None:
        self._server.close()
        accepting = asyncio.all_tasks() - {asyncio.current_task()}
        if accepting:
            await asyncio.wait(accepting)
        for connection in list(self._connections):
            connection.transport.abort()
        await self._server.wait_closed()
        await asyncio.sleep(0)

    def _leave(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None
        if self._file is not None:
            self._file.close()

    def came(self, connection: FakeConnection) -> None:
        """Note a new connection."""
        self._connections[connection] = None

    def went(self, connection: FakeConnection, *, reset: bool) -> None:
        """Note that a client is gone; what it left unread was not handed over."""
        call = self._connections.pop(connection)
        if call is None:
            return
        if call.ended is None:
            self._end(call, finished=False)
        elif reset and call.finished:
            call.finished = False
            self._note({"number": call.number, "key": call.key, "unread": True})

    def serve(self, incoming: Incoming, connection: FakeConnection) -> None:
        """Answer one request."""
        trouble = self._trouble(incoming)
        if trouble is not None:
            status, message = trouble
            self._refuse(connection, status, message)
        elif _is_batched(incoming.path):
            self._connections[connection] = None  # the reply to the call before was read
            status, data = self.batches.serve(incoming.method, incoming.path, incoming.body)
            loop, wait = asyncio.get_running_loop(), self._latency(incoming.path)
            loop.call_later(wait, partial(connection.send, status, data, then=_nothing))
        elif incoming.method == "GET":
            connection.send(200, json_bytes.dumps(replies.models_body()), then=_nothing)
        else:
            try:
                body = json_bytes.loads(incoming.body)
            except ValueError as error:
                self._refuse(connection, 400, f"the body is not JSON: {error}")
                return
            form = format_at(incoming.path)
            assert form is not None
            if not isinstance(body, dict) or not isinstance(body.get(form.messages), list | str):
                self._refuse(connection, 400, f"the body has no {form.messages}")
            elif body.get("stream"):
                self._refuse(connection, 400, "this server does not stream")
            else:
                self._take(incoming, body, connection)

    def _trouble(self, incoming: Incoming) -> tuple[int, str] | None:
        """Return what is wrong with a request before its body is looked at."""
        if self.key and not self._knows(incoming.headers):
            return 401, "the key is missing or wrong"
        if _is_batched(incoming.path):
            return None
        endings = ("/models",) if incoming.method == "GET" else tuple(FORMATS)
        there = incoming.path.endswith(endings) and not incoming.path.endswith(self.lacks)
        if incoming.method not in ("GET", "POST") or not there:
            return 404, f"there is nothing at {incoming.method} {incoming.path}"
        return None

    def _knows(self, headers: Mapping[str, str]) -> bool:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        others = (headers.get("x-api-key", ""), headers.get("x-goog-api-key", ""))
        return self.key in (bearer, *others)

    def _refuse(self, connection: FakeConnection, status: int, message: str) -> None:
        body = json_bytes.dumps(replies.error_body(status, message))
        connection.send(status, body, then=_nothing)

    def _take(self, incoming: Incoming, body: Json, connection: FakeConnection) -> None:
        """Record a call, decide what becomes of it, and see to it, now or later."""
        call = self._recorded(incoming.path, body)
        key = call.key
        self._connections[connection] = call
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        fault, scripted = self._decide(call, body)
        call.fault = "" if fault is None else fault.kind
        wait = self._latency(key) + (fault.seconds if fault and fault.kind == "late" else 0.0)

        def answer() -> None:
            if not connection.gone:
                self._answer(call, connection, fault, _written(call, body, scripted, fault))

        if wait > 0:
            asyncio.get_running_loop().call_later(wait, answer)
        else:
            answer()

    def _recorded(self, path: str, body: Json) -> Call:
        """Record a request."""
        key = digest(path, body)
        self._tries[key] += 1
        first = path.split("/")[1]
        call = Call(
            number=len(self.calls) + 1,
            path=path,
            role="" if first in PLAIN_PATHS and first not in self.roles else first,
            key=key,
            nth=self._tries[key],
            began=time.monotonic(),
            body=body if self.keep else None,
        )
        self.calls.append(call)
        return call

    def _answer_in_batch(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer one request of a batch job."""
        call = self._recorded(path, body)
        fault, scripted = self._decide(call, body)
        call.status = 200 if fault is None else fault.answer_status
        call.ended, call.finished = time.monotonic(), call.status == 200
        return call.status, json_bytes.loads(_written(call, body, scripted, fault))

    def _latency(self, key: str) -> float:
        if isinstance(self.latency, tuple):
            low, high = self.latency
            return low + (high - low) * draw(self.seed, f"latency {key}", 0)
        return self.latency

    def _decide(self, call: Call, body: Json) -> tuple[Fault | None, ScriptedReply]:
        """Return the fault that a call meets, if any, and what it is told."""
        text = replies.all_text(replies.messages_of(body))
        request = FaultRequest(
            number=call.number, key=call.key, nth=call.nth, role=call.role, text=text
        )
        fault = choose(self.rules, self.seed, request)
        if fault is not None and fault.kind not in USABLE:
            return fault, None
        if call.role and not (self.any_role or call.role in self.roles):
            return Fault("error", status=400, message=self._no_role(call.role)), None
        if refused := refused_field(body, self.refuses):
            return Fault("error", status=400, message=refusal_words(refused)), None
        try:
            scripted = replies.say(self.roles.get(call.role, self.script), body, call.nth)
        except Exception as error:  # noqa: BLE001 - a script is a stranger's code
            self.troubles.append(error)
            return Fault("error", status=400, message=f"the script raised {error!r}"), None
        if isinstance(scripted, Fault):
            fault, scripted = scripted, replies.say(None, body, call.nth)
        if self.keep:
            call.said = scripted.text if isinstance(scripted, Answer) else scripted
        return fault, scripted

    def _no_role(self, role: str) -> str:
        """Say which roles there are; the path without one has the script for all others."""
        hint = suggest(role, list(self.roles), listed=list(self.roles))
        return f"no role {role!r} is scripted ({hint}; /v1 without a role has the plain replies)"

    def _answer(
        self, call: Call, connection: FakeConnection, fault: Fault | None, payload: bytes
    ) -> None:
        kind = "" if fault is None else fault.kind
        call.status = 200 if fault is None else fault.answer_status
        usable = kind in USABLE and connection.is_open

        def ended() -> None:
            self._end(call, finished=usable)

        if fault is None or kind in WHOLE:
            number = {"x-request-id": f"fake-{call.number}"}
            connection.send(call.status, payload, headers=number, then=ended)
        elif kind in ("rate_limit", "error"):
            after = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            connection.send(call.status, payload, headers=after, then=ended)
        elif kind == "broken_json":
            connection.send(call.status, payload[: len(payload) // 2], then=ended)
        elif kind == "wrong_type":
            connection.send(call.status, HTML, kind="text/html", then=ended)
        elif kind == "cut_off":
            connection.send_half(call.status, payload)
        elif kind == "drip":
            connection.drip(call.status, payload, fault.seconds, then=ended)
        elif kind == "reset":
            connection.reset()

    def _end(self, call: Call, *, finished: bool) -> None:
        call.finished = finished
        call.ended = time.monotonic()
        self._in_flight -= 1
        names = ("number", "path", "role", "key", "nth", "status", "fault", "finished")
        noted = {name: getattr(call, name) for name in names}
        self._note({**noted, "began": call.began, "ended": call.ended})

    def _note(self, line: Json) -> None:
        if self._file is not None:
            self._file.write(json_bytes.dumps(line) + b"\n")
            self._file.flush()


def _is_batched(path: str) -> bool:
    """Tell whether a path is about batch jobs or their files."""
    return path.endswith(BATCHED) or any(f"{end}/" in path for end in BATCHED)


def _written(call: Call, body: Json, scripted: ScriptedReply, fault: Fault | None) -> bytes:
    """Write the body of a reply."""
    if fault is not None and fault.kind == "error_inside":
        error = {"type": "overloaded_error", "message": fault.message or "the stream broke"}
        return json_bytes.dumps({"type": "error", "error": error})
    if fault is not None and fault.kind in ("rate_limit", "error"):
        status = fault.answer_status
        words = fault.message or ("too many requests" if status == 429 else "something broke")
        return json_bytes.dumps(replies.error_body(status, words))
    if isinstance(scripted, Mapping):
        return json_bytes.dumps(scripted)
    answer = (
        scripted
        if isinstance(scripted, Answer)
        else Answer(scripted if isinstance(scripted, str) else None)
    )
    answer = replies.spoiled(answer, fault)
    form = format_at(call.path)
    assert form is not None
    reply = form.write(answer, body, call.number)
    if fault is not None and fault.kind == "no_choices":
        reply[form.emptied] = []
    return json_bytes.dumps(reply)


def _again(
    calls: Sequence[Call], kills: Sequence[float], grace: float
) -> Iterator[tuple[Call, Call]]:
    last: dict[str, Call] = {}
    for call in calls:
        before = last.get(call.key)
        if before is not None and before.ended is not None and before.ended <= call.began:
            ended = before.ended
            if not any(ended <= kill < call.began and kill - ended < grace for kill in kills):
                yield before, call
        if call.finished:
            last[call.key] = call


def _nothing() -> None:
    """Do nothing when a reply that is no call has been sent."""
