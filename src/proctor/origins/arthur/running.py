"""Scoring candidate outputs: by the engine, or by a scorer of one's own in this very process."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.contracts.archive import KeptRun
from proctor.contracts.model import ModelChoice
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Json, Spec, Suite
from proctor.errors import MissingResource, ProctorError
from proctor.io.concurrency import run_sync
from proctor.origins.arthur.errors import BenchError, InternalError, UserValueError
from proctor.origins.arthur.methods import Scoring, judge_choice
from proctor.origins.arthur.own_scorers import OwnScorer, ScoredRow
from proctor.origins.arthur.runs import TestRun

if TYPE_CHECKING:
    from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRequest:
    """Options of a run besides its outputs."""

    name: str
    metadata: Mapping[str, Json]
    """Who made the outputs, and how."""
    save: bool
    batch_size: int
    judge: str | ModelChoice | None = None
    sandbox: str = "bubblewrap"
    waiting: bool = False
    """Whether a scorer of one's own is asked by its ``arun_batch``, where it has one."""
    case_keys: Sequence[str] = ()
    """The keys of the suite's cases, which were made already."""

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise UserValueError("batch_size must be at least 1")

    @property
    def candidate(self) -> Spec:
        """Return who is examined."""
        shown = self.metadata.get("model_name", self.name)
        return Spec(name="recorded", params={"name": shown, **self.metadata})


def score(
    request: ScoringRequest,
    suite: Suite,
    scoring: Scoring,
    attempts: Sequence[Attempt],
    place: str | None,
) -> TestRun:
    """Score outputs; nothing is stored where that fails."""
    judges = judge_choice(scoring.name, request.judge)
    try:
        with _store(place, keep=request.save) as store:
            if isinstance(scoring, OwnScorer):
                view = _by_own(request, suite, scoring, attempts, store)
            else:
                view = _by_engine(request, suite, attempts, store, judges)
            results = list(view.results())
            return TestRun(view.run, suite, view.summary, results, place, saved=request.save)
    except ProctorError as error:
        if isinstance(error, BenchError):
            raise
        raise InternalError(f"failed to create run {request.name!r}: {error}") from error


def _by_engine(
    request: ScoringRequest,
    suite: Suite,
    attempts: Sequence[Attempt],
    store: "Store",
    judges: tuple[ModelChoice, ...],
) -> Any:
    from proctor import registry
    from proctor.engine.transfer.answers_in_memory import InMemoryAnswers, examine

    scorer = registry.build("scorer", suite.cases[0].criteria[0].scorer)
    if not scorer.needs_sandbox and (lacking := next(iter(scorer.missing()), None)):
        raise MissingResource(lacking)
    scorer.open()
    answers = InMemoryAnswers(
        suite=suite,
        attempts=attempts,
        name=request.name,
        candidate=request.candidate,
        judges=judges,
        sandbox=Spec(name=request.sandbox),
        case_keys=request.case_keys,
    )
    return run_sync(examine(answers, store)).view


def _by_own(
    request: ScoringRequest,
    suite: Suite,
    scorer: OwnScorer,
    attempts: Sequence[Attempt],
    store: "Store",
) -> Any:
    from proctor.engine.transfer.answers_in_memory import keep_run, put_suite

    if scorer.call is None:
        where = f"allow_import=True imports {scorer.path}" if scorer.path else "a notebook had it"
        raise UserValueError(
            f"the suite is scored by {scorer.name}, which is not here (fix: pass it again,"
            f" TestSuite({suite.name!r}, {scorer.name}); {where})"
        )
    pairs = list(enumerate(zip(suite.cases, attempts, strict=True)))
    answered = [
        (place, case, attempt)
        for place, (case, attempt) in pairs
        if attempt.status is AttemptStatus.ANSWERED
    ]
    rows = [_row(case, attempt) for _, case, attempt in answered]
    if request.waiting and scorer.acall is not None:
        scores = run_sync(scorer.ascores(rows, request.batch_size))
    else:
        scores = scorer.scores(rows, request.batch_size)
    _refuse_nothing(scorer, scores)
    by_place = {place: score for (place, _, _), score in zip(answered, scores, strict=True)}
    criterion = suite.cases[0].criteria[0].id
    saved = KeptRun(
        name=request.name,
        candidate=request.candidate,
        rows=tuple(
            (place, attempt, {criterion: by_place[place]} if place in by_place else {})
            for place, (_, attempt) in pairs
        ),
        settings={} if scorer.reloadable else {"reloadable": False},
    )
    return keep_run(store, suite, put_suite(store, suite, request.case_keys), saved)


def _row(case: Case, attempt: Attempt) -> ScoredRow:
    noted = attempt.notes.get("context") or case.context
    return ScoredRow(
        candidate=attempt.output,
        reference=case.references[0] if case.references else None,
        input=case.prompt,
        context="\n\n".join(noted) if noted else None,
    )


def _refuse_nothing(scorer: OwnScorer, scores: Sequence[Score]) -> None:
    """Raise the first error of a scorer that could score nothing at all."""
    if scores and all(score.status is ScoreStatus.FAILED for score in scores):
        raise InternalError(f"no output could be scored: {scores[0].reason}")


@contextmanager
def _store(place: str | None, *, keep: bool) -> "Iterator[Store]":
    """Open the store, or one that lasts no longer than the scoring."""
    from proctor.store.store import Store

    if keep:
        with Store.open(place) as store:
            yield store
        return
    with (
        tempfile.TemporaryDirectory(prefix="proctor-") as folder,
        Store.open(str(Path(folder) / "run.db")) as store,
    ):
        yield store
