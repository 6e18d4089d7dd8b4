"""Calls of models, so that none is bought twice, and what people said of attempts."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from proctor.store.database import Database, among
from proctor.store.document import decode, encode
from proctor.store.rows import CallRow, Label
from proctor.store.schema import calls as call_table
from proctor.store.schema import labels as label_table

_DOCUMENTS = ("request", "response", "usage")
_CALLS = among(select(call_table), call_table.c.key)
_COLUMNS = tuple(column.name for column in call_table.c)
_UNUSABLE = (
    update(call_table)
    .where(
        call_table.c.key == bindparam("call_key"),
        call_table.c.created == bindparam("call_created"),
        call_table.c.status == "ok",
    )
    .values(status="unusable")
)


class Calls(Database):
    """Keep calls and labels."""

    def put_calls(self, calls: Iterable[CallRow]) -> None:
        """Store calls; one that is there stays, unless nothing usable came of it."""
        replace = [column.name for column in call_table.c if column.name != "key"]
        failed = call_table.c.status != "ok"
        statement = self._upsert(call_table, replace=replace, where=failed)
        self._put(statement, (_row(call) for call in calls))

    def put_call(self, call: CallRow) -> None:
        """Store one call."""
        self.put_calls([call])

    def discard_calls(self, calls: Iterable[tuple[str, float]]) -> None:
        """Say of calls, by key and time, that nothing usable came of them.

        A call that was made again since then has another time, and stays as it is.
        """
        rows = ({"call_key": key, "call_created": created} for key, created in calls)
        self._put(_UNUSABLE, rows)

    def calls(self, keys: Iterable[str]) -> dict[str, CallRow]:
        """Return the stored calls by key."""
        return {row.key: _call(row) for row in self._found(_CALLS, keys)}

    def call(self, key: str) -> CallRow | None:
        """Return a stored call, none where there is no such key."""
        return self.calls([key]).get(key)

    def put_label(self, label: Label) -> int:
        """Store a label and return the id it got."""
        row = asdict(label)
        row["number"] = row.pop("index")
        del row["id"]
        with self._write(repeatable=False) as connection:
            given = connection.execute(insert(label_table).values(row)).inserted_primary_key
        return int(given[0]) if given is not None else 0

    def labels(self, run_id: str) -> list[Label]:
        """Return the labels of a run, the oldest first."""
        query = select(label_table).where(label_table.c.run_id == run_id)
        found = []
        for row in self._all(query.order_by(label_table.c.id)):
            values: dict[str, Any] = dict(row._mapping)
            found.append(Label(index=values.pop("number"), **values))
        return found


def _row(call: CallRow) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(call, name) for name in _COLUMNS}
    return row | {name: encode(row[name]) for name in _DOCUMENTS}


def _call(row: Any) -> CallRow:
    values: dict[str, Any] = dict(row._mapping)
    return CallRow(**values | {name: decode(values[name]) for name in _DOCUMENTS})
