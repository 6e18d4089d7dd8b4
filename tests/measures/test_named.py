"""Means of named values, over all cases and by category."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.registry import build
from proctor.stats.intervals import bounded_interval

LEXICAL = Spec(name="text_metrics", params={"metrics": ["bleu"]})
RATED = Spec(name="rating_metric", params={"metric": "relevance"})


def result(category: str, *attempts: Any, scorers: Any = (LEXICAL,)) -> CaseResult:
    """Make a case whose attempts have these values; a status where there is no answer."""
    criteria = tuple(
        Criterion(id=f"c{place}", scorer=spec, weight=0) for place, spec in enumerate(scorers)
    )
    case = Case(id="x", messages=(), criteria=criteria, tags={"category": (category,)})
    made = []
    for found in attempts:
        status = found if isinstance(found, AttemptStatus) else AttemptStatus.ANSWERED
        scores = {}
        if status is AttemptStatus.ANSWERED:
            last = criteria[-1].id
            failed = found is None
            scores[last] = (
                Score.failed("?") if failed else Score(points=1, detail={"metrics": found})
            )
        attempt = Attempt(case_id="x", status=status)
        made.append(AttemptResult(attempt=attempt, scores=scores, value=value_of(case, scores)))
    folded = fold(parse_fold("avg"), [one.value for one in made])
    return CaseResult(case=case, attempts=tuple(made), folded=folded)


def measured(results: list[CaseResult], **params: Any) -> Measured:
    measure = build("measure", Spec(name="named_metric", params={"metric": "bleu1", **params}))
    assert measure.label == "bleu1"
    found: Measured = measure.measure(results)
    return found


def rows(found: Measured) -> dict[str, tuple[float, int]]:
    return {
        name: (row["value"], row["n"]) for name, row in (found.detail or {"by": {}})["by"].items()
    }


def test_mean_and_categories() -> None:
    results = [
        result("chat", {"bleu1": 0.2, "bleu2": 0.9}, {"bleu1": 0.4}),
        result("open_qa", {"bleu1": 0.9}),
        result("open_qa", {"bleu2": 0.9}),
        result("open_qa", None),
    ]
    found = measured(results)
    assert (found.value, found.n) == (pytest.approx(0.5), 2)
    assert found.interval is not None
    assert rows(found) == {"chat": (pytest.approx(0.3), 1), "open_qa": (0.9, 1)}
    assert rows(measured(results, by="lang")) == {}
    assert measured([]) == Measured(value=None, interval=None, n=0)


def test_the_criterion_that_has_the_value_may_be_any() -> None:
    found = measured([result("chat", {"bleu1": 0.2}, scorers=(RATED, LEXICAL))])
    assert (found.value, found.n) == (0.2, 1)


@pytest.mark.parametrize(("params", "value", "n"), [({}, 0.25, 4), ({"unanswered": None}, 0.5, 2)])
def test_no_answer_is_worth_nothing_where_there_would_have_been_a_value(
    params: dict[str, Any], value: float, n: int
) -> None:
    silent = AttemptStatus.UNANSWERED
    results = [
        result("chat", silent),
        result("chat", {"bleu1": 0.4}),
        result("chat", {"bleu1": 0.6}),
        result("chat", silent),
        result("open_qa", silent, scorers=(RATED,)),
        result("chat", AttemptStatus.ERROR),
    ]
    found = measured(results, **params)
    assert (found.value, found.n) == (pytest.approx(value), n)
    assert set(rows(found)) == {"chat"}


def test_attempts_at_one_case_are_one_draw() -> None:
    found = measured([result("chat", {"bleu1": 0.0}, AttemptStatus.UNANSWERED, {"bleu1": 0.9})])
    assert (found.value, found.n) == (pytest.approx(0.3), 1)
    assert found.interval == pytest.approx(bounded_interval([0.9], [3.0]))
