"""Lookup of the runs and suites that requests name; a missing one is a 404 page."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException
from starlette.requests import Request

from proctor.core.names import candidate_label
from proctor.core.run import Run, RunStatus, sound_summary
from proctor.errors import StoreError, StoreGone
from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web.addresses import named
from proctor.web.api.response import ListedRun, ListedTotals

MOST_RUNS = 200
"""How many runs one page lists."""


def the_run(store: Store, request: Request) -> Run:
    """Return the run that the path names, or raise a 404 error."""
    try:
        return store.runs.get(named(request, "run"))
    except StoreGone:
        raise
    except StoreError as error:
        raise HTTPException(404, str(error)) from None


def the_suite(store: Store, key: str) -> SuiteRow:
    """Return the suite with a key or key prefix, or raise a 404 error."""
    matches = store.suites.matching(key)
    if len(matches) != 1:
        raise HTTPException(404, f"the store has no suite {key!r}")
    return matches[0]


def listed_run(store: Store, run: Run) -> ListedRun:
    """Describe a run for a list, with its totals so far."""
    stored = store.summaries.get(run.id)
    numbers = sound_summary(stored)
    totals = (numbers or {}).get("totals", {})
    status = run.status if (stored is None) == (numbers is None) else RunStatus.BROKEN
    return ListedRun(
        id=run.id,
        name=run.name,
        suite=run.suite,
        suite_key=run.suite_key,
        candidate=candidate_label(run.candidate),
        status=status,
        imported=run.imported,
        stopped_early=run.stopped_early is not None,
        started=run.started,
        finished=run.finished,
        totals=ListedTotals(
            rate=totals.get("rate"),
            interval=totals.get("interval"),
            bounds=totals.get("bounds"),
            score=totals.get("score"),
            full=totals.get("full"),
            cases=totals.get("cases"),
            attempts=totals.get("attempts"),
            unanswered=totals.get("unanswered", 0),
            unscored=totals.get("unscored", 0),
            errors=totals.get("errors", 0),
        ),
    )


@contextmanager
def or_missing() -> Iterator[None]:
    """Turn the store's error about a missing run or case into a 404 error."""
    try:
        yield
    except StoreGone:
        raise
    except StoreError as error:
        raise HTTPException(404, str(error)) from None
