"""Sums in numpy's order: equal to numpy's own to the last bit."""

import random

import pytest

from proctor.stats.numpy_order import deviation, mean, total

SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 30, 127, 128, 129, 135, 136, 137, 255, 257, 1000, 2049]


@pytest.mark.parametrize("size", SIZES)
def test_every_bit_is_that_of_numpy(size: int) -> None:
    numpy = pytest.importorskip("numpy")
    draw = random.Random(size)
    for _ in range(50):
        values = [draw.random() * 10 ** draw.randint(-4, 4) for _ in range(size)]
        assert total(values) == float(numpy.sum(values))
        assert mean(values) == float(numpy.mean(values))
        if size > 1:
            assert deviation(values) == float(numpy.std(values, ddof=1))


def test_the_order_matters() -> None:
    thirds = [1 / 3, 2 / 3, 5 / 9, 1 / 9, 0.1, 0.7, 0.3, 0.9, 0.2]
    assert total(thirds) != sum(thirds)
    assert total(thirds) == pytest.approx(sum(thirds))


def test_few_numbers() -> None:
    assert total([]) == 0.0
    assert deviation([0.5]) == 0.0
