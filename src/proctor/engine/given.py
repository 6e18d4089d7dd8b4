"""Runs whose answers are at hand: judged here, or brought along with their scores."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.contracts import Reading
from proctor.core.fingerprint import answer_key, case_key, digest, suite_key
from proctor.core.kept import KeptRun, KeptSuite, Row
from proctor.core.model import ModelChoice
from proctor.core.run import Run
from proctor.core.suite import Case, Json, Spec, Suite
from proctor.engine.collect import BATCH, batched
from proctor.engine.evaluate import Outcome, Progress, carry_out, finish
from proctor.engine.prepare import prepare
from proctor.engine.roles import Models
from proctor.engine.scoring import Scorers
from proctor.engine.settings import Panel, RunSettings, SuiteSettings
from proctor.reports.view import RunView
from proctor.store.rows import RunAttempt
from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Hold answers with the suite that they belong to, and how they are to be judged."""

    suite: Suite
    attempts: Sequence[Attempt]
    """One for each case, in the order of the cases."""
    name: str
    candidate: Spec
    judges: tuple[ModelChoice, ...] = ()
    sandbox: Spec = field(default_factory=lambda: Spec(name="bubblewrap"))
    settings: Mapping[str, Json] = field(default_factory=dict)
    """What else is kept with the run."""


async def examine(
    given: Given,
    store: Store,
    progress: Callable[[Progress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Judge answers that are at hand, by the suite's own criteria."""
    settings = RunSettings(
        suite=SuiteSettings(path=Path(given.suite.name), compat=given.suite.compat),
        answers=Path(given.name),
        name=given.name,
        panel=Panel(judges=given.judges),
        sandbox=given.sandbox,
    )
    models = Models(store, settings.calls, notice)
    try:
        ready = prepare(settings, Reading(suite=given.suite), models)
        key = put_suite(store, ready.suite)
        kept = {**ready.settings.stored(), **given.settings}
        run = run_of(ready.suite, key, replace(_kept(given), settings=kept))

        async def collect() -> None:
            store.unlink(run.id)
            pairs = enumerate(zip(ready.suite.cases, given.attempts, strict=True))
            for batch in batched(pairs, BATCH):
                _put(store, run.id, batch, ready.scorers)

        return await carry_out(ready, store, run, collect, progress)
    finally:
        await models.close()


def keep(store: Store, kept: KeptSuite) -> list[RunView]:
    """Store a suite, and all its runs as they were judged elsewhere."""
    key = put_suite(store, kept.suite)
    return [keep_run(store, kept.suite, key, run) for run in kept.runs]


def keep_run(store: Store, suite: Suite, key: str, kept: KeptRun) -> RunView:
    """Store a run with its scores as they are, and sum it up."""
    run = run_of(suite, key, kept)
    with store.batch():
        store.save_run(run)
        store.unlink(run.id)
        for batch in batched(_with_silent(suite, kept.rows), BATCH):
            _put_judged(store, run.id, suite, batch)
    return finish(store, run, suite, Scorers())


def put_suite(store: Store, suite: Suite) -> str:
    """Store a suite, and return its key."""
    keyed = [(case_key(case), case) for case in suite.cases]
    key = suite_key(suite, [found for found, _ in keyed])
    store.put_suite(suite, key, keyed)
    return key


def run_of(suite: Suite, key: str, kept: KeptRun) -> Run:
    """Make the run of a suite that has this name: there is one of a name."""
    return Run(
        id=digest("given", key, kept.name)[:12],
        name=kept.name,
        suite=suite.name,
        suite_key=key,
        candidate=kept.candidate,
        settings=kept.settings,
        started=kept.started or time.time(),
    )


def _kept(given: Given) -> KeptRun:
    return KeptRun(name=given.name, candidate=given.candidate, rows=())


def _put(
    store: Store,
    run_id: str,
    batch: Sequence[tuple[int, tuple[Case, Attempt]]],
    scorers: Scorers,
) -> None:
    """Store answers, and link them to the scores that they will have."""
    links, attempts = [], []
    for position, (case, attempt) in batch:
        answered = attempt.status is AttemptStatus.ANSWERED
        key = answer_key(case, attempt)
        attempts.append((key, attempt))
        links.append(
            RunAttempt(
                position=position,
                index=attempt.index,
                attempt_key=key,
                score_keys=scorers.keys(case, attempt) if answered else {},
            )
        )
    with store.batch():
        store.put_attempts(attempts)
        store.link(run_id, links)


def _with_silent(suite: Suite, rows: Iterable[Row]) -> Iterable[Row]:
    """Yield all rows, and one without an answer for each case that has none."""
    seen = set()
    for row in rows:
        seen.add(row[0])
        yield row
    for place, case in enumerate(suite.cases):
        if place not in seen:
            yield place, Attempt.of(case.id, None), {}


def _put_judged(store: Store, run_id: str, suite: Suite, batch: Sequence[Row]) -> None:
    """Store answers with their scores, under keys that no other run shares.

    What judged them may be code that has changed since, so equal answers may differ in score.
    """
    links, scores, attempts = [], [], []
    for place, attempt, judged in batch:
        case = suite.cases[place]
        keys = {name: digest("given", run_id, case.id, attempt.index, name) for name in judged}
        names = {criterion.id: criterion.scorer.name for criterion in case.criteria}
        scores += [(keys[name], names.get(name, name), score) for name, score in judged.items()]
        key = answer_key(case, attempt)
        attempts.append((key, attempt))
        links.append(
            RunAttempt(position=place, index=attempt.index, attempt_key=key, score_keys=keys)
        )
    store.put_attempts(attempts)
    store.put_scores(scores)
    store.link(run_id, links)
