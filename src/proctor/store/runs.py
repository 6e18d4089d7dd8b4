"""Runs in the store: saving, lookup by reference, where their cases are, heartbeats, deletion."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import (
    Column,
    Double,
    Executable,
    Table,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from proctor.core.encoding import spec_from
from proctor.core.run import Run, RunStatus, Signature
from proctor.core.suite import Json, Spec
from proctor.errors import StoreError, UsageError
from proctor.store.database import Database, Transaction, chunks
from proctor.store.rows import BROKEN, decode, decode_object, encode
from proctor.store.schema import (
    attempt_files,
    attempts,
    audits,
    baselines,
    cases,
    comparisons,
    files,
    labels,
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
)
from proctor.store.schema import runs as run_table
from proctor.suggestions import LOOSELY, did_you_mean, similar

if TYPE_CHECKING:
    from proctor.store.parts.reader import RunInParts, SuiteInParts

BEAT = 10.0
"""Seconds between two heartbeats of a run."""
MISSED = 3
"""How many heartbeats may be missed before the run counts as interrupted."""
VARIABLE = "PROCTOR_BEAT"


class DatabaseTime(FunctionElement[float]):
    """The database's current time, in seconds since 1970."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _in_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _in_postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch FROM clock_timestamp())::double precision"


def sign_of_life(run_id: str, silence: float) -> Executable:
    """Return the statement that sets the deadline of a run's next heartbeat."""
    until = DatabaseTime() + silence
    return update(runs).where(runs.c.id == run_id).values(alive_until=until)


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


class PartsOfRuns(Protocol):
    """What is done with runs and suites that have parts; ``parts.ledger`` does it."""

    def run(self, run_id: str) -> "RunInParts":
        """Return a run whose cases are files, to read from."""

    def suite(self, suite_key: str) -> "SuiteInParts":
        """Return a suite whose cases are files, to read from."""

    def drop_run(self, run_id: str) -> None:
        """Delete the parts of a run, with their files."""

    def drop_suite(self, suite_key: str) -> None:
        """Delete the parts of a suite, with their files."""

    def delete_files(self, places: Iterable[str]) -> None:
        """Delete the files of parts that no row commits any more."""

    def sweep(self) -> int:
        """Delete old files that no row commits, and return their bytes."""


