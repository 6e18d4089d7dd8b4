"""Scripted models, candidates and judges, and trying plugins with them."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from proctor.contracts.dialogue import Dialogue, DialogueContext
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.exchange import Reply, Request
from proctor.core.suite import Case, Message
from proctor.errors import JudgeError, ModelError
from proctor.testing import (
    ScriptedCandidate,
    ScriptedJudge,
    ScriptedModel,
    hold_dialogue,
    try_scorer,
)


def ask(model: ScriptedModel, text: str) -> Any:
    request = Request(messages=(Message(role="user", content=text),))
    return asyncio.run(model.reply(request)).text


@pytest.mark.parametrize(
    ("script", "texts", "answers"),
    [
        ("same", ["a", "b"], ["same", "same"]),
        (["one", None], ["a", "b"], ["one", None]),
        ({"a": "has a", "": "other"}, ["a", "b"], ["has a", "other"]),
        (lambda request: request.messages[-1].content * 2, ["a", "b"], ["aa", "bb"]),
        ([Reply(text="whole", finish="length")], ["a"], ["whole"]),
    ],
)
def test_scripted_models(script: Any, texts: list[str], answers: list[str | None]) -> None:
    model = ScriptedModel(script)
    assert [ask(model, text) for text in texts] == answers
    assert [request.messages[0].content for request in model.requests] == texts


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([ModelError("busy", status=429, passing=True)], "busy"),
        ([], "all of them were said"),
        ({"b": "x"}, "nothing is scripted for 'a'"),
    ],
)
def test_scripted_models_that_fail(script: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        ask(ScriptedModel(script), "a")


def test_a_scripted_model_is_a_model() -> None:
    model = ScriptedModel(name="small")
    asyncio.run(model.check())
    assert (model.identity, model.label) == (
        {"provider": "scripted", "model": "small"},
        "scripted:small",
    )


@dataclass(frozen=True)
class Verdict:
    right: bool


@dataclass(frozen=True)
class Asks(Scorer):
    async def score(self, ctx: ScoreContext) -> bool:
        assert ctx.judge is not None
        ruling = await ctx.judge.ask([Message(role="user", content=ctx.output)], Verdict)
        return ruling.verdict.right


@dataclass(frozen=True)
class Polite(Scorer):
    def score(self, ctx: ScoreContext) -> bool:
        return "please" in ctx.output


@dataclass(frozen=True)
class Finishes(Polite):
    @property
    def finishes(self) -> bool:
        return True

    async def finish(self, ctx: ScoreContext, score: Any) -> float:
        return (score.points or 0.0) / 2


def judged_by(*script: Any) -> ScoreContext:
    context = ScoreContext.of("an answer, please")
    return ScoreContext(case=context.case, attempt=context.attempt, judge=ScriptedJudge(script))


@pytest.mark.parametrize(
    ("scorer", "script", "points", "reason"),
    [
        (Polite(), [], 1.0, ""),
        (Finishes(), [], 0.5, ""),
        (Asks(), [{"right": True}], 1.0, ""),
        (Asks(), [{"right": False}], 0.0, ""),
        (Asks(), [JudgeError("unreadable")], None, "Asks: JudgeError: unreadable"),
        (Asks(), [], None, "Asks: JudgeError: the script has no more verdicts"),
        (Asks(), ["true"], None, "Asks: JudgeError: not the fields of a verdict: 'true'"),
    ],
)
def test_trying_a_scorer(scorer: Scorer, script: Any, points: float | None, reason: str) -> None:
    made = try_scorer(scorer, judged_by(*script))
    assert (made.points, made.reason) == (points, reason)


def test_a_scripted_judge_gives_texts_to_the_reader() -> None:
    judge = ScriptedJudge(["yes"])
    asked = [Message(role="user", content="Right?")]
    ruling = asyncio.run(
        judge.ask(asked, Verdict, reader=lambda text: Verdict(right=text == "yes"))
    )
    assert ruling.verdict == Verdict(right=True)
    assert judge.conversations == [tuple(asked)]


@dataclass(frozen=True)
class Twice(Dialogue):
    async def hold(self, ctx: DialogueContext) -> Attempt:
        first = await ctx.candidate.reply(ctx, ctx.case.messages)
        asked = Message(role="user", content="Sure?")
        said = Message(role="assistant", content=first.text or "")
        second = await ctx.candidate.reply(ctx, (*ctx.case.messages, said, asked))
        last = Message(role="assistant", content=second.text or "")
        return Attempt(case_id=ctx.case.id, messages=(said, asked, last))


def test_holding_a_dialogue() -> None:
    case = Case(id="c", messages=(Message(role="user", content="2 + 2?"),), criteria=())
    candidate = ScriptedCandidate(["5", "4"])
    attempt = hold_dialogue(Twice(), case, candidate)
    assert attempt == hold_dialogue(Twice(), case, ["5", "4"])
    assert attempt.output == "4"
    assert [len(messages) for messages in candidate.conversations] == [1, 3]
    assert candidate.model.requests[0].salt == "c#0"
    with pytest.raises(ModelError, match="gone"):
        hold_dialogue(Twice(), case, ["5", ModelError("gone")])


@pytest.mark.parametrize("scripted", [ScriptedCandidate("yes"), ScriptedJudge([])])
def test_the_earlier_name_of_what_was_asked_still_works_and_warns(scripted: Any) -> None:
    with pytest.warns(DeprecationWarning, match="heard is .*conversations now"):
        assert scripted.heard == scripted.conversations
