"""Intervals against published tables, hand computation and coverage."""

import random
from collections.abc import Sequence
from math import sqrt
from typing import Literal

import pytest

from proctor.stats.intervals import (
    OPEN,
    SHARE,
    Interval,
    RatioSums,
    Scale,
    bootstrap_interval,
    bounded_interval,
    t_quantile,
)


def t_interval(
    values: Sequence[float], weights: Sequence[float], scale: Scale = OPEN, level: float = 0.95
) -> Interval | None:
    sums = RatioSums.of(zip(values, weights, strict=True))
    return sums.interval(scale, level=level, method="t")


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


EDGES = [
    ([], [], OPEN, None),
    ([1.0], [1.0], OPEN, None),
    ([0.0, 0.0], [0.0, 0.0], OPEN, None),
    ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], OPEN, None),
    ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], OPEN, None),
    ([1.0, 1.0], [1.0, 1.0], Scale(0.0, None), (0.0, 1.55)),
    ([3.0], [1.0], Scale(1, 5), (1.0, 5.0)),
    ([1.0] * 6, [1.0] * 6, SHARE, (0.58, 1.0)),
    ([-1.0, 2.0], [0.0, 4.0], OPEN, (-6.1, 6.6)),
    ([1.0, 1.0], [1e-300, 1e-300], OPEN, None),
]
"""Values, weights, scale, and the t interval with added draws."""


@pytest.mark.parametrize(
    ("values", "weights", "scale", "expected", "method"),
    [(*edge, "t") for edge in EDGES]
    # With an open end the bounded interval is that of t.
    + [(*edge, "bounded") for edge in EDGES if None in edge[2]],
)
def test_open_scales_and_edges(
    values: list[float],
    weights: list[float],
    scale: Scale,
    expected: tuple[float, float] | None,
    method: Literal["t", "bounded"],
) -> None:
    interval = RatioSums.of(zip(values, weights, strict=True)).interval(scale, method=method)
    assert (interval is None) == (expected is None)
    if expected is not None:
        assert interval == pytest.approx(expected, abs=0.01)


# Clopper and Pearson's limits, from published tables.
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 11, 0.0, 0.28491),
        (6, 6, 0.54074, 1.0),
        (5, 5, 0.47818, 1.0),
        (0, 1, 0.0, 0.975),
        (1, 1, 0.025, 1.0),
        (1, 10, 0.002529, 0.445016),
        (3, 4, 0.194120, 0.993691),
        (8, 10, 0.443905, 0.974793),
        (50, 100, 0.398321, 0.601679),
        (999, 1000, 0.994441, 0.999975),
    ],
)
@pytest.mark.parametrize(("foot", "top"), [(0.0, 1.0), (-2.0, 3.0), (1.0, 5.0)])
def test_rights_and_wrongs_have_clopper_and_pearsons_interval(
    hits: int, n: int, low: float, high: float, foot: float, top: float
) -> None:
    wide = top - foot
    values = [top] * hits + [foot] * (n - hits)
    interval = bounded_interval(values, [1.0] * n, Scale(foot, top))
    assert interval is not None
    ends = [(end - foot) / wide for end in interval]
    assert ends == pytest.approx((low, high), abs=1e-5)
    weighted = bounded_interval([v * 0.7 for v in values], [0.7] * n, Scale(foot, top))
    assert weighted == pytest.approx(interval, abs=1e-9)


def test_the_bounded_interval_is_gaffkes_in_a_large_draw_of_mixtures() -> None:
    import numpy as np

    random = np.random.default_rng(1)
    for values in ([0.2, 0.9, 0.7, 0.4, 1.0, 0.65], [1.0] * 8 + [0.3, 0.0], [0.5] * 12):
        ends = []
        for extra, part in ((0.0, 0.025), (1.0, 0.975)):
            mixed = random.dirichlet(np.ones(len(values) + 1), 200_000) @ np.array([*values, extra])
            ends.append(float(np.quantile(mixed, part)))
        interval = bounded_interval(values, [1.0] * len(values))
        # A Beta distribution of the same mean and variance stands for the mixture.
        assert interval == pytest.approx(ends, abs=0.021)


