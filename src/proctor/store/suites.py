"""Suites in the store: each case is stored once, and linked to its positions."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import case_from, suite_from
from proctor.core.suite import Case, Message, Suite
from proctor.errors import StoreError
from proctor.io.concurrency import tallied
from proctor.store import sql
from proctor.store.database import Database, chunks
from proctor.store.homes import Homes
from proctor.store.record_text import encode_record
from proctor.store.rows import BROKEN, Positions, SuiteRow, decode_object, encode
from proctor.store.runs import LATEST, delete_unshared
from proctor.store.scores import DAMAGED
from proctor.store.statements import statement

if TYPE_CHECKING:
    from sqlalchemy import Column, Executable

    from proctor.store.parts.reader import SuiteInParts

SHORTEST_KEY = 8
BLOCK = 1000
"""Cases that are read at once from parts."""


@statement
def described(_database: Database) -> "Executable":
    """Select the description of a suite."""
    table = sql.suites.c
    mine = table.key == sql.bindparam("suite_key")
    return sql.select(table.document, table.imported).where(mine)


@statement
def put_suite(database: Database) -> "Executable":
    """Insert a suite without its cases."""
    return database.upsert(sql.suites)


@statement
def renew_suite(database: Database) -> "Executable":
    """Insert a suite without its cases, or replace its description."""
    return database.upsert(sql.suites, replace=("dialect", "document", "imported"))


@statement
def stored_cases(_database: Database) -> "Executable":
    """Count the cases of a suite that are rows."""
    table = sql.suite_cases.c
    return sql.select(sql.func.count()).where(table.suite_key == sql.bindparam("suite_key"))


@statement
def describe(_database: Database) -> "Executable":
    """Give a suite its current description."""
    new: Any = {name: sql.bindparam(f"new_{name}") for name in ("dialect", "document", "imported")}
    mine = sql.suites.c.key == sql.bindparam("suite")
    return sql.update(sql.suites).where(mine).values(new)


@statement
def put_cases(database: Database) -> "Executable":
    """Insert the contents of cases; existing ones are kept."""
    return database.upsert(sql.cases)


@statement
def renew_cases(database: Database) -> "Executable":
    """Insert or replace the contents of cases."""
    return database.upsert(sql.cases, replace=("document",))


@statement
def place_cases(database: Database) -> "Executable":
    """Insert the positions of cases in a suite; existing ones are kept."""
    return database.upsert(sql.suite_cases)


@statement
def renew_places(database: Database) -> "Executable":
    """Insert the positions of cases in a suite, or replace their sources."""
    return database.upsert(sql.suite_cases, replace=("source",))


class Suites:
    """Suites and their cases."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self.homes = homes

    def put(
        self,
        suite: Suite,
        key: str,
        cases: Sequence[tuple[str, Case]],
        *,
        imported: bool = False,
        created: float = 0.0,
    ) -> None:
        """Store a suite with its cases and their keys, in order; created now by default.

        An existing suite only gets its current description: its key guarantees the cases. What
        is not part of keys, such as the location of files, is never taken from an imported
        suite if the suite exists here; a suite read here replaces it.
        """
        row = {
            **_described(suite),
            "key": key,
            "cases": len(cases),
            "created": created or time.time(),
            "imported": int(imported),
        }
        with self._database.write() as connection:
            stored = connection.execute(described, {"suite_key": key}).first()
            if stored is None:
                self._put_cases(key, cases, imported=imported)
                connection.execute(put_suite, [row])
            elif imported:
                return
            elif self._is_cut_short(key, len(cases)):
                self._put_cases(key, cases)
            elif stored.imported or stored.document != row["document"]:
                if stored.imported:
                    self._put_cases(key, cases)
                new = {f"new_{name}": row[name] for name in ("dialect", "document", "imported")}
                connection.execute(describe, [{"suite": key, **new}])

    def get(self, key: str) -> Suite:
        """Return a suite with all its cases."""
        return replace(self.header(key), cases=tuple(c for _, _, c in self.iter_cases(key)))

    def header(self, key: str) -> Suite:
        """Return a suite without its cases."""
        row = self._database.fetch_first(
            sql.select(sql.suites.c.document).where(sql.suites.c.key == key)
        )
        if row is None:
            raise StoreError(f"the store at {self._database.place} has no suite {key!r}")
        try:
            return suite_from(decode_object(row.document), ())
        except BROKEN:
            raise StoreError(
                f"the suite {key!r} is damaged in the store at {self._database.place}"
                " (fix: run it again, or delete its runs)"
            ) from None

    def newest(self) -> list[SuiteRow]:
        """List all suites, the newest first."""
        query = sql.select(*description_columns()).order_by(
            sql.suites.c.created.desc(), sql.suites.c.key
        )
        return [suite_row(row) for row in self._database.fetch_all(query)]

    def matching(self, key: str) -> list[SuiteRow]:
        """List the suites with a key or key prefix."""
        if len(key) < SHORTEST_KEY:
            return []
        table = sql.suites.c
        query = sql.select(*description_columns()).where(table.key.startswith(key, autoescape=True))
        rows = [
            suite_row(row) for row in self._database.fetch_all(query.order_by(table.key).limit(5))
        ]
        return [row for row in rows if row.key == key] or rows

    def iter_cases(
        self, suite_key: str, *, after: int = -1, limit: int | None = None
    ) -> Iterator[tuple[int, str, Case]]:
        """Yield position, key and case in order, reading a page at a time."""
        if (home := self.homes.suite(suite_key)) is not None:
            yield from self._iter_parts(home, after, limit)
            return
        query = (
            sql.select(
                sql.suite_cases.c.position,
                sql.suite_cases.c.case_key,
                sql.suite_cases.c.case_id,
                sql.suite_cases.c.source,
                sql.cases.c.document,
            )
            .join(sql.cases, sql.cases.c.key == sql.suite_cases.c.case_key)
            .where(sql.suite_cases.c.suite_key == suite_key)
        )
        for row in self._database.fetch_pages(query, sql.suite_cases.c.position, after, limit):
            yield row.position, row.case_key, case_or_broken(row)

    def _iter_parts(
        self, home: "SuiteInParts", after: int, limit: int | None
    ) -> Iterator[tuple[int, str, Case]]:
        end = home.end if limit is None else min(home.end, after + 1 + limit)
        for first in range(after + 1, end, BLOCK):
            within = Positions(first, min(first + BLOCK, end) - 1)
            for row in home.cases(within):
                yield row.position, home.key_of(row), case_or_broken(row)

    def cases_at(self, suite_key: str, within: Positions) -> dict[int, Case]:
        """Return the cases at some positions."""
        if (home := self.homes.suite(suite_key)) is not None:
            return {row.position: case_or_broken(row) for row in home.cases(within)}
        table = sql.suite_cases.c
        query = (
            sql.select(table.position, table.case_id, table.source, sql.cases.c.document)
            .outerjoin(sql.cases, sql.cases.c.key == table.case_key)
            .where(table.suite_key == suite_key, within.sql(table.position))
        )
        return {row.position: case_or_broken(row) for row in self._database.fetch_all(query)}

    def places_of(self, suite_key: str, case_id: str) -> Sequence[int]:
        """Return the positions of the cases with an id."""
        if (home := self.homes.suite(suite_key)) is not None:
            return list(home.ids.find([case_id]).values())
        table = sql.suite_cases.c
        where = (table.suite_key == suite_key, table.case_id == case_id)
        query = sql.select(table.position).where(*where).order_by(table.position)
        return [row.position for row in self._database.fetch_all(query)]

    def case_keys(self, suite_key: str, case_ids: Iterable[str]) -> dict[str, str]:
        """Return the keys of the contents of some cases, by id."""
        if (home := self.homes.suite(suite_key)) is not None:
            places = home.ids.find(case_ids).values()
            return {row.case_id: home.key_of(row) for row in home.cases(Positions.of(places))}
        table = sql.suite_cases.c
        query = sql.select(table.case_id, table.case_key)
        rows = self._database.fetch_cases(query, table.suite_key, suite_key, case_ids)
        return {row.case_id: row.case_key for row in rows}

    def cases_by_id(self, suite_key: str, case_ids: Iterable[str]) -> dict[str, Case]:
        """Return some cases of a suite by id; what cannot be read is left out."""
        if (home := self.homes.suite(suite_key)) is not None:
            places = home.ids.find(case_ids).values()
            rows = [(row.case_id, row.document) for row in home.cases(Positions.of(places))]
        else:
            table = sql.suite_cases.c
            query = sql.select(table.case_id, sql.cases.c.document)
            query = query.join(sql.cases, sql.cases.c.key == table.case_key)
            fetched = self._database.fetch_cases(query, table.suite_key, suite_key, case_ids)
            rows = [tuple(row) for row in fetched]
        cases: dict[str, Case] = {}
        for case_id, document in rows:
            with suppress(*BROKEN):
                cases[case_id] = read_case(document, "")
        return cases

    def put_header(self, suite: Suite, key: str, cases: int) -> None:
        """Store a suite without its cases, which are put as parts."""
        row = {
            **_described(suite),
            "key": key,
            "cases": cases,
            "created": time.time(),
            "imported": 0,
        }
        with self._database.write() as connection:
            connection.execute(renew_suite, [row])

    def has_cases(self, key: str, cases: int) -> bool:
        """Tell whether all cases of a suite are stored, in rows or in parts."""
        if (home := self.homes.suite(key)) is not None:
            return home.end >= cases
        return self._database.count(stored_cases, {"suite_key": key}) >= cases

    def _is_cut_short(self, key: str, cases: int) -> bool:
        """Tell whether a suite has some of its cases in parts, and not all."""
        home = self.homes.suite(key)
        return home is not None and home.end < cases

    def _put_cases(
        self, suite_key: str, cases: Iterable[tuple[str, Case]], *, imported: bool = False
    ) -> None:
        self.homes.leave_suite_parts(suite_key)
        content, places = (put_cases, place_cases) if imported else (renew_cases, renew_places)
        with self._database.write() as connection:
            for chunk in chunks(enumerate(tallied("store", cases))):
                documents = [
                    # Where a case was read stands beside its place in a suite.
                    {"key": key, "document": encode_record(case, without="source")}
                    for _, (key, case) in chunk
                ]
                links = [
                    {
                        "suite_key": suite_key,
                        "position": position,
                        "case_key": key,
                        "case_id": case.id,
                        "source": case.source,
                    }
                    for position, (key, case) in chunk
                ]
                connection.execute(content, documents)
                connection.execute(places, links)


