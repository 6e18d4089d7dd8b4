"""Runs as files: written whole, and read into another store."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from proctor import registry, source, wire
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.comparison import Comparison
from proctor.core.encoding import (
    attempt_from,
    case_from,
    comparison_from,
    score_from,
    spec_from,
    suite_from,
)
from proctor.core.fingerprint import answer_key, digest, plain, suite_key
from proctor.core.kept import Archive, KeptSuite
from proctor.core.run import CaseResult, Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Json, Spec, Suite
from proctor.engine.collect import BATCH, batched
from proctor.engine.evaluate import finish, view_of
from proctor.engine.given import keep, keep_new
from proctor.engine.scoring import Scorers
from proctor.engine.transfer_parquet import write_parquet
from proctor.errors import PluginError, Problem, SuiteError, UsageError
from proctor.reports.view import RunView
from proctor.spooled import Cases, Keyed
from proctor.store.rows import RunAttempt
from proctor.store.store import Store

FORMAT = 2
"""What is written: 2 may hold several runs, and comparisons."""
KNOWN = (1, FORMAT)

_Found = tuple[int, Case, Attempt, dict[str, Score]]


def write_runs(store: Store, references: Sequence[str], path: Path) -> int:
    """Write runs to a file, in the form its name asks for; return the number of rows."""
    writers: Mapping[str, Callable[[Store, Sequence[RunView], Path], int]] = {
        ".jsonl": _write_jsonl,
        ".parquet": write_parquet,
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise UsageError(f"{path}: a run is written as .html, {' or '.join(writers)}")
    views = [view_of(store, reference) for reference in references]
    if len({view.run.id for view in views}) < len(views):
        raise UsageError("a run is named twice")
    with in_place(path) as part:
        return writer(store, views, part)


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """Give the path to write to, which becomes the file only when all of it is there."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def read_runs(store: Store, path: Path) -> list[RunView]:
    """Read runs that were written as JSON Lines, with their battles, into a store."""
    rows = source.read_jsonl(path)
    head = next(rows, None)
    if head is None or not isinstance(head.data, dict) or head.data.get("proctor") not in KNOWN:
        wrong = source.Document(path=path, data=None, row=1)
        message = "this is not a run that `proctor export` wrote"
        raise SuiteError([wrong.problem((), message, hint="export the run as .jsonl")])
    try:
        return _Taking(store).take_in(chain([head], rows))
    except (KeyError, TypeError, ValueError) as error:
        wrong = source.Document(path=path, data=None, row=1)
        message = f"the file is damaged or of another version: {error!r}"
        raise SuiteError([wrong.problem((), message, hint="export the run again")]) from None


def read_folder(store: Store, path: Path) -> list[tuple[str, list[RunView]]]:
    """Read a folder that another tool keeps its suites and runs in; return them by suite."""
    return [(kept.suite.name, keep(store, kept)) for kept in _in_folder(path)]


def read_new(store: Store, path: Path) -> list[tuple[str, list[RunView], int]]:
    """Read what a folder of another tool has and the store has not.

    Return suites, each with its new runs and how many were there already.
    """
    return [(kept.suite.name, *keep_new(store, kept)) for kept in _in_folder(path)]


def _in_folder(path: Path) -> list[KeptSuite]:
    """Read all suites of a folder, so that nothing is stored where one of them is broken."""
    for name in registry.names("archive"):
        archive: Archive = registry.build("archive", Spec(name=name))
        if archive.recognises(path):
            return list(archive.read(path))
    message = "there is nothing here that can be imported"
    hint = "name a .jsonl file that `proctor export` wrote, or a folder of Arthur Bench"
    raise SuiteError([Problem(message=message, file=str(path), hint=hint)])


def _write_jsonl(store: Store, views: Sequence[RunView], path: Path) -> int:
    """Write each run as a line about itself and a line for each case; comparisons come last."""
    rows = 0
    with path.open("wb") as file:
        for view in views:
            head = {"proctor": FORMAT, "run": plain(view.run), "suite": plain(view.suite)}
            file.write(wire.dumps(head) + b"\n")
            for result in view.results():
                file.write(wire.dumps(_case_row(result)) + b"\n")
                rows += 1
        for key, content, found in store.comparisons_of([view.run.id for view in views]):
            row = {"comparison": plain(found), "key": key, "content": content}
            file.write(wire.dumps(row) + b"\n")
            rows += 1
    return rows


