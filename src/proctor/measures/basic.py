"""Measures that fit every suite: shares of cases, and the mean of one criterion's points."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from proctor.contracts.measure import Measure
from proctor.core.case_value import ValueStatus, in_turn
from proctor.core.run import CaseResult, Measured
from proctor.core.score import ScoreStatus
from proctor.measures.scales import Scales
from proctor.measures.shares import NEAR, Share, full_marks
from proctor.stats.clusters import ClusterSums

FOLDED = "cases, by their value over all attempts"
"""What shares of cases count where cases have several attempts."""


@dataclass(frozen=True)
class Accuracy(Measure):
    """Share of cases that are right: that reach full marks.

    The value of a case over all its attempts decides: with ``reduce: avg`` every attempt must be
    right, with ``max`` one of them.
    ``over: attempts`` is the share of all attempts that count, ``over: rounds`` the mean over
    first attempts, second attempts and so on of their shares. The interval then treats the
    attempts at one case as one draw.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    """The share of nothing at all."""
    empty_rounds: ClassVar[bool] = False
    """Whether a round in which no attempt counts is one in which all are wrong."""

    over: Literal["cases", "attempts", "rounds"] = "cases"

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        if self.over == "cases":
            measured = _share(results, lambda value, full: value >= full - NEAR)
            return replace(measured, value=self.empty) if measured.value is None else measured
        share = Share()
        rounds: dict[int, list[bool]] = {}
        for result in results:
            for attempt in result.attempts:
                rounds.setdefault(attempt.attempt.index, [])
            marks = full_marks(result)
            for index, hit in marks:
                rounds[index].append(hit)
            share.add((hit for _, hit in marks), result.case.cluster)
        pooled = share.measured(self.empty)
        if self.over == "attempts":
            return pooled
        counted = [hits for hits in rounds.values() if hits or self.empty_rounds]
        shares = [sum(hits) / len(hits) if hits else 0.0 for hits in counted]
        return replace(pooled, value=in_turn(shares) / len(shares) if shares else self.empty)


@dataclass(frozen=True)
class PassRate(Measure):
    """Share of cases worth at least a threshold of their full marks."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError("the threshold lies between 0 and 1")

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(results, lambda value, full: value >= self.threshold * full - NEAR)


@dataclass(frozen=True)
class MeanPoints(Measure):
    """Mean of one criterion's raw points over all attempts it was scored on.

    A case need not have a value of its own: a rating that is only shown has a mean, too. The
    interval treats the attempts at one case as one draw, and stays on the scale of the points; n
    counts the cases.
    """

    criterion: str

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        sums, scales = ClusterSums(), Scales()
        for result in results:
            points = []
            for attempt in result.attempts:
                score = attempt.scores.get(self.criterion)
                if score is None or score.status is not ScoreStatus.SCORED:
                    continue
                if score.points is not None:
                    points.append(score.points)
                    scales.add(result.case, self.criterion, score)
            if points:
                sums.add(in_turn(points), len(points), result.case.cluster)
        return Measured(value=sums.rate, interval=sums.interval(scales.scale), n=sums.n)


def _share(results: Iterable[CaseResult], hit: Callable[[float, float], bool]) -> Measured:
    share, note = Share(), ""
    for result in results:
        folded = result.folded
        note = FOLDED if len(result.attempts) > 1 else note
        counted = folded.status in (ValueStatus.SCORED, ValueStatus.UNANSWERED)
        if not counted or folded.value is None:
            continue
        share.add([hit(folded.value, result.case.full_score)], result.case.cluster)
    return replace(share.measured(), note=note)
