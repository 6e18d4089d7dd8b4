"""The list of a run's cases: its state in the address, its rows, and the way from case to case."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from keyword import iskeyword
from typing import Any, Literal, cast, get_args

from pydantic import Field
from starlette.requests import Request

from proctor.core.case_value import ValueStatus
from proctor.core.prompt import as_asked
from proctor.core.run import AttemptResult, CaseResult, Run
from proctor.engine.run.aggregate import case_result, fold_of, sort_keys
from proctor.engine.run.totals import UsageSums
from proctor.errors import StoreError, UsageError
from proctor.reports.reasons import cause_of_case, reasons
from proctor.reports.structured import tag_object
from proctor.store.queries import (
    FAILED,
    MOST_COUNTED,
    TEXT_SORTS,
    Cursor,
    KindCounts,
    ListingQuery,
    Sort,
)
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.addresses import case_link, one_of, run_link, with_query
from proctor.web.api.response import ResponseModel, Tag, ValueState
from proctor.web.pages.criterion_cells import (
    PREFIX,
    CriterionCell,
    cells_of,
    criterion_of,
    penalties_in,
)
from proctor.web.store_pool import stamp, store_pool_of

SORTS: tuple[Sort, ...] = get_args(Sort)
UNSTEADY = "spread > 0"
"""The filter for cases whose attempts came to different scores."""
DOWN_FIRST = frozenset(("question", "answer", "tokens", "seconds", "cost", "attempts"))
"""Orders whose first direction is down: what is long, slow or dear comes first."""
STATUSES = ("", FAILED, *(status.value for status in ValueStatus))
COLUMNS = (
    *("question", "answer", "reason", "tokens", "seconds", "tags", "state", "position"),
    *("cost", "judge_cost", "attempts", "reference"),
)
USUAL = COLUMNS[:5]
SIZE, MOST = 50, 500
MOST_VALUES = 50
"""How many values of a tag have an address of their own."""
LONGEST = 400
"""How many characters of a text stand in a row."""
_NO_CURSOR = "after must be a cursor from a link to the next page"
BEFORE = 5
"""How many cases stand before the one that a reader comes back to, on a later page."""
STATE = ("where", "q", "status", "sort", "order", "column")
"""What an address says of the list; `after` says where a page of it begins."""


class ListedCase(ResponseModel):
    """The result of a case in a list."""

    id: str
    position: int
    status: ValueState
    value: float | None
    full: float
    low: float
    high: float
    spread: float
    tags: dict[str, Tag]
    question: str = Field("", description="the beginning of what was asked")
    answer: str = Field("", description="the beginning of the answer, of the worst attempt")
    reference: str = Field("", description="the beginning of the references, one after the other")
    reason: str = Field("", description="the first reason why it has less than its full score")
    criteria: dict[str, CriterionCell] = Field(
        default_factory=dict, description="what each criterion gave it, over its attempts"
    )
    cause: str = Field("", description="whose fault it is that it has no value")
    attempts: int = 0
    attempt_values: list[float | None] = Field(
        default_factory=list, description="what each attempt is worth; null where that is unknown"
    )
    tokens: int | None = Field(None, description="of the candidate, in all attempts")
    seconds: float | None = Field(None, description="of the candidate, in all attempts")
    cost: float | None = Field(None, description="of the candidate, in all attempts")
    judge_cost: float | None = Field(None, description="of judges, for all attempts")


class RunAsked(ResponseModel):
    """The filters and order of the list of cases."""

    where: str
    q: str
    status: str
    sort: str
    order: Literal["up", "down"]
    after: str
    columns: list[str]


class ListCounts(ResponseModel):
    """How many cases a list has, and how many there are of each kind."""

    cases: int
    failed: int
    unscored: int
    unanswered: int
    error: int
    unsteady: int | None = Field(
        description="whose attempts came to different scores; null where the run is too large"
    )
    listed: int | None = Field(description="cases that match; null where more than are counted")


@dataclass(frozen=True)
class CaseList:
    """The list that an address asks for."""

    run: Run
    query: ListingQuery
    columns: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    """What the address says of the list."""
    after: str = ""

    @classmethod
    def of(cls, request: Request, run: Run) -> "CaseList":
        """Read the list that an address asks for; raise a UsageError where it makes no sense."""
        params = request.query_params
        chosen = tuple(name for name in params.getlist("column") if name)
        if any(name not in COLUMNS and not criterion_of(name) for name in chosen):
            raise UsageError(f"column must be one of: {', '.join(COLUMNS)}, {PREFIX}NAME")
        criterion = criterion_of(params.get("sort", ""))
        query = ListingQuery(
            where=params.get("where", "").strip(),
            search=params.get("q", "").strip(),
            status=one_of(request, "status", STATUSES),
            sort="position" if criterion else cast(Sort, one_of(request, "sort", SORTS)),
            criterion=criterion,
            descending=one_of(request, "order", ("up", "down")) == "down",
            after=read_cursor(params.get("after", "")),
        )
        _check_cursor(query)
        pairs = tuple(
            (name, value) for name, value in params.multi_items() if name in STATE and value
        )
        return cls(run, query, chosen or USUAL, pairs, params.get("after", ""))

    def over(self, store: Store) -> "CaseList":
        """Return the list with what its expression needs to know of the run's criteria."""
        penalties = penalties_in(store, self.run, self.query.where)
        return replace(self, query=replace(self.query, penalties=penalties))

    @property
    def order(self) -> str:
        """What the list is sorted by, as the address says it."""
        return f"{PREFIX}{self.query.criterion}" if self.query.criterion else self.query.sort

    def filters(self) -> RunAsked:
        """Return the filters and order as the response says them."""
        return RunAsked(
            where=self.query.where,
            q=self.query.search,
            status=self.query.status,
            sort=self.order,
            order="down" if self.query.descending else "up",
            after=self.after,
            columns=list(self.columns),
        )

    def link(self, *changes: tuple[str, object], after: str = "") -> str:
        """Return the address of the list with some changes, from its beginning."""
        names = {name for name, _ in changes}
        kept = [pair for pair in self.pairs if pair[0] not in names]
        pairs: list[tuple[str, object]] = [*kept, *changes, ("after", after)]
        return with_query(run_link(self.run.id), pairs)

    def sorted_by(self, sort: str) -> str:
        """Return the address of the list in another order; the current one is turned round."""
        down = sort in DOWN_FIRST if sort != self.order else not self.query.descending
        return self.link(("sort", sort), ("order", "down" if down else "")) + "#cases"

    def next_page(self, store: Store, last: ResultRow) -> str:
        """Return the address of the page after a row."""
        return self.link(after=self._cursor(store, last.position)) + "#cases"

    def case(self, case_id: str) -> str:
        """Return the address of a case, as one of this list."""
        address = case_link(self.run.id, case_id)
        query = with_query("", self.pairs)
        return address + (query.replace("?", "&", 1) if "?" in address else query)

    @property
    def label_action(self) -> str:
        """Where labels are sent from the page of a case, so that they lead back to this list."""
        return with_query(f"{run_link(self.run.id)}/label", self.pairs)

    def around(self, store: Store, position: int) -> "Around":
        """Find the cases before and after one, and its number in the list."""
        here = store.listing.cursor(self.run.id, self.query.sort, position)
        ahead = replace(self.query, after=here)
        back = replace(ahead, backward=True)
        following = store.listing.page(self.run.id, ahead, 1)
        preceding = store.listing.page(self.run.id, back, BEFORE + 1)
        if self.query.filters or self.order != "position":
            number = store.listing.count(self.run.id, back) + 1
        else:
            rows = store.results.last_position(self.run.id)
            number = rows - position + 1 if self.query.descending else position + 1
        first = preceding[-1] if len(preceding) > BEFORE else None
        failures: list[str | None] = [None, None]
        if not self.query.status:
            failures = [store.listing.next_failure(self.run.id, way) for way in (back, ahead)]
        after = self._cursor(store, first.position) if first and number > SIZE else ""
        return Around(
            before=self.case(preceding[0].case_id) if preceding else None,
            after=self.case(following[0].case_id) if following else None,
            failures=[None if one is None else self.case(one) for one in failures],
            number=number if number <= MOST_COUNTED else None,
            back=f"{self.link(after=after)}#p{position}",
        )

    def _cursor(self, store: Store, position: int) -> str:
        cursor = store.listing.cursor(self.run.id, self.query.sort, position)
        return json.dumps(cursor, separators=(",", ":"))


