"""The labelling page: a person's own marks, and the judge's agreement with them."""

import hmac
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, combinations
from typing import Any, cast

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
from proctor.engine.labels.queues import QUEUES, Queue, by_author, queued_ids
from proctor.engine.run.stored_view import placed_case, view_of
from proctor.errors import UsageError
from proctor.reports.reasons import rows_of
from proctor.stats.agreement import clustered_kappa
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import one_of, whole_number
from proctor.web.api.endpoint import (
    RUN,
    Endpoint,
    FormEndpoint,
    Operation,
    choice,
    text,
    whole,
)
from proctor.web.api.response import Named, Page
from proctor.web.highlight import MOST
from proctor.web.lookup import or_missing, the_run
from proctor.web.pages.case_view import case_view
from proctor.web.pages.label_models import (
    Agreement,
    LabelPage,
    LabelProgress,
    LastMark,
    OwnMark,
    PeopleAgreement,
    PersonAgreement,
)
from proctor.web.pages.seen_labels import remember_author, way_back, way_back_to_grid
from proctor.web.reading import CHOICES, raw_wanted
from proctor.web.store_pool import opened, stamp, store_pool_of

LONGEST_FORM = 64 * 1024
GOAL = 50
"""How many labels are aimed at, unless the address says otherwise."""
MOST_PEOPLE = 10
UNDO, NOTE, STAY = "undo", "note", "stay"
_SECRET = secrets.token_bytes(32)
"""New at every start of the server; older forms get status 403."""


def show_label(request: Request) -> Page[LabelPage]:
    """Return one attempt to label."""
    query = request.query_params
    state = _State.of(request)
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        cases = RandomCases(store, view.run)
        most = store.results.last_position(view.run.id) + 1
        stored = store.labels.of_run(view.run.id)
        wanted = query.get("criterion", "")
        if not wanted and state.queue != "random":
            wanted = _usual_criterion(store, view, cases)
        line = queued_ids(store, view.run, wanted, state.queue, stored)
        mine = _Marked.of(store, view, stored, state.author, wanted)
        case_id = query.get("case") or _first_case(view, cases, line, mine)
        place, result = placed_case(store, view, case_id)
        item = _attempt(result, query.get("attempt", ""))
        criterion = _criterion(result, item, wanted)
        scale = scale_of(criterion, item.scores.get(criterion.id))
        around = _around(cases, place, line, case_id)
        labels = latest(stored, criterion.id, seen=state.seen)
        others = _judged_all(request, store, view, criterion, scale)
        agreed = agreement(store, view.run.id, criterion.id, labels, scale, others)
        last = _last(store, view, query.get("last", ""), criterion.id, labels)
        all_done = case_id in mine and _next_unmarked(cases, place, line, case_id, mine) is None
        people = by_author(stored, criterion.id, seen=state.seen)
        with_judge = [
            PersonAgreement.of(name, agreement(store, view.run.id, criterion.id, marks, scale, {}))
            for name, marks in _most_active(people)
            if len(people) > 1
        ]
    all_labels = latest(stored, criterion.id, seen=True)
    all_people = by_author(stored, criterion.id, seen=True)
    all_own = all_people.get(state.author, {})
    own = all_own.get((case_id, item.attempt.index))
    before, after = (_address(view.run.id, near, criterion.id, state=state) for near in around)
    data = LabelPage(
        **_data(view, result, item, criterion, state),
        before=before,
        after=after,
        marks=scale.marks(),
        rates=scale.rates,
        agreement=Agreement.of(agreed),
        labelled=len(labels),
        left_out=len(all_labels.keys() - labels.keys()),
        own=None
        if own is None
        else OwnMark(points=own.points, note=own.note, author=own.author, seen=own.seen),
        author=state.author,
        authors={name: len(marks) for name, marks in people.items()},
        people=_people(people, rates=scale.rates),
        with_judge=with_judge,
        others=_others(people, all_people, state, (case_id, item.attempt.index)),
        queue=state.queue,
        queues=[
            (name, addresses.with_query(_path(view.run.id), state.with_queue(name, criterion.id)))
            for name in QUEUES
        ],
        waiting=None if state.queue == "random" else len(line),
        progress=_progress(len(labels), min(state.goal, most), agreed),
        last=last,
        following=after or addresses.with_query(_path(view.run.id), state.pairs),
    )
    here = _address(view.run.id, case_id, criterion.id, item.attempt.index, state=state)
    only_page = {
        "csrf": token_for(view.run.id),
        "all_done": all_done,
        "seen": state.seen,
        "with_seen": _address(
            view.run.id,
            case_id,
            criterion.id,
            item.attempt.index,
            state=replace(state, seen=not state.seen),
        ),
        "raw": raw_wanted(request),
        "texts": {mode: f"{here}&text={mode}" for mode in CHOICES},
        "files": f"{addresses.run_link(view.run.id)}/labels",
        "imported": _imported(request),
        "sample": min(GOAL, most),
    }
    return Page(template="label", data=data, only_page=only_page)


