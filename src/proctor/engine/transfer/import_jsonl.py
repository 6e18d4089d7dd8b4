"""Import of exported runs: checked row by row, all or nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from proctor.contracts.case_spool import Keyed, SpooledCases
from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.comparison import Comparison
from proctor.core.encoding import (
    attempt_from,
    case_from,
    comparison_from,
    score_from,
    spec_from,
    suite_from,
)
from proctor.core.fingerprint import suite_key
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Suite
from proctor.engine.run.attempt_writer import BATCH, AttemptRow, AttemptWriter
from proctor.engine.run.evaluate import finish
from proctor.engine.transfer import imported_keys as quotations
from proctor.engine.transfer.rows import (
    FORMATS,
    CaseRow,
    ComparisonRow,
    HeadRow,
    ProofRow,
    checked,
    kind_of,
)
from proctor.errors import SuiteError
from proctor.io.concurrency import batched
from proctor.io.text_files import Document, file_error
from proctor.store.store import Store

ALIKE = 3
"""Number of notices of one kind that are shown individually."""


class Tried(NamedTuple):
    """An attempt of a file with its scores, and the file's keys of both."""

    place: int
    case: Case
    attempt: Attempt
    scores: Mapping[str, Score]
    key: str | None
    score_keys: Mapping[str, str] | None
    row: Document


@dataclass
class Taking(ABC):
    """Import of the runs of a file; the caller opens the transaction."""

    store: Store
    path: Path
    rows: Iterator[Document]

    def __post_init__(self) -> None:
        self.notices: list[str] = []
        self.name = ""
        """The name of the only run, where it is another than the file's."""
        self._ids: dict[str, str] = {}
        """What the runs of this file are called here, by what the file calls them."""

    def take_in(self) -> list[RunView]:
        """Import all runs of the file, then their comparisons."""
        views: list[RunView] = []
        row = next(self.rows, None)
        if row is None or kind_of(row) is not HeadRow or row.data["proctor"] not in FORMATS:
            message = "this is not a run that `proctor export` wrote"
            raise file_error(self.path, message, 1, 1, hint="export the run as .jsonl")
        while row is not None and kind_of(row) is HeadRow:
            view, row = self._run(row)
            views.append(view)
        self._compared(row)
        return views

    @abstractmethod
    def _named(self, exported: Run, head: Mapping[str, Json]) -> Run:
        """Return a run with its name here, or raise a SuiteError if it cannot be imported."""

    @abstractmethod
    def _case(self, case: Case) -> Case:
        """Return a case as it is stored."""

    @abstractmethod
    def _row(self, run_id: str, tried: Tried) -> AttemptRow:
        """Return an attempt with its scores, and their keys here."""

    @abstractmethod
    def _finished(self, exported: Run, view: RunView, suite: Suite) -> Run:
        """Return a summed-up run as it is stored."""

    @abstractmethod
    def _comparison(
        self, row: Mapping[str, Json], comparison: Comparison
    ) -> tuple[str, str, Comparison] | None:
        """Return a comparison as it is stored, or None if it is not imported."""

    def _run(self, head: Document) -> tuple[RunView, Document | None]:
        """Import one run; return it with the row after its last one."""
        if head.data["proctor"] not in FORMATS:
            hint = "pip install --upgrade proctor"
            message = f"the file is of format {head.data['proctor']!r}, which is not known here"
            raise file_error(self.path, message, head.row, 1, hint=hint)
        values = checked(head, HeadRow)
        exported = _run_from(values["run"])
        if exported.id in self._ids:
            raise file_error(self.path, f"the run {exported.id!r} occurs twice", head.row, 1)
        run = self._named(exported, values)
        self._ids[exported.id] = run.id
        writer = AttemptWriter(self.store, run.id)
        cases, row = self._cases(writer)
        if not len(cases):
            raise file_error(self.path, "a run without a case", head.row, 1)
        header = {name: value for name, value in values["suite"].items() if name != "cases"}
        suite = suite_from(header, cases)
        keyed = Keyed(suite.cases)
        run = replace(run, suite=suite.name, suite_key=suite_key(suite, keyed.keys()))
        self.store.suites.put(suite, run.suite_key, keyed, imported=run.imported)
        self.store.runs.save(run)
        view = finish(self.store, run, suite, None, rows=writer.rows)
        done = self._finished(exported, view, suite)
        self.store.runs.save(done)
        return replace(view, run=done), row

    def _cases(self, writer: AttemptWriter) -> tuple[Sequence[Case], Document | None]:
        cases, waiting = SpooledCases(), list[AttemptRow]()
        row = next(self.rows, None)
        while row is not None and kind_of(row) is CaseRow:
            values = checked(row, CaseRow)
            case = self._case(case_from(values["case"]))
            tried = self._tried(len(cases), case, values, row)
            waiting += (self._row(writer.run_id, one) for one in tried)
            cases.append(case)
            if len(waiting) >= BATCH:
                writer.write(waiting)
                waiting.clear()
            row = next(self.rows, None)
        writer.write(waiting)
        return cases.done(), row

    def _tried(
        self, place: int, case: Case, values: Mapping[str, Json], row: Document
    ) -> Iterator[Tried]:
        criteria = {criterion.id for criterion in case.criteria}
        seen: set[int] = set()
        for number, entry in enumerate(values["attempts"]):
            attempt = replace(attempt_from(entry["attempt"]), case_id=case.id)
            scores = {name: score_from(data) for name, data in entry.get("scores", {}).items()}
            loc = ("attempts", number)
            if attempt.index in seen:
                message = f"the attempt {attempt.index} occurs twice"
                raise SuiteError([row.problem(loc, message)])
            if unknown := sorted(scores.keys() - criteria):
                message = f"a score by {unknown[0]!r}, which is not a criterion of the case"
                raise SuiteError([row.problem((*loc, "scores"), message)])
            seen.add(attempt.index)
            keys = entry.get("score_keys")
            yield Tried(place, case, attempt, scores, entry.get("key"), keys, row)

    def _compared(self, row: Document | None) -> None:
        left_out = 0

        def comparisons(first: Document | None) -> Iterator[tuple[str, str, Comparison]]:
            nonlocal left_out
            row = first
            while row is not None and kind_of(row) is ComparisonRow:
                values = checked(row, ComparisonRow)
                put = self._comparison(values, comparison_from(values["comparison"]))
                if put is None:
                    left_out += 1
                else:
                    yield put
                row = next(self.rows, None)
            self._end(row)

        for batch in batched(comparisons(row), BATCH):
            self.store.comparisons.put(batch)
        if left_out:
            self.notices.append(
                f"left out {left_out} comparisons with runs that are not in the file"
            )

    def _end(self, row: Document | None) -> None:
        """Check that nothing follows but the proof."""
        if row is not None and kind_of(row) is ProofRow:
            checked(row, ProofRow)
            row = next(self.rows, None)
        if row is not None:
            message = "the file is damaged or of another version: this row has no place here"
            raise file_error(self.path, message, row.row, 1, hint="export the run again")


