"""Missing answers: each question is asked once, and what was answered is never asked again."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.engine.models import roles
from proctor.engine.run.evaluate import RunProgress
from proctor.engine.run.settings import CallSettings
from proctor.errors import ModelError
from proctor.origins.colossal.missing_answers import PHASE, fill
from proctor.store.store import Store
from proctor.testing import ScriptedModel

CHOICE = ModelChoice(
    spec="openai:m@http://127.0.0.1:9/v1", sampling=Sampling(temperature=0.5), suffix="Be brief."
)
QUESTIONS = ("one", "two", "three")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("answers") / "p.db")) as opened:
        yield opened


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ScriptedModel:
    """Let one scripted model, which only this test calls, be the one that every choice means."""
    scripted = ScriptedModel(
        lambda request: f"answer to {request.messages[-1].content}", name=request.node.name
    )
    monkeypatch.setattr(roles, "build_model", lambda choice, settings: scripted)
    return scripted


def filled(store: Store, *questions: str, **more: Any) -> list[str]:
    return asyncio.run(fill(store, CHOICE, questions, CallSettings(concurrency=2), **more))


def asked(model: ScriptedModel) -> list[str]:
    return sorted(request.messages[-1].content.split("\n")[0] for request in model.requests)


def test_answers_come_in_the_order_of_the_questions(store: Store, model: ScriptedModel) -> None:
    states: list[RunProgress] = []
    answers = filled(store, *QUESTIONS, progress=states.append)
    assert answers == [f"answer to {question}\nBe brief." for question in QUESTIONS]
    assert [request.sampling for request in model.requests] == [CHOICE.sampling] * 3
    assert [(one.phase, one.done, one.total, one.failed) for one in states][-1] == (PHASE, 3, 3, 0)
    assert len(states) == 3


def test_what_is_stored_is_not_asked_again(store: Store, model: ScriptedModel) -> None:
    first = filled(store, *QUESTIONS)
    model.requests.clear()
    assert filled(store, *QUESTIONS, "four")[:3] == first
    assert asked(model) == ["four"]


def test_one_failure_keeps_no_other_answer_back(store: Store, model: ScriptedModel) -> None:
    answer = model.script
    model.script = lambda request: (
        ModelError("gone") if "one" in request.messages[-1].content else "fine"
    )
    states: list[RunProgress] = []
    with pytest.raises(ModelError, match="gone"):
        filled(store, *QUESTIONS, progress=states.append)
    assert asked(model) == sorted(QUESTIONS)
    assert (states[-1].done, states[-1].failed) == (2, 1)
    model.requests.clear()
    model.script = answer
    assert filled(store, *QUESTIONS) == ["answer to one\nBe brief.", "fine", "fine"]
    assert asked(model) == ["one"]


def test_an_empty_answer_is_given_back_and_asked_again(store: Store, model: ScriptedModel) -> None:
    model.script = " \n"
    assert filled(store, "one") == [" \n"]
    model.script = "now"
    assert filled(store, "one") == ["now"]


def test_nobody_is_asked_without_a_question(
    store: Store, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[None] = []

    async def check(self: ScriptedModel) -> None:
        checks.append(None)

    monkeypatch.setattr(ScriptedModel, "check", check)
    assert filled(store) == []
    assert (checks, model.requests) == ([], [])
    filled(store, "one", "two")
    assert len(checks) == 1
