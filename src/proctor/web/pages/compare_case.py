"""One case in several runs: attempts side by side, with their differences marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import Field
from starlette.exceptions import HTTPException

from proctor.contracts.report import RunView
from proctor.core.run import AttemptResult, CaseResult, Run
from proctor.core.suite import Criterion
from proctor.engine.run.stored_view import placed_case, view_of
from proctor.errors import StoreError
from proctor.store.queries import START, PairCursor, PairQuery
from proctor.store.rows import Change
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.response import Named, ResponseModel, ValueState
from proctor.web.highlight import Piece, compared, pieces
from proctor.web.pages.case_models import Pieces, TextPiece

DIFFERENT = "different"
"""The cases that got better or worse."""
CHANGES: tuple[Change, ...] = ("better", "worse")
MODE, RENDERED = "answers", "rendered"
"""The part of the address of a case that shows answers rendered."""
MOST_ATTEMPTS = 16
"""How many attempts of one run are shown; the page of the case itself has all."""


class ComparedReason(ResponseModel):
    """The score of one criterion on an attempt, with its reason."""

    id: str
    points: float | None
    out_of: float | None
    why: str
    penalty: bool = Field(description="whether the points are taken away")


class ComparedAttempt(ResponseModel):
    """An attempt of one run at the case."""

    index: int
    value: float | None
    status: ValueState
    error: str
    output: str
    shown: Pieces
    reasons: list[ComparedReason]


class ComparedSide(ResponseModel):
    """The attempts of one run at the case."""

    run: Named
    link: str
    there: bool
    first: bool
    value: float | None
    status: ValueState | None
    full: float | None
    attempts: list[ComparedAttempt]
    more: int


class ComparedQuestion(ResponseModel):
    """The question of a case, cut into pieces for the page."""

    id: str
    prompt: Pieces
    tags: list[tuple[str, str]]


class ComparedCase(ResponseModel):
    """One case in all compared runs."""

    case: ComparedQuestion
    references: list[str]
    sides: list[ComparedSide]
    before: str | None
    after: str | None
    overview: str


@dataclass(frozen=True)
class ComparedList:
    """The list of a comparison that a case is opened from."""

    path: str
    state: Sequence[tuple[str, object]]
    """What the address of the comparison says, of runs and how they are compared."""
    kind: str
    pairs: PairQuery
    rendered: bool = False
    """Whether the page of a case shows answers rendered, without the words that differ."""
    page: Sequence[tuple[str, object]] = ()
    """Which page of the list it was opened from."""

    def link(self, *more: tuple[str, object]) -> str:
        """Return an address that keeps the list."""
        filters = [("kind", self.kind), ("q", self.pairs.search), ("where", self.pairs.where)]
        mode = [(MODE, RENDERED)] if self.rendered and more else []
        return addresses.with_query(self.path, [*self.state, *filters, *self.page, *more, *mode])


def page_parts(after: PairCursor) -> list[tuple[str, object]]:
    """Return the query parameters of the page of a list that begins there."""
    if after == START:
        return []
    return [("after", after.position), ("same", "1" if after.same else "")]


def case_beside(
    store: Store, runs: Sequence[str], case_id: str, case_list: ComparedList
) -> ComparedCase:
    """Lay out one case in several runs side by side, each compared with the first."""
    views = [view_of(store, reference) for reference in runs]
    placed = [_placed(store, view, case_id) for view in views]
    if placed[0] is None:
        raise HTTPException(404, f"the run {views[0].run.name!r} has no case {case_id!r}")
    place, first = placed[0]
    results = [None if one is None else one[1] for one in placed]
    around = _around(store, (views[0].run, views[1].run), place, case_list)
    before, after = (None if near is None else case_list.link(("case", near)) for near in around)
    return ComparedCase(
        case=ComparedQuestion(
            id=case_id,
            prompt=_pieces(pieces(first.case.prompt)),
            tags=[(name, ", ".join(values)) for name, values in first.case.tags.items()],
        ),
        references=list(first.case.references),
        sides=[_side(view, result, results) for view, result in zip(views, results, strict=True)],
        before=before,
        after=after,
        overview=f"{case_list.link()}#{addresses.row_id(case_id)}",
    )


def ways_to_read(case_list: ComparedList, beside: ComparedCase) -> dict[str, Any]:
    """Return the two addresses of a case: with answers rendered, and with words that differ."""
    of_case = ("case", beside.case.id)
    return {
        "rendered": case_list.rendered,
        "rendered_link": replace(case_list, rendered=True).link(of_case),
        "differences_link": replace(case_list, rendered=False).link(of_case),
        "most_attempts": max((len(side.attempts) for side in beside.sides), default=0),
    }


def _around(
    store: Store, runs: tuple[Run, Run], place: int, case_list: ComparedList
) -> tuple[str | None, str | None]:
    """Return the cases before and after one, of its list; ``different`` is any change."""
    kind, pairs = case_list.kind, case_list.pairs
    if pairs.search or pairs.where:
        moved_only = kind == DIFFERENT
        return store.paired_listing.around(*runs, pairs, place, moved_only=moved_only)
    if kind != DIFFERENT:
        return store.pairs.neighbours(*runs, place, cast("Change", kind) if kind else None)
    around = [store.pairs.neighbours(*runs, place, change) for change in CHANGES]
    ids = {near for pair in around for near in pair if near is not None}
    places = store.criterion_points.places(runs[0].id, ids)
    before = [pair[0] for pair in around if pair[0] is not None]
    after = [pair[1] for pair in around if pair[1] is not None]
    return (
        max(before, key=lambda near: places.get(near, -1), default=None),
        min(after, key=lambda near: places.get(near, 1 << 62), default=None),
    )


def _placed(store: Store, view: RunView, case_id: str) -> tuple[int, CaseResult] | None:
    try:
        return placed_case(store, view, case_id)
    except StoreError:
        return None


def _side(
    view: RunView, result: CaseResult | None, results: Sequence[CaseResult | None]
) -> ComparedSide:
    case_id = next(one.case.id for one in results if one is not None)
    # The first is compared with the second, every other one with the first.
    is_first = result is results[0]
    other = next((one for one in results[1:] if one is not None), None) if is_first else results[0]
    attempts = result.attempts if result is not None else ()
    return ComparedSide(
        run=Named.of(view.run),
        link=addresses.case_link(view.run.id, case_id),
        there=result is not None,
        first=is_first,
        value=result.folded.value if result else None,
        status=result.folded.status if result else None,
        full=result.case.full_score if result else None,
        attempts=[
            _attempt(result, item, other, is_first=is_first)
            for item in attempts[:MOST_ATTEMPTS]
            if result is not None
        ],
        more=max(0, len(attempts) - MOST_ATTEMPTS),
    )


def _attempt(
    result: CaseResult, item: AttemptResult, other: CaseResult | None, *, is_first: bool
) -> ComparedAttempt:
    """Lay out an attempt, compared with the other run's attempt of that number, or its first."""
    output, against = item.attempt.output, _same(other, item.attempt.index)
    if against is None:
        shown = pieces(output)
    elif is_first:
        shown = compared(output, against)[0]
    else:
        shown = compared(against, output)[1]
    return ComparedAttempt(
        index=item.attempt.index,
        value=item.value.value,
        status=item.value.status,
        error=item.attempt.error,
        output=output,
        shown=_pieces(shown),
        reasons=[
            _reason(item, criterion)
            for criterion in result.case.criteria
            if criterion.id in item.scores
        ],
    )


def _pieces(cut: Sequence[Piece]) -> Pieces:
    return [TextPiece(**piece) for piece in cut]


def _same(other: CaseResult | None, index: int) -> str | None:
    if other is None or not other.attempts:
        return None
    by_index: Mapping[int, AttemptResult] = {one.attempt.index: one for one in other.attempts}
    return by_index.get(index, other.attempts[0]).attempt.output


def _reason(item: AttemptResult, criterion: Criterion) -> ComparedReason:
    score = item.scores[criterion.id]
    return ComparedReason(
        id=criterion.id,
        points=score.points,
        out_of=score.out_of,
        why=score.reason,
        penalty=criterion.weight < 0,
    )
