"""Servers that fail: what is tried again, what is told, and that nothing else gets out."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.exchange import Reply, Request
from proctor.errors import ModelError
from proctor.io import concurrency, json_bytes
from proctor.testing import FakeServer, Fault, Rule

KEY = "sk-very-secret-0123456789"


def once(model: Any, request: Request) -> Reply:
    async def main() -> Reply:
        try:
            return await model.reply(request)
        finally:
            await model.close()

    return asyncio.run(main())


def closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("rate_limit"), "429"),
        (Fault("error", status=500), "500"),
        (Fault("error", status=503), "503"),
        (Fault("hang"), "no reply within"),
        (Fault("broken_json"), "breaks off"),
        (Fault("cut_off"), "broke off"),
        (Fault("wrong_type"), "text/html"),
        (Fault("reset"), "broke off"),
        (Fault("no_choices"), "without its parts"),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_passing_faults_are_tried_again_and_told_when_they_stay(
    model: Callable[..., Any], ask: Any, fault: Fault, told: str
) -> None:
    # Only what never comes is waited for so long.
    limit = 0.4 if fault.kind == "hang" else 60.0
    with FakeServer("yes", rules=[Rule(fault=fault, tries=(1, 2), matching="twice")]) as server:
        client = model("openai", model="m", urls=[server.url], timeout=limit)
        assert once(client, ask("twice")).text == "yes"
        assert len(server.calls) == 3
        assert len(client.waits) == 2
    with FakeServer("yes", rules=[Rule(fault=fault)]) as server:
        client = model("openai", model="m", urls=[server.url], timeout=limit, retries=1)
        with pytest.raises(ModelError, match=told) as raised:
            once(client, ask())
        assert raised.value.passing
        assert raised.value.exit_code == 3
        assert server.url in str(raised.value)


def test_a_slow_drip_is_waited_for(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer("yes", rules=[Rule(fault=Fault("drip", seconds=0.3))]) as server:
        client = model("openai", model="m", urls=[server.url])
        assert once(client, ask()).text == "yes"
        assert len(server.calls) == 1


def test_retry_after_is_honoured_and_concurrency_halves(
    model: Callable[..., Any], ask: Any
) -> None:
    rules = [Rule(fault=Fault("rate_limit", retry_after=5), tries=(1,))]
    with FakeServer("yes", rules=rules) as server:
        client = model("openai", model="m", urls=[server.url])
        once(client, ask())
    assert 5 <= client.waits[0] <= 6.25
    assert 8 <= client._limiter.allowed < 9


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_refusals_are_told_at_once_in_the_servers_words(
    stub: Any, model: Callable[..., Any], ask: Any, status: int
) -> None:
    server = stub(lambda *_: (status, {}, b'{"error": {"message": "the server says no"}}'))
    client = model("openai", model="m", urls=[server.root])
    with pytest.raises(ModelError, match="the server says no") as raised:
        once(client, ask())
    assert (raised.value.status, raised.value.passing) == (status, False)
    paths = [path for _, path, _, _ in server.came]
    assert paths == ["/v1/chat/completions", *(["/v1/responses"] if status == 404 else [])]


@pytest.mark.parametrize(
    ("status", "payload", "tries", "told"),
    [
        (200, {"error": {"message": "upstream fell over"}}, 3, "upstream fell over"),
        (200, {"error": {"message": "slow down", "code": 429}}, 9, "429"),
        (200, {"error": {"message": "bad model", "code": 404}}, 1, "bad model"),
        (429, {"error": {"message": "pay first", "code": "insufficient_quota"}}, 1, "pay first"),
        (200, {}, 3, "without its parts"),
        (200, [], 3, "without its parts"),
        (200, {"choices": []}, 3, "without its parts"),
        (200, {"choices": [{"message": {"content": 7}}]}, 3, "without its parts"),
        (302, {}, 1, "redirects"),
        (404, {"detail": "Not Found"}, 2, "Not Found"),
        (404, {"error": {"message": "The model 'm' does not exist"}}, 1, "does not exist"),
    ],
)
def test_odd_answers(
    stub: Any, model: Callable[..., Any], ask: Any, status: int, payload: Any, tries: int, told: str
) -> None:
    server = stub(lambda *_: (status, {"location": "http://elsewhere/"}, json_bytes.dumps(payload)))
    with pytest.raises(ModelError, match=told):
        once(model("openai", model="m", urls=[server.root], retries=2), ask())
    assert len(server.came) == tries


def test_the_key_is_shown_nowhere(
    stub: Any, model: Callable[..., Any], ask: Any, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect key {KEY} for hidden-team \x1b[31m" + "x" * 2000
    server = stub(lambda *_: (401, {}, json_bytes.dumps({"error": {"message": said}})))
    client = model("openai", model="m", urls=[server.root], headers={"X-Team": "hidden-team"})
    messages = []

    async def main() -> None:
        for work in (client.check, lambda: client.reply(ask())):
            with pytest.raises(ModelError) as raised:
                await work()
            messages.append(str(raised.value))
        await client.close()

    asyncio.run(main())
    for shown in (*messages, repr(client), json_bytes.dumps(client.identity).decode(), caplog.text):
        assert KEY not in shown
        assert "hidden-team" not in shown
        assert "\x1b" not in shown
    for message in messages:
        assert "[key]" in message
        assert "OPENAI_API_KEY" in message
        assert len(message) < 800


def test_no_server_at_all(model: Callable[..., Any], ask: Any) -> None:
    nowhere = closed_port()
    client = model("openai", model="m", urls=[nowhere], retries=2)
    with pytest.raises(ModelError, match="cannot be reached") as raised:
        once(client, ask())
    assert raised.value.passing
    assert nowhere in str(raised.value)
    assert len(client.waits) == 2


def test_two_servers_share_the_load_and_a_dead_one_is_left_out(
    model: Callable[..., Any], ask: Any
) -> None:
    async def many(client: Any) -> None:
        texts = [ask(f"number {number}") for number in range(40)]
        async for reply in concurrency.map_unordered(texts, client.reply, limit=8):
            assert reply.text == "yes"
        await client.close()

    with FakeServer("yes", latency=0.005) as one, FakeServer("yes", latency=0.005) as two:
        asyncio.run(many(model("openai", model="m", urls=[one.url, two.url])))
        assert len(one.calls) + len(two.calls) == 40
        assert min(len(one.calls), len(two.calls)) >= 8
    with FakeServer("yes") as alive:
        client = model("openai", model="m", urls=[closed_port(), alive.url])
        asyncio.run(many(client))
        assert len(alive.calls) == 40
        assert client._endpoints.endpoints[0].failures >= 1


def test_a_dead_server_that_comes_back_is_found_again(model: Callable[..., Any], ask: Any) -> None:
    port = int(closed_port().split(":")[2].split("/")[0])

    async def until_back(client: Any, back: FakeServer) -> None:
        for number in range(500):
            await client.reply(ask(f"again {number}"))
            if back.calls:
                break
            await asyncio.sleep(0.005)
        await client.close()

    with FakeServer("yes") as alive:
        client = model("openai", model="m", urls=[f"http://127.0.0.1:{port}", alive.url])
        once(client, ask("first"))
        once(client, ask("second"))
        assert client._endpoints.endpoints[0].failures == 1
        client._endpoints.endpoints[0].rests_until = 0.0
        with FakeServer("yes", port=port) as back:
            asyncio.run(until_back(client, back))
            assert back.calls


@pytest.mark.slow
def test_many_callers_and_many_faults_all_get_their_reply(
    model: Callable[..., Any], ask: Any
) -> None:
    rules = [
        Rule(fault=Fault("rate_limit", retry_after=0), rate=0.2),
        Rule(fault=Fault("error"), rate=0.05),
        Rule(fault=Fault("hang"), rate=0.02),
        Rule(fault=Fault("broken_json"), rate=0.02),
    ]

    async def main(client: Any) -> list[str]:
        asked = [ask(f"number {number}") for number in range(200)]
        said = [
            reply.text async for reply in concurrency.map_unordered(asked, client.reply, limit=32)
        ]
        await client.close()
        return said

    with FakeServer(None, rules=rules, seed=3) as server:
        client = model("openai", model="m", urls=[server.url], concurrency=20, timeout=4.0)
        said = asyncio.run(main(client))
    assert sorted(said) == sorted(f"number {number}" for number in range(200))
    assert server.max_in_flight <= 20
    assert server.finished_twice() == []
    assert client._limiter.running == 0
