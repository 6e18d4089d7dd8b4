"""Deployments at Azure: their address, their key, their errors."""

import asyncio

import pytest

from proctor.contracts.model import Model
from proctor.core.exchange import Request
from proctor.core.names import parse_model
from proctor.core.suite import Message
from proctor.errors import UsageError
from proctor.registry import build

HELLO = Request(messages=(Message(role="user", content="hi"),))


def model(text: str) -> Model:
    made: Model = build("model", parse_model(text))
    return made


@pytest.mark.parametrize("ending", ["", "/", "/openai", "/openai/"])
def test_a_call_names_the_deployment_and_the_version(stub, monkeypatch, ending) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "the-key")
    server = stub(
        lambda *_: (200, {}, b'{"choices": [{"message": {"content": "hello"}}], "usage": {}}')
    )
    client = model(f"azure:my model@{server.root}{ending}?api-version=2024-02-01")

    async def ask() -> str | None:
        try:
            return (await client.reply(HELLO)).text
        finally:
            await client.close()

    assert asyncio.run(ask()) == "hello"
    method, path, _, headers = server.came[-1]
    assert (method, path) == (
        "POST",
        "/openai/deployments/my%20model/chat/completions?api-version=2024-02-01",
    )
    assert headers["api-key"] == "the-key"
    assert "authorization" not in headers
    assert "the-key" not in repr(client)


def test_wrong_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(UsageError, match="AZURE_OPENAI_ENDPOINT"):
        model("azure:d")
    with pytest.raises(UsageError, match="only api-version="):
        model("azure:d@https://h?key=1")
