"""Results of cases, folded from the scores of each attempt and summed as the cases pass by."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from itertools import groupby
from typing import TYPE_CHECKING

from proctor.core.attempt import Attempt, AttemptStatus, token_count, used_by_candidate
from proctor.core.case_value import (
    Value,
    ValueStatus,
    error_value,
    null_value,
    stopped_value,
    value_of,
)
from proctor.core.fingerprint import is_plain, plain
from proctor.core.fold import Fold, fold, is_ragged, parse_fold
from proctor.core.run import CASES_PER_BLOCK, AttemptResult, CaseResult, Summary
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json, Suite
from proctor.engine.run.plain_cases import PlainBlock, PlainColumns, PlainShapes
from proctor.engine.run.totals import RunTotals
from proctor.io import json_bytes
from proctor.io.temporary_database import TemporaryDatabase
from proctor.records import dataclass, maker
from proctor.reports.reasons import full_marks, is_full
from proctor.stats.intervals import IntervalMethod
from proctor.store.rows import LinkedCase, ResultRow, SortKeys, reason_text, tag_text

if TYPE_CHECKING:
    from proctor.engine.run.measure_sums import RunMeasures


_NEAR = 1e-9
_ROWS = maker(ResultRow)
NO_SORT_KEYS = SortKeys()


def stored_score(score: Score) -> Score:
    """Return a score as the store would return it."""
    return score if is_plain(score.detail) else replace(score, detail=plain(score.detail))


def case_result(
    how: Fold, case: Case, attempts: Iterable[tuple[Attempt, Mapping[str, Score]]]
) -> CaseResult:
    """Compute the value of every attempt at a case, and fold them."""
    results = tuple(
        AttemptResult(attempt=attempt, scores=scores, value=attempt_value(case, attempt, scores))
        for attempt, scores in attempts
    )
    folded = fold(how, [result.value for result in results])
    return CaseResult(case=case, attempts=results, folded=folded)


def attempt_value(case: Case, attempt: Attempt, scores: Mapping[str, Score]) -> Value:
    """Return the value of one attempt."""
    if attempt.status is AttemptStatus.UNANSWERED:
        return null_value(case)
    if attempt.status is AttemptStatus.ERROR:
        return error_value(case)
    if attempt.status is AttemptStatus.STOPPED:
        return stopped_value(case)
    return value_of(case, scores)


def fold_of(suite: Suite) -> Fold:
    """Return how a suite folds attempts."""
    return parse_fold(suite.reduce)


@dataclass
class BlockTotals:
    """Numbers of a run, summed block by block."""

    shares_of_value: bool = False
    interval: IntervalMethod = "bounded"
    _whole: RunTotals | None = None
    _block: RunTotals | None = None
    _number: int = -1
    _is_plain: bool = True
    """Whether all cases of the block were plain so far."""

    def add(self, position: int, result: CaseResult, *, ragged: bool = False) -> None:
        """Add one case; those of one block come one after the other."""
        self._opened(position // CASES_PER_BLOCK).add(result, ragged=ragged)
        self._is_plain = False

    def takes_plain(self, number: int) -> bool:
        """Tell whether plain cases may be added to a block at once: all before them were plain."""
        return self._is_plain or number != self._number

    def add_plain(self, number: int, cases: PlainBlock) -> None:
        """Add the next cases of a block at once, with the numbers of adding them one by one."""
        block = self._opened(number)
        if isinstance(cases.summed, PlainColumns):
            block.add_columns(cases.summed)
        else:
            block.add_plain(cases.summed)

    def _opened(self, number: int) -> RunTotals:
        """Return the sums of a block, to which nothing was added yet if it is another one."""
        if self._block is None or number != self._number:
            self._close()
            self._block, self._number, self._is_plain = self._empty(), number, True
        return self._block

    def add_block(self, block: RunTotals) -> None:
        """Add the next block, which was summed elsewhere."""
        self._close()
        if self._whole is None:
            self._whole = block
        else:
            self._whole.merge(block)

    def summary(self) -> Summary:
        """Return all numbers."""
        self._close()
        return (self._whole or self._empty()).summary()

    def _close(self) -> None:
        if self._block is not None:
            block, self._block = self._block, None
            self.add_block(block)

    def _empty(self) -> RunTotals:
        return RunTotals(shares_of_value=self.shares_of_value, interval=self.interval)


_COLUMNS = tuple(column.name for column in fields(ResultRow))


@dataclass(eq=False)
class RunSums:
    """Totals, measures and rows of a run, each fed with every case once."""

    suite: Suite
    """The suite without its cases."""
    interval: IntervalMethod = "bounded"
    hold: bool = False
    """Whether the results of all cases are kept in memory."""
    stored_results: Callable[[], Iterable[CaseResult]] | None = None
    """Reads the results of all cases from the store, for measures that are no sums."""
    _how: Fold = field(init=False)
    _shapes: PlainShapes = field(init=False)
    _waiting: list[LinkedCase] = field(default_factory=list)
    """All cases, if their results are kept."""
    _totals: BlockTotals = field(init=False)
    _rows: "_ResultSpool" = field(init=False)
    _measures: "RunMeasures | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._how = fold_of(self.suite)
        self._shapes = PlainShapes(self._how, self.suite.shares_of_value)
        self._totals = BlockTotals(
            shares_of_value=self.suite.shares_of_value, interval=self.interval
        )
        self._rows = _ResultSpool()
        if self.suite.measures:
            from proctor.engine.run.measure_sums import RunMeasures

            self._measures = RunMeasures(self.suite)
            self.hold |= self._measures.need_results and self.stored_results is None

    def add(self, block: Iterable[LinkedCase]) -> None:
        """Add the next cases, with all their scores."""
        for number, placed in groupby(block, lambda linked: linked.position // CASES_PER_BLOCK):
            cases = list(placed)
            if self.hold:
                self._waiting += cases
            plain = None
            if self._measures is None and self._totals.takes_plain(number):
                plain = self._shapes.block(cases)
            if plain is None:
                self._add_one_by_one(cases)
                continue
            self._totals.add_plain(number, plain)
            for linked, value in zip(cases, plain.values, strict=True):
                self._rows.append(self._plain_row(linked, value))

    def _add_one_by_one(self, cases: Iterable[LinkedCase]) -> None:
        placed = []
        for linked in cases:
            result = case_result(self._how, linked.case, linked.attempts)
            ragged = is_ragged(self._how, [attempt.value for attempt in result.attempts])
            self._totals.add(linked.position, result, ragged=ragged)
            self._rows.append(result_row(linked.position, result, sort_keys(result)))
            placed.append((linked.position, result))
        if self._measures is not None:
            self._measures.add(placed)

    def _plain_row(self, linked: LinkedCase, value: float) -> ResultRow:
        """Return the row of a plain case, which is that of its result."""
        case, (attempt, _) = linked.case, linked.attempts[0]
        reason = None
        if not is_full(value, case):
            reason = _first_reason(case_result(self._how, case, linked.attempts))
        return _ROWS.make(
            position=linked.position,
            case_id=case.id,
            status=ValueStatus.SCORED,
            value=value,
            full=case.full_score,
            weight=case.weight,
            low=value,
            high=value,
            spread=0.0,
            tags=case.tags,
            sort_keys=SortKeys(
                attempts=1,
                seconds=None if attempt.seconds is None else total([attempt.seconds]),
                question_length=len(case.prompt) or None,
                answer_length=len(attempt.output) or None,
                reason=reason,
                tag_text=tag_text(case.tags) if case.tags else None,
            ),
        )

    def results(self) -> Iterator[CaseResult]:
        """Yield the results of all cases, which are kept."""
        return (case_result(self._how, one.case, one.attempts) for one in self._waiting)

    def rows(self) -> Iterator[ResultRow]:
        """Yield the result row of each case."""
        return iter(self._rows)

    def summary(self) -> Summary:
        """Return all numbers."""
        return replace(
            self._totals.summary(),
            measures={} if self._measures is None else self._measures.measured(self._all_results),
            clustered_by=self.suite.cluster,
        )

    def _all_results(self) -> Iterable[CaseResult]:
        if self.hold or self.stored_results is None:
            return self.results()
        return self.stored_results()


def result_row(position: int, result: CaseResult, keys: SortKeys = NO_SORT_KEYS) -> ResultRow:
    """Return what a case came to, without details."""
    case, folded = result.case, result.folded
    return ResultRow(
        position=position,
        case_id=case.id,
        status=folded.status if folded.value is not None else _why_not(folded.status),
        value=folded.value,
        full=case.full_score,
        weight=case.weight,
        low=folded.low,
        high=folded.high,
        spread=folded.spread,
        tags=case.tags,
        cluster=case.cluster,
        sort_keys=keys,
    )


def _why_not(status: ValueStatus) -> ValueStatus:
    own_statuses = (ValueStatus.ERROR, ValueStatus.SHOWN)
    return status if status in own_statuses else ValueStatus.UNSCORED


def sort_keys(result: CaseResult) -> SortKeys:
    """Return what a case can be sorted by."""
    attempts = [item.attempt for item in result.attempts]
    used = [used_by_candidate(attempt) for attempt in attempts if attempt.usage]
    question = next((m.content for m in reversed(result.case.messages) if m.role == "user"), "")
    tokens = total(map(token_count, used))
    return SortKeys(
        attempts=len(attempts),
        tokens=None if tokens is None else int(tokens),
        seconds=total(attempt.seconds for attempt in attempts),
        cost=total(usage.get("cost") for usage in used),
        question_length=len(question) or None,
        answer_length=max((len(attempt.output) for attempt in attempts), default=0) or None,
        reason=None if full_marks(result) else _first_reason(result),
        tag_text=tag_text(result.case.tags) if result.case.tags else None,
    )


def total(numbers: Iterable[Json]) -> float | None:
    """Return the sum of what is a number; None where nothing is."""
    own = [number for number in numbers if type(number) in (int, float)]
    return sum(own) if own else None


def _first_reason(result: CaseResult) -> str | None:
    """Return which criterion lacks points and why, or why there is no answer, of one attempt."""
    for item in result.attempts:
        if item.attempt.status is not AttemptStatus.ANSWERED:
            return reason_text("", item.attempt.error or item.attempt.status.value)
        for criterion in result.case.criteria:
            score = item.scores.get(criterion.id)
            if score is not None and _lacks(criterion, score):
                return reason_text(criterion.id, score.reason)
    return None


def _lacks(criterion: Criterion, score: Score) -> bool:
    if score.status is ScoreStatus.FAILED:
        return True
    if score.points is None or score.out_of is None:
        return False
    if criterion.weight < 0:
        return score.points > _NEAR
    return score.points < score.out_of - _NEAR


class _ResultSpool:
    """Rows in order: a few in memory, many in a temporary database."""

    most: int = 5_000

    def __init__(self) -> None:
        self._in_memory: list[ResultRow] = []
        self._database: TemporaryDatabase | None = None

    def append(self, row: ResultRow) -> None:
        self._in_memory.append(row)
        if len(self._in_memory) > self.most:
            self._spill()

    def __iter__(self) -> Iterator[ResultRow]:
        if self._database is not None:
            query = "SELECT data FROM results ORDER BY place"
            for (data,) in self._database.rows(query):
                values = dict(zip(_COLUMNS, json_bytes.loads(data), strict=True))
                tags = {tag: tuple(names) for tag, names in values["tags"].items()}
                status = ValueStatus(values["status"])
                keys = SortKeys(*values["sort_keys"])
                yield ResultRow(**{**values, "status": status, "tags": tags, "sort_keys": keys})
        yield from self._in_memory

    def _spill(self) -> None:
        if self._database is None:
            self._database = TemporaryDatabase(
                "CREATE TABLE results (place INTEGER PRIMARY KEY, data BLOB NOT NULL)"
            )
        self._database.change_many(
            "INSERT INTO results (data) VALUES (?)",
            ([json_bytes.dumps([plain(getattr(row, name)) for name in _COLUMNS])]
             for row in self._in_memory),
        )  # fmt: skip
        self._in_memory.clear()
