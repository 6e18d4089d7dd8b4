"""How far the judge of a run agrees with the marks that people gave."""

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.core.score import Score
from proctor.engine.evaluate import case_of
from proctor.errors import StoreError
from proctor.reports.view import RunView
from proctor.stats.agreement import cohen_kappa
from proctor.store.rows import Label
from proctor.store.store import Store

Marks = Mapping[tuple[str, int], Label]
MOST = 2000
"""How many marks are looked at."""
_NEAR = 1e-9


def latest(labels: Iterable[Label], criterion: str) -> Marks:
    """Return the last mark of each attempt for one criterion."""
    return {
        (label.case_id, label.index): label
        for label in labels
        if label.criterion == criterion and label.points is not None
    }


def agreement(store: Store, view: RunView, criterion: str, labels: Marks) -> dict[str, Any]:
    """Count where judge and person say right or wrong alike, with Cohen's kappa."""
    pairs: list[tuple[float, float]] = []
    by_case: dict[str, list[Label]] = {}
    for label in list(labels.values())[-MOST:]:
        by_case.setdefault(label.case_id, []).append(label)
    for case_id, marks in by_case.items():
        scores = _scores(store, view, case_id, criterion)
        for label in marks:
            score = scores.get(label.index)
            if score is not None and score.points is not None and label.points is not None:
                full = 1.0 if score.out_of is None else score.out_of
                said, own = (value >= full - _NEAR for value in (score.points, label.points))
                pairs.append((float(said), float(own)))
    found = cohen_kappa(pairs)
    return {
        "kappa": found.value,
        "interval": found.interval,
        "agreed": found.agreed,
        "n": found.n,
        "judge_right": sum(said for said, _ in pairs),
        "person_right": sum(own for _, own in pairs),
    }


def _scores(store: Store, view: RunView, case_id: str, criterion: str) -> dict[int, Score]:
    """Return the scores of all attempts; none where the run has the case no more."""
    try:
        found = case_of(store, view, case_id)
    except StoreError:
        return {}
    return {
        item.attempt.index: item.scores[criterion]
        for item in found.attempts
        if criterion in item.scores
    }
