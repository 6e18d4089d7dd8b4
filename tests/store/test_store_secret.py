"""The secret of a store: each has its own, and keeps it."""

import sqlite3
from pathlib import Path

from proctor.store.connect import migrate
from proctor.store.schema import VERSION_TABLE, metadata
from proctor.store.store import Store


def test_each_store_has_keys_of_its_own_and_keeps_them(address: str, tmp_path: Path) -> None:
    with Store.open(address) as store, Store.open(str(tmp_path / "other.db")) as other:
        mine = store.secret.derive_key("export")
        assert len(mine) == 32
        assert mine != store.secret.derive_key("judge")
        assert mine != other.secret.derive_key("export")
    with Store.open(address) as again:
        assert again.secret.derive_key("export") == mine


def test_a_store_that_is_brought_up_to_date_gets_one(address: str) -> None:
    with Store.open(address) as store:
        with store.database.write() as transaction:
            connection = transaction.connection
            metadata.drop_all(connection)
            connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
            migrate(connection, "0005")
            migrate(connection)
        assert store.secret.derive_key("export") == store.secret.derive_key("export")


def test_a_lost_secret_is_drawn_again(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        before = store.secret.derive_key("export")
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM store_settings")
        database.close()
        after = store.secret.derive_key("export")
        assert before != after == store.secret.derive_key("export")
