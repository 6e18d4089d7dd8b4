"""Cases of a large suite: kept in a file of their own, read back one at a time, found by id."""

import os
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from proctor import wire
from proctor.core.encoding import case_from
from proctor.core.fingerprint import content_key, plain
from proctor.core.suite import Case, Json

HELD = 5_000
"""How many cases are simply held; beyond, all of them go to a file."""
RECENT = 1_024
"""How many cases that were read last are kept."""
_SPAN = 256 * 1024
"""How many bytes are read at once when all cases are gone through."""
_EMPTY = -1


class Places:
    """Map whole numbers of 64 bits to whole numbers of 32, in a few bytes for each."""

    def __init__(self) -> None:
        self._keys = array("q", bytes(8 * 16))
        self._values = array("i", [_EMPTY]) * 16
        self._count = 0

    def get(self, key: int) -> int | None:
        """Return the number of a key; none where there is no such key."""
        value = self._values[self._slot(key)]
        return None if value == _EMPTY else value

    def put(self, key: int, value: int) -> None:
        """Give a key its number, which is not negative."""
        slot = self._slot(key)
        if self._values[slot] == _EMPTY:
            self._count += 1
        self._keys[slot], self._values[slot] = key, value
        if 3 * self._count > 2 * len(self._values):
            self._grow()

    def _slot(self, key: int) -> int:
        """Return where a key is, or where it would go."""
        keys, values = self._keys, self._values
        mask = len(values) - 1
        slot = (key ^ (key >> 32)) * 0x9E3779B1 & mask
        while values[slot] != _EMPTY and keys[slot] != key:
            slot = slot + 1 & mask
        return slot

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys = array("q", bytes(16 * len(keys)))
        self._values = array("i", [_EMPTY]) * (2 * len(values))
        for key, value in zip(keys, values, strict=True):
            if value != _EMPTY:
                slot = self._slot(key)
                self._keys[slot], self._values[slot] = key, value


class Cases(Sequence[Case]):
    """Hold cases in the order in which they come: a few in memory, many in a file.

    The file has no name, so that nothing is left behind, however the process ends.
    """

    def __init__(self) -> None:
        self._held: list[Case] | None = []
        self._file = -1
        self._written = 0
        self._starts = array("q")
        self._waiting: list[bytes] = []
        self._places = Places()
        self._recent: dict[int, Case] = {}

    def append(self, case: Case) -> None:
        """Add a case at the end."""
        self._note(case.id, len(self))
        if self._held is not None:
            self._held.append(case)
            if len(self._held) > HELD:
                self._move()
        else:
            self._write(case)

    def done(self) -> Sequence[Case]:
        """Return all cases: a tuple of few, or this for many."""
        return tuple(self._held) if self._held is not None else self

    def find(self, case_id: str) -> int | None:
        """Return the place of a case, the first one of that id; none where there is none."""
        for key in _keys(case_id):
            place = self._places.get(key)
            if place is None or self._is_at(place, case_id):
                return place
        return None

    def contents(self) -> Iterator[dict[str, Json]]:
        """Yield what ``plain`` makes of each case."""
        if self._held is not None:
            yield from map(plain, self._held)
        else:
            yield from map(wire.loads, self._documents())

    def __len__(self) -> int:
        return len(self._starts) if self._held is None else len(self._held)

    @overload
    def __getitem__(self, place: int) -> Case: ...

    @overload
    def __getitem__(self, place: slice) -> "Sequence[Case]": ...

    def __getitem__(self, place: int | slice) -> "Case | Sequence[Case]":
        if isinstance(place, slice):
            return Part(self, range(*place.indices(len(self))))
        number = place + len(self) if place < 0 else place
        if not 0 <= number < len(self):
            raise IndexError(place)
        if self._held is not None:
            return self._held[number]
        if (case := self._recent.get(number)) is None:
            if len(self._recent) >= RECENT:
                self._recent.clear()
            case = self._recent[number] = _case(self._read(number))
        return case

    def __iter__(self) -> Iterator[Case]:
        if self._held is not None:
            yield from self._held
        else:
            yield from map(_case, self._documents())

    def _documents(self) -> Iterator[bytes]:
        """Yield all cases as they are in the file."""
        self._flush()
        start, count = 0, len(self._starts)
        while start < count:
            stop = start + 1
            while stop < count and self._starts[stop] - self._starts[start] < _SPAN:
                stop += 1
            at = self._starts[start]
            data = os.pread(self._file, self._end(stop - 1) - at, at)
            for number in range(start, stop):
                yield data[self._starts[number] - at : self._end(number) - at]
            start = stop

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def _note(self, case_id: str, place: int) -> None:
        for key in _keys(case_id):
            known = self._places.get(key)
            if known is None:
                self._places.put(key, place)
                return
            if self._is_at(known, case_id):
                return

    def _is_at(self, place: int, case_id: str) -> bool:
        """Tell whether the case at a place has an id; documents mostly begin with it."""
        if self._held is None:
            start = wire.dumps({"id": case_id})[:-1] + b","
            if self._read(place, len(start)) == start:
                return True
        return self[place].id == case_id

    def _move(self) -> None:
        held, self._held = self._held or [], None
        with tempfile.TemporaryFile(prefix="proctor-") as file:
            self._file = os.dup(file.fileno())
        for case in held:
            self._write(case)

    def _write(self, case: Case) -> None:
        data = wire.dumps(plain(case))
        self._starts.append(self._written)
        self._written += len(data)
        self._waiting.append(data)
        if len(self._waiting) >= RECENT:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        self._waiting.clear()
        at = self._written - len(data)
        view = memoryview(data)
        while view:
            count = os.pwrite(self._file, view, at)
            view, at = view[count:], at + count

    def _read(self, number: int, most: int | None = None) -> bytes:
        self._flush()
        start = self._starts[number]
        size = self._end(number) - start
        return os.pread(self._file, size if most is None else min(size, most), start)

    def _end(self, number: int) -> int:
        return self._starts[number + 1] if number + 1 < len(self._starts) else self._written


