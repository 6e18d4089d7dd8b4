"""Intervals of differences: added cases, rare disasters, ends that hold for any differences."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from proctor.stats.difference import DifferenceCases, DifferenceEstimate
from proctor.stats.intervals import t_quantile, t_tail


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
    disasters = cases_of(gains).disasters()
    assert disasters.hidden_p(disasters.mean) == pytest.approx(unseen)
    once = cases_of([*gains, -0.9]).disasters()
    share = 0.2 / 1.2
    assert once.shown == 1
    assert once.hidden_p(once.mean) == pytest.approx(
        (1 - share) ** 21 + 21 * share * (1 - share) ** 20
    )
    heavy = cases_of(gains, 3.0).disasters()
    assert heavy.hidden_p(heavy.mean) == pytest.approx(unseen)


def test_the_true_gain_may_be_larger_or_smaller_than_what_was_seen() -> None:
    """Over all true gains: that so large a one shows, times that no disaster does."""
    exact = cases_of([0.1] * 20).disasters()
    assert exact.error == 0
    assert exact.unseen_p() == pytest.approx(1.1**-20)
    disasters = cases_of([0.5] * 6 + [0.0] * 4).disasters()
    gains = disasters.mean + disasters.error * np.linspace(-1.8, 6, 2_000)
    highest = max(
        NormalDist().cdf((gain - disasters.mean) / disasters.error) * (1 + gain) ** -10
        for gain in gains.tolist()
    )
    assert disasters.unseen_p() == pytest.approx(highest, rel=1e-4)
    assert highest < 0.9 * disasters.hidden_p(disasters.mean)
    assert cases_of([0.0] * 20).disasters().unseen_p() == 1


@pytest.mark.parametrize(
    ("changes", "low", "high"),
    [
        ([0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, -0.2, -0.25] * 2, 0.0, 0.001),
        ([0.1] * 20, 1.0, 1.0),
        ([0.1] * 18 + [-0.9] * 2, 1.0, 1.0),  # the losses are disasters
        ([0.1] * 18 + [-0.05] * 2, 0.2, 0.7),  # much alike, in spite of small losses
        ([0.02 * place for place in range(1, 11)] * 2, 0.2, 0.5),  # no loss at all
        ([0.08, 0.09, 0.1, 0.11, 0.12] * 4, 0.999, 1.0),
        ([0.0] * 20, 1.0, 1.0),
    ],
)
def test_how_likely_gains_that_are_alike_scatter_so(
    changes: list[float], low: float, high: float
) -> None:
    found = cases_of(changes).disasters().alike_p()
    assert low <= found <= high
    assert cases_of([-one for one in changes], 2.0).disasters().alike_p() == pytest.approx(found)


@pytest.mark.parametrize("n", [8, 20, 60])
def test_gains_that_are_alike_scatter_as_the_noncentral_t_says(n: int) -> None:
    """The chance is a p value: over samples it is spread evenly between 0 and 1."""
    random = np.random.default_rng(4)
    samples = 0.1 + 0.05 * random.normal(size=(4_000, n))
    below = np.mean([cases_of(list(one)).disasters().alike_p() < 0.1 for one in samples[:1_500]])
    assert 0.04 <= below <= 0.14


def test_a_gain_decides_by_student_among_changes_that_scatter_and_by_its_size_without() -> None:
    both = [0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1, 0.0, -0.2, -0.25] * 2
    for size in (0.1, 1.0):
        found = estimate_of([size * one for one in both])
        assert found.p() == found.student_p < found.typical_p < 0.02
        assert found.scattered_p < 0.001
    alike = [0.25, 0.2, 0.15, 0.2, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0] * 2
    small, large = (estimate_of([size * one for one in alike]) for size in (0.1, 4.0))
    assert small.typical_p == pytest.approx(large.typical_p)
    assert small.p() == min(small.interval_p(), small.unseen_p) > 0.4
    assert large.p() == max(large.student_p, large.scattered_p) < large.typical_p < 0.05


def test_a_long_tail_against_the_mean_makes_it_less_sure() -> None:
    """Johnson's correction by half, where disasters were seen; a tail along with it costs nothing."""
    differences = [0.03, 0.04, 0.05] * 60 + [-0.6] * 6
    cases = cases_of(differences)
    found = estimate_of(differences)
    mean, deviation = float(np.mean(differences)), float(np.std(differences, ddof=1))
    n = len(differences)
    third = float(((np.array(differences) - mean) ** 3).sum()) * n / ((n - 1) * (n - 2))
    moved = mean + 0.5 * (third / (6 * deviation**2 * n) + third * mean**2 / (3 * deviation**4))
    t = moved / (deviation / sqrt(n))
    assert found.skewed_p == cases.skewed_p() == pytest.approx(2 * t_tail(t, n - 1))
    assert found.p() == found.skewed_p > found.student_p
    assert cases_of([3 * one for one in differences], 2.0).skewed_p() == pytest.approx(
        cases.skewed_p()
    )
    assert cases_of([0.03, 0.04, 0.05] * 60 + [0.6] * 6).skewed_p() == 0
    assert estimate_of([0.03, 0.04, 0.05] * 60).skewed_p == 0
    assert estimate_of([-0.2, 0.3]).skewed_p == 0


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
