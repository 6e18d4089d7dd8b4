"""Judges asked again, in panels and repeatedly; what is kept and what is raised."""

import asyncio
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from proctor.contracts.judge import ReadingError, Ruling
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.suite import Message
from proctor.errors import BudgetError, JudgeError, ModelError
from proctor.judging import ModelJudge, Panel, ask
from proctor.testing import ScriptedModel


class Ruled(BaseModel):
    """Hold a verdict."""

    reason: str = ""
    result: Literal["correct", "incorrect"]


RIGHT = '{"reason": "fits", "result": "correct"}'
WRONG = '{"reason": "does not fit", "result": "incorrect"}'
BAD = '{"reason": "hm", "result": "partly"}'
NONE = "I give no JSON."
ASKED = (Message(role="user", content="Is it right?"),)


def asked(script: Any, **how: Any) -> tuple[Ruling[Ruled], ScriptedModel]:
    model = ScriptedModel(script)
    return asyncio.run(ask(model, ASKED, Ruled, **how)), model


def refused(script: Any, **how: Any) -> tuple[JudgeError, ScriptedModel]:
    model = ScriptedModel(script)
    with pytest.raises(JudgeError) as caught:
        asyncio.run(ask(model, ASKED, Ruled, **how))
    return caught.value, model


def test_one_reply_is_enough() -> None:
    ruling, model = asked([RIGHT], salt="s", sampling=Sampling(temperature=0.0))
    assert (ruling.verdict.result, ruling.rung, ruling.tries) == ("correct", "object", 1)
    assert ruling.raw == (RIGHT,)
    assert ruling.usage.calls == 1
    request = model.requests[0]
    assert request.shape is not None
    assert request.shape.schema["required"] == ["reason", "result"]
    assert request.sampling.temperature == 0.0
    assert "s" in request.salt
    assert "1" in request.salt


@pytest.mark.parametrize("rung", ["schema", "tool"])
def test_the_rung_of_the_server_is_kept(rung: str) -> None:
    ruling, _ = asked([Reply(text=RIGHT, rung=rung)])
    assert ruling.rung == rung


def test_a_judge_is_shown_its_reply_and_what_was_wrong() -> None:
    ruling, model = asked([NONE, None, BAD, RIGHT], tries=4)
    assert (ruling.verdict.result, ruling.tries, ruling.usage.calls) == ("correct", 4, 4)
    assert ruling.raw == (NONE, "", BAD, RIGHT)
    second, third, fourth = (request.messages for request in model.requests[1:])
    assert second[:1] == ASKED
    assert [(m.role, m.content) for m in second[1:2]] == [("assistant", NONE)]
    assert "no JSON object" in second[2].content
    assert '"reason", "result"' in second[2].content
    assert [m.role for m in third] == ["user", "assistant", "user", "user"]
    assert "empty" in third[-1].content
    assert "not the text 'partly'" in fourth[-1].content
    assert len({request.salt for request in model.requests}) == 4


def test_a_reply_that_was_cut_off_is_told_so() -> None:
    _, model = asked([Reply(text='{"reason": "long', finish="length"), RIGHT])
    assert "cut off" in model.requests[1].messages[-1].content


@pytest.mark.parametrize(
    ("script", "tries", "reason"),
    [
        ([NONE] * 3, 3, "JudgeJSONParseFailed"),
        ([None] * 3, 3, "JudgeJSONParseFailed"),
        (["  "], 1, "JudgeJSONParseFailed"),
        ([BAD], 1, "JudgeResultInvalid"),
        ([BAD, NONE], 2, "JudgeResultInvalid"),
        ([NONE] * 10, 10, "JudgeJSONParseFailed"),
    ],
)
def test_a_judge_that_never_rules(script: list[Any], tries: int, reason: str) -> None:
    error, model = refused(script, tries=tries)
    assert error.reason == reason
    assert error.raw == tuple(line or "" for line in script)
    assert isinstance(error.usage, Usage)
    assert error.usage.calls == tries == len(model.requests)


def test_errors_of_the_model_pass() -> None:
    with pytest.raises(ModelError, match="away"):
        asked([NONE, ModelError("away", passing=True)])


class Final(ReadingError):
    final = True


def reader(text: str) -> Ruled:
    if text == "stop":
        raise Final("stop it")
    if text not in ("correct", "incorrect"):
        raise ValueError("not a word")
    return Ruled.model_construct(reason="", result=text)


def test_a_reader_of_ones_own_gets_the_same_words_again() -> None:
    ruling, model = asked(["hm", None, "correct"], reader=reader, salt="s")
    assert (ruling.verdict.result, ruling.tries) == ("correct", 3)
    assert {request.messages for request in model.requests} == {ASKED}
    assert {request.shape for request in model.requests} == {None}
    assert len({request.salt for request in model.requests}) == 3


@pytest.mark.parametrize(
    ("script", "reason", "calls"),
    [
        (["hm"] * 3, "JudgeJSONParseFailed", 3),
        (["hm", "stop", "correct"], "JudgeResultInvalid", 2),
    ],
)
def test_a_reader_may_end_it(script: list[str], reason: str, calls: int) -> None:
    error, model = refused(script, reader=reader)
    assert (error.reason, len(model.requests)) == (reason, calls)


