"""Upkeep of a store: what takes how much room, and what may go."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parts_runs import put_run
from proctor.core.attempt import Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import StoreError
from proctor.store import upkeep
from proctor.store.parts.moving import move_to_parts
from proctor.store.rows import CallRow, Label, ResultRow, RunAttempt
from proctor.store.store import Store
from proctor.store.upkeep import PruneChoice, prune, store_size, to_prune

DAY = 86400.0


def fill(
    store: Store,
    run_id: str,
    *,
    suite: str = "s1",
    days: float = 0.0,
    status: RunStatus = RunStatus.COMPLETE,
    cases: tuple[str, ...] = ("a", "b"),
) -> Run:
    """Store a run of a suite, with attempts that it shares with other runs of the suite."""
    criteria = (Criterion(id="says", scorer=Spec(name="contains")),)
    made = [Case(id=name, messages=(Message(role="user", content=name),), criteria=criteria)
            for name in cases]  # fmt: skip
    header = Suite(name=suite, version="1", dialect="native", cases=tuple(made))
    store.suites.put(header, suite, [(f"{suite}-{case.id}", case) for case in made])
    run = Run(
        id=run_id, name=f"run {run_id}", suite=suite, suite_key=suite,
        candidate=Spec(name="recorded"), settings={}, started=time.time() - days * DAY,
        status=status, signature="attempts:1",
    )  # fmt: skip
    store.runs.save(run)
    names = [f"{suite}-{name}" for name in cases]
    store.attempts.put((name, Attempt.of(name, f"answer to {name}" * 20)) for name in names)
    store.scores.put([(f"score {name}", "contains", Score(points=1.0, out_of=1.0))
                      for name in names])  # fmt: skip
    store.attempts.link(run_id, [
        RunAttempt(position=position, index=0, attempt_key=name,
                   score_keys={"says": f"score {name}"})
        for position, name in enumerate(names)
    ])  # fmt: skip
    result = {"status": ValueStatus.SCORED, "value": 1.0, "full": 1.0, "weight": 1.0}
    store.results.put(run_id, [
        ResultRow(position=place, case_id=name, low=0.0, high=1.0, spread=0.0,
                  tags={"t": ("x",)}, **result)
        for place, name in enumerate(cases)
    ])  # fmt: skip
    return run


def put_orphans(store: Store) -> None:
    """Store what no run refers to, as runs that were made anew leave it."""
    store.attempts.put([("orphan", Attempt.of("a", "of nobody"))])
    store.scores.put([("orphan", "contains", Score(points=1.0, out_of=1.0))])


def put_call(store: Store, key: str = "call", created: float | None = None) -> None:
    store.calls.put([
        CallRow(key=key, model="m", request={}, response={"text": "bought"}, seconds=1.0,
                created=time.time() if created is None else created)
    ])  # fmt: skip


def content_of(store: Store) -> dict[str, int]:
    return {kind.kind: kind.rows for kind in store_size(store).kinds}


def test_size_tells_what_takes_how_much(store: Store) -> None:
    fill(store, "r1")
    fill(store, "r2", cases=("a", "b", "c"), suite="s2")
    put_call(store)
    measured = store_size(store)
    kinds = {one.kind: one for one in measured.kinds}
    assert {kind: one.rows for kind, one in kinds.items() if one.rows} == {
        "suites": 5, "attempts": 5, "scores": 5, "results": 5, "model calls and programs": 1,
    }  # fmt: skip
    assert all(one.size > 0 for one in kinds.values() if one.rows)
    runs = {one.run.id: one for one in measured.runs}
    assert (runs["r1"].attempts, runs["r1"].scores) == (2, 2)
    assert runs["r2"].size == pytest.approx(runs["r1"].size * 1.5, rel=0.1)
    assert sum(one.size for one in measured.kinds) + measured.free <= measured.database
    assert measured.total >= measured.file > 0
    assert not measured.estimated


def test_without_a_count_of_pages_texts_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "r1")
        monkeypatch.setattr(upkeep, "text", lambda query: sqlite_text(query, "dbstat", "nothing"))
        measured = store_size(store)
    assert measured.estimated
    assert {one.kind for one in measured.kinds if one.size} >= {"suites", "attempts", "scores"}


def sqlite_text(query: str, old: str, new: str) -> Any:
    import sqlalchemy

    return sqlalchemy.text(query.replace(old, new))


def test_what_runs_refer_to_stays_and_all_else_goes(store: Store) -> None:
    fill(store, "r1")
    before = content_of(store)
    put_orphans(store)
    put_call(store)
    plan = to_prune(store, PruneChoice())
    assert {kind: count for kind, count in plan.rows.items() if count} == {
        "attempts": 1, "scores": 1,
    }  # fmt: skip
    assert content_of(store)["attempts"] == 3  # nothing was removed yet
    done = prune(store, PruneChoice())
    assert (done.rows, done.runs) == (plan.rows, [])
    assert not done.not_compacted
    assert content_of(store) == {**before, "model calls and programs": 1}
    assert [len(case.attempts) for case in store.attempts.iter_cases("r1")] == [1, 1]
    assert to_prune(store, PruneChoice()).is_empty


@pytest.mark.parametrize(
    ("choice", "gone"),
    [
        (PruneChoice(keep=1), {"old", "broken off", "other"}),
        (PruneChoice(keep=0), {"new", "old", "broken off", "other", "older"}),
        (PruneChoice(before=50), {"old", "older", "other"}),
        (PruneChoice(before=50, keep=1), {"old", "other"}),
        (PruneChoice(unfinished=True), {"broken off"}),
        (PruneChoice(unfinished=True, before=50), set()),
        (PruneChoice(), set()),
    ],
)
@pytest.mark.slow
def test_runs_go_where_all_that_is_said_holds(
    tmp_path: Path, choice: PruneChoice, gone: set[str]
) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "new")
        fill(store, "broken off", days=1, status=RunStatus.INTERRUPTED)
        fill(store, "old", days=90)
        fill(store, "other", days=100)
        fill(store, "older", suite="s2", days=100)
        if choice.before is not None:
            choice = replace(choice, before=time.time() - choice.before * DAY)
        assert {run.id for run in to_prune(store, choice).runs} == gone
        assert {run.id for run in prune(store, choice).runs} == gone
        left = {run.id for run in store.runs.newest()}
        assert left == {"new", "broken off", "old", "other", "older"} - gone
        assert to_prune(store, PruneChoice()).is_empty


def test_labels_that_people_gave_keep_their_run(store: Store) -> None:
    fill(store, "r1", days=10)
    fill(store, "r2", days=10)
    store.labels.add(Label(run_id="r1", case_id="a", criterion="says", points=1.0, author="ann"))
    done = prune(store, PruneChoice(keep=0))
    assert [run.id for run in done.runs] == ["r2"]
    assert [run.id for run in done.labelled] == ["r1"]
    assert len(store.labels.of_run("r1")) == 1


@pytest.mark.parametrize(("choice", "left"), [
    (PruneChoice(), 2), (PruneChoice(calls=True), 0), (PruneChoice(calls=True, before=1), 1),
])  # fmt: skip
def test_calls_go_only_where_they_are_named(store: Store, choice: PruneChoice, left: int) -> None:
    put_call(store, "new")
    put_call(store, "old", time.time() - 10 * DAY)
    if choice.before is not None:
        choice = replace(choice, before=time.time() - DAY)
    prune(store, choice)
    assert content_of(store)["model calls and programs"] == left


def test_a_store_becomes_smaller(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "r1", cases=tuple(map(str, range(500))))
        size = store_size(store).total
        done = prune(store, PruneChoice(keep=0))
        assert done.freed is not None
        assert done.freed > size / 3
        assert store_size(store).total < size * 2 / 3


def test_texts_of_runs_that_are_gone_leave_the_index(store: Store) -> None:
    for run_id in ("r1", "r2"):
        fill(store, run_id, suite=run_id)
        while not store.search.index(run_id):
            pass
    store.runs.delete("r1")
    assert to_prune(store, PruneChoice()).rows[upkeep.SEARCH] > 0
    prune(store, PruneChoice())
    assert store.search.unindexed(["r2"]) == ["r2"]
    while not store.search.index("r2"):
        pass
    assert [hit.run_id for hit in store.search.find("answer", 10)] == ["r2", "r2"]


def test_nothing_is_removed_while_a_run_is_being_made(address: str) -> None:
    with Store.open(address) as worker, Store.open(address) as store:
        fill(store, "r1")
        put_orphans(store)
        assert worker.locks.acquire("another run")
        with pytest.raises(StoreError, match=r"in use.*\(fix: "):
            prune(store, PruneChoice())
        worker.locks.release("another run")
        with store.locks.whole_store():
            assert not worker.locks.acquire("another run")
        assert worker.locks.acquire("another run")
        worker.locks.release("another run")
        fill(store, "r2", status=RunStatus.RUNNING)
        with pytest.raises(StoreError, match="is being made"):
            prune(store, PruneChoice())
        assert [run.id for run in to_prune(store, PruneChoice(keep=0)).runs] == ["r1"]
        assert store.attempts.get_many(["orphan"])


def test_a_stop_on_the_way_removes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, "r1")
    put_orphans(store)
    before = content_of(store)
    stopped: Callable[..., Any] = _stop
    monkeypatch.setattr(upkeep, "_unused", stopped)
    with pytest.raises(KeyboardInterrupt):
        prune(store, PruneChoice(keep=0))
    monkeypatch.undo()
    assert content_of(store) == before
    assert prune(store, PruneChoice(keep=0)).runs


def _stop(*_: Any) -> Any:
    raise KeyboardInterrupt


def test_files_of_parts_that_nobody_has_go(tmp_path: Path) -> None:
    folder = tmp_path / "proctor.db.parts" / "r-0123456789abcdef"
    folder.mkdir(parents=True)
    unused = folder / "attempts-00000-0123456789ab.parquet"
    cut_short = folder / ".results-00000-0123456789ab.parquet.0123abcd"
    others = tmp_path / "proctor.db.parts" / "notes.txt"
    for file in (unused, cut_short, others):
        file.write_bytes(b"x" * 1000)
    with Store.open(str(tmp_path / "proctor.db")) as store:
        assert store_size(store).unused_parts == 2000
        assert to_prune(store, PruneChoice()).part_bytes == 2000
        assert prune(store, PruneChoice()).part_bytes == 2000
    assert not folder.exists()
    assert others.exists()


def test_a_reader_does_not_keep_rows_from_going(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "PATIENCE", 0.05)
    path = tmp_path / "proctor.db"
    with Store.open(str(path)) as store:
        fill(store, "r1")
        put_orphans(store)
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM runs").fetchone()
            done = prune(store, PruneChoice())
        assert done.rows["attempts"] == 1
        assert content_of(store)["attempts"] == 2


def test_parts_of_any_store_are_measured(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    with Store.open(address, parts=str(folder)) as store:
        run = put_run(store)
        move_to_parts(store, run.id, cases=4)
        files = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        assert store_size(store).parts == files > 0


def test_a_run_in_parts_is_measured_and_goes_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "proctor.db.parts"
    with Store.open(str(tmp_path / "proctor.db")) as store:
        run = replace(put_run(store), status=RunStatus.COMPLETE, started=1.0)
        store.runs.save(run)
        other = fill(store, "stays")
        counts = (store.attempts.count(run.id), store.scores.count(run.id))
        move_to_parts(store, run.id, cases=4)
        measured = store_size(store)
        files = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        assert (measured.parts, measured.unused_parts) == (files, 0)
        sizes = {one.run.id: one for one in measured.runs}
        assert (sizes[run.id].attempts, sizes[run.id].scores) == counts
        assert sizes[run.id].size > 0
        assert to_prune(store, PruneChoice()).is_empty
        assert prune(store, PruneChoice()).part_bytes == 0
        assert sum(1 for _ in folder.rglob("*.parquet")) > 0
        done = prune(store, PruneChoice(before=other.started - DAY))
        assert [one.id for one in done.runs] == [run.id]
        assert done.part_bytes == files
        assert list(folder.rglob("*.parquet")) == []
        assert to_prune(store, PruneChoice()).is_empty
