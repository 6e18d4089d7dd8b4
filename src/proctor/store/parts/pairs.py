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

    @cached_property
    def shares(self) -> "tuple[Array, Array]":
        """Both values as parts of full marks, 0 where there is none."""
        one = _parts(self.first.value, self.first.full)
        return one, _parts(self.number("value"), self.number("full"))

    def difference(self) -> "Array":
        """Return by how much of the full marks the second is better."""
        one, two = self.shares
        difference: Array = two - one
        return difference

    def have_values(self) -> "Array":
        """Return which cases have a value in both runs."""
        import numpy as np

        values: Array = ~(np.isnan(self.first.value) | np.isnan(self.number("value")))
        return values

    def changed(self, change: "Change | None") -> "Array":
        """Return which pairs have a kind of change; both must have a value."""
        import numpy as np

        both = self.have_values()
        if change is None:
            return both
        difference = self.difference()
        if change in ("better", "worse"):
            return both & (difference > NEAR if change == "better" else difference < -NEAR)
        values, fulls = (
            (self.first.value, self.number("value")),
            (
                self.first.full,
                self.number("full"),
            ),
        )
        pairs = list(zip(values, fulls, strict=True))
        short = np.logical_or.reduce([value < full - NEAR for value, full in pairs])
        none = np.logical_and.reduce([value <= NEAR * np.abs(full) for value, full in pairs])
        kinds = {"both_right": ~short, "both_wrong": short & none, "both_partly": short & ~none}
        same: Array = both & (np.abs(difference) <= NEAR) & kinds[change]
        return same

    def share_cells(self) -> list[ShareCell]:
        """Count the cases with a value in both runs by what share of the first's full it is."""
        import numpy as np

        full = self.first.full
        counted = self.have_values() & (full != 0)
        one, two = (
            value[counted] / full[counted] for value in (self.first.value, self.number("value"))
        )
        first, second = (
            (share > SHARES[0]).astype(int) + np.searchsorted(SHARES[1:], share, side="right")
            for share in (one, two)
        )
        cells = first * (len(SHARES) + 1) + second
        names, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
        means = [np.bincount(places, weights=share, minlength=len(names)) / np.maximum(counts, 1)
                 for share in (one, two)]  # fmt: skip
        return [
            ShareCell(*divmod(int(name), len(SHARES) + 1), int(count), float(mean), float(other))
            for name, count, mean, other in zip(names, counts, *means, strict=True)
        ]

    def pairs_at(self, places: Sequence[int]) -> list[StoredPair]:
        """Return the pairs at some positions of the first run."""
        ids = self.first.ids_at(places)
        return [
            StoredPair(place, case_id, tags_of(self.first.tags.of(place) or ""), self.row(place))
            for place, case_id in zip(places, ids, strict=True)
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

        names = ("better", "worse", "both_wrong", "both_partly", "both_right")
        codes = np.full(len(self), len(names) - 1, dtype=np.int32)
        for number, name in reversed(list(enumerate(names[:-1]))):
            codes[self.changed(name)] = number  # type: ignore[arg-type]
        return Codes(codes, names)


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
