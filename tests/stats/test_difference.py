"""Intervals of differences: added cases, rare disasters, ends that hold for any differences."""

from math import sqrt

import numpy as np
import pytest

from proctor.stats.difference import DifferenceCases, DifferenceEstimate
from proctor.stats.intervals import t_quantile


def estimate_of(
    differences: list[float], weights: list[float] | None = None, method: str = "t"
) -> DifferenceEstimate:
    weighed = np.array(weights or [1.0] * len(differences))
    cases = DifferenceCases(np.array(differences) * weighed, weighed, np.ones(len(weighed)))
    found = DifferenceEstimate.of(cases, method, 1)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_a_side_that_nobody_saw_may_hold_a_disaster() -> None:
    """Ten gains of a tenth: one loss of full marks, and one gain like them, are added."""
    added = [0.1] * 11 + [-1.0]
    mean, deviation = float(np.mean(added)), float(np.std(added, ddof=1))
    half = t_quantile(0.975, 11) * deviation / sqrt(12)
    assert estimate_of([0.1] * 10).interval() == pytest.approx((mean - half, min(1, mean + half)))


def test_a_heavy_case_may_be_the_disaster() -> None:
    cases = DifferenceCases(np.array([0.1, 0.1, 1.0]), np.array([1.0, 1.0, 10.0]), np.ones(3))
    assert cases.typical_weight == pytest.approx(102 / 12)
    assert cases.widened().d.tolist()[-1] == pytest.approx(-102 / 12)


def test_disasters_that_would_undo_a_large_gain_would_have_shown() -> None:
    """A gain g is undone by a share g / (1 + g) of full losses: how likely are so few of them."""
    gains = [0.15, 0.25, 0.2, 0.3, 0.1] * 4
    assert estimate_of(gains).disasters_p == pytest.approx((1 / 1.2) ** 20)
    once = estimate_of([*gains, -0.9])
    share = 0.2 / 1.2
    assert once.disasters_p == pytest.approx((1 - share) ** 21 + 21 * share * (1 - share) ** 20)
    heavy = estimate_of(gains, [3.0] * 20)
    assert heavy.disasters_p == pytest.approx(estimate_of(gains).disasters_p)


def test_a_large_gain_decides_where_a_small_one_cannot() -> None:
    """Two in ten got worse either time; only a large gain rules out that disasters undo it."""
    changes = [0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, -0.2, -0.25] * 2
    small, large = (estimate_of([size * one for one in changes]) for size in (0.1, 1.0))
    assert small.typical_p == pytest.approx(large.typical_p)
    assert large.typical_p < 0.02
    assert small.p() == small.interval_p() > 0.5
    assert large.p() == large.disasters_p < 0.05 < large.interval_p()


def test_typical_changes_are_added_where_enough_were_seen() -> None:
    cases = DifferenceCases(
        np.array([0.2, -0.2, 0.0]), np.array([1.0, 1.0, 1.0]), np.array([6.0, 7.0, 50.0])
    )
    assert cases.widened().d.tolist()[-2:] == pytest.approx([0.2, -0.2])


@pytest.mark.parametrize("n", [10, 50, 200, 1000])
def test_bounds_without_any_change_are_as_wide_as_the_exact_ones(n: int) -> None:
    exact = 1 - 0.025 ** (1 / n)
    low, high = estimate_of([0.0] * n).bounds()
    assert low == pytest.approx(-high)
    assert exact <= high <= 1.03 * exact


def test_bounds_are_close_to_the_t_interval_where_much_changes() -> None:
    random = np.random.default_rng(3)
    found = estimate_of(random.choice([-1.0, 0.0, 1.0], 2000).tolist())
    assert found.bounds() == pytest.approx(found.interval(), abs=0.003)


def test_differences_beyond_full_marks_are_not_cut() -> None:
    found = estimate_of([-1.8, -1.9, -2.0, -1.7])
    assert found.interval()[0] < -1.9
    assert not found.bounded


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_the_p_of_an_interval_is_the_level_at_which_it_reaches_0(method: str) -> None:
    found = estimate_of([0.5, 0.5, 0.2, -0.4, 0.0, -0.3] * 10, method=method)
    p = found.p()
    assert 0.005 < p < 0.5
    low, _ = found.interval(1 - p)
    assert low == pytest.approx(0.0, abs=2e-3 if method == "bootstrap" else 1e-9)


def test_a_fine_level_of_few_resamples_is_still_wider() -> None:
    found = estimate_of([0.1, -0.2, 0.3, 0.4, -0.1] * 6, method="bootstrap")
    assert found.interval(0.999)[0] < found.interval(0.98)[0]


def test_one_case_has_no_interval() -> None:
    cases = DifferenceCases(np.ones(1), np.ones(1), np.ones(1))
    assert DifferenceEstimate.of(cases, "t", 1) is None
