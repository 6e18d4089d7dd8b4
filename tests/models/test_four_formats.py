"""One request in the four formats of today's APIs: the same is asked, and the same is understood."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.suite import Message, Tool, ToolCall
from proctor.models import anthropic, gemini, responses, tool_messages
from proctor.testing import Answer, FakeServer, Fault, Rule

FORMATS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1/models/m:generateContent",
}
WEATHER = Tool(
    name="get_weather",
    description="Say the weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)
QUESTION = Message(role="user", content="Weather and time in Paris?")
CALLS = (ToolCall(name="get_weather", arguments={"city": "Paris"}), ToolCall(name="clock"))
SHAPE = ReplyShape(name="verdict", schema={"type": "object", "properties": {"ok": {}}})
each = pytest.mark.parametrize("provider", FORMATS)


def once(model: Any, *requests: Request) -> list[Reply]:
    async def main() -> list[Reply]:
        try:
            return [await model.reply(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(main())


@each
def test_two_calls_at_once_their_results_and_the_thinking_before_them(
    model: Callable[..., Any], provider: str
) -> None:
    def script(messages: list[Any], body: Any) -> Answer:
        if len(messages) > 2:
            return Answer("Sunny, at noon.")
        return Answer(
            None, thinking="Two things.", tool_calls=CALLS, tokens=(90, 50),
            cached_tokens=40, reasoning_tokens=20,
        )  # fmt: skip

    first = Request(
        messages=(Message(role="system", content="Be brief."), QUESTION),
        tools=(WEATHER, Tool(name="clock")),
        tool_choice="required",
    )
    with FakeServer(script) as server:
        client = model(provider, model="m", urls=[server.url])
        (asked,) = once(client, first)
        results = tuple(
            Message(role="tool", content=text, tool_call_id=call.id)
            for text, call in zip(("sunny", "noon"), asked.tool_calls, strict=True)
        )
        (told,) = once(client, replace(first, messages=(*first.messages, asked.message, *results)))
    assert (asked.text, asked.thinking) == (None, "Two things.")
    assert [(call.name, call.arguments) for call in asked.tool_calls] == [
        ("get_weather", {"city": "Paris"}), ("clock", {}),
    ]  # fmt: skip
    assert len({call.id for call in asked.tool_calls}) == 2
    used = asked.usage
    assert (used.prompt_tokens, used.completion_tokens, used.cached_tokens) == (90, 50, 40)
    assert used.reasoning_tokens == (0 if provider == "anthropic" else 20)
    assert (told.text, told.tool_calls) == ("Sunny, at noon.", ())
    assert [call.path for call in server.calls] == [FORMATS[provider]] * 2
    assert (
        sent_back(provider, server.calls[1].body, asked)
        == {
            "openai-chat": "nothing",
            "openai-responses": "sealed-1",
            "anthropic": "fake",
            "gemini": "signed-1",
        }[provider]
    )


def sent_back(provider: str, body: Any, asked: Reply) -> str:
    """Return the signature that came back with the thinking, and look at the results."""
    ids = [call.id for call in asked.tool_calls]
    if provider == "openai-chat":
        results = [(m["tool_call_id"], m["content"]) for m in body["messages"][3:]]
        assert results == [(ids[0], "sunny"), (ids[1], "noon")]
        return "nothing"
    if provider == "openai-responses":
        kinds = [item.get("type", "message") for item in body["input"]]
        assert kinds == ["message", "message", "reasoning", "function_call", "function_call",
                         "function_call_output", "function_call_output"]  # fmt: skip
        assert [item["output"] for item in body["input"][5:]] == ["sunny", "noon"]
        return str(body["input"][2]["encrypted_content"])
    if provider == "anthropic":
        assert body["messages"][1]["content"] == asked.carried["anthropic"]
        results = [(b["tool_use_id"], b["content"]) for b in body["messages"][2]["content"]]
        assert results == [(ids[0], "sunny"), (ids[1], "noon")]
        return str(body["messages"][1]["content"][0]["signature"])
    assert body["contents"][1]["parts"] == asked.carried["gemini"]
    results = [part["functionResponse"] for part in body["contents"][2]["parts"]]
    assert [(one["name"], one["response"]["result"]) for one in results] == [
        ("get_weather", "sunny"), ("clock", "noon"),
    ]  # fmt: skip
    return str(body["contents"][1]["parts"][1]["thoughtSignature"])


@each
@pytest.mark.parametrize("tool_choice", ["auto", "none", "required", "clock"])
def test_choices(model: Callable[..., Any], provider: str, tool_choice: str) -> None:
    request = Request(messages=(QUESTION,), tools=(Tool(name="clock"),), tool_choice=tool_choice)
    with FakeServer(lambda m, b: Answer("yes", tool_calls=CALLS[1:])) as server:
        (reply,) = once(model(provider, model="m", urls=[server.url]), request)
    assert (reply.text, [call.name for call in reply.tool_calls]) == ("yes", ["clock"])
    body = server.calls[0].body
    named = {
        "openai-chat": {"type": "function", "function": {"name": "clock"}},
        "openai-responses": {"type": "function", "name": "clock"},
        "anthropic": {"type": "tool", "name": "clock"},
        "gemini": {"mode": "ANY", "allowedFunctionNames": ["clock"]},
    }
    words = {"anthropic": {"required": "any"}, "gemini": {"required": "ANY"}}.get(provider, {})
    word = words.get(tool_choice, tool_choice)
    if provider == "gemini":
        sent = body["toolConfig"]["functionCallingConfig"]
        expected: Any = {"mode": word.upper()}
    else:
        sent = body["tool_choice"]
        expected = {"type": word} if provider == "anthropic" else word
    assert sent == (named[provider] if tool_choice == "clock" else expected)


SCHEMA_FIELDS = {
    "openai-chat": "response_format",
    "openai-responses": "text.format",
    "anthropic": "output_config.format",
    "gemini": "generationConfig.responseSchema",
}


@each
@pytest.mark.parametrize("refused", [False, True])
def test_schemas(model: Callable[..., Any], provider: str, refused: bool) -> None:
    request = Request(messages=(QUESTION,), shape=SHAPE)
    refuses = (SCHEMA_FIELDS[provider],) if refused else ()
    with FakeServer('{"ok":true}', refuses=refuses) as server:
        client = model(provider, model="m", urls=[server.url])
        first, second = once(client, request, replace(request, salt="2"))
    assert [reply.text for reply in (first, second)] == ['{"ok":true}'] * 2
    otherwise = "" if provider == "gemini" else "tool"
    assert {first.rung, second.rung} == {otherwise if refused else "schema"}
    assert len(server.calls) == (3 if refused else 2)
    assert client.refused == {}


TEMPERATURES = {"gemini": "generationConfig.temperature"}
EFFORTS = {
    "openai-chat": ("reasoning_effort", "low"),
    "openai-responses": ("reasoning.effort", "low"),
    "anthropic": ("output_config.effort", "low"),
    "gemini": (
        "generationConfig.thinkingConfig",
        {"thinkingLevel": "low", "includeThoughts": True},
    ),
}


@each
def test_what_is_refused_is_left_out_and_said_once(
    model: Callable[..., Any], provider: str
) -> None:
    from proctor.contracts.model import ModelListener

    told: list[str] = []
    field = TEMPERATURES.get(provider, "temperature")
    sampling = Sampling(temperature=0.0, reasoning_effort="low", max_tokens=99)
    request = Request(messages=(QUESTION,), sampling=sampling)
    with FakeServer("yes", refuses=(field,)) as server:
        client = model(provider, model="m", urls=[server.url])
        client.listen(ModelListener(setting_refused=lambda name, *_: told.append(name)))
        replies = once(client, request, replace(request, salt="2"))
    assert [reply.refused for reply in replies] == [{field: ""}] * 2
    assert told == [field]
    assert len(server.calls) == 3
    name, expected = EFFORTS[provider]
    sent = server.calls[-1].body
    for part in name.split("."):
        sent = sent[part]
    assert sent == expected


@each
def test_errors_in_mid_reply_are_tried_again(model: Callable[..., Any], provider: str) -> None:
    kinds = ("error_inside", "cut_off", "broken_json", "no_choices")
    rules = [Rule(fault=Fault(kind), tries=(n,)) for n, kind in enumerate(kinds, 1)]  # type: ignore[arg-type]
    if provider in ("anthropic", "openai-responses"):
        rules = rules[:3]
    with FakeServer("yes", rules=rules) as server:
        (reply,) = once(
            model(provider, model="m", urls=[server.url]), Request(messages=(QUESTION,))
        )
    assert (reply.text, len(server.calls)) == ("yes", len(rules) + 1)


@each
@pytest.mark.parametrize(
    ("said", "text", "thinking", "truncated"),
    [
        (Answer("b", thinking="a"), "b", "a", False),
        (Answer("<think>a</think>b"), "b", "a", False),
        (Answer("half", finish="length"), "half", "", True),
        (Answer(None), None, "", False),
    ],
)
def test_replies(
    model: Callable[..., Any],
    provider: str,
    said: Answer,
    text: str,
    thinking: str,
    truncated: bool,
) -> None:
    with FakeServer(lambda m, b: said) as server:
        (reply,) = once(
            model(provider, model="m", urls=[server.url]), Request(messages=(QUESTION,))
        )
    assert (reply.text, reply.thinking, reply.truncated) == (text, thinking, truncated)
    assert reply.served_by


PICTURE, PAGE = "data:image/png;base64,AA==", "data:application/pdf;base64,BB=="


@pytest.mark.parametrize(
    ("provider", "parts"),
    [
        (
            "openai-chat",
            [
                {"type": "text", "text": "See?"},
                {"type": "image_url", "image_url": {"url": PICTURE}},
                {"type": "file", "file": {"filename": "document.pdf", "file_data": PAGE}},
            ],
        ),
        (
            "openai-responses",
            [
                {"type": "input_text", "text": "See?"},
                {"type": "input_image", "image_url": PICTURE},
                {"type": "input_file", "filename": "document.pdf", "file_data": PAGE},
            ],
        ),
        (
            "anthropic",
            [
                {
                    "type": kind,
                    "source": {"type": "base64", "media_type": media, "data": data},
                }
                for kind, media, data in (
                    ("image", "image/png", "AA=="), ("document", "application/pdf", "BB=="))
            ]
            + [{"type": "text", "text": "See?"}],
        ),
        (
            "gemini",
            [
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"inlineData": {"mimeType": "application/pdf", "data": "BB=="}},
                {"text": "See?"},
            ],
        ),
    ],
)  # fmt: skip
def test_pictures_and_documents(model: Callable[..., Any], provider: str, parts: Any) -> None:
    message = Message(role="user", content="See?", images=(PICTURE, PAGE))
    with FakeServer("yes") as server:
        once(model(provider, model="m", urls=[server.url]), Request(messages=(message,)))
    body = server.calls[0].body
    (sent,) = body.get("messages") or body.get("input") or body["contents"]
    assert (sent.get("content") or sent["parts"]) == parts


@each
def test_log_probabilities(model: Callable[..., Any], provider: str) -> None:
    request = Request(messages=(QUESTION,), top_logprobs=5)
    with FakeServer(lambda m, b: Answer("a", logprobs={"a": -0.5, "b": -2.0})) as server:
        (reply,) = once(model(provider, model="m", urls=[server.url]), request)
    expected = {} if provider == "anthropic" else {"a": -0.5, "b": -2.0}
    assert reply.logprobs == pytest.approx(expected)


@pytest.mark.parametrize(
    ("lacks", "first", "later"),
    [
        ("/chat/completions", ["/v1/chat/completions", "/v1/responses"], ["/v1/responses"]),
        ("/responses", ["/v1/chat/completions"], ["/v1/chat/completions"]),
    ],
)
def test_which_api_a_server_has_is_found_out_and_is_part_of_no_key(
    stub: Any, model: Callable[..., Any], ask: Any, lacks: str, first: Any, later: Any
) -> None:
    from proctor.io import json_bytes
    from proctor.testing.formats import format_at

    def answer(method: str, path: str, body: Any) -> Any:
        if path.endswith(lacks):
            return 404, {}, b'{"detail": "Not Found"}'
        form = format_at(path)
        assert form is not None
        return 200, {}, json_bytes.dumps(form.write(Answer("yes"), body, 1))

    server = stub(answer)
    client = model("openai", model="m", urls=[server.root])
    once(client, ask(), ask("again"))
    assert [path for _, path, _, _ in server.came] == [*first, *later]
    forced = [
        model(f"openai-{api}", model="m", urls=[server.root]) for api in ("chat", "responses")
    ]
    assert [one.identity for one in forced] == [client.identity] * 2
    assert [one.label for one in forced] == [client.label] * 2


def test_openai_itself_is_asked_by_responses(model: Callable[..., Any], ask: Any) -> None:
    client = model("openai", model="gpt-9")
    assert client._call(ask(), {}) == "/responses"
    assert client._call(ask(seed=1), {}) == "/chat/completions"
    assert client._call(ask(stop=("END",)), {}) == "/chat/completions"
    assert client._call(ask(), {"api": "chat"}) == "/chat/completions"
    assert model("openai-chat", model="gpt-9")._call(ask(), {}) == "/chat/completions"


def test_results_without_an_id_belong_to_the_first_call_without_one() -> None:
    messages = (
        Message(role="assistant", content="", tool_calls=CALLS),
        Message(role="tool", content="sunny"),
        Message(role="tool", content="noon"),
    )
    whole = tool_messages.paired(messages)
    assert [call.id for call in whole[0].tool_calls] == ["call_1", "call_2"]
    assert [message.tool_call_id for message in whole[1:]] == ["call_1", "call_2"]
    assert tool_messages.tool_names(whole) == {"call_1": "get_weather", "call_2": "clock"}


def test_gemini_is_told_only_what_its_schemas_may_say(
    model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "a-google-key")
    schema = {
        "$schema": "x",
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": ["string", "null"], "default": "x"},
            "pattern": {"type": "array", "items": {"type": "number", "const": 1}},
        },
    }
    request = Request(messages=(QUESTION,), shape=ReplyShape(name="r", schema=schema))
    with FakeServer("{}", key="a-google-key") as server:
        client = model("gemini", model="m", urls=[server.url])
        once(client, request)
    assert server.calls[0].body["generationConfig"]["responseSchema"] == {
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "nullable": True},
            "pattern": {"type": "array", "items": {"type": "number"}},
        },
    }
    assert client._base("https://h") == "https://h/v1beta"
    assert (gemini.OTHER_KEY, responses.CARRIED) == ("GOOGLE_API_KEY", "openai")
    assert anthropic.MAX_TOKENS > 4_096
