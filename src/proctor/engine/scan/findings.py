"""What the scans of a run come to: marks, agreement with labels, and the corrected score."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from proctor.contracts.report import RunView
from proctor.core.scan import (
    KINDS,
    AttemptValue,
    KindFinding,
    Marks,
    ScanFindings,
    ScanMark,
    ScanOfKind,
    adjusted,
)
from proctor.engine.labels.agreement import picked_warning
from proctor.stats.agreement import clustered_kappa
from proctor.stats.prediction_powered import Corrected, corrected
from proctor.store.labels import SCANNED
from proctor.store.store import Store

ROUNDS = 50
"""How often the mean that stands for cases left out is put in, until it no longer moves."""


Marked = dict[int, list[tuple[str, ScanMark]]]
"""What was marked in the attempts at one case: by attempt, each with its kind."""


def stored_scans(store: Store, run_id: str) -> list[ScanOfKind]:
    """Return the newest scan of each kind, in the order of the kinds."""
    scans = []
    for document in store.scans.of_run(run_id):
        try:
            scans.append(ScanOfKind.from_json(document))
        except (LookupError, TypeError, ValueError):
            continue
    return sorted(scans, key=lambda scan: KINDS.index(scan.kind) if scan.kind in KINDS else 99)


def scan_marks(store: Store, run_id: str, case_id: str) -> Marked:
    """Return what was marked in the attempts at one case, by attempt."""
    by_attempt: Marked = {}
    for scan in stored_scans(store, run_id):
        for mark in scan.marks:
            if mark.case == case_id and mark.marked:
                by_attempt.setdefault(mark.attempt, []).append((scan.kind, mark))
    return by_attempt


def labels_of(store: Store, run_id: str) -> dict[tuple[str, str, int], bool]:
    """Return what people say of the kinds: by kind, case and attempt; the last label counts."""
    return {
        (label.criterion.removeprefix(SCANNED), label.case_id, label.index): label.points >= 0.5
        for label in store.labels.of_run(run_id)
        if label.criterion.startswith(SCANNED) and label.points is not None
    }


def findings_of(store: Store, view: RunView) -> ScanFindings | None:
    """Sum up all scans of a run; none where it was never scanned."""
    scans = stored_scans(store, view.run.id)
    if not scans:
        return None
    labels = labels_of(store, view.run.id)
    values = [
        AttemptValue(
            case=result.case.id,
            attempt=item.attempt.index,
            share=None
            if item.value.value is None
            else min(1.0, max(0.0, item.value.value / (result.case.full_score or 1.0))),
        )
        for result in view.results()
        for item in result.attempts
    ]
    return summed(scans, labels, values)


def summed(
    scans: Sequence[ScanOfKind],
    labels: Mapping[tuple[str, str, int], bool],
    values: Sequence[AttemptValue],
) -> ScanFindings:
    """Sum up scans, labels and values."""
    judge: dict[tuple[str, str, int], bool] = {
        (scan.kind, mark.case, mark.attempt): mark.marked
        for scan in scans
        for mark in scan.marks
        if mark.marked is not None
    }
    person = {
        **judge,
        **{place: is_marked for place, is_marked in labels.items() if place in judge},
    }
    labelled = {case for kind, case, attempt in labels if (kind, case, attempt) in judge}
    score = _corrected_score(values, judge, person, labelled)
    plain = _mean(adjusted(values, {}).values())
    return ScanFindings(
        kinds=tuple(_of_kind(scan, labels) for scan in scans),
        rate=plain,
        scanned_rate=_mean(adjusted(values, judge).values()),
        corrected=None if score is None else score.value,
        interval=None if score is None else score.interval,
        labelled=len(labelled),
        warning="" if score is None else picked_warning(score),
        marks=tuple((scan.kind, mark) for scan in scans for mark in scan.marks if mark.marked),
    )


def _of_kind(scan: ScanOfKind, labels: Mapping[tuple[str, str, int], bool]) -> KindFinding:
    read = [mark for mark in scan.marks if mark.marked is not None]
    both = [
        (mark, labels[scan.kind, mark.case, mark.attempt])
        for mark in read
        if (scan.kind, mark.case, mark.attempt) in labels
    ]
    finding = KindFinding(
        kind=scan.kind,
        judge=scan.judge,
        looked_at=len(scan.marks),
        marked=sum(bool(mark.marked) for mark in scan.marks),
        unread=len(scan.marks) - len(read),
        labelled=len(both),
    )
    clusters: dict[str, list[tuple[float, float]]] = {}
    for mark, own in both:
        clusters.setdefault(mark.case, []).append((float(bool(mark.marked)), float(own)))
    kappa = clustered_kappa(clusters.values())
    pairs = [
        (fmean(one for one, _ in rows), fmean(own for _, own in rows)) for rows in clusters.values()
    ]
    rest = _by_case(mark for mark in read if mark.case not in clusters)
    share = corrected(pairs, list(rest.values()))
    return KindFinding(
        kind=finding.kind, judge=finding.judge, looked_at=finding.looked_at,
        marked=finding.marked, unread=finding.unread, labelled=finding.labelled,
        kappa=kappa.value if both else None,
        kappa_interval=kappa.interval if both else None,
        share=share.value, interval=share.interval,
    )  # fmt: skip


def _by_case(marks: Iterable[ScanMark]) -> dict[str, float]:
    by_case: dict[str, list[float]] = {}
    for mark in marks:
        by_case.setdefault(mark.case, []).append(float(bool(mark.marked)))
    return {case: fmean(marks_of) for case, marks_of in by_case.items()}


def _corrected_score(
    values: Sequence[AttemptValue], judge: Marks, person: Marks, labelled: set[str]
) -> Corrected | None:
    """Correct the mean that the marks lead to by what people say of some of them.

    A case that is left out by the judge or the person counts as the mean itself: that is what
    leaving it out does to a mean. The mean is put in until it no longer moves, and the interval is
    as much wider as there are fewer cases left.
    """
    if not labelled:
        return None
    by_judge, by_person = adjusted(values, judge), adjusted(values, person)
    kept = sum(share is not None for share in by_judge.values()) / max(1, len(by_judge))
    middle = _mean(by_person.values())
    if middle is None or not kept:
        return None
    score = None
    for _ in range(ROUNDS):
        filled = middle
        pairs = [
            (_or(by_judge[case], filled), _or(by_person[case], filled))
            for case in by_judge
            if case in labelled
        ]
        rest = [_or(share, filled) for case, share in by_judge.items() if case not in labelled]
        score = corrected(pairs, rest)
        if score.value is None:
            return None
        if abs(score.value - middle) < 1e-9:
            break
        middle = score.value
    if score is None or score.value is None or score.interval is None:
        return score
    low, high = ((end - score.value) / kept + score.value for end in score.interval)
    return Corrected(
        raw=score.raw, value=score.value, interval=(max(0.0, low), min(1.0, high)),
        bias=score.bias, trust=score.trust, labelled=score.labelled, cases=score.cases,
        unlike=score.unlike,
    )  # fmt: skip


def _or(share: float | None, middle: float) -> float:
    return middle if share is None else share


def _mean(shares: Iterable[float | None]) -> float | None:
    numbers = [share for share in shares if share is not None]
    return fmean(numbers) if numbers else None
