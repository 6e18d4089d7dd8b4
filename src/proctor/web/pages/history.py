"""The page of one case in all runs of its suite: what each made of it, over time."""

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from proctor.core.names import candidate_label
from proctor.core.run import Run
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import named
from proctor.web.api.endpoint import SUITE, Endpoint, Operation, text
from proctor.web.api.response import Page, ResponseModel
from proctor.web.lookup import the_suite
from proctor.web.pages.compare_texts import ListedAnswer, listed_texts
from proctor.web.store_pool import opened

DIFFERENCES = "differences"
MOST_RUNS = 100
"""How many runs the page lists, the newest ones."""


class PastResult(ResponseModel):
    """What one run made of the case."""

    run: str
    name: str
    candidate: str
    started: float
    value: float | None
    full: float
    edited: bool = Field(description="whether the case was another one then")
    answer: ListedAnswer
    link: str


class CaseHistory(ResponseModel):
    """A case of a suite in all its runs, the newest first."""

    suite: str
    suite_key: str
    id: str
    question: str
    results: list[PastResult]
    passed: int
    failed: int


def show_history(request: Request) -> Page[CaseHistory]:
    """Return what the runs of a suite made of one case."""
    case_id = request.query_params.get("case", "")
    with opened(request) as store:
        row = the_suite(store, named(request, "suite"))
        case = store.suites.cases_by_id(row.key, [case_id]).get(case_id)
        if case is None:
            raise HTTPException(404, f"the suite {row.name!r} has no case {case_id!r}")
        runs = _runs(store, row.name)
        current = store.suites.case_keys(row.key, [case_id]).get(case_id)
        keys = {
            key: store.suites.case_keys(key, [case_id]).get(case_id)
            for key in {run.suite_key for run in runs}
        }
        values = {run.id: store.results.values_of(run.id, [case_id]) for run in runs}
        runs = [run for run in runs if case_id in values[run.id]]
        texts = listed_texts(store, [run.id for run in runs], [case_id]).get(case_id)
    answers = texts.answers if texts is not None else []
    results = [
        PastResult(
            run=run.id,
            name=run.name,
            candidate=candidate_label(run.candidate),
            started=run.started,
            value=values[run.id][case_id][0],
            full=values[run.id][case_id][1],
            edited=keys[run.suite_key] != current,
            answer=answer,
            link=addresses.case_link(run.id, case_id),
        )
        for run, answer in zip(runs, answers, strict=True)
    ]
    scored = [one for one in results if one.value is not None]
    passed = sum((one.value or 0.0) >= one.full for one in scored)
    data = CaseHistory(
        suite=row.name,
        suite_key=row.key,
        id=case_id,
        question=case.prompt,
        results=results,
        passed=passed,
        failed=len(scored) - passed,
    )
    here = f"{addresses.suite_link(row.key)}/history"
    only_page = {
        "differences": request.query_params.get("text") == DIFFERENCES,
        "rendered_link": addresses.with_query(here, [("case", case_id)]),
        "differences_link": addresses.with_query(here, [("case", case_id), ("text", DIFFERENCES)]),
    }
    return Page(template="history", data=data, only_page=only_page)


def _runs(store: Store, suite: str) -> list[Run]:
    """Return the newest runs of all editions of a suite."""
    keys = [row.key for row in store.suites.newest() if row.name == suite][:MOST_RUNS]
    runs = [run for key in keys for run in store.runs.newest(suite_key=key, limit=MOST_RUNS)]
    return sorted(runs, key=lambda run: -run.started)[:MOST_RUNS]


routes = [
    Endpoint(
        "/suites/{suite}/history",
        show_history,
        Operation(
            summary="One case in all runs of a suite",
            parameters=[
                SUITE,
                text("case", "the case", required=True),
                text("text", f"`{DIFFERENCES}`: on the page, mark the words that differ"),
            ],
            wrong=(404,),
        ),
        twin="/suites/{suite}/history.json",
    ),
    Endpoint("/suites/{suite}/history.json", show_history),
]
