"""How attempts fold into one value."""

import pytest

from proctor.core.case_value import Value, ValueStatus
from proctor.core.fold import fold, is_ragged, parse_fold, spread
from proctor.errors import UsageError

U, E = "unscored", "error"


def value_of(what: float | str) -> Value:
    if isinstance(what, str):
        return Value(status=ValueStatus(what), value=None, low=0.0, high=1.0)
    return Value(status=ValueStatus.SCORED, value=what, low=what, high=what)


@pytest.mark.parametrize(
    ("mode", "values", "expected", "buckets", "chosen"),
    [
        ("avg", [0.0, 1.0, 0.5], 0.5, (0.0, 1.0, 0.5), ((0,), (1,), (2,))),
        ("mean", [0.0, 1.0], 0.5, (0.0, 1.0), ((0,), (1,))),
        ("max", [0.0, 1.0, 0.5], 1.0, (1.0,), ((1,),)),
        ("min", [0.2, 1.0, 0.5], 0.2, (0.2,), ((0,),)),
        ("median", [0.2, 1.0, 0.5], 0.5, (0.5,), ((0, 1, 2),)),
        ("median", [0.2, 1.0], 0.6, (0.6,), ((0, 1),)),
        ("avg_max_2", [0.1, 0.2, 0.9, 0.3], 0.55, (0.2, 0.9), ((1,), (2,))),
        # the last bucket may be short
        ("avg_max_2", [0.1, 0.2, 0.6], 0.4, (0.2, 0.6), ((1,), (2,))),
        ("avg_max_10", [0.1, 0.7, 0.6], 0.7, (0.7,), ((1,),)),
        # of equal attempts the later one counts
        ("max", [1.0, 0.5, 1.0], 1.0, (1.0,), ((2,),)),
        ("min", [0.0, 0.5, 0.0], 0.0, (0.0,), ((2,),)),
        ("avg_max_2", [1.0, 1.0, 0.0, 0.0], 0.5, (1.0, 0.0), ((1,), (3,))),
        # what could not be scored is left out
        ("avg", [1.0, U, 0.0], 0.5, (1.0, None, 0.0), ((0,), (), (2,))),
        ("avg", [1.0, E], 1.0, (1.0, None), ((0,), ())),
        ("max", [U, 0.3], 0.3, (0.3,), ((1,),)),
        ("avg_max_2", [U, U, 0.4, U], 0.4, (None, 0.4), ((), (2,))),
        ("avg", [U], None, (None,), ((),)),
        ("max", [E, E], None, (None,), ((),)),
    ],
)
def test_folds(
    mode: str,
    values: list[float | str],
    expected: float | None,
    buckets: tuple[float | None, ...],
    chosen: tuple[tuple[int, ...], ...],
) -> None:
    folded = fold(parse_fold(mode), [value_of(v) for v in values])
    assert folded.value == (None if expected is None else pytest.approx(expected))
    assert folded.buckets == tuple(None if b is None else pytest.approx(b) for b in buckets)
    assert folded.chosen == chosen


@pytest.mark.parametrize(
    ("mode", "points", "chosen"),
    [
        ("max", [3.0, 2.0], ((0,),)),
        ("max", [2.0, 3.0, 3.0, 2.0], ((2,),)),
        ("min", [2.0, 3.0], ((0,),)),
        ("avg_max_2", [3.0, 2.0, 2.0, 3.0], ((0,), (3,))),
    ],
)
def test_of_attempts_that_a_limit_makes_equal_the_one_with_more_points_is_chosen(
    mode: str, points: list[float], chosen: tuple[tuple[int, ...], ...]
) -> None:
    values = [
        Value(status=ValueStatus.SCORED, value=1.0, low=1.0, high=1.0, points=p) for p in points
    ]
    assert fold(parse_fold(mode), values).chosen == chosen


@pytest.mark.parametrize(
    ("mode", "values", "low", "high"),
    [
        ("avg", [1.0, U], 0.5, 1.0),
        ("avg", [0.0, U], 0.0, 0.5),
        ("max", [0.4, U], 0.4, 1.0),
        ("min", [0.4, U], 0.0, 0.4),
        ("avg_max_2", [0.4, U, 0.2, 0.0], 0.3, 0.6),
        # an attempt in error says nothing about the bounds of what was reached
        ("avg", [0.4, E], 0.4, 0.4),
        ("avg", [E], 0.0, 1.0),
    ],
)
def test_bounds(mode: str, values: list[float | str], low: float, high: float) -> None:
    folded = fold(parse_fold(mode), [value_of(v) for v in values])
    assert (folded.low, folded.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["error", "scored", "unscored", "unanswered"], "scored"),
        (["error", "unscored", "unanswered"], "unanswered"),
        (["error", "unscored"], "unscored"),
        (["error"], "error"),
    ],
)
def test_the_best_status_counts(statuses: list[str], expected: str) -> None:
    values = [Value(status=ValueStatus(s), value=None, low=0, high=1) for s in statuses]
    assert fold(parse_fold("avg"), values).status == expected


@pytest.mark.parametrize("mode", ["", "AVG", "avg_max_0", "avg_max_", "avg_max_-1", "avg_max_1.5",
                                  "best", "avg_max_9999999"])  # fmt: skip
def test_unknown_modes_name_the_known_ones(mode: str) -> None:
    with pytest.raises(UsageError, match="avg_max_N"):
        parse_fold(mode)


def test_nothing_cannot_be_folded() -> None:
    with pytest.raises(ValueError, match="without attempts"):
        fold(parse_fold("avg"), [])


@pytest.mark.parametrize(
    ("buckets", "expected"),
    [((), 0.0), ((1.0,), 0.0), ((None, 1.0), 0.0), ((0.0, 2.0), 2**0.5), ((1.0, None, 1.0), 0.0)],
)
def test_spread(buckets: tuple[float | None, ...], expected: float) -> None:
    assert spread(buckets) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mode", "values", "ragged"),
    [
        ("avg_max_2", [1.0, 0.0, 1.0, 0.0], False),
        ("avg_max_2", [1.0, 0.0, 1.0], True),
        ("avg_max_2", [1.0, None], True),
        ("avg_max_1", [1.0, None, 0.0], False),
        ("max", [1.0, None, 0.0], False),
        ("avg", [1.0, 0.0, None], False),
    ],
)
def test_buckets_that_are_not_full(mode: str, values: list[float | None], ragged: bool) -> None:
    worths = [
        Value(status=ValueStatus.SCORED, value=value, low=0.0, high=1.0)
        if value is not None
        else Value(status=ValueStatus.UNSCORED, value=None, low=0.0, high=1.0)
        for value in values
    ]
    assert is_ragged(parse_fold(mode), worths) == ragged


@pytest.mark.parametrize("mode", ["avg", "max", "min", "median", "avg_max_3"])
@pytest.mark.parametrize("status", ["scored", "unanswered", "unscored", "error", "shown"])
def test_one_attempt_is_worth_what_two_alike_are(mode: str, status: str) -> None:
    value = None if status in ("unscored", "error", "shown") else -0.25
    one = Value(status=ValueStatus(status), value=value, low=-0.25, high=1, least=-1.0, most=1.5)
    alone, twice = (fold(parse_fold(mode), [one] * times) for times in (1, 2))
    for name in ("status", "value", "low", "high", "least", "most", "spread"):
        assert getattr(alone, name) == getattr(twice, name)
        assert type(getattr(alone, name)) is type(getattr(twice, name))
    assert set(alone.buckets) == set(twice.buckets)
    assert alone.chosen == (((0,),) if value is not None else ((),))
