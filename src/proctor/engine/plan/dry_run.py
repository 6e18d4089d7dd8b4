"""Planning: what would run, what is stored, and what is missing; calls no model."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.contracts.case_spool import CaseFinder
from proctor.contracts.dialect import Reading
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Case, Criterion, Json, Suite
from proctor.engine.models.roles import Models
from proctor.engine.plan.estimate import Estimate, mean_price
from proctor.engine.plan.stored_verdicts import StoredVerdicts
from proctor.engine.run import read_suite
from proctor.engine.run.attempt_writer import BATCH
from proctor.engine.run.collect_answers import requested_attempts
from proctor.engine.run.prepare import PreparedRun, prepare
from proctor.engine.run.prompts import with_prompts
from proctor.engine.run.settings import RunSettings
from proctor.engine.run.stored_work import StoredWork
from proctor.errors import Problem, ProctorError, SuiteError
from proctor.io.concurrency import batched
from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do and cost."""

    suite: Suite
    prompt: str = ""
    """The name of the prompt, if there is one."""
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    cases: int = 0
    attempts: int = 0
    attempts_stored: int = 0
    """Stored attempts; for answers on file, all of them."""
    on_file: bool = False
    """Whether the answers are on file."""
    unanswered: int = 0
    """Cases for which the candidate has no answer."""
    scores: int = 0
    stored: int = 0
    """Stored scores."""
    scorers: Mapping[str, int] = field(default_factory=dict)
    """Number of scores to make, by scorer."""
    stop_when: str = ""
    """The question whose answer may end the run before its last case."""
    usage: Mapping[str, Json] = field(default_factory=dict)
    """Expected calls, tokens and cost: minimum, likely, maximum."""

    @property
    def to_do(self) -> int:
        """Return the number of scores to make."""
        return self.scores - self.stored


def plan(settings: RunSettings, store: Store | None) -> Plan:
    """Plan a run with the one suite of a path, without doing any of it."""
    return plan_all(settings, store)[0]


def plan_all(settings: RunSettings, store: Store | None) -> list[Plan]:
    """Plan runs with all suites of a path."""
    models = Models(None, settings.calls)
    try:
        readings = read_suite.read_usable(settings.suite)
    except ProctorError as error:
        return [_refused(Suite(name=str(settings.suite.path), cases=()), error)]
    try:
        return [
            _plan(one, reading, models, store)
            for reading in readings
            for one in with_prompts(settings, reading.suite)
        ]
    except ProctorError as error:
        return [_refused(readings[0].suite, error)]


def _plan(settings: RunSettings, reading: Reading, models: Models, store: Store | None) -> Plan:
    if reading.problems:
        return _refused(reading.suite, SuiteError(reading.problems))
    try:
        ready = prepare(settings, reading, models)
        if settings.stop is not None and store is not None:
            from proctor.engine.run.stop_early import stop_rule

            stop_rule(ready.settings, ready.suite, store)
        count = _count_answers if ready.settings.on_file else _count_dialogues
        estimate = Estimate()
        counts = count(ready, store, estimate)
    except ProctorError as error:
        return _refused(reading.suite, error, reading.warnings)
    return Plan(
        suite=ready.suite,
        prompt="" if settings.prompt is None else settings.prompt.name,
        warnings=ready.reading.warnings,
        cases=len(ready.suite.cases),
        attempts=counts["attempts"],
        attempts_stored=counts["attempts_stored"],
        on_file=ready.settings.on_file,
        unanswered=counts["unanswered"],
        scores=counts["scores"],
        stored=counts["stored"],
        scorers={name[7:]: n for name, n in counts.items() if name[:7] == "scorer "},
        stop_when="" if settings.stop is None else settings.stop.when,
        usage={**_usage(ready, estimate), **_in_jobs(settings, store)},
    )


def _in_jobs(settings: RunSettings, store: Store | None) -> dict[str, Json]:
    """Say how many calls are in batch jobs already, where calls go in such jobs."""
    if not settings.calls.batch:
        return {}
    return {"batch": {"pending": 0 if store is None else store.batches.pending()}}


def _refused(suite: Suite, error: ProctorError, warnings: tuple[Problem, ...] = ()) -> Plan:
    problems = error.problems if isinstance(error, SuiteError) else [Problem(message=str(error))]
    return Plan(suite=suite, problems=tuple(problems), warnings=warnings)


