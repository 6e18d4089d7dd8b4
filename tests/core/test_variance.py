"""The parts of a rate's variance, on simulated runs with known parts."""

import random
from math import sqrt
from statistics import fmean, stdev

import pytest

from proctor.core.variance import SURE, VarianceParts, variance_budget


def parts_of(spreads: list[float], weight: float = 1.0) -> VarianceParts:
    parts = VarianceParts()
    for spread in spreads:
        parts.add(weight, spread)
    return parts


def test_parts_are_found_again() -> None:
    """Cases differ with a standard deviation of 0.2, attempts of 0.3, the judge of 0.1 of these."""
    draw = random.Random(2)
    means, spreads = [], []
    for _ in range(4000):
        case = draw.gauss(0.5, 0.2)
        tries = [draw.gauss(case, sqrt(0.3**2 - 0.1**2)) + draw.gauss(0, 0.1) for _ in range(3)]
        means.append(fmean(tries))
        spreads.append(stdev(tries))
    half = SURE * stdev(means) / sqrt(4000)
    found = variance_budget(parts_of(spreads), (0.5 - half, 0.5 + half), 3.0, 0.01, {"cost": 12.0})
    assert found is not None
    scale = SURE / sqrt(4000)
    assert found.cases == pytest.approx(0.2 * scale, rel=0.1)
    assert found.attempts == pytest.approx(sqrt(0.08 / 3) * scale, rel=0.1)
    assert found.judge == pytest.approx(0.1 / sqrt(3) * scale, rel=0.01)
    squares = (found.cases or 0) ** 2 + (found.attempts or 0) ** 2 + (found.judge or 0) ** 2
    assert squares == pytest.approx(found.half_width**2)
    attempt, cases = found.purchases
    assert attempt.half_width == pytest.approx(sqrt(0.04 + 0.09 / 4) * scale, rel=0.05)
    assert attempt.cost == pytest.approx(4.0)
    assert cases.half_width == pytest.approx(half * sqrt(4000 / 4100))
    assert cases.cost == pytest.approx(0.3)


def test_one_attempt_says_nothing_of_others() -> None:
    found = variance_budget(parts_of([0.0] * 50), (0.4, 0.6), 1.0, 0.09, {})
    assert found is not None
    assert found.attempts is None
    assert found.judge == pytest.approx(SURE * sqrt(0.09 / 50))
    assert [one.what for one in found.purchases] == ["100 more cases"]
    assert found.purchases[0].cost is None


@pytest.mark.parametrize(
    ("parts", "interval"),
    [
        (VarianceParts(), (0.1, 0.2)),
        (parts_of([0.1, 0.1]), None),
        (parts_of([0.1, 0.1]), (0.5, 0.5)),
        (parts_of([0.1]), (0.1, 0.9)),
    ],
)
def test_nothing_to_split(parts: VarianceParts, interval: tuple[float, float] | None) -> None:
    assert variance_budget(parts, interval, 2.0, None, {}) is None


def test_sums_can_be_merged() -> None:
    one, two = parts_of([0.1, 0.2]), parts_of([0.0, 0.3], weight=2.0)
    whole = VarianceParts()
    whole.merge(one)
    whole.merge(two)
    assert (whole.cases, whole.varied, whole.weight, whole.squares) == (4, 3, 6.0, 10.0)
    assert whole.within == pytest.approx(0.01 + 0.04 + 0.09)
