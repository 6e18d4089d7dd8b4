"""Numbers of a run: the result of each case, and the totals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from proctor.core.case_value import ValueStatus
from proctor.core.suite import Json
from proctor.store import sql
from proctor.store.database import Database, chunks
from proctor.store.homes import Homes
from proctor.store.rows import (
    BROKEN,
    Positions,
    ResultRow,
    SortKeys,
    decode_object,
    encode,
    read_tags,
    tags_of,
)
from proctor.store.runs import forget_texts
from proctor.store.statements import statement

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Executable


@statement
def delete_results(_database: Database) -> "Executable":
    """Delete the rows of a run."""
    return sql.delete(sql.run_results).where(sql.run_results.c.run_id == sql.bindparam("run"))


@statement
def delete_tags(_database: Database) -> "Executable":
    """Delete the tags of a run."""
    return sql.delete(sql.run_tags).where(sql.run_tags.c.run_id == sql.bindparam("run"))


@statement
def insert_results(_database: Database) -> "Executable":
    """Insert rows of a run."""
    return sql.insert(sql.run_results)


@statement
def insert_tags(_database: Database) -> "Executable":
    """Insert tags of a run."""
    return sql.insert(sql.run_tags)


@statement
def summary_of(_database: Database) -> "Executable":
    """Select the totals of a run."""
    table = sql.summaries.c
    return sql.select(table.document).where(table.run_id == sql.bindparam("run_id"))


@statement
def put_summary(database: Database) -> "Executable":
    """Insert or replace the totals of a run."""
    return database.upsert(sql.summaries, replace=("document",))


class Results:
    """One row per case and run, with tags for lookup."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes

    def put(self, run_id: str, rows: Iterable[ResultRow]) -> None:
        """Replace all rows of a run."""
        with self._database.write(lock=run_id) as connection:
            for emptied in (delete_results, delete_tags):
                connection.execute(emptied, [{"run": run_id}])
            forget_texts(connection, run_id)
            for chunk in chunks(rows):
                connection.execute(insert_results, [_columns(run_id, row) for row in chunk])
                tags = [
                    {"run_id": run_id, "tag": tag, "value": value, "position": row.position}
                    for row in chunk
                    for tag, values in row.tags.items()
                    for value in dict.fromkeys(values)
                ]
                if tags:
                    connection.execute(insert_tags, tags)

    def iter_rows(
        self,
        run_id: str,
        *,
        after: int = -1,
        limit: int | None = None,
        tag: tuple[str, str] | None = None,
    ) -> Iterator[ResultRow]:
        """Yield the rows of a run in order, optionally only those with a tag's value."""
        if (home := self._homes.run(run_id)) is not None:
            yield from home.columns.iter_rows(after, limit, tag)
            return
        table = sql.run_results.c
        query = sql.select(*result_columns()).where(table.run_id == run_id)
        if tag is not None:
            query = query.join(
                sql.run_tags,
                (sql.run_tags.c.run_id == table.run_id)
                & (sql.run_tags.c.position == table.position),
            ).where(sql.run_tags.c.tag == tag[0], sql.run_tags.c.value == tag[1])
        for row in self._database.fetch_pages(query, table.position, after, limit):
            yield row_of(row)

    def count(self, run_id: str) -> int:
        """Return the number of cases of a run."""
        if (home := self._homes.run(run_id)) is not None:
            return home.end
        return self._database.count(
            sql.select(sql.func.count()).where(sql.run_results.c.run_id == run_id)
        )

    def tags_of(
        self, run_id: str, case_ids: Iterable[str]
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the tags of some cases of a run; unknown ids are left out."""
        if (home := self._homes.run(run_id)) is not None:
            places = home.columns.find(case_ids)
            return {case_id: home.columns.tags_at(place) for case_id, place in places.items()}
        table = sql.run_results.c
        query = sql.select(table.case_id, table.tags)
        rows = self._database.fetch_cases(query, table.run_id, run_id, case_ids)
        return {row.case_id: tags_of(row.tags) for row in rows}

    def clusters_among(self, run_id: str, case_ids: Iterable[str]) -> dict[str, str]:
        """Return the clusters of some cases of a run; those without one are left out."""
        if (home := self._homes.run(run_id)) is not None:
            places = home.columns.find(case_ids)
            clusters = ((case_id, home.columns.cluster.of(at)) for case_id, at in places.items())
            return {case_id: cluster for case_id, cluster in clusters if cluster is not None}
        table = sql.run_results.c
        query = sql.select(table.case_id, table.cluster).where(table.cluster.is_not(None))
        rows = self._database.fetch_cases(query, table.run_id, run_id, case_ids)
        return {row.case_id: row.cluster for row in rows}

    def values_of(self, run_id: str, case_ids: list[str]) -> dict[str, tuple[float | None, float]]:
        """Return value and full marks of some cases of a run, by id."""
        if (home := self._homes.run(run_id)) is not None:
            return home.columns.values_of(case_ids)
        table = sql.run_results.c
        query = sql.select(table.case_id, table.value, table.full)
        rows = self._database.fetch_cases(query, table.run_id, run_id, case_ids)
        return {row.case_id: (row.value, row.full) for row in rows}

    def last_position(self, run_id: str) -> int:
        """Return the place of a run's last case, -1 where it has none."""
        if (home := self._homes.run(run_id)) is not None:
            return home.end - 1
        query = sql.select(sql.func.max(sql.run_results.c.position)).where(
            sql.run_results.c.run_id == run_id
        )
        row = self._database.fetch_first(query)
        return -1 if row is None or row[0] is None else int(row[0])

    def ids_at(self, run_id: str, positions: Sequence[int]) -> dict[int, str]:
        """Return the ids of the cases at some places, a few hundred; others are left out."""
        if (home := self._homes.run(run_id)) is not None:
            places = Positions.of(positions).within(0, home.end)
            return dict(zip(places, home.columns.ids_at(places), strict=True))
        table = sql.run_results.c
        query = sql.select(table.position, table.case_id).where(table.run_id == run_id)
        rows = self._database.fetch_all(query.where(table.position.in_(positions)))
        return {row.position: row.case_id for row in rows}

    def clusters_of(self, run_id: str, positions: Iterable[int]) -> dict[int, str]:
        """Return the clusters of the cases at some places; those without one are left out."""
        if (home := self._homes.run(run_id)) is not None:
            places = Positions.of(positions).within(0, home.end)
            clusters = ((place, home.columns.cluster.of(place)) for place in places)
            return {place: cluster for place, cluster in clusters if cluster is not None}
        table = sql.run_results.c
        query = sql.select(table.position, table.cluster).where(
            table.run_id == run_id, table.cluster.is_not(None)
        )
        return {
            row.position: row.cluster
            for chunk in chunks(positions)
            for row in self._database.fetch_all(query.where(table.position.in_(chunk)))
        }

    def neighbours(self, run_id: str, position: int) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after a position in a run."""
        if self._homes.run(run_id) is not None:
            around = self.ids_at(run_id, [position - 1, position + 1])
            return around.get(position - 1), around.get(position + 1)
        place = sql.run_results.c.position
        query = sql.select(sql.run_results.c.case_id).where(sql.run_results.c.run_id == run_id)
        fetch = self._database.fetch_first
        before = fetch(query.where(place < position).order_by(place.desc()).limit(1))
        after = fetch(query.where(place > position).order_by(place).limit(1))
        return before and before.case_id, after and after.case_id


def result_columns() -> "tuple[ColumnElement[Any], ...]":
    """Return the columns that make a row, as ``row_of`` takes it."""
    others = ("run_id", *SortKeys._fields)
    return tuple(column for column in sql.run_results.c if column.name not in others)


def _columns(run_id: str, row: ResultRow) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "position": row.position,
        "case_id": row.case_id,
        "status": row.status.value,
        "value": row.value,
        "full": row.full,
        "weight": row.weight,
        "low": row.low,
        "high": row.high,
        "spread": row.spread,
        "tags": encode(row.tags) if row.tags else "{}",
        "cluster": row.cluster or None,
        **row.sort_keys._asdict(),
    }


def row_of(row: Any) -> ResultRow:
    """Build a result from its row."""
    numbers = (row.full, row.weight, row.low, row.high, row.spread, row.value)
    broken = any(number is not None and isnan(number) for number in numbers)
    status = ValueStatus.UNSCORED
    try:
        status = ValueStatus(row.status)
        tags = read_tags(row.tags)
    except BROKEN:
        broken, tags = True, {}
    cluster = row.cluster or ""
    return ResultRow(
        **{**row._mapping, "status": status, "tags": tags, "cluster": cluster, "broken": broken}
    )


class Summaries:
    """Totals of runs, one document each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, run_id: str, summary_json: Mapping[str, Json]) -> None:
        """Store or replace the totals of a run."""
        row = {"run_id": run_id, "document": encode(summary_json)}
        self._database.execute_many(put_summary, [row])

    def get(self, run_id: str) -> dict[str, Json] | None:
        """Return the totals of a run: None if there are none yet, empty if damaged."""
        row = self._database.fetch_first(summary_of, {"run_id": run_id})
        if row is None:
            return None
        try:
            return decode_object(row.document)
        except BROKEN:
            return {}
