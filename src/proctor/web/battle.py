"""The page of stored battles: how runs fared before a judge, and the leaderboard of several."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.engine.battle import battles_of
from proctor.errors import UsageError
from proctor.reports.battle import battle_object
from proctor.web import addresses
from proctor.web.missing import or_missing
from proctor.web.opened import opened
from proctor.web.rendering import page

MOST_RUNS = 50
COMPARISONS = 200
"""How many single comparisons a page lists for each way of asking."""


def show_battles(request: Request) -> Response:
    """Answer with all that is stored of battles among some runs."""
    runs = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(runs) <= MOST_RUNS:
        raise UsageError(f"choose 2 to {MOST_RUNS} runs that were in a battle, not {len(runs)}")
    with opened(request) as store, or_missing():
        found = [store.run(reference) for reference in runs]
        outcomes = battles_of(store, [run.id for run in found])
    battles = [battle_object(outcome, cases=True) for outcome in outcomes]
    data: dict[str, Any] = {
        "runs": [{"id": run.id, "name": run.name} for run in found],
        "battles": [
            {
                **made,
                "comparisons": [
                    {**row, "link": _link(one.first, one.second, one.case_id)}
                    for row, one in zip(
                        made["comparisons"][:COMPARISONS],
                        outcome.comparisons[:COMPARISONS],
                        strict=True,
                    )
                ],
                "compared": len(made["comparisons"]),
            }
            for made, outcome in zip(battles, outcomes, strict=True)
        ],
    }
    return page(request, "battle", data)


def _link(first: str, second: str, case_id: str) -> str:
    return addresses.with_query("/compare", [("run", first), ("run", second), ("case", case_id)])


routes = [Route("/battles", show_battles), Route("/battles.json", show_battles)]
