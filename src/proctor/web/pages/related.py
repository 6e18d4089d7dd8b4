"""Where pages of runs lead: comparisons, grids and battles, the judge's audit, items, suites."""

from collections.abc import Sequence

from proctor.core.run import Run, RunStatus
from proctor.engine.run.later_findings import newest_audit
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.response import ResponseModel

MOST_OTHERS = 3
"""How many other runs of the suite have links of their own."""
LOOKED_AT = 20
MOST_BESIDE = {"compare": 4, "grid": 8, "battles": 50}
"""Pages of several runs, and how many each of them takes."""


class RelatedPage(ResponseModel):
    """A page that tells more of a run."""

    kind: str
    """`compare`, `battle`, `audit` or `items`."""
    name: str
    """The name of the other run; empty where there is none."""
    link: str


def related_pages(store: Store, run: Run) -> list[RelatedPage]:
    """Return the pages that tell more of a run, comparisons first, with the baseline first."""
    others = _others(store, run)
    pages = [
        RelatedPage(kind="compare", name=other.name, link=_several("/compare", other, run))
        for other in others
    ]
    for other in others:
        if store.comparisons.count([other.id, run.id])[0]:
            link = _several("/battles", other, run)
            pages.append(RelatedPage(kind="battle", name=other.name, link=link))
    if newest_audit(store, run.id) is not None:
        link = f"{addresses.run_link(run.id)}/audit"
        pages.append(RelatedPage(kind="audit", name="", link=link))
    items = f"{addresses.suite_link(run.suite_key)}/items"
    return [*pages, RelatedPage(kind="items", name="", link=items)]


def pages_beside(store: Store, runs: Sequence[Run], here: str) -> list[tuple[str, str]]:
    """Return the other pages that show the same runs together, each by its kind and address.

    Battles are among them where a judge was asked to choose.
    """
    ids = [run.id for run in runs]
    pages = [
        (kind, addresses.with_query(f"/{kind}", [("run", one) for one in ids]))
        for kind, most in MOST_BESIDE.items()
        if kind != here and len(ids) <= most
    ]
    fought = here != "battles" and store.comparisons.count(ids)[0] > 0
    return [(kind, link) for kind, link in pages if kind != "battles" or fought]


def suites_of(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return the suites of some runs, each with its name and address."""
    names = {run.suite_key: run.suite for run in runs}
    return [(name, addresses.suite_link(key)) for key, name in names.items()]


def _others(store: Store, run: Run) -> list[Run]:
    """Return other complete runs of the suite: the pinned one, then the newest."""
    pinned = {one.run_id for one in store.baselines.all() if one.suite == run.suite}
    newest = store.runs.newest(suite_key=run.suite_key, limit=LOOKED_AT)
    complete = [one for one in newest if one.id != run.id and one.status is RunStatus.COMPLETE]
    return sorted(complete, key=lambda one: one.id not in pinned)[:MOST_OTHERS]


def _several(path: str, first: Run, second: Run) -> str:
    """Return the address of two runs together, the older one first."""
    ordered = sorted((first, second), key=lambda one: one.started)
    return addresses.with_query(path, [("run", one.id) for one in ordered])