def _case_row(result: CaseResult) -> Json:
    return {
        "case": plain(result.case),
        "attempts": [
            {
                "attempt": plain(found.attempt),
                "scores": {name: plain(score) for name, score in found.scores.items()},
            }
            for found in result.attempts
        ],
    }


class _Taking:
    """Take runs into a store row by row, each whole or not at all."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.scorers = Scorers(allow_import=False)

    def take_in(self, rows: Iterator[source.Document]) -> list[RunView]:
        """Take in all runs of a file, then how they compare."""
        views = []
        row = next(rows, None)
        while row is not None and "proctor" in row.data:
            if row.data["proctor"] not in KNOWN:
                raise ValueError(f"format {row.data['proctor']!r}")
            with self.store.batch():
                run, suite, row = self._run(row.data, rows)
            views.append(finish(self.store, run, suite, self.scorers))
        rest = rows if row is None else chain([row], rows)
        for batch in batched((_comparison(found.data) for found in rest), BATCH):
            self.store.put_comparisons(batch)
        return views

    def _run(
        self, head: Mapping[str, Json], rows: Iterator[source.Document]
    ) -> tuple[Run, Suite, source.Document | None]:
        """Take in one run; return it with the row after its last one."""
        data = head["run"]
        run = Run(
            **{
                **data,
                "candidate": spec_from(data["candidate"]),
                "status": RunStatus(data.get("status", RunStatus.RUNNING)),
                "suite_key": "",
            }
        )
        cases, waiting = Cases(), list[_Found]()
        self.store.unlink(run.id)
        row = next(rows, None)
        while row is not None and "case" in row.data:
            case = case_from(row.data["case"])
            for entry in row.data["attempts"]:
                scores = {name: score_from(data) for name, data in entry["scores"].items()}
                waiting.append((len(cases), case, attempt_from(entry["attempt"]), scores))
            cases.append(case)
            if len(waiting) >= BATCH:
                _put(self.store, run.id, waiting, self.scorers)
                waiting.clear()
            row = next(rows, None)
        _put(self.store, run.id, waiting, self.scorers)
        kept = {name: value for name, value in head["suite"].items() if name != "cases"}
        suite = suite_from(kept, cases.done())
        keyed = Keyed(suite.cases)
        run = replace(run, suite_key=suite_key(suite, keyed.keys()))
        self.store.put_suite(suite, run.suite_key, keyed)
        self.store.save_run(run)
        return run, suite, row


def _comparison(row: Mapping[str, Json]) -> tuple[str, str, Comparison]:
    return str(row["key"]), str(row["content"]), comparison_from(row["comparison"])


def _put(
    store: Store,
    run_id: str,
    batch: Sequence[_Found],
    scorers: Scorers,
) -> None:
    links, scores = [], []
    for position, case, attempt, judged in batch:
        keys = {c.id: _score_key(case, c, attempt, scorers) for c in case.criteria}
        names = {c.id: c.scorer.name for c in case.criteria}
        scores += [(keys[name], names[name], score) for name, score in judged.items()]
        links.append(
            RunAttempt(
                position=position,
                index=attempt.index,
                attempt_key=answer_key(case, attempt),
                score_keys=keys if attempt.status is AttemptStatus.ANSWERED else {},
            )
        )
    store.put_attempts((answer_key(case, attempt), attempt) for _, case, attempt, _ in batch)
    store.put_scores(scores)
    store.link(run_id, links)


def _score_key(case: Case, criterion: Criterion, attempt: Attempt, scorers: Scorers) -> str:
    """Return the key a score has here, or one of its own where its scorer is not installed."""
    try:
        return scorers.keys(case, attempt)[criterion.id]
    except PluginError:
        return digest("imported", case, criterion, attempt.messages)
