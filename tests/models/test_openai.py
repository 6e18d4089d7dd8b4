"""The OpenAI client against a server on loopback: what is sent, and what is made of the reply."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.suite import Message
from proctor.errors import ModelError, PluginError, UsageError
from proctor.io import json_bytes
from proctor.testing import Answer, FakeServer

SHAPE = ReplyShape(
    name="my verdict",
    schema={
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    },
)
KEY = "sk-very-secret-0123456789"


def once(model: Any, request: Request) -> Reply:
    async def main() -> Reply:
        try:
            return await model.reply(request)
        finally:
            await model.close()

    return asyncio.run(main())


def body_of(content: Any, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    return {"choices": [{"message": said, "finish_reason": "stop"}]}


def test_what_is_sent(model: Callable[..., Any]) -> None:
    request = Request(
        messages=(
            Message(role="developer", content="Be brief."),
            Message(role="user", content="What is it?", images=("data:image/png;base64,AA==",)),
            Message(role="assistant", content="A cat.", thinking="not sent back"),
            Message(role="user", content="Sure?"),
        ),
        sampling=Sampling(
            temperature=0.0, top_p=0.9, top_k=5, max_tokens=7, seed=3, stop=("END",),
            extra={"repetition_penalty": 1.1, "stream": True},
        ),
    )  # fmt: skip
    with FakeServer("yes") as server:
        reply = once(model("openai", model="m", urls=[server.url]), request)
    assert server.calls[0].body == {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                ],
            },
            {"role": "assistant", "content": "A cat."},
            {"role": "user", "content": "Sure?"},
        ],
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": 5,
        "max_tokens": 7,
        "seed": 3,
        "stop": ["END"],
        "repetition_penalty": 1.1,
    }
    assert (reply.text, reply.finish, reply.request_id, reply.served_by) == (
        "yes", "stop", "fake-1", "m",
    )  # fmt: skip
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.cost == 0.0
    assert reply.seconds is not None
    assert reply.seconds > 0


@pytest.mark.parametrize("name", ["none", ""])
def test_no_name_no_model_field(model: Callable[..., Any], ask: Any, name: str) -> None:
    with FakeServer("yes") as server:
        once(model("openai", model=name, urls=[server.url]), ask())
    assert set(server.calls[0].body) == {"messages"}


def test_lone_surrogates_travel(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer(None) as server:
        assert (
            once(model("openai", model="m", urls=[server.url]), ask("a\ud800b")).text == "a\ud800b"
        )


@pytest.mark.parametrize(
    ("payload", "text", "thinking"),
    [
        (body_of("plain"), "plain", ""),
        (body_of(None), None, ""),
        (body_of(""), None, ""),
        ({"choices": [{"message": {"role": "assistant"}}]}, None, ""),
        ({"choices": [{}]}, None, ""),
        (body_of([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab", ""),
        (body_of([{"type": "refusal"}]), None, ""),
        (body_of("b", reasoning_content="a"), "b", "a"),
        (body_of("b", reasoning="a"), "b", "a"),
        (body_of(None, reasoning_content="a"), None, "a"),
        (body_of("<think>a</think>\nb"), "b", "a"),
        (body_of("<think>a"), None, "a"),
        (body_of("<think>i</think>b", reasoning_content="a"), "b", "a\n\ni"),
        (body_of(None, refusal="I will not."), "I will not.", ""),
    ],
)
def test_what_is_made_of_a_reply(
    model: Callable[..., Any], ask: Any, payload: Any, text: str | None, thinking: str
) -> None:
    with FakeServer(lambda messages, body: payload) as server:
        reply = once(model("openai", model="m", urls=[server.url]), ask())
    assert (reply.text, reply.thinking) == (text, thinking)


def test_truncation_is_recorded(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer(lambda m, b: Answer("half", finish="length")) as server:
        reply = once(model("openai", model="m", urls=[server.url]), ask())
    assert (reply.finish, reply.truncated) == ("length", True)


@pytest.mark.parametrize("schema_closed", [True, False])
def test_a_shape_is_asked_for_by_schema(model: Callable[..., Any], schema_closed: bool) -> None:
    schema = dict(SHAPE.schema) if schema_closed else {**SHAPE.schema, "required": []}
    request = Request(
        messages=(Message(role="user", content="ok?"),),
        shape=ReplyShape(name="my verdict", schema=schema),
    )
    with FakeServer('{"ok": true}') as server:
        reply = once(model("openai", model="m", urls=[server.url]), request)
    assert server.calls[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "my_verdict", "schema": schema, "strict": schema_closed},
    }
    assert (reply.rung, reply.text) == ("schema", '{"ok": true}')


def refuse(*fields: str) -> Callable[[str, str, Any], Any]:
    """Answer as a server that does not take some fields."""

    def answer(method: str, path: str, body: Any) -> Any:
        for name in fields:
            if name in body:
                error = {"message": f"Unsupported: use another than {name}", "param": name}
                if name == "max_tokens":
                    error = {"message": "max_tokens: use 'max_completion_tokens' instead."}
                if name == "response_format":
                    error = {"message": "Unsupported value.", "param": "response_format"}
                return 400, {}, json_bytes.dumps({"error": error})
        if "tools" in body:
            function = {"name": "my_verdict", "arguments": '{"ok": false}'}
            return 200, {}, json_bytes.dumps(body_of(None, tool_calls=[{"function": function}]))
        return 200, {}, json_bytes.dumps(body_of("words"))

    return answer


@pytest.mark.parametrize(
    ("refused", "rung", "text", "first", "second"),
    [
        ((), "schema", "words", 1, 1),
        (("response_format",), "tool", '{"ok": false}', 2, 1),
        (("response_format", "tools"), "", "words", 3, 1),
        (("max_tokens",), "schema", "words", 2, 1),
        (("max_tokens", "response_format"), "tool", '{"ok": false}', 3, 1),
    ],
)
def test_what_a_server_does_not_take_is_asked_otherwise_and_remembered(
    stub: Any,
    model: Callable[..., Any],
    refused: Any,
    rung: str,
    text: str,
    first: int,
    second: int,
) -> None:
    server = stub(refuse(*refused))
    request = Request(
        messages=(Message(role="user", content="ok?"),),
        shape=SHAPE,
        sampling=Sampling(max_tokens=9),
    )
    client = model("openai", model="m", urls=[server.root])

    async def main() -> None:
        for tries in (first, second):
            before = len(server.came)
            reply = await client.reply(request)
            assert (reply.rung, reply.text) == (rung, text)
            assert len(server.came) - before == tries
        await client.close()

    asyncio.run(main())
    assert client.waits == []
    sent = server.came[-1][2]
    assert sent["max_completion_tokens" if "max_tokens" in refused else "max_tokens"] == 9


def test_a_field_of_the_person_that_is_refused_is_left_out(
    stub: Any, model: Callable[..., Any], ask: Any
) -> None:
    server = stub(refuse("response_format"))
    request = ask(extra={"response_format": {"type": "json_object"}})
    assert once(model("openai", model="m", urls=[server.root]), request).text == "words"
    assert [set(body) for _, _, body, _ in server.came] == [
        {"messages", "model", "response_format"}, {"messages", "model"}]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"urls": ["nowhere"]}, UsageError),
        ({"concurrency": 0}, UsageError),
        ({"requests_per_minute": 0}, UsageError),
        ({"tokens_per_minute": -1}, UsageError),
        ({"speed": 3}, PluginError),
        ({"timeout": "long"}, PluginError),
    ],
)
def test_wrong_parameters(model: Callable[..., Any], params: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        model("openai", **{"model": "m", "urls": ["http://127.0.0.1:1"], **params})


def test_identity_says_where_and_never_the_key(
    model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    here = ["http://127.0.0.1:1", "http://127.0.0.1:1/v1/", "http://127.0.0.1:2/x/v1"]
    client = model("openai", model="a:b/c@d", urls=here, headers={"X-Team": "hidden-team"})
    client.use_key("another-secret")
    assert client.identity == {
        "provider": "openai",
        "model": "a:b/c@d",
        "urls": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/x/v1"],
    }
    assert client.label == "openai:a:b/c@d"
    shown = repr(client)
    assert "secret" not in shown
    assert "hidden-team" not in shown
    assert client.price == (0.0, 0.0)


def test_home_and_its_price(model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    home = model("openai", model="gpt-4o")
    assert home.identity["urls"] == ["https://api.openai.com/v1"]
    assert home.price == (2.5, 10.0)
    assert model("openai", model="gpt-4o", price_given=[1, 2]).price == (1.0, 2.0)
    assert model("openai", model="gpt-4o", urls=["https://other.example/v1"]).price is None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:7")
    assert model("openai", model="gpt-4o").identity["urls"] == ["http://127.0.0.1:7/v1"]


def test_cost_is_filled_in(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer(lambda m, b: Answer("x", tokens=(1000, 100))) as server:
        client = model("openai", model="m", urls=[server.url], price_given=(2.0, 10.0))
        usage = once(client, ask()).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost) == (1000, 100, 0.003)


def test_one_object_serves_several_loops(model: Callable[..., Any], ask: Any) -> None:
    with FakeServer("yes") as server:
        client = model("openai", model="m", urls=[server.url])
        for _ in range(3):
            assert once(client, ask()).text == "yes"


@pytest.mark.parametrize(
    ("urls", "env", "own", "sent"),
    [
        ("loopback", None, "", None),
        ("loopback", KEY, "", f"Bearer {KEY}"),
        ("loopback", KEY, "mine", "Bearer mine"),
        ("loopback", f" {KEY}\n", "", f"Bearer {KEY}"),
    ],
)
def test_keys_on_loopback(
    stub: Any, model: Callable[..., Any], ask: Any, monkeypatch: pytest.MonkeyPatch,
    urls: str, env: str | None, own: str, sent: str | None,
) -> None:  # fmt: skip
    if env is not None:
        monkeypatch.setenv("OPENAI_API_KEY", env)
    server = stub(lambda *_: (200, {}, json_bytes.dumps(body_of("yes"))))
    client = model("openai", model="m", urls=[server.root], headers={"X-Team": "a"})
    if own:
        client.use_key(own)
    once(client, ask())
    headers = server.came[0][3]
    assert headers.get("authorization") == sent
    assert headers["x-team"] == "a"


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "X Y", "X\r\nY"])
def test_headers_that_would_end_a_request_elsewhere_are_refused(
    model: Callable[..., Any], name: str
) -> None:
    client = model("openai", model="m", urls=["http://127.0.0.1:1"], headers={name: "3"})
    with pytest.raises(ModelError, match="cannot be sent as it is"):
        asyncio.run(client.check())


def test_which_key_goes_where(model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    far = model("openai", model="m", urls=["https://far.example/v1"])
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as raised:
        asyncio.run(far.check())
    assert raised.value.exit_code == 2
    with pytest.raises(ModelError, match="MY_KEY"):
        asyncio.run(model("openai", model="m", key_env="MY_KEY").check())
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plain = model("openai", model="m", urls=["http://lan.example:8000"])
    assert plain._destination("http://lan.example:8000/v1").headers == {
        "Content-Type": "application/json"
    }
    assert far._destination("https://far.example/v1").headers["Authorization"] == f"Bearer {KEY}"
    plain.use_key("mine")
    assert (
        plain._destination("http://lan.example:8000/v1").headers["Authorization"] == "Bearer mine"
    )
    own = model("openai", model="m", urls=["https://far.example"], headers={"authorization": "x"})
    assert own._destination("https://far.example/v1").headers["authorization"] == "x"
