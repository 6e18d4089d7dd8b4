"""Labels that people gave attempts."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import insert, select

from proctor.store.database import Database
from proctor.store.rows import Label
from proctor.store.schema import labels as label_table


class Labels:
    """Labels of attempts, or of one criterion on them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, label: Label) -> int:
        """Store a label and return its id."""
        row = asdict(label)
        row["number"] = row.pop("index")
        del row["id"]
        with self._database.write(repeatable=False) as connection:
            primary_key = connection.execute(insert(label_table).values(row)).inserted_primary_key
        return int(primary_key[0]) if primary_key is not None else 0

    def of_run(self, run_id: str) -> list[Label]:
        """Return the labels of a run, the oldest first."""
        query = select(label_table).where(label_table.c.run_id == run_id)
        labels = []
        for row in self._database.fetch_all(query.order_by(label_table.c.id)):
            values: dict[str, Any] = dict(row._mapping)
            labels.append(Label(index=values.pop("number"), **values))
        return labels
