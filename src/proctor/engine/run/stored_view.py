"""Stored runs as reports see them: their numbers, and their cases one by one."""

from collections.abc import Iterator

from proctor.contracts.report import RunView
from proctor.core.run import CaseResult, Run, RunStatus, Summary
from proctor.core.suite import Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.engine.run.totals import RunTotals
from proctor.errors import StoreError
from proctor.store.store import Store

_LEFT = "was interrupted before it had numbers (fix: start it again with the same command)"
_NO_NUMBERS = {
    RunStatus.RUNNING: "is being made, and has no numbers yet (fix: wait for its end)",
    RunStatus.REFUSED: "was refused before it had numbers (fix: start it again with the same"
    " command, which says why)",
}


def view_of(store: Store, reference: str) -> RunView:
    """Return a stored run as reports see it."""
    run = store.runs.get(reference)
    if run.status is RunStatus.BROKEN:
        raise damaged(store, run)
    stored = store.summaries.get(run.id)
    if stored is None:
        raise StoreError(f"the run {run.name!r} {_NO_NUMBERS.get(run.status, _LEFT)}")
    header = store.suites.header(run.suite_key)
    try:
        summary = Summary.from_json(stored)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise damaged(store, run) from None
    return RunView(
        run=run,
        summary=summary,
        suite=header,
        results=lambda: results_of(store, run.id, header),
    )


def view_so_far(store: Store, reference: str) -> RunView:
    """Return a stored run, one without numbers as well: its cases are there as they are graded."""
    run = store.runs.get(reference)
    if not run.status.is_unfinished or store.summaries.get(run.id) is not None:
        return view_of(store, reference)
    header = store.suites.header(run.suite_key)
    return RunView(
        run=run,
        summary=RunTotals().summary(),
        suite=header,
        results=lambda: results_of(store, run.id, header),
    )


def damaged(store: Store, run: Run) -> StoreError:
    """Return the error for a stored run that cannot be read."""
    return StoreError(
        f"the run {run.name!r} ({run.id}) is damaged in the store at {store.place}: somebody else"
        f" wrote to it, or the disk did (fix: `proctor delete {run.id}`, and make it again)"
    )


def case_of(store: Store, view: RunView, case_id: str) -> CaseResult:
    """Return one case of a run with all its attempts and scores."""
    return placed_case(store, view, case_id)[1]


def placed_case(store: Store, view: RunView, case_id: str) -> tuple[int, CaseResult]:
    """Return one case of a run with its position in the suite."""
    linked = store.attempts.case(view.run.id, case_id)
    return linked.position, case_result(fold_of(view.suite), linked.case, linked.attempts)


def results_of(store: Store, run_id: str, suite: Suite) -> Iterator[CaseResult]:
    """Yield the cases of a run as they are stored."""
    how = fold_of(suite)
    for linked in store.attempts.iter_cases(run_id):
        yield case_result(how, linked.case, linked.attempts)
