"""The first page: suites, the latest runs, and the ones that are running."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.run import Run, RunStatus
from proctor.core.suite import Json
from proctor.store.store import Store
from proctor.web.finding import MOST_RUNS, run_object, the_run
from proctor.web.opened import opened, shelf_of
from proctor.web.rendering import json_answer, page

MOST_CASES = 30
"""How many cases a search on this page lists."""
FILTERS = ("q", "dialect", "scorer", "candidate", "status")


def home(request: Request) -> Response:
    """Answer with suites and runs, searched and filtered."""
    asked = {name: request.query_params.get(name, "").strip() for name in FILTERS}
    with opened(request) as store:
        suites = store.suites()
        dialects = {row.key: row.dialect for row in suites}
        runs = [_described(store, run, dialects) for run in store.runs(limit=MOST_RUNS)]
        cases = _in_texts(request, store, asked["q"], runs)
    choices = {
        "dialect": sorted({row.dialect for row in suites}),
        "scorer": sorted({name for run in runs for name in run["scorers"]}),
        "candidate": sorted({run["candidate"] for run in runs}),
        "status": [status.value for status in RunStatus],
    }
    found = [run for run in runs if _fits(run, asked)]
    data = {
        "suites": [
            {
                "key": row.key,
                "name": row.name,
                "version": row.version,
                "dialect": row.dialect,
                "cases": row.cases,
                "imported": row.imported,
                "created": row.created,
            }
            for row in suites[:MOST_RUNS]
            if _matches(asked["q"], row.name) and asked["dialect"] in ("", row.dialect)
        ],
        "runs": found,
        "cases": cases,
        "filters": asked,
    }
    return page(request, "home", data, only_page={"choices": choices})


def _in_texts(
    request: Request, store: Store, words: str, runs: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Find cases of all runs by what was asked and answered, as far as that is indexed."""
    if not store.can_search(words) or not words:
        return None
    names = {run["id"]: run["name"] for run in runs}
    missing = store.not_indexed([run["id"] for run in runs if run["totals"]["cases"]])
    asked = [shelf_of(request).indexer.ask(run_id) for run_id in missing]
    found = store.found_texts(words, MOST_CASES)
    return {
        "found": [
            {"run": one.run_id, "name": names.get(one.run_id, one.run_id), "id": one.case_id}
            for one in found
        ],
        "waiting": len(missing) if all(asked) else 0,
    }


def progress(request: Request) -> Response:
    """Answer how far a run has come."""
    with opened(request) as store:
        run = the_run(store, request)
        return json_answer(progress_object(store, run))


def progress_object(store: Store, run: Run) -> dict[str, Json]:
    """Make the object that says how many attempts of a run there are, and of how many."""
    rows = store.suite_rows(run.suite_key)
    attempts = run.settings.get("attempts") or 1
    done = store.count_attempts(run.id)
    total = max(done, rows[0].cases * attempts) if rows else done
    return {"id": run.id, "status": run.status.value, "done": done, "total": total}


def scorers_of(run: Run) -> list[str]:
    """Return the names of a run's scorers, which its signature holds."""
    for part in run.signature.split("|"):
        name, _, value = part.partition(":")
        if name == "scorers":
            return [one.rpartition("-")[0] or one for one in value.split(",")]
    return []


def _described(store: Store, run: Run, dialects: dict[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = run_object(store, run)
    made["dialect"] = dialects.get(run.suite_key, "")
    made["scorers"] = scorers_of(run)
    if run.status.is_unfinished:
        made["progress"] = progress_object(store, run)
    return made


def _fits(run: dict[str, Any], asked: dict[str, str]) -> bool:
    exact = all(asked[name] in ("", run[name]) for name in ("dialect", "candidate", "status"))
    scorer = asked["scorer"] in ("", *run["scorers"])
    texts = (run["name"], run["suite"], run["candidate"], run["id"])
    return exact and scorer and _matches(asked["q"], *texts)


def _matches(words: str, *texts: str) -> bool:
    return any(words.lower() in text.lower() for text in texts)


routes = [
    Route("/", home),
    Route("/home.json", home),
    Route("/runs/{run}/progress.json", progress),
]
