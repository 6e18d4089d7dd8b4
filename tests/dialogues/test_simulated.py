"""The simulated user: what it knows, what it must not say, and how a checklist is written."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.exchange import Sampling
from proctor.core.suite import Case, Message
from proctor.dialogues.conversation import Conversation, DialogueStopped
from proctor.dialogues.ledger import Ledger
from proctor.dialogues.simulated import SimulatedUser, listed, materials
from proctor.errors import BudgetError, ModelError
from proctor.testing import ScriptedCandidate, ScriptedModel

CASE = Case(
    id="c",
    messages=(Message(role="user", content="Book a table."),),
    criteria=(),
    references=("Trattoria Giovanni at eight",),
    hidden={
        "question": "Book a table for five people in Rome.",
        "info": "five people, in Rome",
        "points": ["number of people", "city"],
        "point_answers": ["five people", "Rome"],
    },
)


def talk(*script: Any, case: Case = CASE) -> Conversation:
    ctx = DialogueContext(
        case=case, index=0, candidate=ScriptedCandidate(), simulator=ScriptedModel(script)
    )
    said = [Message(role="assistant", content="How many people are you?")]
    return Conversation(ctx, exchanged=said, turn=1)


def answer(one: Conversation, scenario: str = "missing_info") -> tuple[str, Ledger]:
    ledger = Ledger.of(one.ctx.case)
    ledger.turns.append({})
    ledger.asked_for.append([True, False])
    text = asyncio.run(SimulatedUser(scenario, Sampling(seed=7)).answer(one, ledger))
    return text, ledger


def model_of(one: Conversation) -> ScriptedModel:
    model = one.ctx.simulator
    assert isinstance(model, ScriptedModel)
    return model


def test_a_reply_that_gives_nothing_away_is_the_next_message() -> None:
    one = talk("We are five people.")
    text, ledger = answer(one)
    assert (text, ledger.flags) == ("We are five people.", [])
    (request,) = model_of(one).requests
    assert (request.salt, request.sampling.seed) == ("c#0/t1", 7)
    assert "How many people are you?" in request.messages[0].content


def test_the_answer_given_away_is_asked_for_again_and_twice_stops_the_attempt() -> None:
    leak = "It is Trattoria Giovanni at eight."
    one = talk(leak, "Five people.")
    text, ledger = answer(one)
    assert text == "Five people."
    assert ledger.turns[-1]["refused"] == [leak]
    assert [flag["kind"] for flag in ledger.flags] == ["AnswerGivenAway"]
    assert len(model_of(one).requests) == 2
    with pytest.raises(DialogueStopped, match="twice") as caught:
        answer(talk(leak, leak))
    assert caught.value.reason == "SimulatorLeak"


@pytest.mark.parametrize(
    ("said", "words"),
    [(None, "said nothing"), (" ", "said nothing"), (ModelError("no route"), "no route")],
)
def test_a_user_that_says_nothing_stops_the_attempt(said: Any, words: str) -> None:
    with pytest.raises(DialogueStopped, match=words) as caught:
        answer(talk(said))
    assert caught.value.reason == "SimulatorFailed"
    with pytest.raises(BudgetError):
        answer(talk(BudgetError("spent")))


def shown(scenario: str, case: Case = CASE) -> str:
    (message,) = SimulatedUser(scenario, Sampling()).messages(talk(case=case))
    return message.content


def test_the_user_knows_what_its_scenario_lets_it_know() -> None:
    assert "five people, in Rome" in shown("missing_info")
    assert '"number of people": "five people"' in shown("missing_info")
    assert "Trattoria" not in shown("missing_info")
    overconfident = shown("overconfidence")
    assert "five people, in Rome" not in overconfident
    assert "How many people are you?" in overconfident
    assert '"city": "Rome"' in shown("in3")
    bare = replace(CASE, hidden={})
    assert "Book a table." in shown("in3", bare)


def test_a_checklist_is_numbered_or_said_to_be_none() -> None:
    assert listed(("a", "b"), "en") == "1. a\n2. b"
    assert (listed((), "en"), listed((), "zh")) == ("(none)", "（无）")
    told = materials(talk(case=replace(CASE, references=(), hidden={})).ctx)
    assert told == {
        "reference": "(none)",
        "question": "Book a table.",
        "shown": "Book a table.",
        "info": "(none)",
        "points": "(none)",
    }
