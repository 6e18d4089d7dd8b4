"""Opening: where a store is, how it comes to today's schema, and what is said when it cannot."""

import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import ValueStatus
from proctor.errors import StoreError
from proctor.store.connect import migrate
from proctor.store.queries import KEY_OF_SORT, ListingQuery
from proctor.store.rows import ResultRow, SortKeys
from proctor.store.schema import SORT_KEYS, VERSION_TABLE, VERSIONS, metadata
from proctor.store.store import Store


@pytest.mark.parametrize(
    ("url", "variable", "file"),
    [
        (None, None, ".proctor/proctor.db"),
        (None, "", ".proctor/proctor.db"),
        (None, "own/a.db", "own/a.db"),
        (None, "sqlite:///own/b.db", "own/b.db"),
        ("c.db", "own/a.db", "c.db"),
        ("sqlite:///d.db", None, "d.db"),
        ("deep/er/e f%20é.db", None, "deep/er/e f%20é.db"),
    ],
)
def test_where_a_store_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str | None,
    variable: str | None,
    file: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_STORE", raising=False)
    if variable is not None:
        monkeypatch.setenv("PROCTOR_STORE", variable)
    with Store.open(url) as store:
        assert store.runs.newest() == []
    assert (tmp_path / file).is_file()


def test_the_default_folder_is_kept_out_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_STORE", raising=False)
    Store.open().close()
    assert (tmp_path / ".proctor" / ".gitignore").read_text() == "*\n"
    (tmp_path / ".proctor" / ".gitignore").unlink()
    (tmp_path / ".proctor" / "proctor.db").unlink()
    Store.open().close()
    assert not (tmp_path / ".proctor" / ".gitignore").exists()
    Store.open("other/x.db").close()
    assert not (tmp_path / "other" / ".gitignore").exists()


def test_sqlite_is_set_up_for_many_readers_and_one_writer(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "x.db")) as store, store.database.read() as connection:
        pragmas = ("journal_mode", "synchronous", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert found == ["wal", 1, 30_000]


@pytest.mark.slow
def test_a_store_at_head_is_opened_without_alembic(tmp_path: Path) -> None:
    path = str(tmp_path / "x.db")
    program = (
        "import sys; from proctor.store.store import Store; Store.open(sys.argv[1]).close();"
        "sys.exit(3 if 'alembic' in sys.modules else 0)"
    )
    command = [sys.executable, "-c", program, path]
    assert [subprocess.run(command, check=False).returncode for _ in range(2)] == [0, 0]


def test_the_migrated_database_equals_the_schema(address: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    options = {"version_table": VERSION_TABLE, "compare_type": True}
    with Store.open(address) as store, store.database.write() as transaction:
        connection = transaction.connection
        metadata.drop_all(connection)
        connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
        migrate(connection)
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
        assert connection.exec_driver_sql(f"SELECT * FROM {VERSION_TABLE}").scalar() == VERSIONS[-1]
        assert context.get_current_revision() == VERSIONS[-1]


def test_runs_of_a_store_without_sort_keys_are_listed_in_their_order(address: str) -> None:
    rows = [
        ResultRow(
            position=place,
            case_id=f"c{9 - place}",
            status=ValueStatus.SCORED,
            value=float(place % 2),
            full=1.0,
            weight=1.0,
            low=0.0,
            high=1.0,
            spread=0.0,
        )
        for place in range(5)
    ]
    with Store.open(address) as store:
        store.results.put("r", rows)
        with store.database.write() as transaction:
            run = transaction.connection.exec_driver_sql
            for name in SORT_KEYS:
                run(f"DROP INDEX ix_run_results_{name}")
                run(f"ALTER TABLE run_results DROP COLUMN {name}")
            run("ALTER TABLE labels DROP COLUMN seen")
            run(f"UPDATE {VERSION_TABLE} SET version_num = '0014'")
    with Store.open(address) as store:
        assert store.listing.page("r", ListingQuery(sort="value"), 9)[0].position == 0
        for sort in KEY_OF_SORT:
            assert store.listing.page("r", ListingQuery(sort=sort), 9) == rows
            down = ListingQuery(sort=sort, descending=True)
            assert store.listing.page("r", down, 9) == rows[::-1]
        keys = SortKeys(tokens=5, reason="late")
        store.results.put("r", [*rows[:4], replace(rows[4], sort_keys=keys)])
        assert store.listing.page("r", ListingQuery(sort="tokens"), 1) == [rows[4]]


def test_the_schema_knows_every_migration() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "proctor.store:migrations")
    steps = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(step.revision for step in steps) == VERSIONS[::-1]


def test_nothing_to_open(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x.db"
    with pytest.raises(StoreError, match=rf"no store at {path}; run `proctor run` first"):
        Store.open(str(path), create=False)
    assert not path.parent.exists()
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(StoreError, match="there is no store at"):
        Store.open(str(path), create=False)
    Store.open(str(path)).close()
    Store.open(str(path), create=False).close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database\n" * 100)
    with pytest.raises(
        StoreError, match=rf"{path} is not a store: the file is not a database \(fix"
    ):
        Store.open(str(path))
    assert path.read_text().startswith("not a database")


def test_somebody_elses_database(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.close()
    with pytest.raises(StoreError, match=r"not a store: it has other tables \(invoices\) \(fix"):
        Store.open(str(path))


def test_a_store_of_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    Store.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    connection.close()
    with pytest.raises(
        StoreError, match=r"newer version of Proctor \(its schema is 9999.*--upgrade"
    ):
        Store.open(str(path))


def test_a_damaged_store(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        store.attempts.put((f"key{n}", Attempt.of("a", "x" * 500)) for n in range(500))
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xff" * (len(data) - 12288)
    path.write_bytes(data)
    with (
        pytest.raises(StoreError, match=rf"{path} is damaged \(fix"),
        Store.open(str(path)) as store,
    ):
        store.attempts.get_many(f"key{n}" for n in range(500))


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(str(tmp_path))


def test_a_file_in_the_way_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file/x.db", "file/sub/x.db"):
        with pytest.raises(StoreError, match=r"cannot be made: .*\(fix"):
            Store.open(str(tmp_path / name))


def test_a_store_that_may_only_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        store.attempts.put([("key", Attempt.of("a", "x"))])
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert store.attempts.stored_keys(["key"]) == {"key"}
        with pytest.raises(StoreError, match=r"it is read-only \(fix"):
            store.attempts.put([("other", Attempt.of("a", "x"))])


def test_a_store_that_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(f"sqlite:///{path}?timeout=0.05") as store:
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        assert store.runs.newest() == []
        with pytest.raises(StoreError, match=rf"{path} is locked by another process \(fix"):
            store.attempts.put([("key", Attempt.of("a", "x"))])
        writer.execute("ROLLBACK")
        writer.close()
        store.attempts.put([("key", Attempt.of("a", "x"))])
        assert store.attempts.stored_keys(["key"]) == {"key"}


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me@host/db", "cannot be kept in 'mysql'"),
        ("sqlite://", "must outlive the process"),
        (":memory:", "must outlive the process"),
        ("http://host:port:port/", "not a store address|cannot be kept in 'http'"),
    ],
)
def test_addresses_of_no_store(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        Store.open(url)


def test_postgresql_names_what_it_needs_and_hides_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        StoreError, match=r"needs psycopg \(fix: pip install 'proctor\[post"
    ) as caught:
        Store.open("postgresql://me:secret@localhost:1/db")
    assert "secret" not in str(caught.value)
