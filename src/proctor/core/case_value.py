"""The value of a case: the one formula that makes it of the scores of its criteria."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion
from proctor.records import dataclass


class ValueStatus(StrEnum):
    """How an attempt, or a case, enters the sums."""

    SCORED = "scored"
    UNANSWERED = "unanswered"
    UNSCORED = "unscored"
    ERROR = "error"
    SHOWN = "shown"
    """Nothing in the case counts: its numbers are reported by themselves and never added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Value of an attempt; between low and high where a criterion failed."""

    status: ValueStatus
    value: float | None
    low: float
    high: float
    points: float = 0.0
    """The weighted points before clipping."""
    out_of: float = 0.0
    """The denominator."""
    least: float = 0.0
    """The worst that an attempt at the case can be worth, its penalties counted."""
    most: float | None = None
    """The best that it can be worth; none for the full score."""


def counts(criterion: Criterion, score: Score | None) -> bool:
    """Tell whether a criterion enters the sum of its case."""
    if criterion.weight == 0:
        return False
    if score is None or score.status is ScoreStatus.FAILED:
        return True
    return score.status is ScoreStatus.SCORED and score.out_of is not None


def only_shown(case: Case) -> bool:
    """Tell whether a case has criteria, and none of them counts."""
    return bool(case.criteria) and all(criterion.weight == 0 for criterion in case.criteria)


def shown_value(case: Case, scores: Mapping[str, Score]) -> Value:
    """Return the value of an answered attempt where nothing counts: unscored if a score failed.

    A number that was not asked for, such as a rating without a judge, is not missing.
    """
    failed = any(
        score is not None and score.status is ScoreStatus.FAILED
        for score in (scores.get(criterion.id) for criterion in case.criteria)
    )
    status = ValueStatus.UNSCORED if failed else ValueStatus.SHOWN
    return Value(status=status, value=None, low=0.0, high=0.0)


def value_of(case: Case, scores: Mapping[str, Score]) -> Value:
    """Apply the one formula to the scores of one answered attempt."""
    if only_shown(case):
        return shown_value(case, scores)
    low = high = total = full = penalties = 0.0
    failed = unknown = False
    for criterion in case.criteria:
        score = scores.get(criterion.id)
        if not counts(criterion, score):
            continue
        if score is None or score.status is ScoreStatus.FAILED:
            failed = True
            if score is None or score.out_of is None:
                unknown = True
                low += min(0.0, criterion.weight)
                continue
            ends = sorted((0.0, criterion.weight * score.out_of))
        else:
            points = criterion.weight * (score.points or 0.0)
            total += points
            ends = [points, points]
        low, high = low + ends[0], high + ends[1]
        if criterion.weight > 0:
            full += criterion.weight * (score.out_of or 0.0)
        else:
            penalties += criterion.weight * (score.out_of or 0.0)
    denominator = denominator_of(case, full)
    if failed and (unknown or denominator <= 0):
        worst = min(least_value(case), _scaled(case, low, denominator) if denominator > 0 else 0.0)
        return Value(status=ValueStatus.UNSCORED, value=None, low=worst, high=case.full_score)
    if failed:
        return Value(
            status=ValueStatus.UNSCORED,
            value=None,
            low=_scaled(case, low, denominator),
            high=_scaled(case, high, denominator),
            points=total,
            out_of=denominator,
        )
    if denominator <= 0:
        return Value(status=ValueStatus.UNSCORED, value=None, low=0.0, high=case.full_score)
    value = _scaled(case, total, denominator)
    return Value(
        status=ValueStatus.SCORED,
        value=value,
        low=value,
        high=value,
        points=total,
        out_of=denominator,
        least=min(0.0, _scaled(case, penalties, denominator)),
        most=max(case.full_score, _scaled(case, full, denominator)),
    )


def turn_values(case: Case, scores: Mapping[str, Score]) -> dict[int, Value]:
    """Apply the formula to the criteria of each turn by themselves, for turns that have any.

    Full marks of a turn are its weights: a share of 1 is all of that turn's points.
    """
    values = {}
    for turn in sorted({c.turn for c in case.criteria if c.turn is not None}):
        part = replace(
            case,
            criteria=tuple(c for c in case.criteria if c.turn == turn),
            full_score=1.0,
            min_points=None,
            max_points=None,
            out_of=None,
        )
        values[turn] = value_of(part, scores)
    return values


def denominator_of(case: Case, full: float) -> float:
    """Return what the points of a case are divided by, given the full marks of its criteria."""
    if case.out_of is not None:
        return case.out_of
    return full if case.max_points is None else min(case.max_points, full)


def null_value(case: Case) -> Value:
    """Return what a case is worth when the candidate gave no answer."""
    if only_shown(case):
        return Value(status=ValueStatus.SHOWN, value=None, low=0.0, high=0.0)
    null = case.null_score
    return Value(status=ValueStatus.UNANSWERED, value=null, low=null, high=null)


def stopped_value(case: Case) -> Value:
    """Return what a case is worth when a judge or a simulated user failed in mid-dialogue."""
    worst = least_value(case)
    return Value(status=ValueStatus.UNSCORED, value=None, low=worst, high=case.full_score)


def error_value(case: Case) -> Value:
    """Return what a case is worth when the candidate could not be reached."""
    return Value(status=ValueStatus.ERROR, value=None, low=least_value(case), high=case.full_score)


def shares(case: Case, scores: Mapping[str, Score]) -> Sequence[tuple[Criterion, float, float]]:
    """Return criterion, weighted points and weighted full marks of all that entered the sum."""
    rows = []
    for criterion in case.criteria:
        score = scores.get(criterion.id)
        if score is None or score.points is None or score.out_of is None or not criterion.weight:
            continue
        full = criterion.weight * score.out_of if criterion.weight > 0 else 0.0
        rows.append((criterion, criterion.weight * score.points, full))
    return rows


def least_value(case: Case) -> float:
    """Return the least that a case may be worth when nothing of it was scored: all penalties.

    A criterion whose full marks nobody knows is taken for one of one point.
    """
    lost = sum(criterion.weight for criterion in case.criteria if criterion.weight < 0)
    had = sum(criterion.weight for criterion in case.criteria if criterion.weight > 0)
    denominator = denominator_of(case, had)
    if not lost or denominator <= 0:
        return 0.0
    return min(0.0, _scaled(case, lost, denominator))


def _scaled(case: Case, points: float, denominator: float) -> float:
    if case.max_points is not None:
        points = min(points, case.max_points)
    if case.min_points is not None:
        points = max(points, case.min_points)
    return points / denominator * case.full_score


def in_turn(values: Iterable[float]) -> float:
    """Add numbers one after the other.

    The built-in ``sum`` corrects its rounding since Python 3.12, so that its last bit differs
    from that of earlier versions, and from what the originals wrote into their files.
    """
    added = 0.0
    for value in values:
        added += value
    return added
