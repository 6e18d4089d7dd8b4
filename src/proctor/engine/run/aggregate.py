"""The numbers of a run, summed from the scores of each attempt as the cases pass by."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import stdev
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from proctor import registry
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import (
    Value,
    ValueStatus,
    error_value,
    null_value,
    only_shown,
    stopped_value,
    value_of,
)
from proctor.core.exchange import Usage
from proctor.core.failures import FailureCounts
from proctor.core.fingerprint import plain
from proctor.core.fold import Fold, fold, is_ragged, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Group, Measured, Summary, Totals
from proctor.core.score import CONTAINED, EQUAL, REFERENCE, Score, ScoreStatus
from proctor.core.suite import Case, Json, Spec, Suite
from proctor.engine.run.metric_rows import metric_rows
from proctor.io import json_bytes
from proctor.io.temporary_database import TemporaryDatabase
from proctor.stats.clusters import ClusterSums, sums_for
from proctor.stats.intervals import SHARE, Interval, IntervalMethod, Scale
from proctor.store.rows import LinkedCase, ResultRow

if TYPE_CHECKING:
    from proctor.contracts.measure import Measure

METRIC = "metric"
ROLES = ("candidate", "judge", "simulator")
MAX_ROWS = 500
"""A tag with more values than this identifies single cases and is not broken down."""


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
class _CaseSums:
    """Sums of one row: values of cases, also per bucket of attempts."""

    method: IntervalMethod
    sums: ClusterSums = field(init=False)
    buckets: list[float] = field(default_factory=list)
    scale: Scale = SHARE

    def __post_init__(self) -> None:
        self.sums = sums_for(self.method)

    def add(self, worth: "_Worth") -> None:
        """Add one case; a missing bucket counts with the value of the case."""
        if worth.scale is not SHARE:
            self.scale = Scale.around(self.scale, worth.scale)
        value = worth.value
        for number, bucket in enumerate(worth.buckets):
            if number == len(self.buckets):
                self.buckets.append(self.sums.cases.value)
            self.buckets[number] += value if bucket is None else bucket
        for late in range(number + 1, len(self.buckets)):
            self.buckets[late] += value
        self.sums.add(value, worth.full, worth.cluster)

    def group(self) -> Group:
        """Return the row."""
        full = self.sums.cases.weight
        spread = stdev(self.buckets) / full if len(self.buckets) > 1 and full > 0 else None
        return Group(
            score=self.sums.cases.value,
            full=full,
            rate=self.sums.rate,
            spread=spread,
            interval=self.interval(),
            cases=self.sums.n,
            clusters=self.sums.clusters,
        )

    def interval(self) -> Interval | None:
        """Return the interval of the rate, on the scale that the cases lie on."""
        return self.sums.interval(self.scale, method="t" if self.method == "t" else "bounded")


class _Worth(NamedTuple):
    """What a case is worth in one row."""

    value: float
    full: float
    buckets: Sequence[float | None]
    """The value of each bucket of attempts."""
    scale: Scale
    cluster: str


@dataclass
class UsageSums:
    """Usage of a run's calls, by role."""

    roles: dict[str, Usage] = field(default_factory=dict)

    def add(self, results: Iterable[AttemptResult]) -> None:
        """Add the attempts at one case; a score that they share counts once."""
        judged: dict[int, Score] = {}
        for result in results:
            judged |= {id(score): score for score in result.scores.values()}
            for role, used in result.attempt.usage.items():
                if role in ROLES and isinstance(used, Mapping):
                    self._add(role, used)
        for score in judged.values():
            used = score.detail.get("usage") if isinstance(score.detail, Mapping) else None
            if isinstance(used, Mapping):
                self._add("judge", used)

    def total(self) -> dict[str, Json]:
        """Return the sums, in all and by role; empty if no model was called."""
        if not self.roles:
            return {}
        whole = sum(self.roles.values(), Usage())
        totals: dict[str, Json] = _counts(whole)
        totals["roles"] = {role: _counts(usage) for role, usage in self.roles.items()}
        return totals

    def _add(self, role: str, used: Mapping[str, Json]) -> None:
        self.roles[role] = self.roles.get(role, Usage()) + usage_from(used)


def usage_from(used: Json) -> Usage:
    """Decode a stored usage; zero if it is none."""
    usage_fields = used if isinstance(used, Mapping) else {}
    numbers = {f.name: usage_fields[f.name] for f in fields(Usage) if f.name in usage_fields}
    return Usage(**{name: one for name, one in numbers.items() if type(one) in (int, float)})


def _counts(usage: Usage) -> dict[str, Json]:
    return {f.name: getattr(usage, f.name) for f in fields(Usage)}


