"""A run in parts is read as the same run in rows is: every reader, case by case."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parts_runs import SIZE, everything, put_run, without_keys
from proctor.core.attempt import AttemptStatus
from proctor.core.fingerprint import case_key
from proctor.core.run import Run
from proctor.errors import StoreError
from proctor.store.parts import layout, reader
from proctor.store.parts.column_cache import COLUMNS
from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS
from proctor.store.parts.moving import move_to_parts
from proctor.store.scores import DAMAGED
from proctor.store.store import Store


@pytest.mark.parametrize("size", [4, 10, 100])
def test_every_reader_gives_the_same_of_both_homes(
    store: Store, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "GROUP", 3)
    run = put_run(store)
    rows = everything(store, run)
    move_to_parts(store, run.id, cases=size)
    assert store.parts.home_of(run.id) == "parts"
    parts = everything(store, run)
    for name, value in rows.items():
        assert parts[name] == value, name
    with pytest.raises(StoreError, match="has no case 'none', nor has its suite"):
        store.attempts.case(run.id, "none")


@pytest.mark.slow
def test_a_run_in_rows_reads_its_suite_from_parts_and_the_other_way_round(store: Store) -> None:
    first, second = put_run(store, "r1"), put_run(store, "r2")
    expected = everything(store, second)
    move_to_parts(store, first.id, cases=5)
    assert store.parts.home_of(second.id) == "rows"
    assert everything(store, second) == expected
    suite = store.suites.get(first.suite_key)
    keyed = [(case_key(case), case) for case in suite.cases]
    before = everything(store, first)
    store.parts.drop_suite(first.suite_key)
    assert not store.suites.has_cases(first.suite_key, SIZE)
    store.runs.delete(second.id)
    store.suites.put(replace(suite, description="now"), first.suite_key, keyed)
    assert store.suites.header(first.suite_key).description == "now"
    with store.batch():
        store.suites._put_cases(first.suite_key, keyed)
    after = everything(store, first)
    assert after.pop("suite") != before.pop("suite"), "the description is the new one"
    assert after == before


@pytest.mark.slow
def test_a_suite_of_which_parts_are_missing_is_put_again_as_rows(store: Store) -> None:
    run = put_run(store)
    expected = everything(store, run)
    suite = store.suites.get(run.suite_key)
    move_to_parts(store, run.id, cases=5)
    whole = store.parts.of_suite(run.suite_key)
    store.parts.drop_suite(run.suite_key)
    store.parts.commit_suite(run.suite_key, whole[0])
    assert not store.suites.has_cases(run.suite_key, SIZE)
    store.suites.put(suite, run.suite_key, [(case_key(case), case) for case in suite.cases])
    assert store.suites.has_cases(run.suite_key, SIZE)
    assert store.parts.of_suite(run.suite_key) == ()
    assert everything(store, run) == expected


@pytest.mark.slow
def test_a_run_that_gets_rows_again_leaves_its_parts(store: Store) -> None:
    run = put_run(store)
    expected = everything(store, run)
    move_to_parts(store, run.id, cases=5)
    put_run(store)
    assert store.parts.home_of(run.id) == "rows"
    assert everything(store, run) == expected
    move_to_parts(store, run.id)
    store.attempts.unlink(run.id)
    assert store.attempts.count(run.id) == 0
    assert store.parts.home_of(run.id) == "rows"


@pytest.mark.slow
def test_deleting_a_run_deletes_its_files_and_those_of_its_suite(store: Store) -> None:
    first, second = put_run(store, "r1"), put_run(store, "r2")
    folder = store.parts.folder
    assert folder is not None
    for run in (first, second):
        move_to_parts(store, run.id, cases=5)
    store.runs.delete(first.id)
    assert set(folder.places()) == {
        part.place
        for part in (*store.parts.of_run(second.id), *store.parts.of_suite(second.suite_key))
    }
    assert store.attempts.count(second.id) > 0
    store.runs.delete(second.id)
    assert folder.places() == {}
    assert store.parts.of_suite(second.suite_key) == ()


@pytest.mark.slow
def test_a_deletion_that_is_undone_keeps_the_files(store: Store) -> None:
    run = put_run(store)
    move_to_parts(store, run.id, cases=5)
    expected = everything(store, run)

    def undone() -> None:
        with store.batch():
            store.runs.delete(run.id)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert everything(store, run) == expected


@pytest.mark.parametrize("harm", ["gone", "cut", "foreign", "fewer"])
@pytest.mark.parametrize("kind", [ATTEMPTS, RESULTS, CASES])
@pytest.mark.slow
def test_what_is_damaged_says_so_and_the_rest_is_read(tmp_path: Path, kind: str, harm: str) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        run = put_run(store)
        move_to_parts(store, run.id, cases=5)
        whole = everything(store, run)
        folder = store.parts.folder
        assert folder is not None
        parts = store.parts.of_suite(run.suite_key) if kind == CASES else store.parts.of_run(run.id)
        path = Path(folder.address) / folder.path(parts[1].place, kind)
        content = path.read_bytes()
        path.unlink()
        if harm == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif harm == "foreign":
            path.write_bytes(content.replace(b"PAR1", b"RAP1"))
        elif harm == "fewer":
            table = (folder.open(parts[2].place, kind)).read().slice(0, 0)
            folder.write(parts[1].place, kind, table)
    COLUMNS.clear()
    with Store.open(str(tmp_path / "proctor.db")) as store:
        seen = everything_readable(store, run)
        inside = range(5, 10)
        cases = list(store.attempts.iter_cases(run.id))
        assert [one.position for one in cases] == list(range(SIZE))
        for linked, before in zip(cases, whole["cases"], strict=True):  # type: ignore[call-overload]
            if kind == ATTEMPTS and linked.position in inside:
                ((attempt, scores),) = linked.attempts
                assert (attempt.error, attempt.status, scores) == (DAMAGED, AttemptStatus.ERROR, {})
                assert linked.case == before.case
            elif kind == CASES and linked.position in inside:
                assert "damaged" in linked.case.messages[0].content
            else:
                assert without_keys(linked) == before
        rows = list(store.results.iter_rows(run.id))
        assert [row.broken for row in rows] == [
            kind == RESULTS and row.position in inside for row in rows
        ]
        assert seen["count"] == SIZE
        if kind != CASES:
            assert store.attempts.case(run.id, "c6").position == 6


def everything_readable(store: Store, run: Run) -> dict[str, object]:
    """Read with every reader of what is damaged; one that raises is a page that breaks."""
    results, points = store.results, store.criterion_points
    return {
        "suite": list(store.suites.iter_cases(run.suite_key)),
        "count": results.count(run.id),
        "tagged": list(results.iter_rows(run.id, tag=("odd", "1"))),
        "ids": results.ids_at(run.id, range(SIZE)),
        "clusters": results.clusters_of(run.id, range(SIZE)),
        "keys": list(store.attempts.iter_keys(run.id)),
        "points": list(points.of_places(run.id, "k", range(SIZE))),
        "divided": list(points.divided(run.id)),
    }


def test_single_cases_are_kept_for_the_next_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_KEPT", 3)
    monkeypatch.setattr(reader, "MOST_GROUPS", 1)
    monkeypatch.setattr(layout, "GROUP", 2)
    run = put_run(store)
    move_to_parts(store, run.id, cases=5)
    read: list[int] = []
    group = reader.PartReader._group

    def counted(self: reader.PartReader, *args: Any) -> Any:
        read.append(1)
        return group(self, *args)

    monkeypatch.setattr(reader.PartReader, "_group", counted)
    first = store.attempts.cases_at(run.id, [2, 9, 20])
    begun = len(read)
    for linked in first:
        for _, scores in linked.attempts:
            scores.clear()
    again = store.attempts.cases_at(run.id, [2, 9, 20])
    assert len(read) == begun, "nothing is read twice"
    assert [len(scores) for _, scores in again[0].attempts] == [2, 0]
    store.attempts.cases_at(run.id, [15])
    store.attempts.cases_at(run.id, [2, 20])
    assert len(read) > begun + 2, "what was not used longest went"
    monkeypatch.setattr(reader, "LONGEST_KEPT", 5)
    store.attempts.cases_at(run.id, [0, 13, 22])
    begun = len(read)
    store.attempts.cases_at(run.id, [0, 13, 22])
    assert len(read) >= begun + 6, "what is long is not kept"
