"""What a candidate was asked and replied, from the stored calls: nothing is asked for it."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.attempt import Attempt
from proctor.core.exchange import Sampling
from proctor.core.prompt import as_asked
from proctor.core.suite import Spec
from proctor.engine.run.candidate_calls import CandidateCall, candidate_calls
from proctor.engine.run.evaluate import evaluate_all
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.engine.run.stored_view import placed_case, view_of
from proctor.io import redaction
from proctor.store.store import Store
from proctor.testing import FakeServer

SUITE = """\
name: s
prompts: {kind: "Please: {{question}}"}
cases:
  - {id: one, vars: {question: 2 + 3}, reference: "5"}
  - id: long
    vars: {question: begin}
    dialogue: {scripted: {then: [go on]}}
    criteria: [{contains: x}]
"""


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(str(tmp_path / "proctor.db")) as opened:
        yield opened


def calls_of(
    store: Store, run_id: str, case_id: str, attempt: int = 0
) -> tuple[CandidateCall, ...]:
    view = view_of(store, run_id)
    _, result = placed_case(store, view, case_id)
    case = as_asked(result.case, view.run.candidate)
    return candidate_calls(store, view.run, case, result.attempts[attempt].attempt)


def made(store: Store, folder: Path, script: Any, **more: Any) -> str:
    path = folder / "s.yaml"
    path.write_text(SUITE)
    with FakeServer(script) as server:
        sampling = Sampling(
            temperature=0.25, stop=("END",), extra={"user": "me", "api_key": "mine"}
        )
        choice = ModelChoice(
            spec=f"openai:m@{server.url}", sampling=sampling, system="Be brief.", suffix="Now."
        )
        settings = RunSettings(suite=SuiteSettings(path=path), model=choice, attempts=2, **more)
        (outcome, *_) = asyncio.run(evaluate_all(replace(settings, prompts=("kind",)), store))
    return outcome.view.run.id


@pytest.mark.parametrize("label", ["", "once more"])
def test_request_and_reply_are_found_as_they_were_stored(
    store: Store, tmp_path: Path, label: str
) -> None:
    run_id = made(store, tmp_path, lambda *_: "5", repeat_label=label)
    for attempt in (0, 1):
        (call,) = calls_of(store, run_id, "one", attempt)
        assert call.request["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Please: 2 + 3\nNow."},
        ]
        assert call.request["sampling"] == {
            "temperature": 0.25, "stop": ["END"], "extra": {"user": "me", "api_key": "[key]"},
        }  # fmt: skip
        assert "salt" not in call.request
        assert (call.reply, call.status, call.response["text"]) == (1, "ok", "5")


def test_every_turn_has_the_call_that_gave_it(store: Store, tmp_path: Path) -> None:
    said = iter("abcd")
    run_id = made(store, tmp_path, lambda *_: next(said, "x"))
    calls = calls_of(store, run_id, "long")
    assert [call.reply for call in calls] == [1, 2]
    assert [len(call.request["messages"]) for call in calls] == [2, 4]
    view = view_of(store, run_id)
    _, result = placed_case(store, view, "long")
    replies = [
        one.content for one in result.attempts[0].attempt.messages if one.role == "assistant"
    ]
    assert [call.response["text"] for call in calls] == replies


def test_keys_are_not_shown(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = made(store, tmp_path, lambda *_: "use abcd-1234-efgh")
    monkeypatch.setattr(redaction, "SECRETS", redaction.Secrets())
    (shown,) = calls_of(store, run_id, "one")
    assert "abcd-1234-efgh" in str(shown)
    assert shown.request["sampling"]["extra"] == {"user": "me", "api_key": "[key]"}
    redaction.SECRETS.add("abcd-1234-efgh")
    (shown,) = calls_of(store, run_id, "one")
    assert "abcd-1234-efgh" not in str(shown)


def test_nothing_is_found_where_no_server_was_asked(store: Store, tmp_path: Path) -> None:
    run_id = made(store, tmp_path, lambda *_: "5")
    view = view_of(store, run_id)
    _, result = placed_case(store, view, "one")
    attempt = result.attempts[0].attempt
    for candidate in (
        Spec(name="recorded", params={}),
        Spec(name="model", params={}),
        Spec(name="model", params={"model": "local:smollm2"}),
        Spec(name="model", params={"model": "somewhere.else:model"}),
        Spec(name="model", params={"model": "openai:other"}),
        Spec(name="model", params=view.run.candidate.params | {"sampling": {"odd": 1}}),
    ):
        run = replace(view.run, candidate=candidate)
        assert candidate_calls(store, run, result.case, attempt) == (), candidate
    asked = as_asked(result.case, view.run.candidate)
    assert candidate_calls(store, view.run, asked, Attempt.of("one", "other", index=7)) == ()
