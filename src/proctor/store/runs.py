"""Runs in the store: saving, lookup by reference, heartbeats, deletion."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from proctor.core.encoding import spec_from
from proctor.core.run import Run, RunStatus, Signature
from proctor.core.suite import Json, Spec
from proctor.errors import StoreError, UsageError
from proctor.store import sql
from proctor.store.database import Database, chunks
from proctor.store.homes import Homes
from proctor.store.rows import BROKEN, decode, decode_object, encode
from proctor.store.statements import statement
from proctor.suggestions import LOOSELY, did_you_mean, similar

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement, Executable, Select, Table

    from proctor.store.transactions import Transaction

BEAT = 10.0
"""Seconds between two heartbeats of a run."""
MISSED = 3
"""How many heartbeats may be missed before the run counts as interrupted."""
VARIABLE = "PROCTOR_BEAT"


def patience() -> float:
    """Return after how many seconds without a heartbeat a run counts as interrupted."""
    return MISSED * beat_seconds()


def beat_seconds() -> float:
    """Return the seconds between two heartbeats."""
    text = os.environ.get(VARIABLE, "")
    try:
        seconds = float(text) if text else BEAT
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise UsageError(f"{VARIABLE} is a number of seconds from 0.01 to 3600, not {text[:40]!r}")
    return seconds


SHORTEST_PREFIX = 4
_REMEMBERED = 1000
BASELINE = "@baseline"
"""The reference to the run that is pinned for a suite."""
_LAST = re.compile(r"@last(?:~(\d{1,9}))?")


class Runs:
    """Runs, by id or other references."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes

    def save(self, run: Run) -> None:
        """Store a run, or update it."""
        row = {
            "id": run.id,
            "name": run.name,
            "suite": run.suite,
            "suite_key": run.suite_key,
            "candidate": encode(run.candidate),
            "settings": encode(run.settings),
            "status": run.status.value,
            "started": run.started,
            "finished": run.finished,
            "signature": _written(run.signature),
            "imported": int(run.imported),
        }
        with self._database.write() as connection:
            connection.execute(put_run, [row])
            if run.status is RunStatus.RUNNING:
                connection.execute(sign_of_life, [_sign(run.id, patience())])

    def get(self, ref: str) -> Run:
        """Return a run by id, name, id prefix, ``@last``, ``@last~N`` or ``@baseline[:SUITE]``.

        Imported runs, whose name and time come from a file, come after all others.
        """
        if ref.partition(":")[0] == BASELINE:
            return self._baseline(ref)
        if ref.startswith("@"):
            return self._last(ref)
        row = self._by_id(ref) or self._database.fetch_first(runs_named, _named(ref, 1))
        if row is not None:
            return _run_of(row)
        matches = self._by_prefix(ref)
        if len(matches) == 1:
            return _run_of(matches[0])
        if matches:
            shown = ", ".join(f"{row.id} ({row.name})" for row in matches[:5])
            raise StoreError(
                f"{ref!r} may be any of {len(matches)} runs: {shown} (fix: write more of the id)"
            )
        raise self._no_run(ref)

    def find(self, run_id: str) -> Run | None:
        """Return the run with an id, or None."""
        row = self._by_id(run_id)
        return None if row is None else _run_of(row)

    def newest(self, *, suite_key: str | None = None, limit: int | None = 100) -> list[Run]:
        """List runs, the newest first."""
        query = _run_columns().order_by(*_newest_first()).limit(limit)
        if suite_key is not None:
            query = query.where(sql.runs.c.suite_key == suite_key)
        return [_run_of(row) for row in self._database.fetch_all(query)]

    def named(self, name: str, *, limit: int = 100) -> list[Run]:
        """Return the runs with a name, in the order of precedence."""
        return [_run_of(row) for row in self._database.fetch_all(runs_named, _named(name, limit))]

    def names_like(self, name: str, *, suite_key: str | None = None) -> set[str]:
        """Return the names of runs, of all or of a suite, with a prefix."""
        table = sql.runs.c
        query = sql.select(table.name).where(table.name.startswith(name, autoescape=True))
        if suite_key is not None:
            query = query.where(table.suite_key == suite_key)
        return {row.name for row in self._database.fetch_all(query)}

    def sharing(self, run_id: str, setting: str) -> list[Run]:
        """Return the other runs that share attempts or scores with a run and have a setting."""
        text = encode(setting).replace("/", "//").replace("%", "/%").replace("_", "/_")
        values = {"run_id": run_id, "text": text}
        others = self._database.fetch_all(others_with, values)
        run_ids = [row.id for row in others if self._shares(run_id, row.id)]
        runs = [self.find(other) for other in run_ids]
        return [run for run in runs if run is not None and setting in run.settings]

    def suite_key(self, run_id: str) -> str:
        """Return the key of the suite of a run, or raise a StoreError."""
        row = self._by_id(run_id)
        if row is None:
            raise self._no_run(run_id)
        return str(row.suite_key)

    def is_reviewed(self, run_id: str) -> bool:
        """Tell whether people have labelled a run, its judge was audited, or it was scanned."""
        return bool(self._database.fetch_all(reviewed, {"run_id": run_id})[0][0])

    def _shares(self, first: str, second: str) -> bool:
        for table, key in ((sql.run_scores, "score_key"), (sql.run_attempts, "attempt_key")):
            mine, theirs = table.alias(), table.alias()
            both = mine.join(theirs, mine.c[key] == theirs.c[key])
            query = sql.select(mine.c[key]).select_from(both)
            query = query.where(mine.c.run_id == first, theirs.c.run_id == second)
            if self._database.fetch_first(query.limit(1)) is not None:
                return True
        return False

    def delete(self, run_id: str) -> None:
        """Delete a run, and all data that no other run uses."""
        with self._database.write() as connection:
            row = self._by_id(run_id)
            if row is None:
                raise self._no_run(run_id)
            self.drop_rows(connection, run_id)
            for table in (sql.summaries, sql.labels, sql.audits, sql.scans, sql.baselines):
                connection.execute(sql.delete(table).where(table.c.run_id == run_id))
            forget_texts(connection, run_id)
            pairs = sql.comparisons.c
            sides = (pairs.first_run == run_id) | (pairs.second_run == run_id)
            connection.execute(sql.delete(sql.comparisons).where(sides))
            connection.execute(sql.delete(sql.runs).where(sql.runs.c.id == run_id))
            key, gone = row.suite_key, None
            if (
                self._database.fetch_first(
                    sql.select(sql.runs.c.id).where(sql.runs.c.suite_key == key)
                )
                is None
            ):
                delete_unshared(connection, sql.cases, sql.suite_cases.c.case_key, key)
                placed = sql.suite_cases.c.suite_key == key
                connection.execute(sql.delete(sql.suite_cases).where(placed))
                connection.execute(sql.delete(sql.suites).where(sql.suites.c.key == key))
                gone = key
            places = self._homes.forget(connection, run_id, gone)
        # Files go last: what a transaction undoes must still be there.
        self._homes.delete_files(places)

    def has_rows(self, run_id: str) -> bool:
        """Tell whether a run has any rows of cases."""
        return bool(self._database.fetch_all(any_rows, {"run_id": run_id})[0][0])

    def drop_rows(self, connection: "Transaction", run_id: str) -> None:
        """Delete the rows of a run's cases, and all content that no other run uses."""
        delete_unshared(connection, sql.attempts, sql.run_attempts.c.attempt_key, run_id)
        delete_unshared(connection, sql.scores, sql.run_scores.c.score_key, run_id)
        _delete_left(connection)
        for table in _of_cases():
            connection.execute(sql.delete(table).where(table.c.run_id == run_id))

    def _by_id(self, run_id: str) -> Any:
        return self._database.fetch_first(run_by_id, {"run_id": run_id})

    def _by_prefix(self, ref: str) -> Sequence[Any]:
        if len(ref) < SHORTEST_PREFIX or not ref.isascii():
            return ()
        prefix = ref.replace("/", "//").replace("%", "/%").replace("_", "/_")
        rows = self._database.fetch_all(runs_by_prefix, {"prefix": prefix})
        return [row for row in rows if row.id.startswith(ref)]

    def _last(self, ref: str) -> Run:
        matched = _LAST.fullmatch(ref)
        if matched is None:
            raise StoreError(
                f"there is no run {ref!r} (use @last, @last~1, @last~2, … or {BASELINE})"
            )
        back = int(matched[1] or 0)
        query = _run_columns().order_by(*_own_first())
        row = self._database.fetch_first(query.offset(back).limit(1))
        if row is None:
            raise self._no_run(ref)
        return _run_of(row)

    def _baseline(self, ref: str) -> Run:
        """Return the run that is pinned for a suite; without a name, for the only one that has."""
        suite = ref.partition(":")[2]
        table = sql.baselines.c
        query = sql.select(table.suite, table.run_id).order_by(table.suite)
        rows = self._database.fetch_all(query)
        pinned = [row.run_id for row in rows if suite in ("", row.suite)]
        run = self.find(pinned[0]) if len(pinned) == 1 else None
        if run is not None:
            return run
        if len(pinned) > 1:
            names = ", ".join(f"{BASELINE}:{row.suite}" for row in rows[:5])
            raise StoreError(f"{len(pinned)} suites have a baseline: write one of {names}")
        whose = f"the suite {suite!r} has no baseline" if suite else "no suite has a baseline"
        raise StoreError(f"{whose} in {self._database.place} (fix: `proctor baseline RUN`)")

    def _no_run(self, ref: str) -> StoreError:
        rows = self._database.fetch_all(names_of_runs)
        if not rows:
            return StoreError(
                f"the store at {self._database.place} has no runs; run `proctor run` first"
            )
        names = list(dict.fromkeys(row.name for row in rows))
        ids = (row.id for row in rows)
        hint = did_you_mean(*similar(ref, [*names, *ids], most=3, cutoff=LOOSELY))
        hint = hint or _newest(names)
        return StoreError(f"there is no run {ref!r} in {self._database.place} ({hint})")