class Homes:
    """Where the cases of runs and suites are: rows of tables, or files of parts.

    Callers of repositories do not know which it is; repositories ask here. Modules of parts are
    imported for runs and suites that have any.
    """

    def __init__(self, database: Database, parts: Callable[[], PartsOfRuns]) -> None:
        self._database = database
        self._parts = parts

    def run(self, run_id: str) -> "RunInParts | None":
        """Return a run whose cases are files; None for one in rows."""
        table = run_parts.c
        query = select(table.number).where(table.run_id == run_id).limit(1)
        if self._database.fetch_first(query) is None:
            return None
        return self._parts().run(run_id)

    def suite(self, suite_key: str) -> "SuiteInParts | None":
        """Return a suite whose cases are files; None for one in rows."""
        table = suite_parts.c
        query = select(table.number).where(table.suite_key == suite_key).limit(1)
        if self._database.fetch_first(query) is None:
            return None
        return self._parts().suite(suite_key)

    def suite_of(self, run_id: str) -> "SuiteInParts | None":
        """Return a run's suite, if its cases are files."""
        row = self._database.fetch_first(
            select(run_table.c.suite_key).where(run_table.c.id == run_id)
        )
        return None if row is None else self.suite(row.suite_key)

    def leave_parts(self, run_id: str) -> None:
        """Give up the parts of a run that gets rows."""
        if self.run(run_id) is not None:
            self._parts().drop_run(run_id)

    def leave_suite_parts(self, suite_key: str) -> None:
        """Give up the parts of a suite that gets rows."""
        if self.suite(suite_key) is not None:
            self._parts().drop_suite(suite_key)

    def forget(self, connection: Transaction, run_id: str, suite_key: str | None) -> list[str]:
        """Delete the rows of a run's parts, and of a suite's, and return the places of both."""
        places: list[str] = []
        owned = [run_parts.c.run_id == run_id]
        if suite_key is not None:
            owned.append(suite_parts.c.suite_key == suite_key)
        for table, mine in zip((run_parts, suite_parts), owned, strict=False):
            places += connection.execute(select(table.c.place).where(mine)).scalars()
            connection.execute(delete(table).where(mine))
        return places

    def delete_files(self, places: Sequence[str]) -> None:
        """Delete the files of forgotten parts, and such as nobody committed long ago."""
        if places:
            self._parts().delete_files(places)
            self._parts().sweep()


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
        upsert = self._database.upsert(run_table, replace=[name for name in row if name != "id"])
        with self._database.write() as connection:
            connection.execute(upsert, [row])
            if run.status is RunStatus.RUNNING:
                connection.execute(sign_of_life(run.id, patience()))

    def get(self, ref: str) -> Run:
        """Return a run by id, name, id prefix, ``@last``, ``@last~N`` or ``@baseline[:SUITE]``.

        Imported runs, whose name and time come from a file, come after all others.
        """
        if ref.partition(":")[0] == BASELINE:
            return self._baseline(ref)
        if ref.startswith("@"):
            return self._last(ref)
        named = _RUN.where(run_table.c.name == ref).order_by(*_OWN_FIRST)
        row = self._by_id(ref) or self._database.fetch_first(named.limit(1))
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
        query = _RUN.order_by(*_NEWEST).limit(limit)
        if suite_key is not None:
            query = query.where(run_table.c.suite_key == suite_key)
        return [_run_of(row) for row in self._database.fetch_all(query)]

    def named(self, name: str, *, limit: int = 100) -> list[Run]:
        """Return the runs with a name, in the order of precedence."""
        query = _RUN.where(run_table.c.name == name).order_by(*_OWN_FIRST)
        return [_run_of(row) for row in self._database.fetch_all(query.limit(limit))]

    def names_like(self, name: str, *, suite_key: str | None = None) -> set[str]:
        """Return the names of runs, of all or of a suite, with a prefix."""
        table = run_table.c
        query = select(table.name).where(table.name.startswith(name, autoescape=True))
        if suite_key is not None:
            query = query.where(table.suite_key == suite_key)
        return {row.name for row in self._database.fetch_all(query)}

    def sharing(self, run_id: str, setting: str) -> list[Run]:
        """Return the other runs that share attempts or scores with a run and have a setting."""
        others = select(run_table.c.id).where(
            run_table.c.id != run_id,
            run_table.c.imported == 0,
            run_table.c.settings.contains(encode(setting), autoescape=True),
        )
        run_ids = [
            row.id for row in self._database.fetch_all(others) if self._shares(run_id, row.id)
        ]
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
        reviews = [exists().where(table.c.run_id == run_id) for table in (labels, audits, scans)]
        return bool(self._database.fetch_all(select(or_(*reviews)))[0][0])

    def _shares(self, first: str, second: str) -> bool:
        for table, key in ((run_scores, "score_key"), (run_attempts, "attempt_key")):
            mine, theirs = table.alias(), table.alias()
            both = mine.join(theirs, mine.c[key] == theirs.c[key])
            query = select(mine.c[key]).select_from(both)
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
            for table in (summaries, labels, audits, scans, baselines):
                connection.execute(delete(table).where(table.c.run_id == run_id))
            forget_texts(connection, run_id)
            sides = (comparisons.c.first_run == run_id) | (comparisons.c.second_run == run_id)
            connection.execute(delete(comparisons).where(sides))
            connection.execute(delete(run_table).where(run_table.c.id == run_id))
            key, gone = row.suite_key, None
            if (
                self._database.fetch_first(
                    select(run_table.c.id).where(run_table.c.suite_key == key)
                )
                is None
            ):
                delete_unshared(connection, cases, suite_cases.c.case_key, key)
                connection.execute(delete(suite_cases).where(suite_cases.c.suite_key == key))
                connection.execute(delete(suites).where(suites.c.key == key))
                gone = key
            places = self._homes.forget(connection, run_id, gone)
        # Files go last: what a transaction undoes must still be there.
        self._homes.delete_files(places)

    def drop_rows(self, connection: Transaction, run_id: str) -> None:
        """Delete the rows of a run's cases, and all content that no other run uses."""
        delete_unshared(connection, attempts, run_attempts.c.attempt_key, run_id)
        delete_unshared(connection, scores, run_scores.c.score_key, run_id)
        _delete_left(connection)
        for table in (run_attempts, run_scores, run_results, run_tags):
            connection.execute(delete(table).where(table.c.run_id == run_id))

    def _by_id(self, run_id: str) -> Any:
        return self._database.fetch_first(_RUN.where(run_table.c.id == run_id))

    def _by_prefix(self, ref: str) -> Sequence[Any]:
        if len(ref) < SHORTEST_PREFIX or not ref.isascii():
            return ()
        query = _RUN.where(run_table.c.id.startswith(ref, autoescape=True))
        rows = self._database.fetch_all(query.order_by(*_NEWEST))
        return [row for row in rows if row.id.startswith(ref)]

    def _last(self, ref: str) -> Run:
        matched = _LAST.fullmatch(ref)
        if matched is None:
            raise StoreError(
                f"there is no run {ref!r} (use @last, @last~1, @last~2, … or {BASELINE})"
            )
        back = int(matched[1] or 0)
        row = self._database.fetch_first(_RUN.order_by(*_OWN_FIRST).offset(back).limit(1))
        if row is None:
            raise self._no_run(ref)
        return _run_of(row)

    def _baseline(self, ref: str) -> Run:
        """Return the run that is pinned for a suite; without a name, for the only one that has."""
        suite = ref.partition(":")[2]
        query = select(baselines.c.suite, baselines.c.run_id).order_by(baselines.c.suite)
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
        query = select(run_table.c.id, run_table.c.name).order_by(*_NEWEST).limit(_REMEMBERED)
        rows = self._database.fetch_all(query)
        if not rows:
            return StoreError(
                f"the store at {self._database.place} has no runs; run `proctor run` first"
            )
        names = list(dict.fromkeys(row.name for row in rows))
        ids = (row.id for row in rows)
        hint = did_you_mean(*similar(ref, [*names, *ids], most=3, cutoff=LOOSELY))
        hint = hint or _newest(names)
        return StoreError(f"there is no run {ref!r} in {self._database.place} ({hint})")