def _count_answers(ready: PreparedRun, store: Store | None, estimate: Estimate) -> Counter[str]:
    counts: Counter[str] = Counter()
    verdicts = StoredVerdicts(ready, store)
    cases = ready.suite.cases
    answered = bytearray(len(cases))
    assert ready.settings.answers is not None
    attempts = read_suite.answers(
        ready.settings.answers, ready.reading.suite, ready.settings.suite.columns
    )
    for batch in batched(
        requested_attempts(attempts, CaseFinder(cases), ready.settings.attempts), BATCH
    ):
        for place, _ in batch:
            answered[place] = 1
        counts["attempts"] += len(batch)
        counts["attempts_stored"] += len(batch)
        pairs = [(cases[place], attempt) for place, attempt in batch]
        _count_scores(ready, pairs, verdicts, counts, estimate)
    counts["unanswered"] += answered.count(0)
    return counts


def _count_dialogues(ready: PreparedRun, store: Store | None, estimate: Estimate) -> Counter[str]:
    counts: Counter[str] = Counter()
    verdicts = StoredVerdicts(ready, store)
    sampling = ready.settings.model.sampling if ready.settings.model is not None else None
    limit = None if sampling is None else sampling.max_tokens
    work = StoredWork(store)
    for batch in batched(ready.roster, BATCH):
        counts["attempts"] += len(batch)
        stored = work.attempts(planned.key for planned in batch)
        work.forget()
        counts["attempts_stored"] += len(stored)
        pairs = [(p.case, stored[p.key]) for p in batch if p.key in stored]
        _count_scores(ready, pairs, verdicts, counts, estimate)
        for planned in batch:
            if planned.key in stored:
                continue
            case = planned.case
            turns = ready.dialogues.of(case.dialogue).turns(case)
            estimate.dialogue(planned.prompted, turns, limit, rulings=_rulings(ready))
            counts["scores"] += len(case.criteria)
            for criterion in case.criteria:
                counts[f"scorer {criterion.scorer.name}"] += 1
                _expect_verdict(ready, case, criterion, estimate, limit)
    return counts


def _count_scores(
    ready: PreparedRun,
    pairs: list[tuple[Case, Attempt]],
    verdicts: StoredVerdicts,
    counts: Counter[str],
    estimate: Estimate,
) -> None:
    rows: list[tuple[str, Case, Criterion, Attempt]] = []
    for case, attempt in pairs:
        if attempt.status is not AttemptStatus.ANSWERED:
            counts["unanswered"] += attempt.status is AttemptStatus.UNANSWERED
            continue
        score_keys = ready.scorers.keys(case, attempt)
        rows += [
            (score_keys[criterion.id], case, criterion, attempt) for criterion in case.criteria
        ]
    counts["scores"] += len(rows)
    stored_keys = StoredWork(verdicts.store).score_keys(row[0] for row in rows)
    for key, _, criterion, _ in rows:
        counts["stored"] += key in stored_keys
        counts[f"scorer {criterion.scorer.name}"] += key not in stored_keys
    lacking = [row[1:] for row in rows if row[0] not in stored_keys]
    for (case, criterion, _), is_stored in zip(lacking, verdicts.are_stored(lacking), strict=True):
        if not is_stored:
            _expect_verdict(ready, case, criterion, estimate, None)


def _expect_verdict(
    ready: PreparedRun, case: Case, criterion: Criterion, estimate: Estimate, limit: int | None
) -> None:
    scorer = ready.scorers.of(criterion)
    if scorer.needs_judge:
        for _ in range(_rulings(ready) * scorer.verdicts):
            estimate.verdict(case, scorer.tries, limit)


def _rulings(ready: PreparedRun) -> int:
    """Return how many rulings one verdict takes."""
    return max(1, len(ready.cast.judges)) * ready.settings.panel.repeats


def _usage(ready: PreparedRun, estimate: Estimate) -> dict[str, Json]:
    """Return the expected usage: the likely numbers, and all ranges."""
    prices = {
        "candidate": ready.cast.candidate.price if ready.cast.candidate is not None else None,
        "judge": mean_price([model.price for model in ready.cast.judges]),
        "simulator": ready.cast.simulator.price if ready.cast.simulator is not None else None,
    }
    calls = estimate.total("calls")
    cost = estimate.cost(prices) if calls[2] else [0.0, 0.0, 0.0]
    return {
        "calls": calls[1],
        "prompt_tokens": estimate.total("prompt_tokens")[1],
        "completion_tokens": estimate.total("completion_tokens")[1],
        "cost": None if cost is None else cost[1],
        "range": {
            "calls": calls,
            "prompt_tokens": estimate.total("prompt_tokens"),
            "completion_tokens": estimate.total("completion_tokens"),
            "cost": cost,
        },
        "roles": {name: [round(n) for n in role.calls] for name, role in estimate.roles.items()},
    }
