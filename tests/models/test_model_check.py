"""The health check before the first case."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.models import http_model

OKAY = (200, {}, json_bytes.dumps({"choices": [{"message": {"content": "Hi"}}], "data": []}))


def check(client: Any) -> None:
    async def main() -> None:
        try:
            await client.check()
        finally:
            await client.close()

    asyncio.run(main())


def error(status: int, message: str = "in its own words") -> Any:
    return status, {}, json_bytes.dumps({"error": {"message": message}})


@pytest.mark.parametrize(
    ("listed", "said", "asked"),
    [
        (OKAY, None, ["GET"]),
        (error(429), None, ["GET"]),
        (error(404), OKAY, ["GET", "POST"]),
        (error(405), OKAY, ["GET", "POST"]),
        (error(501), OKAY, ["GET", "POST"]),
        (error(400), error(429), ["GET", "POST"]),
        (error(404), error(400, "use max_completion_tokens"), ["GET", "POST", "POST"]),
    ],
)
def test_alive(stub: Any, model: Callable[..., Any], listed: Any, said: Any, asked: Any) -> None:
    def answer(method: str, path: str, body: Any) -> Any:
        if method == "GET":
            return listed
        return OKAY if "max_completion_tokens" in body else said

    server = stub(answer)
    check(model("openai", model="m", urls=[f"{server.root}/cand/v1"]))
    assert [method for method, *_ in server.came] == asked
    assert server.came[0][1] == "/cand/v1/models"
    for _, path, body, _ in server.came[1:]:
        assert path == "/cand/v1/chat/completions"
        assert body["messages"] == [{"role": "user", "content": "Hello"}]
        assert body["temperature"] == 1
        assert body.get("max_tokens", body.get("max_completion_tokens")) == 10


@pytest.mark.parametrize(
    ("listed", "said", "passing", "told"),
    [
        (error(401), None, False, "OPENAI_API_KEY"),
        (error(403), None, False, "OPENAI_API_KEY"),
        (error(404), error(401), False, "in its own words"),
        (error(404), error(404), False, "check the model's name 'm' and the base URL"),
        (error(404), error(400), False, "in its own words"),
        (error(500), None, True, "500"),
        (error(404), error(503), True, "503"),
    ],
)
def test_not_usable(
    stub: Any, model: Callable[..., Any], listed: Any, said: Any, passing: bool, told: str
) -> None:
    server = stub(lambda method, *_: listed if method == "GET" else said)
    with pytest.raises(ModelError, match=told) as raised:
        check(model("openai", model="m", urls=[server.root]))
    assert raised.value.passing == passing
    assert server.root in str(raised.value)


def test_refused_hanging_and_one_alive_of_several(
    stub: Any, model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_model, "CHECK_LIMIT", 0.2)
    monkeypatch.setattr(http_model, "GRACE", 0.1)
    with socket.socket() as silent, socket.socket() as free:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        hanging = f"http://127.0.0.1:{silent.getsockname()[1]}"
        free.bind(("127.0.0.1", 0))
        refusing = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ModelError) as raised:
            check(model("openai", model="m", urls=[hanging, refusing]))
        assert raised.value.passing
        assert f"{hanging}/v1 gave no reply" in str(raised.value)
        assert f"{refusing}/v1 cannot be reached" in str(raised.value)
        alive = stub(lambda *_: OKAY)
        client = model("openai", model="m", urls=[hanging, alive.root, refusing])
        check(client)
        assert [bool(e.failures) for e in client._endpoints.endpoints] == [True, False, True]
