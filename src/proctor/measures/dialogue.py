"""Measures of dialogues: who asked, what was covered, and the scores that AskBench makes of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from proctor.contracts.measure import MeasureSums, SummedMeasure
from proctor.core.attempt import AttemptStatus
from proctor.core.run import CaseResult, Measured
from proctor.core.suite import Json
from proctor.measures.shares import ShareSums
from proctor.stats.intervals import Interval, matched_quantile

Notes = dict[str, Json]

_COMPLETED = (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED)
_UNREADABLE = ("JudgeJSONParseFailed", "JudgeResultInvalid")


@dataclass(frozen=True)
class AskRate(SummedMeasure):
    """Share of attempts that asked at least once, among those ruled on to the end."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def sums(self) -> ShareSums:
        return _share(self.empty, lambda notes: bool(notes.get("asked")))


@dataclass(frozen=True)
class CovRate(SummedMeasure):
    """Share of final answers that came after every point was covered; 0 without final answers."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def sums(self) -> ShareSums:
        return _share(0.0, lambda notes: bool(notes["resolved"]), among=_is_covered_or_not)


@dataclass(frozen=True)
class UnqRate(SummedMeasure):
    """Share of attempts that asked on although every point was covered; less is better."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def sums(self) -> ShareSums:
        return _share(self.empty, lambda notes: _redundant(notes) > 0)


@dataclass(frozen=True)
class UnqEvents(SummedMeasure):
    """Number of questions that were asked although every point was covered."""

    def sums(self) -> "_NoteCounts":
        return _NoteCounts(_valid, _redundant)


@dataclass(frozen=True)
class AskScore(SummedMeasure):
    """AskBench's score: half accuracy, three tenths coverage, two tenths asking nothing needless.

    Without a final answer the coverage is 0.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    coverage_of_none: ClassVar[float] = 0.0
    """The coverage where there is no final answer."""

    def sums(self) -> "_AskSums":
        return _AskSums(self)


@dataclass(frozen=True)
class VagueAskRate(SummedMeasure):
    """Share of attempts at vague tasks that asked at least once."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def sums(self) -> ShareSums:
        return _share(
            self.empty,
            lambda notes: bool(notes.get("asked")),
            among=lambda notes: notes.get("vague") is True,
        )


@dataclass(frozen=True)
class ClearDirectRate(SummedMeasure):
    """Share of attempts at clear tasks that asked nothing."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def sums(self) -> ShareSums:
        return _share(
            self.empty,
            lambda notes: not notes.get("asked"),
            among=lambda notes: notes.get("vague") is False,
        )


@dataclass(frozen=True)
class Clarified(SummedMeasure):
    """Number of attempts in which the candidate asked before it answered."""

    def sums(self) -> "_NoteCounts":
        return _NoteCounts(_valid, lambda notes: int(bool(notes.get("asked"))))


@dataclass(frozen=True)
class KeptAsking(SummedMeasure):
    """Number of attempts that still asked on the last turn."""

    def sums(self) -> "_NoteCounts":
        return _NoteCounts(_valid, lambda notes: int(_kept_asking(notes)))


@dataclass(frozen=True)
class UnreadableVerdicts(SummedMeasure):
    """Number of attempts that were given up because no ruling of the judge could be read."""

    def sums(self) -> "_NoteCounts":
        return _NoteCounts(_noted, lambda notes: int(_reason(notes) in _UNREADABLE))


@dataclass(frozen=True)
class Reasons(SummedMeasure):
    """Why dialogues ended, and how often: a distribution, not a number."""

    def sums(self) -> "_ReasonCounts":
        return _ReasonCounts()


@dataclass(frozen=True, slots=True)
class _Mix:
    """The three shares of AskBench's score, and how it moves with each of the five sums."""

    accuracy: float
    coverage: float
    needless: float
    slopes: tuple[float, ...]

    @classmethod
    def of(cls, sums: Sequence[float], coverage_of_none: float) -> "_Mix":
        correct, valid, covered, finals, unneeded = sums
        accuracy, needless = correct / valid, unneeded / valid
        coverage = covered / finals if finals else coverage_of_none
        by_final = (0.3 / finals, -0.3 * coverage / finals) if finals else (0.0, 0.0)
        by_valid = (0.2 * needless - 0.5 * accuracy) / valid
        slopes = (0.5 / valid, by_valid, *by_final, -0.2 / valid)
        return cls(accuracy, coverage, needless, slopes)

    @property
    def value(self) -> float:
        return 0.5 * self.accuracy + 0.3 * self.coverage + 0.2 * (1 - self.needless)


@dataclass
class _NoteCounts(MeasureSums):
    """A total over attempts."""

    attempts: Callable[[CaseResult], Iterable[Notes]]
    """Returns the notes of those attempts at a case that count."""
    count: Callable[[Notes], int]
    total: int = 0
    n: int = 0

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            for notes in self.attempts(result):
                self.total += self.count(notes)
                self.n += 1

    def merge(self, other: Self) -> None:
        self.total += other.total
        self.n += other.n

    def result(self) -> Measured:
        return Measured(value=float(self.total), interval=None, n=self.n)

    def to_json(self) -> dict[str, Json]:
        return {"total": self.total, "n": self.n}


