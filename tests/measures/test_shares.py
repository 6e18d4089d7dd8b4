"""Shares over attempts: hits of all that count, the attempts at one case being one draw."""

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, ValueStatus
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case
from proctor.measures.shares import Share, full_marks

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


def test_nothing_at_all_has_no_share_but_the_one_that_is_wished() -> None:
    share = Share()
    share.add([])
    assert (share.measured().value, share.measured().interval, share.measured().n) == (
        None,
        None,
        0,
    )
    assert share.measured(0.0).value == 0.0


def test_attempts_are_counted_and_cases_are_drawn() -> None:
    many, few = Share(), Share()
    for _ in range(10):
        few.add([True])
        few.add([False])
    many.add([True] * 10)
    many.add([False] * 10)
    assert many.measured().value == few.measured().value == 0.5
    assert many.measured().n == few.measured().n == 20
    wide, narrow = many.measured().interval, few.measured().interval
    assert narrow is not None
    assert wide is None or wide[1] - wide[0] > narrow[1] - narrow[0]
    assert few.measured(0.25).value == 0.5


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
