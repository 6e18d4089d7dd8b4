"""The server of scores over real sockets: what it answers, refuses, streams and gives up."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from proctor.contracts.dialect import Reading
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.grading.open_grading import GradingSettings, open_grading
from proctor.engine.grading.output_grading import GradingLimits
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.errors import UsageError
from proctor.registry import BUILT_IN
from proctor.web import score_server
from proctor.web.score_document import openapi
from proctor.web.score_server import ScoreServer, ServerLimits

GIVEN_UP: list[str] = []
TOLD: list[bool] = []


@dataclass(frozen=True)
class Sleepy(Scorer):
    """Wait as many seconds as the output says, or until it is told."""

    async def score(self, ctx: ScoreContext) -> bool:
        try:
            while ctx.output == "told" and not TOLD:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.0 if ctx.output == "told" else float(ctx.output))
        except asyncio.CancelledError:
            GIVEN_UP.append(ctx.output)
            raise
        return True


@pytest.fixture(autouse=True)
def own_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    GIVEN_UP.clear()
    TOLD.clear()
    monkeypatch.setitem(BUILT_IN["scorer"], "sleepy", f"{__name__}:Sleepy")


def case(name: str, spec: Spec) -> Case:
    asked = (Message(role="user", content="What?"),)
    return Case(id=name, messages=asked, criteria=(Criterion(id="one", scorer=spec),))


SUITE = Suite(
    name="quiz",
    cases=(
        case("capital", Spec(name="contains", params={"texts": ["Paris"]})),
        case("sleepy", Spec(name="sleepy")),
    ),
)
TOKEN = "a-token-of-enough-letters"


@dataclass
class Client:
    """What a client sees."""

    session: aiohttp.ClientSession
    server: ScoreServer
    port: int

    async def post(self, data: Any, **more: Any) -> tuple[int, Any]:
        body = data if isinstance(data, bytes | str) else json.dumps(data)
        headers = {"Content-Type": "application/json", **more}
        async with self.session.post("/score", data=body, headers=headers) as response:
            text = await response.text()
            if response.content_type == "application/x-ndjson":
                return response.status, [json.loads(line) for line in text.splitlines()]
            return response.status, json.loads(text)

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.session.get(path, headers=headers) as response:
            return response.status, json.loads(await response.text())


@asynccontextmanager
async def serving(
    limits: ServerLimits | None = None, token: str | None = None, deadline: float = 20.0
) -> AsyncIterator[Client]:
    settings = GradingSettings(
        run=RunSettings(suite=SuiteSettings.of(SUITE)), limits=GradingLimits(deadline=deadline)
    )
    async with open_grading(settings, Reading(suite=SUITE)) as (grading, _):
        server = ScoreServer(grading, "quiz", limits or ServerLimits(grace=1), token=token)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        async with (
            server.serving(listener),
            aiohttp.ClientSession(
                f"http://127.0.0.1:{port}", connector=aiohttp.TCPConnector(limit=0)
            ) as session,
        ):
            yield Client(session, server, port)


REFUSED: list[tuple[Any, dict[str, str], int, str]] = [
    (b"{", {}, 400, "not JSON"),
    (b"\xff\xfe", {}, 400, "not JSON"),
    (b"[" * 1900, {}, 400, "not JSON"),
    ("7", {}, 400, "expected"),
    ({"outputs": 7}, {}, 400, "expected"),
    ({"outputs": [7]}, {}, 400, "output 0: expected an object"),
    ({"case": "capital"}, {}, 400, "output 0"),
    ({"case": "capital", "output": "x", "more": 1}, {}, 400, "output 0"),
    ({"case": 7, "output": "x"}, {}, 400, "the id of a case"),
    ({"case": "capital", "output": 7}, {}, 400, "must be a text"),
    ({"case": "capitol", "output": "x"}, {}, 404, "did you mean 'capital'"),
    ({"outputs": [{"case": "capital", "output": "x"}] * 9}, {}, 413, "9 outputs"),
    ({"case": "capital", "output": "x" * 3000}, {}, 413, "more than"),
    ({"case": "capital", "output": "x"}, {"Content-Type": "text/plain"}, 415, "application/json"),
    ({"case": "capital", "output": "x"}, {"Origin": "http://evil.example"}, 403, "browser"),
    ({"case": "capital", "output": "x"}, {"Sec-Fetch-Site": "cross-site"}, 403, "browser"),
    ({"case": "capital", "output": "x"}, {"Host": "evil.example"}, 421, "Host"),
]  # fmt: skip


def test_what_is_wrong_is_refused_with_its_reason() -> None:
    async def ask() -> list[tuple[int, Any]]:
        async with serving(ServerLimits(body=2000, outputs=8)) as client:
            small = [await client.post(data, **headers) for data, headers, _, _ in REFUSED]
            assert (await client.post({"case": "capital", "output": "Paris"}))[0] == 200
            return small

    for (_, _, status, words), (answered, told) in zip(REFUSED, asyncio.run(ask()), strict=True):
        assert (answered, told["error"]["status"]) == (status, status)
        assert words in told["error"]["message"]


def test_one_output_or_many_are_scored() -> None:
    async def ask() -> None:
        async with serving() as client:
            status, one = await client.post({"case": "capital", "output": "Paris"})
            assert (status, one["value"], one["why"], one["status"]) == (200, 1.0, "", "scored")
            rows = [
                {"case": "sleepy", "output": "0.3"},
                {"case": "capital", "output": "Rome"},
                {"case": "capital", "output": None},
                {"case": "sleepy", "output": "soon"},
            ]
            for body in ({"outputs": rows}, rows):
                status, many = await client.post(body)
                assert status == 200
                assert many[-1]["index"] == 0
                by_place = {row["index"]: row["value"] for row in many}
                assert by_place == {0: 1.0, 1: 0.0, 2: 0.0, 3: None}
                unscored = next(row for row in many if row["index"] == 3)
                assert "ValueError" in unscored["why"]
            assert (await client.post({"outputs": []})) == (200, [])

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("token", "presented", "status"),
    [
        (None, "", 200),
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, f"bearer  {TOKEN}", 200),
        (TOKEN, "", 401),
        (TOKEN, f"Bearer {TOKEN}x", 401),
        (TOKEN, f"Basic {TOKEN}", 401),
        (TOKEN, "Bearer é", 401),
    ],
)
def test_the_token_is_asked_for(token: str | None, presented: str, status: int) -> None:
    async def ask() -> None:
        async with serving(token=token) as client:
            headers = {"Authorization": presented} if presented else {}
            one = {"case": "capital", "output": "Paris"}
            assert (await client.post(one, **headers))[0] == status
            health = await client.get("/healthz", **headers)
            assert health[0] == 200
            assert health[1]["status"] == "ok"
            assert ("suite" in health[1]) == (status == 200)
            assert (await client.get("/openapi.json", **headers))[0] == status

    asyncio.run(ask())


def test_a_short_token_is_refused() -> None:
    async def ask() -> None:
        async with serving(token="short"):
            pass

    with pytest.raises(UsageError, match="at least 16"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/score", 405), ("POST", "/healthz", 405), ("GET", "/", 404), ("POST", "/x", 404)],
)
def test_other_paths_are_refused(method: str, path: str, status: int) -> None:
    async def ask() -> int:
        async with serving() as client, client.session.request(method, path) as response:
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            return response.status

    assert asyncio.run(ask()) == status


def test_a_full_queue_asks_to_come_again() -> None:
    async def ask() -> None:
        async with serving(ServerLimits(queue=2, grace=60)) as client:
            slow = {"outputs": [{"case": "sleepy", "output": "told"}] * 2}
            first = asyncio.ensure_future(client.post(slow))
            while client.server._admitted < 2:
                await asyncio.sleep(0.01)
            body = json.dumps({"case": "capital", "output": "x"})
            headers = {"Content-Type": "application/json"}
            async with client.session.post("/score", data=body, headers=headers) as response:
                assert response.status == 429
                assert int(response.headers["Retry-After"]) >= 1
            TOLD.append(True)
            assert (await first)[0] == 200
            assert (await client.post({"case": "capital", "output": "x"}))[0] == 200

    asyncio.run(ask())


def test_what_a_client_that_left_has_asked_for_is_given_up() -> None:
    async def ask() -> None:
        async with serving() as client:
            rows = [{"case": "capital", "output": "Paris"}, {"case": "sleepy", "output": "60"}]
            body = json.dumps({"outputs": rows}).encode()
            reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
            head = (
                f"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await reader.readuntil(b'"index":0')
            writer.transport.abort()
            while client.server._admitted:
                await asyncio.sleep(0.01)
            assert GIVEN_UP == ["60"]
            assert client.server.grading.counts.pending == 0

    asyncio.run(ask())


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_server, "BODY_SECONDS", 0.2)

    async def ask() -> bytes:
        async with serving() as client:
            reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
            head = "POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: 99\r\n\r\n{{".encode())
            line = await reader.readline()
            writer.close()
            return line

    assert b" 408 " in asyncio.run(ask())


def test_512_clients_at_once_get_their_scores() -> None:
    async def ask() -> None:
        async with serving() as client:
            one = {"case": "sleepy", "output": "0.01"}
            works = [asyncio.ensure_future(client.post(one)) for _ in range(512)]
            done, _ = await asyncio.wait(works)
            assert {work.result()[1]["value"] for work in done} == {1.0}

    asyncio.run(ask())


def test_requests_are_completed_when_the_server_stops() -> None:
    async def ask() -> tuple[int, Any]:
        async with serving(ServerLimits(grace=20)) as client:
            work = asyncio.ensure_future(client.post({"case": "sleepy", "output": "0.5"}))
            while not client.server._admitted:
                await asyncio.sleep(0.01)
            client.server.stopping = True
            refused = await client.post({"case": "capital", "output": "x"})
            assert refused[0] == 503
            return await work

    status, result = asyncio.run(ask())
    assert (status, result["value"]) == (200, 1.0)


def test_the_document_names_what_there_is() -> None:
    document = openapi(8)
    assert set(document["paths"]) == {"/score", "/healthz"}
    schemas = document["components"]["schemas"]
    assert schemas["Outputs"]["properties"]["outputs"]["maxItems"] == 8

    async def ask() -> Any:
        async with serving() as client:
            return (await client.post({"case": "capital", "output": "Paris"}))[1]

    result = asyncio.run(ask())
    assert set(result) == set(schemas["Result"]["properties"])