def _run_columns() -> "Select[Any]":
    silent = sql.func.coalesce(sql.runs.c.alive_until, 0.0) < sql.DatabaseTime()
    stalled = sql.and_(sql.runs.c.status == RunStatus.RUNNING.value, silent)
    return sql.select(sql.runs, stalled.label("stalled"))


def _newest_first() -> "tuple[ColumnElement[Any], ...]":
    return (sql.runs.c.started.desc(), sql.runs.c.id.desc())


def _own_first() -> "tuple[ColumnElement[Any], ...]":
    return (sql.runs.c.imported, *_newest_first())


@statement
def run_by_id(_database: Database) -> "Executable":
    """Select the run with an id."""
    return _run_columns().where(sql.runs.c.id == sql.bindparam("run_id"))


@statement
def runs_named(_database: Database) -> "Executable":
    """Select the runs with a name, in the order of precedence."""
    named = _run_columns().where(sql.runs.c.name == sql.bindparam("name"))
    return named.order_by(*_own_first()).limit(sql.bindparam("most"))


def _named(name: str, most: int) -> dict[str, Any]:
    return {"name": name, "most": most}


@statement
def runs_by_prefix(_database: Database) -> "Executable":
    """Select the runs whose id begins with an escaped prefix."""
    like = sql.runs.c.id.startswith(sql.bindparam("prefix"), escape="/")
    return _run_columns().where(like).order_by(*_newest_first())


