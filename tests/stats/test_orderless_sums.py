"""Sums that come out alike in any order, and however alike numbers are grouped."""

import random
from collections import Counter
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest

from proctor.stats.orderless_sums import OrderlessSum


def drawn(seed: int) -> list[float]:
    """Return numbers as scores and weights make them, some of them several times."""
    draw = random.Random(seed)
    kinds = (
        draw.random,
        lambda: draw.randrange(11) / 10 * draw.choice([1.0, 1.3, 0.7]),
        lambda: -draw.random() * 10 ** draw.randrange(-6, 3),
    )
    return [draw.choice(kinds)() for _ in range(500)] + [0.1] * 300


@pytest.mark.parametrize("seed", range(20))
def test_order_and_grouping_do_not_matter(seed: int) -> None:
    numbers = drawn(seed)
    exact = float(sum(map(Fraction, numbers)))
    one_by_one, shuffled, grouped, columns = (OrderlessSum() for _ in range(4))
    for number in numbers:
        one_by_one.add(number)
    for number in random.Random(seed).sample(numbers, len(numbers)):
        shuffled.add(number)
    for number, times in Counter(numbers).items():
        grouped.add(number, times)
    for start in range(0, len(numbers), 97):
        columns.add_many(np.array(numbers[start : start + 97]))
    assert {one.value for one in (one_by_one, shuffled, grouped, columns)} == {exact}


def test_plain_sums_would_differ() -> None:
    # One addition after the other: from Python 3.12 on `sum` makes up for what rounding loses.
    numbers = drawn(3)
    assert reduce(add, numbers) != reduce(add, sorted(numbers))


@pytest.mark.parametrize("number", [0.0, 1e12 + 0.3, -3e9, 1e-300, 2.0**31 + 2.0**-20])
def test_a_number_by_itself_stays_what_it_is(number: float) -> None:
    total = OrderlessSum()
    total.add(number)
    assert total.value == number
