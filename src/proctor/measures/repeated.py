"""pass@k and pass^k: the chance that one of k attempts is right, and that all of them are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar, Self

from proctor.contracts.measure import SummedMeasure
from proctor.core.run import CaseResult, Measured
from proctor.core.suite import Json
from proctor.measures.shares import MeanSums, full_marks


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

    def sums(self) -> "_ChanceSums":
        return _ChanceSums(self._draw, k=self.k)

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


@dataclass
class _ChanceSums(MeanSums):
    """A mean over cases with enough attempts, and how many have fewer."""

    k: int = 1
    cases: int = 0

    def add(self, results: Sequence[CaseResult]) -> None:
        super().add(results)
        self.cases += len(results)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.cases += other.cases

    def result(self) -> Measured:
        left_out = self.cases - self.draws.n
        many = f"{left_out} case{'' if left_out == 1 else 's'}"
        note = f"{many} with fewer than {self.k} attempts left out" if left_out else ""
        return replace(super().result(), note=note)

    def to_json(self) -> dict[str, Json]:
        return {**super().to_json(), "cases": self.cases}

    def load_json(self, document: Any) -> None:
        super().load_json(document)
        self.cases = document["cases"]
