"""Sums over pairs: columns add what the pairs add one by one."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.compare.stored_pairs import case
from proctor.core.case_value import ValueStatus
from proctor.core.run import Run
from proctor.engine.compare import pair_sums
from proctor.engine.compare.comparing import CompareSettings, compare
from proctor.engine.compare.pair_sums import PairedRowSums, add_columns
from proctor.stats.paired import Paired
from proctor.store.pairs import Pairs
from proctor.store.parts import pairs as parts_pairs
from proctor.store.parts.pairs import LoadedResults, PairColumns
from proctor.store.store import Store

OUTCOMES = [0.0, 1.0, 0.5, 0.25, "unscored", "error", "shown"]


def as_columns(store: Store, pairs: Pairs, first: Run, second: Run) -> PairColumns:
    """Return the pairs of two runs in rows as those of runs in parts are read."""
    one, two = (LoadedResults(store.results.iter_rows(run.id)) for run in (first, second))
    return PairColumns.of(one, two, same_suite=first.suite_key == second.suite_key)


def told(paired: Paired) -> list[object]:
    """Return the numbers of a comparison."""
    return [
        *(paired.n, paired.first, paired.second, paired.difference, paired.interval, paired.p),
        *(paired.test, paired.effect, paired.decision_p, paired.needed, paired.detectable),
        *(paired.better, paired.worse, paired.same, paired.clusters),
    ]


@pytest.mark.parametrize("clustered", [False, True])
def test_columns_and_rows_compare_alike(
    store: Store, put: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, clustered: bool
) -> None:
    draw = random.Random(5)
    cases = [
        case(
            f"c{n:03}",
            tags={"half": ("low", "both") if n % 3 else ("high",)},
            weight=1.0 + n % 7 / 10,
            cluster=f"g{n // 4}" if clustered and n % 5 else "",
        )
        for n in range(120)
    ]
    for name in ("old", "new"):
        put(name, {one.id: draw.choice(OUTCOMES) for one in cases}, cases=cases)
    put("other", {one.id: draw.choice(OUTCOMES) for one in cases[10:]}, cases=cases[10:])
    settings = CompareSettings(by=("half",))
    for names in (["old", "new"], ["old", "other"], ["other", "new"]):
        (in_rows,) = compare(store, names, replace(settings, force=True)).contrasts
        with monkeypatch.context() as patch:
            patch.setattr(
                Pairs, "columns", lambda self, one, two: as_columns(store, self, one, two)
            )
            (in_columns,) = compare(store, names, replace(settings, force=True)).contrasts
        assert in_columns.flips == in_rows.flips
        assert in_columns.left_out == in_rows.left_out
        assert in_columns.examples == in_rows.examples
        assert in_columns.verdict == in_rows.verdict
        assert in_columns.groups.keys() == in_rows.groups.keys()
        # To the last bit: the database counts alike ones in any order.
        assert told(in_columns.paired) == told(in_rows.paired)
        for name, group in in_rows.groups["half"].items():
            again = in_columns.groups["half"][name]
            assert again.flips == group.flips
            assert told(again.paired) == told(group.paired)
        assert in_columns.extremes is not None
        assert in_rows.extremes is not None
        assert [*map(told, in_columns.extremes)] == [*map(told, in_rows.extremes)]


def test_extremes_begin_with_what_was_seen_before(
    store: Store, put: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_sums, "_BLOCK", 7)
    monkeypatch.setattr(parts_pairs, "_STRETCH", 5)
    draw = random.Random(6)
    cases = [case(f"c{n:03}") for n in range(40)]
    outcomes = {one.id: draw.choice([0.0, 1.0, 0.5]) for one in cases}
    first = put("old", outcomes, cases=cases)
    second = put("new", {**outcomes, "c000": 1.0, "c020": "unscored"}, cases=cases)
    columns = as_columns(store, store.pairs, first, second)
    one_by_one, at_once = PairedRowSums(), PairedRowSums()
    for pair in (columns.row(place) for place in range(len(columns))):
        one_by_one.add(pair, 1)
    add_columns(columns, at_once)
    for sums in (one_by_one, at_once):
        assert sums.unscored == 1
        ends = sums.contrast("t").extremes
        assert ends is not None
        low, high = (end.difference for end in ends)
        assert low is not None
        assert high is not None
        assert high - low == pytest.approx(1 / 40)
        assert (ends[0].n, ends[1].n) == (40, 40)
    certain = PairedRowSums()
    for pair in (columns.row(place) for place in range(20)):
        certain.add(pair, 1)
    assert certain.contrast("t").extremes is None


def test_between_right_and_wrong_is_neither(
    store: Store, put: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("old", {"a": 1.0, "b": 1.0, "c": 0.25, "d": 0.0, "e": 0.0})
    put("new", {"a": 0.25, "b": 0.0, "c": 1.0, "d": 1.0, "e": 0.0})
    for in_columns in (False, True):
        if in_columns:
            monkeypatch.setattr(
                Pairs, "columns", lambda self, one, two: as_columns(store, self, one, two)
            )
        (contrast,) = compare(store, ["old", "new"]).contrasts
        flips = contrast.flips
        assert (flips.to_right, flips.to_wrong, flips.both_wrong, flips.graded) == (1, 1, 1, True)


def test_a_mask_chooses_the_pairs(store: Store, put: Callable[..., Run]) -> None:
    first = put("old", {"a": 0.0, "b": 1.0, "c": 0.0})
    second = put("new", {"a": 1.0, "b": 1.0, "c": "error"})
    pairs = as_columns(store, store.pairs, first, second)
    sums = PairedRowSums()
    counts = add_columns(pairs, sums, pairs.first.ids.array.to_numpy(zero_copy_only=False) != "b")
    assert (counts.met, counts.only_first, counts.errors) == (2, 0, 1)
    assert sums.seen.to_right == 1
    assert sums.seen.both_right == 0


def test_a_result_that_cannot_be_read_may_be_anything(
    store: Store, put: Callable[..., Run]
) -> None:
    cases = [case(f"c{number}") for number in range(12)]
    runs = [put(name, dict.fromkeys((one.id for one in cases), 0.5), cases=cases) for name in "ab"]
    first, second = ([*store.results.iter_rows(run.id)] for run in runs)
    gone = {"value": None, "status": ValueStatus.UNSCORED, "broken": True}
    gone |= dict.fromkeys(("full", "weight", "low", "high"), float("nan"))
    second[3:9] = [replace(row, **gone) for row in second[3:9]]
    pairs = PairColumns.of(LoadedResults(iter(first)), LoadedResults(iter(second)), same_suite=True)
    by_columns, one_by_one = PairedRowSums(), PairedRowSums()
    add_columns(pairs, by_columns)
    for place in range(12):
        one_by_one.add(pairs.row(place), 1)
    for sums in (by_columns, one_by_one):
        worst, best = (ends.difference for ends in sums.contrast("t").extremes or ())
        assert (worst, best) == (-0.25, 0.25)
        assert sums.unscored == 6
