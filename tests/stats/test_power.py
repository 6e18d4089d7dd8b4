"""How many cases show a difference, against simulated tests and sums by hand."""

from math import comb, sqrt

import numpy as np
import pytest

from proctor.stats.intervals import t_quantile
from proctor.stats.paired import PairedCases
from proctor.stats.power import (
    cases_needed,
    detectable_difference,
    pairs_needed,
    power_of_pairs,
)


@pytest.mark.parametrize(("difference", "spread"), [(0.2, 0.5), (0.05, 0.4), (-0.3, 0.6)])
def test_so_many_cases_tell_a_difference_apart_in_four_of_five_tries(
    difference: float, spread: float
) -> None:
    needed = cases_needed(difference, spread)
    assert needed is not None
    draws = np.random.default_rng(31).normal(difference, spread, (1500, needed))
    t = np.abs(draws.mean(axis=1)) / (draws.std(axis=1, ddof=1) / sqrt(needed))
    assert (t > t_quantile(0.975, needed - 1)).mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize(
    ("difference", "spread", "wanted"), [(0.0, 0.5, None), (1e-9, 0.5, None), (0.5, 0.0, 2)]
)
def test_what_would_never_be_told_apart(
    difference: float, spread: float, wanted: int | None
) -> None:
    assert cases_needed(difference, spread) == wanted


def test_power_is_what_the_test_does() -> None:
    """Every outcome of ten cases, one in two of which changes, three of four for the better."""
    told = 0.0
    for better in range(11):
        for worse in range(11 - better):
            ways = comb(10, better) * comb(10 - better, worse)
            chance = ways * 0.375**better * 0.125**worse * 0.5 ** (10 - better - worse)
            pairs = PairedCases()
            for first, second, count in (
                (0, 1, better),
                (1, 0, worse),
                (1, 1, 10 - better - worse),
            ):
                if count:
                    pairs.add(first, second, 1.0, count)
            found = pairs.compare()
            told += chance * (found.p < 0.05 and better > worse)  # type: ignore[operator]
    assert power_of_pairs(10, 0.5, 0.25) == pytest.approx(told, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "wanted"), [(5, None), (10, 0.581), (50, 0.1308), (200, 0.0334), (100_000, 0.0000672)]
)
def test_what_would_have_shown_where_nothing_changed(n: int, wanted: float | None) -> None:
    """Five changes, all one way, tell runs apart: so many must be likely."""
    found = detectable_difference(n, 0.0) if n >= 6 else None
    assert found == (None if wanted is None else pytest.approx(wanted, rel=0.02))
    if found is not None:
        at_least_five = 1 - sum(comb(n, k) * found**k * (1 - found) ** (n - k) for k in range(5))
        assert at_least_five == pytest.approx(0.8, abs=0.01)
    pairs = PairedCases()
    pairs.add(1.0, 1.0, 1.0, n)
    assert pairs.compare().detectable == found


@pytest.mark.slow
def test_so_many_pairs_show_the_difference_in_four_of_five_tries() -> None:
    needed = pairs_needed(0.2, 0.1)
    assert needed is not None
    random = np.random.default_rng(7)
    told = 0
    for better, worse, same in random.multinomial(needed, [0.15, 0.05, 0.8], size=600):
        pairs = PairedCases()
        for first, second, count in ((0, 1, better), (1, 0, worse), (1, 1, same)):
            pairs.add(first, second, 1.0, int(count))
        told += (pairs.compare().p or 1) < 0.05
    assert told / 600 == pytest.approx(0.8, abs=0.05)


def test_the_range_of_cases_needed_holds_the_point_and_may_have_no_end() -> None:
    pairs = PairedCases()
    for first, second, count in ((0, 1, 9), (1, 0, 3), (1, 1, 108)):
        pairs.add(first, second, 1.0, count)
    outlook = pairs.compare().outlook
    assert outlook is not None
    low, high = outlook.needed_range()
    assert low is not None
    assert high is not None
    assert low < (outlook.needed() or 0) < high
    pairs.add(1, 0, 1.0, 5)
    outlook = pairs.compare().outlook
    assert outlook is not None
    assert outlook.needed_range()[1] is None