def ruled(judge: Any, **how: Any) -> Ruling[Ruled]:
    ruling: Ruling[Ruled] = asyncio.run(judge.ask(ASKED, Ruled, **how))
    return ruling


def panel_of(*scripts: Any, combine: Any = "majority") -> Panel:
    models = [ScriptedModel(script, name=f"m{n}") for n, script in enumerate(scripts)]
    return Panel(judges=[ModelJudge(model=model) for model in models], combine=combine)


def test_a_panel_folds_and_keeps_every_ruling() -> None:
    ruling = ruled(panel_of([WRONG], [NONE, RIGHT], [RIGHT]))
    assert ruling.verdict == Ruled(reason="fits", result="correct")
    assert [member.verdict.result for member in ruling.panel] == ["incorrect", "correct", "correct"]
    assert (ruling.tries, ruling.usage.calls) == (4, 4)
    assert ruling.raw == (WRONG, NONE, RIGHT, RIGHT)


def test_who_gives_no_verdict_is_left_out_and_remembered() -> None:
    refusal = ModelError("the context is too long", status=400)
    ruling = ruled(panel_of([NONE] * 3, [refusal], [WRONG]))
    assert ruling.verdict.result == "incorrect"
    assert [member.verdict for member in ruling.panel[:2]] == [None, None]
    assert [member.rung for member in ruling.panel] == ["failed", "failed", "object"]
    assert ruling.panel[0].raw == (NONE,) * 3
    assert ruling.usage.calls == 4


@pytest.mark.parametrize("error", [ModelError("busy", passing=True), BudgetError("spent")])
def test_who_may_be_reached_later_is_waited_for(error: ModelError) -> None:
    with pytest.raises(type(error), match=str(error)):
        ruled(panel_of([RIGHT], [error]))


@pytest.mark.parametrize(
    ("scripts", "reason", "calls"),
    [
        (([NONE] * 3, [NONE] * 3), "JudgeJSONParseFailed", 6),
        (([BAD] * 3, [NONE] * 3), "JudgeResultInvalid", 6),
    ],
)
def test_a_panel_in_which_nobody_rules(scripts: Any, reason: str, calls: int) -> None:
    with pytest.raises(JudgeError) as caught:
        ruled(panel_of(*scripts))
    assert caught.value.reason == reason
    assert len(caught.value.raw) == calls


def test_a_panel_refused_by_all_servers_says_why() -> None:
    with pytest.raises(ModelError, match="no such model"):
        ruled(panel_of([ModelError("no such model")], [ModelError("no such model")]))


def test_one_judge_is_asked_repeatedly() -> None:
    model = ScriptedModel([RIGHT, WRONG, RIGHT])
    ruling = ruled(ModelJudge(model=model, repeats=3), salt="s")
    assert (ruling.verdict.result, len(ruling.panel)) == ("correct", 3)
    assert len({request.salt for request in model.requests}) == 3
    assert all("s" in request.salt for request in model.requests)


def test_a_panel_of_one_is_that_one_with_its_repeats() -> None:
    model = ScriptedModel([RIGHT, RIGHT])
    ruling = ruled(Panel(judges=[ModelJudge(model=model, repeats=2)]))
    assert len(ruling.panel) == 2


def test_the_same_judge_twice_is_asked_twice() -> None:
    model = ScriptedModel(RIGHT)
    ruled(Panel(judges=[ModelJudge(model=model), ModelJudge(model=model)]))
    assert len({request.salt for request in model.requests}) == 2


def test_sampling_is_the_judges_own_unless_said() -> None:
    model = ScriptedModel(RIGHT)
    judge = ModelJudge(model=model, sampling=Sampling(temperature=0.1))
    ruled(judge)
    ruled(judge, sampling=Sampling(temperature=0.7))
    assert [request.sampling.temperature for request in model.requests] == [0.1, 0.7]


def test_judges_are_told_apart() -> None:
    def judge(name: str = "a", **fields: Any) -> ModelJudge:
        return ModelJudge(model=ScriptedModel(name=name), **fields)

    made = [
        judge(),
        judge("b"),
        judge(sampling=Sampling(temperature=0.0)),
        judge(repeats=2),
        judge(repeats=2, combine="mean"),
        Panel(judges=[judge(), judge("b")]),
        Panel(judges=[judge(), judge("b")], combine="mean"),
        Panel(judges=[judge(), judge("c")]),
    ]
    identities = [repr(one.identity) for one in made]
    assert len(set(identities)) == len(made)
    assert judge().identity == judge(combine="mean").identity


def test_a_panel_asks_all_at_once() -> None:
    waiting: list[asyncio.Event] = []

    class Together(ScriptedModel):
        async def reply(self, request: Request) -> Reply:
            waiting.append(asyncio.Event())
            if len(waiting) == 3:
                for event in waiting:
                    event.set()
            await waiting[-1].wait()
            return Reply(text=RIGHT)

    judges = [ModelJudge(model=Together(name=str(n))) for n in range(3)]
    assert ruled(Panel(judges=judges)).verdict.result == "correct"
