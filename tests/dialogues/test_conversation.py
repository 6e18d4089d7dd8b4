"""What is said in one attempt: kept in order, counted by role, and failures as they should be."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.suite import Case, CaseFile, Message, ToolCall
from proctor.dialogues.conversation import (
    Conversation,
    DialogueStopped,
    sampling_of,
    spoken,
    transcript_of,
)
from proctor.errors import AgentError, BudgetError, ModelError
from proctor.testing import ScriptedCandidate, ScriptedModel

CASE = Case(id="c", messages=(Message(role="user", content="Well?"),), criteria=())


def talk(*script: Any, **how: Any) -> Conversation:
    ctx = DialogueContext(
        case=how.pop("case", CASE),
        index=2,
        candidate=ScriptedCandidate(script),
        simulator=how.pop("simulator", None),
    )
    return Conversation(ctx, **how)


def ask(one: Conversation) -> str | None:
    return asyncio.run(one.ask(one.transcript))


def test_turns_are_kept_in_order_with_what_they_took() -> None:
    cut = Reply(text="first", finish="length", usage=Usage(calls=1), seconds=1.5, thinking="hm")
    one = talk(cut, Reply(text="second", finish="stop", usage=Usage(calls=1), seconds=0.5))
    assert ask(one) == "first"
    one.tell("more")
    assert ask(one) == one.last == "second"
    attempt = one.attempt(AttemptStatus.ANSWERED, {"x": 1})
    assert [message.content for message in attempt.messages] == ["first", "more", "second"]
    assert attempt.messages[0].thinking == "hm"
    assert (attempt.index, attempt.seconds, attempt.usage["candidate"]["calls"]) == (2, 2.0, 2)
    assert attempt.notes == {"x": 1, "truncated": [1]}
    assert one.transcript[0].content == "Well?"


@pytest.mark.parametrize(
    ("text", "null_as", "said"),
    [
        (None, None, None),
        (" \n", None, None),
        (None, "-", "-"),
        (" ", "-", " "),
        ("x", "-", "x"),
    ],
)
def test_nothing_said_is_no_answer_unless_a_text_stands_for_it(
    text: str | None, null_as: str | None, said: str | None
) -> None:
    one = talk(text, null_as=null_as)
    assert ask(one) == said
    assert len(one.exchanged) == (said is not None)


def test_a_candidate_that_cannot_be_reached_leaves_what_was_said_so_far() -> None:
    one = talk("first", ModelError("gone"))
    ask(one)
    with pytest.raises(ModelError, match="gone") as caught:
        ask(one)
    so_far: Any = caught.value.so_far
    assert (so_far.status, so_far.error) == (AttemptStatus.ERROR, "gone")
    assert [message.content for message in so_far.messages] == ["first"]
    assert ask(talk(ModelError("gone"), failed_as="(failed)")) == "(failed)"
    for failed_as in (None, "(failed)"):
        with pytest.raises(BudgetError):
            ask(talk(BudgetError("spent"), failed_as=failed_as))


def test_what_an_agent_did_before_it_broke_is_kept() -> None:
    reply = Reply(text=None, round={"state": "failed"}, files={"out": "k"})
    one = talk(AgentError("crashed", reply=reply))
    with pytest.raises(AgentError) as caught:
        ask(one)
    so_far: Any = caught.value.so_far
    assert so_far.notes == {"rounds": [{"state": "failed"}], "files": [{"out": "k"}]}


@pytest.mark.parametrize(("given", "left", "noted"), [(False, {}, False), (True, {}, True)])
def test_an_agent_that_deleted_all_files_has_left_none(
    given: bool, left: dict[str, str], noted: bool
) -> None:
    files = (CaseFile(name="in", digest="d"),) if given else ()
    one = talk(Reply(text="x", round={}, files=left), case=replace(CASE, files=files))
    ask(one)
    assert ("files" in one.attempt(AttemptStatus.ANSWERED, {}).notes) is noted


def test_the_simulated_user_is_counted_apart_and_may_be_missing() -> None:
    request = Request(messages=CASE.messages)
    one = talk(simulator=ScriptedModel("sure"))
    assert asyncio.run(one.ask_user(request)) == "sure"
    assert one.usage.keys() == {"simulator"}
    assert one.user_requests == [request]
    with pytest.raises(DialogueStopped, match="no simulated user") as caught:
        asyncio.run(talk().ask_user(request))
    assert caught.value.reason == "SimulatorFailed"


def test_words_of_a_model_as_a_round_and_as_a_transcript() -> None:
    one = talk()
    assert spoken(one, None)["error"] == "it gave no answer"
    assert [post["message"] for post in spoken(one, "so")["post_list"]] == ["Well?", "so"]
    shown = transcript_of((*CASE.messages, Message(role="assistant", content="A")))
    assert shown.entries == (("user 1", "Well?"), ("assistant 2", "A"))


def test_sampling_is_made_of_what_parameters_say() -> None:
    assert sampling_of({}) is None
    assert sampling_of({"temperature": 0.5, "stop": ["a"]}) == Sampling(
        temperature=0.5, stop=("a",)
    )
    with pytest.raises(ValueError, match="not a way to sample: heat, top_p"):
        sampling_of({"heat": 1, "top_p": 1})


def test_the_user_goes_on_only_after_every_call_has_a_result() -> None:
    calls = (ToolCall(name="f", id="1"), ToolCall(name="g", id="2"))
    one = talk(Reply(text=None, tool_calls=calls), "Well.")
    assert ask(one) == ""
    assert one.calls == calls
    one.tell("And?")
    assert one.calls == ()
    assert ask(one) == "Well."
    assert [(m.role, m.tool_call_id) for m in one.exchanged] == [
        ("assistant", ""), ("tool", "1"), ("tool", "2"), ("user", ""), ("assistant", ""),
    ]  # fmt: skip
    assert one.exchanged[2].content == """{"error": "there is no result for this call of 'g'"}"""


def test_judges_and_simulated_users_see_calls() -> None:
    calls = (ToolCall(name="f", arguments={"n": 1}, id="1"),)
    message = Message(role="assistant", content="", tool_calls=calls)
    assert transcript_of([message]).entries == (("assistant 1", '[calls f({"n": 1})]'),)