def _imported(request: Request) -> dict[str, int] | None:
    """Return how many labels of a file were just stored, if the address says so."""
    names = ("added", "unchanged", "empty")
    counts = {name: whole_number(request, name, 0) for name in names}
    return counts if any(counts.values()) else None


@dataclass(frozen=True)
class _State:
    """What every address of the page keeps."""

    author: str
    queue: Queue
    goal: int
    seen: bool = False
    """Whether labels count that were given when the verdict had been seen."""

    @classmethod
    def of(cls, request: Request) -> "_State":
        goal = whole_number(request, "goal", GOAL)
        if goal < 1:
            raise UsageError("goal must be at least 1")
        queue = cast("Queue", one_of(request, "queue", QUEUES))
        author = request.query_params.get("author", "").strip()[:LONGEST_AUTHOR]
        seen = one_of(request, "seen", ("", "1")) == "1"
        return cls(author=author, queue=queue, goal=goal, seen=seen)

    @property
    def pairs(self) -> list[tuple[str, object]]:
        return [
            ("author", self.author),
            ("queue", "" if self.queue == "random" else self.queue),
            ("goal", "" if self.goal == GOAL else self.goal),
            ("seen", "1" if self.seen else ""),
        ]

    def with_queue(self, queue: Queue, criterion: str) -> list[tuple[str, object]]:
        return [("criterion", criterion), *replace(self, queue=queue).pairs]


@dataclass(frozen=True, kw_only=True)
class _Marked:
    """The cases that a person labelled by a criterion; without a name, those that anybody did.

    One without that criterion counts by any other, which is offered in its place.
    """

    store: Store
    suite_key: str
    wanted: str
    criteria: dict[str, set[str]]
    """By which criteria a case was labelled."""

    @classmethod
    def of(
        cls, store: Store, view: RunView, labels: Sequence[Label], author: str, wanted: str
    ) -> "_Marked":
        criteria: dict[str, set[str]] = {}
        for label in labels:
            if label.points is not None and (not author or label.author == author):
                criteria.setdefault(label.case_id, set()).add(label.criterion)
        return cls(store=store, suite_key=view.run.suite_key, wanted=wanted, criteria=criteria)

    def __contains__(self, case_id: str) -> bool:
        """Tell whether nothing is left to label in a case."""
        names = self.criteria.get(case_id, set())
        if not names or not self.wanted or self.wanted in names:
            return bool(names)
        case = self.store.suites.cases_by_id(self.suite_key, [case_id]).get(case_id)
        return case is None or self.wanted not in {one.id for one in case.criteria}


def _around(
    cases: RandomCases, place: int, line: Sequence[str], case_id: str
) -> tuple[str | None, str | None]:
    if not line:
        return _next_id(cases.before(place)), _next_id(cases.after(place))
    at = line.index(case_id) if case_id in line else -1
    return (line[at - 1] if at > 0 else None, line[at + 1] if at + 1 < len(line) else None)


def _progress(done: int, goal: int, agreed: LabelAgreement) -> LabelProgress:
    interval, scale = agreed.score.interval, agreed.score.scale
    half = None
    if interval is not None:
        half = 100 * (interval[1] - interval[0]) / 2 / (scale[1] - scale[0])
    return LabelProgress(done=done, goal=max(goal, done), half_width=half)


def _people(
    people: Mapping[str, Mapping[tuple[str, int], Label]], *, rates: bool
) -> list[PeopleAgreement]:
    """Return how far people agree, two at a time."""
    labelling = []
    for one, two in combinations((name for name, _ in _most_active(people) if name), 2):
        clusters: dict[str, list[tuple[float, float]]] = {}
        for place in people[one].keys() & people[two].keys():
            marks = (people[one][place].points or 0.0, people[two][place].points or 0.0)
            clusters.setdefault(place[0], []).append(marks)
        kappa = clustered_kappa(clusters.values(), level="interval" if rates else "nominal")
        if kappa.n:
            labelling.append(
                PeopleAgreement(
                    people=(one, two),
                    kappa=kappa.value,
                    interval=kappa.interval,
                    agreed=kappa.agreed,
                    n=kappa.n,
                )
            )
    return labelling


