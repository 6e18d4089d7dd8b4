"""Pairs of results of two runs as columns, where one of them has its cases in parts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol

from proctor.store.parts.columns import Codes, IdColumn
from proctor.store.rows import PairedCount, PairedRow, ResultRow, StoredPair, encode, tags_of

if TYPE_CHECKING:
    from proctor.store.parts.columns import Numbers

NEAR = 1e-9
"""Shares of full marks that differ by less count as equal."""
FIRST = ("full", "weight", "status", "value", "low", "high")
SECOND = ("full", "status", "value", "low", "high")
_ROWS = 1000
"""Pairs that are built at once."""


class Columns(Protocol):
    """Results of a run as columns, from whichever home."""

    def __len__(self) -> int: ...

    def number(self, name: str) -> "Numbers":
        """Return a column of numbers; NaN where there is none."""

    @property
    def position(self) -> "Numbers":
        """The positions, in ascending order."""

    @property
    def status(self) -> Codes:
        """The statuses."""

    @property
    def cluster(self) -> Codes:
        """The clusters; -1 where a case is a draw of its own."""

    @property
    def tags(self) -> Codes:
        """The tags of each case as JSON."""

    def case_ids(self, places: Sequence[int]) -> list[str]:
        """Return the ids at some indices."""

    def all_ids(self) -> "IdColumn | Sequence[str]":
        """Return the ids of all cases."""


class RowColumns:
    """Columns of a run in rows."""

    def __init__(self, rows: Iterable[ResultRow]) -> None:
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def number(self, name: str) -> "Numbers":
        """Return a column of numbers; NaN where there is none."""
        import numpy as np

        values = [getattr(row, name) for row in self._rows]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @cached_property
    def position(self) -> "Numbers":
        """The positions, in ascending order."""
        import numpy as np

        return np.array([row.position for row in self._rows], dtype=np.int64)

    @cached_property
    def status(self) -> Codes:
        """The statuses."""
        return _coded([row.status.value for row in self._rows])

    @cached_property
    def cluster(self) -> Codes:
        """The clusters; -1 where a case is a draw of its own."""
        return _coded([row.cluster or None for row in self._rows])

    @cached_property
    def tags(self) -> Codes:
        """The tags of each case as JSON."""
        return _coded([encode(row.tags) for row in self._rows])

    def case_ids(self, places: Sequence[int]) -> list[str]:
        """Return the ids at some indices."""
        return [self._rows[place].case_id for place in places]

    def all_ids(self) -> Sequence[str]:
        """Return the ids of all cases."""
        return [row.case_id for row in self._rows]


def _coded(values: Sequence[str | None]) -> Codes:
    import numpy as np

    names = {name: code for code, name in enumerate(dict.fromkeys(values)) if name is not None}
    ordered = {name: code for code, name in enumerate(names)}
    codes = [-1 if value is None else ordered[value] for value in values]
    return Codes(np.array(codes, dtype=np.int32), list(ordered))


@dataclass(frozen=True)
class PairedColumns:
    """Results of the cases of a first run beside those of a second."""

    one: Columns
    two: Columns
    same_suite: bool

    @cached_property
    def place(self) -> "Numbers":
        """The index in the second run of each case of the first; -1 where it lacks the case."""
        import numpy as np

        if not self.same_suite:
            return _by_id(self.one.all_ids(), self.two.all_ids())
        mine, theirs = self.one.position, self.two.position
        if not len(theirs):
            return np.full(len(mine), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        return np.where(theirs[places] == mine, places, -1)

    def first(self, name: str) -> "Numbers":
        """Return a column of numbers of the first run."""
        return self.one.number(name)

    def second(self, name: str) -> "Numbers":
        """Return a column of the second run's numbers, for each case of the first."""
        import numpy as np

        column = self.two.number(name)
        if not len(column):
            return np.full(len(self.place), np.nan)
        return np.where(self.place >= 0, column[self.place], np.nan)

    @cached_property
    def met(self) -> "Numbers":
        """Which cases both runs have."""
        return self.place >= 0

    @cached_property
    def both(self) -> "Numbers":
        """Which cases have a value in both runs."""
        import numpy as np

        return ~(np.isnan(self.first("value")) | np.isnan(self.second("value")))

    @cached_property
    def difference(self) -> "Numbers":
        """The difference as a share of full marks, positive if the second is better."""
        return _share(self.second("value"), self.second("full")) - _share(
            self.first("value"), self.first("full")
        )

    def changed(self, change: str | None) -> "Numbers":
        """Return which pairs have a kind of change; both must have a value."""
        import numpy as np

        if change is None:
            return self.both
        if change == "better":
            return self.both & (self.difference > NEAR)
        if change == "worse":
            return self.both & (self.difference < -NEAR)
        sides = [
            (self.first("value"), self.first("full")),
            (self.second("value"), self.second("full")),
        ]
        short = (sides[0][0] < sides[0][1] - NEAR) | (sides[1][0] < sides[1][1] - NEAR)
        none = np.logical_and(*(value <= NEAR * np.abs(full) for value, full in sides))
        same = self.both & (np.abs(self.difference) <= NEAR)
        kinds = {"both_right": ~short, "both_wrong": short & none, "both_partly": short & ~none}
        return same & kinds[change]

    def counts(self, tag: str | None = None) -> Iterator[PairedCount]:
        """Yield each distinct pair of results with its count, by cluster, and by a tag's values."""
        import numpy as np

        places = np.arange(len(self.one))
        if tag is None:
            yield from self._counted(places, "")
            return
        tags = self.one.tags
        values = [tags_of(text).get(tag, ()) for text in tags.names]
        for value in sorted({value for several in values for value in several}):
            having = np.array([*(value in several for several in values), False], dtype=bool)
            yield from self._counted(np.flatnonzero(having[tags.codes]), value)

    def _counted(self, places: "Numbers", group: str) -> Iterator[PairedCount]:
        import pyarrow as pa

        columns = self._keys(places)
        table = pa.table(columns)
        counted = table.group_by(list(columns), use_threads=False).aggregate([([], "count_all")])
        names = [f"first_{name}" for name in FIRST] + [f"second_{name}" for name in SECOND]
        read = [counted[name].to_pylist() for name in names]
        clusters = counted["cluster"].to_pylist()
        for *values, cluster, cases in zip(
            *read, clusters, counted["count_all"].to_pylist(), strict=True
        ):
            row = PairedRow(*(_value(value) for value in values))
            row = row._replace(
                status=self.one.status.names[int(values[2])],
                status_2=None if values[7] < 0 else self.two.status.names[int(values[7])],
            )
            name = self.one.cluster.names[cluster] if cluster >= 0 else ""
            yield PairedCount(row, cases, group, name)

    def _keys(self, places: "Numbers") -> dict[str, Any]:
        """Return the columns by which pairs are counted."""
        columns: dict[str, Any] = {"cluster": self.one.cluster.codes[places]}
        for name in FIRST:
            column = self.one.status.codes if name == "status" else self.first(name)
            columns[f"first_{name}"] = column[places]
        for name in SECOND:
            column = self._second_status() if name == "status" else self.second(name)
            columns[f"second_{name}"] = column[places]
        return columns

    def _second_status(self) -> "Numbers":
        import numpy as np

        codes = self.two.status.codes
        return np.where(self.met, codes[self.place], -1) if len(codes) else self.place

    def pairs(self, places: "Numbers") -> Iterator[StoredPair]:
        """Yield the cases at some indices of the first run."""
        for first in range(0, len(places), _ROWS):
            yield from self._pairs(places[first : first + _ROWS])

    def _pairs(self, places: "Numbers") -> Iterator[StoredPair]:
        chosen = places.tolist()
        rows = self.rows(places)
        ids = self.one.case_ids(chosen)
        positions = self.one.position[places].tolist()
        for place, position, case_id, row in zip(chosen, positions, ids, rows, strict=True):
            yield StoredPair(position, case_id, tags_of(self.one.tags.of(place) or ""), row)

    def met_cases(self) -> Iterator[tuple[str, str, PairedRow]]:
        """Yield id, cluster and results of each case that both runs have."""
        places = self.met.nonzero()[0]
        for first in range(0, len(places), _ROWS):
            some = places[first : first + _ROWS]
            ids = self.one.case_ids(some.tolist())
            for place, case_id, row in zip(some.tolist(), ids, self.rows(some), strict=True):
                yield case_id, self.one.cluster.of(place) or "", row

    def rows(self, places: "Numbers") -> list[PairedRow]:
        """Return the results at some indices of the first run."""
        columns: list[list[Any]] = []
        for name in FIRST:
            if name == "status":
                columns.append([self.one.status.of(place) for place in places.tolist()])
            else:
                columns.append([_value(value) for value in self.first(name)[places].tolist()])
        for name in SECOND:
            if name == "status":
                codes = self._second_status()[places].tolist()
                columns.append(
                    [None if code < 0 else self.two.status.names[code] for code in codes]
                )
            else:
                columns.append([_value(value) for value in self.second(name)[places].tolist()])
        return [PairedRow(*row) for row in zip(*columns, strict=True)]

    def largest(self, change: str, limit: int) -> "Numbers":
        """Return the indices of the largest changes in points, earlier ones first among equals."""
        import numpy as np

        places = np.flatnonzero(self.changed(change))
        if change not in ("better", "worse"):
            return places[:limit]
        moved = self.first("weight") * self.first("full") * np.abs(self.difference)
        order = np.argsort(-moved[places], kind="stable")
        return places[order[:limit]]

    def around(self, position: int, change: str | None) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after a position, of all or of one kind."""
        import numpy as np

        places = np.flatnonzero(self.changed(change))
        positions = self.one.position[places]
        before = places[positions < position][-1:].tolist()
        after = places[positions > position][:1].tolist()
        return (
            next(iter(self.one.case_ids(before)), None),
            next(iter(self.one.case_ids(after)), None),
        )


def _share(value: "Numbers", full: "Numbers") -> "Numbers":
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(full == 0.0, np.nan, value / full)
    shares: Numbers = np.nan_to_num(share, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return shares


def _value(value: float | None) -> Any:
    return None if value is None or isnan(value) else value


def _by_id(mine: "IdColumn | Sequence[str]", theirs: "IdColumn | Sequence[str]") -> "Numbers":
    """Return the index of each id among others; -1 where it is not there."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        arrays = [
            one.array if isinstance(one, IdColumn) else pa.array(one, pa.large_string())
            for one in (mine, theirs)
        ]
    except UnicodeEncodeError:
        arrays = []
    escaped = any(isinstance(one, IdColumn) and one.escaped for one in (mine, theirs))
    if arrays and not escaped:
        found: Numbers = pc.index_in(arrays[0], value_set=arrays[1]).fill_null(-1).to_numpy()
        return found.astype(np.int64)
    texts = [_texts(one) for one in (mine, theirs)]
    places = {text: place for place, text in reversed(list(enumerate(texts[1])))}
    return np.array([places.get(text, -1) for text in texts[0]], dtype=np.int64)


def _texts(ids: "IdColumn | Sequence[str]") -> Sequence[str]:
    return ids.at(range(len(ids.array))) if isinstance(ids, IdColumn) else ids
