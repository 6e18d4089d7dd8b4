"""The labelling page: a person's own marks, and the judge's agreement with them."""

import hmac
import re
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from proctor.contracts.report import RunView
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Criterion
from proctor.engine.run.evaluate import placed_case, view_of
from proctor.reports.reasons import rows_of
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import RUN, Endpoint, FormEndpoint, Operation, text, whole
from proctor.web.api.response import Named, Page, ResponseModel
from proctor.web.highlight import MOST
from proctor.web.lookup import the_run
from proctor.web.missing import or_missing
from proctor.web.page_cache import stamp
from proctor.web.pages.case_models import LaidAttempt, LaidQuestion, LaidScore
from proctor.web.pages.case_view import case_view
from proctor.web.pages.label_agreement import Agreement, agreement, judged, latest
from proctor.web.store_pool import opened, store_pool_of

LONGEST_FORM = 64 * 1024
LONGEST_NOTE = 4000
_SECRET = secrets.token_bytes(32)
"""New at every start of the server; older forms get status 403."""
_MARKS = {"1": 1.0, "0": 0.0}


class OwnMark(ResponseModel):
    """The mark that a person gave."""

    points: float | None
    note: str


class LabelPage(ResponseModel):
    """An attempt to label; texts are cut into pieces for the page."""

    run: Named
    case: LaidQuestion
    attempt: LaidAttempt
    criterion: str
    wanted: str
    judged: LaidScore | None
    criteria: list[tuple[str, str]]
    attempts: list[tuple[int, str]]
    action: str
    whole: str
    before: str | None
    after: str | None
    agreement: Agreement
    labelled: int
    own: OwnMark | None
    author: str


def show_label(request: Request) -> Page[LabelPage]:
    """Return one attempt to label."""
    query = request.query_params
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        case_id = query.get("case") or _first_case(store, view)
        place, result = placed_case(store, view, case_id)
        item = _attempt(result, query.get("attempt", ""))
        criterion = _criterion(result, item, query.get("criterion", ""))
        around = store.results.neighbours(view.run.id, place)
        labels = latest(store.labels.of_run(view.run.id), criterion.id)
        agreed = agreement(
            store, view.run.id, criterion.id, labels, _judged_all(request, store, view, criterion)
        )
    own = labels.get((case_id, item.attempt.index))
    before, after = (_address(view.run.id, near, criterion.id) for near in around)
    data = LabelPage(
        **_data(view, result, item, criterion),
        before=before,
        after=after,
        agreement=agreed,
        labelled=len(labels),
        own=None if own is None else OwnMark(points=own.points, note=own.note),
        author=query.get("author", ""),
    )
    return Page(template="label", data=data, only_page={"csrf": token_for(view.run.id)})


async def put_label(request: Request) -> Response:
    """Store a mark, and redirect to the next case."""
    length = request.headers.get("content-length", "")
    if re.fullmatch("[0-9]{1,9}", length) is None or int(length) > LONGEST_FORM:
        raise HTTPException(413, f"expected a form of at most {LONGEST_FORM} bytes")
    form = {name: str(value) for name, value in (await request.form()).items()}
    return await run_in_threadpool(_stored, request, form)


def token_for(run_id: str) -> str:
    """Return the token that a form about a run must include."""
    return hmac.new(_SECRET, run_id.encode(), sha256).hexdigest()


def _stored(request: Request, form: Mapping[str, str]) -> Response:
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        run_id = view.run.id
        if not hmac.compare_digest(form.get("csrf", "").encode(), token_for(run_id).encode()):
            raise HTTPException(
                403, "this form is from before the last restart of the server: reload the page"
            )
        if form.get("mark") not in _MARKS:
            raise HTTPException(400, "expected a mark of 1 or 0")
        place, result = placed_case(store, view, form.get("case", ""))
        item = _attempt(result, form.get("attempt", ""))
        criterion = _criterion(result, item, form.get("criterion", ""))
        score = item.scores.get(criterion.id)
        full = 1.0 if score is None or score.out_of is None else score.out_of
        store.labels.add(
            Label(
                run_id=run_id,
                case_id=result.case.id,
                index=item.attempt.index,
                criterion=criterion.id,
                points=full * _MARKS[form["mark"]],
                note=form.get("note", "")[:LONGEST_NOTE],
                author=form.get("author", "")[:100],
                created=time.time(),
            )
        )
        after = store.results.neighbours(run_id, place)[1] or result.case.id
    more = [("case", after), ("criterion", criterion.id), ("author", form.get("author", "")[:100])]
    return RedirectResponse(addresses.with_query(_path(run_id), more), 303)