def _most_active(
    people: Mapping[str, Mapping[tuple[str, int], Label]],
) -> list[tuple[str, Mapping[tuple[str, int], Label]]]:
    """Return the people who labelled most, each with the labels."""
    return sorted(people.items(), key=lambda one: -len(one[1]))[:MOST_PEOPLE]


def _others(
    people: Mapping[str, Mapping[tuple[str, int], Label]],
    all_people: Mapping[str, Mapping[tuple[str, int], Label]],
    state: "_State",
    place: tuple[str, int],
) -> list[OwnMark]:
    """Return what other people said of an attempt."""
    shown = all_people if state.queue == "disagreement" else people
    return [
        OwnMark(points=one.points, note=one.note, author=one.author, seen=one.seen)
        for name, marks in shown.items()
        if name != state.author and (one := marks.get(place)) is not None
    ]


def _last(
    store: Store, view: RunView, case_id: str, criterion: str, labels: Mapping[Any, Label]
) -> LastMark | None:
    """Return what was said of the case before, by the person and by the judge."""
    if not case_id:
        return None
    _, result = placed_case(store, view, case_id)
    item = result.attempts[0] if result.attempts else None
    score = None if item is None else item.scores.get(criterion)
    own = None if item is None else labels.get((case_id, item.attempt.index))
    return LastMark(
        case=case_id,
        own=None if own is None else own.points,
        judge=None if score is None else score.points,
        reason="" if score is None else score.reason,
        link=addresses.case_link(view.run.id, case_id),
    )


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
        state = _form_state(form)
        stored = store.labels.of_run(run_id)
        if form.get("mark") == UNDO:
            return _undone(store, view, stored, state, form.get("criterion", ""))
        on_case = form.get("on_case") == "1"
        place, result = placed_case(store, view, form.get("case", ""))
        item = _attempt(result, form.get("attempt", ""))
        # A form with buttons for several criteria names them in the address of each.
        named = form.get("criterion", request.query_params.get("criterion", ""))
        criterion = _criterion(result, item, named)
        marks: dict[str, float | None] = {
            **dict(scale_of(criterion, item.scores.get(criterion.id)).marks())
        }
        note = form.get("note", "").strip()[:LONGEST_NOTE]
        own = _own_last(stored, state.author, result.case.id, item.attempt.index, criterion.id)
        marks[NOTE if on_case else STAY] = None if on_case or own is None else own.points
        if form.get("mark") not in marks:
            raise HTTPException(400, f"expected a mark, one of {', '.join(marks)}")
        line = queued_ids(store, view.run, criterion.id, state.queue, stored)
        stays = form["mark"] == STAY
        is_told = bool(note) or marks[form["mark"]] is not None
        if is_told and not (stays and own is not None and note == own.note):
            store.labels.add(
                Label(
                    run_id=run_id,
                    case_id=result.case.id,
                    index=item.attempt.index,
                    criterion=criterion.id,
                    points=marks[form["mark"]],
                    note=note,
                    author=state.author,
                    created=time.time(),
                    seen=on_case or _has_seen(stored, result.case.id, state.author),
                )
            )
        if on_case:
            index = item.attempt.index
            back = way_back_to_grid(form) or way_back(
                request, view.run, result, index, criterion.id
            )
            answer = RedirectResponse(back, 303)
            remember_author(answer, form)
            return answer
        if stays:
            here = _address(run_id, result.case.id, criterion.id, item.attempt.index, state=state)
            return RedirectResponse(here or _path(run_id), 303)
        mine = _Marked.of(store, view, stored, state.author, criterion.id)
        mine.criteria.setdefault(result.case.id, set()).add(criterion.id)
        after = _next_unmarked(RandomCases(store, view.run), place, line, result.case.id, mine)
    more: list[tuple[str, object]] = [("case", after or result.case.id)]
    more += [("criterion", criterion.id), *state.pairs, ("last", result.case.id)]
    return RedirectResponse(addresses.with_query(_path(run_id), more), 303)


def _own_last(
    stored: Sequence[Label], author: str, case_id: str, index: int, criterion: str
) -> Label | None:
    """Return the last label, or note, of a person on a criterion of an attempt."""
    place = (author, case_id, index, criterion)
    own = [one for one in stored if (one.author, one.case_id, one.index, one.criterion) == place]
    return own[-1] if own else None