COLUMNS = ("key", "name", "version", "dialect", "cases", "created", "imported")
"""What describes a suite in a list."""


def description_columns() -> "list[Column[Any]]":
    """Return the columns that describe suites."""
    return [sql.suites.c[name] for name in COLUMNS]


def suite_row(row: Any) -> SuiteRow:
    """Build the description of a suite from its row; other columns are ignored."""
    values = {name: getattr(row, name) for name in COLUMNS}
    created = row.created if 0 <= row.created <= LATEST else 0.0
    described = {"key": str(row.key), "imported": row.imported != 0, "created": created}
    return SuiteRow(**values | described)


def _described(suite: Suite) -> dict[str, str]:
    return {
        "name": suite.name,
        "version": suite.version,
        "dialect": suite.dialect,
        "document": encode(replace(suite, cases=())),
    }


def read_case(document: str, source: str) -> Case:
    """Build a case from its document and its source in this suite."""
    return case_from(decode_object(document) | {"source": source})


def drop_case_rows(database: Database, suite_key: str) -> None:
    """Delete the rows of a suite's cases, which are parts now."""
    with database.write() as connection:
        delete_unshared(connection, sql.cases, sql.suite_cases.c.case_key, suite_key)
        placed = sql.suite_cases.c.suite_key == suite_key
        connection.execute(sql.delete(sql.suite_cases).where(placed))


def lost_case(position: int) -> Case:
    """Return what stands for a case that is not in the store any more."""
    message = Message(role="system", content="This case is not in the store any more.")
    return Case(id=f"case {position + 1}", messages=(message,), criteria=())


def damaged_attempt(case_id: str, number: int) -> Attempt:
    """Return what stands for an attempt that cannot be read."""
    return Attempt(case_id=case_id, index=number, status=AttemptStatus.ERROR, error=DAMAGED)


def case_or_broken(row: Any) -> Case:
    """Build a case from its row; an unreadable one has only its id and a notice."""
    try:
        return read_case(row.document, row.source)
    except BROKEN:
        message = Message(role="system", content="This case is damaged in the store.")
        return Case(id=row.case_id, messages=(message,), criteria=(), source=row.source)