@dataclass
class _ReferenceCounts:
    """Counts of cases whose references no answer equals."""

    most: ClassVar[int] = 5
    compared: int = 0
    unmatched: int = 0
    contained: list[str] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        """Add one case that was compared with references."""
        relations = {
            score.detail[REFERENCE]
            for attempt in result.attempts
            for score in attempt.scores.values()
            if isinstance(score.detail, Mapping) and REFERENCE in score.detail
        }
        self.compared += bool(relations)
        if not relations or EQUAL in relations:
            return
        self.unmatched += 1
        if CONTAINED in relations and len(self.contained) < self.most:
            self.contained.append(result.case.id)

    def counts(self) -> dict[str, Json]:
        """Return the counts; empty if no case was compared."""
        if not self.compared:
            return {}
        return {
            "compared": self.compared,
            "unmatched": self.unmatched,
            "contained": list(self.contained),
        }


@dataclass
class _Failures:
    """Counts of why attempts are in error, unscored or unanswered."""

    counts: dict[ValueStatus, FailureCounts] = field(default_factory=dict)
    names: ClassVar[Mapping[ValueStatus, str]] = {
        ValueStatus.ERROR: "errors",
        ValueStatus.UNSCORED: "unscored",
        ValueStatus.UNANSWERED: "unanswered",
    }

    def add(self, result: CaseResult) -> None:
        """Add the attempts at one case, each with its first reason."""
        for item in result.attempts:
            status = item.value.status
            if status not in self.names:
                continue
            reason = item.attempt.error or _first_failure(result.case, item)
            if reason:
                self.counts.setdefault(status, FailureCounts()).add(reason)

    def rows(self) -> dict[str, Json]:
        """Return the most frequent reasons of each status."""
        return {self.names[status]: counts.most() for status, counts in self.counts.items()}


def _first_failure(case: Case, item: AttemptResult) -> str:
    for criterion in case.criteria:
        score = item.scores.get(criterion.id)
        matters = criterion.weight or only_shown(case)
        if matters and score is not None and score.status is ScoreStatus.FAILED:
            return score.reason
    return ""


@dataclass
class RunTotals:
    """Numbers of a run, added one case at a time."""

    shares_of_value: bool = False
    interval: IntervalMethod = "bounded"
    _total: _CaseSums = field(init=False)
    _groups: dict[str, dict[str, _CaseSums]] = field(default_factory=dict)
    _metrics: dict[str, _CaseSums] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _bounds: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    _usage: UsageSums = field(default_factory=UsageSums)
    _references: _ReferenceCounts = field(default_factory=_ReferenceCounts)
    _failures: _Failures = field(default_factory=_Failures)

    def __post_init__(self) -> None:
        self._total = self._sums()

    def add(self, result: CaseResult) -> None:
        """Add one case with all its attempts."""
        case, folded = result.case, result.folded
        self._count("cases")
        self._count("attempts", len(result.attempts))
        for attempt in result.attempts:
            self._count(attempt.value.status)
        self._usage.add(result.attempts)
        self._references.add(result)
        self._failures.add(result)
        if folded.status is not ValueStatus.ERROR and not only_shown(case):
            full = case.full_score * case.weight
            for place, end in enumerate(
                (folded.low * case.weight, folded.high * case.weight, full)
            ):
                self._bounds[place] += end
        if folded.value is None:
            self._count(f"cases {folded.status}")
            return
        value, full = folded.value * case.weight, case.full_score * case.weight
        buckets = [None if b is None else b * case.weight for b in folded.buckets]
        worth = _Worth(value, full, buckets, _scale_of(result), case.cluster)
        self._total.add(worth)
        for tag, names in case.tags.items():
            rows = self._groups.setdefault(tag, {})
            for name in names:
                if len(rows) <= MAX_ROWS:
                    rows.setdefault(name, self._sums()).add(worth)
        for row in metric_rows(result, shares_of_value=self.shares_of_value):
            sums = self._metrics.setdefault(row.label, self._sums())
            sums.add(_Worth(row.points, row.full, row.buckets, row.scale, case.cluster))

    def summary(self) -> Summary:
        """Return all numbers so far."""
        groups = {
            tag: {name: sums.group() for name, sums in rows.items()}
            for tag, rows in self._groups.items()
            if len(rows) <= MAX_ROWS
        }
        groups[METRIC] = {label: sums.group() for label, sums in self._metrics.items()}
        return Summary(
            totals=self._totals(),
            groups=groups,
            usage=self._usage.total(),
            references=self._references.counts(),
            failures=self._failures.rows(),
        )

    def _totals(self) -> Totals:
        group, counts = self._total.group(), self._counts
        unscored = counts.get(ValueStatus.UNSCORED, 0)
        low, high, full = self._bounds
        return Totals(
            score=group.score,
            full=group.full,
            rate=group.rate,
            spread=group.spread,
            interval=group.interval,
            cases=counts.get("cases", 0),
            clusters=group.clusters,
            attempts=counts.get("attempts", 0),
            unanswered=counts.get(ValueStatus.UNANSWERED, 0),
            unscored=unscored,
            errors=counts.get(ValueStatus.ERROR, 0),
            cases_unscored=counts.get(f"cases {ValueStatus.UNSCORED}", 0),
            bounds=(low / full, high / full) if unscored and full > 0 else None,
        )

    def _sums(self) -> _CaseSums:
        return _CaseSums(self.interval)

    def _count(self, what: str, by: int = 1) -> None:
        self._counts[what] = self._counts.get(what, 0) + by


