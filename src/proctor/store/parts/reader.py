"""Reading of parts: cases, attempts and scores at some positions, by row groups.

What is damaged or gone is told from what is there: a case, an attempt or a score says so.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from proctor.core.attempt import Attempt
from proctor.core.encoding import attempt_from
from proctor.core.score import Score, ScoreStatus
from proctor.errors import PartDamaged
from proctor.store.parts import layout
from proctor.store.parts.columns import IdColumn, ResultColumns
from proctor.store.parts.files import PartFolder, translated
from proctor.store.parts.layout import ATTEMPTS, CASES
from proctor.store.parts.rows import RunPart, SuitePart
from proctor.store.rows import BROKEN, Positions, decode, unescape

MOST_OPEN = 16
"""Maximum number of open files."""
MOST_GROUPS = 6
"""Maximum number of row groups in memory."""
MOST_KEPT = 1_500
"""Maximum number of single cases in memory, and of their attempts."""
LONGEST_KEPT = 20_000
"""Up to how many characters a case is kept, or what was answered to it."""
_CASE_COLUMNS = ("position", "id", "source", "document")
_ATTEMPT_COLUMNS = (
    *("position", "number", "status", "output", "attempt", "attempt_key"),
    "scores",
)
Part = TypeVar("Part", RunPart, SuitePart)


class StoredCaseRow(NamedTuple):
    """A case as its part has it."""

    position: int
    case_id: str
    source: str
    document: str
    """As ``rows.decode`` takes it; empty where it is gone."""


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """An attempt as its part has it."""

    number: int
    status: str
    output: str | None
    rest: str | None
    key: str | None
    scores: dict[str, Score]

    def attempt(self, case_id: str) -> Attempt:
        """Return the attempt at a case, or raise what ``rows.BROKEN`` lists."""
        if self.rest is None:
            return layout.plain_attempt(case_id, self.number, self.status, self.output)
        fields = layout.attempt_fields(case_id, self.number, self.status, self.output, self.rest)
        return attempt_from(fields)

    def copy(self) -> "StoredAttempt":
        """Return it with scores of its own."""
        return replace(self, scores=dict(self.scores))


Kept = TypeVar("Kept")


class _Kept(Generic[Kept]):
    """What was read last of single cases, by place of the part and position.

    A page of cases that are far from each other reads a row group for each of them; the next page
    that shows them, such as that of a search that goes on, does not.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, int], Kept] = OrderedDict()

    def those(self, part: str, positions: Sequence[int]) -> dict[int, Kept]:
        """Return what is there of some cases."""
        keys_by_place = {place: (part, place) for place in positions if (part, place) in self._rows}
        for key in keys_by_place.values():
            self._rows.move_to_end(key)
        return {place: self._rows[key] for place, key in keys_by_place.items()}

    def keep(self, part: str, rows: Mapping[int, Kept]) -> None:
        """Keep what was read, in the place of what was not used longest."""
        for place, row in rows.items():
            self._rows[part, place] = row
        while len(self._rows) > MOST_KEPT:
            self._rows.popitem(last=False)


