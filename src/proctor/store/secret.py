"""The secret of a store: drawn when the store is made, and never shown by itself."""

import hashlib
import hmac
import secrets

from sqlalchemy import Connection, insert, select

from proctor.store.database import Database
from proctor.store.schema import store_settings as table

_NAME = "secret"


class Secret:
    """The secret of a store, from which only it and its copies can derive keys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def derive_key(self, purpose: str) -> bytes:
        """Return the 32 bytes that this store has for a purpose; no purpose tells another's."""
        return hmac.new(self._secret(), purpose.encode(), hashlib.sha256).digest()

    def _secret(self) -> bytes:
        query = select(table.c.value).where(table.c.name == _NAME)
        row = self._database.fetch_first(query)
        if row is None:
            # Somebody emptied the table: whoever draws first has drawn for all.
            self._database.execute_many(self._database.upsert(table), [new_secret()])
            row = self._database.fetch_first(query)
            assert row is not None
        return bytes.fromhex(row.value)


def draw_secret(connection: Connection) -> None:
    """Give a new store its secret."""
    connection.execute(insert(table), [new_secret()])


def new_secret() -> dict[str, str]:
    """Return the row of a secret that nobody else has."""
    return {"name": _NAME, "value": secrets.token_hex(32)}
