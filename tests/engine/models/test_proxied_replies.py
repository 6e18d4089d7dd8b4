"""Replies of four APIs, whole and streamed, say the same."""

import json
from typing import Any

import pytest

from proctor.core.exchange import Rates, Usage
from proctor.engine.models.proxied_replies import ProxiedReply, reply_in, reply_in_stream
from proctor.engine.models.proxy import api_of
from scripted_model import ScriptedModel

PATHS = ("/v1/messages", "/v1/responses", "/v1beta/models/m:generateContent", "/chat/completions")
STEPS = [
    ({"tool": "add", "input": {"a": 1}}, "", ({"name": "add", "arguments": '{"a": 1}'},)),
    ({"text": "Hello"}, "Hello", ()),
]


def heard(path: str, step: Any, *, streamed: bool) -> ProxiedReply:
    parts = ScriptedModel(()).written(path, step, streamed)
    if streamed:
        return reply_in_stream(
            b"".join(b"data: " + json.dumps(p).encode() + b"\n\n" for p in parts)
        )
    return reply_in(json.dumps(parts[-1]).encode())


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("step", "text", "tools"), STEPS)
@pytest.mark.parametrize("path", PATHS)
def test_text_calls_and_tokens(path: str, step: Any, text: str, tools: Any, streamed: bool) -> None:
    reply = heard(path, step, streamed=streamed)
    assert (reply.text, reply.tools) == (text, tools)
    assert reply.usage == Usage(prompt_tokens=1000, completion_tokens=10, cached_tokens=400)


def test_cached_tokens_have_their_own_price() -> None:
    rates = Rates(prompt=1.0, completion=10.0, cached=0.1)
    usage = heard("/v1/messages", {"text": "x"}, streamed=True).usage
    assert rates.cost(usage) == pytest.approx((600 + 40 + 100) / 1e6)


def test_a_list_of_parts_is_a_stream_too() -> None:
    parts = [{"candidates": [{"content": {"parts": [{"text": t}]}}]} for t in "ab"]
    assert reply_in(json.dumps(parts).encode()).text == "ab"


def test_a_broken_stream_of_responses_keeps_its_finished_items() -> None:
    item = {"type": "custom_tool_call", "name": "apply_patch", "input": "patch"}
    event = {"type": "response.output_item.done", "item": item}
    reply = reply_in_stream(b"data: " + json.dumps(event).encode() + b"\n\n")
    assert reply.tools == ({"name": "apply_patch", "arguments": "patch"},)


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("chat/completions", "chat completions"),
        ("responses", "Responses"),
        ("messages", "Messages"),
        ("messages/count_tokens", "Messages"),
        ("models/m:generateContent", "generateContent"),
        ("models/m:streamGenerateContent", "generateContent"),
        ("embeddings", ""),
        ("models", ""),
    ],
)
def test_the_api_of_a_path(path: str, api: str) -> None:
    assert api_of(path) == api
