"""The read endpoints of Arthur Bench: its paths, parameters, fields and paging, over the store."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from proctor.core.run import Run
from proctor.origins.arthur.endpoint_models import (
    BenchRunOutputs,
    BenchRuns,
    BenchSuiteCases,
    BenchSuites,
    BenchSummaries,
    EndpointError,
)
from proctor.origins.arthur.endpoint_objects import (
    case_object,
    described_suite,
    result_object,
    run_object,
    suite_object,
    summary_object,
)
from proctor.origins.arthur.ids import BENCH_ID, run_id_of, suite_uuid
from proctor.origins.arthur.paging import NumberedPages, PageRequest, RunSuite, SuiteQuery
from proctor.store.store import Store
from proctor.web.api.endpoint import (
    Endpoint,
    Operation,
    Parameter,
    choice,
    in_path,
    several,
    text,
    whole,
)
from proctor.web.rendering import json_answer
from proctor.web.store_pool import opened

PREFIX = "/api/v3/"
ROOT = f"{PREFIX}bench/test_suites"
DIALECT = "bench"
SUITE_SORTS = ("last_run_time", "name", "created_at")
RUN_SORTS = ("created_at", "name", "avg_score")
RESULT_SORTS = ("", "score")
SIZE, MOST = 5, 10_000
MOST_SUMMARIES = 200
"""How many runs are summed up in one answer."""
_BIG = 1 << 31


def suites(request: Request) -> BenchSuites:
    """Answer with a page of suites."""
    page = _page(request, SUITE_SORTS)
    params = request.query_params
    query = SuiteQuery(
        dialect=DIALECT, name=params.get("name"), criteria=params.getlist("scoring_method")
    )
    with opened(request) as store:
        suite_rows, count = NumberedPages(store).suites(query, page)
        rows = [suite_object(store, one) for one in suite_rows]
    return BenchSuites(test_suites=rows, **_paging(page, count))


def suite(request: Request) -> BenchSuiteCases:
    """Answer with a suite and a page of its cases."""
    page = _page(request)
    with opened(request) as store:
        stored = _suite(store, request)
        key, count = stored.row.key, stored.row.cases
        cases = [
            case_object(key, case)
            for _, _, case in store.suites.iter_cases(key, after=page.offset - 1, limit=page.limit)
        ]
        return BenchSuiteCases(
            **suite_object(store, stored).to_json(),
            num_runs=NumberedPages(store).count_runs(key),
            test_cases=cases,
            **_paging(page, count),
        )


def runs(request: Request) -> BenchRuns:
    """Answer with a page of a suite's runs."""
    page = _page(request, RUN_SORTS)
    with opened(request) as store:
        row = _suite(store, request).row
        pages = NumberedPages(store)
        rows = [run_object(store, run) for run in pages.runs(row.key, page)]
        count = pages.count_runs(row.key)
    ident = str(suite_uuid(row.key, row.version))
    return BenchRuns(test_suite_id=ident, test_runs=rows, **_paging(page, count))


def summary(request: Request) -> BenchSummaries:
    """Answer with the average and the distribution of runs: all of a suite, or those named.

    Arthur Bench gives them all whatever the page; here a page that is asked for is given.
    """
    params = request.query_params
    whole = not any(params.get(name) for name in ("page", "page_size"))
    page = _page(request, RUN_SORTS[:1], size=MOST_SUMMARIES if whole else SIZE)
    if page.limit > MOST_SUMMARIES:
        raise HTTPException(422, f"page_size must be between 1 and {MOST_SUMMARIES}")
    run_uuids = list(dict.fromkeys(_uuid(text, "run_ids") for text in params.getlist("run_ids")))
    with opened(request) as store:
        stored = _suite(store, request)
        key = stored.row.key
        if run_uuids:
            named = [_run(store, key, one) for one in run_uuids[:MOST_SUMMARIES]]
            count = len(named)
            chosen = named if whole else named[page.offset : page.offset + page.limit]
        else:
            pages = NumberedPages(store)
            chosen, count = pages.runs(key, page), pages.count_runs(key)
        method = described_suite(store, key)
        rows = [summary_object(store, run, method) for run in chosen]
    return BenchSummaries(
        summary=rows,
        num_test_cases=stored.row.cases,
        categorical=method.categorical,
        **_paging(page, count),
    )


def run(request: Request) -> BenchRunOutputs:
    """Answer with a run and a page of its outputs."""
    page = _page(request, RESULT_SORTS)
    run_uuid = _uuid(request.path_params["run"], "test_run_id")
    sign = "-" if page.descending else ""
    by = PageRequest(
        sort=f"{sign}value" if page.column else "position", offset=page.offset, limit=page.limit
    )
    with opened(request) as store:
        row = _suite(store, request).row
        key = row.key
        stored = _run(store, key, run_uuid)
        rows = [result_object(key, one) for one in NumberedPages(store).results(stored.id, by)]
        count = store.results.count(stored.id)
        about = run_object(store, stored)
    return BenchRunOutputs(
        id=about.id,
        name=about.name,
        test_suite_id=str(suite_uuid(key, row.version)),
        test_case_runs=rows,
        created_at=about.created_at,
        updated_at=about.updated_at,
        **_paging(page, count),
    )


