"""A corrected scorer reads again what was bought: nothing more is paid, and nobody need be there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Request
from proctor.core.suite import Message
from proctor.engine.models.call_cache import CallLog, StoredModel
from proctor.engine.models.call_scope import NotStored, scored_from_store, stored_only
from proctor.engine.plan.dry_run import plan
from proctor.engine.run.evaluate import Outcome, evaluate
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.errors import ProctorError
from proctor.registry import find
from proctor.store.store import Store
from proctor.testing import FakeServer, ScriptedModel

SUITE = """
name: judged
cases:
  - {id: one, ask: hello, criteria: {judged: Is it nice}}
  - {id: two, ask: bye, criteria: {judged: Is it nice}}
"""
CORRECT = '{"reason": "r", "result": "correct"}'
YES = '{"reason": "r", "result": "yes"}'


def answers(messages: list[Any], body: dict[str, Any]) -> str:
    return YES if body["model"].startswith("j") else "Hello."


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def settings_of(
    suite: Path, url: str, judges: tuple[str, ...] = ("j",), **calls: Any
) -> RunSettings:
    return RunSettings(
        suite=SuiteSettings(path=suite),
        model=ModelChoice(spec=f"openai:m@{url}"),
        panel=JudgeSettings(
            judges=tuple(ModelChoice(spec=f"openai:{name}@{url}") for name in judges)
        ),
        calls=CallSettings(**calls),
    )


def held(settings: RunSettings, store: Store) -> Outcome:
    return asyncio.run(evaluate(settings, store))


@pytest.mark.parametrize("judges", [("j",), ("j1", "j2")])
def test_a_raised_version_costs_nothing(
    suite: Path, store: Store, judges: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(answers) as server:
        settings = settings_of(suite, server.url, judges)
        before = held(settings, store).view.summary.totals
        asked = len(server.calls)
    # The server is gone now.
    monkeypatch.setattr(find("scorer", "judged"), "version", "next")
    foreseen = plan(settings, store)
    assert (foreseen.scores, foreseen.stored, foreseen.to_do) == (2, 0, 2)
    assert foreseen.usage["range"]["calls"] == [0, 0, 0]
    again = held(settings, store).view.summary.totals
    assert (again.rate, again.unscored) == (before.rate, 0)
    assert plan(settings, store).stored == 2
    assert asked == 2 + 2 * len(judges)


@pytest.mark.parametrize(
    "params", ["{}", pytest.param("{maths_first: true}", marks=pytest.mark.slow)]
)
def test_verdicts_of_judged_correct_are_made_anew_without_a_call(
    suite: Path, store: Store, params: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write_text(
        "name: sums\ncases:\n"
        f"  - {{id: one, ask: greet, references: ['x -> f(-x)'], criteria: {{judged_correct: {params}}}}}\n"
    )
    scorer = find("scorer", "judged_correct")
    with FakeServer(
        lambda messages, body: CORRECT if body["model"] == "j" else "It is even."
    ) as server:
        settings = settings_of(suite, server.url)
        current = scorer.version
        monkeypatch.setattr(scorer, "version", "2")
        assert held(settings, store).view.summary.totals.rate == 1
        assert len(server.calls) == 2
    monkeypatch.setattr(scorer, "version", current)
    foreseen = plan(settings, store)
    assert (foreseen.stored, foreseen.to_do) == (0, 1), "what version 2 said may be otherwise now"
    assert foreseen.usage["range"]["calls"] == [0, 0, 0]
    assert held(settings, store).view.summary.totals.rate == 1


def test_a_plan_writes_nothing_and_counts_what_is_not_stored(
    suite: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mumbling(messages: list[Any], body: dict[str, Any]) -> str:
        unreadable = "bye" in str(messages) and len(messages) == 1
        return "Well." if body["model"] == "j" and unreadable else answers(messages, body)

    with FakeServer(mumbling) as server:
        settings = settings_of(suite, server.url)
        held(settings, store)
        monkeypatch.setattr(find("scorer", "judged"), "version", "next")
        assert plan(settings, store).usage["range"]["calls"] == [0, 0, 0]
        other = settings_of(suite, server.url, ("jj",))
        asked = len(server.calls)
        assert plan(other, store).usage["range"]["calls"][:2] == [2, 2]
        assert plan(other, None).usage["range"]["calls"][:2] == [4, 4]
        assert len(server.calls) == asked
        held(settings, store)
        assert len(server.calls) == asked


def test_a_judge_that_is_away_is_missed_only_where_it_must_be_asked(
    suite: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(answers) as server:
        settings = settings_of(suite, server.url, timeout=1.0)
        held(settings, store)
    suite.write_text(SUITE.replace("Is it nice", "Is it rude"))
    with pytest.raises(ProctorError, match="cannot be reached"):
        held(settings, store)


def test_looking_in_the_store_alone_asks_and_writes_nothing(store: Store) -> None:
    model = ScriptedModel("yes")
    stored = StoredModel(model, CallLog(store))
    first = Request(messages=(Message(role="user", content="first"),))
    other = Request(messages=(Message(role="user", content="other"),))

    async def work() -> None:
        assert (await stored.reply(first)).text == "yes"
        with stored_only() as looking:
            assert (await stored.reply(first)).text == "yes"
            assert not looking.lacking
            with pytest.raises(NotStored):
                await stored.discard([first])
            with pytest.raises(NotStored):
                await stored.reply(other)
            assert looking.lacking
        assert len(model.requests) == 1
        assert (await stored.reply(first)).text == "yes"
        assert len(model.requests) == 1

    asyncio.run(work())


def test_a_score_that_failed_on_stored_replies_is_made_in_the_usual_way() -> None:
    from proctor.core.score import Score

    async def failed() -> Score:
        return Score.failed("unreadable")

    async def fine() -> Score:
        return Score(points=1.0)

    assert asyncio.run(scored_from_store(failed)) is None
    assert asyncio.run(scored_from_store(fine)) == Score(points=1.0)
