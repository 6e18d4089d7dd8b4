"""Results of two runs side by side as columns, one entry for each case of the first run."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from proctor.store.parts.columns import Codes, ResultColumns, loaded_ids
from proctor.store.parts.conditions import ColumnTerms
from proctor.store.rows import (
    SHARES,
    Change,
    PairedRow,
    ResultRow,
    ShareCell,
    StoredPair,
    encode,
    tags_of,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

NEAR = 1e-9
"""Shares of full marks that differ by less count as equal."""


class LoadedResults(ResultColumns):
    """Columns of the results of a run in rows, which are loaded at once."""

    def __init__(self, rows: Iterator[ResultRow]) -> None:
        self._rows = list(rows)
        self._size = self._rows[-1].position + 1 if self._rows else 0
        self._by_name: dict[str, Any] = {}
        # A position without a case has an id that is none.
        texts = [f"\0{place}" for place in range(self._size)]
        for row in self._rows:
            texts[row.position] = row.case_id
        self._ids = loaded_ids(texts)

    def __len__(self) -> int:
        return self._size

    def prepare(self, names: Iterable[str]) -> None:
        """Do nothing: all results are in memory."""

    def labels_at(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return ids and tags of some cases, tags as JSON."""
        tags = [self.tags.of(place) or "" for place in positions]
        return list(zip(self.ids_at(positions), tags, strict=True))

    def _column(self, name: str) -> Any:
        if name not in self._by_name:
            self._by_name[name] = self._filled(name)
        return self._by_name[name]

    def _filled(self, name: str) -> Any:
        import numpy as np

        places = [row.position for row in self._rows]
        if name in ("status", "cluster", "tags"):
            texts = [_text(row, name) for row in self._rows]
            names = list(dict.fromkeys(text for text in texts if text is not None))
            numbers = {text: number for number, text in enumerate(names)}
            codes = np.full(len(self), -1, dtype=np.int32)
            codes[places] = [-1 if text is None else numbers[text] for text in texts]
            return Codes(codes, names)
        column = np.full(len(self), np.nan)
        column[places] = [math.nan if (one := getattr(row, name)) is None else one
                          for row in self._rows]  # fmt: skip
        return column


def _text(row: ResultRow, name: str) -> str | None:
    if name == "tags":
        return encode(row.tags)
    return str(row.status.value) if name == "status" else row.cluster or None


