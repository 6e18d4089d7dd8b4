"""What each criterion gave the cases of a run, as columns: to filter and to sort cases by."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sqlalchemy import func, select

from proctor.core.expression import Expression
from proctor.core.score import ScoreStatus
from proctor.errors import UsageError
from proctor.store.database import Database
from proctor.store.homes import Homes
from proctor.store.parts.column_cache import COLUMNS
from proctor.store.queries import ListingQuery
from proctor.store.rows import BROKEN, Positions, decode_object, unescape
from proctor.store.schema import run_results, run_scores, runs, scores

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.parts.reader import RunInParts

    Array = np.ndarray[Any, np.dtype[Any]]

FAILED_BY = "failed"
"""The name in expressions that is equal to each criterion of which a case lacks marks."""
MOST_IN_ROWS = 50_000
"""Cases of a run in rows beyond which their scores, all over a table, take too long to read."""
FARTHEST = 10 * MOST_IN_ROWS
"""Positions from which on rows were written by somebody else: a column would be as long."""
_NEAR = 1e-9
_FIELDS = ("criterion", "status", "points", "out_of")
_TOO_MANY = (
    "the cases of this run are rows, and more than 50,000: they cannot be filtered or sorted by"
    " a criterion (fix: runs of answers on file with --bulk can)"
)


_ScoredPlaces: TypeAlias = "tuple[Array, Array, Array]"
"""The places of cases, and the points and full marks that they were given; NaN for none."""


class _Column(NamedTuple):
    """What a criterion gave each case."""

    shares: "Array"
    """The mean share of its marks or the mean rating; NaN where it gave none."""
    is_rating: bool
    """Whether what it gave is out of nothing."""

    @property
    def nbytes(self) -> int:
        """Return the size of the column."""
        return int(self.shares.nbytes)


@dataclass(frozen=True)
class _CriterionNames:
    """The names of criteria."""

    texts: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Return the size of the names."""
        return sum(len(text) + 60 for text in self.texts)


