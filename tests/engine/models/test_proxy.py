"""The proxy: calls are passed on as they are, remembered by session, and nobody else's business."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientSession, web

from proctor.core.access import Destination
from proctor.core.exchange import Upstream as Behind
from proctor.engine.models.proxied_replies import reply_in, reply_in_stream
from proctor.engine.models.proxy import ModelProxy
from proctor.testing import Answer, FakeServer

KEY = {"Authorization": "Bearer the-real-key"}


def Upstream(base: str, headers: dict[str, str] | None = None, **more: Any) -> Behind:
    return Behind(destination=Destination(base=base, headers=headers or {}), **more)


ASK = {"model": "whatever", "messages": [{"role": "user", "content": "2+3?"}]}


def with_proxy(
    upstream: Upstream, work: Callable[[ModelProxy, ClientSession], Awaitable[Any]], **more: Any
) -> Any:
    async def run() -> Any:
        async with ModelProxy(upstream, **more).serving() as proxy, ClientSession() as client:
            return await work(proxy, client)

    return asyncio.run(run())


def test_a_call_is_passed_on_and_becomes_a_step() -> None:
    told: list[Any] = []
    with FakeServer(lambda *_: Answer("5", tokens=(20, 1)), key="the-real-key") as server:
        upstream = Upstream(
            base=f"{server.url}", model="real", headers=KEY, price=(1_000_000.0, 0.0)
        )

        async def work(proxy: ModelProxy, client: ClientSession) -> Any:
            session = proxy.open()
            env = proxy.env(session)
            assert env["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
            async with client.post(
                f"{env['OPENAI_BASE_URL']}/chat/completions",
                json=ASK,
                headers={"Authorization": f"Bearer {env['OPENAI_API_KEY']}"},
            ) as answer:
                body = await answer.json()
            taken = proxy.taken(session)
            assert proxy.taken(session) == []
            return body, taken

        body, (call,) = with_proxy(upstream, work, on_call=told.append)
    assert body["choices"][0]["message"]["content"] == "5"
    assert (call.model, call.reply_text, call.usage.prompt_tokens, call.usage.cost) == (
        "real",
        "5",
        20,
        20,
    )
    assert told == [call]
    post = call.post
    assert (post.send_from, post.send_to, post.message) == ("Model", "Planner", "5")
    kinds = ["model_request", "model_settings", "model_usage"]
    assert [a.type for a in post.attachments] == kinds
    assert post.attachments[1].content == {"model": "real"}
    assert "the-real-key" not in json.dumps(call.to_json()) + repr(call)


def serve(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Any:
    async def start() -> tuple[web.AppRunner, str]:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", handler)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    return start()


PARTS: list[dict[str, Any]] = [
    {"choices": [{"delta": {"content": "Hel"}}]},
    {"choices": [{"delta": {"content": "lo"}}]},
    {"choices": [{"delta": {"tool_calls": [
        {"index": 0, "function": {"name": "add", "arguments": '{"a":'}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
]  # fmt: skip


def test_a_stream_is_passed_on_without_what_only_we_asked_for() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(await request.json())
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        text = "".join(f"data: {json.dumps(part)}\n\n" for part in PARTS) + "data: [DONE]\n\n"
        for place in range(0, len(text), 11):
            await response.write(text[place : place + 11].encode())
        return response

    async def run() -> tuple[bytes, Any]:
        runner, base = await serve(handler)
        try:
            async with ModelProxy(Upstream(base=base, model="m")).serving() as proxy:
                session = proxy.open()
                url = f"{proxy.base(session)}/chat/completions"
                async with (
                    ClientSession() as client,
                    client.post(url, json={**ASK, "stream": True}) as answer,
                ):
                    return await answer.read(), proxy.taken(session)
        finally:
            await runner.cleanup()

    body, (call,) = asyncio.run(run())
    assert seen[0]["stream_options"] == {"include_usage": True}
    assert body.count(b"data:") == len(PARTS), "the four parts and the end"
    assert b"usage" not in body
    assert (call.reply_text, call.tools) == ("Hello", ({"name": "add", "arguments": '{"a":1}'},))
    assert (call.usage.prompt_tokens, call.usage.completion_tokens) == (7, 3)


def test_a_server_that_is_away_is_told_to_the_agent_and_noted() -> None:
    async def work(proxy: ModelProxy, client: ClientSession) -> Any:
        session = proxy.open()
        url = f"{proxy.base(session)}/chat/completions"
        async with client.post(url, json=ASK) as answer:
            return answer.status, await answer.json(), proxy.taken(session)

    status, body, (call,) = with_proxy(Upstream(base="http://127.0.0.1:9/v1", model="m"), work)
    assert status == 502
    assert "cannot be reached" in body["error"]["message"]
    assert call.status == 502


def test_a_redirect_is_not_followed_with_the_key() -> None:
    came: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        came.append(request.path)
        raise web.HTTPFound("http://127.0.0.1:9/stolen")

    async def run() -> int:
        runner, base = await serve(handler)
        try:
            upstream = Upstream(base=base, model="m", headers=KEY)
            async with ModelProxy(upstream).serving() as proxy, ClientSession() as client:
                url = f"{proxy.base(proxy.open())}/chat/completions"
                async with client.post(url, json=ASK, allow_redirects=False) as answer:
                    return answer.status
        finally:
            await runner.cleanup()

    assert asyncio.run(run()) == 302
    assert came == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    "body", [b"", b"no json", b"[]", b'{"choices": 5}', b'{"choices": [5], "usage": 3}', b"\xff"]
)
def test_a_reply_that_cannot_be_read_says_nothing(body: bytes) -> None:
    for heard in (reply_in(body), reply_in_stream(b"data: " + body + b"\n\n")):
        assert (heard.text, heard.tools, heard.prompt_tokens) == ("", (), 0)
