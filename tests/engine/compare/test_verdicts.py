"""Margins, families of rows, rank sets: one verdict that holds."""

from collections.abc import Callable

import pytest

from engine.compare.stored_pairs import many, values
from proctor.core.run import Run
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import (
    CompareSettings,
    compare,
    contrast_gate_names,
    missed_gates,
)
from proctor.engine.compare.wording import sentence
from proctor.errors import UsageError
from proctor.store.store import Store


@pytest.mark.parametrize(
    ("better", "worse", "same", "verdict", "words"),
    [
        (20, 2, 178, "better", "new is better than old"),
        (2, 20, 178, "worse", "new is worse than old"),
        (0, 0, 190, "equal", "new and old are equal within 2 points"),
        (0, 0, 150, "unclear", "cannot be told apart"),
        (9, 3, 488, "no_worse", "new is no worse than old by 2 points"),
        (10, 10, 180, "unclear", "cannot be told apart"),
        pytest.param(*(2, 20, 5000, "equal", "are equal within 2 points"), marks=pytest.mark.slow),
    ],
)
def test_one_verdict_with_a_margin(
    store: Store, put: Callable[..., Run], better: int, worse: int, same: int, verdict: str,
    words: str,
) -> None:  # fmt: skip
    for name, marks in zip(("old", "new"), many(better, worse, same), strict=True):
        put(name, marks)
    compared = compare(store, ["old", "new"], CompareSettings(margin=0.02))
    (found,) = compared.contrasts
    assert found.verdict == verdict
    assert words in sentence(found)
    assert contrast_gate_names(found)["verdict"] == verdict
    assert missed_gates([f"verdict == '{verdict}'"], compared) == []
    shown = compared_object(compared)["pairs"][0]
    assert (shown["verdict"], shown["margin"]) == (verdict, 0.02)
    assert sentence(found, "zh")


@pytest.mark.slow
def test_a_difference_below_the_margin_says_that_it_shows(
    store: Store, put: Callable[..., Run]
) -> None:
    for name, marks in zip(("old", "new"), many(2, 20, 5000), strict=True):
        put(name, marks)
    (found,) = compare(store, ["old", "new"], CompareSettings(margin=0.02)).contrasts
    assert sentence(found).endswith("The difference that shows is smaller than the margin.")
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.verdict == "worse"


@pytest.mark.parametrize("margin", [0.0, -0.02, 1.0, float("nan")])
def test_a_margin_is_a_part_of_the_scale(margin: float) -> None:
    with pytest.raises(UsageError, match="points of 100"):
        CompareSettings(margin=margin)


def test_all_rows_shown_are_one_family(store: Store, put: Callable[..., Run]) -> None:
    for name, marks in zip(("old", "new"), many(12, 2, 26), strict=True):
        put(name, marks)
    (alone,) = compare(store, ["old", "new"]).contrasts
    (beside,) = compare(store, ["old", "new"], CompareSettings(by=("half",))).contrasts
    rows = [beside, *beside.groups["half"].values()]
    assert {row.tested for row in rows} == {3}
    assert (alone.tested, alone.level) == (1, 0.95)
    assert beside.level == pytest.approx(1 - 0.05 / 3)
    assert beside.adjusted_p == pytest.approx(3 * (alone.adjusted_p or 9))
    assert beside.interval is not None
    assert alone.interval is not None
    assert beside.interval[0] < alone.interval[0]
    assert beside.interval[1] > alone.interval[1]


@pytest.mark.slow
def test_interval_and_verdict_never_contradict_each_other(
    store: Store, put: Callable[..., Run]
) -> None:
    for place, (better, worse, same) in enumerate(
        [(5, 0, 0), (5, 0, 3), (7, 1, 0), (9, 2, 40), (8, 2, 40), (0, 6, 6)]
    ):
        names = f"old{place}", f"new{place}"
        for name, marks in zip(names, many(better, worse, same), strict=True):
            put(name, marks)
        (found,) = compare(store, names).contrasts
        assert found.interval is not None
        low, high = found.interval
        assert found.verdict != "unclear" or low <= 0 <= high, place
        if found.verdict == "better":
            assert low >= 0
        if found.verdict == "worse":
            assert high <= 0


def test_ranks_follow_from_what_is_sure(store: Store, put: Callable[..., Run]) -> None:
    put("low", values([0.0] * 40 + [1.0] * 60))
    put("middle", values([1.0] * 20 + [0.0] * 20 + [1.0] * 60))
    put("alike", values([1.0] * 21 + [0.0] * 19 + [1.0] * 60))
    put("high", values([1.0] * 100))
    compared = compare(store, ["low", "middle", "alike", "high"])
    assert compared.ranks == {
        "low-id": (4, 4), "middle-id": (2, 3), "alike-id": (2, 3), "high-id": (1, 1),
    }  # fmt: skip
    assert [run["rank"] for run in compared_object(compared)["runs"]] == [
        (4, 4), (2, 3), (2, 3), (1, 1),
    ]  # fmt: skip
