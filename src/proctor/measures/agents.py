"""Measures of agents: how many of the points they hit, and how often they broke."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from proctor.contracts.measure import MeasureSums, SummedMeasure
from proctor.core.attempt import AttemptStatus
from proctor.core.rounds import RoundState, rounds_of
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.measures.shares import ShareSums
from proctor.stats.clusters import ClusterSums

HIT, MISS, AGENT_FAILURE, UNSCORED = "hit", "miss", "agent_failure", "unscored"


@dataclass(frozen=True)
class HitRate(SummedMeasure):
    """Share of all weighted points that were hit, over all attempts.

    Turns that were not reached are missed, and so is all after an agent failed. Points that could
    not be scored do not count; the detail says how many of each kind there are.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def sums(self) -> "_HitSums":
        return _HitSums()


@dataclass(frozen=True)
class AgentFailureRate(SummedMeasure):
    """Share of attempts in which the agent broke, gave up or said nothing; less is better."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def sums(self) -> ShareSums:
        return ShareSums(_failures)


@dataclass
class _HitSums(MeasureSums):
    """Points that were hit, of how many, and what became of each."""

    draws: ClusterSums = field(default_factory=ClusterSums)
    outcomes: Counter[str] = field(default_factory=Counter)

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            got = full = 0.0
            for item in result.attempts:
                for criterion, outcome, points in _points(result.case, item):
                    self.outcomes[outcome] += 1
                    if outcome != UNSCORED:
                        got += criterion.weight * points
                        full += criterion.weight
            if full:
                self.draws.add(got, full, result.case.cluster)

    def merge(self, other: Self) -> None:
        self.draws.merge(other.draws)
        self.outcomes.update(other.outcomes)

    def result(self) -> Measured:
        counts = {name: self.outcomes[name] for name in (HIT, MISS, AGENT_FAILURE, UNSCORED)}
        scored = self.outcomes.total() - self.outcomes[UNSCORED]
        interval = self.draws.interval()
        return Measured(value=self.draws.rate, interval=interval, n=scored, detail=counts)

    def to_json(self) -> dict[str, Json]:
        return {"draws": self.draws.to_json(), "outcomes": dict(self.outcomes)}

    def load_json(self, document: Any) -> None:
        self.draws = ClusterSums.from_json(document["draws"])
        self.outcomes = Counter(document["outcomes"])


def _failures(result: CaseResult) -> Iterator[bool]:
    for item in result.attempts:
        if item.attempt.status in (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED):
            yield agent_failed(item)


def agent_failed(item: AttemptResult) -> bool:
    """Tell whether an attempt ended because the agent broke or had nothing to say."""
    if item.attempt.status is AttemptStatus.UNANSWERED:
        return True
    last = rounds_of(item.attempt)[-1:]
    return bool(last) and last[0].get("state") == RoundState.FAILED


def _points(case: Case, item: AttemptResult) -> Iterable[tuple[Criterion, str, float]]:
    """Yield each criterion that can be won, with what became of it and the share of it hit."""
    status = item.attempt.status
    if status is AttemptStatus.ERROR:
        return
    for criterion in case.criteria:
        score = item.scores.get(criterion.id)
        if criterion.weight <= 0 or (score and score.status is ScoreStatus.NOT_APPLICABLE):
            continue
        if status is AttemptStatus.UNANSWERED:
            yield criterion, AGENT_FAILURE, 0.0
        elif status is AttemptStatus.STOPPED or score is None or score.points is None:
            yield criterion, UNSCORED, 0.0
        elif score.out_of:
            share = score.points / score.out_of
            yield criterion, _outcome(item, score, share), share


def _outcome(item: AttemptResult, score: Score, share: float) -> str:
    if isinstance(score.detail, Mapping) and score.detail.get("unanswered") and agent_failed(item):
        return AGENT_FAILURE
    return HIT if share >= 1 else MISS
