"""Upkeep of a store: how much room its content takes, and what can go."""

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    Table,
    cast,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from proctor.core.run import Run, RunStatus
from proctor.errors import StoreError
from proctor.store import searching
from proctor.store.database import Database
from proctor.store.failure_messages import translated
from proctor.store.parts.claims import size_of
from proctor.store.schema import (
    attempt_files,
    attempts,
    audits,
    baselines,
    batch_calls,
    batches,
    calls,
    cases,
    comparisons,
    files,
    labels,
    metadata,
    run_attempts,
    run_parts,
    run_results,
    run_scores,
    run_tags,
    runs,
    scans,
    scores,
    searched,
    suite_cases,
    suite_parts,
    suites,
    summaries,
    total_size,
)
from proctor.store.store import Store

SEARCH = "search index"
KINDS: Mapping[str, Sequence[Table]] = {
    "suites": (cases, suite_cases, suites, suite_parts),
    "attempts": (attempts, run_attempts),
    "scores": (scores, run_scores),
    "results": (run_results, run_tags, runs, run_parts, summaries, baselines),
    "model calls and programs": (calls, batches, batch_calls),
    "files of agents": (files, attempt_files),
    "labels, audits, battles": (labels, audits, scans, comparisons),
    SEARCH: (searched,),
}
"""What a store holds; the first table of each kind is the one whose rows are counted."""
PATIENCE = 2.0
"""Seconds to wait for readers before the room of what was removed is left in the database."""
_SEARCH_TABLE = "search_texts"
_UNFINISHED = (RunStatus.INTERRUPTED, RunStatus.REFUSED)


@dataclass(frozen=True, slots=True)
class KindSize:
    """How much of one kind of content there is."""

    kind: str
    rows: int
    size: int
    """Bytes, indexes included."""


