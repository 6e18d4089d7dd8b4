"""The home page: suites, the latest runs, and their progress."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.core.run import Run, RunStatus
from proctor.store.store import Store
from proctor.web.api.endpoint import RUN, Endpoint, Operation, text
from proctor.web.api.response import ListedRun, ListedSuite, Page, Progress, ResponseModel
from proctor.web.lookup import MOST_RUNS, listed_run, the_run
from proctor.web.store_pool import opened, store_pool_of

MOST_CASES = 30
"""How many cases a search on this page lists."""


class HomeRun(ListedRun):
    """A run on the home page."""

    dialect: str
    scorers: list[str]
    progress: Progress | None = None


class FoundCase(ResponseModel):
    """A case that a search found."""

    run: str
    name: str
    id: str


class FoundCases(ResponseModel):
    """The cases whose texts contain the words searched for."""

    found: list[FoundCase]
    waiting: int = Field(description="runs whose texts are not indexed yet")


class HomeFilters(ResponseModel):
    """The filters of the home page."""

    q: str
    dialect: str
    scorer: str
    candidate: str
    status: str


class Home(ResponseModel):
    """Suites, the latest runs, and the filters."""

    suites: list[ListedSuite]
    runs: list[HomeRun]
    cases: FoundCases | None
    filters: HomeFilters


def home(request: Request) -> Page[Home]:
    """Return suites and runs, searched and filtered."""
    names = HomeFilters.model_fields
    filters = HomeFilters(**{name: request.query_params.get(name, "").strip() for name in names})
    with opened(request) as store:
        suites = store.suites.newest()
        dialects = {row.key: row.dialect for row in suites}
        runs = [_described(store, run, dialects) for run in store.runs.newest(limit=MOST_RUNS)]
        cases = _in_texts(request, store, filters.q, runs)
    choices = {
        "dialect": sorted({row.dialect for row in suites}),
        "scorer": sorted({name for run in runs for name in run.scorers}),
        "candidate": sorted({run.candidate for run in runs}),
        "status": [status.value for status in RunStatus],
    }
    data = Home(
        suites=[
            ListedSuite(
                key=row.key,
                name=row.name,
                version=row.version,
                dialect=row.dialect,
                cases=row.cases,
                imported=row.imported,
                created=row.created,
            )
            for row in suites[:MOST_RUNS]
            if _matches(filters.q, row.name) and filters.dialect in ("", row.dialect)
        ],
        runs=[run for run in runs if _fits(run, filters)],
        cases=cases,
        filters=filters,
    )
    return Page(template="home", data=data, only_page={"choices": choices})


def _in_texts(
    request: Request, store: Store, words: str, runs: Sequence[HomeRun]
) -> FoundCases | None:
    """Find cases of all runs by the text of questions and answers, as far as it is indexed."""
    if not store.search.can_search(words) or not words:
        return None
    names = {run.id: run.name for run in runs}
    missing = store.search.unindexed([run.id for run in runs if run.totals.cases])
    accepted = [store_pool_of(request).indexer.ask(run_id) for run_id in missing]
    return FoundCases(
        found=[
            FoundCase(run=one.run_id, name=names.get(one.run_id, one.run_id), id=one.case_id)
            for one in store.search.find(words, MOST_CASES)
        ],
        waiting=len(missing) if all(accepted) else 0,
    )


def progress(request: Request) -> Progress:
    """Return the progress of a run."""
    with opened(request) as store:
        return progress_of(store, the_run(store, request))


def progress_of(store: Store, run: Run) -> Progress:
    """Return how many attempts of a run are stored, and the expected total."""
    rows = store.suites.matching(run.suite_key)
    attempts = run.settings.get("attempts") or 1
    done = store.attempts.count(run.id)
    total = max(done, rows[0].cases * attempts) if rows else done
    return Progress(id=run.id, status=run.status, done=done, total=total)


def scorers_of(run: Run) -> list[str]:
    """Return the names of a run's scorers, from its signature."""
    return list(run.signed.scorers)


def _described(store: Store, run: Run, dialects: Mapping[str, str]) -> HomeRun:
    more: dict[str, Any] = {}
    if run.status.is_unfinished:
        more["progress"] = progress_of(store, run)
    return HomeRun(
        **listed_run(store, run).to_json(),
        dialect=dialects.get(run.suite_key, ""),
        scorers=scorers_of(run),
        **more,
    )


def _fits(run: HomeRun, filters: HomeFilters) -> bool:
    exact = (
        filters.dialect in ("", run.dialect)
        and filters.candidate in ("", run.candidate)
        and filters.status in ("", run.status)
        and filters.scorer in ("", *run.scorers)
    )
    return exact and _matches(filters.q, run.name, run.suite, run.candidate, run.id)


def _matches(words: str, *texts: str) -> bool:
    return any(words.lower() in text.lower() for text in texts)


routes = [
    Endpoint("/", home),
    Endpoint(
        "/home.json",
        home,
        Operation(
            summary="Suites and the latest runs",
            parameters=[
                text("q", "a text that a name contains, or a case's question or answers"),
                *(text(name, f"only this {name}") for name in ("dialect", "scorer", "candidate")),
                text("status", "only runs in this state"),
            ],
            wrong=(),
        ),
    ),
    Endpoint(
        "/runs/{run}/progress.json",
        progress,
        Operation(summary="Progress of a run", parameters=[RUN], wrong=(404,)),
    ),
]
