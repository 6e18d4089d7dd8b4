"""The labelling page: a person's own marks, and the judge's agreement with them."""

import hmac
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from itertools import chain
from typing import Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from proctor.contracts.report import RunView
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Criterion
from proctor.engine.labels.agreement import LabelAgreement, agreement, judged_places, latest
from proctor.engine.labels.criterion_scale import CriterionScale, scale_of
from proctor.engine.labels.label_files import LONGEST_AUTHOR, LONGEST_NOTE
from proctor.engine.labels.labelling_order import RandomCases
from proctor.engine.run.stored_view import placed_case, view_of
from proctor.reports.reasons import rows_of
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import RUN, Endpoint, FormEndpoint, Operation, text, whole
from proctor.web.api.response import Interval, Named, Page, ResponseModel
from proctor.web.highlight import MOST
from proctor.web.lookup import or_missing, the_run
from proctor.web.pages.case_models import LaidAttempt, LaidQuestion, LaidScore
from proctor.web.pages.case_view import case_view
from proctor.web.store_pool import opened, stamp, store_pool_of

LONGEST_FORM = 64 * 1024
_SECRET = secrets.token_bytes(32)
"""New at every start of the server; older forms get status 403."""


class Agreement(ResponseModel):
    """How far the judge agrees with people."""

    kappa: float | None = Field(description="attempts at one case count as one")
    interval: Interval | None
    agreed: float | None
    n: int
    cases: int = Field(description="how many cases they are on")
    judge_right: float
    person_right: float
    confusion: list[tuple[float, float, int]] = Field(
        description="what the judge gave, what people gave, and how often"
    )
    score: dict[str, Any] = Field(description="the judge's score, corrected by the marks")

    @classmethod
    def of(cls, label_agreement: LabelAgreement) -> "Agreement":
        """Make the numbers of the page."""
        return cls(
            kappa=label_agreement.kappa.value,
            interval=label_agreement.kappa.interval,
            agreed=label_agreement.kappa.agreed,
            n=label_agreement.kappa.n,
            cases=label_agreement.kappa.clusters,
            judge_right=label_agreement.judge_right,
            person_right=label_agreement.person_right,
            confusion=list(label_agreement.confusion),
            score=asdict(label_agreement.score),
        )


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
    marks: list[tuple[str, float]] = Field(description="what may be given, each with its points")
    rates: bool
    agreement: Agreement
    labelled: int
    own: OwnMark | None
    author: str


def show_label(request: Request) -> Page[LabelPage]:
    """Return one attempt to label."""
    query = request.query_params
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        cases = RandomCases(store, view.run)
        case_id = query.get("case") or _first_case(store, view, cases)
        place, result = placed_case(store, view, case_id)
        item = _attempt(result, query.get("attempt", ""))
        criterion = _criterion(result, item, query.get("criterion", ""))
        scale = scale_of(criterion, item.scores.get(criterion.id))
        around = (_next_id(cases.before(place)), _next_id(cases.after(place)))
        labels = latest(store.labels.of_run(view.run.id), criterion.id)
        others = _judged_all(request, store, view, criterion, scale)
        agreed = agreement(store, view.run.id, criterion.id, labels, scale, others)
    own = labels.get((case_id, item.attempt.index))
    before, after = (_address(view.run.id, near, criterion.id) for near in around)
    data = LabelPage(
        **_data(view, result, item, criterion),
        before=before,
        after=after,
        marks=scale.marks(),
        rates=scale.rates,
        agreement=Agreement.of(agreed),
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
        place, result = placed_case(store, view, form.get("case", ""))
        item = _attempt(result, form.get("attempt", ""))
        criterion = _criterion(result, item, form.get("criterion", ""))
        marks = dict(scale_of(criterion, item.scores.get(criterion.id)).marks())
        if form.get("mark") not in marks:
            raise HTTPException(400, f"expected a mark, one of {', '.join(marks)}")
        store.labels.add(
            Label(
                run_id=run_id,
                case_id=result.case.id,
                index=item.attempt.index,
                criterion=criterion.id,
                points=marks[form["mark"]],
                note=form.get("note", "")[:LONGEST_NOTE],
                author=form.get("author", "")[:LONGEST_AUTHOR],
                created=time.time(),
            )
        )
        after = _next_unmarked(store, view, place) or result.case.id
    author = form.get("author", "")[:LONGEST_AUTHOR]
    more = [("case", after), ("criterion", criterion.id), ("author", author)]
    return RedirectResponse(addresses.with_query(_path(run_id), more), 303)


def _first_case(store: Store, view: RunView, cases: RandomCases) -> str:
    """Return the first case, in random order, that has no mark yet; else the first."""
    labelled = {label.case_id for label in store.labels.of_run(view.run.id)}
    first = _next_id(cases.after())
    if first is None:
        raise HTTPException(404, f"the run {view.run.name!r} has no case to mark")
    return next((case_id for _, case_id in cases.after() if case_id not in labelled), first)


def _next_unmarked(store: Store, view: RunView, place: int) -> str | None:
    """Return the next case in random order without a mark, from the first again after the last."""
    labelled = {label.case_id for label in store.labels.of_run(view.run.id)}
    cases = RandomCases(store, view.run)
    waiting = (pair for pair in chain(cases.after(place), cases.after()) if pair[1] not in labelled)
    return _next_id(waiting)


def _next_id(cases: Iterator[tuple[int, str]]) -> str | None:
    return next((case_id for _, case_id in cases), None)


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
    request: Request, store: Store, view: RunView, criterion: Criterion, scale: CriterionScale
) -> Mapping[int, float]:
    """Return the criterion's points over the whole run, from the cache if possible."""
    key = ("judged", stamp([view.run]), criterion.id)
    page_cache = store_pool_of(request).page_cache
    return page_cache.of(key, lambda: judged_places(store, view.run.id, criterion.id, scale))


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
        "mark": {"type": "string", "description": "one of the page's marks, such as 1 or 0"},
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
