"""Verdicts keep their promise: false ones in at most 5 %, 7 % with rare disasters."""

from math import comb

import numpy as np
import pytest

from level import LEVEL
from proctor.stats.paired import sign_flip_test
from stats.simulations.comparisons import (
    BY_WEIGHT,
    CHANGES,
    DISASTERS,
    EARLIER,
    NULLS,
    alone,
    compared,
    equal_runs,
    exactly_told_apart,
    found_beside_earlier,
    heavy_ones_lose,
    most_power,
    not_at_random,
    paired,
    signs_p,
    tags,
    told_and_held,
    told_apart,
    told_apart_by_weight,
    two_values,
    undone,
    verdicts,
)

NOISE = 0.006
"""How far the share of so many draws may be off."""


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_equal_runs_of_right_and_wrong_exactly(share: float) -> None:
    assert exactly_told_apart(share / 2, share / 2, 12) <= 0.05


@pytest.mark.parametrize("n", [10, 30])
def test_many_tests_at_once_are_those_of_the_code(n: int) -> None:
    samples = np.random.default_rng(n).normal(0.1, 0.3, (20, n))
    one_by_one = [sign_flip_test(sample)[0] for sample in samples]
    assert signs_p(samples) == pytest.approx(one_by_one, abs=1e-12 if n == 10 else 0.03)
    for sample, found in zip(samples, compared(samples), strict=True):
        known = paired(sample)
        assert found.estimate is not None
        assert known.estimate is not None
        assert found.estimate.p() == pytest.approx(known.estimate.p())
        assert found.interval == pytest.approx(known.interval)
        assert found.difference == pytest.approx(known.difference)


def test_disasters_at_a_first_look() -> None:
    assert told_apart(DISASTERS["+0.05 in 95 %, −0.95 in 5 %"], 20, 300) <= 0.05


@pytest.mark.parametrize("name", BY_WEIGHT)
def test_heavy_cases_that_were_not_seen_to_change_may_do_so(name: str) -> None:
    draws = LEVEL.of(quick=300, ci=2_000, full=20_000)
    # Signs are drawn where heavy cases change, which takes longer.
    for n in LEVEL.of(quick=(50,), ci=(30, 50), full=(20, 30, 50, 100, 200)):
        assert told_apart_by_weight(BY_WEIGHT[name], n, draws) <= 0.055 + (
            NOISE if LEVEL.full else 0.012
        )


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 10, 20, 50, 120])
@pytest.mark.parametrize("share", CHANGES)
def test_equal_runs_exactly_at_many_sizes(share: float, n: int) -> None:
    assert exactly_told_apart(share / 2, share / 2, n) <= 0.0501


@pytest.mark.slow
@pytest.mark.scaled
@pytest.mark.parametrize("n", [6, 10, 20, 50, 200])
@pytest.mark.parametrize("name", [*NULLS, *DISASTERS])
def test_equal_graded_runs_are_seldom_told_apart(name: str, n: int) -> None:
    draw = DISASTERS[name] if name in DISASTERS else NULLS[name]
    most = 0.07 if name in DISASTERS else 0.05
    # Gains that scatter by half of their mean lie on the border: see docs/statistics.md.
    most = 0.08 if name == "+0.05 ± 0.025, and −1 in 5 %" else most
    if name in NULLS or "±" in name or " to " in name:
        draws, noise = LEVEL.of(quick=200, ci=2_000, full=20_000), 0.005 if LEVEL.full else 0.015
        assert told_apart(draw, n, draws) <= most + noise
    else:
        assert told_apart(draw, n, 5_000) <= most + NOISE


