"""Measures of dialogues: who asked, what was covered, and the scores that AskBench makes of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar

from proctor.contracts.measure import Measure
from proctor.core.attempt import AttemptStatus
from proctor.core.run import CaseResult, Measured
from proctor.core.suite import Json
from proctor.measures.shares import Share
from proctor.stats.intervals import clip01, t_quantile

Notes = dict[str, Json]

_COMPLETED = (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED)


@dataclass(frozen=True)
class AskRate(Measure):
    """Share of attempts that asked at least once, among those ruled on to the end."""

    empty: ClassVar[float | None] = None

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return _share(results, self.empty, lambda notes: bool(notes.get("asked")))


@dataclass(frozen=True)
class CovRate(Measure):
    """Share of final answers that came after every point was covered; 0 without final answers."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        share = Share()
        for notes in _valid(results):
            share.add(bool(one["resolved"]) for one in notes if _is_covered_or_not(one))
        return share.measured(empty=0.0)


@dataclass(frozen=True)
class UnqRate(Measure):
    """Share of attempts that asked on although every point was covered; less is better."""

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

    empty: ClassVar[float | None] = None
    coverage_of_none: ClassVar[float] = 0.0
    """The coverage where there is no final answer."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        moments = _Moments()
        for notes in _valid(results):
            moments.add(notes)
        _, valid, covered, finals, needless = moments.sums
        if not valid:
            return Measured(value=self.empty, interval=None, n=0)
        accuracy, unq = moments.sums[0] / valid, needless / valid
        cov = covered / finals if finals else self.coverage_of_none
        value = 0.5 * accuracy + 0.3 * cov + 0.2 * (1 - unq)
        slopes = [0.5 / valid, (0.2 * unq - 0.5 * accuracy) / valid, 0.0, 0.0, -0.2 / valid]
        if finals:
            slopes[2], slopes[3] = 0.3 / finals, -0.3 * cov / finals
        return Measured(
            value=min(1.0, max(0.0, value)),
            interval=clip01(moments.interval(value, slopes)),
            n=valid,
            detail={"accuracy": accuracy, "coverage": cov, "needless": unq},
        )


@dataclass(frozen=True)
class VagueAskRate(Measure):
    """Share of attempts at vague tasks that asked at least once."""

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


@dataclass
class _Moments:
    """Counts per case with the sums of their products, for an interval of any mix."""

    n: int = 0
    sums: list[int] = field(default_factory=lambda: [0] * 5)
    """Correct, valid, covered final answers, final answers, attempts with needless questions."""
    products: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in range(5)])

    def add(self, notes: list[Notes]) -> None:
        """Take in the attempts at one case that count."""
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
        self.n += 1
        for i, first in enumerate(row):
            self.sums[i] += first
            for j, second in enumerate(row):
                self.products[i][j] += first * second

    def interval(self, value: float, slopes: list[float]) -> tuple[float, float] | None:
        """Return the t interval of a value that has these slopes in the sums."""
        if self.n < 2:
            return None
        squares = sum(
            slopes[i] * slopes[j] * self.products[i][j] for i in range(5) for j in range(5)
        )
        error = sqrt(self.n / (self.n - 1) * max(0.0, squares))
        half = t_quantile(0.975, self.n - 1) * error
        return value - half, value + half


def _noted(results: Iterable[CaseResult]) -> Iterator[tuple[CaseResult, Notes]]:
    for result in results:
        for attempt in result.attempts:
            if attempt.attempt.notes and attempt.attempt.status is not AttemptStatus.ERROR:
                yield result, dict(attempt.attempt.notes)


def _valid(results: Iterable[CaseResult]) -> Iterator[list[Notes]]:
    """Yield per case the notes of those attempts that were ruled on to their end."""
    for result in results:
        yield [
            dict(one.attempt.notes)
            for one in result.attempts
            if one.attempt.status in _COMPLETED
            and "asked" in one.attempt.notes
            and not one.attempt.notes.get("skipped")
        ]


def _share(
    results: Iterable[CaseResult],
    empty: float | None,
    hit: Callable[[Notes], bool],
    among: Callable[[Notes], bool] = lambda notes: True,
) -> Measured:
    share = Share()
    for notes in _valid(results):
        share.add(hit(one) for one in notes if among(one))
    return share.measured(empty=empty)


def _total(results: Iterable[CaseResult], count: Callable[[Notes], int]) -> Measured:
    total = n = 0
    for notes in _valid(results):
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
