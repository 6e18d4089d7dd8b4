"""Scripted dialogues: every question in turn, and an early end where the agent fails or falls short."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.dialogue import DialogueContext
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import Value, ValueStatus
from proctor.core.suite import Case, Message
from proctor.dialogues.scripted import Scripted
from proctor.io.concurrency import run_sync
from proctor.testing import ScriptedCandidate

CASE = Case(id="c", messages=(Message(role="user", content="q1"),), criteria=())
Grade = Callable[[Attempt, int], Awaitable[Value | None]]


def hold(
    dialogue: Scripted, *script: Any, grade: Grade | None = None
) -> tuple[Attempt, ScriptedCandidate]:
    candidate = ScriptedCandidate(script)
    ctx = DialogueContext(case=CASE, index=0, candidate=candidate)
    return run_sync(dialogue.hold(replace(ctx, grade=grade))), candidate


def marks(*values: float | ValueStatus | None) -> Grade:
    async def grade(attempt: Attempt, turn: int) -> Value | None:
        value = values[turn]
        if isinstance(value, ValueStatus):
            return Value(status=value, value=None, low=0.0, high=1.0)
        scored = ValueStatus.SCORED
        return None if value is None else Value(status=scored, value=value, low=value, high=value)

    return grade


def test_every_question_is_put_with_all_that_was_said() -> None:
    attempt, candidate = hold(Scripted(then=("q2", "q3")), "a1", "a2", "a3")
    assert attempt.status is AttemptStatus.ANSWERED
    assert [m.content for m in attempt.messages] == ["a1", "q2", "a2", "q3", "a3"]
    assert [len(messages) for messages in candidate.conversations] == [1, 3, 5]
    assert len(attempt.notes["rounds"]) == 3
    assert "ended" not in attempt.notes


@pytest.mark.parametrize(
    ("script", "status", "rounds", "ended"),
    [
        ((None,), AttemptStatus.UNANSWERED, 1, True),
        (("a1", None), AttemptStatus.ANSWERED, 2, True),
        (("a1", "a2", None), AttemptStatus.ANSWERED, 3, False),
    ],
)
def test_it_ends_where_the_agent_says_nothing(
    script: tuple[Any, ...], status: AttemptStatus, rounds: int, ended: bool
) -> None:
    attempt, _ = hold(Scripted(then=("q2", "q3")), *script)
    assert (attempt.status, len(attempt.notes["rounds"])) == (status, rounds)
    assert ("ended" in attempt.notes) is ended
    assert attempt.notes["rounds"][-1]["state"] == "failed"
    if status is AttemptStatus.UNANSWERED:
        assert attempt.error == "the agent failed: it gave no answer"


@pytest.mark.parametrize(
    ("values", "turns", "status"),
    [
        ((0.5, 0.5), 2, AttemptStatus.ANSWERED),
        ((0.49, 1.0), 1, AttemptStatus.ANSWERED),
        ((None, 1.0), 2, AttemptStatus.ANSWERED),
        ((ValueStatus.UNSCORED, 1.0), 1, AttemptStatus.STOPPED),
        ((ValueStatus.SHOWN, 1.0), 2, AttemptStatus.ANSWERED),
    ],
)
def test_a_turn_below_the_threshold_is_the_last_one(
    values: tuple[Any, ...], turns: int, status: AttemptStatus
) -> None:
    dialogue = Scripted(then=("q2",), stop_below=0.5)
    attempt, candidate = hold(dialogue, "a1", "a2", grade=marks(*values))
    assert (len(candidate.conversations), attempt.status) == (turns, status)
    if values[0] == 0.49:
        assert attempt.notes["ended"] == "turn 1 got 0.49, below the threshold 0.5"


@pytest.mark.parametrize("stop_below", [None, 0.0])
def test_without_a_threshold_nothing_is_graded_on_the_way(stop_below: float | None) -> None:
    dialogue = Scripted(then=("q2",), stop_below=stop_below)
    assert not dialogue.grades
    assert dialogue.turns(CASE).candidate == (2, 2, 2)
    attempt, _ = hold(dialogue, "a1", "a2", grade=marks())
    assert len(attempt.messages) == 3
    assert Scripted(then=("q2",), stop_below=0.5).turns(CASE).candidate == (1, 2, 2)


def test_parameters_that_make_no_sense_are_named() -> None:
    assert list(Scripted(then=("x",), stop_below=1.0).problems(CASE)) == []
    assert len(list(Scripted(then=(" ",), stop_below=1.5).problems(CASE))) == 2