@dataclass
class _ReasonCounts(MeasureSums):
    """How often each reason occurs."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            self._count(Counter(filter(None, map(_reason, _noted(result)))))

    def merge(self, other: Self) -> None:
        self._count(other.counts)

    def result(self) -> Measured:
        order = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        n = sum(self.counts.values())
        return Measured(value=None, interval=None, n=n, detail=dict(order))

    def _count(self, counts: Mapping[str, int]) -> None:
        for reason, times in counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + times


@dataclass
class _AskSums(MeasureSums):
    """Counts over attempts, and the sums over cases of their products, for a mix of them."""

    score: AskScore
    sums: list[int] = field(default_factory=lambda: [0] * 5)
    """Correct, valid, covered final answers, final answers, attempts with needless questions."""
    products: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in range(5)])
    clusters: dict[str, list[int]] = field(default_factory=dict)
    """The sums of each cluster, whose products are those of its sums."""

    def add(self, results: Sequence[CaseResult]) -> None:
        for result in results:
            notes = _valid(result)
            if not notes:
                continue
            finals = [one for one in notes if _is_covered_or_not(one)]
            row = [
                sum(one.get("correct") is True for one in notes),
                len(notes),
                sum(bool(one["resolved"]) for one in finals),
                len(finals),
                sum(_redundant(one) > 0 for one in notes),
            ]
            self.sums = _added(self.sums, row)
            if result.case.cluster:
                self._add_to_cluster(result.case.cluster, row)
            else:
                self._add_products(row)

    def merge(self, other: Self) -> None:
        self.sums = _added(self.sums, other.sums)
        pairs = zip(self.products, other.products, strict=True)
        self.products = [_added(mine, theirs) for mine, theirs in pairs]
        for cluster, row in other.clusters.items():
            self._add_products(row, times=-1)
            self._add_to_cluster(cluster, row)

    def result(self) -> Measured:
        score, valid = self.score, self.sums[1]
        if not valid:
            return Measured(value=score.empty, interval=None, n=0)
        mix = _Mix.of(self.sums, score.coverage_of_none)
        return Measured(
            value=min(1.0, max(0.0, mix.value)),
            interval=self._interval(score.coverage_of_none),
            n=valid,
            detail={"accuracy": mix.accuracy, "coverage": mix.coverage, "needless": mix.needless},
        )

    def to_json(self) -> dict[str, Json]:
        return {"sums": self.sums, "products": self.products, "clusters": self.clusters}

    def _add_to_cluster(self, cluster: str, row: Sequence[int]) -> None:
        before = self.clusters.get(cluster, [0] * 5)
        self.clusters[cluster] = _added(before, row)
        self._add_products(before, times=-1)
        self._add_products(self.clusters[cluster])

    def _add_products(self, row: Sequence[int], *, times: int = 1) -> None:
        for i, first in enumerate(row):
            for j, second in enumerate(row):
                self.products[i][j] += times * first * second

    def _interval(self, coverage_of_none: float) -> Interval:
        """Return the bounded interval of the score: with one more case, the worst or the best."""
        attempts = self.products[1][1] / self.sums[1]
        # Where no attempt had a final answer, one more case may be the first that has.
        finals = self.products[3][3] / self.sums[3] if self.sums[3] else attempts
        value = _Mix.of(self.sums, coverage_of_none).value
        low = self._quantile([0.0, attempts, 0.0, finals, attempts], coverage_of_none, 0.025)
        high = self._quantile([attempts, attempts, finals, finals, 0.0], coverage_of_none, 0.975)
        return max(0.0, min(value, low)), min(1.0, max(value, high))

    def _quantile(self, added: Sequence[float], coverage_of_none: float, part: float) -> float:
        """Return a quantile of the score with one more case of these counts."""
        mix = _Mix.of([a + b for a, b in zip(self.sums, added, strict=True)], coverage_of_none)
        if not 0 < mix.value < 1:
            return mix.value
        slopes = mix.slopes
        squares = sum(
            slopes[i] * slopes[j] * (self.products[i][j] + added[i] * added[j])
            for i in range(5)
            for j in range(5)
        )
        size = self.sums[1] ** 2 / self.products[1][1] + 1
        return matched_quantile(part, mix.value, max(0.0, squares) * size / (size + 1))


def _added(row: Sequence[int], other: Sequence[int]) -> list[int]:
    return [a + b for a, b in zip(row, other, strict=True)]


def _noted(result: CaseResult) -> list[Notes]:
    """Return the notes of the attempts at a case that have any."""
    return [
        dict(one.attempt.notes)
        for one in result.attempts
        if one.attempt.notes and one.attempt.status is not AttemptStatus.ERROR
    ]


def _valid(result: CaseResult) -> list[Notes]:
    """Return the notes of those attempts at a case that were ruled on to their end."""
    return [
        dict(one.attempt.notes)
        for one in result.attempts
        if one.attempt.status in _COMPLETED
        and "asked" in one.attempt.notes
        and not one.attempt.notes.get("skipped")
    ]


def _share(
    empty: float | None,
    hit: Callable[[Notes], bool],
    among: Callable[[Notes], bool] = lambda notes: True,
) -> ShareSums:
    return ShareSums(lambda result: (hit(notes) for notes in _valid(result) if among(notes)), empty)


def _is_covered_or_not(notes: Notes) -> bool:
    """Tell whether there is a final answer, and a ruling on what was covered before it."""
    return bool(notes.get("final")) and isinstance(notes.get("resolved"), bool)


def _redundant(notes: Notes) -> int:
    return int(notes.get("redundant") or 0)


def _kept_asking(notes: Notes) -> bool:
    return bool(notes.get("kept_asking")) or _reason(notes) in (
        "FailedToAnswerOnLastTurn",
        "StrictNoFinalAnswerOnLastTurn",
    )


def _reason(notes: Notes) -> str:
    return str(notes.get("reason") or "")
