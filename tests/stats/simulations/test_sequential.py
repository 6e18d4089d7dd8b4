"""Evidence keeps its promise at every look, and is enough soon."""

import pytest

from proctor.stats.power import pairs_needed
from proctor.stats.sequential import UNIT, SequentialComparison
from stats.simulations.sequential import (
    NEVER,
    SHAPES,
    crossings,
    looked_again,
    median_cases,
    wrong,
)


def test_what_is_simulated_is_what_is_computed() -> None:
    stopped = crossings({1.0: 1.0}, 0.0, 1, (1, 20, 1))
    found = SequentialComparison()
    for _ in range(20):
        found.add(1.0, 1.0)
    assert found.decided is not None
    assert found.decided.cases == stopped[0] < NEVER


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_looks_every_ten_cases_up_to_five_thousand(name: str) -> None:
    assert wrong(SHAPES[name], 400) <= 0.05 + 0.02


def test_adding_cases_between_looks_seldom_errs_at_a_first_look() -> None:
    assert looked_again(1.0, (200, 300, 10)) <= 0.05 + 0.03


@pytest.mark.slow
@pytest.mark.parametrize("changed", [0.1, 0.2, 1.0])
def test_adding_cases_between_looks_seldom_errs(changed: float) -> None:
    looks = (1_000, 1_000, 10)
    assert looked_again(changed, looks) <= 0.05 + 0.01
    # Which place in one order after the other was enough says nothing.
    assert looked_again(changed, looks, any_order=True) > 0.15


@pytest.mark.slow
def test_a_margin_and_a_rate_are_seldom_wrongly_affirmed() -> None:
    looks = (400, 3_000, 10)
    lost = crossings({0.0: 0.98, -1.0: 0.02}, -0.02, 1, looks)
    assert (lost < NEVER).mean() <= 0.025 + 0.015
    at_claim = crossings({1.0: 0.8, 0.0: 0.2}, 0.8, 1, looks, UNIT)
    assert (at_claim < NEVER).mean() <= 0.025 + 0.015


@pytest.mark.parametrize(("step", "most"), [(1, 0.52), (10, 0.6)])
@pytest.mark.parametrize("down", [0.025, 0.05, 0.075, 0.1, 0.15])
@pytest.mark.slow
def test_a_clear_difference_takes_at_most_three_fifths_of_a_fixed_plan(
    down: float, step: int, most: float
) -> None:
    fixed = pairs_needed(2 * down + 0.1, 0.1)
    assert fixed is not None
    assert median_cases(down, 0.15, 1_000, step) <= most * fixed
