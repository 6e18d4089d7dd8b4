"""Measures that fit every suite: shares of cases, and the mean of one criterion's points."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

from proctor.contracts.measure import SummedMeasure
from proctor.core.case_value import ValueStatus, in_turn
from proctor.core.run import CaseResult, Measured
from proctor.core.score import ScoreStatus
from proctor.core.suite import Json
from proctor.measures.scales import Scales
from proctor.measures.shares import NEAR, MeanSums, ShareSums, full_marks
from proctor.stats.clusters import ClusterSums
from proctor.stats.intervals import Interval

FOLDED = "cases, by their value over all attempts"
"""What shares of cases count where cases have several attempts."""
_Marks = tuple[tuple[int, bool], ...]
"""The attempts at a case that count: the round of each, and whether it has full marks."""


@dataclass(frozen=True)
class Accuracy(SummedMeasure):
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

    def sums(self) -> ShareSums:
        if self.over == "cases":
            return _shares_of_cases(lambda value, full: value >= full - NEAR, self.empty)
        if self.over == "rounds":
            return _RoundSums(_right, self.empty, empty_rounds=self.empty_rounds)
        return ShareSums(_right, self.empty)


@dataclass(frozen=True)
class PassRate(SummedMeasure):
    """Share of cases worth at least a threshold of their full marks."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError("the threshold lies between 0 and 1")

    def sums(self) -> ShareSums:
        return _shares_of_cases(lambda value, full: value >= self.threshold * full - NEAR)


@dataclass(frozen=True)
class MeanPoints(SummedMeasure):
    """Mean of one criterion's raw points over all attempts it was scored on.

    A case need not have a value of its own: a rating that is only shown has a mean, too. The
    interval treats the attempts at one case as one draw, and stays on the scale of the points; n
    counts the cases.
    """

    criterion: str

    def sums(self) -> "_PointSums":
        scales = Scales()
        return _PointSums(lambda result: self._draw(result, scales), scales=scales)

    def _draw(self, result: CaseResult, scales: Scales) -> tuple[float, float] | None:
        points = []
        for attempt in result.attempts:
            score = attempt.scores.get(self.criterion)
            if score is None or score.status is not ScoreStatus.SCORED:
                continue
            if score.points is not None:
                points.append(score.points)
                scales.add(result.case, self.criterion, score)
        return (in_turn(points), len(points)) if points else None


@dataclass
class _CaseShareSums(ShareSums):
    """A share over cases, with a note where they have several attempts."""

    several: bool = False

    def add(self, results: Sequence[CaseResult]) -> None:
        super().add(results)
        self.several = self.several or any(len(result.attempts) > 1 for result in results)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.several = self.several or other.several

    def result(self) -> Measured:
        return replace(super().result(), note=FOLDED if self.several else "")

    def to_json(self) -> dict[str, Json]:
        return {**super().to_json(), "several": self.several}

    def load_json(self, document: Any) -> None:
        super().load_json(document)
        self.several = document["several"]


def _shares_of_cases(
    hit: Callable[[float, float], bool], empty: float | None = None
) -> _CaseShareSums:
    """Return empty sums of a share over cases, given what value of which full marks is a hit."""

    def marks(result: CaseResult) -> list[bool]:
        folded = result.folded
        counts = folded.status in (ValueStatus.SCORED, ValueStatus.UNANSWERED)
        if not counts or folded.value is None:
            return []
        return [hit(folded.value, result.case.full_score)]

    return _CaseShareSums(marks, empty)


def _right(result: CaseResult) -> list[bool]:
    return [hit for _, hit in full_marks(result)]


@dataclass
class _RoundSums(ShareSums):
    """Shares over first attempts, second attempts and so on, and their mean."""

    empty_rounds: bool = False
    rounds: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Hits and attempts that count of each round."""
    marked: Counter[tuple[str, _Marks]] = field(default_factory=Counter)
    """How many cases of each cluster have the same marks in the same rounds."""

    def add(self, results: Sequence[CaseResult]) -> None:
        super().add(results)
        for result in results:
            for attempt in result.attempts:
                self._count(attempt.attempt.index, 0, 0)
            if marks := tuple(full_marks(result)):
                self.marked[result.case.cluster, marks] += 1
            for index, hit in marks:
                self._count(index, int(hit), 1)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.marked.update(other.marked)
        for index, (hits, n) in other.rounds.items():
            self._count(index, hits, n)

    def result(self) -> Measured:
        shares = [
            hits / n if n else 0.0 for hits, n in self.rounds.values() if n or self.empty_rounds
        ]
        value = in_turn(shares) / len(shares) if shares else self.empty
        by_attempts = super().result()
        return replace(by_attempts, value=value, interval=self._interval(by_attempts.interval))

    def to_json(self) -> dict[str, Json]:
        rounds = [[index, *counts] for index, counts in self.rounds.items()]
        marked = [[cluster, marks, times] for (cluster, marks), times in self.marked.items()]
        return {**super().to_json(), "rounds": rounds, "marked": marked}

    def load_json(self, document: Any) -> None:
        super().load_json(document)
        self.rounds = {index: (hits, n) for index, hits, n in document["rounds"]}
        self.marked = Counter(
            {
                (cluster, tuple((index, bool(hit)) for index, hit in marks)): times
                for cluster, marks, times in document.get("marked", [])
            }
        )

    def _interval(self, by_attempts: Interval | None) -> Interval | None:
        """Return the interval of the mean over rounds, given that of the share of attempts.

        Where rounds have different numbers of attempts, one attempt counts by what it is of its
        round. Sums of an earlier version do not tell in which rounds a case has its marks.
        """
        counts = [n for _, n in self.rounds.values() if n]
        if len(set(counts)) < 2 or self.marked.total() != self._draws.n:
            return by_attempts
        draws = ClusterSums()
        for (cluster, marks), times in self.marked.items():
            hits = in_turn(hit / self.rounds[index][1] for index, hit in marks)
            weight = in_turn(1 / self.rounds[index][1] for index, _ in marks)
            for _ in range(times):
                draws.add(hits, weight, cluster)
        interval = draws.interval()
        if interval is None or not self.empty_rounds:
            return interval
        low, high = (end * len(counts) / len(self.rounds) for end in interval)
        return low, high

    def _count(self, index: int, hits: int, n: int) -> None:
        before = self.rounds.get(index, (0, 0))
        self.rounds[index] = (before[0] + hits, before[1] + n)


@dataclass
class _PointSums(MeanSums):
    """A mean of points, and the scale that they lie on."""

    scales: Scales = field(default_factory=Scales)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.scales.merge(other.scales)

    def result(self) -> Measured:
        interval = self.draws.interval(self.scales.scale)
        return Measured(value=self.draws.rate, interval=interval, n=self.draws.n)

    def to_json(self) -> dict[str, Json]:
        return {**super().to_json(), "scales": self.scales.to_json()}

    def load_json(self, document: Any) -> None:
        super().load_json(document)
        self.scales.load_json(document["scales"])
