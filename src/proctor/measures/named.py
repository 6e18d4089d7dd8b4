"""The mean of one named value that some criterion gives: BLEU, a rating, an encoder's score."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from proctor.contracts.measure import MeasureSums, SummedMeasure
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import in_turn
from proctor.core.fingerprint import digest
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Json
from proctor.measures.scales import Scales
from proctor.stats.clusters import ClusterSums
from proctor.stats.intervals import Scale, json_number


@dataclass(frozen=True)
class NamedMetric(SummedMeasure):
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

    def sums(self) -> "_NamedSums":
        return _NamedSums(self)


class _Silent(NamedTuple):
    """A case with attempts that have no answer; whether it has a value shows at the end."""

    values: tuple[float, ...]
    """What its other attempts have."""
    attempts: int
    """How many have no answer."""
    scorers: tuple[str, ...]
    groups: tuple[str, ...]
    cluster: str


@dataclass
class _NamedSums(MeasureSums):
    """Values over all cases and by tag."""

    measure: NamedMetric
    whole: ClusterSums = field(default_factory=ClusterSums)
    groups: dict[str, ClusterSums] = field(default_factory=dict)
    givers: set[str] = field(default_factory=set)
    """The scorers that some attempt has the value from."""
    scales: Scales = field(default_factory=Scales)
    silent: list[_Silent] = field(default_factory=list)

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            case, numbers, silent = result.case, [], 0
            for attempt in result.attempts:
                values = list(self._values(case, attempt))
                numbers += values[:1]
                silent += attempt.attempt.status is AttemptStatus.UNANSWERED and not values
            groups = case.tags.get(self.measure.by, ())
            if silent and self.measure.unanswered is not None:
                scorers = tuple(digest(criterion.scorer) for criterion in case.criteria)
                self.silent.append(
                    _Silent(tuple(numbers), silent, scorers, tuple(groups), case.cluster)
                )
            else:
                self._add(numbers, groups, case.cluster)

    def merge(self, other: Self) -> None:
        self.whole.merge(other.whole)
        for name, sums in other.groups.items():
            if name in self.groups:
                self.groups[name].merge(sums)
            else:
                self.groups[name] = deepcopy(sums)
        self.givers |= other.givers
        self.scales.merge(other.scales)
        self.silent += other.silent

    def result(self) -> Measured:
        whole, groups, scales = deepcopy((self.whole, self.groups, self.scales))
        complete = replace(self, whole=whole, groups=groups, scales=scales)
        complete._add_silent()
        return complete._measured()

    def to_json(self) -> dict[str, Json]:
        return {
            "whole": self.whole.to_json(),
            "groups": {name: sums.to_json() for name, sums in self.groups.items()},
            "givers": sorted(self.givers),
            "scales": self.scales.to_json(),
            "silent": [
                [[json_number(value) for value in values], *rest] for values, *rest in self.silent
            ],
        }

    def load_json(self, document: Any) -> None:
        self.whole = ClusterSums.from_json(document["whole"])
        self.groups = {
            name: ClusterSums.from_json(sums) for name, sums in document["groups"].items()
        }
        self.givers = set(document["givers"])
        self.scales.load_json(document["scales"])
        self.silent = [
            _Silent(tuple(map(float, values)), attempts, tuple(scorers), tuple(groups), cluster)
            for values, attempts, scorers, groups, cluster in document["silent"]
        ]

    def _add(self, values: Sequence[float], groups: Iterable[str], cluster: str) -> None:
        if not values:
            return
        rows = [self.groups.setdefault(name, ClusterSums()) for name in groups]
        for sums in (self.whole, *rows):
            sums.add(in_turn(values), len(values), cluster)

    def _add_silent(self) -> None:
        """Add the cases with attempts that have no answer, now that all givers are known."""
        nothing = self.measure.unanswered or 0.0
        for case in self.silent:
            applies = not self.givers.isdisjoint(case.scorers)
            if applies:
                self.scales.add_value(nothing)
            values = [*case.values, *([nothing] * (case.attempts if applies else 0))]
            self._add(values, case.groups, case.cluster)

    def _measured(self) -> Measured:
        whole, scale = self.whole, self.scales.scale
        rows = {name: _row(sums, scale) for name, sums in sorted(self.groups.items())}
        return Measured(
            value=whole.rate,
            interval=whole.interval(scale),
            n=whole.n,
            detail={"by": rows} if rows else None,
        )

    def _values(self, case: Case, attempt: AttemptResult) -> Iterator[float]:
        """Yield the value from every criterion that has it, and note who has."""
        for criterion in case.criteria:
            score = attempt.scores.get(criterion.id)
            if score is None or score.status is not ScoreStatus.SCORED:
                continue
            metrics = score.detail.get("metrics") if isinstance(score.detail, dict) else None
            value = metrics.get(self.measure.metric) if isinstance(metrics, dict) else None
            if isinstance(value, int | float):
                key = digest(criterion.scorer)
                self.givers.add(key)
                self.scales.add_scorer(criterion.scorer, key)
                yield float(value)


def _row(sums: ClusterSums, scale: Scale) -> dict[str, Json]:
    interval = sums.interval(scale)
    ends = None if interval is None else list(interval)
    return {"value": sums.rate, "interval": ends, "n": sums.n}
