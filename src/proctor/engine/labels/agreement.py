"""How far the judge of a run agrees with the labels that people gave, and what follows from it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from proctor.core.run import CorrectedScore
from proctor.engine.labels.criterion_scale import CriterionScale, scale_of
from proctor.errors import ProctorError
from proctor.stats.agreement import Kappa, clustered_kappa
from proctor.stats.prediction_powered import UNLIKE, Corrected, corrected
from proctor.store.criterion_points import CriterionMark
from proctor.store.rows import Label
from proctor.store.store import Store

Labels = Mapping[tuple[str, int], Label]
MOST = 2000
"""How many labels are looked at, the last ones."""
MOST_OTHERS = 2000
"""How many cases without a label are looked at, picked all over the run."""
MOST_CRITERIA = 20
"""How many criteria are corrected, those with most labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement:
    """How far the judge agrees with people on one criterion."""

    kappa: Kappa
    """Clustered by case; by squared distances where people rate."""
    judge_right: int
    person_right: int
    confusion: tuple[tuple[float, float, int], ...]
    """What the judge gave, what people gave, and how often, in points."""
    score: CorrectedScore


def latest(labels: Iterable[Label], criterion: str, *, seen: bool = False) -> Labels:
    """Return the last label of each attempt for one criterion.

    Labels of people who had seen the judge's verdict are left out, unless they are asked for.
    """
    return {
        (label.case_id, label.index): label
        for label in labels
        if label.criterion == criterion and label.points is not None and label.seen <= seen
    }


def judged_places(
    store: Store, run_id: str, criterion: str, scale: CriterionScale
) -> dict[int, float]:
    """Return what a criterion gave the cases of a run, or many of them, as shares by place."""
    marks = store.criterion_points.of_places(
        run_id, criterion, store.criterion_points.sample_places(run_id, MOST_OTHERS)
    )
    return _by_case((mark.position, _share(scale, mark, mark.points)) for mark in marks)


def labelled_criterion(store: Store, run_id: str, criterion: str, labels: Labels) -> CriterionScale:
    """Return the scale of a criterion that people labelled, as the first such case has it."""
    for case_id, _ in labels:
        try:
            linked = store.attempts.case(run_id, case_id)
        except ProctorError:
            continue
        named_criteria = [one for one in linked.case.criteria if one.id == criterion]
        scores = [scores.get(criterion) for _, scores in linked.attempts]
        if named_criteria:
            score = next((one for one in scores if one is not None and one.out_of), None)
            return scale_of(named_criteria[0], score)
    return CriterionScale()


def agreement(
    store: Store,
    run_id: str,
    criterion: str,
    labels: Labels,
    scale: CriterionScale | None = None,
    others: Mapping[int, float] | None = None,
) -> LabelAgreement:
    """Count where judge and person say the same, case by case, and correct the judge's score.

    The others are what the judge gave the cases all over the run.
    """
    scale = scale or labelled_criterion(store, run_id, criterion, labels)
    if others is None:
        others = judged_places(store, run_id, criterion, scale)
    looked = list(labels.values())[-MOST:]
    places = store.criterion_points.places(run_id, {label.case_id for label in looked})
    judge_marks = {
        (mark.position, mark.number): mark
        for mark in store.criterion_points.of_places(run_id, criterion, sorted(places.values()))
    }
    both: list[tuple[CriterionMark, float]] = []
    for label in looked:
        mark = judge_marks.get((places.get(label.case_id, -1), label.index))
        if mark is not None and label.points is not None:
            both.append((mark, label.points))
    right = [(_right(scale, mark, mark.points), _right(scale, mark, own)) for mark, own in both]
    pairs = [(mark.points, own) for mark, own in both] if scale.rates else right
    marked = set(places.values())
    rest = {place: share for place, share in others.items() if place not in marked}
    named = store.results.clusters_of(run_id, [*marked, *rest])
    clusters: dict[int | str, list[tuple[float, float]]] = {}
    for (mark, _), pair in zip(both, pairs, strict=True):
        clusters.setdefault(named.get(mark.position, mark.position), []).append(pair)
    cases = _cases(both, scale)
    confusion = sorted((*pair, times) for pair, times in Counter(pairs).items())
    return LabelAgreement(
        kappa=clustered_kappa(clusters.values(), level="interval" if scale.rates else "nominal"),
        judge_right=round(sum(one for one, _ in right)),
        person_right=round(sum(own for _, own in right)),
        confusion=tuple(confusion),
        score=scaled(
            corrected(
                list(cases.values()),
                list(rest.values()),
                clusters=[named.get(place, place) for place in cases],
                rest_clusters=[named.get(place, place) for place in rest],
            ),
            scale,
        ),
    )


def corrected_scores(store: Store, run_id: str) -> dict[str, CorrectedScore]:
    """Return the corrected scores of a run, by criterion; nothing where nobody gave labels."""
    criteria = list(store.labels.criteria(run_id))[:MOST_CRITERIA]
    if not criteria:
        return {}
    labels = store.labels.of_run(run_id)
    return {name: agreement(store, run_id, name, latest(labels, name)).score for name in criteria}


def scaled(corrected: Corrected, scale: CriterionScale) -> CorrectedScore:
    """Return a corrected score in the numbers that the criterion is shown in."""
    width = 1.0 if scale.counts else scale.high - scale.low
    interval = None
    if corrected.interval is not None:
        interval = (scale.points(corrected.interval[0]), scale.points(corrected.interval[1]))
    return CorrectedScore(
        raw=None if corrected.raw is None else scale.points(corrected.raw),
        value=None if corrected.value is None else scale.points(corrected.value),
        interval=interval,
        bias=None if corrected.bias is None else corrected.bias * width,
        trust=corrected.trust,
        labelled=corrected.labelled,
        cases=corrected.cases,
        unlike=corrected.unlike,
        scale=(0.0, 1.0) if scale.counts else (scale.low, scale.high),
        warning=picked_warning(corrected),
    )


def picked_warning(corrected: Corrected) -> str:
    """Say that labels were not given on cases picked at random, where that shows."""
    if not corrected.is_picked:
        return ""
    return (
        f"the labelled cases are not like the others: the judge's means differ, p < {UNLIKE:g};"
        " the corrected score holds only for labels on cases picked at random"
    )


def _right(scale: CriterionScale, mark: CriterionMark, points: float) -> float:
    return float(points >= mark.full - 1e-9) if scale.counts else scale.is_right(points)


def _share(scale: CriterionScale, mark: CriterionMark, points: float) -> float:
    """Return points as a share; full marks may differ from case to case."""
    if scale.counts:
        return min(1.0, max(0.0, points / mark.full))
    return scale.share(points)


def _cases(
    both: Sequence[tuple[CriterionMark, float]], scale: CriterionScale
) -> dict[int, tuple[float, float]]:
    """Return what judge and person gave each case, by its place."""
    judge = _by_case((mark.position, _share(scale, mark, mark.points)) for mark, _ in both)
    person = _by_case((mark.position, _share(scale, mark, own)) for mark, own in both)
    return {place: (judge[place], person[place]) for place in judge}


def _by_case(place_values: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the mean of each place: attempts at one case are no draws of their own."""
    gathered: dict[int, list[float]] = {}
    for place, share in place_values:
        gathered.setdefault(place, []).append(share)
    return {place: fmean(shares) for place, shares in gathered.items()}
