"""The home page: suites, the latest runs, and their progress."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.core.names import candidate_label
from proctor.core.run import Run, RunStatus
from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web.addresses import whole_number, with_query
from proctor.web.api.endpoint import RUN, Endpoint, Operation, text, whole
from proctor.web.api.response import ListedRun, ListedSuite, Page, Progress, ResponseModel
from proctor.web.lookup import MOST_RUNS, listed_run, the_run
from proctor.web.pages.regressions import Dropped, RatePoint, dropped, spark, trends
from proctor.web.pages.search_results import FoundCases, found_cases
from proctor.web.store_pool import opened, store_pool_of

PAGE = 50
"""How many runs one page lists."""
PATIENCE = 0.7
"""Seconds that a search waits for texts to be indexed, which is enough for small runs."""
MOST_SCANNED = 2_000
"""Among how many runs filters choose, the newest ones."""
MOST_ENDED = 5


class HomeRun(ListedRun):
    """A run on the home page."""

    dialect: str
    scorers: list[str]
    progress: Progress | None = None


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
    trends: dict[str, list[RatePoint]] = Field(description="rates by suite name, oldest first")
    runs: list[HomeRun]
    matching: int = Field(description="how many runs match, of those looked at")
    older: bool = Field(description="whether there are older runs that were not looked at")
    next: int | None = Field(description="the value of `page` for the next page of runs")
    now: list[HomeRun] = Field(description="runs in progress")
    ended: list[HomeRun] = Field(description="runs that ended last")
    dropped: list[Dropped] = Field(description="runs below their baselines")
    cases: FoundCases | None
    filters: HomeFilters


def home(request: Request) -> Page[Home]:
    """Return suites and runs, searched and filtered."""
    names = HomeFilters.model_fields
    filters = HomeFilters(**{name: request.query_params.get(name, "").strip() for name in names})
    page = max(1, whole_number(request, "page", 1))
    plain = not any(filters.to_json().values())
    with opened(request) as store:
        suites = store.suites.newest()
        dialects = {row.key: row.dialect for row in suites}
        scanned = store.runs.newest(limit=MOST_SCANNED + 1)
        older, scanned = len(scanned) > MOST_SCANNED, scanned[:MOST_SCANNED]
        fitting = [run for run in scanned if _fits(run, dialects, filters)]
        listed = fitting[(page - 1) * PAGE : page * PAGE]
        runs = [_described(store, run, dialects) for run in listed]
        first = plain and page == 1
        now = [run for run in scanned if run.status is RunStatus.RUNNING][:PAGE] if first else []
        ended = [run for run in scanned if run.finished] if first else []
        ended = sorted(ended, key=lambda run: -(run.finished or 0.0))[:MOST_ENDED]
        data = Home(
            suites=[
                _suite(row)
                for row in suites[:MOST_RUNS]
                if _matches(filters.q, row.name) and filters.dialect in ("", row.dialect)
            ],
            trends=trends(store, scanned),
            runs=runs,
            matching=len(fitting),
            older=older,
            next=page + 1 if len(fitting) > page * PAGE else None,
            now=[_described(store, run, dialects) for run in now],
            ended=[_described(store, run, dialects) for run in ended],
            dropped=dropped(request, store, scanned) if first else [],
            cases=_in_texts(request, store, filters.q, scanned),
            filters=filters,
        )
    choices = {
        "dialect": sorted({row.dialect for row in suites}),
        "scorer": sorted({name for run in scanned for name in scorers_of(run)}),
        "candidate": sorted({candidate_label(run.candidate) for run in scanned}),
        "status": [status.value for status in RunStatus],
    }
    sparks = {suite: spark(line) for suite, line in data.trends.items()}
    only_page = {
        "choices": choices,
        "sparks": sparks,
        "suite_versions": _versions(data.suites),
        "page": page,
        "first_run": (page - 1) * PAGE + 1,
        "pages": _pages(request, data),
    }
    return Page(template="home", data=data, only_page=only_page)


def _versions(suites: Sequence[ListedSuite]) -> list[list[ListedSuite]]:
    """Return the suites of each name together, the newest first."""
    by_name: dict[str, list[ListedSuite]] = {}
    for suite in suites:
        by_name.setdefault(suite.name, []).append(suite)
    return list(by_name.values())


def _pages(request: Request, data: Home) -> dict[str, str]:
    """Return the addresses of the next page of runs, and of cases."""
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] not in ("page", "skip")]
    following = data.cases.next if data.cases else None
    return {
        "runs": with_query("/", [*pairs, ("page", data.next)]) if data.next else "",
        "cases": with_query("/", [*pairs, ("skip", following)]) if following else "",
    }


def _suite(row: SuiteRow) -> ListedSuite:
    return ListedSuite(
        key=row.key,
        name=row.name,
        version=row.version,
        dialect=row.dialect,
        cases=row.cases,
        imported=row.imported,
        created=row.created,
    )


def _in_texts(request: Request, store: Store, words: str, runs: Sequence[Run]) -> FoundCases | None:
    """Find cases of all runs by the text of questions and answers, as far as it is indexed."""
    if not store.search.can_search(words) or not words:
        return None
    newest = [run.id for run in runs[:MOST_RUNS] if not run.status.is_unfinished]
    missing = store.search.unindexed(newest)
    indexer = store_pool_of(request).indexer
    accepted = [indexer.ask(run_id) for run_id in missing]
    if missing and all(accepted):
        indexer.wait(missing, PATIENCE)
        missing = store.search.unindexed(newest)
    names = {run.id: run.name for run in runs}
    skip = max(0, whole_number(request, "skip", 0))
    return found_cases(store, words, skip, names, len(missing) if all(accepted) else 0)


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


def _fits(run: Run, dialects: Mapping[str, str], filters: HomeFilters) -> bool:
    candidate = candidate_label(run.candidate)
    exact = (
        filters.dialect in ("", dialects.get(run.suite_key, ""))
        and filters.candidate in ("", candidate)
        and filters.status in ("", run.status)
        and filters.scorer in ("", *scorers_of(run))
    )
    return exact and _matches(filters.q, run.name, run.suite, candidate, run.id)


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
                whole("page", "which page of runs", 1),
                whole("skip", "how many found cases to skip", 0),
            ],
            wrong=(400,),
        ),
    ),
    Endpoint(
        "/runs/{run}/progress.json",
        progress,
        Operation(summary="Progress of a run", parameters=[RUN], wrong=(404,)),
    ),
]