def _of_cases() -> "tuple[Table, ...]":
    return sql.run_attempts, sql.run_scores, sql.run_results, sql.run_tags


@statement
def any_rows(_database: Database) -> "Executable":
    """Tell whether a run has any rows of cases."""
    mine = (table.c.run_id == sql.bindparam("run_id") for table in _of_cases())
    return sql.select(sql.or_(*(sql.exists().where(one) for one in mine)))


@statement
def others_with(_database: Database) -> "Executable":
    """Select the ids of other runs with an escaped text in their settings."""
    table = sql.runs.c
    holds = table.settings.contains(sql.bindparam("text"), escape="/")
    others = sql.select(table.id).where(table.id != sql.bindparam("run_id"))
    return others.where(table.imported == 0, holds)


@statement
def names_of_runs(_database: Database) -> "Executable":
    """Select the ids and names of the newest runs."""
    names = sql.select(sql.runs.c.id, sql.runs.c.name)
    return names.order_by(*_newest_first()).limit(_REMEMBERED)


@statement
def put_run(database: Database) -> "Executable":
    """Insert a run, or replace it; its heartbeat stays."""
    kept = ("id", "alive_until")
    columns = [column.name for column in sql.runs.c if column.name not in kept]
    return database.upsert(sql.runs, replace=columns)


