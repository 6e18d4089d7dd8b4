"""Who may use the proxy, and for what: real sockets, and a server that keeps all that reaches it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientSession, web

from proctor.core.access import Destination
from proctor.core.exchange import Upstream
from proctor.engine.models.proxy import ModelProxy
from proctor.errors import UsageError

KEY = {"Authorization": "Bearer the-real-key"}
ASK = {"model": "whatever", "messages": [{"role": "user", "content": "2+3?"}]}
BODY = json.dumps(ASK)
HOST = "Host: 127.0.0.1:PORT\r\n"
END = f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}"
CHAT = "POST /SECRET/v1/chat/completions HTTP/1.1\r\n"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Kept:
    """A server that keeps what it is asked."""

    def __init__(self, headers: dict[str, str] | None = None) -> None:
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []
        self.headers = headers or {}

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.received.append((request.method, request.raw_path, headers, await request.read()))
        message = {"role": "assistant", "content": "5"}
        return web.json_response({"choices": [{"message": message}]}, headers=self.headers)


def behind(
    handler: Handler, work: Callable[[ModelProxy, str], Awaitable[Any]], model: str = "real"
) -> Any:
    """Do something with a proxy and one of its sessions, in front of a server."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return await handler(request)

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        destination = Destination(base=base, headers=KEY)
        try:
            async with ModelProxy(
                Upstream(destination=destination, model=model)
            ).serving() as proxy:
                return await work(proxy, proxy.open())
        finally:
            await runner.cleanup()

    return asyncio.run(run())


