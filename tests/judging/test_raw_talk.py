"""Talks with a judge: what was asked and said is kept, and a judge without numbers is mute."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.contracts.judge import Talk, Voice
from proctor.core.exchange import Reply, Sampling, Usage
from proctor.core.suite import Message
from proctor.errors import ModelError
from proctor.judging.raw_talk import TalkReply, hold_talk
from proctor.testing import ScriptedModel

ASKED = (Message(role="user", content="Well?"),)


class _Talk(Talk[str]):
    def __init__(self, verdict: str | None = "yes", *, top: int = 0, tokens: int | None = None):
        self.verdict, self.top, self.tokens = verdict, top, tokens

    async def hold(self, voice: Voice) -> str | None:
        for _ in range(2):
            await voice.say(ASKED, max_tokens=self.tokens, top_logprobs=self.top)
        return self.verdict


def held(talk: _Talk, script: Any) -> tuple[TalkReply[str], ScriptedModel]:
    model = ScriptedModel(script)
    sampling = Sampling(temperature=0.0, max_tokens=50)
    return asyncio.run(hold_talk(model, talk, "salt", sampling)), model


def reply(text: str | None, **logprobs: float) -> Reply:
    return Reply(text=text, usage=Usage(calls=1, prompt_tokens=3), logprobs=logprobs)


def test_a_ruling_has_all_that_was_said_and_what_it_took() -> None:
    outcome, model = held(_Talk(tokens=5), [reply("first"), reply(None)])
    assert outcome.ruling is not None
    assert (outcome.ruling.verdict, outcome.ruling.rung) == ("yes", "talk")
    assert outcome.ruling.raw == ("first", "")
    assert outcome.usage.calls == outcome.ruling.usage.calls == 2
    assert {(one.salt, one.sampling.max_tokens) for one in model.requests} == {("salt", 5)}


def test_the_limit_of_the_judge_holds_where_the_talk_has_none() -> None:
    _, model = held(_Talk(), [reply("a"), reply("b")])
    assert {one.sampling.max_tokens for one in model.requests} == {50}


def test_a_verdict_by_numbers_says_so() -> None:
    outcome, _ = held(_Talk(top=5), [reply("a", a=-0.5), reply("b", b=-0.25)])
    assert outcome.ruling is not None
    assert (outcome.ruling.rung, dict(outcome.ruling.logprobs)) == ("logprobs", {"b": -0.25})


@pytest.mark.parametrize(
    "script",
    [
        lambda: [reply("a"), reply("b")],
        lambda: [ModelError("no logprobs", status=400)],
        lambda: [reply("a", a=-0.5), ModelError("no room", status=422)],
    ],
)
def test_a_judge_that_gives_no_numbers_is_mute(script: Callable[[], Any]) -> None:
    outcome, model = held(_Talk(None, top=5), script())
    assert (outcome.ruling, outcome.mute) == (None, True)
    assert outcome.usage.calls == len(outcome.requests) <= len(model.requests)


def test_no_verdict_leaves_what_was_asked_to_be_discarded() -> None:
    outcome, model = held(_Talk(None), [reply("a"), reply("b")])
    assert (outcome.ruling, outcome.mute, outcome.usage.calls) == (None, False, 2)
    assert list(outcome.requests) == model.requests


@pytest.mark.parametrize(("top", "status"), [(0, 400), (5, 500), (5, None)])
def test_other_failures_are_the_model_s(top: int, status: int | None) -> None:
    with pytest.raises(ModelError, match="broke"):
        held(_Talk(top=top), [ModelError("broke", status=status)])
