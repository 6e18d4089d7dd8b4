"""Shares over attempts: hits of all that count, the attempts at one case being one draw."""

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, ValueStatus
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.suite import Case
from proctor.measures.shares import MeanSums, ShareSums, full_marks

SCORED, UNANSWERED, UNSCORED = ValueStatus.SCORED, ValueStatus.UNANSWERED, ValueStatus.UNSCORED


def result(*values: tuple[ValueStatus, float | None], full: float = 1.0) -> CaseResult:
    case = Case(id="c", messages=(), criteria=(), full_score=full)
    attempts = tuple(
        AttemptResult(
            attempt=Attempt.of("c", "x", index=index),
            scores={},
            value=Value(status=status, value=value, low=0.0, high=full),
        )
        for index, (status, value) in enumerate(values)
    )
    folded = fold(parse_fold("avg"), [item.value for item in attempts])
    return CaseResult(case=case, attempts=attempts, folded=folded)


def share(*cases: list[bool], empty: float | None = None) -> Measured:
    """Return the share of hits, given those of each case."""
    marks = iter(cases)
    sums = ShareSums(lambda _: next(marks), empty)
    sums.add([result((SCORED, 1.0))] * len(cases))
    return sums.result()


def test_nothing_at_all_has_no_share_but_the_one_that_is_wished() -> None:
    assert share([]) == Measured(value=None, interval=None, n=0)
    assert share([], empty=0.0).value == 0.0


def test_attempts_are_counted_and_cases_are_drawn() -> None:
    few, many = share(*[[True], [False]] * 10, empty=0.25), share([True] * 10, [False] * 10)
    assert many.value == few.value == 0.5
    assert many.n == few.n == 20
    assert few.interval is not None
    assert many.interval is not None
    assert many.interval[1] - many.interval[0] > few.interval[1] - few.interval[0]


def test_a_mean_leaves_out_what_does_not_count() -> None:
    draws = iter([(0.5, 1.0), None, (3.0, 3.0)])
    sums = MeanSums(lambda _: next(draws))
    assert sums.result() == Measured(value=None, interval=None, n=0)
    assert MeanSums(lambda _: None, empty=0.0).result().value == 0.0
    sums.add([result((SCORED, 1.0))] * 3)
    assert (sums.result().value, sums.result().n) == (3.5 / 4, 2)


@pytest.mark.parametrize(
    ("values", "full", "marks"),
    [
        ([(SCORED, 1.0), (SCORED, 0.999)], 1.0, [(0, True), (1, False)]),
        ([(SCORED, 1.0 - 1e-12)], 1.0, [(0, True)]),
        ([(SCORED, 2.0), (SCORED, 1.0)], 2.0, [(0, True), (1, False)]),
        ([(UNANSWERED, 0.0), (UNANSWERED, 1.0)], 1.0, [(0, False), (1, True)]),
        ([(UNSCORED, None), (ValueStatus.ERROR, None), (SCORED, 1.0)], 1.0, [(2, True)]),
        ([(ValueStatus.SHOWN, None)], 1.0, []),
    ],
)
def test_full_marks_count_where_there_is_a_value(
    values: list[tuple[ValueStatus, float | None]], full: float, marks: list[tuple[int, bool]]
) -> None:
    assert full_marks(result(*values, full=full)) == marks
