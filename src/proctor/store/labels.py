"""Labels that people gave to attempts, audits of judges and scans of transcripts, in the store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, delete, distinct, func, insert, select

from proctor.core.suite import Json
from proctor.store.database import Database, chunks
from proctor.store.rows import (
    BROKEN,
    Label,
    decode_object,
    encode,
)
from proctor.store.schema import (
    audits,
    scans,
)
from proctor.store.schema import labels as label_table

SCANNED = "scan:"
"""What the criterion of a label begins with that says whether a scan's mark is right."""


class Labels:
    """Labels of attempts, or of one criterion on them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, label: Label) -> int:
        """Store a label and return its id."""
        with self._database.write(repeatable=False) as connection:
            statement = insert(label_table).values(_row(label))
            primary_key = connection.execute(statement).inserted_primary_key
        return int(primary_key[0]) if primary_key is not None else 0

    def add_many(self, labels: Iterable[Label]) -> None:
        """Store labels, all of them or none."""
        with self._database.write(repeatable=False) as connection:
            for chunk in chunks(labels):
                connection.execute(insert(label_table), [_row(label) for label in chunk])

    def remove(self, label_id: int) -> None:
        """Delete a label."""
        with self._database.write() as connection:
            connection.execute(delete(label_table).where(label_table.c.id == label_id))

    def criteria(self, run_id: str) -> dict[str, int]:
        """Return how many cases of a run have labels by each criterion, the most first.

        Labels of what scans mark are not of a criterion of the run, and labels of people who had
        seen the verdict say nothing of the judge.
        """
        table = label_table.c
        number = func.count(distinct(table.case_id))
        query = select(table.criterion, number).where(table.run_id == run_id)
        query = query.where(table.points.is_not(None), table.criterion.not_like(f"{SCANNED}%"))
        query = query.where(table.seen == 0)
        query = query.group_by(table.criterion)
        counts = [(int(row[1]), row[0]) for row in self._database.fetch_all(query)]
        return {
            criterion: count for count, criterion in sorted(counts, key=lambda c: (-c[0], c[1]))
        }

    def of_run(self, run_id: str) -> list[Label]:
        """Return the labels of a run, the oldest first."""
        return self._labels(label_table.c.run_id == run_id)

    def of_case(self, run_id: str, case_id: str) -> list[Label]:
        """Return the labels of a case of a run, the oldest first."""
        return self._labels(label_table.c.run_id == run_id, label_table.c.case_id == case_id)

    def of_cases(self, run_id: str, case_ids: Sequence[str]) -> dict[str, list[Label]]:
        """Return the labels of some cases of a run by case, the oldest first."""
        by_case: dict[str, list[Label]] = {}
        if case_ids:
            chosen = label_table.c.case_id.in_(case_ids)
            for label in self._labels(label_table.c.run_id == run_id, chosen):
                by_case.setdefault(label.case_id, []).append(label)
        return by_case

    def _labels(self, *where: ColumnElement[bool]) -> list[Label]:
        query = select(label_table).where(*where).order_by(label_table.c.id)
        labels = []
        for row in self._database.fetch_all(query):
            values: dict[str, Any] = dict(row._mapping)
            index, seen = values.pop("number"), bool(values.pop("seen"))
            labels.append(Label(index=index, seen=seen, **values))
        return labels


class Audits:
    """What audits of judges found out on the answers of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, run_id: str, judge: str, created: float, audit: Mapping[str, Json]) -> None:
        """Store an audit, or replace that of the same judge."""
        row = {"run_id": run_id, "judge": judge, "created": created, "document": encode(audit)}
        statement = self._database.upsert(audits, replace=("created", "document"))
        self._database.execute_many(statement, [row])

    def of_run(self, run_id: str) -> list[dict[str, Json]]:
        """Return the audits of a run, the newest first; damaged ones are left out."""
        query = select(audits.c.document).where(audits.c.run_id == run_id)
        documents = []
        for row in self._database.fetch_all(query.order_by(audits.c.created.desc())):
            try:
                documents.append(decode_object(row.document))
            except BROKEN:
                continue
        return documents


class Scans:
    """What judges marked in the transcripts of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(
        self, run_id: str, kind: str, judge: str, created: float, scan: Mapping[str, Json]
    ) -> None:
        """Store what was marked of one kind, or replace what the same judge marked before."""
        row = {"run_id": run_id, "kind": kind, "judge": judge, "created": created}
        statement = self._database.upsert(scans, replace=("created", "document"))
        self._database.execute_many(statement, [{**row, "document": encode(scan)}])

    def of_run(self, run_id: str) -> list[dict[str, Json]]:
        """Return the newest scan of each kind, the newest first; damaged ones are left out."""
        query = select(scans.c.kind, scans.c.document).where(scans.c.run_id == run_id)
        newest: dict[str, dict[str, Json]] = {}
        for row in self._database.fetch_all(query.order_by(scans.c.created.desc())):
            try:
                newest.setdefault(row.kind, decode_object(row.document))
            except BROKEN:
                continue
        return list(newest.values())


def _row(label: Label) -> dict[str, Any]:
    row = asdict(label)
    row["number"] = row.pop("index")
    del row["id"]
    return row
