"""Runs of answers in memory: scored here, or stored with their own scores."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from proctor.contracts.archive import KeptRun, KeptSuite, Row
from proctor.contracts.dialect import Reading
from proctor.contracts.model import ModelChoice
from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import answer_key, case_key, digest, suite_key
from proctor.core.run import Run
from proctor.core.suite import Json, Spec, Suite
from proctor.engine.models.roles import Models
from proctor.engine.run.attempt_writer import BATCH, AttemptRow, AttemptWriter, RunRows
from proctor.engine.run.collect_answers import answer_row
from proctor.engine.run.evaluate import Outcome, RunProgress, Work, carry_out, finish
from proctor.engine.run.prepare import prepare
from proctor.engine.run.score_dispatch import Tools
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import JudgeSettings, RunSettings, SuiteSettings
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer import imported_keys as quotations
from proctor.io.concurrency import batched
from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemoryAnswers:
    """Answers with their suite, and how to score them."""

    suite: Suite
    attempts: Sequence[Attempt]
    """One for each case, in the order of the cases."""
    name: str
    candidate: Spec
    judges: tuple[ModelChoice, ...] = ()
    sandbox: Spec = field(default_factory=lambda: Spec(name="bubblewrap"))
    settings: Mapping[str, Json] = field(default_factory=dict)
    """Additional settings to store with the run."""
    case_keys: Sequence[str] = ()
    """The keys of the cases, if already computed."""


async def examine(
    answers: InMemoryAnswers,
    store: Store,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Score answers in memory by the suite's own criteria."""
    settings = RunSettings(
        suite=SuiteSettings.of(answers.suite),
        answers=Path(answers.name),
        name=answers.name,
        panel=JudgeSettings(judges=answers.judges),
        sandbox=answers.sandbox,
    )
    models = Models(store, settings.calls, notice)
    try:
        ready = prepare(settings, Reading(suite=answers.suite), models)
        same = len(ready.suite.cases) == len(answers.suite.cases)  # no case was left out
        keys = (answers.case_keys if same else ()) or keys_of(ready.suite)
        key = suite_key(ready.suite, keys)
        stored_settings = {**ready.settings.stored(), **answers.settings}
        run = run_of(ready.suite, key, replace(_archived_run(answers), settings=stored_settings))

        async def collect(_: Tools) -> RunRows:
            writer = AttemptWriter(store, run.id)
            writer.unlink()
            pairs = enumerate(zip(ready.suite.cases, answers.attempts, strict=True))
            rows = (answer_row(place, *pair, ready.scorers) for place, pair in pairs)
            for batch in batched(rows, BATCH):
                writer.write(batch)
            return writer.rows

        put = partial(put_suite, store, ready.suite, keys)
        return await carry_out(ready, store, run, Work(put_suite=put, collect=collect), progress)
    finally:
        await models.close()


def keep_new(store: Store, archived: KeptSuite, name: str = "") -> tuple[list[RunView], int]:
    """Store a suite and its new runs, as they were scored elsewhere.

    They are imported runs, called by ``name`` where it is given. Return them, and how many were
    stored before.
    """
    views = []
    # Copies of runs of this very store are not new.
    strange = [
        one for one in archived.runs if not one.copy_of or store.runs.find(one.copy_of) is None
    ]
    if archived.runs and not strange:
        return [], len(archived.runs)
    with store.batch():
        key = put_suite(store, archived.suite, imported=True, created=archived.created)
        for one in strange:
            run = _quoted(store, archived.suite, key, one, name)
            before = run_of(archived.suite, key, one)
            if store.runs.find(run.id) is None and not _was_kept(store, before):
                _keep(store, archived.suite, run, one)
                views.append(view_of(store, run.id))
    return views, len(archived.runs) - len(views)


def keep_run(store: Store, suite: Suite, key: str, archived: KeptRun) -> RunView:
    """Store a run with its scores as they are, and sum it up; the view has everything."""
    return _keep(store, suite, run_of(suite, key, archived), archived)


def _keep(store: Store, suite: Suite, run: Run, archived: KeptRun) -> RunView:
    writer = AttemptWriter(store, run.id)
    with store.batch():
        store.runs.save(run)
        writer.unlink()
        rows = (_scored_row(run, suite, row) for row in _with_silent(suite, archived.rows))
        for batch in batched(rows, BATCH):
            writer.write(batch)
    if not run.imported:
        return finish(store, run, suite, Scorers(), rows=writer.rows)
    view = finish(store, run, suite, None, rows=writer.rows)
    done = replace(view.run, signature=quotations.quoted_signature(run, suite, view.summary))
    store.runs.save(done)
    return replace(view, run=done)


def _quoted(store: Store, suite: Suite, key: str, archived: KeptRun, called: str) -> Run:
    """Make the imported run of another tool's results, with a name unique in its suite."""
    identity = (
        key,
        archived.name,
        archived.candidate,
        dict(archived.settings),
        list(archived.rows),
    )
    name = quotations.free_name(store, called or archived.name, suite_key=key)
    return replace(
        run_of(suite, key, archived), id=quotations.quoted_id(*identity), name=name, imported=True
    )


def put_suite(
    store: Store,
    suite: Suite,
    case_keys: Sequence[str] = (),
    *,
    imported: bool = False,
    created: float = 0.0,
) -> str:
    """Store a suite, and return its key; the keys of its cases may be passed in."""
    keys = case_keys or keys_of(suite)
    key = suite_key(suite, keys)
    cases = list(zip(keys, suite.cases, strict=True))
    store.suites.put(suite, key, cases, imported=imported, created=created)
    return key


def keys_of(suite: Suite) -> list[str]:
    """Return the keys of a suite's cases."""
    return [case_key(case) for case in suite.cases]


def run_of(suite: Suite, key: str, archived: KeptRun) -> Run:
    """Make the run of a suite with a name; there is one per name."""
    return Run(
        id=digest("given", key, archived.name)[:12],
        name=archived.name,
        suite=suite.name,
        suite_key=key,
        candidate=archived.candidate,
        settings=archived.settings,
        started=archived.started or time.time(),
    )


def _was_kept(store: Store, run: Run) -> bool:
    """Tell whether version 0.1.0 imported the run with the same settings."""
    stored_run = store.runs.find(run.id)
    return (
        stored_run is not None
        and stored_run.imported
        and dict(stored_run.settings) == dict(run.settings)
    )


def _archived_run(answers: InMemoryAnswers) -> KeptRun:
    return KeptRun(name=answers.name, candidate=answers.candidate, rows=())


def _with_silent(suite: Suite, rows: Iterable[Row]) -> Iterable[Row]:
    """Yield all rows, and an unanswered one for each case without a row."""
    seen = set()
    for row in rows:
        seen.add(row[0])
        yield row
    for place, case in enumerate(suite.cases):
        if place not in seen:
            yield place, Attempt.of(case.id, None), {}


def _scored_row(run: Run, suite: Suite, row: Row) -> AttemptRow:
    """Return an answer with its scores, under keys that no other run shares.

    The code that scored it may have changed, so equal answers may differ in score.
    """
    place, attempt, scores = row
    case = suite.cases[place]
    key = answer_key(case, attempt)
    if run.imported:
        key = quotations.attempt_key(run.id, place, attempt.index)
    return AttemptRow(
        position=place,
        index=attempt.index,
        case=case,
        attempt=attempt,
        key=key,
        score_keys={name: digest("given", run.id, case.id, attempt.index, name) for name in scores},
        scores=scores,
    )
