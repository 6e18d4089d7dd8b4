"""pass@k and pass^k: the chance that one of k attempts is right, and that all of them are."""

from dataclasses import dataclass
from math import comb
from typing import ClassVar

from proctor.contracts.measure import SummedMeasure
from proctor.core.run import CaseResult
from proctor.measures.shares import PartialSums, full_marks


@dataclass(frozen=True)
class PassAtK(SummedMeasure):
    """Chance that at least one of k attempts at a case gets full marks.

    Of m attempts of which c are right it is 1 - C(m - c, k) / C(m, k), without bias for any k up
    to m, and the mean of that over cases. A case with fewer than k attempts that count is left
    out, and the line says how many are.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    sign: ClassVar[str] = "@"

    k: int = 1

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k is 1 or more")

    @property
    def label(self) -> str:
        return f"pass{self.sign}{self.k}"

    def sums(self) -> PartialSums:
        return PartialSums(self._draw, lacking=f"with fewer than {self.k} attempts")

    def _draw(self, result: CaseResult) -> tuple[float, float] | None:
        marks = [hit for _, hit in full_marks(result)]
        return None if len(marks) < self.k else (self.chance(sum(marks), len(marks)), 1.0)

    def chance(self, right: int, attempts: int) -> float:
        """Return the unbiased estimate from the attempts at one case."""
        return 1 - comb(attempts - right, self.k) / comb(attempts, self.k)


@dataclass(frozen=True)
class PassHatK(PassAtK):
    """Chance that all of k attempts at a case get full marks: how reliable a candidate is.

    Of m attempts of which c are right it is C(c, k) / C(m, k), without bias for any k up to m,
    and the mean of that over cases. A case with fewer than k attempts that count is left out, and
    the line says how many are.
    """

    sign: ClassVar[str] = "^"

    def chance(self, right: int, attempts: int) -> float:
        return comb(right, self.k) / comb(attempts, self.k)