@statement
def sign_of_life(_database: Database) -> "Executable":
    """Set the deadline of a run's next heartbeat."""
    until = sql.DatabaseTime() + sql.bindparam("silence")
    mine = sql.runs.c.id == sql.bindparam("run")
    return sql.update(sql.runs).where(mine).values(alive_until=until)


def _sign(run_id: str, silence: float) -> dict[str, Any]:
    return {"run": run_id, "silence": silence}


@statement
def end_work(_database: Database) -> "Executable":
    """Give a status to a run that is running."""
    table = sql.runs.c
    running = (table.id == sql.bindparam("run"), table.status == RunStatus.RUNNING.value)
    return sql.update(sql.runs).where(*running).values(status=sql.bindparam("new"))


@statement
def reviewed(_database: Database) -> "Executable":
    """Select whether people have labelled a run, its judge was audited, or it was scanned."""
    tables = (sql.labels, sql.audits, sql.scans)
    run_id: Any = sql.bindparam("run_id")
    return sql.select(sql.or_(*(sql.exists().where(one.c.run_id == run_id) for one in tables)))


@statement
def forget_run_texts(_database: Database) -> "Executable":
    """Take the index of texts away from a run."""
    mine = sql.searched.c.run_id == sql.bindparam("run")
    return sql.update(sql.searched).where(mine).values(run_id="", whole=0)


def _newest(names: Sequence[str]) -> str:
    return f"the newest are: {', '.join(map(repr, names[:5]))}"


LATEST = 253_402_300_799.0
"""The last second that a datetime can represent, in the year 9999."""


def _written(signature: str) -> str:
    """Encode a signature as its parts; one that is only a line stays a line."""
    signed = Signature.read(signature)
    return encode(signed.parts) if signed and Signature.of(signed.parts) == signature else signature


def _signature(text: str) -> Signature:
    """Decode a signature: its parts, or the line that versions up to 0.1.0 stored."""
    if text.startswith("{"):
        with suppress(*BROKEN):
            return Signature.of(decode_object(text))
    return Signature.read(text)


def _run_of(row: Any) -> Run:
    """Build a run from its row; an unreadable one is partly filled and marked as broken."""
    run = Run(
        id=row.id,
        name=row.name,
        suite=row.suite,
        suite_key=str(row.suite_key),
        candidate=Spec(name="unknown"),
        status=RunStatus.BROKEN,
        signature=_signature(row.signature),
        imported=row.imported != 0,
    )
    try:
        return replace(
            run,
            candidate=spec_from(decode(row.candidate)),
            settings=_settings(decode_object(row.settings)),
            status=RunStatus.INTERRUPTED if row.stalled else RunStatus(row.status),
            started=_moment(row.started),
            finished=None if row.finished is None else _moment(row.finished),
        )
    except BROKEN:
        return run


def _settings(settings: dict[str, Json]) -> dict[str, Json]:
    """Decode settings, and validate those that pages and comparisons use."""
    models = [*settings.get("judges", ()), *filter(None, [settings.get("simulator")])]
    if not all(isinstance(one, dict) and isinstance(one.get("model"), str) for one in models):
        raise TypeError("a judge or a simulator is none")
    if not isinstance(settings.get("attempts"), int | None):
        raise TypeError("the number of attempts is none")
    return settings


def _moment(seconds: float) -> float:
    if not 0 <= seconds <= LATEST:
        raise ValueError(f"{seconds:g} is no moment")
    return seconds


