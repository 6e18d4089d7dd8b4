"""What servers refuse: which field they name, in the words of each provider, and what is sent then."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.contracts.model import ModelListener
from proctor.core.exchange import Reply, Request, Sampling
from proctor.core.suite import Message
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.models.refused_fields import Refusal

FULL = Sampling(
    temperature=0.0, top_p=0.9, top_k=5, max_tokens=50, seed=3, stop=("END",),
    extra={"presence_penalty": 0.5, "logit_bias": {"1": 1}, "user": "me", "reasoning_effort": "low"},
)  # fmt: skip


def openai(message: str, param: str | None = None, code: str = "unsupported_value") -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param,
                      "code": code}}  # fmt: skip


def anthropic(message: str) -> Any:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def detail(*loc: Any, message: str = "Extra inputs are not permitted") -> Any:
    return {"detail": [{"type": "extra_forbidden", "loc": list(loc), "msg": message, "input": 3}]}


REFUSALS = [
    # OpenAI and Azure
    (openai("Unsupported value: 'temperature' does not support 0 with this model. Only the default"
            " (1) value is supported.", "temperature"), "temperature"),
    (openai("Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature", "unsupported_parameter"), "temperature"),
    (openai("Unsupported parameter: 'top_p' is not supported with this model.", "top_p"), "top_p"),
    (openai("Unsupported parameter: 'stop' is not supported with this model.", "stop"), "stop"),
    (openai("Unrecognized request argument supplied: seed"), "seed"),
    (openai("Unrecognized request argument supplied: top_k"), "top_k"),
    (openai("Unknown parameter: 'top_k'.", "top_k", "unknown_parameter"), "top_k"),
    (openai("Unsupported parameter: 'presence_penalty' is not supported with this model."),
     "presence_penalty"),
    (openai("Invalid 'stop': array too long. Expected an array with maximum length 4.", "stop"),
     "stop"),
    (openai("Unsupported value: 'reasoning_effort' does not support 'low' with this model.",
            "reasoning_effort"), "reasoning_effort"),
    # pydantic behind FastAPI: vLLM, TGI, Mistral
    (detail("body", "seed"), "seed"),
    (detail("body", "top_k"), "top_k"),
    ({"object": "error", "message": detail("body", "stop"), "type": "invalid_request_error"}, "stop"),
    ({"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'logit_bias')}]"},
     "logit_bias"),
    # Gemini's compatible address
    ([{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed":'
                 " Cannot find field.", "status": "INVALID_ARGUMENT"}}], "seed"),
    # others
    ({"error": {"message": "property 'presence_penalty' is unsupported"}}, "presence_penalty"),
    ({"error": "Argument not supported on this model: presencePenalty"}, "presence_penalty"),
    ({"message": "Model x does not support parameter presencePenalty."}, "presence_penalty"),
    ({"message": "litellm.UnsupportedParamsError: x does not support parameters: ['top_k']"}, "top_k"),
    ({"message": "extraneous key [user] is not permitted"}, "user"),
    ({"error": {"message": "this model does not support custom temperature values"}}, "temperature"),
    ({"error": {"message": "deepseek-reasoner does not support the parameter `top_p`"}}, "top_p"),
    ({"message": "unknown field: parameter 'seed' is not a valid field"}, "seed"),
    (b"temperature is not supported", "temperature"),
]  # fmt: skip
ANTHROPIC = [
    (anthropic("`temperature` is deprecated for this model."), "temperature"),
    (anthropic("`top_p` cannot be set to 0.9 for this model"), "top_p"),
    (anthropic("top_k: Extra inputs are not permitted"), "top_k"),
    (anthropic("`temperature` may only be set to 1 when thinking is enabled."), "temperature"),
    (anthropic("stop_sequences: each stop sequence must contain non-whitespace"), "stop_sequences"),
    (anthropic("`temperature` and `top_p` cannot both be specified for this model. Please use only"
               " one."), "top_p"),
]  # fmt: skip
NOTHING = [
    openai("Invalid prompt: your prompt was flagged as potentially violating our policy."),
    openai("We could not parse the JSON body of your request."),
    openai("Please stop sending so many users' questions; seed your data elsewhere."),
    openai("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"
           " (8950 in the messages, 50 in the completion).", "messages", "context_length_exceeded"),
    {"message": "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum"
     " context length is 4096 tokens and your request has 4090 input tokens (50 > 4096 - 4090)."},
    openai("Could not finish the message because max_tokens or model output limit was reached."
           " Please try again with higher max_tokens."),
    openai("Invalid 'max_tokens': integer below minimum value. Expected a value >= 160."),
    {"error": {"message": "messages: text content blocks must be non-empty"}},
    b"",
    b"<html>Bad Request</html>",
]  # fmt: skip


def data_of(error: Any) -> bytes:
    return error if isinstance(error, bytes) else json_bytes.dumps(error)


def asked(sampling: Sampling = FULL) -> Request:
    return Request(messages=(Message(role="user", content="Hi"),), sampling=sampling)


def said(path: str) -> bytes:
    if path.endswith("/messages"):
        return json_bytes.dumps(
            {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}
        )
    return json_bytes.dumps({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]})


def refusing(field: str, error: Any, status: int = 400) -> Callable[[str, str, Any], Any]:
    def answer(method: str, path: str, body: Any) -> Any:
        if body is not None and field in body:
            return status, {}, data_of(error)
        return 200, {}, said(path)

    return answer


def replies(client: Any, *requests: Request) -> list[Reply]:
    async def work() -> list[Reply]:
        try:
            return [await client.reply(request) for request in requests]
        finally:
            await client.close()

    return asyncio.run(work())


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("provider", "error", "field"),
    [*(("openai", *row) for row in REFUSALS), *(("anthropic", *row) for row in ANTHROPIC)],
)
@pytest.mark.sampled(8)
def test_what_is_refused_is_left_out_once_and_for_all(
    stub: Any, model: Callable[..., Any], provider: str, error: Any, field: str, status: int
) -> None:
    server = stub(refusing(field, error, status))
    told: list[tuple[str, Any, str]] = []
    for _ in range(2):  # a second client of the same process has learned it, too
        client = model(provider, model="m", urls=[server.root], key_env="")
        client.listen(ModelListener(setting_refused=lambda *words: told.append(words)))
        assert [reply.text for reply in replies(client, asked(), asked())] == ["ok", "ok"]
        assert client.refused == {field: ""}
    sent = [set(body) for _, _, body, _ in server.came]
    assert len(sent) == 1 + 4, "one refusal, four replies"
    assert sent[0] - sent[1] == {field}
    assert [set(body) for body in sent[1:]] == [sent[1]] * 4
    assert [(name, instead) for name, _, instead in told] == [(field, "")], "said once"


@pytest.mark.parametrize("error", NOTHING)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_refusal_that_names_nothing_known_stays_an_error(
    stub: Any, model: Callable[..., Any], provider: str, error: Any
) -> None:
    server = stub(lambda method, path, body: (400, {}, data_of(error)))
    client = model(provider, model="m", urls=[server.root], key_env="")
    with pytest.raises(ModelError, match=r"refused \(400\)"):
        replies(client, asked())
    assert len(server.came) <= 2
    assert client.refused == {}


@pytest.mark.parametrize("error", [row[0] for row in REFUSALS])
@pytest.mark.sampled(20)
@pytest.mark.slow
def test_a_server_that_refuses_whatever_is_sent_is_not_asked_for_ever(
    stub: Any, model: Callable[..., Any], error: Any
) -> None:
    """It blames one field after the other; nothing is learned, since nothing ever went through."""

    def answer(method: str, path: str, body: Any) -> Any:
        rest = [name for name in body if name not in ("messages", "model")]
        words = openai(f"Unsupported parameter: '{rest[0]}'", rest[0]) if rest else error
        return 400, {}, data_of(words)

    server = stub(answer)
    client = model("openai", model="m", urls=[server.root], key_env="")
    with pytest.raises(ModelError):
        replies(client, asked())
    assert len(server.came) <= 1 + 10, "at most one more try for each field"
    first = len(server.came)
    with pytest.raises(ModelError):
        replies(client, asked())
    assert set(server.came[first][2]) == set(server.came[0][2]), "and no field is blamed for good"


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens", 8192),
        ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens,"
         " whereas you provided 100000.", 16384),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("max_tokens: Input should be less than or equal to 4096", 4096),
    ],
)  # fmt: skip
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_limit_of_tokens_that_is_too_high_is_lowered(
    stub: Any, model: Callable[..., Any], provider: str, message: str, sent: int
) -> None:
    def answer(method: str, path: str, body: Any) -> Any:
        if body["max_tokens"] > sent:
            return 400, {}, json_bytes.dumps(openai(message, "max_tokens"))
        return 200, {}, said(path)

    server = stub(answer)
    client = model(provider, model="m", urls=[server.root], key_env="")
    replies(client, asked(Sampling(max_tokens=100_000)), asked(Sampling(max_tokens=7)))
    assert [body["max_tokens"] for _, _, body, _ in server.came] == [100_000, sent, 7]
    assert client.refused == {"max_tokens": f"max_tokens={sent}"}


def test_a_limit_of_tokens_goes_by_its_new_name(stub: Any, model: Callable[..., Any]) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
        " 'max_completion_tokens' instead."
    )
    server = stub(refusing("max_tokens", openai(message, "max_tokens", "unsupported_parameter")))
    client = model("openai", model="m", urls=[server.root])
    replies(client, asked(Sampling(max_tokens=9)), asked(Sampling(max_tokens=9)))
    assert [body.get("max_completion_tokens") for _, _, body, _ in server.came] == [None, 9, 9]
    assert client.refused == {"max_tokens": "max_completion_tokens"}


def test_several_are_left_out_one_after_the_other(stub: Any, model: Callable[..., Any]) -> None:
    def answer(method: str, path: str, body: Any) -> Any:
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            if name in body:
                new = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                error = openai(f"Unsupported parameter: '{name}' is not supported.{new}", name)
                return 400, {}, json_bytes.dumps(error)
        return 200, {}, said(path)

    server = stub(answer)
    client = model("openai", model="m", urls=[server.root])
    replies(client, asked(), asked())
    assert len(server.came) == 4 + 2
    assert set(client.refused) == {"temperature", "top_p", "max_tokens", "seed"}


def test_a_health_check_learns_and_says_nothing(stub: Any, model: Callable[..., Any]) -> None:
    def answer(method: str, path: str, body: Any) -> Any:
        if method == "GET":
            return 404, {}, b"{}"
        return refusing("temperature", REFUSALS[0][0])(method, path, body)

    server = stub(answer)
    told: list[Any] = []
    client = model("openai", model="m", urls=[server.root])
    client.listen(ModelListener(setting_refused=lambda *words: told.append(words)))

    async def work() -> None:
        await client.check()
        assert told == []
        await client.reply(asked(Sampling()))
        assert told == [], "nobody wanted a temperature"
        await client.reply(asked(Sampling(temperature=0.0)))
        await client.close()

    asyncio.run(work())
    assert [words[0] for words in told] == ["temperature"]
    assert len([body for _, _, body, _ in server.came if body and "temperature" in body]) == 1


def test_models_and_addresses_are_told_apart(stub: Any, model: Callable[..., Any]) -> None:
    server = stub(refusing("temperature", REFUSALS[0][0]))
    other = stub(lambda method, path, body: (200, {}, said(path)))
    for urls, name in (([server.root], "m"), ([other.root], "m"), ([server.root], "n")):
        replies(model("openai", model=name, urls=urls), asked(Sampling(temperature=0.0)))
    assert len(server.came) == 4
    assert [body["temperature"] for _, _, body, _ in other.came] == [0.0]


def test_words_that_are_fields_and_prose_are_told_apart() -> None:
    prose = Refusal("please stop, dear user: your seed of doubt has grown to a temperature of 3")
    assert prose.blames(["stop", "seed", "n"]) == []
    assert prose.blames(["temperature"]) == ["temperature"]
    assert Refusal("parameter stop is unknown").blames(["stop", "seed"]) == ["stop"]
