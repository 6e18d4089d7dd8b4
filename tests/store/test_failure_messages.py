"""Words for a database that fails: they name the store, and what to do."""

import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from proctor.store.failure_messages import message_for


def failure(name: str, words: str = "it failed\nDETAIL: more") -> OperationalError:
    cause = sqlite3.OperationalError(words)
    cause.sqlite_errorname = name
    return OperationalError("SELECT 1", {}, cause)


@pytest.mark.parametrize(
    ("name", "lost", "words"),
    [
        ("SQLITE_BUSY", False, "here.db is locked by another process"),
        ("SQLITE_BUSY_SNAPSHOT", False, "here.db is locked by another process"),
        ("SQLITE_READONLY_DBMOVED", False, "here.db was moved or deleted"),
        ("SQLITE_READONLY_ROLLBACK", False, "here.db cannot be written: it is read-only"),
        ("SQLITE_FULL", False, "here.db cannot grow: the disk is full"),
        ("SQLITE_ERROR", False, "the store at here.db failed: it failed"),
        ("", True, "the connection to here.db was lost, or cannot be made: it failed (fix:"),
    ],
)
def test_a_failure_in_words(name: str, lost: bool, words: str) -> None:
    message = message_for("here.db", failure(name), lost=lost)
    assert message.startswith(words)
    assert "\n" not in message


def test_a_server_says_why_by_its_code() -> None:
    cause = sqlite3.OperationalError("disk")
    cause.sqlstate = "53100"
    message = message_for("db", OperationalError("INSERT", {}, cause), lost=False)
    assert message == "db cannot grow: the disk is full (fix: free some space on the server)"
