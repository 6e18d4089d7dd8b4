"""The page of item analysis: the cases of a suite that deserve a second look."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.engine.items.analysis import analyse
from proctor.engine.items.takers import chosen_runs, ended_runs
from proctor.errors import StoreError, UsageError
from proctor.reports.items import items_object
from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import named
from proctor.web.api.endpoint import SUITE, Endpoint, Operation
from proctor.web.api.response import Page, ResponseModel
from proctor.web.lookup import the_suite
from proctor.web.pages.compare_texts import listed_texts
from proctor.web.store_pool import opened, stamp, store_pool_of

MOST_CASES = 20_000
"""Up to how many cases a page analyses; `proctor items` takes any number."""

MOST_LOOKED = 4
"""In how many runs the question of a case is looked for."""


class ItemsPage(ResponseModel):
    """Suspicious cases of a suite, as `proctor items --json` prints them."""

    suite: str
    suite_key: str
    analysis: dict[str, Any] | None = Field(description="None where there is nothing to analyse")
    why: str = Field(description="why there is no analysis: `runs` or `large`")


def show_items(request: Request) -> Page[ItemsPage]:
    """Return the cases of a suite that deserve a second look."""
    with opened(request) as store:
        row = the_suite(store, named(request, "suite"))
        versions = [one for one in store.suites.newest() if one.name == row.name] or [row]
        analysis, why = None, "large" if max(one.cases for one in versions) > MOST_CASES else ""
        if not why:
            analysis = _analysis(request, store, versions)
            why = "" if analysis is not None else "runs"
        questions = _questions(store, analysis)
    data = ItemsPage(suite=row.name, suite_key=row.key, analysis=analysis, why=why)
    return Page(template="items", data=data, only_page={"questions": questions})


def _questions(store: Store, analysis: dict[str, Any] | None) -> dict[str, str]:
    """Return the beginnings of the questions of the listed cases, by case."""
    if analysis is None:
        return {}
    runs = [run["id"] for run in analysis["runs"][:MOST_LOOKED]]
    cases = [one["case"] for one in analysis["items"]]
    return {case: one.question for case, one in listed_texts(store, runs, cases).items()}


def _analysis(
    request: Request, store: Store, versions: Sequence[SuiteRow]
) -> dict[str, Any] | None:
    """Analyse the runs of all versions of a suite, as `proctor items` does by its name."""
    try:
        runs = chosen_runs(store, [run.id for run in ended_runs(store, versions)])
    except (StoreError, UsageError):
        return None

    def compute() -> dict[str, Any]:
        return items_object(analyse(store, runs), addresses.case_link)

    key = stamp(runs)
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("items", key), compute)


routes = [
    Endpoint(
        "/suites/{suite}/items",
        show_items,
        Operation(
            summary="Cases of a suite that deserve a second look", parameters=[SUITE], wrong=(404,)
        ),
        twin="/suites/{suite}/items.json",
    ),
    Endpoint("/suites/{suite}/items.json", show_items),
]