@dataclass(frozen=True, slots=True)
class RunSize:
    """How much content a run refers to; what several runs share counts for each."""

    run: Run
    attempts: int
    scores: int
    size: int
    """Bytes of its attempts, scores and parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSize:
    """How much room a store takes."""

    kinds: Sequence[KindSize]
    runs: Sequence[RunSize]
    free: int
    """Bytes in the database that nothing uses."""
    database: int
    """Bytes of the database with its latest changes, which may still be in the journal."""
    file: int
    """Bytes of its file; for a server, those of the database."""
    journal: int
    """Bytes of the file with the latest changes, beside a store that is a file."""
    parts: int
    """Bytes of committed parts of large runs."""
    unused_parts: int
    """Bytes of files that no run or suite has committed."""
    estimated: bool = False
    """Whether sizes by kind are those of texts alone, since the database counts no pages."""

    @property
    def total(self) -> int:
        """Return the bytes of all of it."""
        return self.file + self.journal + self.parts + self.unused_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneChoice:
    """Which runs, and what besides, may go."""

    before: float | None = None
    """Runs that were started earlier, in seconds since 1970, and calls that were made earlier."""
    keep: int | None = None
    """How many runs of each suite stay, the newest ones."""
    unfinished: bool = False
    """Runs that were interrupted or refused, and no others."""
    calls: bool = False
    """Also replies of models and results of programs, which would have to be made again."""

    @property
    def names_runs(self) -> bool:
        """Tell whether any run may go at all."""
        return self.before is not None or self.keep is not None or self.unfinished


@dataclass(slots=True)
class Pruned:
    """What was removed, or would be."""

    runs: list[Run] = field(default_factory=list)
    labelled: list[Run] = field(default_factory=list)
    """Runs that stay because people have labelled them."""
    pinned: list[Run] = field(default_factory=list)
    """Runs that stay because they are the baseline of their suite."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows that no run refers to, by kind; without those that go with runs."""
    part_bytes: int = 0
    freed: int | None = None
    """By how many bytes the store has become smaller."""
    not_compacted: str = ""
    """Why the database could not be made smaller, if so."""

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to remove."""
        return not self.runs and not any(self.rows.values()) and not self.part_bytes


def store_size(store: Store) -> StoreSize:
    """Measure how much room a store takes, and what takes it."""
    database = store.database
    sizes, estimated = _table_sizes(database)
    kinds = []
    for kind, tables in KINDS.items():
        size = sum(sizes.get(table.name, 0) for table in tables)
        if kind == SEARCH:
            size += sum(s for name, s in sizes.items() if name.startswith(_SEARCH_TABLE))
        rows = database.count(select(func.count()).select_from(tables[0]))
        if kind == SEARCH:
            rows = database.count(select(func.coalesce(func.sum(searched.c.cases), 0)))
        kinds.append(KindSize(kind, rows, size))
    whole, free = _database_bytes(database, sizes)
    file = database.file
    return StoreSize(
        kinds=kinds,
        runs=list(_run_sizes(store)),
        free=free,
        database=whole,
        file=whole if file is None else os.path.getsize(file.path),
        journal=_journal_bytes(database),
        parts=sum(_part_sizes(database, run_parts).values())
        + sum(_part_sizes(database, suite_parts).values()),
        unused_parts=sum(map(size_of, _unused_files(store))),
        estimated=estimated,
    )


def to_prune(store: Store, choice: PruneChoice) -> Pruned:
    """Tell what ``prune`` would remove."""
    plan = Pruned()
    _choose_runs(store, choice, plan)
    database = store.database
    for kind, table, unused in _unused(database, choice):
        count = database.count(select(func.count()).select_from(table).where(unused))
        plan.rows[kind] = plan.rows.get(kind, 0) + count
    plan.part_bytes = sum(map(size_of, _unused_files(store)))
    return plan


def prune(store: Store, choice: PruneChoice) -> Pruned:
    """Remove runs that were chosen and all that no run refers to; give the room back.

    All rows go in one transaction, or none; no other process may be working on a run.
    """
    database = store.database
    before = _bytes_of(store)
    done = Pruned()
    with store.locks.whole_store():
        elsewhere = _places_elsewhere(database)
        with database.write() as connection:
            _refuse_while_working(store)
            _choose_runs(store, choice, done)
            for run in done.runs:
                store.runs.delete(run.id)
            for kind, table, unused in _unused(database, choice):
                count = connection.execute(delete(table).where(unused)).rowcount
                done.rows[kind] = done.rows.get(kind, 0) + count
            if done.rows.get(SEARCH):
                searching.empty(connection)
        if gone := elsewhere - _places_elsewhere(database):
            store.parts.delete_files(gone)
        done.part_bytes += store.parts.clear() + store.parts.sweep(older=0)
        done.not_compacted = _compact(database)
    after = _bytes_of(store)
    done.freed = None if before is None or after is None else max(0, before - after)
    return done


def _refuse_while_working(store: Store) -> None:
    """Raise a StoreError where a process on any machine shows that it works on a run."""
    for run in store.runs.newest(limit=None):
        if run.status is RunStatus.RUNNING:
            raise StoreError(
                f"the run {run.name!r} is being made by another process (fix: wait until it has"
                " ended, or end it)"
            )


def _choose_runs(store: Store, choice: PruneChoice, plan: Pruned) -> None:
    """Note the runs that may go, and those that stay for the sake of their labels."""
    if not choice.names_runs:
        return
    seen: dict[str, int] = {}
    for run in store.runs.newest(limit=None):
        newer = seen.get(run.suite_key, 0)
        seen[run.suite_key] = newer + 1
        if run.status is RunStatus.RUNNING:
            continue
        if choice.before is not None and run.started >= choice.before:
            continue
        if choice.keep is not None and newer < choice.keep:
            continue
        if choice.unfinished and run.status not in _UNFINISHED:
            continue
        if database_has(store.database, baselines, baselines.c.run_id == run.id):
            plan.pinned.append(run)
            continue
        labelled = database_has(store.database, labels, labels.c.run_id == run.id)
        (plan.labelled if labelled else plan.runs).append(run)


def database_has(database: Database, table: Table, condition: ColumnElement[bool]) -> bool:
    """Tell whether a table has a row that fulfils a condition."""
    query: Select[Any] = select(literal_column("1")).select_from(table).where(condition).limit(1)
    return database.fetch_first(query) is not None


def _unused(
    database: Database, choice: PruneChoice
) -> Iterator[tuple[str, Table, ColumnElement[bool]]]:
    """Yield what no run refers to, as kind, table and condition, in the order of deletion."""
    run_owned = (
        *(("attempts", run_attempts), ("scores", run_scores), ("results", run_results)),
        *(("results", run_tags), ("results", summaries), ("results", run_parts)),
        ("results", baselines),
        *(("labels, audits, battles", labels), ("labels, audits, battles", audits)),
        ("labels, audits, battles", scans),
    )
    for kind, table in run_owned:
        yield kind, table, ~exists().where(runs.c.id == table.c.run_id)
    first, second = runs.alias(), runs.alias()
    yield (
        "labels, audits, battles",
        comparisons,
        or_(
            ~exists().where(first.c.id == comparisons.c.first_run),
            ~exists().where(second.c.id == comparisons.c.second_run),
        ),
    )
    yield "attempts", attempts, ~exists().where(run_attempts.c.attempt_key == attempts.c.key)
    yield "scores", scores, ~exists().where(run_scores.c.score_key == scores.c.key)
    yield "suites", suites, ~exists().where(runs.c.suite_key == suites.c.key)
    for table in (suite_cases, suite_parts):
        yield "suites", table, ~exists().where(suites.c.key == table.c.suite_key)
    yield "suites", cases, ~exists().where(suite_cases.c.case_key == cases.c.key)
    gone = ~exists().where(attempts.c.key == attempt_files.c.attempt_key)
    yield "files of agents", attempt_files, gone
    yield "files of agents", files, ~exists().where(attempt_files.c.file_key == files.c.key)
    # One text of the index cannot be taken out: where some are stale, it is made anew.
    if database_has(database, searched, ~exists().where(runs.c.id == searched.c.run_id)):
        yield SEARCH, searched, searched.c.number >= 0
    if choice.calls:
        old = calls.c.created < (time.time() + 1 if choice.before is None else choice.before)
        yield "model calls and programs", calls, old


def _run_sizes(store: Store) -> Iterator[RunSize]:
    database = store.database
    parts = _part_sizes(database, run_parts)
    by_table = []
    for link, key, content in (
        (run_attempts, run_attempts.c.attempt_key, attempts),
        (run_scores, run_scores.c.score_key, scores),
    ):
        query = (
            select(link.c.run_id, func.count(), func.sum(_bytes(database, content.c.document)))
            .select_from(link.outerjoin(content, content.c.key == key))
            .group_by(link.c.run_id)
        )
        by_table.append({row[0]: (row[1], row[2] or 0) for row in database.fetch_all(query)})
    table = run_parts.c
    counted = select(table.run_id, func.sum(table.attempts), func.sum(table.scores))
    in_parts = {
        row[0]: (row[1], row[2]) for row in database.fetch_all(counted.group_by(table.run_id))
    }
    for run in store.runs.newest(limit=None):
        tried, scored = (rows.get(run.id, (0, 0)) for rows in by_table)
        more = in_parts.get(run.id, (0, 0))
        size = tried[1] + scored[1] + parts.get(run.id, 0)
        yield RunSize(run, int(tried[0] + more[0]), int(scored[0] + more[1]), int(size))


def _bytes(database: Database, column: Any) -> Any:
    if database.is_sqlite:
        return func.length(cast(column, LargeBinary))
    return func.octet_length(column)


def _table_sizes(database: Database) -> tuple[dict[str, int], bool]:
    """Return bytes by table, indexes included, and whether they are only estimated."""
    if not database.is_sqlite:
        names = [*metadata.tables, _SEARCH_TABLE]
        query = text(
            "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname = ANY(:names)"
        )
        with database.read() as connection:
            rows = connection.execute(query, {"names": names}).all()
        return {row[0]: int(row[1]) for row in rows}, False
    query = text(
        "SELECT m.tbl_name, SUM(d.pgsize) FROM dbstat d JOIN sqlite_master m ON m.name = d.name"
        " WHERE d.aggregate = TRUE GROUP BY m.tbl_name"
    )
    try:
        with database.engine.connect() as connection:
            return {row[0]: int(row[1]) for row in connection.execute(query)}, False
    except DBAPIError:
        return dict(_text_sizes(database)), True


def _text_sizes(database: Database) -> Iterator[tuple[str, int]]:
    for name, table in metadata.tables.items():
        whole = sum((func.coalesce(_bytes(database, column), 0) for column in table.c), start=0)
        row = database.fetch_first(select(func.sum(whole)).select_from(table))
        yield name, int(row[0] or 0) if row is not None else 0


def _database_bytes(database: Database, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the bytes of the database, and how many of them nothing uses."""
    if not database.is_sqlite:
        return sum(sizes.values()), 0
    with translated(database.place), database.read() as connection:
        pragmas = ("page_size", "page_count", "freelist_count")
        size, count, free = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()) for name in pragmas
        )
        return size * count, size * free


