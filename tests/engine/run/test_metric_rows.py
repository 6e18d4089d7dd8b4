"""Totals and groups: their intervals stay on the scale that the cases have, and are never empty."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.run import METRIC, Group
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.engine.run.metric_rows import metric_rows
from proctor.engine.run.totals import RunTotals
from proctor.stats.intervals import Scale, bounded_interval

GOOD = Criterion(id="good", scorer=Spec(name="contains"), metric="good")
BAD = Criterion(id="bad", scorer=Spec(name="contains"), metric="bad", weight=-2.0)
ANSWER = Attempt.of("c", "x")


def totals(
    scores: Sequence[Any], criteria: tuple[Criterion, ...], method: Any = "bounded", **fields: Any
) -> dict[str, Group]:
    """Sum up one case for each tuple of points, and return the overall row and those by metric."""
    sums = RunTotals(interval=method)
    for number, points in enumerate(scores):
        case = Case(id=str(number), messages=(), criteria=criteria, **fields)
        attempts = []
        for index, row in enumerate(points if isinstance(points, list) else [points]):
            ids = [criterion.id for criterion in criteria]
            given = dict(zip(ids, row, strict=True)) if row is not None else {}
            attempts.append(
                (
                    Attempt.of(case.id, None if row is None else "x", index=index),
                    {name: Score(points=float(p), out_of=1.0) for name, p in given.items()},
                )
            )
        sums.add(case_result(fold_of(Suite(name="s", cases=())), case, attempts))
    summary = sums.summary()
    return {"overall": summary.totals, **summary.groups[METRIC]}


@pytest.mark.parametrize("method", ["bounded", "t", "bootstrap"])
@pytest.mark.parametrize("hits", [0, 1, 6])
@pytest.mark.parametrize("n", [1, 6])
def test_an_interval_has_width_and_stays_within_its_scale(method: str, hits: int, n: int) -> None:
    for group in totals([(float(i < hits),) for i in range(n)], (GOOD,), method).values():
        assert group.interval is not None
        assert 0 <= group.interval[0] < group.interval[1] <= 1
        assert group.spread is None
        assert group.score_spread is None


def test_penalties_make_the_scale_longer() -> None:
    scores = [(1, 0), (1, 1), (0, 1), (1, 0)]
    rows = totals(scores, (GOOD, BAD))
    expected = bounded_interval([1, -1, -2, 1], [1.0] * 4, Scale(-2.0, 1.0))
    assert rows["overall"].interval == pytest.approx(expected)
    assert rows["good"].interval == pytest.approx(bounded_interval([1, 1, 0, 1], [1.0] * 4))
    assert rows["bad"].rate is None
    assert rows["bad"].interval is None


def test_penalties_that_are_cut_off_do_not() -> None:
    rows = totals([(1, 0), (1, 1)], (GOOD, BAD), min_points=0.0)
    assert rows["overall"].interval == pytest.approx(bounded_interval([1, 0], [1.0] * 2))


def test_no_answer_may_be_worth_less_than_nothing() -> None:
    rows = totals([(1,), None, (1,)], (GOOD,), null_score=-1.0)
    expected = bounded_interval([1, -1, 1], [1.0] * 3, Scale(-1.0, 1.0))
    assert rows["overall"].interval == pytest.approx(expected)


def test_more_than_full_marks_may_be_had_of_a_fixed_denominator() -> None:
    rows = totals([(1,), (0,)], (GOOD,), out_of=0.5)
    expected = bounded_interval([2, 0], [1.0] * 2, Scale(0.0, 2.0))
    assert rows["overall"].interval == pytest.approx(expected)


def test_points_beyond_the_scale_have_an_interval_all_the_same() -> None:
    interval = totals([(3,), (0.5,), (1,)], (GOOD,))["overall"].interval
    assert interval is not None
    assert interval[1] > 1.5


def test_several_attempts_have_a_spread() -> None:
    rows = totals([[(1,), (0,)], [(1,), (1,)]], (GOOD,))
    assert rows["overall"].spread == pytest.approx(2**-0.5 / 2)


def test_rows_of_one_case() -> None:
    case = Case(id="c", messages=(), criteria=(GOOD, BAD), weight=3.0)
    scores = {"good": Score(points=0.5, out_of=1.0), "bad": Score(points=1.0, out_of=1.0)}
    how = fold_of(Suite(name="s", cases=()))
    rows = {row.label: row for row in metric_rows(case_result(how, case, [(ANSWER, scores)]))}
    assert (rows["good"].points, rows["good"].full, rows["good"].scale) == (1.5, 3.0, (0, 1))
    assert (rows["bad"].points, rows["bad"].full, rows["bad"].buckets) == (-6.0, 0.0, [-6.0])


@pytest.mark.parametrize("shares_of_value", [False, True])
@pytest.mark.parametrize("output", ["x", None])
@pytest.mark.parametrize("given", [(1.0, 0.0, 0.5), (0.0, 1.0, 0.0), (0.25, None, 0.1)])
def test_one_attempt_has_the_rows_of_the_one_that_counts_of_two(
    given: Sequence[float | None], output: str | None, shares_of_value: bool
) -> None:
    criteria = (GOOD, BAD, replace(GOOD, id="again", weight=0.3))
    case = Case(id="c", messages=(), criteria=criteria, weight=1.5, full_score=3.0, null_score=-0.5)
    attempt = Attempt.of("c", output)
    scores = {
        criterion.id: Score(points=points, out_of=1.0)
        for criterion, points in zip(criteria, given, strict=True)
        if points is not None and output is not None
    }
    how = fold_of(Suite(name="s", cases=(), reduce="max"))
    one, two = (case_result(how, case, [(attempt, scores)] * times) for times in (1, 2))
    rows = [list(metric_rows(r, shares_of_value=shares_of_value)) for r in (one, two)]
    assert rows[0] == rows[1]
    assert bool(rows[0]) == (one.folded.value is not None)
