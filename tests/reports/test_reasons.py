"""Reasons in short lines: why a case is unscored or short of full marks, and what a run lacks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.case_value import error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, RunStatus
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Spec
from proctor.reports.reasons import (
    attempt_reasons,
    formula,
    full_marks,
    one_line,
    reasons,
    rows_of,
    shortfall,
    spans_of,
)


def criterion(name: str, weight: float = 1.0) -> Criterion:
    return Criterion(id=name, scorer=Spec(name="contains"), weight=weight)


CASE = Case(id="c", messages=(), criteria=(criterion("a"), criterion("b", 2.0)))
PENALTY = replace(CASE, criteria=(criterion("a"), criterion("rude", -0.5)))


def points(**scores: float | str) -> dict[str, Score]:
    return {
        name: Score.failed(got) if isinstance(got, str) else Score(points=got, out_of=1.0)
        for name, got in scores.items()
    }


def result(*attempts: dict[str, Score] | str | None, case: Case = CASE, mode: str = "avg") -> Any:
    items = []
    for index, scores in enumerate(attempts):
        attempt = Attempt.of("c", "x", index=index)
        if scores is None:
            items.append(AttemptResult(attempt=attempt, scores={}, value=null_value(case)))
        elif isinstance(scores, str):
            lost = replace(attempt, error=scores)
            items.append(AttemptResult(attempt=lost, scores={}, value=error_value(case)))
        else:
            items.append(
                AttemptResult(attempt=attempt, scores=scores, value=value_of(case, scores))
            )
    folded = fold(parse_fold(mode), [item.value for item in items])
    return CaseResult(case=case, attempts=tuple(items), folded=folded)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (result(points(a=1, b=1)), []),
        (result(points(a=1, b=0.5)), ["b 0.5 of 1"]),
        (result(points(a=0, b=0)), ["a 0 of 1", "b 0 of 1"]),
        (result(points(a=1, b=0), points(a=1, b=0)), ["b 0 of 1"]),
        (result(points(a=0, b=1), points(a=1, b=1), mode="max"), []),
        (result(None), ["no answer"]),
        (result("gone"), ["gone"]),
        (result(""), ["the candidate could not be reached"]),
        (result(points(a="broke", b=1)), ["a: broke"]),
        (result(points(b=1)), ["a: not graded"]),
        (result(points(a=1, rude=1), case=PENALTY), ["rude took off 0.5"]),
        (result(points(a=1, b=1), case=replace(CASE, max_points=1.0, out_of=2.0)),
         ["worth 0.5 of 1"]),
        (result({"a": Score(status=ScoreStatus.NOT_APPLICABLE),
                 "b": Score(status=ScoreStatus.NOT_APPLICABLE)}), ["no criterion gives points"]),
    ],
)  # fmt: skip
def test_a_case_says_why_it_has_not_full_marks(case: CaseResult, said: list[str]) -> None:
    assert reasons(case) == said
    assert full_marks(case) == (not said)


def test_each_attempt_says_why_it_has_not_full_marks() -> None:
    case = result(
        points(a=1, b=1), points(a=1, b=0), None, "gone", "", points(a="broke", b=1), mode="max"
    )
    assert [attempt_reasons(case.case, one) for one in case.attempts] == [
        [], ["b 0 of 1"], ["no answer"], ["gone"], ["the candidate could not be reached"],
        ["a: broke"],
    ]  # fmt: skip
    clipped = result(points(a=1, b=1), case=replace(CASE, max_points=1.0, out_of=2.0))
    assert attempt_reasons(clipped.case, clipped.attempts[0]) == ["worth 0.5 of 1"]


@pytest.mark.parametrize(
    ("case", "scores", "text"),
    [
        (CASE, points(a=1, b=0.5), "(1 + 1) / 3 * 1 = 0.6667"),
        (replace(CASE, criteria=CASE.criteria[:1]), points(a=1), "1 / 1 * 1 = 1"),
        (replace(CASE, max_points=2.0, min_points=0.0, full_score=10.0), points(a=1, b=1),
         "(1 + 2, at least 0, at most 2) / 2 * 10 = 10"),
        (PENALTY, points(a=1, rude=1), "(1 + -0.5) / 1 * 1 = 0.5"),
    ],
)  # fmt: skip
def test_the_formula_is_what_was_computed(case: Case, scores: dict[str, Score], text: str) -> None:
    assert formula(case, result(scores, case=case).attempts[0]) == text


def test_only_spans_that_are_some_are_marked() -> None:
    detail = {
        "rules": [{"spans": [[0, 3], [3, 3], [5, 4], "x", [1], [1.5, 2]]}, "odd", {"span": [7, 9]}],
        "texts": [{"span": [4, 6]}],
        "span": [10, 12],
    }
    assert list(spans_of(detail)) == [(0, 3), (7, 9), (4, 6), (10, 12)]
    for odd in (None, "x", [1], {"rules": 3}, {"spans": None}):
        assert list(spans_of(odd)) == []
    assert rows_of({"a": [1, {"b": 2}]}, "a") == [{"b": 2}]


def test_a_line_is_one_line_that_moves_nothing() -> None:
    assert one_line(" a\nb\x1b[31m \u202egnp\ud800 ") == "a b [31m  gnp"


def lacking(view: RunView, **changes: Any) -> str:
    failures = changes.pop("failures", {})
    status = changes.pop("status", RunStatus.COMPLETE)
    totals = replace(
        view.summary.totals,
        **{"errors": 0, "cases_unscored": 0, "attempts": 10, "cases": 10, "rate": 0.5, **changes},
    )
    summary = replace(view.summary, totals=totals, failures=failures)
    return shortfall(replace(view, run=replace(view.run, status=status), summary=summary))


def rows(*reasons: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"reason": reason, "count": count} for reason, count in reasons]


def test_a_run_says_what_it_lacks(make_view: Callable[..., RunView]) -> None:
    view = make_view()
    assert lacking(view) == ""
    assert lacking(view, errors=3, failures={"errors": rows(("no\nroute", 3))}) == (
        "incomplete: 3 of 10 attempts failed: no route"
    )
    several = rows(("a", 2), ("b", 1), ("c", 1))
    assert lacking(view, errors=4, failures={"errors": several}).endswith(": a (2), b (1), …")
    assert lacking(view, cases_unscored=2) == ""
    assert "2 of 10 cases could not be scored" in lacking(view, cases_unscored=2, rate=None)
    assert lacking(view, status=RunStatus.INCOMPLETE).endswith("the same command resumes")
    assert lacking(view, failures={"unanswered": rows(("empty", 6))}) == (
        "6 of 10 attempts have no answer: empty"
    )
    assert lacking(view, failures={"unanswered": rows(("empty", 5))}) == ""
    assert len(lacking(view, errors=1, failures={"errors": rows(("x" * 999, 1))})) < 300
