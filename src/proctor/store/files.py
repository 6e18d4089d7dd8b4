"""Files in the store, by the key of their content: what agents left behind."""

from collections.abc import Iterable, Mapping

from sqlalchemy import select

from proctor.errors import StoreError
from proctor.store.database import Database
from proctor.store.schema import files as table


class Files:
    """Files by the key of their content; the same content is stored once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Store contents by their key."""
        self._database.execute_many(
            self._database.upsert(table),
            (
                {"key": key, "size": len(content), "content": content}
                for key, content in contents.items()
            ),
        )

    def get(self, key: str) -> bytes:
        """Return the content of a key, or raise a StoreError."""
        if (content := self.get_many([key]).get(key)) is None:
            raise StoreError(f"the store at {self._database.place} has no file {key}")
        return content

    def sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the sizes in bytes of the contents that are there, by key."""
        return dict(
            self._database.fetch_among(select(table.c.key, table.c.size), table.c.key, keys)
        )

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the contents that are there, by key."""
        rows = self._database.fetch_among(select(table.c.key, table.c.content), table.c.key, keys)
        return {key: bytes(content) for key, content in rows}
