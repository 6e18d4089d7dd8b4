"""Model calls, stored so that none is paid for twice."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, select, update

from proctor.store.database import Database, among
from proctor.store.rows import CallRow, decode, encode
from proctor.store.schema import calls as call_table

_DOCUMENTS = ("request", "response", "usage")
_CALLS = among(select(call_table), call_table.c.key)
_REPLACED = tuple(column.name for column in call_table.c if column.name != "key")
_FAILED = call_table.c.status != "ok"
_UNUSABLE = (
    update(call_table)
    .where(
        call_table.c.key == bindparam("call_key"),
        call_table.c.created == bindparam("call_created"),
        call_table.c.status == "ok",
    )
    .values(status="unusable")
)


class Calls:
    """Model calls with their replies and costs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, calls: Iterable[CallRow]) -> None:
        """Store calls; an existing one is kept unless its reply was unusable."""
        statement = self._database.upsert(call_table, replace=_REPLACED, where=_FAILED)
        self._database.execute_many(statement, (_row(call) for call in calls))

    def discard(self, calls: Iterable[tuple[str, float]]) -> None:
        """Mark calls, by key and time, as unusable.

        A call that was made again since then has another time, and is not marked.
        """
        rows = ({"call_key": key, "call_created": created} for key, created in calls)
        self._database.execute_many(_UNUSABLE, rows)

    def get_many(self, keys: Iterable[str]) -> dict[str, CallRow]:
        """Return the stored calls by key."""
        stored = self._database.stored_among(call_table, list(keys))
        if not stored:
            return {}
        return {row.key: _call(row) for row in self._database.fetch_keyed(_CALLS, stored)}

    def find(self, key: str) -> CallRow | None:
        """Return a stored call, or None."""
        return self.get_many([key]).get(key)


def _row(call: CallRow) -> dict[str, Any]:
    return {
        "key": call.key,
        "model": call.model,
        "request": encode(call.request),
        "response": encode(call.response),
        "usage": encode(call.usage),
        "cost": call.cost,
        "seconds": call.seconds,
        "created": call.created,
        "status": call.status,
    }


def _call(row: Any) -> CallRow:
    values: dict[str, Any] = dict(row._mapping)
    return CallRow(**values | {name: decode(values[name]) for name in _DOCUMENTS})
