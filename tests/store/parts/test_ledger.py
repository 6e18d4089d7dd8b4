"""Parts of runs and suites: committed in order by one row each, dropped with their files."""

from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import insert, update

from proctor.errors import StoreError
from proctor.store.parts.files import RUN, SUITE
from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS
from proctor.store.parts.ledger import RunPart, SuitePart
from proctor.store.schema import run_parts
from proctor.store.store import Store

TABLE = pa.table({"position": pa.array([0, 1, 2], pa.int64())})


def written(store: Store, number: int, *, run_id: str = "r1", first: int | None = None) -> RunPart:
    folder = store.parts.folder
    assert folder is not None
    place = folder.new_place(RUN, run_id, number)
    size = sum(folder.write(place, kind, TABLE) for kind in (ATTEMPTS, RESULTS))
    return RunPart(
        number=number,
        first=number * 3 if first is None else first,
        cases=3,
        attempts=3,
        scores=6,
        place=place,
        size=size,
        document=f'{{"sum":{number}}}',
    )


def files(store: Store) -> set[str]:
    assert store.parts.folder is not None
    return set(store.parts.folder.places())


def test_parts_are_committed_in_order_and_seen_by_others(store: Store, address: str) -> None:
    assert store.parts.home_of("r1") == "rows"
    assert store.parts.of_run("r1") == ()
    first, second = written(store, 0), written(store, 1)
    store.parts.commit("r1", first)
    with Store.open(address) as other:
        assert [part.place for part in other.parts.of_run("r1")] == [first.place]
        store.parts.commit("r1", second)
        assert [part.end for part in other.parts.of_run("r1")] == [3, 6]
        assert list(other.parts.documents("r1")) == [(0, '{"sum":0}'), (1, '{"sum":1}')]
        assert other.parts.home_of("r1") == "parts"
    assert store.parts.missing("r1") == []
    with pytest.raises(ValueError, match="begins at 12, and not at 6"):
        store.parts.commit("r1", written(store, 2, first=12))
    with pytest.raises(ValueError, match="part 7 begins"):
        store.parts.commit("r1", written(store, 7))


def test_a_part_is_replaced_and_later_ones_are_dropped_with_their_files(store: Store) -> None:
    for number in range(3):
        store.parts.commit("r1", written(store, number))
    again = written(store, 1)
    store.parts.commit("r1", again)
    assert len(files(store)) == 3
    store.parts.drop_run("r1", after=1)
    assert [part.place for part in store.parts.of_run("r1")][1] == again.place
    assert files(store) == {part.place for part in store.parts.of_run("r1")}
    store.parts.drop_run("r1")
    assert files(store) == set()
    assert store.parts.home_of("r1") == "rows"


def test_what_a_transaction_undoes_keeps_its_files(store: Store) -> None:
    part = written(store, 0)
    store.parts.commit("r1", part)

    def undone() -> None:
        with store.batch():
            store.parts.drop_run("r1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert [one.place for one in store.parts.of_run("r1")] == [part.place]
    assert files(store) == {part.place}


def test_files_without_a_row_are_swept_when_they_are_old(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        kept, orphan = written(store, 0), written(store, 0)
        store.parts.commit("r1", kept)
        assert store.parts.sweep() == 0
        assert files(store) == {kept.place, orphan.place}
        assert store.parts.sweep(older=0) == orphan.size
        assert files(store) == {kept.place}


def test_files_at_an_address_that_other_stores_may_use_are_never_swept(tmp_path: Path) -> None:
    shared = str(tmp_path / "shared")
    with Store.open(str(tmp_path / "one.db"), parts=shared) as one:
        part = written(one, 0)
        one.parts.commit("r1", part)
        with Store.open(str(tmp_path / "two.db"), parts=shared) as two:
            assert two.parts.sweep(older=0) == 0
        assert one.parts.missing("r1") == []


def test_a_part_without_its_file_is_missing(store: Store) -> None:
    for number in range(2):
        store.parts.commit("r1", written(store, number))
    folder = store.parts.folder
    assert folder is not None
    folder.delete([store.parts.of_run("r1")[1].place], [RESULTS])
    assert store.parts.missing("r1") == [1]


def test_a_suite_has_parts_and_keeps_the_first(store: Store) -> None:
    folder = store.parts.folder
    assert folder is not None
    rows = []
    for _ in range(2):
        place = folder.new_place(SUITE, "key", 0)
        size = folder.write(place, CASES, TABLE)
        rows.append(SuitePart(number=0, first=0, cases=3, place=place, size=size))
        store.parts.commit_suite("key", rows[-1])
    assert list(store.parts.of_suite("key")) == rows[:1]
    store.parts.drop_suite("key")
    assert store.parts.of_suite("key") == ()
    assert files(store) == {rows[1].place}


def test_rows_of_others_that_have_gaps_or_lead_elsewhere_are_not_followed(store: Store) -> None:
    store.parts.commit("r1", written(store, 0))
    row = {"attempts": 1, "scores": 1, "size": 1, "document": "{}", "run_id": "r1"}
    with store.database.write() as connection:
        connection.execute(
            insert(run_parts), [{**row, "number": 2, "first": 9, "cases": 3, "place": "x"}]
        )
    assert len(store.parts.of_run("r1")) == 1
    for place in ("../x", "s3://elsewhere/r-0123456789abcdef/00001-0123456789ab"):
        with store.database.write() as connection:
            connection.execute(update(run_parts).values(place=place))
        with pytest.raises(StoreError, match="a part of the run is at"):
            store.parts.folder_of(store.parts.of_run("r1")[0].place)
    store.parts.drop_run("r1")


@pytest.mark.slow
def test_a_server_needs_a_named_place_for_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        assert store.parts.folder is not None
        assert store.parts.folder.beside_store
    monkeypatch.setenv("PROCTOR_PARTS", str(tmp_path / "there"))
    with Store.open(str(tmp_path / "p.db")) as store:
        assert store.parts.folder is not None
        part = written(store, 0)
        assert part.place.startswith(f"file://{tmp_path}/there/r-")
        store.parts.commit("r1", part)
        assert store.parts.missing("r1") == []


def test_a_row_that_says_too_much_is_not_followed(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        store.parts.commit("r1", written(store, 0))
        for cases in (-1, 2**62):
            with store.database.write() as connection:
                connection.execute(update(run_parts).values(cases=cases, size=abs(cases) % 1000))
            assert store.parts.of_run("r1") == ()
            assert store.attempts.count("r1") == 0
            assert list(store.results.iter_rows("r1")) == []


def test_a_place_that_leads_elsewhere_is_damage_of_its_cases(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        store.parts.commit("r1", written(store, 0))
        with store.database.write() as connection:
            connection.execute(update(run_parts).values(place="../../etc/passwd"))
        rows = list(store.results.iter_rows("r1"))
        assert [row.broken for row in rows] == [True] * 3
