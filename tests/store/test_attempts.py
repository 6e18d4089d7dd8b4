"""Attempts in the store: back as they went in, whole or not at all; only those in error give way."""

import pytest
from sqlalchemy import update

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Message
from proctor.errors import StoreError
from proctor.store.schema import attempts as attempt_table
from proctor.store.store import Store

AWKWARD = "NUL \x00, lone \ud83d and \udc00, escape \x10 \x100000, 漢字 😀 \u2028 '\"\\%"


ATTEMPTS = {
    "answered": Attempt.of("a", "yes", index=3),
    "empty": Attempt.of("a", ""),
    "none": Attempt.of("a", None),
    "awkward": Attempt.of(AWKWARD, AWKWARD),
    "whole": Attempt(
        case_id="a",
        index=7,
        messages=(
            Message(role="assistant", content="which?"),
            Message(role="user", content="that"),
            Message(role="assistant", content="done"),
        ),
        seconds=1.25,
        usage={"prompt_tokens": 3, "cost": None},
        meta={"file": "x.txt", "nested": {"a": [1, {}]}},
    ),
    "error": Attempt(case_id="a", status=AttemptStatus.ERROR, error="no route"),
}


def test_attempts_come_back(store: Store) -> None:
    store.attempts.put(ATTEMPTS.items())
    assert store.attempts.get_many(ATTEMPTS) == ATTEMPTS
    assert store.attempts.get_many(["none", "nowhere"]) == {"none": ATTEMPTS["none"]}
    assert store.attempts.get_many([]) == {}


def test_an_attempt_in_error_is_not_known(store: Store) -> None:
    store.attempts.put(ATTEMPTS.items())
    assert store.attempts.stored_keys([*ATTEMPTS, "nowhere"]) == set(ATTEMPTS) - {"error"}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("error", "answered", "answered"),
        ("error", "none", "none"),
        ("answered", "error", "answered"),
        ("answered", "whole", "answered"),
        ("none", "answered", "none"),
    ],
)
def test_only_an_attempt_in_error_is_replaced(
    store: Store, first: str, second: str, kept: str
) -> None:
    store.attempts.put([("key", ATTEMPTS[first])])
    store.attempts.put([("key", ATTEMPTS[second])])
    assert store.attempts.get_many(["key"]) == {"key": ATTEMPTS[kept]}


def test_many_keys_are_asked_for_at_once(store: Store) -> None:
    keys = [f"key{number}" for number in range(1700)]
    store.attempts.put((key, Attempt.of("a", key)) for key in keys[::2])
    assert store.attempts.stored_keys(keys) == set(keys[::2])
    found = store.attempts.get_many(iter(keys))
    assert {key: attempt.output for key, attempt in found.items()} == {k: k for k in keys[::2]}


def test_the_same_key_twice_in_one_put_is_there_once(store: Store) -> None:
    store.attempts.put([("key", ATTEMPTS["error"]), ("key", ATTEMPTS["answered"])])
    store.attempts.put([("key", ATTEMPTS["whole"]), ("key", ATTEMPTS["none"])])
    assert store.attempts.get_many(["key"]) == {"key": ATTEMPTS["answered"]}


def test_a_put_whose_rows_break_off_leaves_nothing(store: Store) -> None:
    def rows():
        for number in range(700):
            yield f"key{number}", Attempt.of("a", "x")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        store.attempts.put(rows())
    assert store.attempts.stored_keys(f"key{number}" for number in range(700)) == set()


def test_what_was_put_is_seen_by_another_connection_at_once(store: Store, address: str) -> None:
    store.attempts.put(ATTEMPTS.items())
    with Store.open(address) as other:
        assert other.attempts.get_many(ATTEMPTS) == ATTEMPTS


def test_files_that_agents_leave_are_stored_once(store: Store) -> None:
    store.files.put({"k1": b"one", "k2": b"\x00\xff"})
    store.files.put({"k1": b"one"})
    assert store.files.get("k2") == b"\x00\xff"
    assert store.files.sizes(["k1", "k2", "gone"]) == {"k1": 3, "k2": 2}
    assert store.files.get_many(["k1", "gone"]) == {"k1": b"one"}
    with pytest.raises(StoreError, match="has no file gone"):
        store.files.get("gone")


def test_an_attempt_that_was_damaged_is_made_again(store: Store) -> None:
    store.attempts.put(ATTEMPTS.items())
    with store.database.write() as connection:
        connection.execute(
            update(attempt_table).where(attempt_table.c.key == "answered").values(document="{")
        )
    assert "answered" not in store.attempts.get_many(ATTEMPTS)
    store.attempts.put([("answered", ATTEMPTS["whole"]), ("none", ATTEMPTS["whole"])])
    again = store.attempts.get_many(["answered", "none"])
    assert again == {"answered": ATTEMPTS["whole"], "none": ATTEMPTS["none"]}