@pytest.mark.parametrize("seed", range(40))
def test_the_bounded_interval_holds_the_rate_and_stays_on_the_scale(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.choice([1, 2, 3, 10, 100])
    weights = [draw.choice([1.0, 1e-6, 1e6, draw.random()]) for _ in range(n)]
    shares = [draw.choice([0.0, 1.0, 1e-13, 1 - 1e-13, draw.random()]) for _ in range(n)]
    foot, top = draw.choice([(0.0, 1.0), (-3.0, 1.0), (1.0, 5.0)])
    pairs = [
        ((foot + (top - foot) * share) * weight, weight)
        for share, weight in zip(shares, weights, strict=True)
    ]
    sums = RatioSums.of(pairs)
    interval = sums.interval(Scale(foot, top))
    assert interval is not None
    assert sums.rate is not None
    assert foot <= interval[0] <= interval[1] <= top
    assert interval[0] - 1e-9 <= sums.rate <= interval[1] + 1e-9
    assert interval[1] - interval[0] > 1e-9
    wide = sums.interval(Scale(foot, top), level=0.99)
    assert wide is not None
    assert wide[0] <= interval[0]
    assert wide[1] >= interval[1]
    for method in ("t", "bootstrap"):
        values, marks = [v for v, _ in pairs], [w for _, w in pairs]
        of = t_interval if method == "t" else bootstrap_interval
        other = of(values, marks, Scale(foot, top))
        assert other is not None
        assert foot <= other[0] < other[1] <= top


def test_a_draw_outside_the_scale_is_not_bounded_by_it() -> None:
    sums = RatioSums.of([(1.0, 1.0), (1.5, 1.0), (0.5, 1.0)])
    assert sums.interval(SHARE) == sums.interval(SHARE, method="t")


def _lost(light: int, heavy: int) -> RatioSums:
    """Return 475 draws of weight 1 and 25 of weight 10, of which so many lost full marks."""
    pairs = [(0.0, 1.0)] * light + [(1.0, 1.0)] * (475 - light)
    return RatioSums.of(pairs + [(0.0, 10.0)] * heavy + [(10.0, 10.0)] * (25 - heavy))


def test_losses_of_heavy_draws_may_not_have_been_seen() -> None:
    """If a tenth of all lost, none of 25 heavy ones does so in 7 % of samples."""
    low, high = _lost(47, 0).interval() or (9.0, 9.0)
    assert low < 0.9 < high
    # What was gained was gained by heavy draws, too: nothing is added at the other end.
    upside = RatioSums.of([(5.0, 5.0)] * 20 + [(0.0, 1.0)] * 300)
    same = RatioSums.of([(1.0, 1.0)] * 20 + [(0.0, 1.0)] * 300)
    assert upside._weight_beyond(1.0, (0.0, 1.0)) == upside.typical_weight
    assert same._weight_beyond(0.0, (0.0, 1.0)) == same.typical_weight == 1.0
    mirrored = RatioSums.of([(1.0, 1.0)] * 47 + [(0.0, 1.0)] * 428 + [(0.0, 10.0)] * 25)
    found = mirrored.interval() or (9.0, 9.0)
    assert (1 - found[1], 1 - found[0]) == pytest.approx((low, high), abs=1e-9)


def test_where_no_draw_lost_anything_the_heaviest_may() -> None:
    sums = RatioSums.of([(1.0, 1.0)] * 900 + [(10.0, 10.0)] * 100)
    assert sums._weight_beyond(0.0, (0.0, 1.0)) == pytest.approx(10.0)
    # Of 100 heavy draws, all right, 3.6 % may be wrong: 1.9 % of all.
    low, high = sums.interval() or (9.0, 9.0)
    assert low == pytest.approx(0.025 ** (10 / 1900), abs=1e-3)
    assert high == 1.0


def test_few_draws_leave_room_for_heavier_ones_anyway() -> None:
    sums = RatioSums.of([(0.0, 1.0)] + [(1.0, 1.0)] * 2 + [(2.0, 2.0)] * 2)
    assert sums._weight_beyond(0.0, (0.0, 1.0)) == sums.typical_weight


def test_more_draws_leave_room_for_heavier_ones_by_a_heavier_one() -> None:
    """If few draws are heavy, and these lose most, it is by luck whether they show it."""
    light, middle = [(0.0, 1.0)] + [(1.0, 1.0)] * 20, [(0.0, 3.0)] * 2 + [(3.0, 3.0)] * 9
    heavy = [(10.0, 10.0)] * 3
    sums = RatioSums.of(light + middle + heavy)
    added, typical = sums._weight_beyond(0.0, (0.0, 1.0)), sums.typical_weight
    part = (sums.weight / typical - 5) / 20
    assert added == pytest.approx(typical * (10 / typical) ** (part / 2))
    sums.heaviest = 0.0  # as if no draw were known to be heavier than usual
    assert sums._weight_beyond(0.0, (0.0, 1.0)) == typical < added < 10
    alike = RatioSums.of([(0.0, 2.0)] * 3 + [(2.0, 2.0)] * 30)
    assert alike._weight_beyond(0.0, (0.0, 1.0)) == alike.typical_weight


def test_sums_of_an_earlier_version_know_no_heaviest_draw() -> None:
    sums = _lost(47, 0)
    earlier = RatioSums.from_json(sums.to_json()[:-2])
    assert (earlier.heaviest, earlier.weightless) == (0.0, 0.0)
    assert earlier._weight_beyond(0.0, (0.0, 1.0)) == sums.typical_weight
    assert RatioSums.from_json(sums.to_json()) == sums


@pytest.mark.parametrize("scale", [SHARE, OPEN])
@pytest.mark.parametrize("values", [[1.0, 0.0, 1.0], [0.2, 0.3, 0.7]])
def test_draws_without_weight_make_no_interval_narrower(
    scale: Scale, values: Sequence[float]
) -> None:
    weights, more = [1.0, 1.0, 2.0], [0.0] * 200
    values = [value * weight for value, weight in zip(values, weights, strict=True)]
    plain, padded = (values, weights), ([*values, *more], [*weights, *more])
    assert t_interval(*padded, scale) == pytest.approx(t_interval(*plain, scale))
    assert bounded_interval(*padded) == pytest.approx(bounded_interval(*plain))
    assert bootstrap_interval(*padded, scale) == pytest.approx(bootstrap_interval(*plain, scale))
    at_once = RatioSums()
    at_once.add_many(*padded)
    again = RatioSums.from_json(at_once.to_json())
    again.merge(RatioSums.of([(0.0, 0.0)]))
    assert again.interval(scale, method="t") == pytest.approx(t_interval(*plain, scale))


def test_scales_around_others() -> None:
    assert Scale.around() == OPEN
    assert Scale.around(SHARE, Scale(1, 5)) == (0.0, 5)
    assert Scale.around(SHARE, Scale(None, 5)) == (None, 5)
    assert Scale(0.0, None).clip((-1.0, 7.0)) == (0.0, 7.0)


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
    for method in ("bounded", "t"):
        assert parts.interval(method=method) == pytest.approx(
            whole.interval(method=method), rel=1e-12
        )
    assert (parts.least, parts.most) == (whole.least, whole.most)
    assert parts.heaviest == whole.heaviest == max(weight for _, weight in pairs)
    many = RatioSums()
    many.add_many([value for value, _ in pairs], [weight for _, weight in pairs])
    assert many == whole
    rate = sum(v for v, _ in pairs) / sum(w for _, w in pairs)
    squares = sum((v - rate * w) ** 2 for v, w in pairs)
    half = t_quantile(0.975, 999) * sqrt(1000 / 999 * squares) / whole.weight
    interval = whole.interval(OPEN)
    assert interval is not None
    assert half <= interval[1] - rate <= 1.01 * half
    assert half <= rate - interval[0] <= 1.01 * half


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
    [([], [], None), ([1.0], [1.0], None), ([0, 0], [0, 0], None), ([1, 2], [2, 4], None)],
)
def test_bootstrap_at_the_edges(
    values: list[float], weights: list[float], expected: tuple[float, float] | None
) -> None:
    assert bootstrap_interval(values, weights) == expected


@pytest.mark.slow
def test_bootstrap_works_in_pieces_when_there_are_many_cases() -> None:
    found = bootstrap_interval([0.0, 1.0] * 300_000, [1.0] * 600_000, resamples=10)
    assert found == pytest.approx((0.5, 0.5), abs=0.01)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [((-0.1, 0.5), (0.0, 0.5)), ((0.9, 1.2), (0.9, 1.0)), ((0.2, 0.3), (0.2, 0.3))],
)
def test_clip(interval: Interval, expected: Interval) -> None:
    assert SHARE.clip(interval) == expected


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        t_interval([1, 2], [1, 1], level=level)
    with pytest.raises(ValueError, match="level"):
        bootstrap_interval([1, 2], [1, 1], level=level)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="zip"):
        t_interval([1, 2], [1])
    with pytest.raises(ValueError, match="as many"):
        bootstrap_interval([1, 2], [1])
