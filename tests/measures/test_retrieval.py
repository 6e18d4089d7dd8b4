"""Means of rankings over cases: what counts, what is left out, and how they are called."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case, Spec
from proctor.measures.retrieval import RetrievalMean
from proctor.registry import build
from proctor.testing import measure_in_parts


def result(relevant: Any, *retrieved: Any, status: str = "answered") -> CaseResult:
    case = Case(id="c", messages=(), criteria=(), hidden={"relevant": relevant})
    attempts = []
    for index, ids in enumerate(retrieved):
        meta = {} if ids is None else {"retrieved": ids}
        attempt = Attempt(case_id="c", index=index, meta=meta, status=AttemptStatus(status))
        attempts.append(AttemptResult(attempt=attempt, scores={}, value=value_of(case, {})))
    folded = fold(parse_fold("avg"), [attempt.value for attempt in attempts])
    return CaseResult(case=case, attempts=tuple(attempts), folded=folded)


RESULTS = [
    result(["a", "b"], ["a", "x"]),
    result(["a"], ["x", "a"], ["a"]),
    result(["a"], None),
    result([], ["a"]),
    result({"a": "x"}, ["a"]),
    result(["a"], None, status="unanswered"),
    result(["a"], ["a"], status="error"),
]


@pytest.mark.parametrize(
    ("params", "label", "value"),
    [
        ({}, "recall", (0.5 + 1 + 0) / 3),
        ({"name": "recall", "k": 1}, "recall@1", (0.5 + 0.5 + 0) / 3),
        ({"name": "mrr"}, "mrr", (1 + 0.75 + 0) / 3),
    ],
)
def test_the_mean_is_over_cases_that_name_ids(params: Any, label: str, value: float) -> None:
    measure = build("measure", Spec(name="retrieval", params=params))
    measured = measure.measure(iter(RESULTS))
    assert measure.label == label
    assert measured.value == pytest.approx(value)
    assert (measured.n, measured.note) == (3, "4 cases without ids left out")
    assert measure_in_parts(measure, RESULTS, (2, 5)).value == pytest.approx(value)


def test_nothing_to_measure_is_no_number() -> None:
    measured = RetrievalMean().measure([result(["a"], None)])
    assert (measured.value, measured.n, measured.note) == (None, 0, "1 case without ids left out")
    assert RetrievalMean().measure([result(["a"], ["a"])]).note == ""
    with pytest.raises(ValueError, match="first k ids"):
        RetrievalMean(k=-1)
