"""Means of scores that are only shown, such as ratings from 1 to 5, for the page of a run."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from pydantic import Field
from starlette.requests import Request

from proctor.core.run import Run
from proctor.stats.intervals import OPEN, bounded_interval
from proctor.store.store import Store
from proctor.web.api.response import Interval, ResponseModel
from proctor.web.store_pool import stamp, store_pool_of

TRIED, TOGETHER = 40, 5
"""In how many cases a criterion that is only shown is looked for, so many neighbours each."""
MOST = 5_000
"""From how many cases a mean is made; more are sampled."""


class MeanRating(ResponseModel):
    """The mean of one criterion that is only shown."""

    criterion: str
    mean: float
    interval: Interval | None = Field(description="95 %, by the spread over cases")
    least: float
    most: float
    cases: int
    sampled: bool = Field(description="whether the mean is of a sample of the cases")


def mean_ratings(request: Request, store: Store, run: Run) -> list[MeanRating]:
    """Return the means of what is only shown; none for a run in which everything counts."""

    def compute() -> list[MeanRating]:
        points = store.criterion_points
        tried = points.sample_places(run.id, TRIED, together=TOGETHER)
        if not any(points.only_shown(run.id, tried)):
            return []
        return _means(store, run.id)

    key = stamp([run])
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("ratings", key), compute)


class ComparedRating(ResponseModel):
    """The mean of a criterion that is only shown, in each of the runs; None where it is not."""

    criterion: str
    means: list[MeanRating | None]


def compared_ratings(request: Request, store: Store, runs: Sequence[Run]) -> list[ComparedRating]:
    """Return the means of what is only shown in all runs side by side."""
    columns = [{one.criterion: one for one in mean_ratings(request, store, run)} for run in runs]
    return [
        ComparedRating(criterion=name, means=[column.get(name) for column in columns])
        for name in dict.fromkeys(name for column in columns for name in column)
    ]


def _means(store: Store, run_id: str) -> list[MeanRating]:
    places = store.criterion_points.sample_places(run_id, MOST)
    rated: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, criterion, points in store.criterion_points.only_shown(run_id, places):
        rated[criterion][place].append(points)
    sampled = len(places) <= store.results.last_position(run_id)
    return [_mean(name, cases, sampled=sampled) for name, cases in rated.items()]


def _mean(criterion: str, cases: dict[int, list[float]], *, sampled: bool) -> MeanRating:
    """Average over cases, of which each may have several attempts."""
    means = [fmean(points) for points in cases.values()]
    least, most = min(map(min, cases.values())), max(map(max, cases.values()))
    interval = bounded_interval(means, [1.0] * len(means), OPEN)
    return MeanRating(
        criterion=criterion,
        mean=fmean(means),
        interval=interval,
        least=least,
        most=most,
        cases=len(means),
        sampled=sampled,
    )
