"""The corrected score: known values, its ends, and how often its interval holds the truth."""

import random
from math import sqrt

import pytest

from proctor.stats.intervals import t_quantile
from proctor.stats.prediction_powered import corrected


def test_a_value_worked_out_by_hand() -> None:
    pairs = [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)]
    rest = [1.0, 1.0, 0.0, 1.0]
    found = corrected(pairs, rest)
    # Judge on all eight: 6 of 8, variance 3/14; covariance on the four marked: 1/6.
    trust = (1 / 6) / ((1 + 4 / 4) * (3 / 14))
    assert found.trust == pytest.approx(trust)
    assert found.raw == pytest.approx(6 / 8)
    assert found.bias == pytest.approx(1 / 4)
    assert found.value == pytest.approx(1 / 2 + trust * (3 / 4 - 3 / 4))
    left = [1 - trust, -trust, 0.0, 1 - trust, -trust, 1.0]
    mean = sum(left) / 6
    variance = sum((one - mean) ** 2 for one in left) / 5 / 4 + trust**2 * (1 / 4) / 4
    half = t_quantile(0.975, 3) * sqrt(variance)
    assert found.interval == pytest.approx((max(0, 0.5 - half), min(1, 0.5 + half)))


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
