"""Shapes of scores to draw cases from: many samples at once, with the rate that is true of all."""

from collections.abc import Callable, Mapping
from math import erf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Random = np.random.Generator


class Samples(NamedTuple):
    """Scores in [0, 1] and weights, a row for each sample, and the true rate."""

    scores: Numbers
    weights: Numbers
    true: float


def _even(scores: Numbers, true: float) -> Samples:
    return Samples(scores.astype(float), np.ones(scores.shape), true)


def _binary(p: float) -> Callable[[Random, tuple[int, int]], Samples]:
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


def _heavy_are_hard(random: Random, size: tuple[int, int]) -> Samples:
    normal = random.normal(size=size)
    hard = random.random(size) < np.where(normal > 0, 0.6, 0.9)
    above = (1 + erf(1.2 / sqrt(2))) / 2
    return Samples(hard.astype(float), np.exp(1.2 * normal), 0.6 * above + 0.9 * (1 - above))


def _attempts(mean: float) -> Callable[[Random, tuple[int, int]], Samples]:
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


SHAPES: Mapping[str, Callable[[Random, tuple[int, int]], Samples]] = {
    "right or wrong, 50 %": _binary(0.5),
    "right or wrong, 80 %": _binary(0.8),
    "right or wrong, 95 %": _binary(0.95),
    "right or wrong, 99 %": _binary(0.99),
    "graded, Beta(2, 1.2)": _beta,
    "rubric of 5 points, 70 %": _rubric,
    "95 % full marks, the rest uniform": _mostly_full,
    "0.9, rarely nothing": _rarely_nothing,
    "weights 1, 2 and 5, 80 %": _weights_125,
    "lognormal weights, heavy cases harder": _heavy_are_hard,
    "4 attempts that go together, 80 %": _attempts(0.8),
    "4 attempts that go together, 95 %": _attempts(0.95),
    "three values, 90 % full marks": _three_values,
    "easy and hard halves": _mixture,
    "nearly constant (0.7 ± 0.03)": _nearly_constant,
    "0.5, rarely full marks": _half_but_rarely_full,
    "half weigh a thousandth, and are wrong": _tiny_are_wrong,
    "Pareto weights, heavy cases harder": _long_tail,
}
SIZES = (5, 10, 20, 50, 200, 1000)
