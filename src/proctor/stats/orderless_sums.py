"""Sums that come out alike in whatever order numbers are added, one by one or many at once."""

from math import fsum
from typing import TYPE_CHECKING, Any

from proctor.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# What is added to a number of up to 2³¹ and taken off again leaves a multiple of 2⁻²⁰, or 2⁻⁵⁰.
_COARSE, _FINE = 1.5 * 2.0**32, 1.5 * 2.0**2


@dataclass(slots=True)
class OrderlessSum:
    """A sum of numbers, each cut in three parts, so that nothing is rounded while adding.

    Multiples of 2⁻²⁰ add up exactly to 2³³, those of 2⁻⁵⁰ below them to 2³. What is left is less
    than 2⁻⁵¹ each, too little to be seen in what the whole comes to.
    """

    coarse: float = 0.0
    fine: float = 0.0
    rest: float = 0.0

    @property
    def value(self) -> float:
        """Return the sum."""
        return fsum((self.coarse, self.fine, self.rest))

    def add(self, number: float, times: int = 1) -> None:
        """Add a number, once or more often."""
        self._take(*_cut(number), times)

    def add_many(self, numbers: "Numbers") -> None:
        """Add all numbers of a column."""
        coarse, fine, rest = _cut(numbers)
        self._take(float(coarse.sum()), float(fine.sum()), float(rest.sum()))

    def _take(self, coarse: float, fine: float, rest: float, times: int = 1) -> None:
        self.coarse += coarse * times
        self.fine += fine * times
        self.rest += rest * times


def _cut(number: Any) -> tuple[Any, Any, Any]:
    coarse = (number + _COARSE) - _COARSE
    left = number - coarse
    fine = (left + _FINE) - _FINE
    return coarse, fine, left - fine
