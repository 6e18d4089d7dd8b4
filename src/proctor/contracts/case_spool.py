"""Cases of a large suite: kept in a temporary database, read back one at a time, found by id."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

from proctor.core.encoding import case_from
from proctor.core.fingerprint import case_key, content_key, plain
from proctor.core.suite import Case, Json
from proctor.io import json_bytes
from proctor.io.concurrency import tallied
from proctor.io.temporary_database import MOST_IN_MEMORY, TemporaryDatabase, as_column

RECENT = 1_024
"""How many cases that were read last are kept."""


class SpooledCases(Sequence[Case]):
    """Cases in the order in which they come: a few in memory, many in a temporary database."""

    def __init__(self) -> None:
        self._in_memory: list[Case] | None = []
        self._first: dict[str, int] = {}
        self._database: TemporaryDatabase | None = None
        self._indexed = False
        self._count = 0
        self._waiting: list[tuple[int, int | bytes, bytes]] = []
        self._recent: dict[int, Case] = {}

    def append(self, case: Case) -> None:
        """Add a case at the end."""
        if self._in_memory is not None:
            self._first.setdefault(case.id, self._count)
            self._in_memory.append(case)
            self._count += 1
            if self._count > MOST_IN_MEMORY:
                self._move()
        else:
            self._write(case)

    def done(self) -> Sequence[Case]:
        """Return all cases: a tuple of few, or this for many."""
        return tuple(self._in_memory) if self._in_memory is not None else self

    def find(self, case_id: str) -> int | None:
        """Return the place of a case, the first one of that id; none where there is none."""
        if self._in_memory is not None:
            return self._first.get(case_id)
        database = self._flushed()
        if not self._indexed:
            database.change("CREATE INDEX cases_by_id ON cases (id, place)")
            self._indexed = True
        query = "SELECT place FROM cases WHERE id = ? ORDER BY place LIMIT 1"
        place: int | None = database.first(query, (as_column(case_id),))
        return place

    def contents(self) -> Iterator[dict[str, Json]]:
        """Yield what ``plain`` makes of each case."""
        if self._in_memory is not None:
            yield from map(plain, self._in_memory)
        else:
            yield from map(json_bytes.loads, self._documents())

    def __len__(self) -> int:
        return self._count

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
        if self._in_memory is not None:
            return self._in_memory[number]
        if (case := self._recent.get(number)) is None:
            if len(self._recent) >= RECENT:
                self._recent.clear()
            query = "SELECT data FROM cases WHERE place = ?"
            case = self._recent[number] = _case(self._flushed().first(query, (number,)))
        return case

    def __iter__(self) -> Iterator[Case]:
        if self._in_memory is not None:
            yield from self._in_memory
        else:
            yield from map(_case, self._documents())

    def _documents(self) -> Iterator[bytes]:
        """Yield all cases that are there now as they are in the database."""
        query = "SELECT data FROM cases WHERE place < ? ORDER BY place"
        return (data for (data,) in self._flushed().rows(query, (self._count,)))

    def _move(self) -> None:
        cases, self._in_memory = self._in_memory or [], None
        self._database = TemporaryDatabase(
            "CREATE TABLE cases (place INTEGER PRIMARY KEY, id BLOB NOT NULL, data BLOB NOT NULL)"
        )
        self._count = 0
        self._first.clear()
        for case in cases:
            self._write(case)

    def _write(self, case: Case) -> None:
        self._waiting.append((self._count, as_column(case.id), json_bytes.dumps(plain(case))))
        self._count += 1
        if len(self._waiting) >= RECENT:
            self._flushed()

    def _flushed(self) -> TemporaryDatabase:
        assert self._database is not None
        if self._waiting:
            self._database.change_many("INSERT INTO cases VALUES (?, ?, ?)", self._waiting)
            self._waiting.clear()
        return self._database


class Part(Sequence[Case]):
    """Some of the cases, by their places, which only rise or only fall."""

    def __init__(self, whole: SpooledCases, places: Sequence[int]) -> None:
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

    def find(self, case_id: str) -> int | None:
        """Return the place of a case among these; none where it is not."""
        number = self.whole.find(case_id)
        if number is None or not self.places:
            return None
        sign = 1 if self.places[0] <= self.places[-1] else -1
        at = bisect_left(self.places, sign * number, key=lambda place: sign * place)
        return at if at < len(self.places) and self.places[at] == number else None


class CaseFinder(Mapping[str, Case]):
    """Cases by their ids, without holding those that are in a database."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self.place: Callable[[str], int | None] = (
            cases.find
            if isinstance(cases, SpooledCases | Part)
            else {case.id: place for place, case in enumerate(cases)}.get
        )
        """Gives the place of a case among these."""

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
    """Cases after their keys, of which each takes 16 bytes."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._keys = bytearray()
        keys = (
            map(content_key, cases.contents())
            if isinstance(cases, SpooledCases)
            else map(case_key, cases)
        )
        for key in tallied("keys", keys, len(cases)):
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
    return case_from(json_bytes.loads(data))
