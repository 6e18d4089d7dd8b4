"""Comparisons in the store: replaced where answers changed, found by runs, gone with a run."""

from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import pytest
from sqlalchemy import inspect

from proctor.core.comparison import Comparison, Preference
from proctor.core.exchange import Usage
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.store.connect import migrate, open_engine
from proctor.store.schema import VERSION_TABLE, VERSIONS, metadata
from proctor.store.store import Store

AWKWARD = "a\x00b\ud800c\x10d"
ONE = Comparison(
    case_id=AWKWARD,
    first="r1",
    second="r2",
    judge=AWKWARD,
    asked="k",
    outcome=Preference.SECOND,
    scores=(3.5, 4.0),
    reason=AWKWARD,
    raw=(AWKWARD, "x"),
    usage=Usage(calls=1, cost=0.5),
)
OTHER = ONE.seen_by("r2")


def save(store: Store, *ids: str) -> None:
    for name in ids:
        store.runs.save(Run(id=name, name=name, suite="s", suite_key="k", candidate=Spec(name="m")))


def test_what_is_put_comes_back(store: Store) -> None:
    store.comparisons.put([("k1", "c1", ONE), ("k2", "c2", OTHER)])
    assert store.comparisons.get_many(["k1", "k2", "k3"]) == {
        "k1": ("c1", ONE),
        "k2": ("c2", OTHER),
    }
    assert store.comparisons.get_many([]) == {}


def test_a_comparison_at_the_same_place_is_replaced(store: Store) -> None:
    store.comparisons.put([("k1", "c1", ONE)])
    newer = replace(ONE, outcome=Preference.TIE, scores=(4.0, 4.0))
    store.comparisons.put([("k1", "c2", newer)])
    assert store.comparisons.get_many(["k1"]) == {"k1": ("c2", newer)}
    assert list(store.comparisons.between(["r1", "r2"])) == [newer]


def test_a_mark_that_is_no_number_stays_one(store: Store) -> None:
    store.comparisons.put([("k1", "c", replace(ONE, reason="", raw=(), scores=(nan, 5.0)))])
    scores = store.comparisons.get_many(["k1"])["k1"][1].scores
    assert scores is not None
    assert isnan(scores[0])
    assert scores[1] == 5.0


def test_comparisons_are_found_by_the_runs_they_are_about(store: Store) -> None:
    third = replace(ONE, second="r3")
    store.comparisons.put([("k1", "c", ONE), ("k2", "c", OTHER), ("k3", "c", third)])
    assert list(store.comparisons.between(["r1", "r2"])) == [ONE, OTHER]
    assert len(list(store.comparisons.between(["r1", "r2", "r3"]))) == 3
    assert list(store.comparisons.between(["r2", "r3"])) == []


def test_a_deleted_run_takes_its_comparisons_along(store: Store) -> None:
    save(store, "r1", "r2", "r3")
    kept = replace(ONE, first="r2", second="r3")
    store.comparisons.put([("k1", "c", ONE), ("k2", "c", OTHER), ("k3", "c", kept)])
    store.runs.delete("r1")
    assert list(store.comparisons.between(["r1", "r2", "r3"])) == [kept]


def test_a_store_of_the_first_version_gets_the_table_and_keeps_its_runs(address: str) -> None:
    engine, _ = open_engine(address, create=True)
    with engine.begin() as connection:
        metadata.drop_all(connection)
        connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
        migrate(connection, VERSIONS[0])
        connection.exec_driver_sql(
            "INSERT INTO runs (id, name, suite, suite_key, candidate, settings, status, started, signature)"
            " VALUES ('r1', 'r1', 's', 'k', '{\"name\": \"c\"}', '{}', 'complete', 0, '')"
        )
    engine.dispose()
    with Store.open(address, create=False) as store:
        assert [run.id for run in store.runs.newest()] == ["r1"]
        store.comparisons.put([("k1", "c1", ONE)])
        assert store.comparisons.get_many(["k1"]) == {"k1": ("c1", ONE)}


@pytest.mark.parametrize("name", ["ix_comparisons_first_run", "ix_comparisons_second_run"])
def test_both_sides_are_indexed(tmp_path: Path, name: str) -> None:
    engine, _ = open_engine(str(tmp_path / "new.db"), create=True)
    with engine.begin() as connection:
        found = {index["name"] for index in inspect(connection).get_indexes("comparisons")}
        assert name in found
        migrate(connection)
    engine.dispose()
