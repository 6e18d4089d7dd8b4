"""The page of a suite: its runs with their numbers and distributions, and its cases."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.core.run import Run, sound_summary
from proctor.core.suite import Case
from proctor.reports.structured import tag_object
from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import named, whole_number
from proctor.web.api.endpoint import RUN, SUITE, Endpoint, Operation, choice, text, whole
from proctor.web.api.response import (
    Interval,
    ListedRun,
    ListedSuite,
    Named,
    Page,
    ResponseModel,
    Tag,
)
from proctor.web.lookup import MOST_RUNS, listed_run, the_run, the_suite
from proctor.web.pages.case_view import histogram_svg
from proctor.web.pages.distributions import distribution_of
from proctor.web.pages.editions import EditionChange, change_since
from proctor.web.pages.related import MOST_BESIDE
from proctor.web.pages.trend import (
    MOST_POINTS,
    CostPoint,
    TrendPoint,
    cost_point,
    drawn,
    drawn_by_cost,
    over_time,
)
from proctor.web.store_pool import opened

MOST_EDITIONS, MOST_OTHERS = 10, 10
"""How many editions of a suite join its runs in the chart, and how many runs of each at least."""
MOST_COLUMNS = 8
"""How many runs a table shows side by side."""
MOST_VALUES = 30
"""How many values of one tag a page lists; the JSON has all of them."""

Described = tuple[ListedRun, Mapping[str, Any]]


class Cell(ResponseModel):
    """A number of a run in a table with one column per run."""

    value: float | None = None
    rate: float | None = None
    interval: Interval | None
    cases: int | None


Row = list[Cell | None]


class SideBySide(ResponseModel):
    """Measures and breakdowns of several runs."""

    columns: list[Named]
    measures: dict[str, Row]
    groups: dict[str, dict[str, Row]]


def described(store: Store, runs: Sequence[Run]) -> list[Described]:
    """Return each run with its numbers."""
    return [
        (listed_run(store, run), sound_summary(store.summaries.get(run.id)) or {}) for run in runs
    ]


def side_by_side(described_runs: Sequence[Described]) -> SideBySide:
    """Return measures and breakdowns as tables with one column per run that has numbers."""
    shown = [(run, numbers) for run, numbers in described_runs if numbers][:MOST_COLUMNS]
    measures = dict.fromkeys(name for _, numbers in shown for name in numbers.get("measures", {}))
    tags = dict.fromkeys(tag for _, numbers in shown for tag in numbers.get("groups", {}))
    return SideBySide(
        columns=[Named(id=run.id, name=run.name, imported=run.imported) for run, _ in shown],
        measures={
            name: [_cell(numbers.get("measures", {}).get(name), "value") for _, numbers in shown]
            for name in measures
        },
        groups={tag: _values(tag, [numbers for _, numbers in shown]) for tag in tags},
    )


def _values(tag: str, run_numbers: Sequence[Mapping[str, Any]]) -> dict[str, Row]:
    rows = [numbers.get("groups", {}).get(tag, {}) for numbers in run_numbers]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_cell(row.get(name), "rate") for row in rows] for name in names}


def _cell(numbers: Mapping[str, Any] | None, name: str) -> Cell | None:
    if numbers is None:
        return None
    cases = numbers.get("cases", numbers.get("n"))
    return Cell(**{name: numbers.get(name)}, interval=numbers.get("interval"), cases=cases)


PAGE = 50

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
    changed: EditionChange | None = Field(
        description="what is different since the edition before it; null without one"
    )
    costs: list[CostPoint] = Field(description="runs whose cost is known, with their rate")
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
        changed = change_since(request, store, row)
        trend = over_time(_all_editions(store, row, [run for run, _ in described_runs]))
        case_rows = list(store.suites.iter_cases(row.key, after=after, limit=PAGE + 1))
    runs = [run for run, _ in described_runs]
    usages = [(run, numbers.get("usage") or {}) for run, numbers in described_runs]
    costs = [point for run, usage in usages if (point := cost_point(run, usage)) is not None]
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
        changed=changed,
        costs=costs,
        columns=tables.columns,
        measures=tables.measures,
        groups=tables.groups,
        cases=[_case(case) for _, _, case in case_rows[:PAGE]],
        next=case_rows[PAGE - 1][0] if len(case_rows) > PAGE else None,
        first=after < 0,
    )
    chosen = request.query_params.get("candidate", "")
    picture = drawn(trend, chosen)
    by_cost = drawn_by_cost(costs, picture["colours"])
    only_page = {
        "picture": picture,
        "by_cost": by_cost,
        "legend": _legend(row.key, picture, chosen),
        "newest": _newest(runs),
        "most_changed": MOST_VALUES,
        "most_points": MOST_POINTS,
        "most_values": MOST_VALUES,
    }
    return Page(template="suite", data=data, only_page=only_page)


def _all_editions(store: Store, row: SuiteRow, runs: Sequence[ListedRun]) -> list[ListedRun]:
    """Return the runs of a suite with those of its other editions, as many as the chart shows."""
    keys = [one.key for one in store.suites.newest() if one.name == row.name]
    editions = list(runs)
    for key in keys[:MOST_EDITIONS]:
        if key != row.key:
            most = max(MOST_OTHERS, MOST_POINTS - len(editions))
            others = store.runs.newest(suite_key=key, limit=most)
            editions += [listed_run(store, run) for run in others]
    return editions


def _newest(runs: Sequence[ListedRun]) -> list[tuple[str, str]]:
    """Return the pages that show the newest ended run of each candidate together, by kind."""
    by_candidate: dict[str, ListedRun] = {}
    for run in runs:
        if run.totals.rate is not None:
            by_candidate.setdefault(run.candidate, run)
    ids = [run.id for run in sorted(by_candidate.values(), key=lambda run: run.started)]
    return [
        (kind, addresses.with_query(f"/{kind}", [("run", one) for one in ids]))
        for kind in ("compare", "grid")
        if 1 < len(ids) <= MOST_BESIDE[kind]
    ]


def _legend(key: str, picture: Mapping[str, Any], chosen: str) -> list[dict[str, Any]]:
    """Return what each colour is; each candidate leads to the charts that make it stand out."""
    address = addresses.suite_link(key)
    return [
        {
            "name": path["name"],
            "colour": path["colour"],
            "current": path["name"] == chosen,
            "link": address
            if path["name"] == chosen
            else addresses.with_query(address, [("candidate", path["name"])]),
        }
        for path in picture["paths"]
    ]


def histogram(request: Request) -> Response:
    """Return the distribution of a run's values as an image."""
    with opened(request) as store:
        run = the_run(store, request)
        counts = distribution_of(request, store, run).counts
    labelled = request.query_params.get("labels") != "no"
    return Response(histogram_svg(counts, labelled=labelled), media_type="image/svg+xml")


def _case(case: Case) -> SuiteCase:
    prompt = case.prompt
    return SuiteCase(
        id=case.id,
        prompt=prompt if len(prompt) <= LONGEST else prompt[: LONGEST - 1] + "…",
        tags={name: tag_object(values) for name, values in case.tags.items()},
        scorers=list(dict.fromkeys(criterion.scorer.name for criterion in case.criteria)),
    )


routes = [
    Endpoint(
        "/suites/{suite}",
        suite,
        Operation(
            summary="A suite, its runs, and a page of its cases",
            parameters=[
                SUITE,
                whole("after", "after which position", -1),
                text("candidate", "on the page, the candidate that stands out in the charts"),
            ],
        ),
        twin="/suites/{suite}.json",
    ),
    Endpoint(
        "/runs/{run}/histogram.svg",
        histogram,
        Operation(
            summary="The distribution of a run's values, as an image",
            parameters=[RUN, choice("labels", "`no`: without counts and ticks", ("no",))],
            wrong=(404,),
            error=None,
        ),
    ),
]
