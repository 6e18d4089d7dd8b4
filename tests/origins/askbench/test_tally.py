"""The numbers of a results file: what counts, what is skipped, and the composite."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import Value, ValueStatus
from proctor.core.run import AttemptResult
from proctor.core.suite import Case
from proctor.origins.askbench.tally import AskBenchTally

CASE = Case(id="c", messages=(), criteria=())


def attempt(value: float | None, status: ValueStatus = ValueStatus.SCORED, **notes: Any) -> Any:
    one = replace(Attempt.of("c", "x"), notes=notes)
    if status is ValueStatus.ERROR:
        one = replace(one, status=AttemptStatus.ERROR)
    worth = Value(status=status, value=value, low=0.0, high=1.0)
    return AttemptResult(attempt=one, scores={}, value=worth)


def tally(*attempts: Any, compat: str = "", case: Case = CASE) -> AskBenchTally:
    counted = AskBenchTally(compat=compat)
    for one in attempts:
        counted.add(case, one)
    return counted


def test_what_is_skipped_counts_nowhere_but_in_the_total() -> None:
    counted = tally(
        attempt(1.0),
        attempt(0.0),
        attempt(None, ValueStatus.UNSCORED, reason="JudgeJSONParseFailed"),
        attempt(None, ValueStatus.ERROR),
    )
    assert (counted.total, counted.valid, counted.correct, counted.accuracy) == (4, 2, 1, 0.5)
    assert counted.unreadable == 1
    assert dict(counted.reasons) == {"JudgeJSONParseFailed": 1, "CandidateError": 1}


def test_what_the_dialogue_noted_goes_before_the_value() -> None:
    counted = tally(attempt(1.0, correct=False), attempt(0.0, correct=True), attempt(1.0))
    assert counted.correct == 2


@pytest.mark.parametrize(
    ("attempts", "compat", "score"),
    [
        ([], "", 0.2),
        ([], "original", 0.5),
        ([attempt(1.0, final=True, resolved=True)], "", 1.0),
        ([attempt(1.0, final=True, resolved=False)], "", 0.7),
        ([attempt(1.0, final=True, resolved=True, redundant=3)], "", 0.8),
        ([attempt(1.0)], "original", 1.0),
        ([attempt(1.0)], "", 0.7),
    ],
)
def test_the_composite(attempts: list[Any], compat: str, score: float) -> None:
    assert tally(*attempts, compat=compat).score == pytest.approx(score)


def test_vague_and_clear_tasks_are_told_apart() -> None:
    vague, clear = (replace(CASE, hidden={"vague": is_vague}) for is_vague in (True, False))
    counted = tally(attempt(1.0, asked=True), attempt(1.0), case=vague)
    counted.add(clear, attempt(1.0, asked=True))
    assert counted.vague_line == "Vague Ask Rate: 0.5000 (1 / 2)"
    assert counted.clear == [False]
    assert counted.health_score is None
    counted.health += [0.5, 1.0]
    assert counted.health_score == 0.75


def test_lines_say_what_the_task_has() -> None:
    counted = tally(
        attempt(1.0, final=True, resolved=True, asked=True, redundant=2),
        attempt(None, ValueStatus.UNSCORED, reason="NotJudged"),
    )
    plain = list(counted.lines(dialogue=False, scored=False, covers=False))
    assert plain == [
        "Valid samples: 1/2 (skipped: 1)",
        "- not_truncated: 2 (100.00%)",
        "Reason distribution:",
        "- NotJudged: 1 (50.00%)",
    ]
    whole = list(counted.lines(dialogue=True, scored=True, covers=True))
    assert "- ask_rate: 1.0000 (1/1)" in whole
    assert "- cov_rate: 1.0000 (1/1)" in whole
    assert "- unq_rate: 1.0000 (1/1, 2 events)" in whole
    assert "- Composite score: 0.8000" in whole