_STALLED = and_(
    run_table.c.status == RunStatus.RUNNING.value,
    func.coalesce(run_table.c.alive_until, 0.0) < DatabaseTime(),
)
_RUN = select(run_table, _STALLED.label("stalled"))
_NEWEST = (run_table.c.started.desc(), run_table.c.id.desc())
_OWN_FIRST = (run_table.c.imported, *_NEWEST)


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


def _delete_left(connection: Transaction) -> None:
    """Delete the files of deleted attempts that no other attempt left."""
    links = attempt_files.c
    gone = ~exists().where(attempts.c.key == links.attempt_key)
    left = list(connection.execute(select(links.file_key).where(gone).distinct()).scalars())
    connection.execute(delete(attempt_files).where(gone))
    unused = ~exists().where(links.file_key == files.c.key)
    for chunk in chunks(left):
        connection.execute(delete(files).where(files.c.key.in_(chunk), unused))


def delete_unshared(connection: Transaction, content: Table, link: Column[Any], owner: str) -> None:
    """Delete the content that only one owner links to.

    The owner is the first column of the link table.
    """
    table = link.table
    owned = next(iter(table.primary_key)).name
    other = table.alias()
    mine = select(link).where(table.c[owned] == owner)
    shared = exists().where(other.c[link.name] == content.c.key, other.c[owned] != owner)
    connection.execute(delete(content).where(content.c.key.in_(mine), ~shared))


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
        table = run_table.c
        running = (table.id == run_id, table.status == RunStatus.RUNNING.value)
        with self._database.write() as connection:
            connection.execute(update(run_table).where(*running).values(status=status.value))
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
        with suppress(SQLAlchemyError, StoreError), self._database.writer.begin() as connection:
            for run_id, silence in list(self._alive.items()):
                connection.execute(sign_of_life(run_id, silence))


def forget_texts(connection: Transaction, run_id: str) -> None:
    """Invalidate the index entry of a run whose texts changed."""
    mine = searched.c.run_id == run_id
    connection.execute(update(searched).where(mine).values(run_id="", whole=0))
