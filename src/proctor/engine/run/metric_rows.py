"""The breakdown by metric: what each kind of criterion of a case gave, on its own scale."""

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import shares
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
    labels = list(dict.fromkeys(c.label for c in case.criteria if c.weight != 0))
    rows: dict[str, list[_MetricShare | None]] = {label: [] for label in labels}
    for places in result.folded.chosen:
        by_attempt = [_shares_of(result.attempts[i], case, shares_of_value) for i in places]
        for label in labels:
            parts = [one.get(label, _MetricShare()) for one in by_attempt]
            mean = _MetricShare(*(fmean(column) for column in zip(*parts, strict=True)))
            rows[label].append(mean if parts else None)
    for label, shares_by_bucket in rows.items():
        valued = [share for share in shares_by_bucket if share is not None]
        full = fmean(share.full for share in valued) if valued else 0.0
        if full <= 0 and not any(share.points for share in valued):
            continue
        least = min(share.penalties for share in valued)
        yield CriterionRow(
            label=label,
            points=fmean(share.points for share in valued) * case.weight,
            full=full * case.weight,
            buckets=[
                None if share is None else share.points * case.weight for share in shares_by_bucket
            ],
            scale=Scale(least / full, 1.0) if least < 0 < full else SHARE,
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
        before = summed.get(label, _MetricShare())
        summed[label] = _MetricShare(*(a + b for a, b in zip(before, share, strict=True)))
    return summed


def _penalty(criterion: Criterion, result: AttemptResult) -> float:
    return min(0.0, criterion.weight * (result.scores[criterion.id].out_of or 0.0))