class Part(Sequence[Case]):
    """Hold some of the cases, by their places."""

    def __init__(self, whole: Cases, places: Sequence[int]) -> None:
        self.whole, self.places = whole, places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Case: ...

    @overload
    def __getitem__(self, place: slice) -> "Sequence[Case]": ...

    def __getitem__(self, place: int | slice) -> "Case | Sequence[Case]":
        if isinstance(place, slice):
            return Part(self.whole, self.places[place])
        return self.whole[self.places[place]]

    def __iter__(self) -> Iterator[Case]:
        if self.places == range(len(self.whole)):
            return iter(self.whole)
        return (self.whole[place] for place in self.places)


class Finder(Mapping[str, Case]):
    """Find cases by their ids, without holding those that are in a file."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._known: dict[str, int] | None = None
        self._among: Places | None = None
        if isinstance(cases, Part):
            self._among = Places()
            for place, number in enumerate(cases.places):
                self._among.put(number, place)
        elif not isinstance(cases, Cases):
            self._known = {case.id: place for place, case in enumerate(cases)}

    def place(self, case_id: str) -> int | None:
        """Return the place of a case among these."""
        if self._known is not None:
            return self._known.get(case_id)
        if isinstance(self._cases, Part):
            whole = self._cases.whole.find(case_id)
            return None if whole is None or self._among is None else self._among.get(whole)
        assert isinstance(self._cases, Cases)
        return self._cases.find(case_id)

    def __getitem__(self, case_id: str) -> Case:
        place = self.place(case_id)
        if place is None:
            raise KeyError(case_id)
        return self._cases[place]

    def __contains__(self, case_id: object) -> bool:
        return isinstance(case_id, str) and self.place(case_id) is not None

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[str]:
        return (case.id for case in self._cases)


class Keyed(Sequence[tuple[str, Case]]):
    """Hold cases after their keys, of which each takes 16 bytes."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._keys = bytearray()
        contents = cases.contents() if isinstance(cases, Cases) else map(plain, cases)
        for key in map(content_key, contents):
            self._keys += bytes.fromhex(key)

    def keys(self) -> Iterator[str]:
        """Yield the keys in order."""
        for at in range(0, len(self._keys), 16):
            yield self._keys[at : at + 16].hex()

    def __len__(self) -> int:
        return len(self._cases)

    @overload
    def __getitem__(self, place: int) -> tuple[str, Case]: ...

    @overload
    def __getitem__(self, place: slice) -> list[tuple[str, Case]]: ...

    def __getitem__(self, place: int | slice) -> tuple[str, Case] | list[tuple[str, Case]]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = 16 * (place + len(self) if place < 0 else place)
        return self._keys[at : at + 16].hex(), self._cases[place]

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        return zip(self.keys(), self._cases, strict=True)


def _case(data: bytes) -> Case:
    return case_from(wire.loads(data))


def _keys(case_id: str) -> Iterator[int]:
    """Yield the numbers an id is looked for under: two ids may share the first ones."""
    for turn in range(8):
        yield hash((case_id, turn)) if turn else hash(case_id)