class PartReader:
    """Reader of the files of parts, which keeps some of them open."""

    def __init__(self, folder_of: Callable[[str], PartFolder], damaged: str) -> None:
        self._folder_of = folder_of
        self._damaged = damaged
        """What a score says that cannot be read."""
        self._open: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._groups: OrderedDict[tuple[str, str, int], Any] = OrderedDict()
        self._kept_cases: _Kept[StoredCaseRow] = _Kept()
        self._kept_attempts: _Kept[list[StoredAttempt]] = _Kept()

    def cases(self, parts: Sequence[SuitePart], positions: Positions) -> Iterator[StoredCaseRow]:
        """Yield the cases of a suite at some positions, in order; damaged ones are left out."""
        for part in _touched(parts, positions):
            if positions.some is None:
                yield from self._cases(part, positions)
                continue
            own = positions.within(part.first, part.end)
            rows = self._kept_cases.those(part.place, own)
            if missing := [place for place in own if place not in rows]:
                read = {row.position: row for row in self._cases(part, Positions.of(missing))}
                short = {at: row for at, row in read.items() if len(row.document) <= LONGEST_KEPT}
                self._kept_cases.keep(part.place, short)
                rows |= read
            yield from (rows[place] for place in own if place in rows)

    def attempts(
        self, parts: Sequence[RunPart], positions: Positions
    ) -> dict[int, list[StoredAttempt]]:
        """Return the attempts of a run at some positions; a position without any is damaged."""
        by_position: dict[int, list[StoredAttempt]] = {}
        for part in _touched(parts, positions):
            if positions.some is None:
                by_position |= self._attempts(part, positions)
                continue
            own = positions.within(part.first, part.end)
            by_place = self._kept_attempts.those(part.place, own)
            if missing := [place for place in own if place not in by_place]:
                read = self._attempts(part, Positions.of(missing))
                short = {
                    at: keys_by_place
                    for at, keys_by_place in read.items()
                    if 0 < _length(keys_by_place) <= LONGEST_KEPT
                }
                self._kept_attempts.keep(part.place, short)
                by_place |= read
            # Whoever gets scores may add to them.
            by_position |= {place: [one.copy() for one in by_place[place]] for place in own}
        return by_position

    def _cases(self, part: SuitePart, positions: Positions) -> Iterator[StoredCaseRow]:
        for table in self._tables(part.place, CASES, _CASE_COLUMNS, positions):
            columns = (_values(table, name) for name in _CASE_COLUMNS)
            for place, case_id, source, document in zip(*columns, strict=True):
                if part.first <= place < part.end:
                    yield StoredCaseRow(place, case_id, source, layout.decodable(document))

    def _attempts(self, part: RunPart, positions: Positions) -> dict[int, list[StoredAttempt]]:
        by_position: dict[int, list[StoredAttempt]] = {
            place: [] for place in positions.within(part.first, part.end)
        }
        for table in self._tables(part.place, ATTEMPTS, _ATTEMPT_COLUMNS, positions):
            for place, attempt in self._rows(table):
                if place in by_position:
                    by_position[place].append(attempt)
        for attempts in by_position.values():
            if len(attempts) > 1:
                attempts.sort(key=lambda one: one.number)
        return by_position

    def marks(
        self, parts: Sequence[RunPart], positions: Positions
    ) -> Iterator[tuple[int, int, str, Score]]:
        """Yield position, number, criterion and score of a run's attempts at some positions."""
        for part in _touched(parts, positions):
            columns = ("position", "number", "scores")
            for table in self._tables(part.place, ATTEMPTS, columns, positions):
                places = table["position"].to_pylist()
                numbers = table["number"].to_pylist()
                for place, number, scores in zip(places, numbers, self._scores(table), strict=True):
                    for criterion, score in scores.items():
                        yield place, number, criterion, score

    def tables(
        self, parts: Sequence[Part], kind: str, columns: Sequence[str], positions: Positions
    ) -> Iterator[Any]:
        """Yield columns of the files of a kind at some positions; nothing of what is damaged.

        They are of readers of many cases, and are not kept.
        """
        for part in _touched(parts, positions):
            yield from self._tables(part.place, kind, columns, positions, keep=False)

    def _rows(self, table: Any) -> Iterator[tuple[int, StoredAttempt]]:
        names = ("number", "status", "output", "attempt", "attempt_key")
        columns = [_values(table, name) for name in names]
        rows = zip(table["position"].to_pylist(), *columns, self._scores(table), strict=True)
        for place, *row in rows:
            yield place, StoredAttempt(*row)

    def _scores(self, table: Any) -> Iterator[dict[str, Score]]:
        """Yield the scores of each row by criterion."""
        column = table["scores"].combine_chunks()
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        escaped = layout.escaped_columns(table.schema)
        for chunk in chunks:
            flat = chunk.flatten()
            names = [field.name for field in flat.type]
            values = []
            for name in names:
                texts = flat.field(name).to_pylist()
                if f"scores.{name}" in escaped:
                    texts = [None if text is None else unescape(text) for text in texts]
                values.append(texts)
            rows = zip(*values, strict=True)
            for size in chunk.value_lengths().to_pylist():
                scores = {}
                for _ in range(size or 0):
                    row = dict(zip(names, next(rows), strict=True))
                    scores[row["criterion"]] = self._score(row)
                yield scores

    def _score(self, row: Mapping[str, Any]) -> Score:
        try:
            detail = row["detail"]
            return Score(
                status=ScoreStatus(row["status"]),
                points=row["points"],
                out_of=row["out_of"],
                reason=row["reason"] or "",
                detail=None if detail is None else decode(detail),
            )
        except BROKEN:
            return Score.failed(self._damaged)

    def _tables(
        self,
        place: str,
        kind: str,
        columns: Sequence[str],
        positions: Positions,
        *,
        keep: bool = True,
    ) -> Iterator[Any]:
        """Yield what a file has at some positions; nothing where it cannot be read."""
        try:
            folder = self._folder_of(place)
            file = self._file(folder, place, kind)
            with translated(folder.path(place, kind)):
                groups = list(_groups(file.metadata, positions))
            for group in groups:
                with translated(folder.path(place, kind)):
                    if keep:
                        table = self._group(file, (place, kind, group), columns)
                    else:
                        table = file.read_row_group(group, columns=list(columns), use_threads=False)
                    chosen = positions.chosen(table["position"].to_numpy())
                    selected = table if chosen.all() else table.filter(chosen)
                yield selected
        except PartDamaged:
            return

    def _file(self, folder: PartFolder, place: str, kind: str) -> Any:
        key = place, kind
        if key not in self._open:
            while len(self._open) >= MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            self._open[key] = folder.open(place, kind)
        self._open.move_to_end(key)
        return self._open[key]

    def _group(self, file: Any, key: tuple[str, str, int], columns: Sequence[str]) -> Any:
        """Return a row group, which is kept for the next positions."""
        table = self._groups.get(key)
        if table is None or not set(columns) <= set(table.column_names):
            table = file.read_row_group(key[2], columns=list(columns), use_threads=False)
            while len(self._groups) >= MOST_GROUPS:
                self._groups.popitem(last=False)
            self._groups[key] = table
        self._groups.move_to_end(key)
        return table


