"""The page of a suite: its runs with their numbers and distributions, and its cases."""

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.core.suite import Case
from proctor.reports.structured import tag_object
from proctor.web.addresses import named
from proctor.web.api.endpoint import RUN, SUITE, Endpoint, Operation, whole
from proctor.web.api.response import ListedRun, ListedSuite, Page, ResponseModel, Tag
from proctor.web.lookup import MOST_RUNS, the_run, the_suite
from proctor.web.page_cache import stamp
from proctor.web.pages.pictures import histogram_svg
from proctor.web.pages.suite_view import (
    MOST_VALUES,
    SideBySide,
    TrendPoint,
    described,
    drawn,
    over_time,
    side_by_side,
)
from proctor.web.query_params import whole_number
from proctor.web.store_pool import opened, store_pool_of

PAGE = 50
BINS = 20
LONGEST = 300
"""How many characters of a question a table shows."""


class SuiteAbout(ListedSuite):
    """A suite."""

    language: str
    description: str


class SuiteCase(ResponseModel):
    """A case of a suite, its question cut to a line."""

    id: str
    prompt: str
    tags: dict[str, Tag]
    scorers: list[str]


class SuitePage(SideBySide):
    """A suite with its runs and a page of its cases."""

    suite: SuiteAbout
    runs: list[ListedRun]
    trend: list[TrendPoint]
    cases: list[SuiteCase]
    next: int | None = Field(description="the value of `after` for the next page")
    first: bool


def suite(request: Request) -> Page[SuitePage]:
    """Return a suite, its runs, and a page of its cases."""
    after = whole_number(request, "after", -1)
    with opened(request) as store:
        row = the_suite(store, named(request, "suite"))
        header = store.suites.header(row.key)
        described_runs = described(store, store.runs.newest(suite_key=row.key, limit=MOST_RUNS))
        case_rows = list(store.suites.iter_cases(row.key, after=after, limit=PAGE + 1))
    runs = [run for run, _ in described_runs]
    trend = over_time(runs)
    tables = side_by_side(described_runs)
    data = SuitePage(
        suite=SuiteAbout(
            key=row.key,
            name=row.name,
            version=row.version,
            dialect=row.dialect,
            language=header.language,
            description=header.description,
            created=row.created,
            cases=row.cases,
            imported=row.imported,
        ),
        runs=runs,
        trend=trend,
        columns=tables.columns,
        measures=tables.measures,
        groups=tables.groups,
        cases=[_case(case) for _, _, case in case_rows[:PAGE]],
        next=case_rows[PAGE - 1][0] if len(case_rows) > PAGE else None,
        first=after < 0,
    )
    only_page = {"picture": drawn(trend), "most_values": MOST_VALUES}
    return Page(template="suite", data=data, only_page=only_page)


def histogram(request: Request) -> Response:
    """Return the distribution of a run's values as an image."""
    with opened(request) as store:
        run = the_run(store, request)
        key = stamp([run])
        if key is None:
            counts = store.listing.histogram(run.id, BINS)
        else:
            page_cache = store_pool_of(request).page_cache
            counts = page_cache.of(
                ("histogram", key), lambda: store.listing.histogram(run.id, BINS)
            )
    return Response(histogram_svg(counts), media_type="image/svg+xml")


def _case(case: Case) -> SuiteCase:
    text = case.prompt
    return SuiteCase(
        id=case.id,
        prompt=text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        tags={name: tag_object(values) for name, values in case.tags.items()},
        scorers=list(dict.fromkeys(criterion.scorer.name for criterion in case.criteria)),
    )


routes = [
    Endpoint(
        "/suites/{suite}",
        suite,
        Operation(
            summary="A suite, its runs, and a page of its cases",
            parameters=[SUITE, whole("after", "after which position", -1)],
        ),
        twin="/suites/{suite}.json",
    ),
    Endpoint(
        "/runs/{run}/histogram.svg",
        histogram,
        Operation(
            summary="The distribution of a run's values, as an image",
            parameters=[RUN],
            wrong=(404,),
            error=None,
        ),
    ),
]
