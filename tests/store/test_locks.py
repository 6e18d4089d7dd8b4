"""Locks of runs beside a store that is a file: one holder at a time, and nothing left behind."""

from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.store.store import Store


def test_a_run_has_one_holder_at_a_time(tmp_path: Path) -> None:
    address = str(tmp_path / "proctor.db")
    with Store.open(address) as one, Store.open(address) as two:
        assert one.locks.acquire("r")
        assert one.locks.acquire("r")
        assert not two.locks.acquire("r")
        assert two.locks.acquire("other")
        one.locks.release("r")
        assert two.locks.acquire("r")
        assert not one.locks.acquire("r")
        one.locks.release("r")
        assert not one.locks.acquire("r")


def test_a_store_that_is_closed_holds_nothing_and_leaves_no_file(tmp_path: Path) -> None:
    address = str(tmp_path / "proctor.db")
    with Store.open(address) as one:
        assert one.locks.acquire("r1")
        assert one.locks.acquire("r2")
        assert len(list(tmp_path.glob("*.lock"))) == 2
    assert list(tmp_path.glob("*.lock")) == []
    with Store.open(address) as two:
        assert two.locks.acquire("r1")


def test_a_file_that_somebody_took_away_is_no_lock(tmp_path: Path) -> None:
    address = str(tmp_path / "proctor.db")
    with Store.open(address) as one, Store.open(address) as two:
        assert one.locks.acquire("r")
        Path(f"{one.place}-r.lock").unlink()
        assert two.locks.acquire("r")


def test_the_whole_store_is_for_one_process_while_no_run_is_held(tmp_path: Path) -> None:
    address = str(tmp_path / "proctor.db")
    with Store.open(address) as one, Store.open(address) as two, Store.open(address) as three:
        assert one.locks.acquire("r1")
        assert two.locks.acquire("r2")
        one.locks.release("r1")
        with pytest.raises(StoreError, match="in use"), three.locks.whole_store():
            pass
        two.locks.release("r2")
        with three.locks.whole_store():
            assert not one.locks.acquire("r1")
            with pytest.raises(StoreError, match="in use"), two.locks.whole_store():
                pass
        assert one.locks.acquire("r1")
    assert {path.name for path in tmp_path.iterdir()} == {"proctor.db"}


def test_what_a_killed_process_left_is_no_lock(tmp_path: Path) -> None:
    address = str(tmp_path / "proctor.db")
    with Store.open(address) as store:
        Path(f"{address}-in-use").write_bytes(b"")
        with store.locks.whole_store():
            pass
        Path(f"{address}-in-use").write_bytes(b"")
        assert store.locks.acquire("r1")
    assert not Path(f"{address}-in-use").exists()