def _first_case(store: Store, view: RunView) -> str:
    """Return the first unmarked case among the first thousand, else the first case."""
    labelled = {label.case_id for label in store.labels.of_run(view.run.id)}
    rows = [row.case_id for row in store.results.iter_rows(view.run.id, limit=1000)]
    if not rows:
        raise HTTPException(404, f"the run {view.run.name!r} has no case to mark")
    return next((case_id for case_id in rows if case_id not in labelled), rows[0])


def _attempt(result: CaseResult, text: str) -> AttemptResult:
    for item in result.attempts:
        if text in ("", str(item.attempt.index)):
            return item
    raise HTTPException(404, f"the case {result.case.id!r} has no attempt {text!r}")


def _criterion(result: CaseResult, item: AttemptResult, text: str) -> Criterion:
    """Return the criterion with an id, else the first that a judge scored, else the first."""
    criteria = result.case.criteria
    named = [criterion for criterion in criteria if criterion.id == text]
    if named:
        return named[0]
    if not criteria:
        raise HTTPException(404, f"the case {result.case.id!r} has no criterion to mark")
    return next((one for one in criteria if _judged(item, one)), criteria[0])


def _judged_all(
    request: Request, store: Store, view: RunView, criterion: Criterion
) -> Mapping[int, float]:
    """Return the criterion's points over the whole run, from the cache if possible."""
    key = ("judged", stamp([view.run]), criterion.id)
    page_cache = store_pool_of(request).page_cache
    return page_cache.of(key, lambda: judged(store, view.run.id, criterion.id))


def _judged(item: AttemptResult, criterion: Criterion) -> bool:
    score = item.scores.get(criterion.id)
    return score is not None and any("raw" in row for row in rows_of([score.detail]))


def _data(
    view: RunView, result: CaseResult, item: AttemptResult, criterion: Criterion
) -> dict[str, Any]:
    laid = case_view(result, most=MOST)
    place = result.attempts.index(item)
    run_id, case_id = view.run.id, result.case.id
    attempt = laid["attempts"][place]
    return {
        "run": Named.of(view.run),
        "case": {name: laid[name] for name in ("id", "messages", "references", "context")},
        "attempt": attempt,
        "criterion": criterion.id,
        "wanted": str(criterion.scorer.params.get("question", "")),
        "judged": next((one for one in attempt["scores"] if one["id"] == criterion.id), None),
        "criteria": [
            (one.id, _address(run_id, case_id, one.id, item.attempt.index))
            for one in result.case.criteria
        ],
        "attempts": [
            (one.attempt.index, _address(run_id, case_id, criterion.id, one.attempt.index))
            for one in result.attempts
        ],
        "action": _path(run_id),
        "whole": addresses.with_query(addresses.case_link(run_id, case_id), [("full", 1)]),
    }


def _address(
    run_id: str, case_id: str | None, criterion: str, index: int | None = None
) -> str | None:
    if case_id is None:
        return None
    parts = [("case", case_id), ("criterion", criterion), ("attempt", index)]
    return addresses.with_query(_path(run_id), parts)


def _path(run_id: str) -> str:
    return f"{addresses.run_link(run_id)}/label"


_LABEL = "/runs/{run}/label"
_FORM = {
    "type": "object",
    "required": ["csrf", "mark", "case"],
    "properties": {
        "csrf": {"type": "string", "description": "the fields of the page's form"},
        "mark": {"type": "string", "enum": sorted(_MARKS)},
        **{name: {"type": "string"} for name in ("case", "attempt", "criterion", "note", "author")},
    },
}

routes = [
    Endpoint(_LABEL, show_label),
    FormEndpoint(
        _LABEL,
        put_label,
        Operation(
            summary="Store a mark; accepted only from the page's own form",
            parameters=[RUN],
            wrong=(400, 403, 404, 413),
            error=None,
            form=_FORM,
        ),
    ),
    Endpoint(
        f"{_LABEL}.json",
        show_label,
        Operation(
            summary="An attempt to label, and the judge's agreement",
            parameters=[
                RUN,
                text("case", "the case to mark"),
                text("criterion", "the criterion to mark it by"),
                whole("attempt", "which attempt", 0),
                text("author", "the author of the marks"),
            ],
        ),
    ),
]
