"""What each kind of criterion gave in a case: the rows of the breakdown by metric."""

from collections.abc import Iterator
from typing import NamedTuple

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import shares
from proctor.core.fold import mean
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case, Criterion
from proctor.stats.intervals import SHARE, Scale


class CriterionRow(NamedTuple):
    """One kind of criterion of a case."""

    label: str
    points: float
    full: float
    buckets: list[float | None]
    """The points of each bucket of attempts."""
    scale: Scale


def metric_rows(result: CaseResult, *, shares_of_value: bool = False) -> Iterator[CriterionRow]:
    """Yield points and full marks of each kind of criterion of a case.

    Points count by the attempts that made the value of their bucket, and are not clipped. They are
    scaled so that the full marks of a case's criteria add up to its full score; the original
    divides by the case's maximum instead, so that they may add up to more.
    """
    case = result.case
    if result.folded.chosen == _FIRST_ALONE:
        yield from _rows_of_one(result, shares_of_value)
        return
    labels = list(dict.fromkeys(c.label for c in case.criteria if c.weight != 0))
    rows: dict[str, list[_MetricShare | None]] = {label: [] for label in labels}
    for places in result.folded.chosen:
        by_attempt = [_shares_of(result.attempts[i], case, shares_of_value) for i in places]
        for label in labels:
            parts = [one.get(label, _MetricShare()) for one in by_attempt]
            columns = map(mean, zip(*parts, strict=True))
            rows[label].append(_MetricShare(*columns) if parts else None)
    for label, shares_by_bucket in rows.items():
        valued = [share for share in shares_by_bucket if share is not None]
        full = mean([share.full for share in valued]) if valued else 0.0
        if full <= 0 and not any(share.points for share in valued):
            continue
        least = min(share.penalties for share in valued)
        yield CriterionRow(
            label=label,
            points=mean([share.points for share in valued]) * case.weight,
            full=full * case.weight,
            buckets=[
                None if share is None else share.points * case.weight for share in shares_by_bucket
            ],
            scale=Scale(least / full, 1.0) if least < 0 < full else SHARE,
        )


_FIRST_ALONE = ((0,),)
"""What is chosen of the attempts of most cases, which have one."""


def _rows_of_one(result: CaseResult, shares_of_value: bool) -> Iterator[CriterionRow]:
    """Yield the same of a case that one attempt decides: the mean of one number is itself."""
    case = result.case
    own = _shares_of(result.attempts[0], case, shares_of_value)
    for label in dict.fromkeys(c.label for c in case.criteria if c.weight != 0):
        points, full, penalties = own.get(label, _NOTHING)
        if full <= 0 and not points:
            continue
        yield CriterionRow(
            label=label,
            points=points * case.weight,
            full=full * case.weight,
            buckets=[points * case.weight],
            scale=Scale(penalties / full, 1.0) if penalties < 0 < full else SHARE,
        )


class _MetricShare(NamedTuple):
    """Points and full marks of one kind of criterion, in parts of a case's full score."""

    points: float = 0.0
    full: float = 0.0
    penalties: float = 0.0
    """The points where every penalty is given in full: below 0, or none."""


def _shares_of(result: AttemptResult, case: Case, shares_of_value: bool) -> dict[str, _MetricShare]:
    """Return per label the points and full marks of an attempt, in parts of the full score."""
    if result.attempt.status is AttemptStatus.UNANSWERED:
        positive = [c for c in case.criteria if c.weight > 0]
        total = sum(c.weight for c in positive) or 1.0
        null, full, least = case.null_score, case.full_score, min(0.0, case.null_score)
        rows = [
            (c.label, _MetricShare(*(part * c.weight / total for part in (null, full, least))))
            for c in positive
        ]
    else:
        scored = shares(case, result.scores)
        whole = result.value.out_of if shares_of_value else sum(full for _, _, full in scored)
        scale = case.full_score / whole if whole > 0 else 0.0
        rows = [
            (c.label, _MetricShare(points * scale, full * scale, _penalty(c, result) * scale))
            for c, points, full in scored
        ]
    summed: dict[str, _MetricShare] = {}
    for label, share in rows:
        points, full, penalties = summed.get(label, _NOTHING)
        summed[label] = _MetricShare(
            points + share.points, full + share.full, penalties + share.penalties
        )
    return summed


_NOTHING = _MetricShare()


def _penalty(criterion: Criterion, result: AttemptResult) -> float:
    return min(0.0, criterion.weight * (result.scores[criterion.id].out_of or 0.0))
