"""The page of a run: its numbers, what did not count, and its cases as a table."""

import json
from itertools import islice
from keyword import iskeyword
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.run import Run, RunStatus
from proctor.core.score import ValueStatus
from proctor.core.suite import Json
from proctor.engine.evaluate import view_of
from proctor.errors import UsageError
from proctor.reports.structured import tag_object, to_object
from proctor.store.listing import Cursor, Sort, Wanted
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.addresses import run_link, with_query
from proctor.web.asking import one_of, whole_number
from proctor.web.finding import run_object, the_run
from proctor.web.home import progress_object
from proctor.web.opened import opened
from proctor.web.rendering import page
from proctor.web.searching import search_object

SORTS = ("position", "value", "id")
STATUSES = ("", *(status.value for status in ValueStatus))
SIZE, MOST = 50, 500
MOST_ROWS = 50
"""How many rows of one breakdown are shown before the rest is left to the JSON."""


def run(request: Request) -> Response:
    """Answer with a run's numbers and the page of its cases that is asked for."""
    wanted, size = _wanted(request), whole_number(request, "size", SIZE)
    if not 1 <= size <= MOST:
        raise UsageError(f"size must be between 1 and {MOST}")
    with opened(request) as store:
        found = the_run(store, request)
        data = _numbers(store, found)
        data["search"] = search_object(request, store, found, wanted.search)
        try:
            rows = store.listed(found.id, wanted, size + 1)
        except UsageError as error:
            rows, data["problem"] = [], str(error)
        data["tags"] = store.result_tags(found.id)
    more = len(rows) > size
    data["cases"] = [_case(row) for row in rows[:size]]
    data["asked"] = _asked(request, wanted)
    data["next"] = _next(request, found, rows[size - 1], wanted) if more else None
    only_page = {
        "sorts": {name: _sorted(request, found, wanted, name) for name in SORTS},
        "first_page": with_query(run_link(found.id), _kept(request, "after")) + "#cases",
        "wheres": {tag: _wheres(found, tag, data["groups"]) for tag in data["tags"]},
        "statuses": STATUSES[1:],
        "most_rows": MOST_ROWS,
    }
    status = 400 if data["problem"] else 200
    return page(request, "run", data, status=status, only_page=only_page)


def _numbers(store: Store, found: Run) -> dict[str, Any]:
    """Return the numbers of a run, or how far it has come where it has none yet."""
    about: dict[str, Any] = run_object(store, found)
    made: dict[str, Any] = {
        "totals": None,
        "measures": {},
        "groups": {},
        "usage": {},
        "references": {},
        "failures": {},
        "shortfall": "",
    }
    if found.status is RunStatus.BROKEN or store.summary(found.id) is not None:
        made = to_object(view_of(store, found.id))
    return {
        **made,
        "run": about
        | made.get("run", {})
        | {"signature": found.signature, "regraded": found.regraded},
        "progress": progress_object(store, found) if found.status.is_unfinished else None,
        "problem": "",
    }


def _wanted(request: Request) -> Wanted:
    asked = request.query_params
    return Wanted(
        where=asked.get("where", "").strip(),
        search=asked.get("q", "").strip(),
        status=one_of(request, "status", STATUSES),
        sort=cast(Sort, one_of(request, "sort", SORTS)),
        descending=one_of(request, "order", ("up", "down")) == "down",
        after=_cursor(asked.get("after", "")),
    )


def _asked(request: Request, wanted: Wanted) -> dict[str, Json]:
    return {
        "where": wanted.where,
        "q": wanted.search,
        "status": wanted.status,
        "sort": wanted.sort,
        "order": "down" if wanted.descending else "up",
        "after": request.query_params.get("after", ""),
    }


def _cursor(text: str) -> Cursor | None:
    """Read after which row the page begins."""
    if not text:
        return None
    try:
        key, position = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("after must be what the link to the next page says") from None
    good = isinstance(key, str | float | int | None) and not isinstance(key, bool)
    if not good or type(position) is not int or abs(position) >= 1 << 31:
        raise UsageError("after must be what the link to the next page says")
    return Cursor(float(key) if isinstance(key, int) else key, position)


def _next(request: Request, found: Run, last: ResultRow, wanted: Wanted) -> str:
    key = {"position": None, "value": last.value, "id": last.case_id}[wanted.sort]
    after = json.dumps([key, last.position], separators=(",", ":"))
    return with_query(run_link(found.id), [*_kept(request, "after"), ("after", after)]) + "#cases"


def _sorted(request: Request, found: Run, wanted: Wanted, sort: str) -> str:
    """Return the address of the same cases in an order; once more turns the order around."""
    turned = "down" if sort == wanted.sort and not wanted.descending else ""
    kept = [*_kept(request, "after", "sort", "order"), ("sort", sort), ("order", turned)]
    return with_query(run_link(found.id), kept) + "#cases"


def _wheres(found: Run, tag: str, groups: dict[str, Any]) -> dict[str, str]:
    """Return the address of each value of a tag; none for a name no expression can hold."""
    names = groups.get(tag, {}) if tag.isidentifier() and not iskeyword(tag) else {}
    return {
        name: with_query(run_link(found.id), [("where", f"{tag} == {name!r}")]) + "#cases"
        for name in islice(names, MOST_ROWS)
    }


def _kept(request: Request, *without: str) -> list[tuple[str, object]]:
    pairs = request.query_params.multi_items()
    return [pair for pair in pairs if pair[0] not in ("lang", *without)]


def _case(row: ResultRow) -> dict[str, Json]:
    return {
        "id": row.case_id,
        "position": row.position,
        "status": "broken" if row.broken else row.status.value,
        "value": row.value,
        "full": row.full,
        "low": row.low,
        "high": row.high,
        "spread": row.spread,
        "tags": {name: tag_object(values) for name, values in row.tags.items()},
    }


routes = [Route("/runs/{run}", run)]