@dataclass(frozen=True)
class RunInParts:
    """A run whose cases are files."""

    parts: Sequence[RunPart]
    reader: PartReader
    columns: ResultColumns

    @property
    def end(self) -> int:
        """Return the number of its cases."""
        return self.parts[-1].end if self.parts else 0

    def attempts(self, positions: Positions) -> dict[int, list[StoredAttempt]]:
        """Return the attempts at some positions; a position without any is damaged."""
        return self.reader.attempts(self.parts, positions)

    def marks(self, positions: Positions) -> Iterator[tuple[int, int, str, Score]]:
        """Yield position, number, criterion and score of attempts at some positions."""
        return self.reader.marks(self.parts, positions)

    def tables(self, kind: str, columns: Sequence[str], positions: Positions) -> Iterator[Any]:
        """Yield columns of its files at some positions; nothing of what is damaged."""
        return self.reader.tables(self.parts, kind, columns, positions)


@dataclass(frozen=True)
class SuiteInParts:
    """A suite whose cases are files."""

    parts: Sequence[SuitePart]
    reader: PartReader
    ids: IdColumn

    @property
    def end(self) -> int:
        """Return the number of its cases."""
        return self.parts[-1].end if self.parts else 0

    def cases(self, positions: Positions) -> Iterator[StoredCaseRow]:
        """Yield the cases at some positions, in order; damaged ones have no document."""
        lost = set(positions.within(0, self.end))
        for row in self.reader.cases(self.parts, positions):
            lost.discard(row.position)
            yield row
        for place in sorted(lost):
            yield StoredCaseRow(place, f"case {place + 1}", "", "")

    def tables(self, kind: str, columns: Sequence[str], positions: Positions) -> Iterator[Any]:
        """Yield columns of its files at some positions; nothing of what is damaged."""
        return self.reader.tables(self.parts, kind, columns, positions)

    def key_of(self, row: StoredCaseRow) -> str:
        """Return the key of a case; that of a damaged one is none of any other."""
        try:
            return layout.key_of_case(row.document)
        except BROKEN:
            return ""


def _length(attempts: Sequence[StoredAttempt]) -> int:
    """Return about how many characters attempts have; none where there are none."""
    texts = (len(one.output or "") + len(one.rest or "") for one in attempts)
    return sum(texts) + len(attempts)


def _touched(parts: Sequence[Part], positions: Positions) -> Iterator[Part]:
    """Yield the parts that have one of some positions."""
    for part in parts:
        if positions.within(part.first, part.end):
            yield part


def _groups(metadata: Any, positions: Positions) -> Iterator[int]:
    """Yield the row groups that may have one of some positions, by their statistics."""
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(0).statistics
        if statistics is not None and statistics.has_min_max:
            first, last = statistics.min, statistics.max
            if not positions.within(first, last + 1):
                continue
        yield number


def _values(table: Any, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist()
    if name in layout.escaped_columns(table.schema):
        return [None if value is None else unescape(value) for value in values]
    return values