@dataclass(frozen=True)
class PairColumns:
    """The cases of a first run, with what a second one has for them."""

    first: ResultColumns
    second: ResultColumns
    places: "Array"
    """Where the second run has each case of the first; -1 where it lacks it."""

    @classmethod
    def of(cls, first: ResultColumns, second: ResultColumns, *, same_suite: bool) -> "PairColumns":
        """Pair the cases of two runs: by position in the same suite, else by id."""
        for run in (first, second):
            run.prepare((*_NUMBERS, "status", "cluster"))
        if same_suite:
            return cls(first, second, _same_places(first, second))
        return cls(first, second, _places_by_id(first, second))

    def __len__(self) -> int:
        return len(self.first)

    def number(self, name: str) -> "Array":
        """Return a column of the second run; NaN where it lacks the case."""
        import numpy as np

        column = self.second.number(name)
        if self._aligned:
            return column[: len(self)]
        return np.where(self.places < 0, np.nan, column[self.places])

    @cached_property
    def status(self) -> Codes:
        """The status in the second run; -1 where it lacks the case."""
        import numpy as np

        codes, names = self.second.status
        if self._aligned:
            return Codes(codes[: len(self)], names)
        return Codes(np.where(self.places < 0, np.int32(-1), codes[self.places]), names)

    @property
    def is_met(self) -> "Array":
        """Which cases the second run has."""
        return self.status.codes >= 0

    @cached_property
    def _aligned(self) -> bool:
        """Whether the second run has every case of the first at the same position."""
        import numpy as np

        aligned = len(self.second) >= len(self)
        return aligned and bool(np.array_equal(self.places, np.arange(len(self), dtype=np.int32)))

    def shares_at(self, places: Any = slice(None)) -> "tuple[Array, Array]":
        """Return both values of some pairs as parts of full marks, 0 where there is none."""
        sides = [self._side(side) for side in (0, 1)]
        one, two = (_parts(value[places], full[places]) for value, full in sides)
        return one, two

    def difference(self) -> "Array":
        """Return by how much of the full marks the second is better."""
        one, two = self.shares_at()
        difference: Array = two - one
        return difference

    def have_values(self) -> "Array":
        """Return which cases have a value in both runs."""
        values: Array = self._changes >= 0
        return values

    def changed(self, change: "Change | None") -> "Array":
        """Return which pairs have a kind of change; both must have a value."""
        if change is None:
            return self.have_values()
        same: Array = self._changes == _CHANGES.index(change)
        return same

    @cached_property
    def _changes(self) -> "Array":
        """The kind of change of each pair, by its place in ``_CHANGES``.

        It is -1 where a value is missing, and beyond them where a difference is none.
        """
        import numpy as np

        kinds = np.empty(len(self), dtype=np.int8)
        sides = [self._side(side) for side in (0, 1)]
        for stretch in _stretches(len(self)):
            (one, full), (two, full_2) = ((value[stretch], full[stretch]) for value, full in sides)
            share, share_2 = _parts(one, full), _parts(two, full_2)
            difference = share_2 - share
            short = (one < full - NEAR) | (two < full_2 - NEAR)
            none = (one <= NEAR * np.abs(full)) & (two <= NEAR * np.abs(full_2))
            conditions = [
                np.isnan(one) | np.isnan(two),
                difference > NEAR,
                difference < -NEAR,
                ~(np.abs(difference) <= NEAR),
                short & none,
                short,
            ]
            kinds[stretch] = np.select(conditions, [-1, 0, 1, len(_CHANGES), 2, 3], 4)
        return kinds

    def _side(self, side: int) -> "tuple[Array, Array]":
        """Return the values and full marks of the first run, or of the second."""
        if side == 0:
            return self.first.value, self.first.full
        return self.number("value"), self.number("full")

    def share_cells(self) -> list[ShareCell]:
        """Count the cases with a value in both runs by what share of the first's full it is."""
        import numpy as np

        size = len(SHARES) + 2
        counts = np.zeros(size * size, dtype=np.int64)
        sums = np.zeros(size * size), np.zeros(size * size)
        values, fulls = (self.first.value, self.number("value")), self.first.full
        for stretch in _stretches(len(self)):
            full = fulls[stretch]
            counted = (self._changes[stretch] >= 0) & (full != 0)
            shares = [value[stretch][counted] / full[counted] for value in values]
            first, second = (
                (share > SHARES[0]).astype(int) + np.searchsorted(SHARES, share, side="right")
                for share in shares
            )
            cells = first * size + second
            counts += np.bincount(cells, minlength=len(counts))
            for whole, share in zip(sums, shares, strict=True):
                # One after the other, as adding all at once does.
                np.add.at(whole, cells, share)
        return [
            ShareCell(*divmod(cell, size), int(counts[cell]), *(float(whole[cell] / counts[cell])
                                                                for whole in sums))
            for cell in counts.nonzero()[0].tolist()
        ]  # fmt: skip

    def pairs_at(self, places: Sequence[int]) -> list[StoredPair]:
        """Return the pairs at some positions of the first run."""
        labels = self.first.labels_at(places)
        return [
            StoredPair(place, case_id, tags_of(tags), self.row(place))
            for place, (case_id, tags) in zip(places, labels, strict=True)
        ]

    def row(self, place: int) -> PairedRow:
        """Return the results of one case of the first run."""
        first = {name: _number_or_none(self.first.number(name)[place]) for name in _NUMBERS}
        second = {name: _number_or_none(self.number(name)[place]) for name in _NUMBERS}
        return PairedRow(
            full=first["full"] or 0.0,
            weight=first["weight"] or 0.0,
            status=self.first.status.of(place) or "",
            value=first["value"],
            low=first["low"] or 0.0,
            high=first["high"] or 0.0,
            full_2=second["full"],
            status_2=self.status.of(place),
            value_2=second["value"],
            low_2=second["low"],
            high_2=second["high"],
        )

    def terms(self, *, fold_case: bool) -> ColumnTerms:
        """Return what expressions on pairs may name."""
        columns: Mapping[str, Callable[[], Any]] = {
            "id": lambda: self.first.ids,
            "kind": lambda: self._kinds,
            "first": lambda: self.first.value,
            "second": lambda: self.number("value"),
            "full": lambda: self.first.full,
            "weight": lambda: self.first.weight,
            "difference": self.difference,
        }
        return ColumnTerms(columns, len(self), self.first.tag, fold_case)

    @cached_property
    def _kinds(self) -> Codes:
        import numpy as np

        last = len(_CHANGES) - 1
        is_change = (self._changes >= 0) & (self._changes <= last)
        return Codes(np.where(is_change, self._changes, np.int8(last)), _CHANGES)


_CHANGES: "tuple[Change, ...]" = ("better", "worse", "both_wrong", "both_partly", "both_right")
_STRETCH = 2**13
"""Pairs that are looked at together: what is computed of them stays in the processor's cache."""


def _stretches(pairs: int) -> Iterator[slice]:
    return (slice(start, start + _STRETCH) for start in range(0, pairs, _STRETCH))


_NUMBERS = ("full", "weight", "value", "low", "high")


def _same_places(first: ResultColumns, second: ResultColumns) -> "Array":
    import numpy as np

    places = np.arange(len(first), dtype=np.int32)
    places[len(second) :] = -1
    return places


def _places_by_id(first: ResultColumns, second: ResultColumns) -> "Array":
    """Find the cases of the first run in the second, the first of several with an id."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if first.ids.escaped != second.ids.escaped:
        place_by_id: dict[str, int] = {}
        for place, case_id in enumerate(second.ids_at(range(len(second)))):
            place_by_id.setdefault(case_id, place)
        ids = first.ids_at(range(len(first)))
        return np.array([place_by_id.get(case_id, -1) for case_id in ids], dtype=np.int64)
    sides = [first.ids.array, second.ids.array]
    if sides[0].type != sides[1].type:
        sides = [side.cast(pa.large_string()) for side in sides]
    indices = pc.index_in(sides[0], value_set=sides[1])
    places: Array = pc.fill_null(indices, pa.scalar(-1, pa.int32())).to_numpy(zero_copy_only=False)
    return places


def _parts(value: "Array", full: "Array") -> "Array":
    import numpy as np

    if len(full) and not full.strides[0] and full[0] == 1.0 and not np.isnan(value).any():
        return value  # Marks out of one, all of which are there, are such parts.
    with np.errstate(all="ignore"):
        parts = np.where(full == 0, 0.0, value / full)
    return np.nan_to_num(parts, copy=False, nan=0.0)


def _number_or_none(value: Any) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number
