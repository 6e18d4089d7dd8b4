"""Measures of dialogues over hand-made notes, with the original's formulas where they differ."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured, Summary, Totals
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.registry import build
from proctor.stats.intervals import Interval, bounded_interval

ORIGINAL = {"compat": "original"}


def of_shares(hits: int, n: int) -> Interval:
    interval = bounded_interval([1.0] * hits + [0.0] * (n - hits), [1.0] * n)
    assert interval is not None
    return interval


def notes(**changes: Any) -> dict[str, Any]:
    made = {
        "reason": "FinalAnswerEvaluated",
        "final": True,
        "correct": True,
        "resolved": True,
        "asked": False,
        "redundant": 0,
        "skipped": False,
    }
    return made | changes


GOOD = notes(asked=True)
HASTY = notes(resolved=False, correct=False, reason="FinalAnswerMissingInfo")
NEVER = notes(final=False, resolved=False, correct=False, asked=True, redundant=2, reason="Failed")
SKIPPED = notes(skipped=True, correct=None, asked=True, reason="JudgeJSONParseFailed")
SILENT = notes(final=False, correct=False, resolved=False, reason="NoAnswer")


def result(*held: dict[str, Any], case_id: str = "c") -> CaseResult:
    """Make a case result of the notes of its attempts."""
    case = Case(
        id=case_id, messages=(), criteria=(Criterion(id="correct", scorer=Spec(name="noted")),)
    )
    done = []
    for index, one in enumerate(held):
        status = AttemptStatus.STOPPED if one.get("skipped") else AttemptStatus.ANSWERED
        if one.get("reason") == "NoAnswer":
            status = AttemptStatus.UNANSWERED
        if one.get("reason") == "down":
            status = AttemptStatus.ERROR
        attempt = Attempt(case_id=case_id, index=index, status=status, notes=one)
        scores: dict[str, Score] = {}
        if status is AttemptStatus.ANSWERED and one.get("correct") is not None:
            scores = {"correct": Score(points=float(one["correct"]), out_of=1.0)}
        value = value_of(case, scores)
        if status is AttemptStatus.UNANSWERED:
            value = null_value(case)
        if status is AttemptStatus.ERROR:
            value = error_value(case)
        done.append(AttemptResult(attempt=attempt, scores=scores, value=value))
    folded = fold(parse_fold("avg"), [one.value for one in done])
    return CaseResult(case=case, attempts=tuple(done), folded=folded)


ERROR = {"reason": "down"}
MIXED = [result(one) for one in (GOOD, GOOD, HASTY, NEVER, SKIPPED, SILENT, ERROR)]
ONLY_ASKING = [result(notes(final=False, resolved=False, correct=False, asked=True))] * 4
IN3 = [
    result(notes(vague=vague, asked=asked, correct=None))
    for vague, asked in ((True, True), (True, False), (False, False), (False, False), (False, True))
]


def measured(name: str, results: list[CaseResult], params: Any = None) -> Measured:
    made: Measured = build("measure", Spec(name=name, params=params or {})).measure(results)
    return made


@pytest.mark.parametrize(
    ("name", "results", "hits", "n"),
    [
        ("ask_rate", MIXED, 3, 5),
        ("cov_rate", MIXED, 2, 3),
        ("unq_rate", MIXED, 1, 5),
        ("accuracy", MIXED, 2, 5),
        ("vague_ask_rate", IN3, 1, 2),
        ("clear_direct_rate", IN3, 2, 3),
    ],
)
def test_shares(name: str, results: list[CaseResult], hits: int, n: int) -> None:
    found = measured(name, results)
    assert found.value == pytest.approx(hits / n, abs=1e-12)
    assert found.interval == pytest.approx(of_shares(hits, n))
    assert found.n == n


@pytest.mark.parametrize(
    ("name", "results", "value", "n"),
    [
        ("unq_events", MIXED, 2.0, 5),
        ("clarified", MIXED, 3.0, 5),
        ("kept_asking", MIXED, 0.0, 5),
        ("kept_asking", [result(notes(reason="KeptAskingOnLastTurn", kept_asking=True))], 1.0, 1),
        ("kept_asking", [result(notes(reason="FailedToAnswerOnLastTurn"))], 1.0, 1),
        ("unreadable", MIXED, 1.0, 6),
    ],
)
def test_counts(name: str, results: list[CaseResult], value: float, n: int) -> None:
    found = measured(name, results)
    assert (found.value, found.interval, found.n) == (value, None, n)


@pytest.mark.parametrize(
    ("results", "params", "value"),
    [
        (MIXED, {}, 0.5 * 2 / 5 + 0.3 * 2 / 3 + 0.2 * 4 / 5),
        (MIXED, ORIGINAL, 0.5 * 2 / 5 + 0.3 * 2 / 3 + 0.2 * 4 / 5),
        (ONLY_ASKING, {}, 0.2),
        (ONLY_ASKING, ORIGINAL, 0.5),
        ([result(SKIPPED)], {}, None),
        ([result(SKIPPED)], ORIGINAL, 0.5),
        ([result(GOOD)], {}, 1.0),
    ],
)
def test_the_score(results: list[CaseResult], params: dict[str, str], value: float | None) -> None:
    found = measured("score", results, params)
    assert found.value == (None if value is None else pytest.approx(value, abs=1e-12))


def test_the_interval_of_the_score_is_that_of_a_mean_where_the_score_is_one() -> None:
    rows = [GOOD] * 6 + [notes(correct=False)] * 3
    found = measured("score", [result(one) for one in rows])
    values = [0.5 * one["correct"] + 0.5 for one in rows]
    assert found.interval == pytest.approx(bounded_interval(values, [1.0] * 9))
    assert found.detail == pytest.approx({"accuracy": 2 / 3, "coverage": 1.0, "needless": 0.0})


@pytest.mark.parametrize("name", ["ask_rate", "unq_rate", "vague_ask_rate", "clear_direct_rate"])
def test_nothing_is_no_number_but_for_the_original(name: str) -> None:
    assert measured(name, [result(SKIPPED)]).value is None
    assert measured(name, [result(SKIPPED)], ORIGINAL).value == 0.0


def test_without_a_final_answer_nothing_is_covered() -> None:
    found = measured("cov_rate", ONLY_ASKING)
    assert (found.value, found.interval, found.n) == (0.0, None, 0)


def test_the_score_has_an_interval_where_no_attempt_had_a_final_answer() -> None:
    # All that is known is the best there can be, so that one more case alike would add nothing.
    found = measured("score", [result(notes(asked=True, final=False, resolved=None))] * 3)
    assert found.value == pytest.approx(0.7)
    low, high = found.interval
    assert low < 0.4
    assert high > 0.9


def test_several_attempts_at_a_case_are_one_draw() -> None:
    several = [result(GOOD, GOOD, HASTY), result(HASTY, SKIPPED), result(GOOD)]
    found = measured("ask_rate", several)
    assert (found.value, found.n) == (3 / 5, 5)
    assert found.interval != pytest.approx(of_shares(3, 5))


def test_reasons_are_a_distribution_that_survives_the_store() -> None:
    found = measured("reasons", MIXED)
    assert found.value is None
    assert list(found.detail.items()) == [
        ("FinalAnswerEvaluated", 2),
        ("Failed", 1),
        ("FinalAnswerMissingInfo", 1),
        ("JudgeJSONParseFailed", 1),
        ("NoAnswer", 1),
    ]
    totals = Totals(
        score=0.0, full=0.0, rate=None, spread=0.0, interval=None, cases=0, attempts=0,
        unanswered=0, unscored=0, errors=0, cases_unscored=0, bounds=None,
    )  # fmt: skip
    summary = Summary(totals=totals, measures={"reasons": found})
    assert Summary.from_json(summary.to_json()) == summary


@pytest.mark.parametrize(
    ("params", "value", "n"),
    [
        ({}, 2 / 3, 3),
        ({"over": "attempts"}, 3 / 5, 5),
        ({"over": "rounds"}, (2 / 3 + 1 / 2) / 2, 5),
        ({"over": "rounds", "compat": "original"}, (2 / 3 + 1 / 2) / 2, 5),
    ],
)
def test_accuracy_over_several_attempts(params: dict[str, str], value: float, n: int) -> None:
    several = [result(GOOD, GOOD), result(HASTY, HASTY), result(GOOD, SKIPPED)]
    found = measured("accuracy", several, params)
    assert (found.value, found.n) == (pytest.approx(value), n)


@pytest.mark.parametrize(("params", "value"), [({}, None), (ORIGINAL, 0.0)])
@pytest.mark.parametrize("over", ["cases", "attempts", "rounds"])
def test_accuracy_of_nothing(over: str, params: dict[str, str], value: float | None) -> None:
    assert measured("accuracy", [result(SKIPPED)], {"over": over, **params}).value == value
