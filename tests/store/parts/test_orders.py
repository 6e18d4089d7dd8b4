"""Orders of a run in parts: computed once, and what cannot be read sorts last."""

from pathlib import Path
from typing import Any

import pytest

from parts_runs import put_run, sort_keys_at
from proctor.store.parts import orders
from proctor.store.parts.column_cache import COLUMNS
from proctor.store.parts.layout import ATTEMPTS
from proctor.store.parts.moving import move_to_parts
from proctor.store.parts.orders import PartOrders
from proctor.store.store import Store


def orders_of(store: Store) -> PartOrders:
    home = store.homes.run("r1")
    assert home is not None
    return PartOrders(
        home,
        lambda: store.homes.suite_of("r1"),
        lambda criterion: store.criterion_shares.column("r1", criterion),
    )


def test_an_order_is_computed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put_run(store)
    move_to_parts(store, "r1", cases=9)
    first = orders_of(store).of("tokens")
    present = sum(sort_keys_at(place).tokens is not None for place in range(len(first.places)))
    assert first.present == present
    assert sorted(first.places.tolist()) == list(range(len(first.places)))
    monkeypatch.setattr(PartOrders, "_used", None)
    assert orders_of(store).of("tokens") is first


def test_cases_of_a_part_that_is_gone_sort_last(store: Store) -> None:
    put_run(store)
    move_to_parts(store, "r1", cases=9)
    folder = store.parts.folder
    assert folder is not None
    part = store.parts.of_run("r1")[1]
    COLUMNS.clear()
    (Path(folder.address) / folder.path(part.place, ATTEMPTS)).unlink()
    gone = set(range(part.first, part.end))
    for sort in ("tokens", "seconds", "answer", "attempts"):
        order = orders_of(store).of(sort)  # type: ignore[arg-type]
        assert gone <= set(order.places[order.present :].tolist()), sort
        assert len(order.places) == 23
    assert orders_of(store).of("question").present == 23


@pytest.mark.parametrize(
    ("content", "name", "number"),
    [
        ({"seconds": 2}, "seconds", 2.0),
        ({"seconds": "2"}, "seconds", None),
        ({"usage": {"candidate": {"prompt_tokens": 3, "completion_tokens": 4}}}, "tokens", 7.0),
        ({"usage": {"prompt_tokens": 3}}, "tokens", 3.0),
        ({"usage": [1]}, "tokens", None),
        ({"usage": {"candidate": {"cost": 0.5}}}, "cost", 0.5),
        ({}, "cost", None),
    ],
)
def test_what_an_attempt_used(content: Any, name: str, number: float | None) -> None:
    assert orders._used_in(content, name) == number


@pytest.mark.parametrize(
    ("content", "length"),
    [
        ({"messages": [{"role": "user", "content": "abc"}, {"role": "tool", "content": "x"}]}, 3),
        ({"messages": [{"role": "user", "content": None}]}, 0),
        ({"messages": "abc"}, 0),
        ({"messages": [1]}, 0),
        ({}, 0),
    ],
)
def test_how_long_the_last_message_is(content: Any, length: int) -> None:
    assert orders._last_length(content, "user") == length
