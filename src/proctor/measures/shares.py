"""Shares over attempts, means over cases, and which attempts reach full marks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from proctor.contracts.measure import MeasureSums
from proctor.core.case_value import ValueStatus
from proctor.core.run import CaseResult, Measured
from proctor.core.suite import Json
from proctor.stats.clusters import ClusterSums

NEAR = 1e-9


@dataclass
class ShareSums(MeasureSums):
    """A share over attempts, the attempts at one case being one draw."""

    marks: Callable[[CaseResult], Iterable[bool]]
    """Of a case, whether each attempt that counts is a hit."""
    empty: float | None = None
    """The share where nothing counts."""
    hits: int = 0
    n: int = 0
    _draws: ClusterSums = field(default_factory=ClusterSums)

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            marks = list(self.marks(result))
            if marks:
                hits = sum(marks)
                self.hits += hits
                self.n += len(marks)
                self._draws.add(float(hits), float(len(marks)), result.case.cluster)

    def merge(self, other: Self) -> None:
        self.hits += other.hits
        self.n += other.n
        self._draws.merge(other._draws)

    def result(self) -> Measured:
        value = self.hits / self.n if self.n else self.empty
        return Measured(value=value, interval=self._draws.interval(), n=self.n)

    def to_json(self) -> dict[str, Json]:
        return {"hits": self.hits, "n": self.n, "draws": self._draws.to_json()}

    def load_json(self, document: Any) -> None:
        self.hits, self.n = document["hits"], document["n"]
        self._draws = ClusterSums.from_json(document["draws"])


@dataclass
class MeanSums(MeasureSums):
    """A mean over cases, each with a value and a weight."""

    draw: Callable[[CaseResult], tuple[float, float] | None]
    """Of a case, its value times its weight, and the weight; none where it does not count."""
    empty: float | None = None
    """The mean where nothing counts."""
    draws: ClusterSums = field(default_factory=ClusterSums)

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            draw = self.draw(result)
            if draw is not None:
                self.draws.add(*draw, result.case.cluster)

    def merge(self, other: Self) -> None:
        self.draws.merge(other.draws)

    def result(self) -> Measured:
        draws = self.draws
        value = self.empty if draws.rate is None else draws.rate
        return Measured(value=value, interval=draws.interval(), n=draws.n)

    def to_json(self) -> dict[str, Json]:
        return {"draws": self.draws.to_json()}

    def load_json(self, document: Any) -> None:
        self.draws = ClusterSums.from_json(document["draws"])


@dataclass
class PartialSums(MeanSums):
    """A mean over the cases that it can be told for, with a note on how many are left out."""

    lacking: str = ""
    """What the cases that are left out lack, as in ``without ids``."""
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
        note = f"{many} {self.lacking} left out" if left_out else ""
        return replace(super().result(), note=note)

    def to_json(self) -> dict[str, Json]:
        return {**super().to_json(), "cases": self.cases}

    def load_json(self, document: Any) -> None:
        super().load_json(document)
        self.cases = document["cases"]


def full_marks(result: CaseResult) -> list[tuple[int, bool]]:
    """Return index and success of those attempts at a case that count."""
    full = result.case.full_score
    return [
        (attempt.attempt.index, attempt.value.value >= full - NEAR)
        for attempt in result.attempts
        if attempt.value.status in (ValueStatus.SCORED, ValueStatus.UNANSWERED)
        and attempt.value.value is not None
    ]
