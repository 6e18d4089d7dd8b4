"""The page of a run: its numbers, what did not count, and a table of its cases."""

import json
from collections.abc import Mapping
from itertools import islice
from keyword import iskeyword
from typing import Any, Literal, cast

from pydantic import Field
from starlette.requests import Request

from proctor.core.case_value import ValueStatus
from proctor.core.run import Run, RunStatus
from proctor.engine.run.later_findings import with_later_findings
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.reports.structured import tag_object, to_object
from proctor.reports.tabular import early_note
from proctor.store.queries import Cursor, ListingQuery, Sort
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.addresses import one_of, run_link, whole_number, with_query
from proctor.web.api.endpoint import RUN, Endpoint, Operation, choice, text, whole
from proctor.web.api.response import (
    Interval,
    ListedRun,
    Page,
    Progress,
    ResponseModel,
    Searched,
    Tag,
    ValueState,
)
from proctor.web.lookup import listed_run, the_run
from proctor.web.pages.home import progress_of
from proctor.web.searching import searched
from proctor.web.store_pool import opened

SORTS = ("position", "value", "id")
STATUSES = ("", *(status.value for status in ValueStatus))
SIZE, MOST = 50, 500
MOST_ROWS = 50
"""How many rows of one breakdown the page shows; the JSON has all."""


class GroupNumbers(ResponseModel):
    """Sums over some of the cases."""

    score: float
    full: float
    rate: float | None
    spread: float | None
    score_spread: float | None
    interval: Interval | None
    cases: int
    clusters: int | None


class RowNumbers(GroupNumbers):
    """A row of a breakdown."""

    noise_floor: float | None = Field(
        default=None, description="how far the rate would move if all were judged again"
    )


class TotalNumbers(GroupNumbers):
    """Sums over all cases, with counts of what they leave out."""

    bounds: Interval | None
    cases_unscored: int
    attempts: int
    unanswered: int
    unscored: int
    errors: int


class MeasuredNumber(ResponseModel):
    """A measure."""

    value: float | None
    interval: Interval | None
    n: int
    detail: Any = None
    note: str = ""


class MoreNumber(ResponseModel):
    """What more of something would give."""

    what: str
    half_width: float
    cost: float | None


class VarianceNumbers(ResponseModel):
    """Where the uncertainty of the rate comes from: the parts of the interval's half width."""

    half_width: float
    cases: float | None
    attempts: float | None
    judge: float | None
    purchases: list[MoreNumber]


class CorrectedNumber(ResponseModel):
    """The score of a criterion, corrected by the labels that people gave."""

    value: float | None
    interval: Interval | None
    raw: float | None
    bias: float | None
    labelled: int
    cases: int
    unlike: float | None
    scale: Interval
    warning: str


class RunAbout(ListedRun):
    """A run."""

    signature: str
    early_note: str = Field(description="what an early end means for the numbers, where it had one")
    regraded: str | None = Field(
        description="the id of the earlier run that this one regrades; null where there is none"
    )


class ListedCase(ResponseModel):
    """The result of a case in a list."""

    id: str
    position: int
    status: ValueState
    value: float | None
    full: float
    low: float
    high: float
    spread: float
    tags: dict[str, Tag]


class RunAsked(ResponseModel):
    """The filters and order of the list of cases."""

    where: str
    q: str
    status: str
    sort: Sort
    order: Literal["up", "down"]
    after: str


class RunNumbers(ResponseModel):
    """A run's numbers, as `proctor report --format json` writes them."""

    run: RunAbout
    totals: TotalNumbers | None
    measures: dict[str, MeasuredNumber]
    groups: dict[str, dict[str, RowNumbers]]
    usage: dict[str, Any]
    noise_floor: float | None = Field(
        description="how far the rate would move if all were judged again, where that is known"
    )
    variance: VarianceNumbers | None
    corrected: dict[str, CorrectedNumber] = Field(
        description="what labels make of judged criteria, by criterion"
    )
    references: dict[str, Any] = Field(
        description="how many cases were compared with references, and how many are unmatched"
    )
    failures: dict[str, list[dict[str, Any]]] = Field(
        description="the most frequent reasons of errors, unscored and unanswered attempts"
    )
    shortfall: str = Field(description="what the run lacks and why; empty where it is complete")


class RunPage(RunNumbers):
    """A run's numbers, and a page of its cases."""

    progress: Progress | None
    problem: str = Field(description="what is wrong with the filter; the status is then 400")
    search: Searched | None
    tags: list[str]
    cases: list[ListedCase]
    asked: RunAsked
    next: str | None = Field(description="the address of the next page")


