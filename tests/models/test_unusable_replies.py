"""Replies that no reader of JSON should trust: the server is named, and nobody else is blamed."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.attempt import AttemptStatus
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import JudgeSettings, RunSettings, SuiteSettings
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.store.store import Store

GOOD = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}


def with_field(text: str) -> bytes:
    return (json.dumps(GOOD)[:-1] + f', "more": {text}}}').encode()


def with_usage(text: str) -> bytes:
    return (json.dumps(GOOD)[:-1] + f', "usage": {{"prompt_tokens": {text}}}}}').encode()


def with_logprob(text: str) -> bytes:
    rows = '{"content": [{"top_logprobs": [{"token": "5", "logprob": ' + text + "}]}]}"
    choice = '{"message": {"content": "5"}, "logprobs": ' + rows + "}"
    return ('{"choices": [' + choice + "]}").encode()


UNUSABLE: dict[str, tuple[bytes, str]] = {
    "deeply nested": (with_field("[" * 5000 + "]" * 5000), "nested more than 100 levels deep"),
    "very deeply nested": (b"[" * 200_000, "nested more than 100 levels deep"),
    "nested objects": (with_field('{"a":' * 900 + "1" + "}" * 900), "nested more than 100 levels"),
    "just too deep": (with_field("[" * 120 + "]" * 120), "nested more than 100 levels deep"),
    "infinity": (with_field("Infinity"), "Infinity"),
    "minus infinity": (with_usage("-Infinity"), "Infinity"),
    "not a number": (with_field("NaN"), "NaN"),
    "a number that overflows": (with_usage("1e400"), "too large: 1e400"),
    "a long number": (with_usage("9" * 5000), "a number of 5,000 digits"),
    "too many tokens": (with_usage("1e300"), "it counts 1e.300 tokens"),
    "too sure": (with_logprob("1e308"), "a log-probability of 1e.308"),
    "infinitely sure": (with_logprob("Infinity"), "Infinity"),
    "an error by a long number": (b'{"error": {"code": "' + b"9" * 5000 + b'"}}', "sent an error"),
    "an error by an odd digit": ('{"error": {"code": "²"}}'.encode(), "sent an error"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_the_servers_reply_is_named(
    name: str, stub: Callable[..., Any], model: Callable[..., Any], ask: Any
) -> None:
    body, told = UNUSABLE[name]
    server = stub(lambda *_: (200, {}, body))
    client = model("openai", model="m", urls=[f"{server.root}/v1"], retries=1)

    async def main() -> None:
        try:
            await client.reply(ask())
        finally:
            await client.close()

    with pytest.raises(ModelError, match=told) as raised:
        asyncio.run(main())
    assert f"{server.root}/v1 sent" in str(raised.value)


@pytest.mark.parametrize("name", ["deeply nested", "infinity", "too many tokens"])
def test_neither_the_dialogue_nor_the_scorer_is_blamed(
    name: str, stub: Callable[..., Any], tmp_path: Path
) -> None:
    body, _ = UNUSABLE[name]

    def answered(method: str, path: str, sent: Any) -> tuple[int, dict[str, str], bytes]:
        judged = method == "POST" and "/judge/" in path
        return 200, {}, body if judged else json.dumps(GOOD).encode()

    server = stub(answered)
    path = tmp_path / "suite.yaml"
    path.write_text("name: s\ncases:\n  - {ask: hello, criteria: {judged: nice}}\n")

    def settings(candidate: str, judge: str) -> RunSettings:
        return RunSettings(
            suite=SuiteSettings(path=path),
            model=ModelChoice(spec=f"openai:m@{server.root}/{candidate}/v1"),
            panel=JudgeSettings(judges=(ModelChoice(spec=f"openai:j@{server.root}/{judge}/v1"),)),
        )

    with Store.open(str(tmp_path / "a.db")) as store:
        view = asyncio.run(evaluate(settings("good", "judge"), store)).view
        (result,) = view.results()
        (score,) = result.attempts[0].scores.values()
        assert score.status == "failed"
        assert f"{server.root}/judge/v1 sent" in score.reason
        assert "broke" not in score.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 100 + "]" * 100, ""),
        ('{"a": 1e308, "b": [1, -2.5, null, "\\ud800"]}', ""),
        ("[" * 101 + "]" * 101, "nested"),
        ("[" * 1500 + "]" * 1500, "nested"),
        ("[1e999]", "too large"),
        ("[NaN]", "NaN"),
        ("[" + "1" * 500 + "]", "digits"),
        ('["\\ud800", Infinity]', "Infinity"),
        ("[1", "Expecting|expected"),
    ],
)
def test_json_from_outside(text: str, told: str) -> None:
    if not told:
        assert json_bytes.loads_foreign(text) == json.loads(text)
        return
    with pytest.raises(ValueError, match=told):
        json_bytes.loads_foreign(text)


def test_what_is_nested_too_deep_is_a_value_error_for_everybody() -> None:
    with pytest.raises(ValueError, match="nested"):
        json_bytes.loads("[" * 200_000)


def test_a_failed_attempt_says_whose_reply_it_was(stub: Callable[..., Any], tmp_path: Path) -> None:
    server = stub(lambda *_: (200, {}, UNUSABLE["infinity"][0]))
    path = tmp_path / "suite.yaml"
    path.write_text("name: s\ncases:\n  - {ask: hello, criteria: {contains: hi}}\n")
    settings = RunSettings(
        suite=SuiteSettings(path=path), model=ModelChoice(spec=f"openai:m@{server.root}/v1")
    )
    with Store.open(str(tmp_path / "a.db")) as store:
        view = asyncio.run(evaluate(settings, store)).view
        (result,) = view.results()
        attempt = result.attempts[0].attempt
    assert attempt.status is AttemptStatus.ERROR
    assert f"{server.root}/v1 sent a reply that cannot be used" in attempt.error
    assert "dialogue" not in attempt.error
