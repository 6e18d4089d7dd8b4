"""Shapes of scores to draw cases from: many samples at once, with the rate that is true of all."""

from collections.abc import Callable, Mapping
from math import erf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.measures.repeated import PassAtK, PassHatK

Numbers = NDArray[np.float64]
Random = np.random.Generator


class Samples(NamedTuple):
    """Scores in [0, 1] and weights, a row for each sample, and the true rate."""

    scores: Numbers
    weights: Numbers
    true: float


Shape = Callable[[Random, tuple[int, int]], Samples]


def _even(scores: Numbers, true: float) -> Samples:
    return Samples(scores.astype(float), np.ones(scores.shape), true)


def _binary(p: float) -> Shape:
    return lambda random, size: _even(random.random(size) < p, p)


def _beta(random: Random, size: tuple[int, int]) -> Samples:
    return _even(random.beta(2, 1.2, size), 2 / 3.2)


def _rubric(random: Random, size: tuple[int, int]) -> Samples:
    return _even(random.binomial(5, 0.7, size) / 5, 0.7)


def _mostly_full(random: Random, size: tuple[int, int]) -> Samples:
    full = random.random(size) < 0.95
    return _even(np.where(full, 1.0, random.random(size)), 0.975)


def _rarely_nothing(random: Random, size: tuple[int, int]) -> Samples:
    return _even(np.where(random.random(size) < 0.97, 0.9, 0.0), 0.873)


def _weights_125(random: Random, size: tuple[int, int]) -> Samples:
    return Samples(
        (random.random(size) < 0.8).astype(float), random.choice([1.0, 2.0, 5.0], size), 0.8
    )


def _hard_are_worth_more(random: Random, size: tuple[int, int]) -> Samples:
    """Draw cases of 1, 3 and 10 points, of which those with more points are harder."""
    kinds = random.choice(3, size, p=[0.6, 0.3, 0.1])
    shares, weights = np.array([0.95, 0.8, 0.4]), np.array([1.0, 3.0, 10.0])
    right = random.random(size) < shares[kinds]
    return Samples(right.astype(float), weights[kinds], (0.57 + 0.72 + 0.4) / 2.5)


def _harder_with_weight(spread: float, slope: float, base: float) -> Shape:
    """Draw lognormal weights; the odds to be right fall with their logarithms."""
    steps = np.linspace(-9, 9, 20_001)
    density = np.exp(-0.5 * steps**2 + spread * steps)
    true = float((density / (1 + np.exp(-base - slope * steps))).sum() / density.sum())

    def draw(random: Random, size: tuple[int, int]) -> Samples:
        normal = random.normal(size=size)
        right = random.random(size) < 1 / (1 + np.exp(-base - slope * normal))
        return Samples(right.astype(float), np.exp(spread * normal), true)

    return draw


def _heavy_are_hard(random: Random, size: tuple[int, int]) -> Samples:
    normal = random.normal(size=size)
    hard = random.random(size) < np.where(normal > 0, 0.6, 0.9)
    above = (1 + erf(1.2 / sqrt(2))) / 2
    return Samples(hard.astype(float), np.exp(1.2 * normal), 0.6 * above + 0.9 * (1 - above))


def _attempts(mean: float) -> Shape:
    """Draw four attempts a case, of which those at one case go together (ICC 0.6)."""
    size_of = (1 - 0.6) / 0.6

    def draw(random: Random, size: tuple[int, int]) -> Samples:
        chance = random.beta(mean * size_of, (1 - mean) * size_of, size)
        return _even(random.binomial(4, chance) / 4, mean)

    return draw


def _three_values(random: Random, size: tuple[int, int]) -> Samples:
    return _even(random.choice([0.0, 0.5, 1.0], p=[0.05, 0.05, 0.9], size=size), 0.925)


def _mixture(random: Random, size: tuple[int, int]) -> Samples:
    easy = random.random(size) < 0.5
    true = 0.5 * 20 / 22 + 0.5 * 0.3 / 3.3
    return _even(np.where(easy, random.beta(20, 2, size), random.beta(0.3, 3, size)), true)


def _nearly_constant(random: Random, size: tuple[int, int]) -> Samples:
    return _even(np.clip(random.normal(0.7, 0.03, size), 0, 1), 0.7)


def _half_but_rarely_full(random: Random, size: tuple[int, int]) -> Samples:
    return _even(np.where(random.random(size) < 0.03, 1.0, 0.5), 0.515)


def _tiny_are_wrong(random: Random, size: tuple[int, int]) -> Samples:
    """Draw half of the cases with hardly any weight, and these wrong."""
    tiny = random.random(size) < 0.5
    right = ~tiny & (random.random(size) < 0.9)
    return Samples(right.astype(float), np.where(tiny, 1e-3, 1.0), 0.9 / (1 + 1e-3))


def _long_tail(random: Random, size: tuple[int, int]) -> Samples:
    """Draw weights from Pareto's distribution, of which the heavy are harder."""
    weights = (1 - random.random(size)) ** (-1 / 3.5)
    heavy = 2.0**-2.5
    right = random.random(size) < np.where(weights > 2, 0.5, 0.9)
    return Samples(right.astype(float), weights, 0.5 * heavy + 0.9 * (1 - heavy))


def _few_are_heavy(random: Random, size: tuple[int, int]) -> Samples:
    """Draw weights of which few are large: whether such a case is wrong is often not seen."""
    weights = np.where(random.random(size) < 0.05, 20.0, 1.0)
    return Samples((random.random(size) < 0.95).astype(float), weights, 0.95)


