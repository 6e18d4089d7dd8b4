"""Cases in a random order: every one once, the same every time, whatever the run lacks."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete

from proctor.core.run import Run
from proctor.engine.labels.labelling_order import Permutation, RandomCases
from proctor.store.schema import run_results
from proctor.store.store import Store


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 65, 1000])
def test_every_number_has_one_turn(size: int) -> None:
    order = Permutation(size, "seed")
    numbers = [order.at(turn) for turn in range(size)]
    assert sorted(numbers) == list(range(size))
    assert [order.turn_of(number) for number in numbers] == list(range(size))
    if size > 60:
        assert numbers != [Permutation(size, "other").at(turn) for turn in range(size)]


def test_the_first_turns_are_picked_evenly() -> None:
    """Over many seeds each number of 20 comes first as often as any other (chi-squared, 19 df)."""
    counts = [0] * 20
    for seed in range(1000):
        counts[Permutation(20, str(seed)).at(0)] += 1
    assert sum((count - 50) ** 2 / 50 for count in counts) < 43.8  # p = 0.001


def test_a_large_order_is_not_held() -> None:
    order = Permutation(10**12, "seed")
    assert order.turn_of(order.at(123_456_789)) == 123_456_789


def test_cases_of_a_run(store: Store, put_scored: Callable[..., Run]) -> None:
    run = put_scored(store, "one", [[1.0]] * 70)
    cases = [case_id for _, case_id in RandomCases(store, run).after()]
    assert sorted(cases) == sorted(f"c{place}" for place in range(70))
    assert cases != sorted(cases, key=lambda name: int(name[1:]))
    again = put_scored(store, "two", [[0.0]] * 70)
    assert cases == [case_id for _, case_id in RandomCases(store, again).after()]
    middle = int(cases[30][1:])
    assert next(RandomCases(store, run).after(middle))[1] == cases[31]
    assert next(RandomCases(store, run).before(middle))[1] == cases[29]
    assert cases != [case_id for _, case_id in RandomCases(store, run, "seed").after()]


def test_places_that_a_run_lacks_have_no_turn(store: Store, put_scored: Any) -> None:
    run = put_scored(store, "one", [[1.0]] * 50)
    with store.database.write() as connection:
        odd = run_results.c.position % 2 == 1
        connection.execute(delete(run_results).where(odd))
    cases = {case_id for _, case_id in RandomCases(store, run).after()}
    assert cases == {f"c{place}" for place in range(0, 50, 2)}
    assert list(RandomCases(store, Run(**{**_fields(run), "id": "none"})).after()) == []


def _fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in ("name", "suite", "suite_key", "candidate")}