def _delete_left(connection: "Transaction") -> None:
    """Delete the files of deleted attempts that no other attempt left."""
    links = sql.attempt_files.c
    gone = ~sql.exists().where(sql.attempts.c.key == links.attempt_key)
    left = list(connection.execute(sql.select(links.file_key).where(gone).distinct()).scalars())
    connection.execute(sql.delete(sql.attempt_files).where(gone))
    unused = ~sql.exists().where(links.file_key == sql.files.c.key)
    for chunk in chunks(left):
        connection.execute(sql.delete(sql.files).where(sql.files.c.key.in_(chunk), unused))


def delete_unshared(
    connection: "Transaction", content: "Table", link: "Column[Any]", owner: str
) -> None:
    """Delete the content that only one owner links to.

    The owner is the first column of the link table.
    """
    table = link.table
    owned = next(iter(table.primary_key)).name
    other = table.alias()
    mine = sql.select(link).where(table.c[owned] == owner)
    shared = sql.exists().where(other.c[link.name] == content.c.key, other.c[owned] != owner)
    connection.execute(sql.delete(content).where(content.c.key.in_(mine), ~shared))


class Liveness:
    """The runs of this process, with heartbeats by the database's clock."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs
        self._awaited: dict[str, Callable[[], None]] = {}
        """Runs that have no work yet: what stores them once they do."""
        self._alive: dict[str, float] = {}
        """Runs at work in this process: after how many seconds of silence they are given up."""
        self._ended = Event()
        self._pulse: Thread | None = None

    def await_work(self, run: Run, put_suite: Callable[[], object]) -> None:
        """Store a run, and its suite before it, in one transaction with its first work."""

        def begin() -> None:
            put_suite()
            self._runs.save(run)

        self._awaited[run.id] = begin

    def begin(self, run_id: str) -> None:
        """Store the waiting run, since its first work is being written."""
        if (begin := self._awaited.pop(run_id, None)) is None:
            return
        with self._database.write():
            begin()
        self._alive[run_id] = patience()
        if self._pulse is None:
            self._ended = Event()
            self._pulse = Thread(target=self._beat, args=(self._ended,), daemon=True)
            self._pulse.start()

    def note(self, run: Run, put_suite: Callable[[], object]) -> None:
        """Store the state of a run, or defer it if the run has no work yet."""
        if run.id in self._awaited:
            self.await_work(run, put_suite)
        else:
            self._runs.save(run)

    def allow_silence(self, run_id: str, seconds: float) -> None:
        """Extend a run's deadline before a long transaction."""
        if run_id in self._alive:
            self._alive[run_id] = patience() + seconds
            self._put_signs_of_life()

    def leave(self, run_id: str, status: RunStatus = RunStatus.INTERRUPTED) -> bool:
        """End this process's work on a run; an unfinished one gets a status.

        Return False if nothing of it was stored here.
        """
        self._awaited.pop(run_id, None)
        if self._alive.pop(run_id, None) is None:
            return False
        if not self._alive and self._pulse is not None:
            self._ended.set()
            self._pulse.join()
            self._pulse = None
        with self._database.write() as connection:
            connection.execute(end_work, [{"run": run_id, "new": status.value}])
        return True

    def close(self) -> None:
        """End the work on all runs."""
        # If another thread was stopped in mid-transaction, the missing heartbeat shows it.
        if not self._database.in_transaction:
            for run_id in list(self._alive):
                self.leave(run_id)
        self._ended.set()

    def _beat(self, ended: Event) -> None:
        while not ended.wait(beat_seconds()):
            self._put_signs_of_life()

    def _put_signs_of_life(self) -> None:
        """Send heartbeats on a separate connection; a failure is left to the next one."""
        with suppress(StoreError):
            signs = [_sign(run_id, silence) for run_id, silence in list(self._alive.items())]
            self._database.write_aside(sign_of_life, signs)


def forget_texts(connection: "Transaction", run_id: str) -> None:
    """Invalidate the index entry of a run whose texts changed."""
    connection.execute(forget_run_texts, [{"run": run_id}])
