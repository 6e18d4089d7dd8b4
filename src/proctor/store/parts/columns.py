"""Results of a run in parts as columns: the entry at index i is the case at position i.

Each column is read when it is first wanted, and kept while there is room.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.core.case_value import ValueStatus
from proctor.errors import PartDamaged
from proctor.store.parts import layout
from proctor.store.parts.column_cache import COLUMNS, array_bytes
from proctor.store.parts.files import PartFolder, translated
from proctor.store.parts.layout import RESULTS
from proctor.store.parts.rows import RunPart, SuitePart
from proctor.store.rows import BROKEN, ResultRow, escape, read_tags, tags_of, unescape

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]

NUMBERS = ("value", "full", "weight", "low", "high", "spread")
FEW = 50
"""Of so many cases id and tags are read from their parts, rather than the columns of all cases."""
_ROWS = 500
"""Rows that are built at once."""
_UNREADABLE = {"status": "", "tags": "", "cluster": None}
"""What stands in a column for the cases of a part that cannot be read."""


class Codes(NamedTuple):
    """A column of few distinct values: a number for each case, and what the numbers mean."""

    codes: "Numbers"
    """-1 where a case has none."""
    names: Sequence[str]

    @property
    def nbytes(self) -> int:
        """Return the size of the column."""
        return array_bytes(self.codes) + sum(len(name) + 60 for name in self.names)

    def of(self, position: int) -> str | None:
        """Return the value of a case."""
        code = int(self.codes[position])
        return None if code < 0 else self.names[code]

    def mask(self, test: Callable[[str], bool]) -> "Numbers":
        """Return which cases have a value that passes a test."""
        import numpy as np

        passed = np.array([test(name) for name in self.names] + [False], dtype=bool)
        return passed[self.codes]


class Order(NamedTuple):
    """Positions of all cases, sorted by something."""

    places: "Numbers"
    """Ascending; those of cases that have nothing to sort by are at the end."""
    present: int
    """How many cases have something to sort by."""

    @property
    def nbytes(self) -> int:
        """Return the size of the column."""
        return array_bytes(self.places)


class TagColumn(NamedTuple):
    """The values of one tag, of which a case may have several."""

    codes: "Numbers"
    """A number for each case."""
    values: Sequence[tuple[str, ...]]
    """What cases with a number have; empty where they do not have the tag."""

    def mask(self, test: Callable[[str], bool]) -> "Numbers":
        """Return which cases have a value that passes a test."""
        import numpy as np

        passed = [any(test(value) for value in values) for values in self.values]
        return np.array([*passed, False], dtype=bool)[self.codes]


class ResultColumns:
    """Columns of the results of a run in parts."""

    def __init__(self, parts: Sequence[RunPart], folder_of: Callable[[str], PartFolder]) -> None:
        self._parts = parts
        self._folder_of = folder_of
        self._ids = IdColumn(parts, folder_of, RESULTS, "case_id")

    def __len__(self) -> int:
        return self._parts[-1].end if self._parts else 0

    @cached_property
    def key(self) -> tuple[str, ...]:
        """What distinguishes these columns from all others in this process."""
        return tuple(part.place for part in self._parts)

    @property
    def position(self) -> "Numbers":
        """The positions, which are the indices."""
        import numpy as np

        return np.arange(len(self))

    @property
    def value(self) -> "Numbers":
        """The values as floats; NaN where a case has none."""
        return self.number("value")

    @property
    def full(self) -> "Numbers":
        """The full marks."""
        return self.number("full")

    @property
    def weight(self) -> "Numbers":
        """The weights."""
        return self.number("weight")

    @property
    def low(self) -> "Numbers":
        """The least that each case may be worth."""
        return self.number("low")

    @property
    def high(self) -> "Numbers":
        """The most that each case may be worth."""
        return self.number("high")

    @property
    def spread(self) -> "Numbers":
        """The spread of each case over its attempts."""
        return self.number("spread")

    @property
    def status(self) -> Codes:
        """The statuses; the empty one is that of cases that cannot be read."""
        return self._codes("status")

    @property
    def cluster(self) -> Codes:
        """The clusters; -1 where a case is a draw of its own."""
        return self._codes("cluster")

    @property
    def tags(self) -> Codes:
        """The tags of each case as JSON."""
        return self._codes("tags")

    def number(self, name: str) -> "Numbers":
        """Return a column of numbers, one of ``NUMBERS``; NaN where there is none."""
        numbers: Numbers = self._column(name)
        return numbers

    @property
    def ids(self) -> "IdColumn":
        """The ids of the cases."""
        return self._ids

    def ids_at(self, positions: Iterable[int]) -> list[str]:
        """Return the ids of some cases."""
        return self._ids.at(positions)

    def find(self, case_ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of some cases by id, the first of several; unknown are left out."""
        return self._ids.find(case_ids)

    def tag_names(self) -> list[str]:
        """Return the names of all tags, sorted."""
        return sorted({name for tags in self._read_tags for name in tags})

    def tag(self, name: str) -> TagColumn:
        """Return the values of one tag."""
        return TagColumn(self.tags.codes, [tags.get(name, ()) for tags in self._read_tags])

    def rows(self, positions: Sequence[int]) -> list[ResultRow]:
        """Return the results at some positions, in their order."""
        ids = self.ids_at(positions)
        return [self._row(place, case_id) for place, case_id in zip(positions, ids, strict=True)]

    def iter_rows(
        self, after: int, limit: int | None, tag: tuple[str, str] | None
    ) -> Iterator[ResultRow]:
        """Yield results in order, some of them at a time, perhaps only those with a tag's value."""
        import numpy as np

        places = self.position
        if tag is not None:
            places = np.flatnonzero(self.tag(tag[0]).mask(lambda value: value == tag[1]))
        places = places[places > after][:limit]
        for first in range(0, len(places), _ROWS):
            yield from self.rows(places[first : first + _ROWS].tolist())

    def values_of(self, case_ids: Iterable[str]) -> dict[str, tuple[float | None, float]]:
        """Return value and full marks of some cases, by id."""
        values, full = self.value, self.full
        return {
            case_id: (None if isnan(values[place]) else float(values[place]), float(full[place]))
            for case_id, place in self.find(case_ids).items()
        }

    def labels_at(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return ids and tags of some cases, tags as JSON; a few are looked up in the files."""
        few = len(positions) <= FEW and not COLUMNS.has((self.key, "tags"))
        if few or not positions:
            read = {part.place: self._labels_of(part) for part in self._touched(positions)}
            places = ((place, self._part_of(place)) for place in positions)
            return [read[part.place](place - part.first) for place, part in places]
        tags = [self.tags.of(place) or "" for place in positions]
        return list(zip(self.ids_at(positions), tags, strict=True))

    def _part_of(self, position: int) -> RunPart:
        return self._parts[bisect_right(self._parts, position, key=lambda part: part.first) - 1]

    def _touched(self, positions: Iterable[int]) -> list[RunPart]:
        return list({id(part): part for part in map(self._part_of, positions)}.values())

    def _labels_of(self, part: RunPart) -> Callable[[int], tuple[str, str]]:
        """Return what looks up id and tags of a case of a part, by its place there."""
        read = _read_columns(self._folder_of, part, RESULTS, ("case_id", "tags"))

        def text(name: str, place: int, nothing: str) -> str:
            chunk, escaped = read[name]
            if chunk is None:
                return nothing
            value = chunk[place].as_py() or ""
            return unescape(value) if escaped else value

        def label(place: int) -> tuple[str, str]:
            nothing = f"case {part.first + place + 1}"
            return text("case_id", place, nothing), text("tags", place, "")

        return label

    def tags_at(self, position: int) -> dict[str, tuple[str, ...]]:
        """Return the tags of one case; invalid ones are empty."""
        return tags_of(self.tags.of(position) or "")

    def _row(self, place: int, case_id: str) -> ResultRow:
        numbers: dict[str, Any] = {name: float(self.number(name)[place]) for name in NUMBERS}
        value = numbers.pop("value")
        broken = any(isnan(number) for number in numbers.values())
        status, tags = ValueStatus.UNSCORED, dict[str, tuple[str, ...]]()
        try:
            status = ValueStatus(self.status.of(place) or "")
            tags = read_tags(self.tags.of(place) or "")
        except BROKEN:
            broken = True
        return ResultRow(
            position=place,
            case_id=case_id,
            status=status,
            value=None if isnan(value) else value,
            tags=tags,
            cluster=self.cluster.of(place) or "",
            broken=broken,
            **numbers,
        )

    @cached_property
    def _read_tags(self) -> list[Mapping[str, tuple[str, ...]]]:
        return [tags_of(text) for text in self.tags.names]

    def _codes(self, name: str) -> Codes:
        codes: Codes = self._column(name)
        return codes

    def _column(self, name: str) -> Any:
        return COLUMNS.get((self.key, name), lambda: self._load(name))

    def prepare(self, names: Iterable[str]) -> None:
        """Read the columns of some names, those not in memory, so that each file is opened once."""
        missing = [name for name in names if not COLUMNS.has((self.key, name))]
        if len(missing) > 1:
            chunks = self._chunks(missing)
            # What has the same numbers as the values comes after them.
            for name in sorted(missing, key=("value", *missing).index):
                COLUMNS.get((self.key, name), partial(self._whole, name, chunks.pop(name)))

    def _load(self, name: str) -> Any:
        return self._whole(name, self._chunks([name])[name])

    def _chunks(self, names: Sequence[str]) -> dict[str, list[tuple[Any, bool]]]:
        """Return columns of all parts, each with whether it is escaped."""
        import pyarrow as pa

        schema = layout.result_schema()
        chunks: dict[str, list[tuple[Any, bool]]] = {name: [] for name in names}
        for part in self._parts:
            read = _read_columns(self._folder_of, part, RESULTS, names)
            for name in names:
                kind = schema.field(name).type
                chunk, escaped = read[name]
                if chunk is None:
                    nothing = None if name in NUMBERS else _UNREADABLE[name]
                    chunk = pa.array([nothing] * part.cases, kind)
                chunks[name].append((chunk.cast(kind), escaped))
        return chunks

    def _whole(self, name: str, chunks: Sequence[tuple[Any, bool]]) -> Any:
        """Return a column of all parts as one."""
        import pyarrow as pa

        arrays = [chunk for chunk, _ in chunks]
        if name in ("low", "high"):
            return _same_or_own(_numbers(arrays), self.value)
        if name in NUMBERS:
            return _numbers(arrays)
        column = pa.chunked_array(arrays, layout.result_schema().field(name).type)
        return _as_codes(column.dictionary_encode(), any(escaped for _, escaped in chunks))


class IdColumn:
    """Ids of the cases of a run or a suite, in order."""

    def __init__(
        self,
        parts: Sequence[RunPart] | Sequence[SuitePart],
        folder_of: Callable[[str], PartFolder],
        kind: str,
        name: str,
    ) -> None:
        self._parts = parts
        self._folder_of = folder_of
        self._kind = kind
        self._name = name

    @property
    def array(self) -> Any:
        """The ids as one array of Arrow; ``escaped`` tells whether they are escaped."""
        return self._loaded().array

    @property
    def escaped(self) -> bool:
        """Whether all ids are escaped, since one of them has what UTF-8 cannot hold."""
        return self._loaded().escaped

    def at(self, positions: Iterable[int]) -> list[str]:
        """Return the ids of some cases."""
        import pyarrow as pa

        chosen: list[str] = self.array.take(pa.array(list(positions), pa.int64())).to_pylist()
        return [unescape(text) for text in chosen] if self.escaped else chosen

    def find(self, case_ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of some cases by id, the first of several; unknown are left out."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        stored = ((self._as_stored(case_id), case_id) for case_id in dict.fromkeys(case_ids))
        by_text = {text: case_id for text, case_id in stored if text is not None}
        texts = list(by_text)
        if self._loaded().ascending:
            places_by_id = ((by_text[text], _place_of(text, self.array)) for text in texts)
            return {case_id: place for case_id, place in places_by_id if place is not None}
        matched = pc.index_in(self.array, value_set=pa.array(texts, self.array.type))
        places = np.flatnonzero(matched.is_valid().to_numpy(zero_copy_only=False))
        codes = matched.drop_null().to_pylist()
        positions: dict[str, int] = {}
        for place, code in zip(places.tolist(), codes, strict=True):
            positions.setdefault(by_text[texts[code]], place)
        return positions

    def _as_stored(self, case_id: str) -> str | None:
        """Return an id as the array has it; None where it cannot have it."""
        if self.escaped:
            return escape(case_id)
        try:
            case_id.encode()
        except UnicodeEncodeError:
            return None
        return case_id

    def _loaded(self) -> "_Ids":
        key = (tuple(part.place for part in self._parts), self._name)
        ids: _Ids = COLUMNS.get(key, self._load)
        return ids

    def _load(self) -> "_Ids":
        import pyarrow as pa

        chunks: list[tuple[Any, bool]] = []
        for part in self._parts:
            read = _read_columns(self._folder_of, part, self._kind, [self._name])
            chunk, escaped = read[self._name]
            if chunk is None:
                chunk = pa.array([f"case {place + 1}" for place in range(part.first, part.end)])
            chunks.append((chunk, escaped))
        return _shared(_ids(chunks))


class _LoadedIds(IdColumn):
    """Ids that are in memory already."""

    def __init__(self, ids: "_Ids") -> None:
        self._all = ids

    def _loaded(self) -> "_Ids":
        return self._all


def loaded_ids(texts: Sequence[str]) -> IdColumn:
    """Return ids in memory as a column."""
    import pyarrow as pa

    try:
        return _LoadedIds(_Ids(_small(pa.array(texts, pa.large_string())), escaped=False))
    except UnicodeEncodeError:
        escaped = [escape(text) for text in texts]
        return _LoadedIds(_Ids(_small(pa.array(escaped, pa.large_string())), escaped=True))


def _read_columns(
    folder_of: Callable[[str], PartFolder],
    part: RunPart | SuitePart,
    kind: str,
    names: Sequence[str],
) -> dict[str, tuple[Any, bool]]:
    """Return columns of one part, each None if it cannot be read, and whether it is escaped."""
    try:
        folder = folder_of(part.place)
        file = folder.open(part.place, kind)
        with translated(folder.path(part.place, kind)), file:
            table = file.read(columns=list(names), use_threads=False)
            escaped = layout.escaped_columns(file.schema_arrow)
    except PartDamaged:
        # One column may be damaged where the others are not.
        if len(names) > 1:
            return {name: _read_columns(folder_of, part, kind, [name])[name] for name in names}
        return dict.fromkeys(names, (None, False))
    return {name: (_one_array(table, name, part.cases), name in escaped) for name in names}


def _one_array(table: Any, name: str, cases: int) -> Any:
    """Return a column as one array; None if it is not one of as many cases."""
    import pyarrow as pa

    column = table.column(name)
    if len(column) != cases or (column.null_count and name in ("id", "case_id")):
        return None
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else None


def _numbers(chunks: Sequence[Any]) -> Any:
    import numpy as np

    arrays = [chunk.to_numpy(zero_copy_only=False) for chunk in chunks]
    return _narrow(np.concatenate(arrays)) if arrays else np.empty(0)


def _narrow(column: "Numbers") -> "Numbers":
    """Return a column whose numbers are all the same as one number, read again and again."""
    import numpy as np

    if len(column) and (column == column[0]).all():
        return np.broadcast_to(column[:1].copy(), column.shape)
    return column


def _same_or_own(column: "Numbers", other: "Numbers") -> "Numbers":
    """Return another column in the place of one that has the same numbers, bit for bit."""
    import numpy as np

    kind = np.uint64
    return other.view() if np.array_equal(column.view(kind), other.view(kind)) else column


@dataclass(frozen=True)
class _Ids:
    """The ids of all cases."""

    array: Any
    escaped: bool
    ascending: bool = False
    """Whether each is greater than the one before."""
    shared: bool = False
    """Whether the array is that of another run or suite with the same ids."""

    @property
    def nbytes(self) -> int:
        """Return the size of what it has of its own."""
        return 0 if self.shared else int(self.array.nbytes)


def _ids(chunks: Sequence[tuple[Any, bool]]) -> _Ids:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_escaped = any(escaped for _, escaped in chunks)
    few = sum(chunk.nbytes for chunk, _ in chunks) < _MOST_SMALL
    kind = pa.string() if few and not is_escaped else pa.large_string()
    arrays = [
        pa.array([escape(text) for text in chunk.to_pylist()], kind)
        if is_escaped and not escaped
        else chunk.cast(kind)
        for chunk, escaped in chunks
    ]
    whole = _small(pa.concat_arrays(arrays) if arrays else pa.array([], kind))
    return _Ids(
        whole, is_escaped, bool(pc.all(pc.less(whole[:-1], whole[1:]), min_count=0).as_py())
    )


def _shared(ids: _Ids) -> _Ids:
    """Return ids in the array of others in memory that are the same, if there are any."""
    others = (column for column in COLUMNS.columns() if isinstance(column, _Ids))
    for other in others:
        if other.escaped == ids.escaped and other.array.equals(ids.array):
            return replace(other, shared=True)
    return ids


def _place_of(text: str, ids: Any) -> int | None:
    """Return where a text is among ids that ascend; None where it is not."""
    place = bisect_left(ids, text, key=_text_of)
    return place if place < len(ids) and _text_of(ids[place]) == text else None


def _text_of(scalar: Any) -> str:
    text: str = scalar.as_py()
    return text


_MOST_SMALL = 2**31
"""Bytes of ids whose places have four bytes each."""


def _small(ids: Any) -> Any:
    """Return ids with places of four bytes each, as long as these reach to their end."""
    import pyarrow as pa

    return ids.cast(pa.string()) if ids.nbytes < _MOST_SMALL else ids


def _as_codes(column: Any, escaped: bool) -> Codes:
    import numpy as np

    whole = column.unify_dictionaries().combine_chunks()
    if hasattr(whole, "chunks"):
        whole = whole.chunk(0) if whole.num_chunks else None
    if whole is None:
        return Codes(np.empty(0, dtype=np.int32), ())
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    names = whole.dictionary.to_pylist()
    if escaped:
        names = [unescape(text) for text in names]
    kind = np.int8 if len(names) < 2**7 else np.int16 if len(names) < 2**15 else np.int32
    return Codes(_narrow(codes.astype(kind)), names)
