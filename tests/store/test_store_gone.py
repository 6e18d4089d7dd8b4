"""A store that is deleted or replaced while it is in use: noticed, and never written into the void."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from proctor.errors import StoreGone
from proctor.store.rows import CallRow
from proctor.store.store import Store


def row(key: str) -> CallRow:
    return CallRow(key=key, model="m", request={}, response={"text": key}, status="ok")


def deleted(place: Path) -> None:
    place.unlink()


def deleted_all(place: Path) -> None:
    for path in place.parent.glob(f"{place.name}*"):
        path.unlink()


def folder_deleted(place: Path) -> None:
    shutil.rmtree(place.parent)


def moved(place: Path) -> None:
    place.rename(place.with_name("elsewhere.db"))


def replaced_by_a_copy(place: Path) -> None:
    copy = place.with_name("copy.db")
    shutil.copyfile(place, copy)
    os.replace(copy, place)


def replaced_by_a_new_one(place: Path) -> None:
    deleted_all(place)
    Store.open(str(place)).close()


def journal_deleted(place: Path) -> None:
    Path(f"{place}-wal").unlink()


def journal_replaced(place: Path) -> None:
    journal_deleted(place)
    Path(f"{place}-wal").write_bytes(b"")


HARMS = [
    deleted, deleted_all, folder_deleted, moved, replaced_by_a_copy, replaced_by_a_new_one,
    journal_deleted, journal_replaced,
]  # fmt: skip


def write_one(store: Store) -> None:
    store.calls.put([row("after")])


def in_a_batch(store: Store, harm: Callable[[], None] = lambda: None) -> None:
    with store.batch():
        write_one(store)
        harm()


def read_one(store: Store) -> None:
    store.calls.get_many(["before"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / ".proctor" / "p.db"


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("how", ["write", "batch", "read", "reconnected"])
@pytest.mark.sampled(3)
def test_it_is_noticed(place: Path, harm: Callable[[Path], None], how: str) -> None:
    with Store.open(str(place)) as store:
        store.calls.put([row("before")])
        if how == "reconnected":
            store.database.engine.dispose()
            if "journal" in harm.__name__ or harm is replaced_by_a_new_one:
                pytest.skip("nothing is open that could be told from what follows")
        harm(place)
        use = {"batch": in_a_batch, "read": read_one}.get(how, write_one)
        with pytest.raises(StoreGone) as caught:
            use(store)
    message = str(caught.value)
    assert str(place) in message
    assert "while it was in use" in message
    assert "fix:" in message
    if harm in (deleted, deleted_all, folder_deleted, moved):
        assert not place.exists(), "no other file was made in its place"
        assert not Store.is_there(store)


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_deleted_within_a_batch_is_noticed_before_it_counts(
    place: Path, harm: Callable[[Path], None]
) -> None:
    with Store.open(str(place)) as store:
        store.calls.put([row("before")])
        with pytest.raises(StoreGone):
            in_a_batch(store, lambda: harm(place))


def test_one_store_notices_and_the_next_goes_on(place: Path) -> None:
    with Store.open(str(place)) as store:
        store.calls.put([row("before")])
        replaced_by_a_new_one(place)
        with pytest.raises(StoreGone):
            store.calls.put([row("after")])
    with Store.open(str(place)) as again:
        assert again.calls.get_many(["before", "after"]) == {}
        again.calls.put([row("new")])
        assert again.calls.get_many(["new"])["new"].response == {"text": "new"}


WRITES = """
import sys
from proctor.store.rows import CallRow
from proctor.store.store import Store
for turn in range(3):
    with Store.open(sys.argv[1]) as store:
        key = f"{sys.argv[2]}-{turn}"
        store.calls.put([CallRow(key=key, model="m", request={}, response={}, status="ok")])
"""


@pytest.mark.slow
def test_others_that_come_and_go_are_no_harm(place: Path) -> None:
    with Store.open(str(place)) as store:
        store.calls.put([row("mine")])
        command = [sys.executable, "-c", WRITES, str(place)]
        others = [subprocess.Popen([*command, str(number)]) for number in range(1)]
        while any(other.poll() is None for other in others):
            store.calls.put([row("mine")])
            store.calls.get_many(["mine"])
        assert [other.wait() for other in others] == [0]
        keys = [f"{n}-{turn}" for n in range(1) for turn in range(3)]
        assert len(store.calls.get_many(keys)) == 3
    # Who was last takes the journal along; the next one begins another.
    with Store.open(str(place)) as store:
        store.calls.put([row("again")])
    with closing(sqlite3.connect(place)) as found:
        assert found.execute("select count(*) from calls").fetchone()[0] == 5


def test_a_name_that_sqlite_reads_itself(tmp_path: Path) -> None:
    place = tmp_path / "a b.db"
    with Store.open(f"sqlite:///file:{place.as_posix().replace(' ', '%20')}?uri=true") as store:
        store.calls.put([row("before")])
        place.unlink()
        with pytest.raises(StoreGone):
            store.calls.put([row("after")])
