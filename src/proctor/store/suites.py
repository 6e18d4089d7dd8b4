"""Suites in the store: each case is stored once, and linked to its positions."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import case_from, suite_from
from proctor.core.suite import Case, Message, Suite
from proctor.errors import StoreError
from proctor.io.concurrency import tallied
from proctor.store.database import Database, chunks
from proctor.store.rows import BROKEN, Positions, SuiteRow, decode_object, encode
from proctor.store.runs import LATEST, Homes, delete_unshared
from proctor.store.schema import cases as case_table
from proctor.store.schema import suite_cases
from proctor.store.schema import suites as suite_table
from proctor.store.scores import DAMAGED

if TYPE_CHECKING:
    from proctor.store.parts.reader import SuiteInParts

SHORTEST_KEY = 8
BLOCK = 1000
"""Cases that are read at once from parts."""


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
        table = suite_table.c
        with self._database.write() as connection:
            query = select(table.document, table.imported).where(table.key == key)
            stored = connection.execute(query).first()
            if stored is None:
                self._put_cases(key, cases, imported=imported)
                connection.execute(self._database.upsert(suite_table), [row])
            elif imported:
                return
            elif self._is_cut_short(key, len(cases)):
                self._put_cases(key, cases)
            elif stored.imported or stored.document != row["document"]:
                if stored.imported:
                    self._put_cases(key, cases)
                new = {name: row[name] for name in ("dialect", "document", "imported")}
                connection.execute(update(suite_table).where(table.key == key).values(new))

    def get(self, key: str) -> Suite:
        """Return a suite with all its cases."""
        return replace(self.header(key), cases=tuple(c for _, _, c in self.iter_cases(key)))

    def header(self, key: str) -> Suite:
        """Return a suite without its cases."""
        row = self._database.fetch_first(
            select(suite_table.c.document).where(suite_table.c.key == key)
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
        query = select(*COLUMNS).order_by(suite_table.c.created.desc(), suite_table.c.key)
        return [suite_row(row) for row in self._database.fetch_all(query)]

    def matching(self, key: str) -> list[SuiteRow]:
        """List the suites with a key or key prefix."""
        if len(key) < SHORTEST_KEY:
            return []
        table = suite_table.c
        query = select(*COLUMNS).where(table.key.startswith(key, autoescape=True))
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
            select(
                suite_cases.c.position,
                suite_cases.c.case_key,
                suite_cases.c.case_id,
                suite_cases.c.source,
                case_table.c.document,
            )
            .join(case_table, case_table.c.key == suite_cases.c.case_key)
            .where(suite_cases.c.suite_key == suite_key)
        )
        for row in self._database.fetch_pages(query, suite_cases.c.position, after, limit):
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
        table = suite_cases.c
        query = (
            select(table.position, table.case_id, table.source, case_table.c.document)
            .outerjoin(case_table, case_table.c.key == table.case_key)
            .where(table.suite_key == suite_key, within.sql(table.position))
        )
        return {row.position: case_or_broken(row) for row in self._database.fetch_all(query)}

    def places_of(self, suite_key: str, case_id: str) -> Sequence[int]:
        """Return the positions of the cases with an id."""
        if (home := self.homes.suite(suite_key)) is not None:
            return list(home.ids.find([case_id]).values())
        table = suite_cases.c
        where = (table.suite_key == suite_key, table.case_id == case_id)
        query = select(table.position).where(*where).order_by(table.position)
        return [row.position for row in self._database.fetch_all(query)]

    def case_keys(self, suite_key: str, case_ids: Iterable[str]) -> dict[str, str]:
        """Return the keys of the contents of some cases, by id."""
        if (home := self.homes.suite(suite_key)) is not None:
            places = home.ids.find(case_ids).values()
            return {row.case_id: home.key_of(row) for row in home.cases(Positions.of(places))}
        table = suite_cases.c
        query = select(table.case_id, table.case_key)
        rows = self._database.fetch_cases(query, table.suite_key, suite_key, case_ids)
        return {row.case_id: row.case_key for row in rows}

    def cases_by_id(self, suite_key: str, case_ids: Iterable[str]) -> dict[str, Case]:
        """Return some cases of a suite by id; what cannot be read is left out."""
        if (home := self.homes.suite(suite_key)) is not None:
            places = home.ids.find(case_ids).values()
            rows = [(row.case_id, row.document) for row in home.cases(Positions.of(places))]
        else:
            table = suite_cases.c
            query = select(table.case_id, case_table.c.document)
            query = query.join(case_table, case_table.c.key == table.case_key)
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
        replaced = ("dialect", "document", "imported")
        with self._database.write() as connection:
            connection.execute(self._database.upsert(suite_table, replace=replaced), [row])

    def has_cases(self, key: str, cases: int) -> bool:
        """Tell whether all cases of a suite are stored, in rows or in parts."""
        if (home := self.homes.suite(key)) is not None:
            return home.end >= cases
        table = suite_cases.c
        stored = select(func.count()).where(table.suite_key == key)
        return self._database.count(stored) >= cases

    def _is_cut_short(self, key: str, cases: int) -> bool:
        """Tell whether a suite has some of its cases in parts, and not all."""
        home = self.homes.suite(key)
        return home is not None and home.end < cases

    def _put_cases(
        self, suite_key: str, cases: Iterable[tuple[str, Case]], *, imported: bool = False
    ) -> None:
        self.homes.leave_suite_parts(suite_key)
        content, places = self._database.upsert(case_table), self._database.upsert(suite_cases)
        if not imported:
            content = self._database.upsert(case_table, replace=("document",))
            places = self._database.upsert(suite_cases, replace=("source",))
        with self._database.write() as connection:
            for chunk in chunks(enumerate(tallied("store", cases))):
                documents = [
                    {"key": key, "document": encode(replace(case, source=""))}
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


_TABLE = suite_table.c
COLUMNS = (
    *(_TABLE.key, _TABLE.name, _TABLE.version, _TABLE.dialect, _TABLE.cases, _TABLE.created),
    _TABLE.imported,
)


def suite_row(row: Any) -> SuiteRow:
    """Build the description of a suite from its row; other columns are ignored."""
    values = {column.name: getattr(row, column.name) for column in COLUMNS}
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
        delete_unshared(connection, case_table, suite_cases.c.case_key, suite_key)
        connection.execute(delete(suite_cases).where(suite_cases.c.suite_key == suite_key))


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
