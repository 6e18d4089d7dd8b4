"""The page of stored battles: what judges preferred, and a leaderboard of several runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from proctor.engine.battle.run_battle import battles_of
from proctor.errors import UsageError
from proctor.reports.battle import battle_object
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import one_of
from proctor.web.api.endpoint import Endpoint, Operation, several, text
from proctor.web.api.response import Named, Page, ResponseModel
from proctor.web.lookup import or_missing
from proctor.web.pages.compare_texts import listed_texts
from proctor.web.pages.related import pages_beside, suites_of
from proctor.web.store_pool import opened, store_pool_of

MOST_RUNS = 50
MOST_LOOKED = 2
"""In how many of the runs the questions of cases are looked up."""
LETTERS = "ABCDEFGH"
"""What stands for the names of the runs, where there are no more."""
COMPARISONS = 200
"""How many single comparisons a page lists for each judge configuration."""

OTHERS = ("tie", "disagree")
"""What a list of comparisons can be cut down to, beside a run that won."""


class BattlesPage(ResponseModel):
    """Battles among runs, one per judge configuration, as `proctor battle --json` prints them."""

    runs: list[Named]
    battles: list[dict[str, Any]]


def show_battles(request: Request) -> Page[BattlesPage]:
    """Return the stored battles among some runs."""
    runs = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(runs) <= MOST_RUNS:
        raise UsageError(f"expected 2 to {MOST_RUNS} runs that were in a battle, not {len(runs)}")
    with opened(request) as store, or_missing():
        stored_runs = [store.runs.get(reference) for reference in runs]
        ids = [run.id for run in stored_runs]
        # A leaderboard is slow to compute, and changes only with new comparisons.
        key = ("battles", tuple(ids), store.comparisons.count(ids))
        battles = store_pool_of(request).page_cache.of(key, lambda: _battles(store, ids))
        listed = {row["case"] for battle in battles for row in battle["comparisons"]}
        questions = listed_texts(store, ids[:MOST_LOOKED], sorted(listed))
        ways = pages_beside(store, stored_runs, "battles")
    data = BattlesPage(runs=[Named.of(run) for run in stored_runs], battles=battles)
    entries = [entry for battle in battles for entry in battle["battle"]["runs"]]
    names = list(dict.fromkeys(entry["name"] for entry in entries))
    won = one_of(request, "won", ("", *names, *OTHERS))
    state: list[tuple[str, object]] = [("run", run) for run in runs]
    cases = [by_case(battle["comparisons"]) for battle in battles]
    whole = all(battle["compared"] <= len(battle["comparisons"]) for battle in battles)
    counts = Counter(one["winner"] or OTHERS[1] for compared in cases for one in compared)
    only_page = {
        "by_case": [
            [one for one in compared if won in ("", one["winner"] or OTHERS[1])]
            for compared in cases
        ],
        "counts": {**counts, "": counts.total()} if whole else {},
        "letters": dict(zip(names, LETTERS, strict=False))
        if len({entry["id"] for entry in entries}) == len(names) <= len(LETTERS)
        else {},
        "won": won,
        "questions": {case: one.question for case, one in questions.items()},
        "beside": ways,
        "suites": suites_of(stored_runs),
        "outcomes": [
            (name, addresses.with_query("/battles", [*state, ("won", name)]))
            for name in ("", *names, *OTHERS)
        ],
    }
    return Page(template="battle", data=data, only_page=only_page)


def by_case(comparisons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Gather the comparisons of each case and pair: cases with a winner first, then ties.

    They were stored as replies came in, which says nothing: the order is that of the names.
    """
    gathered: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in comparisons:
        pair = sorted((row["first"]["run"], row["second"]["run"]))
        gathered.setdefault((row["case"], *pair), []).append(row)
    cases = []
    for (case, *_), rows in gathered.items():
        winners = {_winner(row) for row in rows}
        agreed = winners.pop() if len(winners) == 1 else None
        ordered = sorted(rows, key=lambda row: str(row["first"]["run"]))
        cases.append({"case": case, "link": rows[0]["link"], "winner": agreed, "rows": ordered})
    rank = {None: 0, "tie": 2, "invalid": 3}
    return sorted(
        cases, key=lambda one: (rank.get(one["winner"], 1), one["winner"] or "", one["case"])
    )


def _winner(row: Mapping[str, Any]) -> str:
    """Return the name of the run that was preferred, `tie` or `invalid`."""
    outcome = str(row["outcome"])
    return str(row[outcome]["run"]) if outcome in ("first", "second") else outcome


def _battles(store: Store, ids: list[str]) -> list[dict[str, Any]]:
    battle_objects = []
    for outcome in battles_of(store, ids):
        first = outcome.comparisons[:COMPARISONS]
        battle = battle_object(replace(outcome, comparisons=first), cases=True)
        battle["comparisons"] = [
            {**row, "link": _link(one.first, one.second, one.case_id)}
            for row, one in zip(battle["comparisons"], first, strict=True)
        ]
        battle_objects.append({**battle, "compared": len(outcome.comparisons)})
    return battle_objects


def _link(first: str, second: str, case_id: str) -> str:
    return addresses.with_query("/compare", [("run", first), ("run", second), ("case", case_id)])


_RUNS = several("run", "the runs, at least 2", {"type": "string"}, required=True)
_WON = text("won", "the run whose wins the page lists, `tie` or `disagree`; the JSON lists all")

routes = [
    Endpoint("/battles", show_battles),
    Endpoint(
        "/battles.json",
        show_battles,
        Operation(summary="What judges preferred among runs", parameters=[_RUNS, _WON]),
    ),
]