async def raw(proxy: ModelProxy, text: str) -> str:
    """Send bytes as they are, and return the first line of what comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy._port)
    writer.write(text.replace("PORT", str(proxy._port)).encode("latin-1"))
    await writer.drain()
    try:
        return (await asyncio.wait_for(reader.readline(), 60)).decode("latin-1")
    finally:
        writer.close()


def line(method: str, path: str, *more: str) -> str:
    """Write the head of a request, with a body where the method has one."""
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{one}\r\n" for one in more)
    head += "" if any(one.startswith("Host") for one in more) else HOST
    return head + (END if method == "POST" else "\r\n")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (line("POST", "/SECRET/v1/chat/completions"), 200),
        (line("POST", "/SECRET/v1/chat/completions", "Host: localhost:PORT"), 200),
        (line("POST", "/SECRET/v1/responses"), 200),
        (line("POST", "/SECRET/v1/embeddings"), 200),
        (line("POST", "/SECRET/v1/messages"), 200),
        (line("POST", "/SECRET/v1/models/gemini-x:generateContent"), 200),
        (line("GET", "/SECRET/v1/models"), 200),
        (line("GET", "/SECRET/v1/models/org/name:8b"), 200),
        # without the secret, or with one that is almost right
        (line("POST", "/v1/chat/completions"), 404),
        (line("POST", "//v1/chat/completions"), 404),
        (line("POST", "/ALMOST/v1/chat/completions"), 404),
        (line("POST", "/SECRETx/v1/chat/completions"), 404),
        (line("POST", "/s/SECRET/v1/chat/completions"), 404),
        (line("POST", "/SECRET/chat/completions"), 404),
        (line("GET", "/"), 404),
        # other things that a key can do
        (line("DELETE", "/SECRET/v1/files/file-1"), 404),
        (line("GET", "/SECRET/v1/files"), 404),
        (line("POST", "/SECRET/v1/files"), 404),
        (line("POST", "/SECRET/v1/fine_tuning/jobs"), 404),
        (line("GET", "/SECRET/v1/organization/admin_api_keys"), 404),
        (line("DELETE", "/SECRET/v1/models/ft-1"), 405),
        (line("DELETE", "/SECRET/v1/chat/completions"), 405),
        (line("GET", "/SECRET/v1/chat/completions"), 405),
        (line("OPTIONS", "/SECRET/v1/chat/completions"), 405),
        (line("HEAD", "/SECRET/v1/models"), 405),
        # paths that lead elsewhere
        (line("POST", "/SECRET/v1/../v1/files"), 404),
        (line("GET", "/SECRET/v1/models/../files"), 404),
        (line("GET", "/SECRET/v1/models/%2e%2e/files"), 404),
        (line("GET", "/SECRET/v1/models/x/..%2ffiles"), 404),
        (line("GET", "/SECRET/v1/models/..:x"), 404),
        (line("POST", "/SECRET/v1/chat%2Fcompletions"), 404),
        (line("POST", "/SECRET/v1//files"), 404),
        # pages of a browser, and names that were bent to this machine
        (line("POST", "/SECRET/v1/chat/completions", "Origin: https://evil.example"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Origin: null"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Sec-Fetch-Site: cross-site"), 403),
        (line("GET", "/SECRET/v1/models", "Sec-Fetch-Site: same-site"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Host: evil.example"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Host: evil.example:PORT"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Host: 127.0.0.1"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Host: 127.0.0.1:1"), 403),
        (line("POST", "/SECRET/v1/chat/completions", "Host: x@127.0.0.1:PORT"), 403),
        # bodies that are no call
        (CHAT + HOST + "Content-Length: 7\r\n\r\nno json", 400),
        (CHAT + HOST + "Content-Length: 2\r\n\r\n[]", 400),
    ],
)
def test_who_may_use_it_and_for_what(text: str, status: int) -> None:
    server = Kept()

    async def work(proxy: ModelProxy, secret: str) -> str:
        almost = secret[:-1] + ("a" if secret[-1] != "a" else "b")
        return await raw(proxy, text.replace("ALMOST", almost).replace("SECRET", secret))

    said = behind(server, work)
    assert int(said.split()[1]) == status, said
    assert bool(server.received) is (status == 200)
    if server.received:
        assert server.received[0][2]["authorization"] == "Bearer the-real-key"


def test_two_hosts_are_none() -> None:
    server = Kept()

    async def work(proxy: ModelProxy, secret: str) -> str:
        head = CHAT.replace("SECRET", secret) + HOST + "Host: evil.example\r\n"
        return await raw(proxy, head + END)

    assert behind(server, work).split()[1] in ("400", "403")
    assert server.received == []


def test_a_body_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.models.proxy.LARGEST", 1000)
    server = Kept()

    async def work(proxy: ModelProxy, secret: str) -> str:
        head = CHAT.replace("SECRET", secret) + HOST + "Content-Length: 2000\r\n\r\n"
        return await raw(proxy, head + "x" * 2000)

    assert behind(server, work).split()[1] == "413"
    assert server.received == []


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_a_response_has_an_end(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("proctor.engine.models.proxy.LARGEST", 100_000)

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": kind})
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"data: " + b"x" * 10_000 + b"\n\n")
        return response

    async def work(proxy: ModelProxy, secret: str) -> tuple[int, int]:
        async with (
            ClientSession() as client,
            client.post(f"{proxy.base(secret)}/chat/completions", json=ASK) as answer,
        ):
            return answer.status, len(await answer.read())

    status, size = behind(handler, work)
    assert status == (502 if kind == "application/json" else 200)
    assert size < 200_000


def test_only_headers_of_both_sides_are_passed_on() -> None:
    server = Kept({
        "Set-Cookie": "sid=1", "X-Request-Id": "r1", "Access-Control-Allow-Origin": "*",
        "Connection": "keep-alive, X-Hop", "X-Hop": "1", "X-Ratelimit-Remaining-Tokens": "9",
        "X-Echo": "Bearer the-real-key",
    })  # fmt: skip

    async def work(proxy: ModelProxy, secret: str) -> Any:
        ours = {
            "Cookie": "a=b", "Authorization": "Bearer of-the-agent", "X-Api-Key": "k",
            "X-Goog-Api-Key": "k", "Proxy-Authorization": "p", "Referer": "r", "X-Forwarded-For": "f",
            "OpenAI-Organization": "o", "OpenAI-Beta": "b", "anthropic-version": "v", "X-Own": "1",
            "Connection": "X-Own", "User-Agent": "agent/1",
        }  # fmt: skip
        async with (
            ClientSession() as client,
            client.post(f"{proxy.base(secret)}/chat/completions", json=ASK, headers=ours) as answer,
        ):
            return dict(answer.headers)

    back = {name.lower(): value for name, value in behind(server, work).items()}
    sent = server.received[0][2]
    gone = {"cookie", "x-api-key", "x-goog-api-key", "proxy-authorization", "referer",
            "x-forwarded-for", "openai-organization", "x-own"}  # fmt: skip
    assert not gone & sent.keys()
    assert (sent["openai-beta"], sent["anthropic-version"]) == ("b", "v")
    assert (sent["authorization"], sent["user-agent"]) == ("Bearer the-real-key", "agent/1")
    assert not {"set-cookie", "access-control-allow-origin", "x-hop"} & back.keys()
    assert (back["x-request-id"], back["x-ratelimit-remaining-tokens"]) == ("r1", "9")
    assert "the-real-key" not in str(back)
    assert back["cross-origin-resource-policy"] == "same-origin"


def test_an_ended_session_is_nobody_s() -> None:
    async def work(proxy: ModelProxy, secret: str) -> tuple[str, str]:
        other = proxy.open()
        proxy.end(secret)
        texts = [CHAT.replace("SECRET", one) + HOST + END for one in (secret, other)]
        return await raw(proxy, texts[0]), await raw(proxy, texts[1])

    first, second = behind(Kept(), work)
    assert (first.split()[1], second.split()[1]) == ("404", "200")


@pytest.mark.parametrize("secret", ["short", "with space and more", "a/b/c/d/e/f/g/h/i", "ä" * 20])
def test_a_secret_of_one_s_own_must_be_one(secret: str) -> None:
    proxy = ModelProxy(Upstream(destination=Destination(base="http://127.0.0.1:9/v1"), model="m"))
    with pytest.raises(UsageError, match="the secret must have at least 16"):
        proxy.open(secret)
    assert proxy.open("a-secret-of-my-own_1") == "a-secret-of-my-own_1"


def test_the_model_is_ours_wherever_it_is_named() -> None:
    server = Kept()

    async def work(proxy: ModelProxy, secret: str) -> None:
        path = f"POST /{secret}/v1/models/dearest:generateContent HTTP/1.1\r\n"
        await raw(proxy, path + HOST + END)
        await raw(proxy, CHAT.replace("SECRET", secret) + HOST + END)

    behind(server, work, model="cheap")
    assert server.received[0][1] == "/v1/models/cheap:generateContent"
    assert json.loads(server.received[1][3])["model"] == "cheap"


def test_a_key_that_a_server_repeats_reaches_no_agent_and_no_record() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        key = request.headers["Authorization"].removeprefix("Bearer ")
        if "stream" not in await request.json():
            return web.json_response({"choices": [{"message": {"content": f"it is {key}"}}]})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for part in (key, " and ", key[:6], key[6:]):
            event = {"choices": [{"delta": {"content": part}}]}
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        return response

    async def work(proxy: ModelProxy, secret: str) -> Any:
        url, bodies = f"{proxy.base(secret)}/chat/completions", []
        async with ClientSession() as client:
            for body in (ASK, {**ASK, "stream": True}):
                async with client.post(url, json=body) as answer:
                    bodies.append(await answer.read())
        return bodies, proxy.taken(secret)

    bodies, calls = behind(handler, work)
    assert [b"[key]" in body for body in bodies] == [True, True]
    assert b"the-real-key" not in b"".join(bodies)
    assert [call.reply_text for call in calls] == ["it is [key]", "[key] and [key]"]
