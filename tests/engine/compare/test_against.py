"""Comparing a new run with an earlier one: which run a reference means, and what stands in the way."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.compare.stored_pairs import many
from proctor.core.run import Run
from proctor.engine.compare.against import (
    compare_against,
    taken_from_file,
)
from proctor.engine.compare.baselines import earlier_run, with_baselines
from proctor.engine.run.stored_view import view_of
from proctor.errors import StoreError
from proctor.store.store import Store

Put = Callable[..., Run]


def test_a_baseline_is_found_by_the_suite(store: Store, put: Put) -> None:
    old, new = many(0, 6, 4)
    put("old", old)
    put("new", new)
    assert earlier_run(store, "@baseline", "quiz") is None
    assert compare_against(store, view_of(store, "new"), "@baseline") is None
    with pytest.raises(StoreError, match="'quiz' has no baseline"):
        with_baselines(store, ["@baseline", "new"])
    store.baselines.pin("quiz", "old-id")
    found = earlier_run(store, "@baseline", "quiz")
    assert found is not None
    assert found.id == "old-id"
    assert with_baselines(store, ["@baseline", "new"]) == ["old-id", "new"]
    assert with_baselines(store, ["new", "old"]) == ["new", "old"]
    assert with_baselines(store, ["@baseline"]) == ["@baseline"]


@pytest.mark.parametrize("reference", ["old", "@last", "@baseline", "folder/run"])
def test_what_is_no_file_stays_as_it_is(store: Store, reference: str) -> None:
    assert taken_from_file(store, reference) == reference


@pytest.mark.parametrize(
    ("more", "refused"),
    [({}, ""), ({"reduce": "max"}, "way to fold attempts differs")],
)
def test_what_stands_in_the_way_is_part_of_the_result(
    store: Store, put: Put, more: dict[str, Any], refused: str
) -> None:
    old, new = many(2, 0, 10)
    put("old", old)
    put("new", new, **more)
    against = compare_against(store, view_of(store, "new"), "old")
    assert against is not None
    assert refused in against.refused
    assert bool(against.refused) == bool(refused)
    assert against.verdict == ("refused" if refused else "unclear")
    assert against.gate_names["verdict"] == (None if refused else "unclear")
    assert against.sentence.startswith("Not compared" if refused else "new and old cannot be told")
    assert against.to_json()["verdict"] == against.verdict


def test_a_run_is_not_compared_with_itself(store: Store, put: Put) -> None:
    put("old", many(0, 2, 4)[0])
    against = compare_against(store, view_of(store, "old"), "old")
    assert against is not None
    assert "cannot be compared with itself" in against.refused
