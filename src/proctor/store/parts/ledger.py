"""Which parts a run or a suite has: one row commits one part."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from proctor.errors import StoreError
from proctor.store import sql
from proctor.store.database import CHUNK, Database
from proctor.store.homes import part_of_run
from proctor.store.parts.columns import IdColumn, ResultColumns
from proctor.store.parts.files import PartFolder
from proctor.store.parts.folders import PartFolders
from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS
from proctor.store.parts.reader import PartReader, RunInParts, SuiteInParts
from proctor.store.parts.rows import RunPart, SuitePart
from proctor.store.runs import Liveness, Runs, forget_texts
from proctor.store.scores import DAMAGED
from proctor.store.statements import Statement, statement

if TYPE_CHECKING:
    from sqlalchemy import Executable, Table

Home = Literal["rows", "parts"]
RUN_FILES = (ATTEMPTS, RESULTS)
"""The files of a part of a run; a part of a suite has one, CASES."""
UNFINISHED_SECONDS = 24 * 3600.0
"""For how long a file without a row may belong to a part that is being written."""


@statement
def state_of_run(_database: Database) -> "Executable":
    """Select what tells whether the parts of a run changed; each page asks often."""
    return _state_of(sql.run_parts)


@statement
def state_of_suite(_database: Database) -> "Executable":
    """Select what tells whether the parts of a suite changed."""
    return _state_of(sql.suite_parts)


def _state_of(table: "Table") -> "Executable":
    from proctor.store.schema import total_size

    numbers: list[Any] = [sql.func.count(), sql.func.max(table.c.place), total_size(table)]
    return sql.select(*numbers).where(_owned(table))


def _owned(table: "Table") -> Any:
    return next(iter(table.primary_key)) == sql.bindparam("owner")


@statement
def parts_of_run(_database: Database) -> "Executable":
    """Select the parts of a run in order, without their documents."""
    return _parts_of(sql.run_parts, _RUN_FIELDS)


@statement
def parts_of_suite(_database: Database) -> "Executable":
    """Select the parts of a suite in order."""
    return _parts_of(sql.suite_parts, _SUITE_FIELDS)


def _parts_of(table: "Table", names: Sequence[str]) -> "Executable":
    columns = [table.c[name] for name in names]
    return sql.select(*columns).where(_owned(table)).order_by(table.c.number)


_RUN_FIELDS = tuple(one.name for one in fields(RunPart) if one.name != "document")
_SUITE_FIELDS = tuple(one.name for one in fields(SuitePart))


@statement
def run_part_at(_database: Database) -> "Executable":
    """Select where a part of a run lies, among its cases and as a file."""
    return _part_at(sql.run_parts)


@statement
def suite_part_at(_database: Database) -> "Executable":
    """Select where a part of a suite lies, among its cases and as a file."""
    return _part_at(sql.suite_parts)


def _part_at(table: "Table") -> "Executable":
    columns = table.c.first, table.c.cases, table.c.place
    return sql.select(*columns).where(_owned(table), table.c.number == sql.bindparam("number"))


@statement
def put_run_part(database: Database) -> "Executable":
    """Insert a part of a run, or replace it."""
    columns = [column.name for column in sql.run_parts.c if not column.primary_key]
    return database.upsert(sql.run_parts, replace=columns)


@statement
def put_suite_part(database: Database) -> "Executable":
    """Insert a part of a suite; an existing one is kept."""
    return database.upsert(sql.suite_parts)


@statement
def run_documents(_database: Database) -> "Executable":
    """Select the documents of parts of a run that come after a number, in order."""
    table = sql.run_parts.c
    after = table.number > sql.bindparam("after")
    query = sql.select(table.number, table.document).where(_owned(sql.run_parts), after)
    return query.order_by(table.number).limit(CHUNK)


@statement
def places_of_runs(_database: Database) -> "Executable":
    """Select where the parts of all runs are."""
    return sql.select(sql.run_parts.c.place)


@statement
def places_of_suites(_database: Database) -> "Executable":
    """Select where the parts of all suites are."""
    return sql.select(sql.suite_parts.c.place)


class _Owners(NamedTuple):
    """The queries for what has parts: runs, or suites."""

    state: Statement
    parts: Statement
    part_at: Statement
    part: type[Any]
    names: tuple[str, ...]


_RUNS = _Owners(state_of_run, parts_of_run, run_part_at, RunPart, _RUN_FIELDS)
_SUITES = _Owners(state_of_suite, parts_of_suite, suite_part_at, SuitePart, _SUITE_FIELDS)


class Parts(PartFolders):
    """Parts of runs and suites, committed one by one; what a process has read is kept."""

    def __init__(self, database: Database, runs: Runs, liveness: Liveness) -> None:
        super().__init__(database)
        self._runs = runs
        self._liveness = liveness
        self._of_runs: dict[str, tuple[Any, tuple[RunPart, ...]]] = {}
        self._of_suites: dict[str, tuple[Any, tuple[SuitePart, ...]]] = {}
        self._reader = PartReader(self.folder_of, DAMAGED)
        self._columns: dict[str, tuple[Sequence[RunPart], ResultColumns]] = {}

    def home_of(self, run_id: str) -> Home:
        """Tell whether the cases of a run are rows of tables or files of parts."""
        part = self._database.fetch_first(part_of_run, {"run_id": run_id})
        return "rows" if part is None else "parts"

    def commit(self, run_id: str, part: RunPart) -> None:
        """Make a part, whose files are written, one of a run; the first one replaces its rows.

        Parts are committed in order. A part that is committed again takes the place of the first.
        """
        same = {"owner": run_id, "number": part.number}
        before = {row.place for row in self._database.fetch_all(run_part_at, same)}
        with self._database.write() as connection:
            self._liveness.begin(run_id)
            self._follows(_RUNS, run_id, part)
            if part.number == 0 and self._runs.has_rows(run_id):
                self._runs.drop_rows(connection, run_id)
            forget_texts(connection, run_id)
            connection.execute(put_run_part, [{"run_id": run_id, **asdict(part)}])
        self._of_runs.pop(run_id, None)
        self.delete_files(before - {part.place})

    def commit_suite(self, suite_key: str, part: SuitePart) -> None:
        """Make a part, whose file is written, one of a suite; one that is there is kept."""
        with self._database.write() as connection:
            self._follows(_SUITES, suite_key, part)
            connection.execute(put_suite_part, [{"suite_key": suite_key, **asdict(part)}])
        self._of_suites.pop(suite_key, None)

    def of_run(self, run_id: str) -> Sequence[RunPart]:
        """Return the parts of a run in order, without their documents; none for one in rows."""
        parts: tuple[RunPart, ...] = self._cached(self._of_runs, _RUNS, run_id)
        return parts

    def of_suite(self, suite_key: str) -> Sequence[SuitePart]:
        """Return the parts of a suite in order; none for one in rows."""
        parts: tuple[SuitePart, ...] = self._cached(self._of_suites, _SUITES, suite_key)
        return parts

    def run(self, run_id: str) -> RunInParts:
        """Return a run whose cases are files, to read from."""
        parts = self.of_run(run_id)
        if run_id not in self._columns or self._columns[run_id][0] is not parts:
            if len(self._columns) >= _MOST_CACHED:
                self._columns.clear()
            self._columns[run_id] = parts, ResultColumns(parts, self.folder_of)
        return RunInParts(parts, self._reader, self._columns[run_id][1])

    def suite(self, suite_key: str) -> SuiteInParts:
        """Return a suite whose cases are files, to read from."""
        parts = self.of_suite(suite_key)
        return SuiteInParts(parts, self._reader, IdColumn(parts, self.folder_of, CASES, "id"))

    def documents(self, run_id: str) -> Iterator[tuple[int, str]]:
        """Yield number and document of each part of a run, in order."""
        after = -1
        while rows := self._database.fetch_all(run_documents, {"owner": run_id, "after": after}):
            for row in rows:
                yield row.number, row.document
            after = rows[-1].number

    def missing(self, run_id: str) -> list[int]:
        """Return the numbers of a run's parts of which a file is gone or has another size."""
        return [part.number for part in self.of_run(run_id) if not self._is_whole(part)]

    def lacks_files(self, suite_key: str) -> bool:
        """Tell whether a file of a suite's parts is surely gone, or has another size."""
        try:
            return any(
                self.folder_of(part.place).size(part.place, CASES) != part.size
                for part in self.of_suite(suite_key)
            )
        except StoreError:  # at an address that nobody named, or that does not answer
            return False

    def drop_run(self, run_id: str, *, after: int = -1) -> None:
        """Delete the parts of a run that come after a number, all by default, with their files."""
        table = sql.run_parts.c
        with self._database.write() as connection:
            places = [part.place for part in self.of_run(run_id) if part.number > after]
            connection.execute(
                sql.delete(sql.run_parts).where(table.run_id == run_id, table.number > after)
            )
            forget_texts(connection, run_id)
        self._of_runs.pop(run_id, None)
        self.delete_files(places)

    def drop_suite(self, suite_key: str) -> None:
        """Delete the parts of a suite, with their files."""
        with self._database.write() as connection:
            places = [part.place for part in self.of_suite(suite_key)]
            mine = sql.suite_parts.c.suite_key == suite_key
            connection.execute(sql.delete(sql.suite_parts).where(mine))
        self._of_suites.pop(suite_key, None)
        self.delete_files(places)

    def delete_files(self, places: Iterable[str]) -> None:
        """Delete the files of parts that no row commits any more; of others' folders, none.

        Within a transaction, which may still be undone, they are left to ``sweep``.
        """
        if self._database.in_transaction:
            return
        for place in places:
            try:
                folder = self.folder_of(place)
            except StoreError:
                continue
            folder.delete([place], (*RUN_FILES, CASES))

    def clear(self) -> int:
        """Delete what processes have left that died in the middle; return how many bytes."""
        from proctor.store.parts.claims import remove

        folders = {one.address: one for one in (self._named, self._beside) if one is not None}
        freed = 0
        for claims in filter(None, map(self._claims_in, folders.values())):
            with claims.dead() as dead:
                for path in list(claims.scratch_of(dead)):
                    freed += remove(path)
                for folder in folders.values():
                    mine = {claim.token for claim in dead if claim.base == folder.base}
                    freed += self._clear_parts(folder, mine) if mine else 0
                claims.forget(claim for claim in dead if claim.base in _bases(folders.values()))
        return freed

    def sweep(self, *, older: float = UNFINISHED_SECONDS) -> int:
        """Delete files that no row commits and that are so many seconds old; return their bytes.

        Only beside the store: at an address that was named, other stores may have files, too.
        """
        before = (time.time() - older) * 1e9
        freed = 0
        for path in self.unused():
            with suppress(OSError):
                status = path.stat()
                if status.st_mtime_ns <= before:
                    freed += _removed(path)
        return freed

    def unused(self) -> Iterator[Path]:
        """Yield the files beside the store that no row commits and no process is writing."""
        folder, claims = self._beside, self._claims_in(self._beside)
        if folder is None or claims is None:
            return
        from proctor.store.parts.claims import SHARED

        if os.path.exists(os.path.join(folder.address, SHARED)):
            return
        files = list(_part_files(folder.address))
        live, used = claims.live(), self._places()
        for path, place, token, whole in files:
            if token not in live and not (whole and place in used):
                yield path

    def scratch(self) -> Iterator[Path]:
        """Yield other files beside the store that processes have left which died."""
        if (claims := self._claims_in(self._beside)) is not None:
            with claims.dead() as dead:
                yield from list(claims.scratch_of(dead))

    def _clear_parts(self, folder: PartFolder, tokens: Set[str]) -> int:
        """Delete the files of dead claims that no row commits."""
        if not folder.is_local:
            places = folder.places()
            used = self._places()
            lost = [place for place in places if claim_of(place) in tokens and place not in used]
            folder.delete(lost, (*RUN_FILES, CASES))
            return sum(file.size for place in lost for file in places[place])
        files = list(_part_files(folder.address))
        used = self._places()
        freed = 0
        for path, place, token, whole in files:
            committed = place in used or f"{folder.base}/{place}" in used
            if token in tokens and not (whole and committed):
                freed += _removed(path)
        return freed

    def _places(self) -> set[str]:
        """Return all places that rows commit; those beside the store by their short names."""
        base = "" if self._beside is None else f"{PartFolder(self._beside.address).base}/"
        return {
            row.place.removeprefix(base)
            for places in (places_of_runs, places_of_suites)
            for row in self._database.fetch_all(places)
        }

    def _is_whole(self, part: RunPart) -> bool:
        folder = self.folder_of(part.place)
        sizes = [folder.size(part.place, kind) for kind in RUN_FILES]
        return sum(size or 0 for size in sizes) == part.size and None not in sizes

    def _cached(self, cache: dict[str, Any], owners: _Owners, owner: str) -> Any:
        of_owner = {"owner": owner}
        state = tuple(self._database.fetch_first(owners.state, of_owner) or ())
        if not state or not state[0]:
            cache.pop(owner, None)
            return ()
        if owner not in cache or cache[owner][0] != state:
            rows = self._database.fetch_all(owners.parts, of_owner)
            if len(cache) >= _MOST_CACHED:
                cache.clear()
            parts = [owners.part(**dict(zip(owners.names, row, strict=True))) for row in rows]
            cache[owner] = state, _in_order(tuple(parts))
        return cache[owner][1]

    def _follows(self, owners: _Owners, owner: str, part: RunPart | SuitePart) -> None:
        """Raise a ValueError for a part that does not begin where the one before it ends."""
        end = 0
        if part.number > 0:
            place = {"owner": owner, "number": part.number - 1}
            before = self._database.fetch_first(owners.part_at, place)
            end = -1 if before is None else before.first + before.cases
        if part.first != end:
            raise ValueError(f"part {part.number} begins at {part.first}, and not at {end}")