def refused(status: int, message: str) -> Response:
    """Answer with what is wrong, as Arthur Bench words it but with a status that says so."""
    error = EndpointError(status_code=status, detail=message, headers=None)
    return json_answer(error.to_json(), status=status)


def _page(request: Request, sorts: tuple[str, ...] = ("",), size: int = SIZE) -> PageRequest:
    number = _whole(request, "page", 1, _BIG)
    limit = _whole(request, "page_size", size, MOST)
    sort = request.query_params.get("sort") or sorts[0]
    if sort.removeprefix("-") not in filter(None, sorts) and sort != "":
        sort_names = ", ".join(f"{name}, -{name}" for name in sorts if name)
        raise HTTPException(
            422, f"sort must be one of: {sort_names}" if sort_names else "there is no sort"
        )
    return PageRequest(sort=sort, offset=(number - 1) * limit, limit=limit)


def _whole(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return default
    good = text.isascii() and text.isdigit() and len(text) < 20
    if not good or not 1 <= int(text) <= most:
        raise HTTPException(422, f"{name} must be a whole number between 1 and {most}")
    return int(text)


def _paging(page: PageRequest, count: int) -> dict[str, Any]:
    return {
        "page": page.offset // page.limit + 1,
        "page_size": page.limit,
        "total_pages": -(-count // page.limit),
        "total_count": count,
    }


def _uuid(text: str, name: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise HTTPException(422, f"{name} is not a UUID") from None


def _suite(store: Store, request: Request) -> RunSuite:
    """Return the suite of the path, by its id or that which it was imported with, or answer 404."""
    requested = _uuid(request.path_params["suite"], "test_suite_id")
    newest = PageRequest(sort="-created_at", offset=0, limit=1)
    ways = (
        SuiteQuery(dialect=DIALECT, keys=(requested.hex,)),
        SuiteQuery(dialect=DIALECT, version=str(requested)),
    )
    for way in ways:
        if matches := NumberedPages(store).suites(way, newest)[0]:
            return matches[0]
    raise HTTPException(404, f"there is no test suite {requested}")


def _run(store: Store, suite_key: str, run_uuid: UUID) -> Run:
    """Return the run of a suite that has a UUID, or answer 404."""
    settings = NumberedPages(store).run_settings(suite_key)
    imported_ids = ((run_id, stored.get(BENCH_ID)) for run_id, stored in settings)
    run_id = run_id_of(run_uuid, imported_ids)
    if run_id is None:
        raise HTTPException(404, f"the test suite has no run {run_uuid}")
    return store.runs.get(run_id)


_SUITE = in_path("suite", "a suite's id", format="uuid")
_RUN = in_path("run", "a run's id", format="uuid")
_PAGE = whole("page", "which page, from 1", 1)
_PAGES = (_PAGE, whole("page_size", "how many on a page", 1, MOST))


def _order(names: Sequence[str]) -> Parameter:
    both = [f"{sign}{name}" for name in names if name for sign in ("", "-")]
    return choice("sort", "the order; after a minus, turned around", both)


def _described(
    summary: str, parameters: Sequence[Parameter], wrong: Sequence[int] = (404, 422)
) -> Operation:
    return Operation(summary=summary, parameters=parameters, wrong=wrong, error=EndpointError)


routes = [
    Endpoint(
        ROOT,
        suites,
        _described(
            "Suites of Arthur Bench",
            [
                *_PAGES,
                _order(SUITE_SORTS),
                several("scoring_method", "only these methods", {"type": "string"}),
                text("name", "only this name"),
            ],
            wrong=(422,),
        ),
    ),
    Endpoint(
        f"{ROOT}/{{suite}}",
        suite,
        _described("A suite and a page of its cases", [_SUITE, *_PAGES]),
    ),
    Endpoint(
        f"{ROOT}/{{suite}}/runs",
        runs,
        _described("The runs of a suite", [_SUITE, *_PAGES, _order(RUN_SORTS)]),
    ),
    Endpoint(
        f"{ROOT}/{{suite}}/runs/summary",
        summary,
        _described(
            "Averages and distributions of a suite's runs, all where no page is named",
            [
                _SUITE,
                _PAGE,
                whole("page_size", "how many on a page", 1, MOST_SUMMARIES),
                several("run_ids", "only these runs", {"type": "string", "format": "uuid"}),
            ],
        ),
    ),
    Endpoint(
        f"{ROOT}/{{suite}}/runs/{{run}}",
        run,
        _described(
            "A run and a page of its outputs", [_SUITE, _RUN, *_PAGES, _order(RESULT_SORTS)]
        ),
    ),
]
