"""Questions to judges about a stored run, asked over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from proctor.contracts.judge import Judge
from proctor.contracts.model import ModelChoice
from proctor.core.suite import Message
from proctor.engine.models.ask_judges import JudgeQuestions
from proctor.engine.models.roles import Models
from proctor.engine.run.settings import CallSettings, JudgeSettings
from proctor.errors import BudgetError, MissingResource
from proctor.io.concurrency import run_sync
from proctor.store.store import Store
from proctor.testing import FakeServer


class Verdict(BaseModel):
    result: str


def asked(path: Path, server: FakeServer, **calls: Any) -> tuple[JudgeQuestions, list[int], str]:
    judges = tuple(ModelChoice(spec=f"openai:{name}@{server.url}/v1") for name in ("a", "b"))
    answered: list[int] = []

    async def ask(task: int, judge: Judge, models: Models) -> None:
        try:
            await judge.ask([Message(role="user", content=f"{task}")], Verdict)
        except BudgetError:
            return
        answered.append(task)

    with Store.open(str(path)) as store:
        panel = JudgeSettings(judges=judges)
        questions = JudgeQuestions(store, panel, CallSettings(**calls), print, "a test")
        numbers: list[int] = []
        stopped = run_sync(questions.ask_all(range(4), ask, numbers.append))
    assert numbers == [1, 2, 3, 4]
    return questions, sorted(answered), stopped


def yes(messages: Any, body: Any) -> str:
    return json.dumps({"result": "yes"})


def test_every_judge_is_asked_once_and_stored_replies_are_reused(tmp_path: Path) -> None:
    with FakeServer(yes) as server:
        for _ in range(2):
            questions, answered, stopped = asked(tmp_path / "p.db", server)
            assert (answered, stopped, len(server.calls)) == ([0, 1, 2, 3], "", 8)
    assert questions.judge_name == "openai:a,openai:b"
    assert all(choice.sampling.temperature == 0 for choice in questions.panel.judges)


def test_a_budget_ends_it_and_says_so(tmp_path: Path) -> None:
    prices = {"a": (1000.0, 1000.0), "b": (1000.0, 1000.0)}
    with FakeServer(yes) as server:
        _, answered, stopped = asked(
            tmp_path / "p.db", server, max_cost=0.01, prices=prices, concurrency=1
        )
        assert len(answered) < 4
        assert "0.01" in stopped


def test_without_a_judge_the_fix_is_named(store: Store) -> None:
    with pytest.raises(MissingResource, match=r"a test needs a judge \(fix: add --judge M\)"):
        JudgeQuestions(store, JudgeSettings(), CallSettings(), print, "a test")
