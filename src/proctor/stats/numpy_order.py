"""Sums, means and deviations to the last bit as numpy makes them, for files that are recomputed."""

from collections.abc import Sequence
from math import sqrt

LANES = 8
BLOCK = 128


def total(values: Sequence[float]) -> float:
    """Add numbers in numpy's order: eight running sums, and halves of what is long."""
    count = len(values)
    if count > BLOCK:
        half = count // 2
        half -= half % LANES
        return total(values[:half]) + total(values[half:])
    whole = count - count % LANES
    added = 0.0
    if whole:
        a, b, c, d, e, f, g, h = (_in_turn(values[lane:whole:LANES]) for lane in range(LANES))
        added = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for value in values[whole:]:
        added += value
    return added


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one number."""
    return total(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for fewer than two numbers."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    apart = [value - middle for value in values]
    return sqrt(total([distance * distance for distance in apart]) / (len(values) - 1))


def _in_turn(values: Sequence[float]) -> float:
    added = values[0]
    for value in values[1:]:
        added += value
    return added
