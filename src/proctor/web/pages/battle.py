"""The page of stored battles: how runs fared before a judge, and the leaderboard of several."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request

from proctor.engine.battle.run_battle import battles_of
from proctor.errors import UsageError
from proctor.reports.battle import battle_object
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import Endpoint, Operation, several
from proctor.web.api.response import Named, Page, ResponseModel
from proctor.web.missing import or_missing
from proctor.web.store_pool import opened, shelf_of

MOST_RUNS = 50
COMPARISONS = 200
"""How many single comparisons a page lists for each way of asking."""


class BattlesPage(ResponseModel):
    """What judges preferred, each way of asking as `proctor battle --json` prints it."""

    runs: list[Named]
    battles: list[dict[str, Any]]


def show_battles(request: Request) -> Page[BattlesPage]:
    """Answer with all that is stored of battles among some runs."""
    runs = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(runs) <= MOST_RUNS:
        raise UsageError(f"choose 2 to {MOST_RUNS} runs that were in a battle, not {len(runs)}")
    with opened(request) as store, or_missing():
        found = [store.runs.get(reference) for reference in runs]
        ids = [run.id for run in found]
        # A leaderboard takes a while, and changes only when a judge has said something new.
        key = ("battles", tuple(ids), store.comparisons.count(ids))
        battles = shelf_of(request).remembered.of(key, lambda: _battles(store, ids))
    data = BattlesPage(runs=[Named.of(run) for run in found], battles=battles)
    return Page(template="battle", data=data)


def _battles(store: Store, ids: list[str]) -> list[dict[str, Any]]:
    made = []
    for outcome in battles_of(store, ids):
        first = outcome.comparisons[:COMPARISONS]
        battle = battle_object(replace(outcome, comparisons=first), cases=True)
        battle["comparisons"] = [
            {**row, "link": _link(one.first, one.second, one.case_id)}
            for row, one in zip(battle["comparisons"], first, strict=True)
        ]
        made.append({**battle, "compared": len(outcome.comparisons)})
    return made


def _link(first: str, second: str, case_id: str) -> str:
    return addresses.with_query("/compare", [("run", first), ("run", second), ("case", case_id)])


_RUNS = several("run", "the runs, at least 2", {"type": "string"}, required=True)

routes = [
    Endpoint("/battles", show_battles),
    Endpoint(
        "/battles.json",
        show_battles,
        Operation(summary="What judges preferred among runs", parameters=[_RUNS]),
    ),
]
