"""The client of the Messages API against a server on loopback."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.suite import Message
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.testing import Answer, FakeServer, Fault, Rule


def once(model: Any, request: Request) -> Reply:
    async def main() -> Reply:
        try:
            await model.check()
            return await model.reply(request)
        finally:
            await model.close()

    return asyncio.run(main())


def test_what_is_sent(
    stub: Any, model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    payload = {"id": "msg_1", "model": "claude-9", "stop_reason": "end_turn",
               "content": [{"type": "text", "text": "A cat."}],
               "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3}}  # fmt: skip
    server = stub(lambda *_: (200, {"request-id": "req_1"}, json_bytes.dumps(payload)))
    request = Request(
        messages=(
            Message(role="system", content="Be brief."),
            Message(role="developer", content="Be kind."),
            Message(role="user", content="See?", images=("data:image/png;base64,AA==",)),
            Message(role="assistant", content=""),
            Message(role="user", content="And?", images=("https://h/a.png",)),
        ),
        sampling=Sampling(temperature=0.5, top_k=4, seed=9, stop=("END",)),
    )
    reply = once(model("anthropic", model="claude-9", urls=[server.root]), request)
    _, path, body, headers = server.came[1]
    assert path == "/v1/messages"
    assert headers["x-api-key"] == "a-key"
    assert headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in headers
    assert body == {
        "model": "claude-9",
        "max_tokens": 32_000,
        "system": "Be brief.\n\nBe kind.",
        "temperature": 0.5,
        "top_k": 4,
        "stop_sequences": ["END"],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
                    },
                    {"type": "text", "text": "See?"},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }
    assert (reply.text, reply.finish, reply.request_id, reply.served_by) == (
        "A cat.", "end_turn", "req_1", "claude-9",
    )  # fmt: skip
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (12, 3)


@pytest.mark.parametrize(
    ("said", "text", "thinking", "finish"),
    [
        (Answer("b", thinking="a"), "b", "a", "end_turn"),
        (Answer("<think>a</think>b"), "b", "a", "end_turn"),
        (Answer("half", finish="length"), "half", "", "max_tokens"),
        (Answer(None), None, "", "end_turn"),
    ],
)
def test_replies(
    model: Callable[..., Any], ask: Any, said: Answer, text: str | None, thinking: str, finish: str
) -> None:
    with FakeServer(lambda m, b: said) as server:
        reply = once(model("anthropic", model="c", urls=[server.url]), ask(max_tokens=5))
    assert (reply.text, reply.thinking, reply.finish) == (text, thinking, finish)
    assert reply.truncated == (finish == "max_tokens")
    assert server.calls[0].body["max_tokens"] == 5


@pytest.mark.parametrize(
    ("refuses", "rung", "calls"),
    [
        ((), "schema", 1),
        (("output_config.format",), "tool", 2),
        (("output_config.format", "tools"), "", 3),
    ],
)
def test_a_shape_is_asked_for_by_schema_by_a_tool_or_not_at_all(
    model: Callable[..., Any], refuses: tuple[str, ...], rung: str, calls: int
) -> None:
    shape = ReplyShape(name="verdict", schema={"type": "object", "properties": {}})
    request = Request(messages=(Message(role="user", content="ok?"),), shape=shape)
    with FakeServer('{"ok": true}', refuses=refuses) as server:
        reply = once(model("anthropic", model="c", urls=[server.url]), request)
    assert (reply.rung, json_bytes.loads(reply.text or "")) == (rung, {"ok": True})
    assert len(server.calls) == calls
    body = server.calls[-1].body
    schema = {"format": {"type": "json_schema", "schema": shape.schema}}
    assert body.get("output_config") == (schema if rung == "schema" else None)
    if rung == "tool":
        assert body["tool_choice"] == {"type": "tool", "name": "verdict"}
        assert body["tools"] == [{"name": "verdict", "input_schema": shape.schema}]


@pytest.mark.parametrize(
    ("effort", "refuses", "thinking", "config"),
    [
        ("high", (), {"type": "adaptive"}, {"effort": "high"}),
        ("minimal", (), {"type": "adaptive"}, {"effort": "low"}),
        ("none", (), {"type": "disabled"}, None),
        ("xhigh", ("output_config.effort=xhigh",), {"type": "adaptive"}, {"effort": "high"}),
        ("high", ("output_config",), {"type": "adaptive"}, None),
        (
            "high",
            ("thinking.type=adaptive",),
            {"type": "enabled", "budget_tokens": 16_384},
            None,
        ),
        ("high", ("thinking",), None, None),
        (None, (), None, None),
    ],
)
def test_the_effort_of_thinking(
    model: Callable[..., Any],
    ask: Any,
    effort: str | None,
    refuses: tuple[str, ...],
    thinking: Any,
    config: Any,
) -> None:
    with FakeServer("yes", refuses=refuses) as server:
        client = model("anthropic", model="c", urls=[server.url])
        assert once(client, ask(reasoning_effort=effort)).text == "yes"
    body = server.calls[-1].body
    assert (body.get("thinking"), body.get("output_config")) == (thinking, config)
    assert bool(client.refused) is bool(refuses)


def test_faults_are_tried_again(model: Callable[..., Any], ask: Any) -> None:
    rules = [
        Rule(fault=Fault("error", status=529), tries=(1,)),
        Rule(fault=Fault("broken_json"), tries=(2,)),
    ]
    with FakeServer("yes", rules=rules) as server:
        assert once(model("anthropic", model="c", urls=[server.url]), ask()).text == "yes"
        assert len(server.calls) == 3


def test_the_key(model: Callable[..., Any], ask: Any) -> None:
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY"):
        once(model("anthropic", model="claude-sonnet-4-5"), ask())
    with FakeServer("yes", key="right") as server:
        client = model("anthropic", model="c", urls=[server.url])
        client.use_key("wrong-key")
        with pytest.raises(ModelError, match="check the key in your settings") as raised:
            once(client, ask())
        assert "wrong-key" not in str(raised.value)
        client.use_key("right")
        assert once(client, ask()).text == "yes"
    assert model("anthropic", model="claude-sonnet-4-5").price == (3.0, 15.0)
