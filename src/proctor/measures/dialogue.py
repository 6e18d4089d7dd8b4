"""Measures of dialogues: who asked, what was covered, and the scores that AskBench makes of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from proctor.contracts.measure import Measure
from proctor.core.attempt import AttemptStatus
from proctor.core.run import CaseResult, Measured
from proctor.core.suite import Json
from proctor.measures.shares import Share
from proctor.stats.intervals import Interval, matched_quantile

Notes = dict[str, Json]

_COMPLETED = (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED)


@dataclass(frozen=True)
class AskRate(Measure):
    """Share of attempts that asked at least once, among those ruled on to the end."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(results, self.empty, lambda notes: bool(notes.get("asked")))


@dataclass(frozen=True)
class CovRate(Measure):
    """Share of final answers that came after every point was covered; 0 without final answers."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        share = Share()
        for cluster, notes in _valid(results):
            finals = (bool(one["resolved"]) for one in notes if _is_covered_or_not(one))
            share.add(finals, cluster)
        return share.measured(empty=0.0)


@dataclass(frozen=True)
class UnqRate(Measure):
    """Share of attempts that asked on although every point was covered; less is better."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(results, self.empty, lambda notes: _redundant(notes) > 0)


@dataclass(frozen=True)
class UnqEvents(Measure):
    """Number of questions that were asked although every point was covered."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _total(results, _redundant)


@dataclass(frozen=True)
class AskScore(Measure):
    """AskBench's score: half accuracy, three tenths coverage, two tenths asking nothing needless.

    Without a final answer the coverage is 0.
    """

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None
    coverage_of_none: ClassVar[float] = 0.0
    """The coverage where there is no final answer."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        moments = _Moments()
        for cluster, notes in _valid(results):
            moments.add(notes, cluster)
        valid = int(moments.sums[1])
        if not valid:
            return Measured(value=self.empty, interval=None, n=0)
        mix = _Mix.of(moments.sums, self.coverage_of_none)
        return Measured(
            value=min(1.0, max(0.0, mix.value)),
            interval=moments.interval(self.coverage_of_none),
            n=valid,
            detail={"accuracy": mix.accuracy, "coverage": mix.coverage, "needless": mix.needless},
        )


@dataclass(frozen=True)
class VagueAskRate(Measure):
    """Share of attempts at vague tasks that asked at least once."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(
            results,
            self.empty,
            lambda notes: bool(notes.get("asked")),
            among=lambda notes: notes.get("vague") is True,
        )


@dataclass(frozen=True)
class ClearDirectRate(Measure):
    """Share of attempts at clear tasks that asked nothing."""

    ends: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)

    empty: ClassVar[float | None] = None

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(
            results,
            self.empty,
            lambda notes: not notes.get("asked"),
            among=lambda notes: notes.get("vague") is False,
        )


@dataclass(frozen=True)
class Clarified(Measure):
    """Number of attempts in which the candidate asked before it answered."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _total(results, lambda notes: int(bool(notes.get("asked"))))


@dataclass(frozen=True)
class KeptAsking(Measure):
    """Number of attempts that still asked on the last turn."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _total(results, lambda notes: int(_kept_asking(notes)))


@dataclass(frozen=True)
class Unreadable(Measure):
    """Number of attempts that were given up because no ruling of the judge could be read."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        reasons = [_reason(notes) for _, notes in _noted(results)]
        hits = sum(reason in ("JudgeJSONParseFailed", "JudgeResultInvalid") for reason in reasons)
        return Measured(value=float(hits), interval=None, n=len(reasons))


@dataclass(frozen=True)
class Reasons(Measure):
    """Why dialogues ended, and how often: a distribution, not a number."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        counted = Counter(reason for _, notes in _noted(results) if (reason := _reason(notes)))
        order = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
        return Measured(value=None, interval=None, n=counted.total(), detail=dict(order))


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
class _Moments:
    """Counts per case with the sums of their products, for an interval of any mix."""

    sums: list[float] = field(default_factory=lambda: [0.0] * 5)
    """Correct, valid, covered final answers, final answers, attempts with needless questions."""
    products: list[list[float]] = field(default_factory=lambda: [[0.0] * 5 for _ in range(5)])
    clusters: dict[str, list[float]] = field(default_factory=dict)
    """The sums of each cluster, whose products are those of its sums."""

    def add(self, notes: list[Notes], cluster: str = "") -> None:
        """Take in the attempts at one case that count, and its cluster."""
        if not notes:
            return
        finals = [one for one in notes if _is_covered_or_not(one)]
        row = [
            sum(one.get("correct") is True for one in notes),
            len(notes),
            sum(bool(one["resolved"]) for one in finals),
            len(finals),
            sum(_redundant(one) > 0 for one in notes),
        ]
        for i, count in enumerate(row):
            self.sums[i] += count
        before = self.clusters.get(cluster, [0.0] * 5)
        if cluster:
            self.clusters[cluster] = [a + b for a, b in zip(before, row, strict=True)]
            self._multiply(before, -1)
        self._multiply([a + b for a, b in zip(before, row, strict=True)], 1)

    def _multiply(self, row: Sequence[float], times: int) -> None:
        for i, first in enumerate(row):
            for j, second in enumerate(row):
                self.products[i][j] += times * first * second

    def interval(self, coverage_of_none: float) -> Interval:
        """Return the bounded interval of the score: with one more case, the worst or the best."""
        attempts = self.products[1][1] / self.sums[1]
        finals = self.products[3][3] / self.sums[3] if self.sums[3] else 0.0
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


def _noted(results: Iterable[CaseResult]) -> Iterator[tuple[CaseResult, Notes]]:
    for result in results:
        for attempt in result.attempts:
            if attempt.attempt.notes and attempt.attempt.status is not AttemptStatus.ERROR:
                yield result, dict(attempt.attempt.notes)


def _valid(results: Iterable[CaseResult]) -> Iterator[tuple[str, list[Notes]]]:
    """Yield per case its cluster and the notes of attempts that were ruled on to their end."""
    for result in results:
        yield (
            result.case.cluster,
            [
                dict(one.attempt.notes)
                for one in result.attempts
                if one.attempt.status in _COMPLETED
                and "asked" in one.attempt.notes
                and not one.attempt.notes.get("skipped")
            ],
        )


def _share(
    results: Iterable[CaseResult],
    empty: float | None,
    hit: Callable[[Notes], bool],
    among: Callable[[Notes], bool] = lambda notes: True,
) -> Measured:
    share = Share()
    for cluster, notes in _valid(results):
        share.add((hit(one) for one in notes if among(one)), cluster)
    return share.measured(empty=empty)


def _total(results: Iterable[CaseResult], count: Callable[[Notes], int]) -> Measured:
    total = n = 0
    for _, notes in _valid(results):
        total += sum(count(one) for one in notes)
        n += len(notes)
    return Measured(value=float(total), interval=None, n=n)


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