@dataclass(frozen=True)
class Around:
    """What is around a case in a list."""

    before: str | None
    after: str | None
    failures: Sequence[str | None]
    """The one before and the one after that are below their full score, among those near."""
    number: int | None
    """Which of the list it is, from 1; none where it is beyond what is counted."""
    back: str
    """The address of the list, at the row of the case."""


def read_cursor(text: str) -> Cursor | None:
    """Parse the cursor that a page begins after."""
    if not text:
        return None
    try:
        key, position = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UsageError(_NO_CURSOR) from None
    good = isinstance(key, str | float | int | None) and not isinstance(key, bool)
    if not good or type(position) is not int or abs(position) >= 1 << 31:
        raise UsageError(_NO_CURSOR)
    return Cursor(float(key) if isinstance(key, int) else key, position)


def _check_cursor(query: ListingQuery) -> None:
    """Raise a UsageError for a cursor that is none of a list in this order."""
    if query.after is None or query.after.key is None or query.sort == "position":
        return
    if isinstance(query.after.key, str) != (query.sort in TEXT_SORTS):
        raise UsageError(_NO_CURSOR)


def counts_of(request: Request, store: Store, case_list: CaseList) -> ListCounts:
    """Count the cases of each kind, and those of the list; of a finished run once."""
    run, query = case_list.run, replace(case_list.query, after=None)
    key = stamp([run])

    def kinds() -> KindCounts:
        return store.listing.kinds(run.id)

    cache = store_pool_of(request).page_cache
    counts = kinds() if key is None else cache.of(("kinds", key), kinds)
    listed: int | None = counts.cases
    if query.status and not query.where and not query.search:
        listed = counts.failed if query.status == FAILED else counts.by_status.get(query.status, 0)
    elif query.filters:
        counted = store.listing.count(run.id, query)
        listed = counted if counted <= MOST_COUNTED else None
    several = int(run.settings.get("attempts") or 1) > 1

    def differing() -> int | None:
        if not several or counts.cases > MOST_COUNTED:
            return None if several else 0
        return store.listing.count(run.id, ListingQuery(where=UNSTEADY))

    unsteady = differing() if key is None else cache.of(("unsteady", key), differing)
    return ListCounts(
        cases=counts.cases,
        failed=counts.failed,
        unsteady=unsteady,
        listed=listed,
        **{name: counts.by_status.get(name, 0) for name in ("unscored", "unanswered", "error")},
    )


