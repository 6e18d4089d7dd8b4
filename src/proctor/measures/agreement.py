"""How far the judges of a panel agree with each other."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from proctor.contracts.measure import MeasureSums, SummedMeasure
from proctor.core.run import CaseResult, Measured
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.stats.agreement import Coincidences, alpha_interval


@dataclass(frozen=True)
class JudgeAgreement(SummedMeasure):
    """Krippendorff's alpha over the points that the judges of a panel gave one by one.

    1 is full agreement, 0 what chance would give. Name a criterion, or leave it out for all that a
    panel judged. ``level`` is nominal for pass or fail, ordinal or interval for ratings. The
    interval treats all judgements on one case, or on one cluster of cases, as one draw; n counts
    the cases.
    """

    criterion: str = ""
    level: Literal["nominal", "ordinal", "interval"] = "nominal"

    def sums(self) -> "_PanelSums":
        return _PanelSums(self)

    def units(self, result: CaseResult) -> Iterator[list[float | None]]:
        """Yield what the judges gave, by attempt and criterion."""
        for attempt in result.attempts:
            for name, score in attempt.scores.items():
                if self.criterion in ("", name):
                    yield _points(score)


@dataclass
class _PanelSums(MeasureSums):
    """Counts of pairs of judgements: in all, of each cluster, and of each case in none."""

    panel: JudgeAgreement
    whole: Coincidences = field(default_factory=Coincidences)
    cases: int = 0
    clusters: dict[str, Coincidences] = field(default_factory=dict)
    single: list[Coincidences] = field(default_factory=list)
    """The counts of each case that is in no cluster."""
    _kinds: dict[Hashable, Coincidences] = field(default_factory=dict)
    """The counts that occur in ``single``: cases with the same ones share them."""

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            counted = Coincidences.of(self.panel.units(result))
            if not counted.units:
                continue
            self.cases += 1
            self.whole.merge(counted)
            if result.case.cluster:
                self.clusters.setdefault(result.case.cluster, Coincidences()).merge(counted)
            else:
                self._add_single(counted)

    def merge(self, other: Self) -> None:
        self.cases += other.cases
        self.whole.merge(other.whole)
        for name, counted in other.clusters.items():
            self.clusters.setdefault(name, Coincidences()).merge(counted)
        for counted in other.single:
            self._add_single(counted)

    def result(self) -> Measured:
        level = self.panel.level
        interval = alpha_interval([*self.single, *self.clusters.values()], level)
        return Measured(value=self.whole.alpha(level), interval=interval, n=self.cases)

    def to_json(self) -> dict[str, Json]:
        place = {id(counted): number for number, counted in enumerate(self._kinds.values())}
        return {
            "cases": self.cases,
            "whole": self.whole.to_json(),
            "clusters": {name: counted.to_json() for name, counted in self.clusters.items()},
            "kinds": [counted.to_json() for counted in self._kinds.values()],
            "single": [place[id(counted)] for counted in self.single],
        }

    def load_json(self, document: Any) -> None:
        self.cases = document["cases"]
        self.whole = Coincidences.from_json(document["whole"])
        self.clusters = {
            name: Coincidences.from_json(counted) for name, counted in document["clusters"].items()
        }
        kinds = [Coincidences.from_json(counted) for counted in document["kinds"]]
        for number in document["single"]:
            self._add_single(kinds[number])

    def _add_single(self, counted: Coincidences) -> None:
        key = (counted.units, *counted.pairs.items())
        self.single.append(self._kinds.setdefault(key, counted))


def _points(score: Score) -> list[float | None]:
    panel = score.detail.get("panel") if isinstance(score.detail, dict) else None
    if not isinstance(panel, list):
        return []
    return [member.get("points") for member in panel if isinstance(member, dict)]
