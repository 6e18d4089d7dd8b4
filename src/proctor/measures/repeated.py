"""pass@k and pass^k: the chance that one of k attempts is right, and that all of them are."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import ClassVar

from proctor.contracts.measure import Measure
from proctor.core.run import CaseResult, Measured
from proctor.measures.shares import full_marks
from proctor.stats.clusters import ClusterSums


@dataclass(frozen=True)
class PassAtK(Measure):
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

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        sums, left_out = ClusterSums(), 0
        for result in results:
            marks = [hit for _, hit in full_marks(result)]
            if len(marks) < self.k:
                left_out += 1
            else:
                sums.add(self.chance(sum(marks), len(marks)), 1.0, result.case.cluster)
        many = f"{left_out} case{'' if left_out == 1 else 's'}"
        note = f"{many} with fewer than {self.k} attempts left out" if left_out else ""
        return Measured(value=sums.rate, interval=sums.interval(), n=sums.n, note=note)

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