def _only_heavy_err(random: Random, size: tuple[int, int]) -> Samples:
    """Draw heavy cases of which some are wrong, and light ones that never are."""
    heavy = random.random(size) < 0.1
    right = ~heavy | (random.random(size) < 0.885)
    true = (0.9 + 0.1 * 10 * 0.885) / 1.9
    return Samples(right.astype(float), np.where(heavy, 10.0, 1.0), true)


SHAPES: Mapping[str, Shape] = {
    "right or wrong, 50 %": _binary(0.5),
    "right or wrong, 80 %": _binary(0.8),
    "right or wrong, 95 %": _binary(0.95),
    "right or wrong, 99 %": _binary(0.99),
    "graded, Beta(2, 1.2)": _beta,
    "rubric of 5 points, 70 %": _rubric,
    "95 % full marks, the rest uniform": _mostly_full,
    "0.9, rarely nothing": _rarely_nothing,
    "weights 1, 2 and 5, 80 %": _weights_125,
    "1, 3 or 10 points, hard ones more": _hard_are_worth_more,
    "lognormal weights, heavy cases harder": _heavy_are_hard,
    "lognormal weights, ever harder": _harder_with_weight(1.0, -1.0, 3.0),
    "lognormal weights, soon harder": _harder_with_weight(0.5, -2.0, 3.0),
    "4 attempts that go together, 80 %": _attempts(0.8),
    "4 attempts that go together, 95 %": _attempts(0.95),
    "three values, 90 % full marks": _three_values,
    "easy and hard halves": _mixture,
    "nearly constant (0.7 ± 0.03)": _nearly_constant,
    "0.5, rarely full marks": _half_but_rarely_full,
    "half weigh a thousandth, and are wrong": _tiny_are_wrong,
    "Pareto weights, heavy cases harder": _long_tail,
    "one in 20 weighs 20, 95 %": _few_are_heavy,
    "one in 10 weighs 10, and only these err": _only_heavy_err,
}
SIZES = (5, 10, 20, 50, 200, 1000)


def _clustered(mean: float, *, even: bool) -> Shape:
    """Draw clusters whose cases go together (ICC 0.6), of five cases, or of one to ten."""
    size_of = (1 - 0.6) / 0.6

    def draw(random: Random, size: tuple[int, int]) -> Samples:
        cases = np.full(size, 5) if even else random.integers(1, 11, size)
        chance = random.beta(mean * size_of, (1 - mean) * size_of, size)
        return Samples(random.binomial(cases, chance) / cases, cases.astype(float), mean)

    return draw


def _hard_are_large(random: Random, size: tuple[int, int]) -> Samples:
    """Draw clusters of eight cases that are harder than those of two."""
    large = random.random(size) < 0.5
    cases = np.where(large, 8, 2)
    mean = np.where(large, 0.6, 0.9)
    right = random.binomial(cases, random.beta(mean, 1 - mean, size))
    return Samples(right / cases, cases.astype(float), (8 * 0.6 + 2 * 0.9) / 10)


def _few_are_large(random: Random, size: tuple[int, int]) -> Samples:
    """Draw clusters of which few are large, and all cases of one are right, or wrong."""
    cases = np.where(random.random(size) < 0.08, 60.0, 6.0)
    return Samples((random.random(size) < 0.85).astype(float), cases, 0.85)


CLUSTERS: Mapping[str, Shape] = {
    "5 cases each, 75 %": _clustered(0.75, even=True),
    "5 cases each, 95 %": _clustered(0.95, even=True),
    "1 to 10 cases, 75 %": _clustered(0.75, even=False),
    "1 to 10 cases, 95 %": _clustered(0.95, even=False),
    "large clusters harder": _hard_are_large,
    "one in 12 of 60 cases, others of 6, 85 %": _few_are_large,
}
CLUSTER_SIZES = (10, 20, 40, 200)


def _repeated(mean: float, attempts: int, k: int, *, every: bool) -> Shape:
    """Draw attempts at cases that are easy or hard, and estimate pass@k or pass^k of each."""
    a, b = mean * 1.5, (1 - mean) * 1.5
    first, second = (a, b) if every else (b, a)
    all_alike = 1.0
    for place in range(k):
        all_alike *= (first + place) / (first + second + place)
    true = all_alike if every else 1 - all_alike
    measure = PassHatK(k=k) if every else PassAtK(k=k)
    worth = np.array([measure.chance(right, attempts) for right in range(attempts + 1)])

    def draw(random: Random, size: tuple[int, int]) -> Samples:
        return _even(worth[random.binomial(attempts, random.beta(a, b, size))], true)

    return draw


REPEATED: Mapping[str, Shape] = {
    "pass@2 of 4 attempts, 60 %": _repeated(0.6, 4, 2, every=False),
    "pass@5 of 10 attempts, 30 %": _repeated(0.3, 10, 5, every=False),
    "pass@8 of 8 attempts, 60 %": _repeated(0.6, 8, 8, every=False),
    "pass^2 of 4 attempts, 60 %": _repeated(0.6, 4, 2, every=True),
    "pass^5 of 10 attempts, 90 %": _repeated(0.9, 10, 5, every=True),
    "pass^4 of 4 attempts, 30 %": _repeated(0.3, 4, 4, every=True),
}
