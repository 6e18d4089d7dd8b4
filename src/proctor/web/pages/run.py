"""The page of a run: its numbers, what did not count, and a table of its cases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.contracts.report import RunView
from proctor.core.run import Run, RunStatus
from proctor.engine.run.later_findings import parts_of, with_later_findings
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.reports.structured import to_object
from proctor.reports.tabular import early_note
from proctor.store.queries import ListingQuery
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.addresses import whole_number
from proctor.web.api.endpoint import RUN, Endpoint, Operation, choice, several, text, whole
from proctor.web.api.response import (
    Interval,
    ListedRun,
    Page,
    Progress,
    ResponseModel,
    Searched,
)
from proctor.web.lookup import listed_run, the_run
from proctor.web.pages.case_list import (
    COLUMNS,
    MOST,
    SIZE,
    SORTS,
    STATUSES,
    UNSTEADY,
    USUAL,
    CaseList,
    ListCounts,
    ListedCase,
    RunAsked,
    counts_of,
    rows_with_texts,
    tag_links,
)
from proctor.web.pages.case_view import BINS, histogram_bins
from proctor.web.pages.criterion_cells import PREFIX, criteria_of, criterion_of, failing
from proctor.web.pages.criterion_rates import CriterionRate, criterion_rates
from proctor.web.pages.home import progress_of
from proctor.web.pages.live import LiveNumbers, live_numbers
from proctor.web.pages.ratings import MeanRating, mean_ratings
from proctor.web.pages.related import RelatedPage, related_pages
from proctor.web.pages.run_settings import RunSetting, settings_of
from proctor.web.pages.share_file import share_link
from proctor.web.searching import searched
from proctor.web.store_pool import opened, stamp, store_pool_of

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


class ScanKindNumbers(ResponseModel):
    """How often scans marked one kind, and how far people agree."""

    kind: str
    judge: str
    looked_at: int
    marked: int
    unread: int
    labelled: int
    kappa: float | None
    kappa_interval: Interval | None
    share: float | None
    interval: Interval | None


class ScanMarkNumbers(ResponseModel):
    """An attempt that a scan marked, with the passage that shows it."""

    kind: str
    case: str
    attempt: int
    marked: bool | None
    passage: str
    reason: str


class ScanNumbers(ResponseModel):
    """What scans of a run's transcripts come to."""

    rate: float | None
    scanned_rate: float | None = Field(description="the rate if all marks are right")
    corrected: float | None = Field(description="the same, corrected by labels")
    interval: Interval | None
    labelled: int
    warning: str
    kinds: list[ScanKindNumbers]
    marks: list[ScanMarkNumbers]


