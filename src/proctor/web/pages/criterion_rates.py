"""The rate of each criterion that several cases share, on the page of a run and side by side."""

from collections import defaultdict
from collections.abc import Sequence

from pydantic import Field
from starlette.requests import Request

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import counts
from proctor.core.run import Run
from proctor.errors import StoreError
from proctor.stats.intervals import RatioSums
from proctor.store.rows import LinkedCase
from proctor.store.store import Store
from proctor.web.api.response import Interval, ResponseModel
from proctor.web.store_pool import stamp, store_pool_of

TRIED = 20
"""In how many cases a second criterion is looked for."""
MOST_CASES = 500
"""From how many cases a rate is made; more are sampled."""
LARGEST_RUN = 20_000
"""Cases of a run beyond which it has no such rates: a sample would be read from all over its
files before the page is there, and its breakdown by metric is of all cases."""
MOST = 50
"""How many criteria are listed, those of most cases first."""


class CriterionRate(ResponseModel):
    """What a criterion gave, as the mean share of its full marks."""

    criterion: str
    rate: float | None
    interval: Interval | None = Field(description="95 %, by the spread over cases")
    cases: int
    sampled: bool = Field(description="whether the rate is of a sample of the cases")
    penalty: bool = Field(description="whether it takes points off, so that less is better")


class ComparedCriterion(ResponseModel):
    """A criterion in each of the runs; None where a run does not have it."""

    criterion: str
    penalty: bool
    rates: list[CriterionRate | None]


def compared_criteria(
    request: Request, store: Store, runs: Sequence[Run]
) -> list[ComparedCriterion]:
    """Return the rates of criteria in all runs side by side, those of most cases first."""
    columns = [
        {(one.criterion, one.penalty): one for one in criterion_rates(request, store, run)}
        for run in runs
    ]
    return [
        ComparedCriterion(
            criterion=key[0], penalty=key[1], rates=[column.get(key) for column in columns]
        )
        for key in dict.fromkeys(key for column in columns for key in column)
    ]


def criterion_rates(request: Request, store: Store, run: Run) -> list[CriterionRate]:
    """Return the rates of criteria that two cases or more have; none where there is only one.

    Runs of more than 20,000 cases have none.
    As in the rate of the run, an attempt without an answer has no marks, and what could not be
    scored is left out.
    """

    def compute() -> list[CriterionRate]:
        try:
            if store.results.last_position(run.id) >= LARGEST_RUN:
                return []
            tried = _cases(store, run.id, TRIED)
            if len({one.id for linked in tried for one in linked.case.criteria}) < 2:
                return []
            return _rates(store, run.id)
        except StoreError:
            # What is known of the run is shown even where a case cannot be read.
            return []

    key = stamp([run])
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("criteria", key), compute)


def _cases(store: Store, run_id: str, most: int) -> list[LinkedCase]:
    places = store.criterion_points.sample_places(run_id, most)
    return list(store.attempts.cases_at(run_id, places))


def _rates(store: Store, run_id: str) -> list[CriterionRate]:
    cases = _cases(store, run_id, MOST_CASES)
    sampled = len(cases) <= store.results.last_position(run_id)
    shares_by_criterion: dict[tuple[str, bool], list[list[float]]] = defaultdict(list)
    for linked in cases:
        for key, shares in _shares(linked).items():
            shares_by_criterion[key].append(shares)
    shared = [(key, rows) for key, rows in shares_by_criterion.items() if len(rows) > 1]
    shared.sort(key=lambda item: (-len(item[1]), item[0]))
    rates = []
    for (name, penalty), rows in shared[:MOST]:
        ratio = RatioSums.of((sum(shares), float(len(shares))) for shares in rows)
        rates.append(
            CriterionRate(
                criterion=name,
                rate=ratio.rate,
                interval=ratio.interval(),
                cases=len(rows),
                sampled=sampled,
                penalty=penalty,
            )
        )
    return rates


def _shares(linked: LinkedCase) -> dict[tuple[str, bool], list[float]]:
    """Return which share of its marks each criterion gave each attempt, by name and sign."""
    shares: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for criterion in linked.case.criteria:
        key = (criterion.id, criterion.weight < 0)
        for attempt, scores in linked.attempts:
            score = scores.get(criterion.id)
            if not counts(criterion, score):
                continue
            if attempt.status is AttemptStatus.UNANSWERED:
                if criterion.weight > 0:
                    shares[key].append(0.0)
            elif score is not None and score.points is not None and score.out_of:
                shares[key].append(score.points / score.out_of)
    return shares