def _journal_bytes(database: Database) -> int:
    file = database.file
    try:
        return os.path.getsize(f"{file.path}-wal") if file is not None else 0
    except OSError:
        return 0


def _bytes_of(store: Store) -> int | None:
    """Return the bytes of a store that is a file, as its folder shows them."""
    file = store.database.file
    if file is None:
        return None
    parts = 0
    for folder, _, names in os.walk(f"{file.path}.parts"):
        parts += sum(os.path.getsize(os.path.join(folder, name)) for name in names)
    return os.path.getsize(file.path) + _journal_bytes(store.database) + parts


def _part_sizes(database: Database, table: Table) -> dict[str, int]:
    owner = next(iter(table.primary_key))
    query = select(owner, total_size(table)).group_by(owner)
    return {row[0]: int(row[1] or 0) for row in database.fetch_all(query)}


def _unused_files(store: Store) -> Iterator[Path]:
    """Yield the files beside the store that belong to no part, and what dead processes left.

    At another address, which several stores may share, nobody knows to whom a file belongs.
    """
    yield from store.parts.unused()
    yield from store.parts.scratch()


def _places_elsewhere(database: Database) -> set[str]:
    """Return the places of parts at another address."""
    return {place for place in _places(database) if "://" in place}


def _places(database: Database) -> set[str]:
    tables = (run_parts, suite_parts)
    return {row.place for one in tables for row in database.fetch_all(select(one.c.place))}


def _compact(database: Database) -> str:
    """Give back the room of what was removed; return why that failed, or an empty text."""
    try:
        if database.is_sqlite:
            # Not through the engine, which begins a transaction with every statement.
            with closing(database.engine.raw_connection()) as connection:
                driver: Any = connection.driver_connection
                # A reader that never ends may have the room for itself.
                driver.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}").fetchall()
                driver.execute("VACUUM")
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                connection.invalidate()
        else:
            with database.reader.connect() as session:
                session.exec_driver_sql("VACUUM")
    except (DBAPIError, sqlite3.Error) as error:
        return next(iter(str(error).splitlines()), "the database refused")
    return ""
