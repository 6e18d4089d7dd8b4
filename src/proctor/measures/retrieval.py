"""Recall, precision, reciprocal rank and nDCG of what was retrieved, as a mean over cases."""

from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.measure import SummedMeasure
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.passages import relevance_of, retrieved_ids
from proctor.core.ranking import RankingName, ranking_value
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case
from proctor.measures.shares import PartialSums


@dataclass(frozen=True)
class RetrievalMean(SummedMeasure):
    """Mean over cases of a ranking's quality: recall@k, precision@k, MRR, nDCG@k, from ids alone.

    No criterion is needed: answers name what was ``retrieved`` and hidden facts what is
    ``relevant``, as for the scorer ``retrieval``. Where they do not, the case is left out, and the
    line says how many are. Several attempts at a case count as one draw.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    name: RankingName = "recall"
    k: int = 0
    relevant: str = "relevant"

    def __post_init__(self) -> None:
        if self.k < 0:
            raise ValueError("k counts the first k ids, 0 stands for all")

    @property
    def label(self) -> str:
        return f"{self.name}@{self.k}" if self.k else self.name

    def sums(self) -> PartialSums:
        return PartialSums(self._draw, lacking="without ids")

    def _draw(self, result: CaseResult) -> tuple[float, float] | None:
        values = [
            value
            for attempt in result.attempts
            if (value := self._value(result.case, attempt)) is not None
        ]
        return (in_turn(values) / len(values), 1.0) if values else None

    def _value(self, case: Case, attempt: AttemptResult) -> float | None:
        if not attempt.attempt.status.is_final:
            return None
        try:
            relevance = relevance_of(case.hidden.get(self.relevant) or [])
            ranked = retrieved_ids(attempt.attempt)
        except ValueError:
            return None
        if ranked is None and attempt.attempt.status is AttemptStatus.UNANSWERED:
            ranked = ()
        if not relevance or ranked is None:
            return None
        return ranking_value(self.name, ranked, relevance, self.k)
