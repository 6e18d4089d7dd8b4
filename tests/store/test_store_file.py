"""The file of a store, by its inode: found by the names that SQLite takes, and missed when it goes."""

import os
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import StoreGone
from proctor.store.store_file import JOURNAL, StoreFile


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/a/b.db", "/a/b.db"),
        ("file:/a/b%20c.db?mode=ro&uri=true", "/a/b c.db"),
        ("file::memory:?cache=shared", None),
        ("file:x?mode=memory", None),
    ],
)
def test_a_name_is_that_of_a_file_or_of_none(name: str, path: str | None) -> None:
    found = StoreFile.named(name)
    assert (found and found.path) == path


class Opened:
    """A connection that is none, with notes about it."""

    def __init__(self) -> None:
        self.info: dict[Any, Any] = {}

    def execute(self, _query: str) -> "Opened":
        return self

    def fetchall(self) -> list[Any]:
        return []


def test_another_file_in_its_place_is_noticed(tmp_path: Path) -> None:
    path, journal = tmp_path / "x.db", tmp_path / f"x.db{JOURNAL}"
    path.touch()
    file, opened = StoreFile(str(path)), Opened()
    file.before_connecting()
    file.on_connected(opened, opened)
    assert file.is_there()
    assert opened.info == {JOURNAL: None}
    journal.touch()
    file.on_begin(opened)
    assert opened.info[JOURNAL] == (os.stat(journal).st_dev, os.stat(journal).st_ino)
    journal.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreGone, match=r"x\.db-wal was deleted .* is lost with it"):
        file.check(opened)
    (tmp_path / "elsewhere").rename(journal)
    file.check(opened)
    (tmp_path / "y.db").touch()
    os.replace(tmp_path / "y.db", path)
    assert not file.is_there()
    for use in (file.before_connecting, lambda: file.check(opened), lambda: file.on_begin(opened)):
        with pytest.raises(StoreGone, match=r"x\.db was replaced by another file"):
            use()
