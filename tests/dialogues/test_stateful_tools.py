"""Tools on a state, with and without a simulated user, in the real sandbox."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import Cause, cause_of
from proctor.core.exchange import Reply
from proctor.core.prompt_fences import fenced_texts
from proctor.core.suite import Case, Message, Spec, ToolCall
from proctor.core.tool_module import functions_of
from proctor.errors import ModelError
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.testing import ScriptedCandidate, ScriptedModel, hold_dialogue

pytestmark = pytest.mark.sandbox

SOURCE = '''
def renew(state: dict, loan: str) -> dict:
    """Renew a loan."""
    if loan not in state["due"]:
        raise ValueError("no such loan")
    state["due"][loan] += 21
    return {"due": state["due"][loan]}

def look(state: dict) -> dict:
    """Look at the loans."""
    return state["due"]

def read_card(state: dict) -> str:
    """Read your card."""
    return "M-1042"

def drop(state: dict, loan: str) -> str:
    """Drop a book into the box."""
    state["box"].append(loan)
    return "done"
'''
STATE = {"due": {"L-1": 5}, "box": []}
CANDIDATES = tuple(f.tool for f in functions_of(SOURCE)[0] if f.name in ("renew", "look"))
ASK = Case(
    id="c", messages=(Message(role="user", content="Renew L-1."),), criteria=(), tools=CANDIDATES
)
TASK = {"task": "You want to renew L-1.", "facts": {"member number": "M-1042"}}
TALK = Case(id="c", messages=(), criteria=(), tools=CANDIDATES, hidden=TASK, references=("day 26",))
STOP = "TASK_FINISHED"
HELLO, WHO = "I want to renew L-1.", "What is your member number?"


def calling(name: str, text: str | None = None, **arguments: Any) -> Reply:
    return Reply(text=text, tool_calls=(ToolCall(name=name, arguments=arguments),))


def held(
    replies: Any, user: Any = None, *, case: Case | None = None, **how: Any
) -> tuple[Attempt, ScriptedCandidate, ScriptedModel]:
    name = "stateful_tools" if user is None else "stateful_user"
    params = {"tools": {"source": SOURCE, "state": STATE}, **how}
    dialogue = build("dialogue", Spec(name=name, params=params))
    candidate, simulator = ScriptedCandidate(replies), ScriptedModel(user or "")

    async def hold() -> Attempt:
        sandbox = Bubblewrap()
        try:
            ctx = DialogueContext(
                case=case or (ASK if user is None else TALK), index=0, candidate=candidate,
                simulator=simulator, sandbox=sandbox,
            )  # fmt: skip
            return await dialogue.hold(ctx)
        finally:
            await sandbox.close()

    return asyncio.run(hold()), candidate, simulator


def test_calls_work_on_the_state_and_are_noted() -> None:
    replies = [
        calling("look"),
        calling("renew", loan="L-9"),
        calling("renew", loan="L-1"),
        "Day 26.",
    ]
    attempt, candidate, _ = held(replies)
    results = [m.content for m in attempt.messages if m.role == "tool"]
    assert results == ['{"L-1": 5}', '{"error": "no such loan"}', '{"due": 26}']
    assert [(a["name"], a["by"], a.get("failed")) for a in attempt.notes["actions"]] == [
        ("look", "assistant", None), ("renew", "assistant", True), ("renew", "assistant", None),
    ]  # fmt: skip
    changes = attempt.notes["state"]["changes"]
    assert changes == [{"path": ["due", "L-1"], "before": 5, "after": 26}]
    assert (attempt.status, attempt.notes["reason"]) == (AttemptStatus.ANSWERED, "Answered")
    assert [tool.name for tool in candidate.model.requests[0].tools] == ["renew", "look"]


def test_each_attempt_begins_with_the_same_state() -> None:
    first, second = (held([calling("renew", loan="L-1"), "Done."])[0] for _ in range(2))
    assert first.notes == second.notes


def test_the_users_tools_are_not_the_candidates() -> None:
    attempt, *_ = held([calling("drop", loan="L-1"), "Well."])
    assert attempt.notes["actions"][0]["failed"]
    assert attempt.notes["state"]["changes"] == []


def test_a_candidate_that_never_ends_and_one_that_says_nothing() -> None:
    attempt, *_ = held([calling("look")] * 3, max_turns=3)
    assert attempt.notes["reason"] == "TurnLimit"
    silent, *_ = held([None])
    assert (silent.status, silent.notes["reason"]) == (AttemptStatus.UNANSWERED, "NoAnswer")
    later, *_ = held([calling("look"), None])
    assert later.status is AttemptStatus.ANSWERED


def test_a_user_with_tools_of_its_own() -> None:
    user = [HELLO, calling("read_card"), calling("drop", loan="L-7"), "It is M-1042.", STOP]
    replies = [WHO, calling("renew", text="One moment.", loan="L-1"), "Renewed until day 26."]
    attempt, candidate, simulator = held(
        user=user, replies=replies, user_tools=["read_card", "drop"]
    )
    assert [(m.role, m.content) for m in attempt.messages if m.role != "tool"] == [
        ("user", HELLO), ("assistant", WHO), ("user", "It is M-1042."),
        ("assistant", "One moment."), ("assistant", "Renewed until day 26."),
    ]  # fmt: skip
    assert [(a["by"], a["name"], a.get("result")) for a in attempt.notes["actions"]] == [
        ("user", "read_card", "M-1042"), ("user", "drop", "done"), ("assistant", "renew", None),
    ]  # fmt: skip
    assert {tuple(c["path"]) for c in attempt.notes["state"]["changes"]} == {
        ("due", "L-1"),
        ("box", 0),
    }
    assert [tool.name for tool in simulator.requests[0].tools] == ["read_card", "drop"]
    assert [m.role for m in simulator.requests[3].messages] == [
        "system", "user", "assistant", "user", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip
    # The user hears all that the candidate said to it, and none of its calls.
    assert "One moment.\n\nRenewed until day 26." in simulator.requests[-1].messages[-1].content
    assert "read_card" not in str(candidate.conversations[-1])
    assert "flags" not in attempt.notes


@pytest.mark.parametrize("last", ["assistant", "tool"])
def test_a_history_is_known_to_both(last: str) -> None:
    call = ToolCall(name="look", id="h1")
    said = (
        Message(role="system", content="Be kind."),
        Message(role="user", content="Is L-1 due?"),
        Message(role="assistant", content="I look.", tool_calls=(call,)),
        Message(role="tool", content='{"L-1": 5}', tool_call_id="h1"),
        *([Message(role="assistant", content="On day 5.")] if last == "assistant" else []),
    )
    begun = replace(TALK, messages=said)
    first = [STOP, "Then renew it."] if last == "assistant" else []
    attempt, candidate, simulator = held(["Done."], [*first, STOP], case=begun)
    assert attempt.notes["reason"] == "TaskFinished"
    assert tuple(candidate.conversations[0][: len(said)]) == said
    side = [(m.role, m.content) for m in simulator.requests[0].messages[2:]]
    assert side[0] == ("assistant", "Is L-1 due?")
    assert side[1][0] == "user"
    assert "I look." in side[1][1]
    if last == "assistant":
        assert "On day 5." in side[2][1]
        # The candidate has not had its turn: the user cannot end the matter.
        assert attempt.notes["flags"][0]["kind"] == "EndedEarly"
        assert attempt.messages[0] == Message(role="user", content="Then renew it.")
    else:
        assert attempt.messages[0].role == "assistant"
    dialogue = build("dialogue", Spec(name="stateful_user", params={"tools": {"source": SOURCE}}))
    assert dialogue.turns(begun).simulator[0] == int(last == "assistant")


# A fault that is planted, what the user says the second time, and what becomes of the attempt.
MENDED: list[tuple[str, list[Any], str]] = [
    ("AnswerGivenAway", ["Please renew it to day 26.", HELLO], "answered"),
    ("AnswerGivenAway", ["Please renew it to day 26.", "To day 26, please."], "stopped"),
    ("UnaskedFact", ["I am M-1042 and want L-1 renewed.", HELLO], "answered"),
    ("UnaskedFact", ["I am M-1042.", "M-1042 again."], "stopped"),
    ("InventedDetail", ["Renew L-1, my card is K-99.", HELLO], "answered"),
    ("InventedDetail", ["My card is K-99.", "K-99!"], "stopped"),
    ("SpokeOfTools", ["[calls renew()]", HELLO], "answered"),
    ("SpokeOfTools", ['renew_it({"loan": 1})', 'renew_it({"loan": 1})'], "stopped"),
    ("EndedEarly", [STOP, HELLO], "answered"),
    ("EndedEarly", [STOP, STOP], "stopped"),
]


@pytest.mark.parametrize(("kind", "planted", "status"), MENDED)
def test_planted_faults_are_flagged_mended_once_or_stop_the_attempt(
    kind: str, planted: list[Any], status: str
) -> None:
    attempt, _, simulator = held(["Done."], [*planted, STOP])
    assert attempt.notes["flags"][0]["kind"] == kind
    assert attempt.status is AttemptStatus(status)
    refused = simulator.requests[1].messages
    assert refused[-2].content == planted[0]
    assert "cannot be sent" in refused[-1].content
    if status == "stopped":
        assert attempt.notes["reason"] == "SimulatorFault"
        assert kind in attempt.error
        assert cause_of(attempt) is Cause.SIMULATOR
    else:
        assert attempt.messages[0].content == HELLO


@pytest.mark.parametrize(
    ("user", "reason", "error"),
    [
        ([ModelError("down")], "SimulatorFailed", "could not be reached: down"),
        ([HELLO, ModelError("down")], "SimulatorFailed", "could not be reached"),
        ([None, " "], "SimulatorFailed", "said nothing"),
        ([HELLO, *[calling("read_card")] * 6], "SimulatorFailed", "said nothing"),
    ],
)
def test_a_user_that_breaks_stops_the_attempt(user: list[Any], reason: str, error: str) -> None:
    attempt, *_ = held(["Done."], user, user_tools=["read_card"], user_calls=2)
    assert attempt.status is AttemptStatus.STOPPED
    assert (attempt.notes["reason"], attempt.notes["cause"]) == (reason, "simulator")
    assert error in attempt.error


def test_an_end_with_a_question_is_flagged_and_the_second_one_counts() -> None:
    attempt, *_ = held(["Done."], [HELLO, f"Thanks, and L-2? {STOP}", STOP])
    assert attempt.notes["flags"] == [{"turn": 1, "kind": "EndedWithMore"}]
    assert attempt.notes["reason"] == "TaskFinished"


def test_the_candidate_cannot_end_for_the_user() -> None:
    replies = [f"Say {STOP}.", "Bye."]
    attempt, *_ = held(replies, [HELLO, f"I am not {STOP} yet.", STOP])
    assert [m.content for m in attempt.messages if m.role == "user"] == [
        HELLO,
        f"I am not {STOP} yet.",
    ]


def test_a_case_that_asks_something_begins_with_that() -> None:
    case = Case(id="c", messages=ASK.messages, criteria=(), tools=CANDIDATES, hidden=TASK)
    attempt, *_ = held(["Done."], [STOP], case=case)
    assert [m.role for m in attempt.messages] == ["assistant"]
    limit, *_ = held(["Done.", "More."], [HELLO, "Go on."], max_turns=2)
    assert limit.notes["reason"] == "TurnLimit"


def test_no_word_of_a_stranger_stands_outside_of_marks() -> None:
    hidden = {"task": "canary-task", "facts": {"canary-fact": "canary-value"}}
    case = Case(id="c", messages=(), criteria=(), tools=CANDIDATES, hidden=hidden)
    replies = ["canary-answer"]
    _, _, simulator = held(replies, ["I invent canary-9.", "Hello.", STOP], case=case)
    strange = ("canary-task", "canary-fact", "canary-value", "canary-answer", "canary-9")
    seen = set()
    for request in simulator.requests:
        for message in request.messages:
            if message.role == "assistant":
                continue
            outside = message.content
            for text in fenced_texts(message.content, message.marks):
                outside = outside.replace(text, "")
            assert not [word for word in strange if word in outside]
            seen |= {word for word in strange if word in message.content}
    assert seen == set(strange)


def test_what_is_wrong_is_told_before_anything_is_asked() -> None:
    def problems(name: str, case: Case = ASK, **params: Any) -> list[str]:
        return list(build("dialogue", Spec(name=name, params=params)).problems(case))

    tools = {"source": SOURCE, "state": {}}
    assert problems("stateful_tools", tools=tools) == []
    assert "no module" in problems("stateful_tools")[0]
    assert "max_turns" in problems("stateful_tools", tools=tools, max_turns=0)[0]
    assert "timeout" in problems("stateful_tools", tools={**tools, "timeout": 0})[0]
    wrong = {**tools, "actions": [{"name": "renew"}, {"name": "renw"}]}
    assert problems("stateful_tools", tools=wrong) == [
        "'renew' needs 'loan'", "there is no tool 'renw' (there are: renew, look, read_card, drop)",
    ]  # fmt: skip
    assert "no task" in problems("stateful_user", tools=tools)[0]
    assert "'x' is none" in problems("stateful_user", TALK, tools=tools, user_tools=["x"])[0]
    with pytest.raises(ModelError, match="need a sandbox"):
        hold_dialogue(build("dialogue", Spec(name="stateful_tools", params={"tools": tools})), ASK)
