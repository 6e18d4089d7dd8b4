"""What each criterion gave a case of a list: the cells of its column, and the names of columns."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from pydantic import Field

from proctor.core.run import CaseResult, Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Criterion
from proctor.store.criterion_shares import FAILED_BY, names_in
from proctor.store.rows import Positions
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel

PREFIX = "criterion:"
"""How columns and orders of a criterion begin in an address."""
MOST = 50
"""How many criteria of a case have a cell, and how many a menu lists."""
LOOKED_AT = 200
"""Cases of a suite among which criteria that take points off are looked for."""
_NEAR = 1e-9


class CriterionCell(ResponseModel):
    """What a criterion gave a case."""

    value: float | None = Field(
        description="the mean share of its marks, or the mean rating; null where it gave none"
    )
    kind: str = Field(
        description="good, bad, warn for a part of the marks, none where scoring failed, else plain"
    )
    rating: bool = Field(description="whether the value is a rating, out of nothing")
    penalty: bool = Field(description="whether the criterion takes points off")


def cells_of(result: CaseResult) -> dict[str, CriterionCell]:
    """Return what each criterion gave a case, over its attempts."""
    return {
        criterion.id: _cell(
            criterion, [item.scores[criterion.id] for item in result.attempts
                        if criterion.id in item.scores]
        )
        for criterion in result.case.criteria[:MOST]
    }  # fmt: skip


def _cell(criterion: Criterion, scores: Sequence[Score]) -> CriterionCell:
    scored = [one for one in scores if one.status is ScoreStatus.SCORED and one.points is not None]
    shares = [(one.points or 0.0) / one.out_of for one in scored if one.out_of]
    ratings = [one.points or 0.0 for one in scored if one.out_of is None]
    value = fmean(shares or ratings) if shares or ratings else None
    if shares:
        kind = _kind(criterion, fmean(shares))
    else:
        failed = any(one.status is ScoreStatus.FAILED for one in scores)
        kind = "none" if failed and not ratings else "plain"
    return CriterionCell(
        value=value,
        kind=kind,
        rating=bool(ratings) and not shares,
        penalty=criterion.weight < 0,
    )


def _kind(criterion: Criterion, share: float) -> str:
    if criterion.weight < 0:
        return "bad" if share > _NEAR else "good"
    if share >= 1 - _NEAR:
        return "good"
    return "bad" if share <= _NEAR else "warn"


def criterion_of(name: str) -> str:
    """Return the criterion that a column or an order is of; empty where it is of none."""
    return name[len(PREFIX) :] if name.startswith(PREFIX) else ""


def failing(criterion: str) -> str:
    """Return the expression for the cases that lack marks of a criterion."""
    return f"{FAILED_BY} == {criterion!r}"


def criteria_of(shown: Iterable[Mapping[str, CriterionCell]], others: Iterable[str]) -> list[str]:
    """Return the criteria that can be chosen: those that are known, and those of shown cases."""
    listed = dict.fromkeys([*others, *(name for cells in shown for name in cells)])
    return list(listed)[:MOST]


def penalties_in(store: Store, run: Run, where: str) -> frozenset[str]:
    """Return the criteria that take points off, where an expression asks who failed which."""
    if FAILED_BY not in where or FAILED_BY not in names_in(where):
        return frozenset()
    cases = store.suites.cases_at(run.suite_key, Positions(0, LOOKED_AT - 1))
    return frozenset(one.id for case in cases.values() for one in case.criteria if one.weight < 0)
