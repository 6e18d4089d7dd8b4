"""A store on a server: connections that break, locks, what may only be read, and the password."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy

from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.errors import StoreError
from proctor.store import transactions
from proctor.store.database import Database
from proctor.store.rows import Label
from proctor.store.store import Store
from waiting import until

SECRET = "swordfish"
UNREACHABLE = f"postgresql://me:{SECRET}@127.0.0.1:1/db"


@pytest.fixture
def store(postgresql: str) -> Iterator[Store]:
    with Store.open(postgresql) as opened:
        yield opened


@pytest.fixture
def kill(postgres_server: Any) -> Iterator[Callable[[], int]]:
    """Give what ends all connections but its own."""
    engine = sqlalchemy.create_engine(
        postgres_server.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    query = (
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    left = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
    with engine.connect() as connection:

        def work() -> int:
            ended = [row[0] for row in connection.exec_driver_sql(query)]
            # They are told to end, and end when they come to it.
            until(lambda: not connection.exec_driver_sql(left, (ended,)).scalar())
            return len(ended)

        yield work
    engine.dispose()


@contextmanager
def writing(address: str) -> Iterator[Any]:
    """Be another process in the middle of writing."""
    with Store.open(address) as other, other.batch():
        yield other


def score() -> Score:
    return Score(points=1.0, out_of=1.0)


@pytest.mark.parametrize("moment", ["before", "within", "at the end"])
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_a_batch_survives_a_broken_connection(
    store: Store, kill: Callable[[], int], moment: str
) -> None:
    keys = [f"k{n}" for n in range(1200)]
    assert store.runs.newest() == []
    if moment == "before":
        assert kill()
    with store.batch():
        store.attempts.put((key, Attempt.of("a", key)) for key in keys)
        if moment == "within":
            assert kill()
        store.scores.put((key, "s", score()) for key in keys)
        assert store.attempts.stored_keys(keys) == set(keys)
        if moment == "at the end":
            assert kill()
    assert store.attempts.stored_keys(keys) == set(keys) == store.scores.stored_keys(keys)


@pytest.mark.slow
def test_reading_survives_a_broken_connection(store: Store, kill: Callable[[], int]) -> None:
    store.attempts.put([("k", Attempt.of("a", "x"))])
    assert kill()
    assert store.attempts.stored_keys(["k"]) == {"k"}


def test_what_cannot_be_repeated_is_not(
    store: Store, kill: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    label = Label(run_id="r", case_id="c", index=0, criterion="x", points=1.0, created=1.0)
    monkeypatch.setattr(transactions, "MOST_ROWS", 2)

    def long() -> None:
        with store.batch():
            store.attempts.put((f"k{n}", Attempt.of("a", "x")) for n in range(3))
            kill()
            store.scores.put([("k", "s", score())])

    def once() -> None:
        with store.database.write(repeatable=False):
            store.labels.add(label)
            kill()

    with pytest.raises(StoreError, match=r"was lost.*same command goes on"):
        long()
    assert store.attempts.stored_keys(["k0", "k1", "k2"]) == set()
    with pytest.raises(StoreError, match="was lost"):
        once()
    assert store.labels.of_run("r") == []
    assert store.labels.add(label) > 0


def test_a_server_that_stays_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "PAUSES", (0.0, 0.01))
    away = sqlalchemy.make_url(UNREACHABLE).set(drivername="postgresql+psycopg")
    with Store(Database(sqlalchemy.create_engine(away), "the place")) as gone:
        for work in (gone.runs.newest, lambda: gone.attempts.put([("k", Attempt.of("a", "x"))])):
            with pytest.raises(StoreError, match=r"the place was lost, or cannot be made") as said:
                work()
            assert SECRET not in str(said.value)


def test_a_run_that_is_held_stays_held(
    postgresql: str, store: Store, kill: Callable[[], int]
) -> None:
    assert store.locks.acquire("r1")
    with Store.open(postgresql) as other:
        assert not other.locks.acquire("r1")
        assert other.locks.acquire("r2")
        assert kill()
        with store.batch():
            store.attempts.put([("k", Attempt.of("a", "x"))])
            kill()
        assert not other.locks.acquire("r1")
        store.locks.release("r1")
        # The server may still be busy with ending what was killed.
        until(lambda: other.locks.acquire("r1"))


def test_a_writer_that_never_ends(
    postgresql: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "LOCK_SECONDS", 1)
    with writing(postgresql) as other:
        other.attempts.put([("theirs", Attempt.of("a", "x"))])
        assert store.runs.newest() == []
        with pytest.raises(StoreError, match=r"is locked by another process \(fix: wait"):
            store.attempts.put([("mine", Attempt.of("a", "x"))])
    store.attempts.put([("mine", Attempt.of("a", "x"))])
    assert store.attempts.stored_keys(["mine", "theirs"]) == {"mine", "theirs"}


def test_a_server_that_may_only_be_read(postgresql: str, store: Store) -> None:
    store.attempts.put([("k", Attempt.of("a", "x"))])
    url = f"{postgresql} -cdefault_transaction_read_only=on"
    with Store.open(url, create=False) as reader:
        assert reader.attempts.stored_keys(["k"]) == {"k"}
        with pytest.raises(StoreError, match=r"it is read-only \(fix"):
            reader.attempts.put([("other", Attempt.of("a", "x"))])


def test_a_name_too_long_for_an_index(store: Store) -> None:
    dice = random.Random(1)
    long = "".join(chr(dice.randrange(33, 50_000)) for _ in range(9000))
    label = Label(run_id="r", case_id=long, index=0, criterion="x", points=1.0, created=1.0)
    with pytest.raises(StoreError, match=r"more than 2,000 characters \(fix: shorten it"):
        store.labels.add(label)


@pytest.mark.parametrize(
    "url",
    [
        UNREACHABLE,
        f"postgres://me:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=me&password={SECRET}",
        f"postgresql://me:p@{SECRET}@127.0.0.1:1/db?sslpassword={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:nonsense/db",
        f"postgresql://me:{SECRET}@127.0.0.1:1/db?password={SECRET}&nonsense=1",
        f"mysql://me:{SECRET}@host/db",
    ],
)
@pytest.mark.slow
def test_the_password_is_never_shown(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    from proctor.cli.main import _run

    with pytest.raises(StoreError) as said:
        Store.open(url)
    assert SECRET not in str(said.value)
    assert _run(["list", "runs", "--store", url]) == 2
    assert _run(["list", "runs", "--store", url, "--json"]) == 2
    if url == UNREACHABLE:  # it takes its time, and says what the commands say
        _run(["doctor", "--store", url])
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    assert "127.0.0.1" in shown.err or "mysql" in shown.err


def test_the_password_of_an_open_store_is_not_shown(postgresql: str) -> None:
    with Store.open(f"{postgresql}&password={SECRET}") as store:
        assert SECRET not in f"{store.place} {store.database.engine!r}"
        with pytest.raises(StoreError) as said:
            store.runs.get("nothing")
        assert SECRET not in str(said.value)


def test_a_store_on_a_server_is_not_a_file(store: Store) -> None:
    assert store.is_there()


@pytest.mark.parametrize("create", [True, False])
def test_a_database_that_keeps_bytes_is_refused(postgres_server: Any, create: bool) -> None:
    name = f"bytes_{random.getrandbits(40)}"
    engine = sqlalchemy.create_engine(
        postgres_server.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(
            f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0"
            " LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    try:
        address = postgres_server.set(database=name).render_as_string(hide_password=False)
        with pytest.raises(StoreError, match=r"SQL_ASCII.*--encoding=UTF8"):
            Store.open(address, create=create)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name}")
        engine.dispose()
