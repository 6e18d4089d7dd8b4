"""Labels and notes from the cells of a grid: what people said, and the form of one cell."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from proctor.contracts.report import RunView
from proctor.core.run import CaseResult
from proctor.engine.labels.criterion_scale import scale_of
from proctor.engine.run.stored_view import placed_case
from proctor.errors import StoreError
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.pages.label import token_for
from proctor.web.pages.seen_labels import remembered_author


def asked_cell(request: Request) -> tuple[str, str]:
    """Return the run and the case of the cell in which somebody wants to say something."""
    query = request.query_params
    return query.get("say", ""), query.get("case", "")


def cell_form(
    request: Request, store: Store, views: Mapping[str, RunView], back: str
) -> dict[str, Any] | None:
    """Return the form of the chosen cell; none where no cell of the grid is chosen.

    What is said is about the answer that the cell shows, that of the first attempt.
    """
    run_id, case_id = asked_cell(request)
    if run_id not in views:
        return None
    try:
        _, result = placed_case(store, views[run_id], case_id)
    except StoreError:
        return None
    if not result.attempts:
        return None
    return {
        "run": run_id,
        "case": case_id,
        "attempt": result.attempts[0].attempt.index,
        "csrf": token_for(run_id),
        "author": remembered_author(request),
        "back": back,
        "criteria": _criteria(run_id, result),
    }


def _criteria(run_id: str, result: CaseResult) -> list[dict[str, Any]]:
    scores = result.attempts[0].scores
    rows = []
    for criterion in result.case.criteria:
        scale = scale_of(criterion, scores.get(criterion.id))
        action = addresses.with_query(
            f"{addresses.run_link(run_id)}/label", [("criterion", criterion.id)]
        )
        rows.append(
            {
                "id": criterion.id,
                "action": action,
                "marks": list(scale.marks()),
                "rates": scale.rates,
            }
        )
    return rows