def run(request: Request) -> Page[RunPage]:
    """Return a run's numbers and the requested page of its cases."""
    listing_query, size = _listing_query(request), whole_number(request, "size", SIZE)
    if not 1 <= size <= MOST:
        raise UsageError(f"size must be between 1 and {MOST}")
    problem = ""
    with opened(request) as store:
        stored_run = the_run(store, request)
        numbers = _numbers(store, stored_run)
        progress = progress_of(store, stored_run) if stored_run.status.is_unfinished else None
        try:
            rows = store.listing.page(stored_run.id, listing_query, size + 1)
        except UsageError as error:
            rows, problem = [], str(error)
        search = searched(request, store, stored_run, listing_query.search)
        tags = store.listing.tags(stored_run.id)
    more = len(rows) > size
    data = RunPage(
        **numbers,
        progress=progress,
        problem=problem,
        search=search,
        tags=tags,
        cases=[_case(row) for row in rows[:size]],
        asked=_shown_query(request, listing_query),
        next=_next(request, stored_run, rows[size - 1], listing_query) if more else None,
    )
    only_page = {
        "sorts": {name: _sorted(request, stored_run, listing_query, name) for name in SORTS},
        "first_page": with_query(run_link(stored_run.id), _query_pairs(request, "after"))
        + "#cases",
        "wheres": {tag: _wheres(stored_run, tag, data.groups) for tag in tags},
        "statuses": STATUSES[1:],
        "most_rows": MOST_ROWS,
    }
    return Page(template="run", data=data, status=400 if problem else 200, only_page=only_page)


def _numbers(store: Store, stored_run: Run) -> dict[str, Any]:
    """Return a run's numbers by key, empty where it has none yet."""
    numbers: dict[str, Any] = {
        "totals": None,
        "measures": {},
        "groups": {},
        "usage": {},
        "corrected": {},
        "noise_floor": None,
        "variance": None,
        "references": {},
        "failures": {},
        "shortfall": "",
    }
    if stored_run.status is RunStatus.BROKEN or store.summaries.get(stored_run.id) is not None:
        numbers = to_object(with_later_findings(store, view_of(store, stored_run.id)))
    early = stored_run.stopped_early
    about = listed_run(store, stored_run).to_json() | numbers.get("run", {})
    return {
        **numbers,
        "run": about
        | {
            "signature": stored_run.signature,
            "regraded": stored_run.regraded,
            "stopped_early": early is not None,
            "early_note": "" if early is None else early_note(early),
        },
    }


def _listing_query(request: Request) -> ListingQuery:
    query = request.query_params
    return ListingQuery(
        where=query.get("where", "").strip(),
        search=query.get("q", "").strip(),
        status=one_of(request, "status", STATUSES),
        sort=cast(Sort, one_of(request, "sort", SORTS)),
        descending=one_of(request, "order", ("up", "down")) == "down",
        after=_cursor(query.get("after", "")),
    )


def _shown_query(request: Request, listing_query: ListingQuery) -> RunAsked:
    return RunAsked(
        where=listing_query.where,
        q=listing_query.search,
        status=listing_query.status,
        sort=listing_query.sort,
        order="down" if listing_query.descending else "up",
        after=request.query_params.get("after", ""),
    )


def _cursor(text: str) -> Cursor | None:
    """Parse the cursor that a page begins after."""
    if not text:
        return None
    try:
        key, position = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("after must be a cursor from a link to the next page") from None
    good = isinstance(key, str | float | int | None) and not isinstance(key, bool)
    if not good or type(position) is not int or abs(position) >= 1 << 31:
        raise UsageError("after must be a cursor from a link to the next page")
    return Cursor(float(key) if isinstance(key, int) else key, position)


def _next(request: Request, stored_run: Run, last: ResultRow, listing_query: ListingQuery) -> str:
    key = {"position": None, "value": last.value, "id": last.case_id}[listing_query.sort]
    after = json.dumps([key, last.position], separators=(",", ":"))
    return (
        with_query(run_link(stored_run.id), [*_query_pairs(request, "after"), ("after", after)])
        + "#cases"
    )


def _sorted(request: Request, stored_run: Run, listing_query: ListingQuery, sort: str) -> str:
    """Return the address of the same cases sorted by a column; the current one is reversed."""
    turned = "down" if sort == listing_query.sort and not listing_query.descending else ""
    pairs = [*_query_pairs(request, "after", "sort", "order"), ("sort", sort), ("order", turned)]
    return with_query(run_link(stored_run.id), pairs) + "#cases"


def _wheres(
    stored_run: Run, tag: str, groups: Mapping[str, Mapping[str, object]]
) -> dict[str, str]:
    """Return the address of each value of a tag; none if an expression cannot name the tag."""
    names = groups.get(tag, {}) if tag.isidentifier() and not iskeyword(tag) else {}
    return {
        name: with_query(run_link(stored_run.id), [("where", f"{tag} == {name!r}")]) + "#cases"
        for name in islice(names, MOST_ROWS)
    }


def _query_pairs(request: Request, *without: str) -> list[tuple[str, object]]:
    pairs = request.query_params.multi_items()
    return [pair for pair in pairs if pair[0] not in ("lang", *without)]


def _case(row: ResultRow) -> ListedCase:
    return ListedCase(
        id=row.case_id,
        position=row.position,
        status="broken" if row.broken else row.status,
        value=row.value,
        full=row.full,
        low=row.low,
        high=row.high,
        spread=row.spread,
        tags={name: tag_object(values) for name, values in row.tags.items()},
    )


routes = [
    Endpoint(
        "/runs/{run}",
        run,
        Operation(
            summary="A run's numbers, and a page of its cases",
            parameters=[
                RUN,
                text("where", "an expression over the case and its tags"),
                text("q", "a text that the case contains"),
                choice("status", "only cases in this state", STATUSES),
                choice("sort", "the order", SORTS),
                choice("order", "up or down", ("up", "down")),
                whole("size", "how many cases", 1, MOST),
                text("after", "the cursor in `next`"),
            ],
            also_wrong=(RunPage,),
        ),
        twin="/runs/{run}.json",
    )
]
