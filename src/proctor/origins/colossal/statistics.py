"""Statistics of ratings as ColossalAI's pipeline has them: a mean, the best three, the worst."""

from collections.abc import Mapping, Sequence

from proctor.core.suite import Json

Rated = tuple[Json, Mapping[str, float | None]]
"""An id, and the rating by each metric; none where there is no readable one."""
SHOWN = 3


def rating_statistics(rows: Sequence[Rated], compat: str = "") -> dict[str, dict[str, Json]]:
    """Return the numbers of one category by metric.

    Whatever has no rating is left out and counted; the original counts it as a 0. Among equals
    the later is the better, and the earlier the worse, as in the original.
    """
    metrics = dict.fromkeys(metric for _, ratings in rows for metric in ratings)
    return {metric: _of_metric(metric, rows, compat) for metric in metrics}


def _of_metric(metric: str, rows: Sequence[Rated], compat: str) -> dict[str, Json]:
    rated = [(ident, ratings.get(metric)) for ident, ratings in rows]
    if compat:
        counted = [(ident, _short(0.0 if rating is None else rating)) for ident, rating in rated]
    else:
        counted = [(ident, rating) for ident, rating in rated if rating is not None]
    ordered = sorted(counted, key=lambda pair: pair[1])
    statistics: dict[str, Json] = {
        "avg_score": sum(rating for _, rating in counted) / len(counted) if counted else None,
        "best_3": {str(ident): rating for ident, rating in ordered[: -SHOWN - 1 : -1]},
        "worst_3": {str(ident): rating for ident, rating in ordered[:SHOWN]},
    }
    if not compat:
        statistics |= {"scored": len(counted), "unscored": len(rated) - len(counted)}
    return statistics


def _short(rating: float) -> float:
    """Return a whole number as such: the original's ratings from texts are."""
    return int(rating) if rating == int(rating) else rating
