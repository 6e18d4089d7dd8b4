"""The numbers of a run: summed up from its cases as they pass by, in their order."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace

from proctor import registry
from proctor.contracts.measure import Measure
from proctor.core.fingerprint import plain
from proctor.core.run import CaseResult, Measured, Summary
from proctor.core.score import ValueStatus
from proctor.core.suite import Spec, Suite
from proctor.engine.run.aggregate import RunTotals, case_result, fold_of
from proctor.io import json_bytes
from proctor.io.temporary_database import TemporaryDatabase
from proctor.store.rows import LinkedCase, ResultRow

_COLUMNS = tuple(column.name for column in fields(ResultRow))
_AHEAD = 1
"""How many batches a measure may be behind."""


@dataclass(eq=False)
class RunSums:
    """Totals, measures and rows of a run, each fed with every case once."""

    suite: Suite
    """The suite without its cases."""
    interval: str = "t"
    hold: bool = False
    """Whether the results of all cases are kept, for whoever wants to see them."""
    results: list[CaseResult] = field(default_factory=list)
    _totals: RunTotals = field(init=False)
    _rows: "_ResultSpool" = field(init=False)
    _measures: "list[_MeasureFeed]" = field(init=False)

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
        """Take in the next cases, with all their scores."""
        how = fold_of(self.suite)
        results = []
        for linked in block:
            result = case_result(how, linked.case, linked.attempts)
            self._totals.add(result)
            self._rows.append(_row(linked.position, result))
            results.append(result)
        for feed in self._measures:
            feed.add(results)
        if self.hold:
            self.results += results

    def rows(self) -> Iterator[ResultRow]:
        """Yield what tables keep of each case."""
        return iter(self._rows)

    def summary(self) -> Summary:
        """Return all numbers."""
        measures = {feed.label: feed.measured() for feed in self._measures}
        return replace(self._totals.summary(), measures=measures)


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
    )


def _why_not(status: ValueStatus) -> ValueStatus:
    kept = (ValueStatus.ERROR, ValueStatus.SHOWN)
    return status if status in kept else ValueStatus.UNSCORED


class _ResultSpool:
    """Rows in their order: a few in memory, many in a temporary database."""

    most: int = 5_000

    def __init__(self) -> None:
        self._held: list[ResultRow] = []
        self._database: TemporaryDatabase | None = None

    def append(self, row: ResultRow) -> None:
        self._held.append(row)
        if len(self._held) > self.most:
            self._spill()

    def __iter__(self) -> Iterator[ResultRow]:
        if self._database is not None:
            query = "SELECT data FROM results ORDER BY place"
            for (data,) in self._database.rows(query):
                values = dict(zip(_COLUMNS, json_bytes.loads(data), strict=True))
                tags = {tag: tuple(names) for tag, names in values["tags"].items()}
                status = ValueStatus(values["status"])
                yield ResultRow(**{**values, "status": status, "tags": tags})
        yield from self._held

    def _spill(self) -> None:
        if self._database is None:
            self._database = TemporaryDatabase(
                "CREATE TABLE results (place INTEGER PRIMARY KEY, data BLOB NOT NULL)"
            )
        self._database.change_many(
            "INSERT INTO results (data) VALUES (?)",
            ([json_bytes.dumps([plain(getattr(row, name)) for name in _COLUMNS])]
             for row in self._held),
        )  # fmt: skip
        self._held.clear()


_Batch = Sequence[CaseResult]


@dataclass(eq=False)
class _MeasureFeed:
    """A measure that is given the cases of a run as they pass by.

    A measure draws them from an iterator, so each has a thread of its own to wait in.
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
        """Say that there are no more cases, and wait for the measure to end."""
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
    """Name a measure; where a suite has several of one name, their parameters tell them apart."""
    if own := registry.build("measure", spec).label:
        return str(own)
    if sum(other.name == spec.name for other in suite.measures) < 2:
        return spec.name
    shown = ", ".join(f"{name}={value}" for name, value in spec.params.items())
    return f"{spec.name}({shown})"
