"""The mean of one named value that some criterion gives: BLEU, a rating, an encoder's score."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from proctor.contracts.measure import Measure
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.fingerprint import digest
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Json
from proctor.measures.scales import Scales
from proctor.stats.clusters import ClusterSums
from proctor.stats.intervals import Scale


@dataclass(frozen=True)
class NamedMetric(Measure):
    """Mean over the attempts of one value, such as ``bleu1``, of whatever criterion gives it.

    The values of a tag, by default ``category``, have their own means beside it. The interval
    treats the attempts at one case as one draw, and stays on the scale of the values; n counts the
    cases. An attempt without an answer is worth ``unanswered`` where its case would have had the
    value; null leaves it out.
    """

    metric: str
    by: str = "category"
    unanswered: float | None = 0.0

    @property
    def label(self) -> str:
        return self.metric

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        gathered = _NamedValues(by=self.by)
        empty: list[tuple[Case, list[float], int]] = []
        for result in results:
            numbers, silent = [], 0
            for attempt in result.attempts:
                values = list(self._values(result.case, attempt, gathered))
                numbers += values[:1]
                silent += attempt.attempt.status is AttemptStatus.UNANSWERED and not values
            if silent and self.unanswered is not None:
                empty.append((result.case, numbers, silent))
            else:
                gathered.add(result.case, numbers)
        for case, numbers, silent in empty:
            applies = any(
                digest(criterion.scorer) in gathered.givers for criterion in case.criteria
            )
            nothing = self.unanswered or 0.0
            if applies:
                gathered.scales.add_value(nothing)
            gathered.add(case, numbers + [nothing] * (silent if applies else 0))
        return gathered.measured()

    def _values(
        self, case: Case, attempt: AttemptResult, gathered: "_NamedValues"
    ) -> Iterator[float]:
        """Yield the value from every criterion that has it, and note who has."""
        for criterion in case.criteria:
            score = attempt.scores.get(criterion.id)
            if score is None or score.status is not ScoreStatus.SCORED:
                continue
            metrics = score.detail.get("metrics") if isinstance(score.detail, dict) else None
            value = metrics.get(self.metric) if isinstance(metrics, dict) else None
            if isinstance(value, int | float):
                key = digest(criterion.scorer)
                gathered.givers.add(key)
                gathered.scales.add_scorer(criterion.scorer, key)
                yield float(value)


@dataclass
class _NamedValues:
    """Values over all cases and by tag."""

    by: str
    whole: ClusterSums = field(default_factory=ClusterSums)
    groups: dict[str, ClusterSums] = field(default_factory=lambda: defaultdict(ClusterSums))
    givers: set[str] = field(default_factory=set)
    """The scorers that some attempt has the value from."""
    scales: Scales = field(default_factory=Scales)

    def add(self, case: Case, values: list[float]) -> None:
        if not values:
            return
        groups = [self.groups[name] for name in case.tags.get(self.by, ())]
        for sums in (self.whole, *groups):
            sums.add(in_turn(values), len(values), case.cluster)

    def measured(self) -> Measured:
        whole, scale = self.whole, self.scales.scale
        rows = {name: _row(sums, scale) for name, sums in sorted(self.groups.items())}
        return Measured(
            value=whole.rate,
            interval=whole.interval(scale),
            n=whole.n,
            detail={"by": rows} if rows else None,
        )


def _row(sums: ClusterSums, scale: Scale) -> dict[str, Json]:
    interval = sums.interval(scale)
    ends = None if interval is None else list(interval)
    return {"value": sums.rate, "interval": ends, "n": sums.n}
