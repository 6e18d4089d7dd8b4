"""What is said of luck beside a gate comes true in as many second runs."""

import pytest

from stats.simulations.gates import beside_second_runs


@pytest.mark.parametrize("n", [50, 200])
def test_what_is_said_of_luck_comes_true(n: int) -> None:
    for found in beside_second_runs(n, 100_000):
        assert found.pairs > 1_000
        assert abs(found.said - found.otherwise) < 0.04
