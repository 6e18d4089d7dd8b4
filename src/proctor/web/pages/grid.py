"""The grid page: cases down, runs across, each answer with its value."""

from typing import cast

from pydantic import Field
from starlette.requests import Request

from proctor.core.grid import RunGrid
from proctor.engine.compare.grid import run_grid
from proctor.engine.compare.wording import Language
from proctor.engine.run.stored_view import view_of
from proctor.errors import UsageError
from proctor.web import addresses
from proctor.web.addresses import whole_number
from proctor.web.api.endpoint import Endpoint, Operation, choice, several, text, whole
from proctor.web.api.response import Interval, Page, ResponseModel
from proctor.web.lookup import or_missing
from proctor.web.pages.compare_texts import ListedAnswer, listed_texts
from proctor.web.store_pool import opened, stamp, store_pool_of
from proctor.web.wording import LANGUAGES, language_of

MOST_RUNS = 8
ROWS = 50
DIFFERENCES = "differences"
"""The value of `text` that marks the words that differ, instead of rendering the answers."""


class GridColumn(ResponseModel):
    """A run of the grid."""

    id: str
    name: str
    candidate: str
    prompt: str
    rate: float | None
    interval: Interval | None
    best: bool = Field(description="whether it is certainly better than every other one")


class GridValue(ResponseModel):
    """What a run made of a case; value None where it has none."""

    value: float | None
    full: float
    answer: ListedAnswer
    link: str


class GridCase(ResponseModel):
    """A case with what every run made of it."""

    id: str
    question: str
    entries: list[GridValue]


class GridPage(ResponseModel):
    """Cases and runs side by side."""

    runs: list[GridColumn]
    note: str
    prompt_verdicts: list[str] = Field(
        description="each two prompts over all models together, where runs are a matrix of both"
    )
    cases: list[GridCase]
    next: int | None = Field(description="the value of `after` for the next page")
    compare: str = Field(description="the comparison of these runs, where there are at most four")


def show_grid(request: Request) -> Page[GridPage]:
    """Return the cases of some runs, with the answers of all of them."""
    references = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(references) <= MOST_RUNS:
        raise UsageError(f"expected 2 to {MOST_RUNS} runs for a grid, not {len(references)}")
    after = whole_number(request, "after", -1)
    with opened(request) as store, or_missing():
        views = [view_of(store, reference) for reference in references]
        views.sort(key=lambda view: view.run.started)
        ids = [view.run.id for view in views]
        key = stamp([view.run for view in views])
        language = cast("Language", language_of(request))

        def compute() -> RunGrid:
            return run_grid(store, views, language=language)

        cache = store_pool_of(request).page_cache
        grid = compute() if key is None else cache.of(("grid", key, language), compute)
        rows = list(store.results.iter_rows(ids[0], after=after, limit=ROWS + 1))
        case_ids = [row.case_id for row in rows[:ROWS]]
        texts = listed_texts(store, ids, case_ids)
        values = [store.results.values_of(run_id, case_ids) for run_id in ids]
    runs_query = [("run", run_id) for run_id in ids]
    following = rows[ROWS - 1].position if len(rows) > ROWS else None
    data = GridPage(
        runs=[
            GridColumn(
                id=run.id,
                name=run.name,
                candidate=run.candidate,
                prompt=run.prompt,
                rate=run.totals.rate,
                interval=run.totals.interval,
                best=run.id == grid.best,
            )
            for run in grid.runs
        ],
        note=grid.note,
        prompt_verdicts=[verdict.sentence for verdict in grid.prompt_verdicts],
        cases=[
            GridCase(
                id=case_id,
                question=texts[case_id].question,
                entries=[
                    GridValue(
                        value=column.get(case_id, (None, 1.0))[0],
                        full=column.get(case_id, (None, 1.0))[1],
                        answer=answer,
                        link=addresses.case_link(run_id, case_id),
                    )
                    for run_id, column, answer in zip(
                        ids, values, texts[case_id].answers, strict=True
                    )
                ],
            )
            for case_id in case_ids
            if case_id in texts
        ],
        next=following,
        compare=addresses.with_query("/compare", runs_query) if len(ids) <= 4 else "",
    )
    differences = request.query_params.get("text") == DIFFERENCES
    shown = [("text", DIFFERENCES)] if differences else []
    here = [("after", after)] if after >= 0 else []
    only_page = {
        "differences": differences,
        "more": addresses.with_query("/grid", [*runs_query, *shown, ("after", following)]),
        "rendered_link": addresses.with_query("/grid", [*runs_query, *here]),
        "differences_link": addresses.with_query(
            "/grid", [*runs_query, ("text", DIFFERENCES), *here]
        ),
        "battles": addresses.with_query("/battles", runs_query),
    }
    return Page(template="grid", data=data, only_page=only_page)


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
                whole("after", "after which position", -1),
                text("text", f"`{DIFFERENCES}`: on the page, mark the words that differ"),
                choice("lang", "the language of `prompt_verdicts`", list(LANGUAGES)),
            ],
        ),
    ),
]