@pytest.mark.slow("full")
@pytest.mark.parametrize("n", [10, 50, 200, 500])
@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("loss", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("scatter", [0.0, 0.25, 0.5])
def test_disasters_of_many_sizes_among_gains_that_are_alike(
    share: float, loss: float, scatter: float, n: int
) -> None:
    gain = share * loss / (1 - share)
    most = 0.08 if scatter == 0.5 else 0.07
    assert told_apart(undone(gain, scatter * gain, -loss), n, 4_000) <= most + 0.012


LESS = {
    10: (
        "normal, +10, sd 0.1", "normal, +5, sd 0.05", "normal, +10, sd 0.05", "even, 0 to +20",
        "ratings, +0.6, sd 0.8", "ratings, +1, sd 1", "ratings, +1 in 50 %",
        "ratings, +1 in 40 %, −1 in 10 %",
        "+20 ± 15 in half",
    ),
    20: (
        "normal, +5, sd 0.05", "normal, +10, sd 0.05", "even, 0 to +20", "ratings, +1 in 50 %",
        "ratings, +1 in 40 %, −1 in 10 %", "+20 ± 15 in half",
    ),
}  # fmt: skip
"""Gains that 0.1.0 found more often, at the price of more than 7 % of false verdicts among gains
that are alike: see docs/statistics.md."""


@pytest.mark.slow
@pytest.mark.scaled
@pytest.mark.parametrize(
    ("name", "n"), [(name, n) for n in (10, 20) for name in EARLIER if name not in LESS[n]]
)
def test_graded_gains_are_found_as_often_as_by_student_and_signs(name: str, n: int) -> None:
    draws, noise = LEVEL.of(quick=100, ci=600, full=4_000), 0.012 if LEVEL.full else 0.03
    now, before = found_beside_earlier(EARLIER[name][0], n, draws)
    assert now >= before - noise


@pytest.mark.parametrize(
    ("gain", "n", "most"), [(0.1, 10, 0.1816), (0.1, 20, 0.4709), (0.05, 50, 0.8027), (0.3, 20, 1)]
)
def test_the_highest_power_that_disasters_allow(gain: float, n: int, most: float) -> None:
    """A sample without a disaster, of chance (1 / (1 + gain))ⁿ, looks like the gain alone."""
    assert most_power(gain, n) == pytest.approx(most, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("n", [138, 190, 400])
@pytest.mark.parametrize(("up", "down"), [(0.0, 0.02), (0.01, 0.03), (0.1, 0.12)])
def test_no_worse_is_seldom_said_at_the_margin(up: float, down: float, n: int) -> None:
    given = verdicts(two_values(up, down), n, 5_000, 0.02)
    said = sum(given.get(verdict, 0.0) for verdict in ("better", "no_worse", "equal"))
    assert said <= 0.025 + NOISE


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 500, 700, 1_500])
def test_no_worse_is_seldom_said_where_only_heavy_cases_lose(n: int) -> None:
    assert heavy_ones_lose(n, 5_000) <= 0.025 + NOISE


@pytest.mark.slow
def test_power_is_at_least_that_of_the_exact_test() -> None:
    """24 % was found by the exact test at 50 cases and +10 points."""
    assert exactly_told_apart(0.15, 0.05, 50) >= 0.32
    assert told_and_held(two_values(0.15, 0.05), 0.1, 50, 3_000)[1] >= 0.945


@pytest.mark.parametrize("n", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_rights_and_wrongs_that_the_exact_test_tells_apart_are_told_apart(n: int) -> None:
    """So power is that of 0.1.0 at least, whatever the truth: that asked for the interval, too."""
    told = 0
    for better in range(n + 1):
        for worse in range(min(better, n - better + 1)):
            changed = better + worse
            exact = 2 * sum(comb(changed, k) for k in range(worse + 1)) / 2**changed
            row = alone(paired(np.repeat([1.0, -1.0, 0.0], [better, worse, n - changed])))
            if exact < 0.05:
                told += 1
                assert row.told_apart == "better", (better, worse)
    assert told > 5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(200, 0.15), (1000, 0.09), (1000, 0.15)])
def test_a_judge_that_fails_on_wrong_answers_does_not_mislead(n: int, share: float) -> None:
    plain, careful = not_at_random(n, share, 300)
    assert plain > 0.2
    assert careful <= 0.05


@pytest.mark.slow
def test_what_is_unscored_costs_little_where_it_is_little() -> None:
    assert not_at_random(1000, 0.03, 200, gain=0.15)[1] >= 0.93


@pytest.mark.slow
def test_many_rows_err_as_one() -> None:
    assert tags(5, 1_000) <= 0.05 + 0.015
    assert tags(10, 600) <= 0.05 + 0.02
    wrong, inside = equal_runs(10, 200)
    assert wrong <= 0.05 + 0.03
    assert inside >= 0.95 - 0.03
