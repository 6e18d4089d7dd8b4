"""Entries that are too many to be held."""

import pytest

from proctor.errors import StoreError
from proctor.io import temporary_database
from proctor.io.temporary_database import FirstEntries, TemporaryDatabase


@pytest.mark.parametrize("held", [0, 3, 1000])
def test_the_first_value_counts(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary_database, "MOST_IN_MEMORY", held)
    names, numbers = FirstEntries[str, str](), FirstEntries[int, int]()
    keys = ["", "a", "A", "中", "\ud800", "a\0b", "1", *(f"key {n}" for n in range(50))]
    assert [names.add(key, f"at {place}") for place, key in enumerate(keys)] == [None] * len(keys)
    assert [names.add(key, "later") for key in keys] == [f"at {n}" for n in range(len(keys))]
    for key in (0, 1, (1 << 62) - 1):
        assert numbers.add(key, 0) is None
        assert numbers.add(key, 5) == 0


def test_a_database_that_fails_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    database = TemporaryDatabase("CREATE TABLE a (b)")
    with pytest.raises(StoreError, match=r"temporary file .* no such table.*TMPDIR"):
        database.change("INSERT INTO c VALUES (1)")
    with pytest.raises(StoreError, match="TMPDIR"):
        database.first("SELECT c FROM a")
    assert database.first("SELECT b FROM a") is None
