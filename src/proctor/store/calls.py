"""Model calls, stored so that none is paid for twice."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from proctor.store import sql
from proctor.store.database import Database, among
from proctor.store.rows import CallRow, decode, encode
from proctor.store.statements import statement

if TYPE_CHECKING:
    from sqlalchemy import Executable

_COLUMNS = (
    "key", "model", "request", "response", "usage", "cost", "seconds", "created", "status",
)  # fmt: skip
_DOCUMENTS = ("request", "response", "usage")


@statement
def calls_among(_database: Database) -> "Executable":
    """Select calls by their keys."""
    return among(sql.select(sql.calls), sql.calls.c.key)


@statement
def put_calls(database: Database) -> "Executable":
    """Insert calls; an existing one is replaced if its reply was unusable."""
    failed = sql.calls.c.status != "ok"
    return database.upsert(sql.calls, replace=_COLUMNS[1:], where=failed)


@statement
def discard_calls(_database: Database) -> "Executable":
    """Mark calls as unusable, by key and time."""
    table = sql.calls.c
    mine = (table.key == sql.bindparam("call_key"), table.created == sql.bindparam("call_created"))
    return sql.update(sql.calls).where(*mine, table.status == "ok").values(status="unusable")


class Calls:
    """Model calls with their replies and costs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, calls: Iterable[CallRow]) -> None:
        """Store calls; an existing one is kept unless its reply was unusable."""
        self._database.execute_many(put_calls, (_row(call) for call in calls))

    def discard(self, calls: Iterable[tuple[str, float]]) -> None:
        """Mark calls, by key and time, as unusable.

        A call that was made again since then has another time, and is not marked.
        """
        rows = ({"call_key": key, "call_created": created} for key, created in calls)
        self._database.execute_many(discard_calls, rows)

    def get_many(self, keys: Iterable[str]) -> dict[str, CallRow]:
        """Return the stored calls by key."""
        stored = self._database.stored_among("calls", list(keys))
        if not stored:
            return {}
        return {row.key: _call(row) for row in self._database.fetch_keyed(calls_among, stored)}

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
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    return CallRow(**values | {name: decode(values[name]) for name in _DOCUMENTS})