def rows_with_texts(store: Store, run: Run, rows: Sequence[ResultRow]) -> list[ListedCase]:
    """Return rows of the list with what was asked, answered and wrong."""
    results: dict[int, CaseResult] = {}
    try:
        how = fold_of(store.suites.header(run.suite_key))
        for linked in store.attempts.cases_at(run.id, [row.position for row in rows]):
            results[linked.position] = case_result(how, linked.case, linked.attempts)
    except StoreError:
        # What is known of the rows is shown even where the suite cannot be read.
        results = {}
    return [_listed(run, row, results.get(row.position)) for row in rows]


def listed_result(run: Run, position: int, result: CaseResult) -> ListedCase:
    """Return a row for a case that has no stored result yet."""
    folded, case = result.folded, result.case
    row = ResultRow(
        position=position,
        case_id=case.id,
        status=folded.status,
        value=folded.value,
        full=case.full_score,
        weight=case.weight,
        low=folded.low,
        high=folded.high,
        spread=folded.spread,
        tags=case.tags,
    )
    return _listed(run, row, result)


def _listed(run: Run, row: ResultRow, result: CaseResult | None) -> ListedCase:
    return ListedCase(
        id=row.case_id,
        position=row.position,
        status="broken" if row.broken else row.status,
        value=row.value,
        full=row.full,
        low=row.low,
        high=row.high,
        spread=row.spread,
        tags={name: tag_object(values) for name, values in row.tags.items()},
        **({} if result is None else _texts(run, result)),
    )


def _texts(run: Run, result: CaseResult) -> dict[str, Any]:
    case = as_asked(result.case, run.candidate)
    questions = [message.content for message in case.messages if message.role == "user"]
    worst = min(result.attempts, key=_worth, default=None)
    keys = sort_keys(result)
    why = reasons(result)
    return {
        "question": _beginning(questions[-1] if questions else ""),
        "answer": _beginning(worst.attempt.output if worst is not None else ""),
        "reference": _beginning(" · ".join(case.references)),
        "reason": _beginning(why[0] if why else ""),
        "criteria": cells_of(result),
        "cause": cause_of_case(result) or "",
        "attempts": len(result.attempts),
        "attempt_values": [item.value.value for item in result.attempts],
        "tokens": keys.tokens,
        "seconds": keys.seconds,
        "cost": keys.cost,
        "judge_cost": _judge_cost(result),
    }


def _judge_cost(result: CaseResult) -> float | None:
    """Return what judging a case cost; none where no price is known."""
    used = UsageSums()
    used.add(result.attempts)
    judge = used.roles.get("judge")
    return None if judge is None else judge.cost


def _worth(item: AttemptResult) -> float:
    return float("-inf") if item.value.value is None else item.value.value


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def tag_links(
    case_list: CaseList, tags: Iterable[str], groups: Mapping[str, Mapping[str, object]]
) -> dict[str, dict[str, str]]:
    """Return addresses of the cases with each value of each tag that an expression can name."""
    return {
        tag: {
            value: case_list.link(("where", f"{tag} == {value!r}")) + "#cases"
            for value in islice(groups.get(tag, {}), MOST_VALUES)
        }
        if tag.isidentifier() and not iskeyword(tag)
        else {}
        for tag in tags
    }
