"""pass@k and pass^k: against all choices of k attempts, and with attempts missing."""

from itertools import combinations

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.measures.repeated import PassAtK, PassHatK
from proctor.registry import build
from proctor.stats.intervals import bounded_interval

CASE = Case(id="c", messages=(), criteria=(Criterion(id="x", scorer=Spec(name="contains")),))


def result(*marks: bool | None) -> CaseResult:
    attempts = []
    for index, mark in enumerate(marks):
        score = Score.failed("?", out_of=1.0) if mark is None else Score(points=mark, out_of=1.0)
        value = value_of(CASE, {"x": score})
        attempt = Attempt.of("c", "x", index=index)
        attempts.append(AttemptResult(attempt=attempt, scores={"x": score}, value=value))
    folded = fold(parse_fold("avg"), [attempt.value for attempt in attempts])
    return CaseResult(case=CASE, attempts=tuple(attempts), folded=folded)


@pytest.mark.parametrize("m", range(1, 7))
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_estimate_is_the_mean_over_all_choices_of_k_attempts(m: int, k: int) -> None:
    for right in range(m + 1):
        marks = [True] * right + [False] * (m - right)
        chosen = list(combinations(marks, k))
        some, every = (
            PassAtK(k=k).measure([result(*marks)]),
            PassHatK(k=k).measure([result(*marks)]),
        )
        if not chosen:
            assert (some.value, some.interval, some.n) == (None, None, 0)
            assert some.note == f"1 case with fewer than {k} attempts left out"
            continue
        assert some.value == pytest.approx(sum(map(any, chosen)) / len(chosen))
        assert every.value == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_the_mean_over_cases_has_the_bounded_interval() -> None:
    cases = [result(True, False, False), result(True, True, True), result(False, None, True, False)]
    cases.append(result(True, None))
    found = build("measure", Spec(name="pass@k", params={"k": 2})).measure(iter(cases))
    values = [2 / 3, 1.0, 2 / 3]
    assert found.value == pytest.approx(sum(values) / 3)
    assert found.interval == pytest.approx(bounded_interval(values, [1.0] * 3))
    assert (found.n, found.note) == (3, "1 case with fewer than 2 attempts left out")


def test_names_and_limits() -> None:
    assert build("measure", Spec(name="pass@k", params={"k": 3})).label == "pass@3"
    assert build("measure", Spec(name="pass^k", params={"k": 3})).label == "pass^3"
    with pytest.raises(ValueError, match="1 or more"):
        PassAtK(k=0)