class Quoting(Taking):
    """Import of untrusted files: runs are marked as imported, and not found by key."""

    def _named(self, exported: Run, head: Mapping[str, Json]) -> Run:
        run_id = quotations.quoted_id(head["run"], head["suite"])
        if (stored_run := self.store.runs.find(run_id)) is not None:
            message = f"this run was imported before, as {stored_run.name!r} ({run_id})"
            hint = f"`proctor delete {run_id}` first, where it is to be read again"
            raise file_error(self.path, message, 1, 1, hint=hint)
        wanted = self.name or exported.name
        name = quotations.free_name(self.store, wanted)
        if name != wanted:
            self.notices.append(f"there is a run {wanted!r} already: this one is called {name}")
        return replace(exported, id=run_id, name=name, imported=True)

    def _case(self, case: Case) -> Case:
        return quotations.quoted_case(case)

    def _row(self, run_id: str, tried: Tried) -> AttemptRow:
        place, index = tried.place, tried.attempt.index
        return AttemptRow(
            position=place,
            index=index,
            case=tried.case,
            attempt=tried.attempt,
            key=quotations.attempt_key(run_id, place, index),
            score_keys={
                name: quotations.score_key(run_id, place, index, name) for name in tried.scores
            },
            scores=tried.scores,
        )

    def _finished(self, exported: Run, view: RunView, suite: Suite) -> Run:
        signature = quotations.quoted_signature(view.run, suite, view.summary)
        return replace(
            view.run, signature=signature, finished=exported.finished or view.run.finished
        )

    def _comparison(
        self, row: Mapping[str, Json], comparison: Comparison
    ) -> tuple[str, str, Comparison] | None:
        return quotations.quoted_comparison(comparison, self._ids)


class Restoring(Taking):
    """Import of this store's own files: everything is found by its original keys."""

    def _named(self, exported: Run, head: Mapping[str, Json]) -> Run:
        if (stored_run := self.store.runs.find(exported.id)) is not None:
            message = f"there is a run {exported.id!r} already, called {stored_run.name!r}"
            hint = f"`proctor delete {exported.id}` first, where it is to be replaced by this one"
            raise file_error(self.path, message, 1, 1, hint=hint)
        return exported

    def _case(self, case: Case) -> Case:
        return case

    def _row(self, run_id: str, tried: Tried) -> AttemptRow:
        keys = tried.score_keys
        if tried.key is None or keys is None or not tried.scores.keys() <= keys.keys():
            raise SuiteError([tried.row.problem((), "an attempt lacks its keys")])
        return AttemptRow(
            position=tried.place,
            index=tried.attempt.index,
            case=tried.case,
            attempt=tried.attempt,
            key=tried.key,
            score_keys=keys,
            scores=tried.scores,
        )

    def _finished(self, exported: Run, view: RunView, suite: Suite) -> Run:
        return replace(
            view.run,
            signature=exported.signature,
            finished=exported.finished,
            status=view.run.status if exported.status is RunStatus.RUNNING else exported.status,
        )

    def _comparison(
        self, row: Mapping[str, Json], comparison: Comparison
    ) -> tuple[str, str, Comparison] | None:
        return str(row["key"]), str(row["content"]), comparison


def _run_from(data: Mapping[str, Json]) -> Run:
    return Run(
        **{
            "suite": "",
            **data,
            "candidate": spec_from(data["candidate"]),
            "status": RunStatus(data.get("status", RunStatus.RUNNING)),
            "suite_key": "",
        }
    )
