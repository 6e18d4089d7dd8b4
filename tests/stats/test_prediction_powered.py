"""The corrected score: known values, its ends, and how often its interval holds the truth."""

import random
from math import sqrt

import pytest

from proctor.stats.intervals import skewed_quantile
from proctor.stats.prediction_powered import corrected, difference_p


def test_a_value_worked_out_by_hand() -> None:
    pairs = [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)]
    rest = [1.0, 1.0, 0.0, 1.0]
    found = corrected(pairs, rest)
    # Judge on all eight: 6 of 8, variance 3/14; on the four marked: 3 · 1/4, covariance 1/6.
    trust = (3 / 6) / ((1 + 4 / 4) * (3 * 1 / 4 + 3 / 14))
    assert found.trust == pytest.approx(trust)
    assert found.raw == pytest.approx(6 / 8)
    assert found.bias == pytest.approx(1 / 4)
    assert found.value == pytest.approx(1 / 2 + trust * (3 / 4 - 3 / 4))
    # What people gave less what is trusted of the judge, and most of a case at each end.
    left = [(own - trust * one, 1.0) for one, own in pairs] + [(1.0, 0.85), (-trust, 0.85)]
    mean = sum(one * times for one, times in left) / 5.7
    squares, cubes = (sum(times * (one - mean) ** k for one, times in left) for k in (2, 3))
    variance = squares / 5.7**2 + trust**2 * (1 / 4) / 4
    moments = (mean + trust * 3 / 4, sqrt(variance), 2 * cubes / 5.7**3 / variance**1.5)
    low, high = (skewed_quantile(moments, part) for part in (0.025, 0.975))
    assert found.interval == pytest.approx((max(0, low), min(1, high)))
    assert 0 < found.interval[0] < 0.2
    assert found.interval[1] > 0.8


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [
        ([], [1.0], None),
        ([1.0], [1.0, 1.0], None),
        # Hypergeometric: 3 of 3 against 0 of 3 is the farthest of 20 tables, with its mirror.
        ([1.0] * 3, [0.0] * 3, 0.05),
        ([1.0, 0.0], [1.0, 0.0], 1 / 3 + 1 / 3),
        ([0.0, 0.5, 1.0] * 10, [0.0, 0.5, 1.0] * 30, 1.0),
        ([1.0, 0.9] * 20, [0.0, 0.1] * 20, 0.0),
    ],
)
def test_how_unlike_two_samples_are(one: list[float], other: list[float], p: float | None) -> None:
    found = difference_p(one, other)
    assert found == (None if p is None else pytest.approx(p, abs=1e-6))


def test_labels_picked_at_random_are_seldom_warned_of() -> None:
    draw = random.Random(4)
    warned = 0
    for _ in range(400):
        marks = [float(draw.random() < 0.7) for _ in range(200)]
        warned += corrected([(one, 1.0) for one in marks[:30]], marks[30:]).is_picked
    assert warned <= 12


@pytest.mark.parametrize(
    ("pairs", "rest", "value", "trust"),
    [
        ([], [1.0, 0.0], None, 0.0),
        ([(1.0, 1.0)], [1.0], None, 0.0),
        ([(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)], [], 0.5, 0.0),
        ([(1.0, 1.0), (1.0, 0.0)], [1.0] * 9, 0.5, 0.0),
        ([(0.0, 1.0), (1.0, 0.0)] * 4, [1.0] * 5, 0.5, 0.0),
        ([(1.0, 1.0), (0.0, 0.0)] * 50, [1.0, 0.0, 1.0, 1.0] * 2500, 0.75, 0.99),
    ],
)
def test_ends(
    pairs: list[tuple[float, float]], rest: list[float], value: float | None, trust: float
) -> None:
    found = corrected(pairs, rest)
    assert found.value == (None if value is None else pytest.approx(value, abs=0.01))
    assert found.trust == pytest.approx(trust, abs=0.35 if trust else 1e-9)
    assert (found.interval is None) == (value is None)


def test_few_labels_that_all_agree_are_not_certain() -> None:
    found = corrected([(1.0, 1.0), (0.0, 0.0)] * 3, [1.0, 0.0] * 500)
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] > 0.3


@pytest.mark.parametrize(("kind", "strict"), [(0.3, 0.05), (0.05, 0.3), (0.5, 0.5)])
@pytest.mark.slow
def test_the_interval_holds_the_truth_that_the_judge_misses(kind: float, strict: float) -> None:
    """A judge that errs by a third is set right in 19 of 20 samples, and better than by labels."""
    draw = random.Random(11)
    right, held, widths = 0.6, 0, 0.0
    for _ in range(300):
        marks = []
        for _ in range(400):
            own = float(draw.random() < right)
            wrong = draw.random() < (strict if own else kind)
            marks.append((1 - own if wrong else own, own))
        found = corrected(marks[:80], [one for one, _ in marks[80:]])
        assert found.interval is not None
        held += found.interval[0] <= right <= found.interval[1]
        widths += (found.interval[1] - found.interval[0]) / 300
    assert held / 300 >= 0.93
    assert widths < (0.24 if kind == strict else 0.205)


def test_cases_of_one_cluster_are_one_draw() -> None:
    pairs = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    rest = [1.0, 0.0, 1.0, 1.0] * 5
    once = corrected(pairs, rest)
    four = [pair for pair in pairs for _ in range(4)]
    others = [one for one in rest for _ in range(4)]
    groups, rest_groups = [n // 4 for n in range(20)], [n // 4 for n in range(80)]
    clustered = corrected(four, others, clusters=groups, rest_clusters=rest_groups)
    assert clustered.value == pytest.approx(once.value, abs=0.03)
    apart = corrected(four, others)
    widths = [found.interval[1] - found.interval[0] for found in (once, clustered, apart)
              if found.interval is not None]  # fmt: skip
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.7 * widths[1]
