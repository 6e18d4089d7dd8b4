"""Records of result files: what counts, what was thought, and rulings as the original has them."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import Value, ValueStatus, error_value, value_of
from proctor.core.run import AttemptResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.origins.askbench.records import (
    CORRECT,
    correctness,
    dialogue_record,
    rubric_record,
    rubric_score,
    single_record,
    skip_reason,
    summary_record,
    truncation,
)

CASE = Case(
    id="c",
    messages=(Message(role="user", content="Why?"),),
    criteria=(Criterion(id=CORRECT, scorer=Spec(name="judged_correct")),),
    references=("So.",),
)


def attempt(score: Score | None, case: Case = CASE, **notes: Any) -> AttemptResult:
    reply = Message(role="assistant", content="Because.", thinking="hm")
    made = Attempt(case_id="c", messages=(reply,), notes=notes)
    scores = {} if score is None else {case.criteria[0].id: score}
    return AttemptResult(attempt=made, scores=scores, value=value_of(case, scores))


RIGHT = attempt(Score(points=1.0, out_of=1.0, reason="so", detail={"raw": ["{}"], "tries": 2}))
WRONG = attempt(Score(points=0.0, out_of=1.0))
LOST = attempt(Score.failed("JudgeJSONParseFailed: unclear", detail={"raw": ["?"]}))


def test_a_question_that_was_put_once() -> None:
    record = single_record(CASE, RIGHT, "")
    assert (record["question"], record["correct"], record["skipped"]) == ("Why?", 1, False)
    assert record["judge"]["decision"] == {"reason": "so", "result": "correct"}
    assert (record["judge"]["parse_attempts"], record["judge"]["parse_success"]) == (2, True)
    lost = single_record(CASE, LOST, "")
    assert (lost["correct"], lost["skipped"], lost["skip_reason"]) == (
        None,
        True,
        "JudgeJSONParseFailed",
    )


def test_all_attempts_at_a_question() -> None:
    record = summary_record(CASE, [RIGHT, WRONG, LOST], "")
    assert [one["correct"] for one in record["attempts"]] == [1, 0, None]
    assert [one["attempt_num"] for one in record["attempts"]] == [1, 2, 3]
    assert record["pass@1"] == 0.5
    assert "pass@1" not in summary_record(CASE, [RIGHT], "")
    assert summary_record(CASE, [LOST, LOST], "")["pass@1"] is None
    assert record["attempts"][0]["thinking_process"] == "hm"
    old = summary_record(CASE, [RIGHT], "original")
    assert old["attempts"][0]["thinking_process"] == "<think>hm</think>"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (attempt(None, reason="JudgeUndecided"), "JudgeUndecided"),
        (LOST, "JudgeJSONParseFailed"),
        (attempt(Score.failed("broke")), "NotJudged"),
        (attempt(None), "NotJudged"),
        (replace(LOST, attempt=replace(LOST.attempt, status=AttemptStatus.ERROR),
                 value=error_value(CASE)), "CandidateError"),
    ],
)  # fmt: skip
def test_why_an_attempt_counts_nowhere(result: AttemptResult, reason: str) -> None:
    assert skip_reason(result) == reason
    assert correctness(result) is None


@pytest.mark.parametrize(
    ("notes", "ours", "theirs"),
    [
        ({}, "not_truncated", "none"),
        ({"finish": "stop"}, "not_truncated", "not_truncated"),
        ({"finish": "length", "truncated": [1]}, "truncated", "truncated"),
        ({"finish": "odd"}, "not_truncated", "truncated"),
    ],
)
def test_a_reply_that_was_cut_off(notes: dict[str, Any], ours: str, theirs: str) -> None:
    result = attempt(None, **notes)
    assert (truncation(result, ""), truncation(result, "original")) == (ours, theirs)


def test_a_rubric_counts_what_is_met_of_what_can_be_won() -> None:
    items = tuple(
        Criterion(id=str(n), scorer=Spec(name="rubric", params={"criterion": f"k{n}"}), weight=w)
        for n, w in enumerate((3.0, 1.0, -2.0))
    )
    case = replace(CASE, criteria=items)
    scores = {
        "0": Score(points=1.0, out_of=1.0),
        "1": Score.failed("x", detail={"raw": ["?"]}),
        "2": Score(points=0.0, out_of=1.0),
    }
    worth = Value(status=ValueStatus.UNSCORED, value=None, low=0.0, high=1.0)
    result = AttemptResult(attempt=Attempt.of("c", "x"), scores=scores, value=worth)
    record = rubric_record(case, result, "original")
    assert (record["raw_score"], record["positive_total"]) == (3.0, 4.0)
    assert (record["normalized_score"], record["valid_rubric_count"]) == (0.75, 2)
    assert rubric_score(record, "original") == 0.75
    assert rubric_record(case, result, "")["normalized_score"] is None
    nothing = rubric_record(case, replace(result, scores={}), "original")
    assert rubric_score(nothing, "original") is None


def test_a_dialogue_has_its_turns_and_points() -> None:
    notes = {
        "turns": [{"turn": 1, "verdict": {"missing_required_points": "odd"}, "raw": ["r"]}],
        "ledger": {"points": ["size"], "covered": [[True]], "first": [1]},
        "final": True,
        "correct": True,
        "asked": True,
    }
    case = replace(CASE, hidden={"points": ["size"], "vague": False})
    record = dialogue_record(case, attempt(None, **notes), compat="original")
    (turn,) = record["turn_logs"]
    assert turn["judge_decision"] == {
        "missing_required_points": [],
        "all_required_points_resolved": True,
    }
    assert turn["covered_required_points"] == ["size"]
    assert (record["correct"], record["is_final_answer"]) == (True, True)
    assert record["metadata"] == {"vague": False}
    assert record["behavior_metrics"]["asked_any_question"] is True
    assert dialogue_record(case, attempt(None, turns="odd"))["turn_logs"] == []
