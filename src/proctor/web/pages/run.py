"""The page of a run: its numbers, what did not count, and its cases as a table."""

import json
from collections.abc import Mapping
from itertools import islice
from keyword import iskeyword
from typing import Any, Literal, cast

from pydantic import Field
from starlette.requests import Request

from proctor.core.run import Run, RunStatus
from proctor.core.score import ValueStatus
from proctor.engine.run.evaluate import view_of
from proctor.errors import UsageError
from proctor.reports.structured import tag_object, to_object
from proctor.store.listing import Cursor, Sort, Wanted
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.addresses import run_link, with_query
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
from proctor.web.query_params import one_of, whole_number
from proctor.web.searching import searched
from proctor.web.store_pool import opened

SORTS = ("position", "value", "id")
STATUSES = ("", *(status.value for status in ValueStatus))
SIZE, MOST = 50, 500
MOST_ROWS = 50
"""How many rows of one breakdown are shown before the rest is left to the JSON."""


class GroupNumbers(ResponseModel):
    """Sums over some of the cases."""

    score: float
    full: float
    rate: float | None
    spread: float
    score_spread: float
    interval: Interval | None
    cases: int


class TotalNumbers(GroupNumbers):
    """The sums over all cases, with all that did not enter them."""

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


class RunAbout(ListedRun):
    """A run."""

    signature: str
    regraded: str | None = Field(
        description="the id of the run of an earlier edition of the suite, where it came after it"
    )


class ListedCase(ResponseModel):
    """What a case came to."""

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
    """What was asked for."""

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
    groups: dict[str, dict[str, GroupNumbers]]
    usage: dict[str, Any]
    references: dict[str, Any] = Field(
        description="how many cases were compared with references, and how many are unmatched"
    )
    failures: dict[str, list[dict[str, Any]]] = Field(
        description="the most frequent reasons of errors, unscored and unanswered attempts"
    )
    shortfall: str = Field(description="what the run lacks and why; empty where nothing is amiss")


class RunPage(RunNumbers):
    """A run's numbers, and a page of its cases."""

    progress: Progress | None
    problem: str = Field(description="what is wrong with the filter; the status is 400 then")
    search: Searched | None
    tags: list[str]
    cases: list[ListedCase]
    asked: RunAsked
    next: str | None = Field(description="the address of the next page")


def run(request: Request) -> Page[RunPage]:
    """Answer with a run's numbers and the page of its cases that is asked for."""
    wanted, size = _wanted(request), whole_number(request, "size", SIZE)
    if not 1 <= size <= MOST:
        raise UsageError(f"size must be between 1 and {MOST}")
    problem = ""
    with opened(request) as store:
        found = the_run(store, request)
        numbers = _numbers(store, found)
        progress = progress_of(store, found) if found.status.is_unfinished else None
        search = searched(request, store, found, wanted.search)
        try:
            rows = store.listing.page(found.id, wanted, size + 1)
        except UsageError as error:
            rows, problem = [], str(error)
        tags = store.listing.tags(found.id)
    more = len(rows) > size
    data = RunPage(
        **numbers,
        progress=progress,
        problem=problem,
        search=search,
        tags=tags,
        cases=[_case(row) for row in rows[:size]],
        asked=_asked(request, wanted),
        next=_next(request, found, rows[size - 1], wanted) if more else None,
    )
    only_page = {
        "sorts": {name: _sorted(request, found, wanted, name) for name in SORTS},
        "first_page": with_query(run_link(found.id), _kept(request, "after")) + "#cases",
        "wheres": {tag: _wheres(found, tag, data.groups) for tag in tags},
        "statuses": STATUSES[1:],
        "most_rows": MOST_ROWS,
    }
    return Page(template="run", data=data, status=400 if problem else 200, only_page=only_page)


def _numbers(store: Store, found: Run) -> dict[str, Any]:
    """Return the keys of a run's numbers, empty where it has none yet."""
    made: dict[str, Any] = {
        "totals": None,
        "measures": {},
        "groups": {},
        "usage": {},
        "references": {},
        "failures": {},
        "shortfall": "",
    }
    if found.status is RunStatus.BROKEN or store.summaries.get(found.id) is not None:
        made = to_object(view_of(store, found.id))
    about = listed_run(store, found).to_json() | made.get("run", {})
    return {**made, "run": about | {"signature": found.signature, "regraded": found.regraded}}


def _wanted(request: Request) -> Wanted:
    asked = request.query_params
    return Wanted(
        where=asked.get("where", "").strip(),
        search=asked.get("q", "").strip(),
        status=one_of(request, "status", STATUSES),
        sort=cast(Sort, one_of(request, "sort", SORTS)),
        descending=one_of(request, "order", ("up", "down")) == "down",
        after=_cursor(asked.get("after", "")),
    )


def _asked(request: Request, wanted: Wanted) -> RunAsked:
    return RunAsked(
        where=wanted.where,
        q=wanted.search,
        status=wanted.status,
        sort=wanted.sort,
        order="down" if wanted.descending else "up",
        after=request.query_params.get("after", ""),
    )


def _cursor(text: str) -> Cursor | None:
    """Read after which row the page begins."""
    if not text:
        return None
    try:
        key, position = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("after must be what the link to the next page says") from None
    good = isinstance(key, str | float | int | None) and not isinstance(key, bool)
    if not good or type(position) is not int or abs(position) >= 1 << 31:
        raise UsageError("after must be what the link to the next page says")
    return Cursor(float(key) if isinstance(key, int) else key, position)


def _next(request: Request, found: Run, last: ResultRow, wanted: Wanted) -> str:
    key = {"position": None, "value": last.value, "id": last.case_id}[wanted.sort]
    after = json.dumps([key, last.position], separators=(",", ":"))
    return with_query(run_link(found.id), [*_kept(request, "after"), ("after", after)]) + "#cases"


def _sorted(request: Request, found: Run, wanted: Wanted, sort: str) -> str:
    """Return the address of the same cases in an order; once more turns the order around."""
    turned = "down" if sort == wanted.sort and not wanted.descending else ""
    kept = [*_kept(request, "after", "sort", "order"), ("sort", sort), ("order", turned)]
    return with_query(run_link(found.id), kept) + "#cases"


def _wheres(found: Run, tag: str, groups: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """Return the address of each value of a tag; none for a name no expression can hold."""
    names = groups.get(tag, {}) if tag.isidentifier() and not iskeyword(tag) else {}
    return {
        name: with_query(run_link(found.id), [("where", f"{tag} == {name!r}")]) + "#cases"
        for name in islice(names, MOST_ROWS)
    }


def _kept(request: Request, *without: str) -> list[tuple[str, object]]:
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
                text("after", "what `next` says"),
            ],
            also_wrong=(RunPage,),
        ),
        twin="/runs/{run}.json",
    )
]
