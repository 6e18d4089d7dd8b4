"""Copies of a store: whole, of one moment, and checked."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from parts_runs import put_run
from proctor.errors import StoreError
from proctor.store import backup
from proctor.store.backup import back_up
from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store
from store.test_upkeep import fill


def ignore(_done: int, _total: int) -> None:
    """Show nothing."""


def test_a_copy_is_a_store_with_the_same_content(tmp_path: Path) -> None:
    target = tmp_path / "copies" / "copy.db"
    steps: list[tuple[int, int]] = []
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "r1")
        copied = back_up(store, target, lambda done, total: steps.append((done, total)))
        expected = list(store.attempts.iter_cases("r1"))
        key = store.secret.derive_key("x")
    assert (copied.runs, copied.size) == (1, target.stat().st_size)
    assert steps[-1][0] == steps[-1][1] > 0
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]
    with Store.open(str(target), create=False) as copy:
        assert list(copy.attempts.iter_cases("r1")) == expected
        assert copy.secret.derive_key("x") == key


def test_others_write_while_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of the copy is followed by another run, and the copy has none of them."""
    monkeypatch.setattr(backup, "PAGES", 1)
    path = str(tmp_path / "proctor.db")
    with Store.open(path) as store:
        fill(store, "r1", cases=tuple(map(str, range(20))))
        written: list[str] = []

        def write(done: int, total: int) -> None:
            if len(written) < 4:
                name = f"later {len(written)}"
                thread = threading.Thread(target=_fill, args=(path, name))
                thread.start()
                thread.join()
                written.append(name)

        copied = back_up(store, tmp_path / "copy.db", write)
        assert copied.runs == 1
        assert len(store.runs.newest()) == 5
    with Store.open(str(tmp_path / "copy.db"), create=False) as copy:
        assert len(list(copy.attempts.iter_cases("r1"))) == 20


def _fill(path: str, name: str) -> None:
    with Store.open(path) as store:
        fill(store, name, suite=name)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        for name in ("copy.db", "other.db.parts"):
            (tmp_path / name).write_text("precious")
        for name in ("copy.db", "other.db"):
            with pytest.raises(StoreError, match=r"already exists \(fix: "):
                back_up(store, tmp_path / name, ignore)
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_stop_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "copies"
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "r1")
        with pytest.raises(KeyboardInterrupt):
            back_up(store, folder / "copy.db", stop)
        assert list(folder.iterdir()) == []
        back_up(store, folder / "copy.db", ignore)


def test_a_damaged_copy_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_database = backup._copy_database

    def copy_and_damage(source: str, target: Path, progress: Any) -> None:
        copy_database(source, target, progress)
        with closing(sqlite3.connect(target)) as connection:
            (page,) = connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'ix_runs_started'"
            ).fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
        with target.open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\x00" * size)

    monkeypatch.setattr(backup, "_copy_database", copy_and_damage)
    with Store.open(str(tmp_path / "proctor.db")) as store:
        fill(store, "r1")
        with pytest.raises(StoreError, match="damaged"):
            back_up(store, tmp_path / "copy.db", ignore)
    assert not (tmp_path / "copy.db").exists()


def test_where_it_cannot_be_written_that_is_said(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreError, match=r"cannot be written.*\(fix: "):
            back_up(store, tmp_path / "file" / "copy.db", ignore)


@pytest.mark.slow
@pytest.mark.postgres
def test_a_server_has_its_own_tool(postgresql: str, tmp_path: Path) -> None:
    with (
        Store.open(postgresql) as store,
        pytest.raises(StoreError, match=r"on a server.*\(fix: pg_dump"),
    ):
        back_up(store, tmp_path / "copy.db", ignore)


@pytest.mark.slow
def test_parts_are_copied_beside_the_copy(tmp_path: Path) -> None:
    target = tmp_path / "copies" / "copy.db"
    with Store.open(str(tmp_path / "proctor.db")) as store:
        run = put_run(store)
        move_to_parts(store, run.id, cases=4)
        expected = list(store.attempts.iter_cases(run.id))
        copied = back_up(store, target, ignore)
        names = {path.name for path in tmp_path.joinpath("proctor.db.parts").rglob("*.parquet")}
        assert names
        assert copied.parts == len(names)
        store.runs.delete(run.id)
    with Store.open(str(target), create=False) as copy:
        assert list(copy.attempts.iter_cases(run.id)) == expected
        assert copy.suites.get(run.suite_key).cases
    assert {path.name for path in Path(f"{target}.parts").rglob("*.parquet")} == names


@pytest.mark.parametrize("damage", ["gone", "cut short"])
def test_a_copy_without_all_its_parts_is_not_kept(tmp_path: Path, damage: str) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        run = put_run(store)
        move_to_parts(store, run.id, cases=4)
        part = next(iter(tmp_path.joinpath("proctor.db.parts").rglob("*.parquet")))
        if damage == "gone":
            part.unlink()
        else:
            part.write_bytes(part.read_bytes()[:-1])
        with pytest.raises(StoreError, match=r"\(fix: "):
            back_up(store, tmp_path / "copies" / "copy.db", ignore)
    assert list(tmp_path.joinpath("copies").iterdir()) == []