def claim_of(place: str) -> str:
    """Return the digits that name the claim under which a part was written."""
    return place.rpartition("-")[2][:6]


def _bases(folders: Iterable[PartFolder]) -> set[str]:
    return {folder.base for folder in folders}


def _part_files(folder: str) -> Iterator[tuple[Path, str, str, bool]]:
    """Yield path, place and claim of files of parts, and whether they are written to their end."""
    from proctor.store.parts.claims import PART_FILE

    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for owner in entries:
            if not owner.is_dir(follow_symlinks=False) or owner.name.startswith("."):
                continue
            with suppress(FileNotFoundError):
                for entry in list(os.scandir(owner.path)):
                    name = PART_FILE.fullmatch(entry.name)
                    if name is not None and entry.is_file(follow_symlinks=False):
                        place = f"{owner.name}/{name[1]}"
                        yield Path(entry.path), place, name[2], name[3] is None


def _removed(path: Path) -> int:
    """Delete a file of a part, with its folder if it was the last; return its bytes."""
    size = path.stat().st_size
    path.unlink(missing_ok=True)
    with suppress(OSError):  # others are still in there
        path.parent.rmdir()
    return size


_MOST_CACHED = 64
MOST_CASES = 10_000_000
"""Maximum number of cases of a part; a row that says more is damaged."""


def _in_order(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the parts up to the first that does not follow the one before it."""
    end = 0
    for number, part in enumerate(parts):
        if part.number != number or part.first != end or not 0 <= part.cases <= MOST_CASES:
            return parts[:number]
        end = part.end
    return parts