class CriterionShares:
    """The mean share of its marks that a criterion gave each case, or its mean rating."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes

    def names(self, run_id: str) -> Sequence[str]:
        """Return the names of all criteria that scored something, sorted."""
        names: _CriterionNames = self._kept(
            run_id, "", lambda: _CriterionNames(tuple(sorted(self._names(run_id))))
        )
        return names.texts

    def column(self, run_id: str, criterion: str) -> "Array":
        """Return a number for each case: NaN where the criterion gave it none."""
        return self._kept_column(run_id, criterion).shares

    def lacking(self, run_id: str, criterion: str, penalties: Collection[str]) -> "Array":
        """Return which cases lack marks of a criterion, or were given its penalty.

        A rating, which is out of nothing, lacks none.
        """
        import numpy as np

        column, is_rating = self._kept_column(run_id, criterion)
        if is_rating:
            return np.zeros(len(column), dtype=bool)
        with np.errstate(all="ignore"):
            lacking: Array = column > _NEAR if criterion in penalties else column < 1 - _NEAR
        return lacking

    def _kept_column(self, run_id: str, criterion: str) -> "_Column":
        column: _Column = self._kept(run_id, criterion, lambda: self._column(run_id, criterion))
        return column

    def _kept(self, run_id: str, name: str, load: Callable[[], Any]) -> Any:
        key = self._key(run_id)
        return load() if key is None else COLUMNS.get((*key, "criterion", name), load)

    def _key(self, run_id: str) -> tuple[Any, ...] | None:
        """Return what tells a run from all others in this process; None while it goes on."""
        if (home := self._homes.run(run_id)) is not None:
            return (home.columns.key,)
        query = select(runs.c.finished, runs.c.signature).where(runs.c.id == run_id)
        row = self._database.fetch_first(query)
        if row is None or row.finished is None:
            return None
        return self._database.place, run_id, row.finished, row.signature

    def _names(self, run_id: str) -> Iterable[str]:
        if (home := self._homes.run(run_id)) is not None:
            return {name for flat, _ in _flat_scores(home) for name in _unique(flat)}
        self._check_size(run_id)
        table = run_scores.c
        query = select(table.criterion).where(table.run_id == run_id).distinct()
        return [row.criterion for row in self._database.fetch_all(query)]

    def _column(self, run_id: str, criterion: str) -> "_Column":
        import numpy as np

        home = self._homes.run(run_id)
        if home is not None:
            size, blocks = len(home.columns), _scored_in_parts(home, criterion)
        else:
            size, blocks = self._size(run_id), self._scored_in_rows(run_id, criterion)
        sums, counts, is_rating = np.zeros(size), np.zeros(size), False
        for places, points, full in blocks:
            outside_of_sums = np.isnan(full)
            is_rating = is_rating or bool(outside_of_sums.any())
            with np.errstate(all="ignore"):
                shares = np.where(outside_of_sums, points, points / full)
            usable = (places >= 0) & (places < size) & ~np.isnan(shares) & ~(full <= 0)
            np.add.at(sums, places[usable], shares[usable])
            np.add.at(counts, places[usable], 1.0)
        with np.errstate(all="ignore"):
            return _Column(np.where(counts > 0, sums / counts, np.nan), is_rating)

    def _size(self, run_id: str) -> int:
        """Return one more than the last position of a run in rows."""
        self._check_size(run_id)
        table = run_results.c
        row = self._database.fetch_first(
            select(func.max(table.position).label("last")).where(table.run_id == run_id)
        )
        last = -1 if row is None or row.last is None else int(row.last)
        if last >= FARTHEST:
            raise UsageError(_TOO_MANY)
        return last + 1

    def _check_size(self, run_id: str) -> None:
        mine = select(run_results.c.position).where(run_results.c.run_id == run_id)
        few = mine.limit(MOST_IN_ROWS + 1).subquery()
        if self._database.count(select(func.count()).select_from(few)) > MOST_IN_ROWS:
            raise UsageError(_TOO_MANY)

    def _scored_in_rows(self, run_id: str, criterion: str) -> Iterator[_ScoredPlaces]:
        """Yield what a criterion gave in a run in rows."""
        import numpy as np

        table = run_scores.c
        query = (
            select(table.position, scores.c.document)
            .join(scores, scores.c.key == table.score_key)
            .where(table.run_id == run_id, table.criterion == criterion)
            .where(scores.c.status == ScoreStatus.SCORED.value)
        )
        rows = [(place, *_points(document)) for place, document in self._database.fetch_all(query)]
        columns = np.array(rows, dtype=float).reshape(-1, 3).T
        yield columns[0].astype(np.int64), columns[1], columns[2]


def _points(document: str) -> tuple[float, float]:
    """Return points and full marks of a stored score; NaN for points without, or out of nothing."""
    try:
        content = decode_object(document)
    except BROKEN:
        return nan, nan
    points, full = content.get("points"), content.get("out_of")
    return _number(points), nan if full is None else _number(full)


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else nan  # type: ignore[arg-type]


def _scored_in_parts(home: "RunInParts", criterion: str) -> Iterator[_ScoredPlaces]:
    """Yield what a criterion gave in a run in parts."""
    import pyarrow.compute as pc

    for flat, places in _flat_scores(home):
        is_scored = pc.equal(flat["status"], ScoreStatus.SCORED.value)
        mine = pc.and_(pc.equal(flat["criterion"], criterion), is_scored).fill_null(False)
        chosen = mine.to_numpy(zero_copy_only=False)
        points, full = (
            flat[name].to_numpy(zero_copy_only=False)[chosen] for name in ("points", "out_of")
        )
        yield places[chosen], points, full


def _flat_scores(home: "RunInParts") -> Iterator[tuple[Mapping[str, Any], "Array"]]:
    """Yield the scores of a run in parts one after the other, with the places of their cases."""
    import numpy as np
    import pyarrow as pa

    from proctor.store.parts import layout
    from proctor.store.parts.layout import ATTEMPTS

    columns = ("position", *(f"scores.list.element.{name}" for name in _FIELDS))
    for table in home.tables(ATTEMPTS, columns, Positions(0, len(home.columns) - 1)):
        is_escaped = "scores.criterion" in layout.escaped_columns(table.schema)
        places, first = table["position"].to_numpy(), 0
        for chunk in table["scores"].chunks:
            lengths = chunk.value_lengths().fill_null(0).to_numpy()
            flat = chunk.flatten()
            fields = {name: flat.field(name) for name in _FIELDS}
            if is_escaped:
                names = [unescape(text or "") for text in fields["criterion"].to_pylist()]
                fields["criterion"] = pa.array(names)
            own = places[first : first + len(chunk)]
            first += len(chunk)
            yield fields, np.repeat(own, lengths)


def _unique(fields: Mapping[str, Any]) -> list[str]:
    return [name for name in fields["criterion"].unique().to_pylist() if name]


@dataclass(frozen=True)
class NamedCriteria:
    """The criteria of a run by the names that expressions have for them."""

    shares: CriterionShares
    run_id: str
    tags: Collection[str]
    """A tag of the same name comes first."""
    penalties: Collection[str] = ()

    def find(self, name: str) -> str | None:
        """Return the criterion that a name stands for: its id, with ``_`` for other characters."""
        return None if name in self.tags else self._by_name().get(name)

    def names(self) -> list[str]:
        """Return the names of criteria in expressions."""
        return [name for name in self._by_name() if name not in self.tags]

    def lacking(self, test: Callable[[str], bool]) -> "Array | None":
        """Return which cases lack marks of a criterion that passes a test; None for no such one."""
        import numpy as np

        chosen = [name for name in self.shares.names(self.run_id) if test(name)]
        if not chosen:
            return None
        masks = (self.shares.lacking(self.run_id, name, self.penalties) for name in chosen)
        mask: Array = np.logical_or.reduce(list(masks))
        return mask

    def column(self, criterion: str) -> "Array":
        """Return what a criterion gave each case."""
        return self.shares.column(self.run_id, criterion)

    def _by_name(self) -> Mapping[str, str]:
        by_name: dict[str, str] = {}
        for criterion in self.shares.names(self.run_id):
            # Of several that are written alike the first has the name.
            by_name.setdefault(name_of(criterion), criterion)
        return by_name


def name_of(criterion: str) -> str:
    """Return the name of a criterion in expressions."""
    name = re.sub(r"\W", "_", criterion)
    return f"_{name}" if name[:1].isdigit() else name


def names_in(where: str) -> set[str]:
    """Return all names in an expression."""
    tree = Expression(where).tree
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def in_order(column: "Array", request: ListingQuery) -> "Array":
    """Return all positions in the order of a column; cases without a number are last."""
    import numpy as np

    places = np.argsort(column, kind="stable")
    present = len(column) - int(np.isnan(column).sum())
    first, last = places[:present], places[present:]
    if request.falls:
        first, last = first[::-1], last[::-1]
    return np.concatenate((last, first) if request.missing_first else (first, last))


def after_cursor(
    places: "Array", whole: Callable[[], "Array"], position: int, *, falls: bool
) -> int:
    """Return where a page begins among places, after the case at a position of the whole list."""
    import numpy as np

    at = np.flatnonzero(places == position)
    if len(at):
        return int(at[0]) + 1
    # The case of the cursor is not among them: what comes first of those beyond it.
    everything = whole()
    ranks = np.empty(len(everything), dtype=np.int64)
    ranks[everything] = np.arange(len(everything))
    if not 0 <= position < len(ranks):
        return 0 if (position < 0) != falls else len(places)
    beyond = np.flatnonzero(ranks[places] > ranks[position])
    return int(beyond[0]) if len(beyond) else len(places)
