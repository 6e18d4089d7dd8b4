"""A random order of a run's cases that is the same every time, without holding any of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from proctor.core.run import Run
from proctor.io.concurrency import batched
from proctor.store.store import Store

_ROUNDS = 6
_AT_ONCE = 64
"""How many places are looked up together."""


@dataclass(frozen=True)
class Permutation:
    """A random order of the numbers below a size: each is computed where it is wanted.

    A Feistel network over the next power of four, walked until it lands below the size.
    """

    size: int
    seed: str
    _keys: tuple[bytes, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        keys = (f"{number}:{self.seed}".encode() for number in range(_ROUNDS))
        object.__setattr__(
            self, "_keys", tuple(blake2b(key, digest_size=16).digest() for key in keys)
        )

    @cached_property
    def _half(self) -> int:
        return max(1, ((self.size - 1).bit_length() + 1) // 2)

    def at(self, turn: int) -> int:
        """Return the number whose turn it is."""
        value = self._forward(turn)
        while value >= self.size:
            value = self._forward(value)
        return value

    def turn_of(self, number: int) -> int:
        """Return when a number has its turn."""
        value = self._backward(number)
        while value >= self.size:
            value = self._backward(value)
        return value

    def _forward(self, value: int) -> int:
        left, right = value >> self._half, value & self._mask
        for key in self._keys:
            left, right = right, left ^ self._mixed(key, right)
        return left << self._half | right

    def _backward(self, value: int) -> int:
        left, right = value >> self._half, value & self._mask
        for key in reversed(self._keys):
            left, right = right ^ self._mixed(key, left), left
        return left << self._half | right

    @property
    def _mask(self) -> int:
        return (1 << self._half) - 1

    def _mixed(self, key: bytes, value: int) -> int:
        mixed = blake2b(value.to_bytes(8, "big"), key=key, digest_size=8).digest()
        return int.from_bytes(mixed, "big") & self._mask


@dataclass(frozen=True)
class RandomCases:
    """The cases of a run in a random order; runs of one edition of a suite share it."""

    store: Store
    run: Run
    seed: str = ""

    def after(self, position: int | None = None) -> Iterator[tuple[int, str]]:
        """Yield place and id of the cases whose turn comes after one, from the first if none."""
        turn = 0 if position is None else self._order.turn_of(position) + 1
        yield from self._present(range(turn, self._order.size))

    def before(self, position: int) -> Iterator[tuple[int, str]]:
        """Yield place and id of the cases whose turn came before one, the latest first."""
        yield from self._present(range(self._order.turn_of(position) - 1, -1, -1))

    @cached_property
    def _order(self) -> Permutation:
        size = self.store.results.last_position(self.run.id) + 1
        return Permutation(size, f"{self.run.suite_key}:{self.seed}")

    def _present(self, turns: range) -> Iterator[tuple[int, str]]:
        """Yield the cases that there are; a place that the run lacks has no turn."""
        for chunk in batched(turns, _AT_ONCE):
            places = [self._order.at(turn) for turn in chunk]
            ids = self.store.results.ids_at(self.run.id, places)
            yield from ((place, ids[place]) for place in places if place in ids)
