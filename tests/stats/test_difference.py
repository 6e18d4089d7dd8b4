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


def cases_of(differences: list[float], weight: float = 1.0) -> DifferenceCases:
    weights = np.full(len(differences), weight)
    return DifferenceCases(np.array(differences) * weights, weights, np.ones(len(differences)))


def test_disasters_that_would_undo_a_large_gain_would_have_shown() -> None:
    """A gain g is undone by a share g / (1 + g) of full losses: how likely are so few of them."""
    gains = [0.15, 0.25, 0.2, 0.3, 0.1] * 4
    unseen = (1 / 1.2) ** 20
    assert cases_of(gains).disasters_p() == pytest.approx(unseen)
    once = cases_of([*gains, -0.9])
    share = 0.2 / 1.2
    assert once.disasters_p() == pytest.approx((1 - share) ** 21 + 21 * share * (1 - share) ** 20)
    assert cases_of(gains, 3.0).disasters_p() == pytest.approx(unseen)


def test_what_would_hardly_be_found_again_misleads_less_often() -> None:
    """The chance of a false verdict is that of no disaster times that of finding the gain then."""
    sure = estimate_of([0.15, 0.25, 0.2, 0.3, 0.1] * 4)
    assert sure.disasters_p == pytest.approx((1 / 1.2) ** 20, rel=1e-3)
    halves = [0.5] * 6 + [0.0] * 4
    assert estimate_of(halves).disasters_p < 0.7 * cases_of(halves).disasters_p()


@pytest.mark.parametrize(
    ("changes", "scattered"),
    [
        ([0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, -0.2, -0.25] * 2, True),
        ([0.1] * 20, False),
        ([0.1] * 18 + [-0.9] * 2, False),  # the losses are disasters
        ([0.1] * 18 + [-0.05] * 2, False),  # much alike, in spite of small losses
        ([0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, 0.2, 0.25] * 2, False),  # no loss at all
        ([0.0] * 20, False),
    ],
)
def test_small_changes_that_go_both_ways(changes: list[float], scattered: bool) -> None:
    cases = cases_of(changes)
    assert cases.is_scattered() is scattered
    assert cases_of([-one for one in changes], 2.0).is_scattered() is scattered


def test_a_gain_decides_by_student_among_changes_both_ways_and_by_its_size_without() -> None:
    """One in ten got slightly worse among scattered changes; nobody did among the others."""
    both = [0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, -0.2, -0.25] * 2
    for size in (0.1, 1.0):
        found = estimate_of([size * one for one in both])
        assert found.p() == found.scatter_p < found.typical_p < 0.02
    one_way = [0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, 0.0, 0.0] * 2
    small, large = (estimate_of([size * one for one in one_way]) for size in (0.1, 1.0))
    assert small.typical_p == pytest.approx(large.typical_p)
    assert small.p() == min(small.interval_p(), small.disasters_p) > 0.5
    assert large.p() == max(large.typical_p, large.disasters_p) < 0.05


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
