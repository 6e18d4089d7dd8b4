"""Measures of answers over several attempts, of rubrics, and of replies that were cut off."""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor.contracts.measure import Measure
from proctor.core.attempt import AttemptStatus
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case
from proctor.core.summation import in_turn
from proctor.measures.shares import Compat, Share, full_marks
from proctor.stats.intervals import RatioSums, clip01


@dataclass(frozen=True)
class TruncationRate(Measure):
    """Share of attempts with a reply that was cut off by the limit of tokens."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Count the attempts with a cut reply among all in which the candidate was reached."""
        share = Share()
        for result in results:
            reached = [
                attempt.attempt
                for attempt in result.attempts
                if attempt.attempt.status is not AttemptStatus.ERROR
            ]
            share.add(bool(attempt.notes.get("truncated")) for attempt in reached)
        return share.measured()


@dataclass(frozen=True)
class PassAt1(Measure):
    """Chance that one attempt gets full marks: the mean over cases of the mean over attempts.

    The original pools all attempts instead, so that a case with fewer valid ones counts less.
    """

    compat: Compat = ""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Average the attempts that count."""
        sums = RatioSums()
        for result in results:
            marks = [hit for _, hit in full_marks(result)]
            if marks and self.compat:
                sums.add(float(sum(marks)), float(len(marks)))
            elif marks:
                sums.add(in_turn(marks) / len(marks), 1.0)
        empty = 0.0 if self.compat else None
        value = empty if sums.rate is None else sums.rate
        return Measured(value=value, interval=clip01(sums.interval()), n=sums.n)


@dataclass(frozen=True)
class HealthBench(Measure):
    """HealthBench's score: the mean over cases of points in parts of the positive points.

    The original counts a rubric item without a readable ruling as not met, leaves a case out only
    where it has no readable item, and lets a case without positive items be worth 0.
    """

    compat: Compat = ""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Average the cases, each between 0 and 1."""
        sums = RatioSums()
        for result in results:
            values = self._originally(result) if self.compat else _rate(result)
            if values:
                sums.add(in_turn(values) / len(values), 1.0)
        empty = 0.0 if self.compat else None
        value = empty if sums.rate is None else sums.rate
        return Measured(value=value, interval=clip01(sums.interval()), n=sums.n)

    def _originally(self, result: CaseResult) -> list[float]:
        found = (
            _rubric_value(result.case, attempt)
            for attempt in result.attempts
            if attempt.attempt.status is AttemptStatus.ANSWERED
        )
        return [value for value in found if value is not None]


def _rate(result: CaseResult) -> list[float]:
    value, full = result.folded.value, result.case.full_score
    return [] if value is None or full <= 0 else [min(1.0, max(0.0, value / full))]


def _rubric_value(case: Case, attempt: AttemptResult) -> float | None:
    """Return what the original makes of the rubric items of one answer."""
    weights = [criterion.weight for criterion in case.criteria]
    scores = [attempt.scores.get(criterion.id) for criterion in case.criteria]
    if not any(_is_readable(score) for score in scores):
        return None
    met = sum(
        weight * (score.points or 0.0)
        for weight, score in zip(weights, scores, strict=True)
        if score is not None and _is_readable(score)
    )
    positive = in_turn(weight for weight in weights if weight > 0)
    whole = positive or in_turn(abs(weight) for weight in weights) or 1.0
    return min(1.0, max(0.0, met / whole))


def _is_readable(score: Score | None) -> bool:
    if score is None or score.status is not ScoreStatus.SCORED:
        return False
    return not (isinstance(score.detail, dict) and score.detail.get("valid") is False)
