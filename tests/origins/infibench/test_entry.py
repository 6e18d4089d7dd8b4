"""One case in the original's result file: points under its names, folded as it folds."""

import random
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.origins.infibench.entry import (
    Sums,
    entry_of,
    numpy_deviation,
    numpy_mean,
    numpy_total,
)

CASE = Case(
    id="c",
    messages=(),
    criteria=(
        Criterion(id="keywords", scorer=Spec(name="keywords")),
        Criterion(id="similarity", scorer=Spec(name="rouge"), weight=2.0),
    ),
    tags={"lang": ("go",)},
)


def entry(*attempts: Any, mode: str = "avg", case: Case = CASE, **written: Any) -> dict[str, Any]:
    items = []
    for scores in attempts:
        value = null_value(case) if scores is None else value_of(case, scores)
        output = None if scores is None else "x"
        items.append(
            AttemptResult(attempt=Attempt.of("c", output), scores=scores or {}, value=value)
        )
    how = parse_fold(mode)
    folded = fold(how, [item.value for item in items])
    return entry_of(CaseResult(case=case, attempts=tuple(items), folded=folded), how, written)


def points(keywords: float, similarity: float) -> dict[str, Score]:
    rules = [{"status": "match"}]
    return {
        "keywords": Score(points=keywords, out_of=1.0, detail={"rules": rules}),
        "similarity": Score(points=similarity, out_of=1.0, detail={"rouge1": 0.5, "odd": 1}),
    }


def test_points_have_the_original_s_names() -> None:
    made = entry(points(1.0, 0.5), prompt="p", grading={"x": 1})
    (detail,) = made["detail"]
    assert (detail["keywords_score"], detail["keywords_totscore"]) == (1.0, 1.0)
    assert (detail["similarity_score"], detail["similarity_totscore"]) == (1.0, 2.0)
    assert detail["keywords"] == ["match"]
    assert detail["similarity_detail"] == [{"rouge1": 0.5}]
    assert (made["lang"], made["prompt"], "grading" in made) == ("go", "p", False)
    assert made["now_score"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("mode", "score", "deviation"),
    [("avg", 0.5, 0.0), ("max", 1.0, 0.0), ("min", 0.0, 0.0), ("avg_max_1", 0.5, 0.5**0.5)],
)
def test_attempts_fold_with_a_deviation_for_buckets_alone(
    mode: str, score: float, deviation: float
) -> None:
    made = entry(points(1.0, 1.0), points(0.0, 0.0), mode=mode)
    assert (made["now_score"], made["now_std"]) == (score, pytest.approx(deviation))
    assert made["all_scores"] == [1.0, 0.0]


def test_what_could_not_be_scored_says_why_and_is_worth_nothing() -> None:
    lost = {**points(1.0, 1.0), "keywords": Score.failed("broke", out_of=1.0)}
    made = entry(lost)
    assert (made["full_score"], made["now_score"], made["info"]) == (0.0, 0.0, "unscored")
    assert "broke" in made["error_obj"]
    assert made["detail"][0]["keywords_error"] == "broke"
    assert made["detail"][0]["max_score"] == 1.0


def test_silence_is_worth_the_null_score() -> None:
    made = entry(None, case=replace(CASE, null_score=0.25, weight=2.0))
    assert (made["now_score"], made["weight"]) == (0.25, 2.0)
    assert made["detail"][0]["info"] == "no answer"


def test_limits_of_points_are_in_the_detail() -> None:
    made = entry(points(1.0, 1.0), case=replace(CASE, max_points=2.0, min_points=0.0))
    assert (made["detail"][0]["max_score"], made["detail"][0]["min_score"]) == (2.0, 0.0)
    assert made["now_score"] == 1.0


def test_programs_are_kept_without_their_tests() -> None:
    spec = Spec(name="unit_tests", params={"tests": [{"content": "assert f()"}]})
    case = replace(CASE, criteria=(Criterion(id="u", scorer=spec),))
    tests = [{"passed": False, "result": "no", "program": "def f(): ...\nassert f()", "line": 2},
             {"stopped": "time", "program": "x"}]  # fmt: skip
    made = entry({"u": Score(points=0.0, out_of=1.0, detail={"tests": tests})}, case=case)
    first, second = made["detail"][0]["unit_test_detail"]
    assert (first["code"], first["result"], first["line"]) == ("def f(): ...", ["failed: no"], 2)
    assert second["result"] == ["time out"]


def test_sums_are_weighted_and_written_as_the_original_writes_them() -> None:
    silent = AttemptResult(attempt=Attempt.of("c", None), scores={}, value=null_value(CASE))
    result = CaseResult(
        case=replace(CASE, weight=2.0),
        attempts=(silent,),
        folded=fold(parse_fold("avg"), [silent.value]),
    )
    sums = Sums().plus({"now_score": 0.5, "now_std": 0.25, "full_score": 1.0}, result)
    assert sums == Sums(1.0, 0.5, 2.0, 1, 0)
    assert sums.text().splitlines()[:2] == ["Total score: 1.0 ± 0.5 / 2.0", "Total cases: 1"]


SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 30, 127, 128, 129, 135, 136, 137, 255, 257, 1000, 2049]


@pytest.mark.parametrize("size", SIZES)
def test_every_bit_is_that_of_numpy(size: int) -> None:
    numpy = pytest.importorskip("numpy")
    draw = random.Random(size)
    for _ in range(50):
        values = [draw.random() * 10 ** draw.randint(-4, 4) for _ in range(size)]
        assert numpy_total(values) == float(numpy.sum(values))
        assert numpy_mean(values) == float(numpy.mean(values))
        if size > 1:
            assert numpy_deviation(values) == float(numpy.std(values, ddof=1))


def test_the_order_matters() -> None:
    thirds = [1 / 3, 2 / 3, 5 / 9, 1 / 9, 0.1, 0.7, 0.3, 0.9, 0.2]
    assert numpy_total(thirds) != sum(thirds)
    assert numpy_total(thirds) == pytest.approx(sum(thirds))


def test_few_numbers() -> None:
    assert numpy_total([]) == 0.0
    assert numpy_deviation([0.5]) == 0.0
