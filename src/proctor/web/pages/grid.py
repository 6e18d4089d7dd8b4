"""The grid page: cases down, runs across, each answer with its value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import Field
from starlette.requests import Request

from proctor.contracts.report import RunView
from proctor.core.attempt import token_count
from proctor.core.grid import GridRun, RunGrid
from proctor.engine.compare.grid import NOBODY, run_grid
from proctor.engine.compare.wording import Language
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.store.grids import OUTCOMES
from proctor.store.queries import GridCounts, GridQuery, Outcome
from proctor.store.searched_places import searched_runs
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import one_of, whole_number
from proctor.web.api.endpoint import Endpoint, Operation, choice, several, text, whole
from proctor.web.api.response import Interval, Page, ResponseModel, Searched
from proctor.web.lookup import or_missing
from proctor.web.pages.compare_numbers import AnswerTimes, answer_times
from proctor.web.pages.compare_texts import ListedAnswer, listed_texts
from proctor.web.pages.criterion_rates import ComparedCriterion, compared_criteria
from proctor.web.pages.distributions import Distribution, distribution_of, drawn_beside
from proctor.web.pages.grid_labels import cell_form
from proctor.web.pages.related import pages_beside, suites_of
from proctor.web.pages.seen_labels import GivenLabel, current
from proctor.web.searching import searched
from proctor.web.store_pool import opened, stamp, store_pool_of
from proctor.web.wording import LANGUAGES, language_of

MOST_RUNS = 8
ROWS = 50
MOST_CRITERIA = 6
"""How many criteria are in the heads of the columns; the pages of the runs have all of them."""
DIFFERENCES = "differences"
"""The value of `text` that marks the words that differ, instead of rendering the answers."""


class GridColumn(ResponseModel):
    """A run of the grid."""

    id: str
    name: str
    candidate: str
    prompt: str
    stopped_early: bool = Field(description="whether it ended before its last case, being sure")
    rate: float | None
    interval: Interval | None
    best: bool = Field(description="whether it is certainly better than every other one")
    cost: float | None = Field(description="of the candidate, in US dollars; null without prices")
    tokens: int | None = Field(description="of the candidate, in all attempts; null where unknown")
    seconds: float | None = Field(description="the mean time of an attempt")
    sampled: bool = Field(description="whether the mean is that of some cases")
    distribution: Distribution


class GridValue(ResponseModel):
    """What a run made of a case; value None where it has none."""

    value: float | None
    full: float
    answer: ListedAnswer
    link: str
    labels: list[GivenLabel] = Field(description="what people said of it, and their notes")
    say: str = Field(description="this page with a form for a label or a note in the cell")


class GridCase(ResponseModel):
    """A case with what every run made of it."""

    id: str
    question: str
    entries: list[GridValue]


class GridNumbers(ResponseModel):
    """How many cases a grid has, and how many with each outcome."""

    cases: int
    differ: int = Field(description="cases of which runs got another share of the marks, or none")
    failed_any: int = Field(description="cases of which a run lacks marks")
    failed_all: int = Field(description="cases of which every run lacks marks")


class GridPage(ResponseModel):
    """Cases and runs side by side."""

    runs: list[GridColumn]
    note: str
    prompt_verdicts: list[str] = Field(
        description="each two prompts over all models together, where runs are a matrix of both"
    )
    criteria: list[ComparedCriterion] = Field(
        description="rates of the criteria that several cases of a run have"
    )
    counts: GridNumbers
    kind: str = Field(description="the outcome of the listed cases; empty for all")
    q: str = Field(description="the text that listed cases contain")
    search: Searched | None
    cases: list[GridCase]
    next: int | None = Field(description="the value of `after` for the next page")
    compare: str = Field(description="the comparison of these runs, where there are at most four")


@dataclass(frozen=True)
class GridAsked:
    """What an address asks for, besides the runs."""

    query: GridQuery
    after: int
    differences: bool

    @classmethod
    def of(cls, request: Request) -> "GridAsked":
        """Parse the query of a request."""
        kind = one_of(request, "kind", ("", *OUTCOMES))
        search = request.query_params.get("q", "").strip()
        return cls(
            query=GridQuery(outcome=cast("Outcome", kind) if kind else None, search=search),
            after=whole_number(request, "after", -1),
            differences=request.query_params.get("text") == DIFFERENCES,
        )

    @property
    def kind(self) -> str:
        """Return the outcome as the address says it."""
        return self.query.outcome or ""

    @property
    def here(self) -> dict[str, object]:
        """Return the part of the address that says which page of the list is shown."""
        return {"after": self.after} if self.after >= 0 else {}

    def link(self, ids: Sequence[str], **changes: object) -> str:
        """Return the address of the grid with some changes, from its beginning."""
        parts: dict[str, object] = {
            "kind": self.kind,
            "q": self.query.search,
            "text": DIFFERENCES if self.differences else "",
            **changes,
        }
        return addresses.with_query("/grid", [*(("run", one) for one in ids), *parts.items()])


def show_grid(request: Request) -> Page[GridPage]:
    """Return the cases of some runs, with the answers of all of them."""
    references = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(references) <= MOST_RUNS:
        raise UsageError(f"expected 2 to {MOST_RUNS} runs for a grid, not {len(references)}")
    selection = GridAsked.of(request)
    with opened(request) as store, or_missing():
        views = [view_of(store, reference) for reference in references]
        views.sort(key=lambda view: view.run.started)
        runs = [view.run for view in views]
        key = stamp(runs)
        language = cast("Language", language_of(request))

        def compute() -> RunGrid:
            return run_grid(store, views, language=language)

        def count() -> GridCounts:
            return store.grid_listing.counts(runs)

        cache = store_pool_of(request).page_cache
        grid = compute() if key is None else cache.of(("grid", key, language), compute)
        counts = count() if key is None else cache.of(("grid counts", key), count)
        search = searched(request, store, searched_runs(runs), selection.query.search)
        case_ids, following = store.grid_listing.page(runs, selection.query, ROWS, selection.after)
        rows = _rows(store, [run.id for run in runs], case_ids, selection)
        criteria = compared_criteria(request, store, runs)
        beside = pages_beside(store, runs, "grid")
        back = selection.link([run.id for run in runs], **selection.here)
        say = cell_form(request, store, {view.run.id: view for view in views}, back)
        distributions = [distribution_of(request, store, run) for run in runs]
        columns = [
            _column(run, view, grid, answer_times(request, store, view.run), distribution)
            for run, view, distribution in zip(grid.runs, views, distributions, strict=True)
        ]
    ids = [run.id for run in runs]
    runs_query = [("run", run_id) for run_id in ids]
    data = GridPage(
        runs=columns,
        note=grid.note,
        prompt_verdicts=[verdict.sentence for verdict in grid.prompt_verdicts],
        criteria=criteria,
        counts=GridNumbers(**counts._asdict()),
        kind=selection.kind,
        q=selection.query.search,
        search=search,
        cases=rows,
        next=following,
        compare=addresses.with_query("/compare", runs_query) if len(ids) <= 4 else "",
    )
    here = selection.here
    only_page = {
        "say": say,
        "bars": drawn_beside(ids, distributions),
        "most_criteria": MOST_CRITERIA,
        "differences": selection.differences,
        "nobody": grid.note == NOBODY,
        "kinds": [
            (kind, count, selection.link(ids, kind=kind))
            for kind, count in zip(("", *OUTCOMES), counts, strict=True)
        ],
        "more": selection.link(ids, after=following),
        "all_cases": selection.link(ids, kind="", q=""),
        "rendered_link": selection.link(ids, text="", **here),
        "differences_link": selection.link(ids, text=DIFFERENCES, **here),
        "beside": beside,
        "suites": suites_of(runs),
    }
    return Page(template="grid", data=data, only_page=only_page)


def _column(
    run: GridRun, view: RunView, grid: RunGrid, times: AnswerTimes, distribution: Distribution
) -> GridColumn:
    roles = view.summary.usage.get("roles")
    used = roles.get("candidate") if isinstance(roles, Mapping) else None
    return GridColumn(
        id=run.id,
        name=run.name,
        candidate=run.candidate,
        prompt=run.prompt,
        stopped_early=run.stopped_early,
        rate=run.totals.rate,
        interval=run.totals.interval,
        best=run.id == grid.best,
        cost=used.get("cost") if isinstance(used, Mapping) else None,
        tokens=(token_count(used) or None) if isinstance(used, Mapping) else None,
        seconds=times.mean,
        sampled=times.sampled,
        distribution=distribution,
    )


def _rows(
    store: Store, ids: Sequence[str], case_ids: list[str], selection: GridAsked
) -> list[GridCase]:
    texts = listed_texts(store, ids, case_ids)
    values = [store.results.values_of(run_id, case_ids) for run_id in ids]
    labels = [store.labels.of_cases(run_id, case_ids) for run_id in ids]
    return [
        GridCase(
            id=case_id,
            question=texts[case_id].question,
            entries=[
                GridValue(
                    value=column.get(case_id, (None, 1.0))[0],
                    full=column.get(case_id, (None, 1.0))[1],
                    answer=answer,
                    link=addresses.case_link(run_id, case_id),
                    labels=[GivenLabel.of(one) for one in current(labels_by_case.get(case_id, ()))],
                    say=selection.link(ids, **selection.here, say=run_id, case=case_id),
                )
                for run_id, column, labels_by_case, answer in zip(
                    ids, values, labels, texts[case_id].answers, strict=True
                )
            ],
        )
        for case_id in case_ids
        if case_id in texts
    ]


_RUNS = several("run", f"the runs, 2 to {MOST_RUNS} of them", {"type": "string"}, required=True)

routes = [
    Endpoint("/grid", show_grid),
    Endpoint(
        "/grid.json",
        show_grid,
        Operation(
            summary="Cases with the answers of several runs",
            parameters=[
                _RUNS,
                choice("kind", "only cases with this outcome", ("", *OUTCOMES)),
                text("q", "a text that the case contains"),
                whole("after", "after which position", -1),
                text("text", f"`{DIFFERENCES}`: on the page, mark the words that differ"),
                text("say", "on the page, the run of the cell that has a form for a label"),
                text("case", "the case of that cell"),
                choice("lang", "the language of `prompt_verdicts`", list(LANGUAGES)),
            ],
        ),
    ),
]
