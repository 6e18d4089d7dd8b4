"""Tools through chat completions: what is sent, what is read, and what a server refuses."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.suite import Message, Tool, ToolCall
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.testing import Answer, FakeServer

WEATHER = Tool(
    name="get_weather",
    description="Say the weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)
CLOCK = Tool(name="clock")
QUESTION = Message(role="user", content="Weather and time in Paris?")
CALLS = (
    ToolCall(name="get_weather", arguments={"city": "Paris"}, id="a"),
    ToolCall(name="clock", arguments={}, id="b"),
)


def once(model: Any, request: Request) -> Reply:
    async def main() -> Reply:
        try:
            return await model.reply(request)
        finally:
            await model.close()

    return asyncio.run(main())


def test_parallel_calls_and_their_results(model: Callable[..., Any]) -> None:
    request = Request(
        messages=(
            QUESTION,
            Message(role="assistant", content="", tool_calls=CALLS),
            Message(role="tool", content="sunny", tool_call_id="a"),
            Message(role="tool", content="noon", tool_call_id="b"),
        ),
        tools=(WEATHER, CLOCK),
        tool_choice="get_weather",
        sampling=Sampling(reasoning_effort="low"),
    )
    said = Answer(None, tool_calls=CALLS, tokens=(9, 5), cached_tokens=4, reasoning_tokens=2)
    with FakeServer(lambda m, b: said) as server:
        reply = once(model("openai", model="m", urls=[server.url]), request)
    body = server.calls[0].body
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
                },
                {
                    "id": "b",
                    "type": "function",
                    "function": {"name": "clock", "arguments": "{}"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
    ]
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Say the weather.",
                "parameters": WEATHER.parameters,
            },
        },
        {
            "type": "function",
            "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}},
        },
    ]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
    assert body["reasoning_effort"] == "low"
    assert (reply.text, reply.tool_calls, reply.finish) == (None, CALLS, "tool_calls")
    used = reply.usage
    assert (used.prompt_tokens, used.cached_tokens, used.reasoning_tokens) == (9, 4, 2)
    assert reply.message.tool_calls == CALLS


@pytest.mark.parametrize(
    ("arguments", "read"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("{broken", "{broken"), ({"a": 1}, {"a": 1}), ("7", 7)],
)
def test_arguments(model: Callable[..., Any], ask: Any, arguments: Any, read: Any) -> None:
    call = {"id": "x", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
    payload = {"choices": [{"message": message}]}
    with FakeServer(lambda m, b: payload) as server:
        reply = once(model("openai", model="m", urls=[server.url]), ask())
    assert reply.text == "I look."
    assert reply.tool_calls == (ToolCall(name="f", arguments=read, id="x"),)


def refusing(*fields: str) -> Callable[..., Any]:
    def answer(method: str, path: str, body: Any) -> Any:
        for name in fields:
            if name in body:
                error = {"message": f"'{name}' is not supported with this model.", "param": name}
                return 400, {}, json_bytes.dumps({"error": error})
        call = {"id": "1", "function": {"name": "clock", "arguments": "{}"}}
        choice = {"message": {"content": None, "tool_calls": [call]}}
        return 200, {}, json_bytes.dumps({"choices": [choice]})

    return answer


def test_a_refused_choice_is_left_out_and_refused_tools_are_an_error(
    stub: Any, model: Callable[..., Any]
) -> None:
    request = Request(messages=(QUESTION,), tools=(CLOCK,), tool_choice="required")
    server = stub(refusing("tool_choice"))
    client = model("openai", model="m", urls=[server.root])
    reply = once(client, request)
    assert [call.name for call in reply.tool_calls] == ["clock"]
    assert (reply.refused, client.refused) == ({"tool_choice": ""}, {"tool_choice": ""})
    server = stub(refusing("tools"))
    with pytest.raises(ModelError, match="'tools' is not supported"):
        once(model("openai", model="m", urls=[server.root]), request)


def test_a_shape_beside_tools_never_becomes_a_tool(stub: Any, model: Callable[..., Any]) -> None:
    shape = ReplyShape(name="verdict", schema={"type": "object"})
    request = Request(messages=(QUESTION,), tools=(CLOCK,), shape=shape)
    server = stub(refusing("response_format"))
    reply = once(model("openai", model="m", urls=[server.root]), request)
    assert [call.name for call in reply.tool_calls] == ["clock"]
    assert [one["function"]["name"] for one in server.came[-1][2]["tools"]] == ["clock"]
    assert (reply.rung, reply.text) == ("", None)


@pytest.mark.parametrize(
    ("taken", "sent"),
    [
        (("low", "high"), ["xhigh", "high"]),
        (("medium",), ["xhigh", "high", None]),
    ],
)
def test_an_effort_that_is_not_known_is_asked_for_as_the_nearest(
    stub: Any, model: Callable[..., Any], ask: Any, taken: Any, sent: list[str | None]
) -> None:
    def answer(method: str, path: str, body: Any) -> Any:
        effort = body.get("reasoning_effort", taken[0])
        if effort in taken:
            return 200, {}, json_bytes.dumps({"choices": [{"message": {"content": "yes"}}]})
        words = f"Unsupported value: 'reasoning_effort' does not support '{effort}'."
        return 400, {}, json_bytes.dumps({"error": {"message": words, "param": "reasoning_effort"}})

    server = stub(answer)
    client = model("openai", model="m", urls=[server.root])
    assert once(client, ask(reasoning_effort="xhigh")).text == "yes"
    assert [body.get("reasoning_effort") for _, _, body, _ in server.came] == sent
    instead = f"reasoning_effort={sent[-1]}" if sent[-1] else ""
    assert client.refused == {"reasoning_effort": instead}
