"""The page of a suite: its runs with their numbers and distributions, and its cases."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.suite import Case
from proctor.reports.structured import tag_object
from proctor.web.addresses import named
from proctor.web.asking import whole_number
from proctor.web.finding import MOST_RUNS, the_run, the_suite
from proctor.web.opened import opened, shelf_of
from proctor.web.pictures import histogram_svg
from proctor.web.remembered import stamp
from proctor.web.rendering import page
from proctor.web.suite_view import MOST_VALUES, described, drawn, over_time, side_by_side

PAGE = 50
BINS = 20
LONGEST = 300
"""How much of a question a table shows."""


def suite(request: Request) -> Response:
    """Answer with a suite, its runs, and a page of its cases."""
    after = whole_number(request, "after", -1)
    with opened(request) as store:
        row = the_suite(store, named(request, "suite"))
        header = store.suite_header(row.key)
        known = described(store, store.runs(suite_key=row.key, limit=MOST_RUNS))
        found = list(store.cases(row.key, after=after, limit=PAGE + 1))
    runs = [run for run, _ in known]
    trend = over_time(runs)
    data = {
        "suite": {
            "key": row.key,
            "name": row.name,
            "version": row.version,
            "dialect": row.dialect,
            "language": header.language,
            "description": header.description,
            "created": row.created,
            "cases": row.cases,
            "imported": row.imported,
        },
        "runs": runs,
        "trend": trend,
        **side_by_side(known),
        "cases": [_case(case) for _, _, case in found[:PAGE]],
        "next": found[PAGE - 1][0] if len(found) > PAGE else None,
        "first": after < 0,
    }
    only_page = {"picture": drawn(trend), "most_values": MOST_VALUES}
    return page(request, "suite", data, only_page=only_page)


def histogram(request: Request) -> Response:
    """Answer with the distribution of a run's values as a picture."""
    with opened(request) as store:
        run = the_run(store, request)
        key = stamp([run])
        if key is None:
            counts = store.histogram(run.id, BINS)
        else:
            kept = shelf_of(request).remembered
            counts = kept.of(("histogram", key), lambda: store.histogram(run.id, BINS))
    return Response(histogram_svg(counts), media_type="image/svg+xml")


def _case(case: Case) -> dict[str, Any]:
    text = case.prompt
    return {
        "id": case.id,
        "prompt": text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        "tags": {name: tag_object(values) for name, values in case.tags.items()},
        "scorers": list(dict.fromkeys(criterion.scorer.name for criterion in case.criteria)),
    }


routes = [
    Route("/suites/{suite}", suite),
    Route("/runs/{run}/histogram.svg", histogram),
]
