"""Texts that are nearly the same: groups of them among many, by hashes of their word sequences."""

import re
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

ALIKE = 0.8
"""From which share of common word sequences on two texts count as nearly the same."""
MOST_TEXTS = 100_000
"""How many texts are looked at; of more, the first ones."""
_HASHES, _BANDS = 64, 16
_PRIME = (1 << 61) - 1
_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_IN_BAND = 200
_ROOM = 0.15
"""How far the share of equal hashes may be off: three of its standard deviations."""


def near_duplicates(texts: Iterable[str], alike: float = ALIKE) -> list[list[int]]:
    """Return groups of the places of texts that are nearly the same, the largest group first.

    Two texts are alike as far as they share sequences of three words; texts without words are
    like no other. Hashes find candidates, of which the sequences themselves are compared.
    """
    import numpy as np

    random = np.random.default_rng(7)
    factors = random.integers(1, _PRIME, _HASHES, dtype=np.uint64)
    shifts = random.integers(0, _PRIME, _HASHES, dtype=np.uint64)
    places: list[int] = []
    signatures: list[Any] = []
    parts: list[Any] = []
    for place, text in enumerate(texts):
        if place >= MOST_TEXTS:
            break
        if sequences := _sequences(text):
            parts.append(np.unique(np.asarray(sequences, dtype=np.uint64)))
            hashed = parts[-1][:, None]
            with np.errstate(over="ignore"):
                mixed = hashed * factors[None, :] + shifts[None, :]
            signatures.append((mixed >> np.uint64(32)).astype(np.uint32).min(0))
            places.append(place)
    if not places:
        return []
    groups = Groups(len(places))
    table = np.stack(signatures)
    width = _HASHES // _BANDS
    for band in range(_BANDS):
        columns = np.ascontiguousarray(table[:, band * width : (band + 1) * width])
        buckets: dict[bytes, list[int]] = {}
        for row, key in enumerate(columns):
            buckets.setdefault(key.tobytes(), []).append(row)
        for rows in buckets.values():
            for one, other in _pairs(rows):
                if (
                    groups.root(one) != groups.root(other)
                    and float((table[one] == table[other]).mean()) >= alike - _ROOM
                    and _share(parts[one], parts[other]) >= alike
                ):
                    groups.join(one, other)
    return sorted(
        ([places[row] for row in rows] for rows in groups.several()),
        key=lambda group: (-len(group), group),
    )


def _share(one: Any, other: Any) -> float:
    """Return which part of the sequences of two texts both have."""
    import numpy as np

    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both)


def joined_groups(size: int, *ways: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the groups of several ways to form them as one, the largest group first."""
    groups = Groups(size)
    for way in ways:
        for group in way:
            for other in group[1:]:
                groups.join(group[0], other)
    return sorted(groups.several(), key=lambda group: (-len(group), group))


def _sequences(text: str) -> list[int]:
    words = _WORD.findall(text.casefold())
    if not words:
        return []
    threes = {" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2))}
    return [crc32(three.encode()) * 2654435761 % _PRIME for three in threes]


def _pairs(rows: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Pair the members of a bucket; in a large one all with the first."""
    if len(rows) > _MOST_IN_BAND:
        return ((rows[0], other) for other in rows[1:])
    return ((one, other) for place, other in enumerate(rows) for one in rows[:place])


class Groups:
    """Numbers that belong together."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def root(self, number: int) -> int:
        """Return the first of those that this one belongs to."""
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make one group of two."""
        first, second = sorted((self.root(one), self.root(other)))
        self._above[second] = first

    def several(self) -> list[list[int]]:
        """Return all groups of more than one."""
        members: dict[int, list[int]] = {}
        for number in range(len(self._above)):
            members.setdefault(self.root(number), []).append(number)
        return [group for group in members.values() if len(group) > 1]
