"""The one formula, row by row."""

import pytest

from proctor.core.case_value import (
    Value,
    ValueStatus,
    error_value,
    null_value,
    shares,
    stopped_value,
    value_of,
)
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Spec

NA = Score(status=ScoreStatus.NOT_APPLICABLE)


def case_of(*weights: float, **limits: float) -> Case:
    criteria = tuple(
        Criterion(id=f"c{n}", scorer=Spec(name="contains"), weight=weight)
        for n, weight in enumerate(weights)
    )
    return Case(id="case", messages=(), criteria=criteria, **limits)  # type: ignore[arg-type]


def got(points: float, out_of: float | None = 1.0) -> Score:
    return Score(points=points, out_of=out_of)


def failed(out_of: float | None = 1.0) -> Score:
    return Score.failed("broken", out_of=out_of)


def worth(case: Case, *scores: Score | None) -> Value:
    return value_of(case, {f"c{n}": s for n, s in enumerate(scores) if s is not None})


@pytest.mark.parametrize(
    ("case", "scores", "expected"),
    [
        (case_of(1), [got(1)], 1.0),
        (case_of(1), [got(0)], 0.0),
        (case_of(1), [got(1, 4)], 0.25),
        (case_of(1, 1), [got(1), got(0)], 0.5),
        (case_of(3, 1), [got(1), got(0)], 0.75),
        (case_of(1, full_score=10), [got(1, 4)], 2.5),
        # a penalty takes points away, and never adds to the denominator
        (case_of(1, -1), [got(1), got(1)], 0.0),
        (case_of(1, -1), [got(1), got(0)], 1.0),
        (case_of(1, -0.5), [got(0), got(1)], -0.5),
        (case_of(1, -0.5, min_points=0), [got(0), got(1)], 0.0),
        # negative points of a criterion with a positive weight (keywords with neg)
        (case_of(1), [got(-1, 2)], -0.5),
        (case_of(1, min_points=0), [got(-1, 2)], 0.0),
        # the maximum cuts both the points and the denominator
        (case_of(1, max_points=2), [got(3, 4)], 1.0),
        (case_of(1, max_points=2), [got(1, 4)], 0.5),
        (case_of(1, max_points=8), [got(3, 4)], 0.75),
        # a fixed denominator
        (case_of(1, out_of=8), [got(4, 4)], 0.5),
        (case_of(1, out_of=4, max_points=4), [got(1, 1)], 0.25),
        # shown, never added
        (case_of(1, 0), [got(1), got(0)], 1.0),
        (case_of(1, 1), [got(1), got(17, None)], 1.0),
        (case_of(1, 0), [got(1), failed()], 1.0),
        # not applicable leaves both sums
        (case_of(1, 1), [got(1), NA], 1.0),
        (case_of(1, 3), [got(0), NA], 0.0),
        # full marks of nothing
        (case_of(1, full_score=0), [got(1)], 0.0),
    ],
)
def test_a_scored_case(case: Case, scores: list[Score], expected: float) -> None:
    value = worth(case, *scores)
    assert value.status is ValueStatus.SCORED
    assert value.value == pytest.approx(expected)
    assert (value.low, value.high) == (value.value, value.value)


@pytest.mark.parametrize(
    ("case", "scores", "low", "high"),
    [
        (case_of(1), [failed()], 0.0, 1.0),
        (case_of(1, 1), [got(1), failed()], 0.5, 1.0),
        (case_of(1, 1), [got(0), failed(3)], 0.0, 0.75),
        (case_of(1, -1), [got(1), failed()], 0.0, 1.0),
        (case_of(1, -1, min_points=0), [got(0), failed()], 0.0, 0.0),
        (case_of(1, 1, max_points=1), [got(1), failed()], 1.0, 1.0),
        (case_of(1, 1, full_score=10), [got(1), failed()], 5.0, 10.0),
        # how much could be won is not known: anything may be true
        (case_of(1), [failed(None)], 0.0, 1.0),
        (case_of(1, 1), [got(1), failed(None)], 0.0, 1.0),
        (case_of(1, -1, 1), [got(0), got(1), failed(None)], -1.0, 1.0),
        # a penalty of which nobody knows what it takes away takes one point, by its weight
        (case_of(1, -1), [got(0), failed(None)], -1.0, 1.0),
        (case_of(2, -1), [got(0), failed(None)], -0.5, 1.0),
        (case_of(1, -1), [got(1), None], -1.0, 1.0),
        (case_of(1, -1, min_points=0), [got(0), failed(None)], 0.0, 1.0),
        (case_of(1, -1), [failed(None), failed(None)], -1.0, 1.0),
        # a score that is not there yet counts as one that failed
        (case_of(1, 1), [got(1), None], 0.0, 1.0),
        # nothing to divide by
        (case_of(1), [NA], 0.0, 1.0),
        (case_of(1), [got(5, None)], 0.0, 1.0),
        (case_of(-1), [got(1)], 0.0, 1.0),
        (case_of(-1), [failed()], 0.0, 1.0),
    ],
)
def test_an_unscored_case_has_bounds(
    case: Case, scores: list[Score | None], low: float, high: float
) -> None:
    value = worth(case, *scores)
    assert value.status is ValueStatus.UNSCORED
    assert value.value is None
    assert (value.low, value.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("scores", "status"),
    [
        ([got(1), got(0)], "shown"),
        ([NA, got(0)], "shown"),
        ([got(1), failed()], "unscored"),
        ([NA, None], "shown"),
    ],
)
def test_a_case_where_nothing_counts_is_only_shown_unless_a_score_failed(
    scores: list[Score | None], status: str
) -> None:
    value = worth(case_of(0, 0), *scores)
    assert (value.status, value.value, value.low, value.high) == (status, None, 0.0, 0.0)


def test_no_answer_where_nothing_counts_is_only_shown() -> None:
    assert null_value(case_of(0, 0)).status == "shown"


def test_no_answer_is_worth_the_null_score() -> None:
    value = null_value(case_of(1, null_score=-2, full_score=10))
    assert (value.status, value.value, value.low, value.high) == ("unanswered", -2, -2, -2)


def test_an_error_is_worth_nothing_known() -> None:
    value = error_value(case_of(1, full_score=10))
    assert (value.status, value.value, value.low, value.high) == ("error", None, 0.0, 10)


def test_a_case_that_was_stopped_may_have_got_all_penalties() -> None:
    value = stopped_value(case_of(2, -1, -1, full_score=10))
    assert (value.status, value.value, value.low, value.high) == ("unscored", None, -10.0, 10)
    assert stopped_value(case_of(1, -1, min_points=0)).low == 0.0
    assert stopped_value(case_of(-1)).low == 0.0


def test_shares_leave_out_what_is_only_shown() -> None:
    case = case_of(2, 0, -1, 1, 1)
    scores = {"c0": got(1, 3), "c1": got(1), "c2": got(1), "c3": got(4, None), "c4": failed()}
    rows = [(c.id, points, full) for c, points, full in shares(case, scores)]
    assert rows == [("c0", 2.0, 6.0), ("c2", -1.0, 0.0)]