class RunAbout(ListedRun):
    """A run."""

    signature: str
    early_note: str = Field(description="what an early end means for the numbers, where it had one")
    regraded: str | None = Field(
        description="the id of the earlier run that this one regrades; null where there is none"
    )


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
    noise_floor_interval: Interval | None = Field(
        default=None, description="the 95 % interval of that, where the newest audit has one"
    )
    variance: VarianceNumbers | None
    corrected: dict[str, CorrectedNumber] = Field(
        description="what labels make of judged criteria, by criterion"
    )
    scan: ScanNumbers | None = Field(
        default=None, description="what scans of the transcripts marked; null without any"
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

    judges: list[str] = Field(description="the models that judged")
    sampling: dict[str, Any] = Field(description="how the candidate was asked, as far as chosen")
    settings: list[RunSetting] = Field(description="how the run was set, by name")
    progress: Progress | None
    live: LiveNumbers | None = Field(description="the numbers so far of a run in progress")
    problem: str = Field(description="what is wrong with the filter; the status is then 400")
    search: Searched | None
    tags: list[str]
    counts: ListCounts
    cases: list[ListedCase]
    asked: RunAsked
    next: str | None = Field(description="the address of the next page")
    related: list[RelatedPage] = Field(description="pages that tell more of the run")
    ratings: list[MeanRating] = Field(description="means of scores that are only shown")
    criteria: list[CriterionRate] = Field(
        description="rates of the criteria that several cases have, of at most 50"
    )


def run(request: Request) -> Page[RunPage]:
    """Return a run's numbers and the requested page of its cases."""
    size = whole_number(request, "size", SIZE)
    if not 1 <= size <= MOST:
        raise UsageError(f"size must be between 1 and {MOST}")
    problem, live = "", None
    with opened(request) as store:
        stored_run = the_run(store, request)
        case_list = CaseList.of(request, stored_run)
        numbers = _numbers(request, store, stored_run)
        ratings = mean_ratings(request, store, stored_run) if numbers["totals"] else []
        if ratings and case_list.columns == USUAL and numbers["totals"]["rate"] is None:
            # Where nothing counts, the ratings are what there is to see.
            rated = (f"{PREFIX}{one.criterion}" for one in ratings[:2])
            case_list = replace(case_list, columns=(*rated, *USUAL))
        progress = progress_of(store, stored_run) if stored_run.status.is_unfinished else None
        search = searched(request, store, [stored_run], case_list.query.search)
        tags = store.listing.tags(stored_run.id)
        try:
            case_list = case_list.over(store)
            rows = store.listing.page(stored_run.id, case_list.query, size + 1)
            counts = counts_of(request, store, case_list)
        except UsageError as error:
            rows, problem = [], str(error)
            everything = replace(case_list, query=ListingQuery())
            counts = counts_of(request, store, everything).model_copy(update={"listed": 0})
        cases = _listed_rows(request, store, stored_run, rows[:size])
        following = case_list.next_page(store, rows[size - 1]) if len(rows) > size else None
        related = related_pages(store, stored_run)
        shared = share_link(store, [stored_run]) if numbers["totals"] else ""
        below = bool(numbers["totals"]) and store.listing.reaches_below(stored_run.id)
        criteria = criterion_rates(request, store, stored_run) if numbers["totals"] else []
        if stored_run.status.is_unfinished and numbers["totals"] is None:
            live = live_numbers(request, store, stored_run)
    data = RunPage(
        **numbers,
        judges=_judges(stored_run),
        sampling=_sampling(stored_run),
        settings=settings_of(stored_run),
        progress=progress,
        live=live,
        problem=problem,
        search=search,
        tags=tags,
        counts=counts,
        cases=cases,
        asked=case_list.filters(),
        next=following,
        related=related,
        ratings=ratings,
        criteria=criteria,
    )
    shown = criteria_of((case.criteria for case in cases), (one.criterion for one in criteria))
    only_rated = {name for case in cases for name, cell in case.criteria.items() if cell.rating}
    columns = [criterion_of(name) for name in case_list.columns if criterion_of(name)]
    only_page = {
        "sorts": {name: case_list.sorted_by(name) for name in SORTS}
        | {f"{PREFIX}{name}": case_list.sorted_by(f"{PREFIX}{name}") for name in columns},
        "chosen_criteria": {f"{PREFIX}{name}": name for name in [*shown, *columns]},
        "failing": {
            name: case_list.link(("where", failing(name)), ("status", "")) + "#cases"
            for name in shown
            if name not in only_rated
        },
        "list": case_list,
        "words": [case_list.query.search] if case_list.query.search else [],
        "first_page": case_list.link() + "#cases",
        "wheres": tag_links(case_list, tags, data.groups),
        "bins": [
            (one, case_list.link(("where", one.where), ("status", "")) + "#cases")
            for one in histogram_bins(BINS, below=below)
        ],
        "statuses": STATUSES[1:],
        "all_columns": COLUMNS,
        "usual": not request.query_params.getlist("column"),
        "most_rows": MOST_ROWS,
        "seconds": _seconds(stored_run),
        "costs": _costs(data.usage),
        "shared": shared,
        "judge_sampling": _judge_sampling(stored_run),
        "unsteady": case_list.link(("where", UNSTEADY), ("status", "")) + "#cases",
        "is_unsteady": case_list.query.where == UNSTEADY,
    }
    return Page(template="run", data=data, status=400 if problem else 200, only_page=only_page)


def live(request: Request) -> Page[LiveNumbers]:
    """Return the numbers so far of a run in progress, and the cases that were graded last."""
    with opened(request) as store:
        numbers = live_numbers(request, store, the_run(store, request))
    return Page(template="live", data=numbers, only_page={"live": numbers.to_json()})


def _judges(stored_run: Run) -> list[str]:
    return [str(judge["model"]) for judge in stored_run.settings.get("judges") or ()]


def _sampling(stored_run: Run) -> dict[str, Any]:
    drawn = stored_run.candidate.params.get("sampling")
    return dict(drawn) if isinstance(drawn, Mapping) else {}


def _judge_sampling(stored_run: Run) -> dict[str, Any]:
    """Return how the judges were asked, as far as they were asked alike."""
    judges = stored_run.settings.get("judges") or ()
    drawn = [dict(judge.get("sampling") or {}) for judge in judges if isinstance(judge, Mapping)]
    alike = bool(drawn) and all(one == drawn[0] for one in drawn)
    return {name: value for name, value in drawn[0].items() if value is not None} if alike else {}


def _seconds(stored_run: Run) -> float | None:
    """Return how long a run took; None while it has no end."""
    if stored_run.finished is None or not stored_run.started:
        return None
    return max(0.0, stored_run.finished - stored_run.started)


def _costs(usage: Mapping[str, Any]) -> dict[str, float]:
    """Return the cost of each role, where prices are known."""
    by_role = usage.get("roles") or {}
    roles = ((name, by_role.get(name)) for name in ("candidate", "judge", "simulator"))
    return {
        name: float(part["cost"])
        for name, part in roles
        if isinstance(part, dict) and isinstance(part.get("cost"), int | float)
    }


def _numbers(request: Request, store: Store, stored_run: Run) -> dict[str, Any]:
    """Return a run's numbers by key, empty where it has none yet."""
    numbers: dict[str, Any] = {
        "totals": None,
        "measures": {},
        "groups": {},
        "usage": {},
        "corrected": {},
        "noise_floor": None,
        "noise_floor_interval": None,
        "variance": None,
        "references": {},
        "failures": {},
        "shortfall": "",
    }
    if stored_run.status is RunStatus.BROKEN or store.summaries.get(stored_run.id) is not None:
        numbers = to_object(with_later_findings(store, _viewed(request, store, stored_run)))
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


def _listed_rows(
    request: Request, store: Store, stored_run: Run, rows: Sequence[ResultRow]
) -> list[ListedCase]:
    """Return rows of the list with their texts; of a run that ended, those of lists seen before."""
    key = stamp([stored_run])
    if key is None or stored_run.status.is_unfinished:
        return rows_with_texts(store, stored_run, rows)
    places = tuple(row.position for row in rows)
    return store_pool_of(request).page_cache.of(
        ("rows", key, places), lambda: rows_with_texts(store, stored_run, rows)
    )


def _viewed(request: Request, store: Store, stored_run: Run) -> RunView:
    """Return the view of a run, with what goes through all of its cases from the cache."""
    view = view_of(store, stored_run.id)
    key = stamp([stored_run])
    if view.summary.parts is not None or key is None:
        return view
    parts = store_pool_of(request).page_cache.of(("parts", key), lambda: parts_of(store, view))
    return replace(view, summary=replace(view.summary, parts=parts))


def one_of_or_criterion(words: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a word, or of a criterion's name."""
    criterion = {"type": "string", "pattern": f"^{PREFIX}."}
    return {"anyOf": [{"type": "string", "enum": list(words)}, criterion]}


routes = [
    Endpoint(
        "/runs/{run}/live",
        live,
        Operation(
            summary="The numbers so far of a run in progress", parameters=[RUN], wrong=(404,)
        ),
        twin="/runs/{run}/live.json",
    ),
    Endpoint("/runs/{run}/live.json", live),
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
                several(
                    "column",
                    "what each row shows; a criterion's is `criterion:` with its name",
                    one_of_or_criterion(COLUMNS),
                ),
                text(
                    "sort",
                    "the order; a criterion's is `criterion:` with its name",
                    schema=one_of_or_criterion(SORTS),
                ),
                choice("order", "up or down", ("up", "down")),
                whole("size", "how many cases", 1, MOST),
                text("after", "the cursor in `next`"),
            ],
            also_wrong=(RunPage,),
        ),
        twin="/runs/{run}.json",
    ),
]