def _scale_of(result: CaseResult) -> Scale:
    """Return the minimum and maximum value of a case, as shares of its full score."""
    full, folded = result.case.full_score, result.folded
    low, high = min(0.0, folded.least, result.case.null_score), full
    if folded.most is not None:
        high = max(full, folded.most)
    return SHARE if full <= 0 or (low == 0 and high == full) else Scale(low / full, high / full)


_COLUMNS = tuple(column.name for column in fields(ResultRow))
_AHEAD = 1
"""How many batches a measure may lag behind."""


@dataclass(eq=False)
class RunSums:
    """Totals, measures and rows of a run, each fed with every case once."""

    suite: Suite
    """The suite without its cases."""
    interval: IntervalMethod = "bounded"
    hold: bool = False
    """Whether the results of all cases are kept in memory."""
    results: list[CaseResult] = field(default_factory=list)
    _totals: RunTotals = field(init=False)
    _rows: "_ResultSpool" = field(init=False)
    _measures: "list[_MeasureFeed]" = field(init=False)
    _ragged: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._totals = RunTotals(shares_of_value=self.suite.shares_of_value, interval=self.interval)
        self._rows = _ResultSpool()
        self._measures = [_MeasureFeed.of(spec, self.suite) for spec in self.suite.measures]

    def __enter__(self) -> "RunSums":
        return self

    def __exit__(self, *_: object) -> None:
        for feed in self._measures:
            feed.close()

    def add(self, block: Iterable[LinkedCase]) -> None:
        """Add the next cases, with all their scores."""
        how = fold_of(self.suite)
        results = []
        for linked in block:
            result = case_result(how, linked.case, linked.attempts)
            self._totals.add(result)
            self._rows.append(_row(linked.position, result))
            self._ragged += is_ragged(how, [attempt.value for attempt in result.attempts])
            results.append(result)
        for feed in self._measures:
            feed.add(results)
        if self.hold:
            self.results += results

    def rows(self) -> Iterator[ResultRow]:
        """Yield the result row of each case."""
        return iter(self._rows)

    def summary(self) -> Summary:
        """Return all numbers."""
        measures = {feed.label: feed.measured() for feed in self._measures}
        return replace(
            self._totals.summary(),
            measures=measures,
            ragged=self._ragged,
            clustered_by=self.suite.cluster,
        )


def _row(position: int, result: CaseResult) -> ResultRow:
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
    )


def _why_not(status: ValueStatus) -> ValueStatus:
    own_statuses = (ValueStatus.ERROR, ValueStatus.SHOWN)
    return status if status in own_statuses else ValueStatus.UNSCORED


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
                yield ResultRow(**{**values, "status": status, "tags": tags})
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


_Batch = Sequence[CaseResult]


@dataclass(eq=False)
class _MeasureFeed:
    """A measure that receives the cases of a run as they pass by.

    A measure reads them from an iterator, so each waits in its own thread.
    """

    label: str
    measure: Callable[[Iterable[CaseResult]], Measured]
    _queue: "queue.Queue[_Batch | None]" = field(default_factory=lambda: queue.Queue(_AHEAD))
    _ended: bool = False
    _measured: Measured | None = None
    _error: BaseException | None = None
    _thread: threading.Thread = field(init=False)

    @classmethod
    def of(cls, spec: Spec, suite: Suite) -> "_MeasureFeed":
        measure: Measure = registry.build("measure", spec)
        return cls(measure_label(spec, suite), measure.measure)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name=self.label, daemon=True)
        self._thread.start()

    def add(self, batch: _Batch) -> None:
        self._queue.put(batch)

    def close(self) -> None:
        """Signal the end of the cases, and wait for the measure to finish."""
        if not self._ended:
            self._ended = True
            self._queue.put(None)
            self._thread.join()

    def measured(self) -> Measured:
        self.close()
        if self._error is not None:
            raise self._error
        assert self._measured is not None
        return self._measured

    def _run(self) -> None:
        results = self._results()
        try:
            self._measured = self.measure(results)
        except BaseException as error:  # noqa: BLE001 - it is raised where the number is wanted
            self._error = error
        for _ in results:  # a measure need not look at all cases
            pass

    def _results(self) -> Iterator[CaseResult]:
        while (batch := self._queue.get()) is not None:
            yield from batch


def measure_label(spec: Spec, suite: Suite) -> str:
    """Name a measure, with its parameters if a suite has several of one name."""
    if own := registry.build("measure", spec).label:
        return str(own)
    if sum(other.name == spec.name for other in suite.measures) < 2:
        return spec.name
    shown = ", ".join(f"{name}={value}" for name, value in spec.params.items())
    return f"{spec.name}({shown})"
