"""The basic measures over hand-made case results."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.errors import PluginError
from proctor.registry import build
from proctor.stats.intervals import OPEN, RatioSums, Scale, bounded_interval

NO_ANSWER = "no answer"
ERROR = "error"
BROKEN = Score.failed("broke", out_of=1.0)


def points(got: float, out_of: float | None = 1.0) -> Score:
    """Make a score."""
    return Score(points=got, out_of=out_of)


CONTAINS = Spec(name="contains")


def result(
    case_id: str, attempts: Sequence[Any], scorer: Spec = CONTAINS, **fields: Any
) -> CaseResult:
    """Make a case result of what its one criterion gave to each attempt."""
    criterion = Criterion(id="c", scorer=scorer)
    case = Case(id=case_id, messages=(), criteria=(criterion,), **fields)
    done = []
    for index, found in enumerate(attempts):
        scores: Mapping[str, Score] = {"c": found} if isinstance(found, Score) else {}
        value = {NO_ANSWER: null_value, ERROR: error_value}.get(str(found))
        done.append(
            AttemptResult(
                attempt=Attempt.of(case_id, None, index=index),
                scores=scores,
                value=value(case) if value else value_of(case, scores),
            )
        )
    folded = fold(parse_fold("avg"), [attempt.value for attempt in done])
    return CaseResult(case=case, attempts=tuple(done), folded=folded)


MIXED = [
    result("full", [points(1.0)]),
    result("nearly", [points(1 - 1e-12)]),
    result("half", [points(0.5)]),
    result("two attempts", [points(1.0), points(0.0)]),
    result("low", [points(0.2)], full_score=5.0),
    result("silent", [NO_ANSWER]),
    result("broken", [BROKEN]),
    result("away", [ERROR]),
]


@pytest.mark.parametrize(
    ("name", "params", "hits", "n"),
    [
        ("accuracy", {}, 2, 6),
        ("pass_rate", {}, 4, 6),
        ("pass_rate", {"threshold": 0.2}, 5, 6),
        ("pass_rate", {"threshold": 0.0}, 6, 6),
        ("pass_rate", {"threshold": 1}, 2, 6),
    ],
)
def test_shares_of_cases(name: str, params: dict[str, Any], hits: int, n: int) -> None:
    found = build("measure", Spec(name=name, params=params)).measure(iter(MIXED))
    assert found.n == n
    assert found.value == pytest.approx(hits / n)
    shares = [1.0] * hits + [0.0] * (n - hits)
    assert found.interval == pytest.approx(bounded_interval(shares, [1.0] * n))


def test_a_null_score_can_be_full_marks() -> None:
    generous = result("generous", [NO_ANSWER], full_score=2.0, null_score=2.0)
    assert build("measure", Spec(name="accuracy")).measure([generous]).value == 1.0


@pytest.mark.parametrize("name", ["accuracy", "pass_rate"])
def test_nothing_counted_is_no_number(name: str) -> None:
    found = build("measure", Spec(name=name)).measure([result("broken", [BROKEN])])
    assert (found.value, found.interval, found.n) == (None, None, 0)


def test_mean_points_clusters_by_case() -> None:
    cases = [
        result("a", [points(4.0, None), points(2.0, None)]),
        result("b", [points(3.0, None), BROKEN, NO_ANSWER]),
        result("c", [points(1.0, None)]),
        result("d", [BROKEN]),
    ]
    mean = build("measure", Spec(name="mean_points", params={"criterion": "c"}))
    found = mean.measure(iter(cases))
    # 10 points over 4 attempts, on a scale that nobody knows
    assert found.value == pytest.approx(2.5)
    assert found.interval == pytest.approx(
        RatioSums.of([(6.0, 2.0), (3.0, 1.0), (1.0, 1.0)]).interval(OPEN)
    )
    assert found.n == 3


@pytest.mark.parametrize(
    ("params", "scores", "scale"),
    [
        ({}, [points(3.0, None), points(3.0, None)], Scale(1, 5)),
        ({"high": 10}, [points(9.0, None), points(3.0, None)], Scale(1, 10)),
        ({"counts": True}, [points(2.0, 5.0), points(5.0, 5.0)], Scale(0, 5)),
        ({"counts": True, "scale": "range"}, [points(0.0, 4.0)], Scale(0, 4)),
    ],
)
def test_the_mean_of_ratings_stays_on_their_scale(
    params: dict[str, Any], scores: list[Score], scale: Scale
) -> None:
    rating = Spec(name="rating", params={"question": "Is it polite?", **params})
    mean = build("measure", Spec(name="mean_points", params={"criterion": "c"}))
    found = mean.measure([result(str(n), [one], rating) for n, one in enumerate(scores)])
    values = [one.points or 0.0 for one in scores]
    assert found.interval == pytest.approx(bounded_interval(values, [1.0] * len(values), scale))


def test_mean_points_of_a_criterion_nobody_has() -> None:
    found = build("measure", Spec(name="mean_points", params={"criterion": "x"})).measure(MIXED)
    assert (found.value, found.interval, found.n) == (None, None, 0)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("pass_rate", {"threshold": 1.5}, "between 0 and 1"),
        ("pass_rate", {"treshold": 0.5}, "did you mean 'threshold'"),
        ("mean_points", {}, "criterion"),
    ],
)
def test_wrong_parameters(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        build("measure", Spec(name=name, params=params))


def test_the_mean_over_rounds_lies_in_its_interval_where_few_cases_have_many() -> None:
    right, wrong = points(1.0), points(0.0)
    long = [result(f"long {number}", [right, *[wrong] * 9]) for number in range(20)]
    short = [result(f"short {number}", [right]) for number in range(380)]
    measure = build("measure", Spec(name="accuracy", params={"over": "rounds"}))
    found = measure.measure([*long, *short])
    assert found.value == pytest.approx(0.1)
    # Nine of ten rounds rest on the 20 long cases, all of which are alike.
    low, high = found.interval
    assert 0.05 < low < 0.1 < 0.2 < high < 0.25


def test_rounds_of_one_size_have_the_interval_of_the_share_of_attempts() -> None:
    rows = [result(f"{n}", [points(float(n % 3 > 0)), points(float(n % 2))]) for n in range(9)]
    by_rounds, by_attempts = (
        build("measure", Spec(name="accuracy", params={"over": over})).measure(rows)
        for over in ("rounds", "attempts")
    )
    assert by_rounds.interval == by_attempts.interval
