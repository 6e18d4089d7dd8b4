"""How far the judges of a panel agree with each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from proctor.contracts.measure import Measure
from proctor.core.run import CaseResult, Measured
from proctor.core.score import Score
from proctor.stats.agreement import Coincidences, alpha_interval


@dataclass(frozen=True)
class JudgeAgreement(Measure):
    """Krippendorff's alpha over the points that the judges of a panel gave one by one.

    1 is full agreement, 0 what chance would give. Name a criterion, or leave it out for all that a
    panel judged. ``level`` is nominal for pass or fail, ordinal or interval for ratings. The
    interval treats all judgements on one case, or on one cluster of cases, as one draw; n counts
    the cases.
    """

    criterion: str = ""
    level: Literal["nominal", "ordinal", "interval"] = "nominal"

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        alone: list[Coincidences] = []
        named: dict[str, Coincidences] = {}
        whole, cases = Coincidences(), 0
        for result in results:
            counted = Coincidences.of(self._units(result))
            if not counted.units:
                continue
            cases += 1
            whole.merge(counted)
            if result.case.cluster:
                named.setdefault(result.case.cluster, Coincidences()).merge(counted)
            else:
                alone.append(counted)
        interval = alpha_interval([*alone, *named.values()], self.level)
        return Measured(value=whole.alpha(self.level), interval=interval, n=cases)

    def _units(self, result: CaseResult) -> Iterator[list[float | None]]:
        for attempt in result.attempts:
            for name, score in attempt.scores.items():
                if self.criterion in ("", name):
                    yield _points(score)


def _points(score: Score) -> list[float | None]:
    panel = score.detail.get("panel") if isinstance(score.detail, dict) else None
    if not isinstance(panel, list):
        return []
    return [member.get("points") for member in panel if isinstance(member, dict)]
