"""Intervals against published tables, hand computation and coverage."""

import random
from math import sqrt

import pytest

from proctor.stats.intervals import (
    RatioSums,
    bootstrap_interval,
    clip01,
    t_interval,
    t_quantile,
    wilson_interval,
)


@pytest.mark.parametrize(
    ("p", "df", "expected"),
    [
        (0.975, 1, 12.706204736),
        (0.975, 2, 4.302652730),
        (0.975, 3, 3.182446305),
        (0.975, 5, 2.570581836),
        (0.975, 10, 2.228138852),
        (0.975, 30, 2.042272456),
        (0.975, 100, 1.983971519),
        (0.975, 1000, 1.962339081),
        (0.95, 1, 6.313751515),
        (0.95, 4, 2.131846786),
        (0.9, 7, 1.414923928),
        (0.995, 1, 63.656741162),
        (0.995, 9, 3.249835542),
        (0.9995, 5, 6.868826626),
        (0.75, 1, 1.0),
        (0.5, 8, 0.0),
        (0.025, 10, -2.228138852),
        (0.975, 10**9, 1.959963987),
    ],
)
def test_t_quantile_agrees_with_the_tables(p: float, df: float, expected: float) -> None:
    assert t_quantile(p, df) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("df", [1, 2, 7, 999, 1000, 1001, 10**6])
def test_t_quantile_falls_with_df(df: int) -> None:
    assert t_quantile(0.99, df) > t_quantile(0.99, df + 1)


@pytest.mark.parametrize("p", [0.6, 0.9, 0.975, 0.99, 0.9999])
def test_t_quantile_of_two_df_has_a_closed_form(p: float) -> None:
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) * sqrt(2 / (4 * p * (1 - p))), rel=1e-9)


@pytest.mark.parametrize(("p", "df"), [(0.0, 3), (1.0, 3), (0.5, 0), (-1, 2)])
def test_t_quantile_refuses_what_has_none(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        t_quantile(p, df)


def test_equal_weights_give_the_textbook_interval_of_a_mean() -> None:
    # mean 0.5, sample sd sqrt(1/3 * (0.25 + 0.25 + 0 + 0)) = 0.408248, error 0.204124
    low, high = t_interval([0, 1, 0.5, 0.5], [1, 1, 1, 1]) or (0, 0)
    half = 3.182446305 * sqrt(0.5 / 3) / 2
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))


def test_unequal_weights_by_hand() -> None:
    # R = 3/6; residuals 0.5, -0.5 and 0: variance 3/2 * 0.5 / 36
    half = t_quantile(0.975, 2) * sqrt(1.5 * 0.5 / 36)
    assert t_interval([1, 0.5, 1.5], [1, 2, 3]) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([], [], None),
        ([1.0], [1.0], None),
        ([0.0, 0.0], [0.0, 0.0], None),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], (1.0, 1.0)),
        ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], (0.1, 0.1)),
    ],
)
def test_t_interval_at_the_edges(
    values: list[float], weights: list[float], expected: tuple[float, float] | None
) -> None:
    found = t_interval(values, weights)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-7))


def test_sums_do_not_depend_on_how_they_are_cut() -> None:
    draw = random.Random(3)
    pairs = [(1e6 + draw.random(), 1e6 + draw.choice([1.0, 2.0])) for _ in range(1000)]
    whole = RatioSums.of(pairs)
    parts = RatioSums()
    for start in (0, 1, 400, 401):
        end = {0: 1, 1: 400, 400: 401, 401: 1000}[start]
        parts.merge(RatioSums.of(pairs[start:end]))
    parts.merge(RatioSums())
    assert parts.n == whole.n == 1000
    assert parts.rate == pytest.approx(whole.rate, rel=1e-14)
    assert parts.interval() == pytest.approx(whole.interval(), rel=1e-12)
    rate = sum(v for v, _ in pairs) / sum(w for _, w in pairs)
    squares = sum((v - rate * w) ** 2 for v, w in pairs)
    half = t_quantile(0.975, 999) * sqrt(1000 / 999 * squares) / whole.weight
    assert whole.interval() == pytest.approx((rate - half, rate + half), rel=1e-12)
    assert (whole.interval() or (0, 0))[1] - rate == pytest.approx(half, rel=1e-6)


def test_bootstrap_is_the_same_every_time_and_near_the_t_interval() -> None:
    values = [0.0, 1.0, 0.5, 0.25, 0.75, 1.0, 0.0, 1.0] * 10
    weights = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0] * 10
    found = bootstrap_interval(values, weights)
    assert found == bootstrap_interval(values, weights)
    assert found != bootstrap_interval(values, weights, seed=1)
    assert found == pytest.approx(t_interval(values, weights), abs=0.02)
    narrower = bootstrap_interval(values, weights, level=0.5)
    assert found is not None
    assert narrower is not None
    assert found[0] < narrower[0] < narrower[1] < found[1]


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [([], [], None), ([1.0], [1.0], None), ([0, 0], [0, 0], None), ([1, 2], [2, 4], (0.5, 0.5))],
)
def test_bootstrap_at_the_edges(
    values: list[float], weights: list[float], expected: tuple[float, float] | None
) -> None:
    assert bootstrap_interval(values, weights) == expected


def test_bootstrap_works_in_pieces_when_there_are_many_cases() -> None:
    found = bootstrap_interval([0.0, 1.0] * 300_000, [1.0] * 600_000, resamples=10)
    assert found == pytest.approx((0.5, 0.5), abs=0.01)


@pytest.mark.parametrize(
    ("hits", "n", "expected"),
    [
        (8, 10, (0.490162, 0.943318)),
        (0, 10, (0.0, 0.277533)),
        (10, 10, (0.722467, 1.0)),
        (50, 100, (0.403832, 0.596168)),
        (0, 0, None),
    ],
)
def test_wilson(hits: int, n: int, expected: tuple[float, float] | None) -> None:
    found = wilson_interval(hits, n)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("interval", "expected"),
    [(None, None), ((-0.1, 0.5), (0.0, 0.5)), ((0.9, 1.2), (0.9, 1.0)), ((0.2, 0.3), (0.2, 0.3))],
)
def test_clip(interval: tuple[float, float] | None, expected: tuple[float, float] | None) -> None:
    assert clip01(interval) == expected


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        t_interval([1, 2], [1, 1], level)
    with pytest.raises(ValueError, match="level"):
        bootstrap_interval([1, 2], [1, 1], level=level)
    with pytest.raises(ValueError, match="level"):
        wilson_interval(1, 2, level)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="zip"):
        t_interval([1, 2], [1])
    with pytest.raises(ValueError, match="as many"):
        bootstrap_interval([1, 2], [1])
