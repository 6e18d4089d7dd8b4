"""The judge of a dialogue: rulings, and the reason where there is none."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from proctor.contracts.dialogue import DialogueContext
from proctor.contracts.judge import Judge, Ruling
from proctor.core.exchange import Sampling, Usage
from proctor.core.suite import Case, Message
from proctor.dialogues.arbiter import Arbiter, ruled
from proctor.dialogues.conversation import Conversation, DialogueStopped
from proctor.errors import BudgetError, JudgeError, ModelError
from proctor.testing import ScriptedCandidate

ASKED = (Message(role="user", content="Right?"),)


class _Verdict(BaseModel):
    ok: bool


class _Judge(Judge):
    identity = "j"

    def __init__(self, result: Any) -> None:
        self.result, self.how = result, {}

    async def ask(self, messages: Any, verdict: Any, **how: Any) -> Ruling[Any]:
        self.how = how
        if isinstance(self.result, Exception):
            raise self.result
        return Ruling(verdict=self.result, usage=Usage(calls=2))


def ruling(judge: Judge | None, **how: Any) -> tuple[Any, Conversation]:
    case = Case(id="c", messages=(), criteria=())
    ctx = DialogueContext(case=case, index=1, candidate=ScriptedCandidate(), judge=judge)
    talk = Conversation(ctx, turn=3)
    arbiter = Arbiter(tries=4, sampling=Sampling(seed=1), **how)
    return asyncio.run(arbiter.rule(talk, ASKED, _Verdict, "/x")), talk


def stopped(judge: Judge | None, **how: Any) -> DialogueStopped:
    with pytest.raises(DialogueStopped) as caught:
        ruling(judge, **how)
    return caught.value


def test_a_ruling_is_asked_for_at_its_turn_and_counted() -> None:
    judge = _Judge("yes")
    found, talk = ruling(judge, reader=len)
    assert found.verdict == "yes"
    assert (judge.how["tries"], judge.how["salt"], judge.how["reader"]) == (4, "c#1/t3/x", len)
    assert judge.how["sampling"] == Sampling(seed=1)
    assert talk.usage["judge"].calls == 2


def test_no_readable_verdict_stops_the_attempt_with_what_was_said() -> None:
    error = JudgeError("unclear", reason="Odd", raw=("a", "b"), usage=Usage(calls=2))
    stop = stopped(_Judge(error))
    assert (stop.reason, stop.error) == ("Odd", "unclear")
    assert (stop.turn["tries"], stop.turn["raw"], stop.turn["usage"]["calls"]) == (2, ["a", "b"], 2)
    assert stopped(_Judge(error), reader=len).reason == "JudgeJSONParseFailed"
    assert stopped(_Judge(JudgeError("unclear"))).reason == "JudgeJSONParseFailed"


def test_a_judge_out_of_reach_stops_the_attempt_and_an_empty_purse_the_run() -> None:
    stop = stopped(_Judge(ModelError("no route")))
    assert (stop.reason, stop.turn["tries"]) == ("JudgeUnreachable", 0)
    assert "no route" in stop.error
    assert stopped(None).reason == "JudgeUnreachable"
    assert stopped(_Judge(ModelError("no route")), reader=len).turn["tries"] == 4
    with pytest.raises(BudgetError):
        ruling(_Judge(BudgetError("spent")))


def test_a_panel_that_is_divided_has_not_ruled() -> None:
    assert ruled(True)
    assert not ruled(False)
    with pytest.raises(DialogueStopped, match="divided") as caught:
        ruled(None)
    assert caught.value.reason == "JudgeUndecided"