def _form_state(form: Mapping[str, str]) -> _State:
    queue, goal = form.get("queue", ""), form.get("goal", "")
    return _State(
        author=form.get("author", "").strip()[:LONGEST_AUTHOR],
        queue=queue if queue in QUEUES else "random",
        goal=int(goal) if re.fullmatch("[1-9][0-9]{0,5}", goal) else GOAL,
        seen=form.get("seen") == "1",
    )


def _has_seen(labels: Sequence[Label], case_id: str, author: str) -> bool:
    """Tell whether a person labelled a case beside its verdicts before."""
    return any((one.case_id, one.author, one.seen) == (case_id, author, True) for one in labels)


def _undone(
    store: Store, view: RunView, stored: Sequence[Label], state: _State, criterion: str
) -> Response:
    """Take back a person's last label by a criterion, and return to its case."""
    own = [one for one in stored if (one.author, one.criterion) == (state.author, criterion)]
    more: list[tuple[str, object]] = [("criterion", criterion), *state.pairs]
    if own and own[-1].id is not None:
        store.labels.remove(own[-1].id)
        more = [("case", own[-1].case_id), ("attempt", own[-1].index), *more]
    return RedirectResponse(addresses.with_query(_path(view.run.id), more), 303)


def _first_case(view: RunView, cases: RandomCases, line: Sequence[str], labelled: _Marked) -> str:
    """Return the first case of the queue that has no mark yet; else its first."""
    if line:
        return next((case_id for case_id in line if case_id not in labelled), line[0])
    first = _next_id(cases.after())
    if first is None:
        raise HTTPException(404, f"the run {view.run.name!r} has no case to mark")
    return next((case_id for _, case_id in cases.after() if case_id not in labelled), first)


def _next_unmarked(
    cases: RandomCases, place: int, line: Sequence[str], case_id: str, labelled: _Marked
) -> str | None:
    """Return the next case of the queue without a mark, from the first again after the last."""
    if line:
        at = line.index(case_id) + 1 if case_id in line else 0
        order = [*line[at:], *line[:at]]
        return next((one for one in order if one not in labelled), None)
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


def _usual_criterion(store: Store, view: RunView, cases: RandomCases) -> str:
    """Return the criterion by which the first case would be labelled."""
    first = _next_id(cases.after())
    if first is None:
        return ""
    _, result = placed_case(store, view, first)
    return _criterion(result, _attempt(result, ""), "").id


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
    view: RunView,
    result: CaseResult,
    item: AttemptResult,
    criterion: Criterion,
    state: _State,
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
            (one.id, _address(run_id, case_id, one.id, item.attempt.index, state=state))
            for one in result.case.criteria
        ],
        "attempts": [
            (
                one.attempt.index,
                _address(run_id, case_id, criterion.id, one.attempt.index, state=state),
            )
            for one in result.attempts
        ],
        "action": _path(run_id),
        "whole": addresses.with_query(addresses.case_link(run_id, case_id), [("full", 1)]),
    }


def _address(
    run_id: str,
    case_id: str | None,
    criterion: str,
    index: int | None = None,
    *,
    state: _State,
) -> str | None:
    if case_id is None:
        return None
    parts: list[tuple[str, object]] = [("case", case_id), ("criterion", criterion)]
    return addresses.with_query(_path(run_id), [*parts, ("attempt", index), *state.pairs])


def _path(run_id: str) -> str:
    return f"{addresses.run_link(run_id)}/label"


_LABEL = "/runs/{run}/label"
_FORM = {
    "type": "object",
    "required": ["csrf", "mark", "case"],
    "properties": {
        "csrf": {"type": "string", "description": "the fields of the page's form"},
        "mark": {
            "type": "string",
            "description": "one of the page's marks, such as 1 or 0; undo: the last one goes;"
            " stay: only the name and the note are kept",
        },
        **{
            name: {"type": "string"}
            for name in ("case", "attempt", "criterion", "note", "author", "queue", "goal", "seen")
        },
        "on_case": {
            "type": "string",
            "description": "1 from the page of the case or a grid, where the verdict is seen; the"
            " mark may be note there",
        },
        "back": {"type": "string", "description": "the grid from which the label comes"},
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
                choice("queue", "which cases to offer", QUEUES),
                whole("goal", "how many labels are aimed at", 1),
                choice("seen", "1: labels count that were given after the verdict", ("", "1")),
                choice("text", "how the page shows texts; the object has them raw", CHOICES),
                text("last", "the case labelled before, to be told what the judge said of it"),
                *(
                    whole(name, "how many labels of a file were stored, for the page to say", 0)
                    for name in ("added", "unchanged", "empty")
                ),
            ],
        ),
    ),
]
