"""Planning: what would run, what is stored already, and what is missing; buys nothing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proctor import registry
from proctor.core.attempt import AttemptStatus
from proctor.core.contracts import Reading
from proctor.core.fold import parse_fold
from proctor.core.program import Sandbox
from proctor.core.suite import Suite
from proctor.engine import load
from proctor.engine.collect import BATCH, batched, wanted
from proctor.engine.scoring import Scorers
from proctor.engine.settings import RunSettings
from proctor.errors import MissingResource, Problem, ProctorError, SuiteError
from proctor.store.store import Store

NO_BOUNDARY = "--sandbox process is no boundary: programs can read and change whatever you can"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Hold what a run would do."""

    suite: Suite
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    cases: int = 0
    attempts: int = 0
    unanswered: int = 0
    """Cases for which the candidate has no answer."""
    scores: int = 0
    stored: int = 0
    """Scores that are in the store already."""
    scorers: Mapping[str, int] = field(default_factory=dict)
    """How many scores each scorer would have to give."""

    @property
    def to_do(self) -> int:
        """Return how many scores are left to be judged."""
        return self.scores - self.stored


def open_sandbox(settings: RunSettings) -> Sandbox:
    """Return the sandbox asked for, or say why it does not work here."""
    sandbox: Sandbox = registry.build("sandbox", settings.sandbox)
    if problems := list(sandbox.problems()):
        raise MissingResource(
            f"the suite has programs to run, and there is no safe place for them: {problems[0]}"
        )
    return sandbox


def prepare(settings: RunSettings, scorers: Scorers) -> tuple[Reading, Suite]:
    """Read the suite, keep what was asked for, and raise all that stands in the way of a run."""
    reading = load.read(settings.suite)
    suite = load.chosen(reading.suite, settings.suite)
    parse_fold(suite.reduce)
    if problems := scorers.problems(suite):
        raise SuiteError(problems)
    if scorers.need_sandbox(suite):
        lacking = scorers.missing(suite)
        if not open_sandbox(settings).safe:
            lacking.append(Problem(message=NO_BOUNDARY, severity="warning"))
        reading = replace(reading, warnings=(*reading.warnings, *lacking))
    return reading, suite


def plan(settings: RunSettings, store: Store | None) -> Plan:
    """Find out what a run would do, without doing any of it."""
    scorers = Scorers(allow_import=settings.suite.allow_import)
    try:
        reading, suite = prepare(settings, scorers)
    except MissingResource as error:
        name = str(settings.suite.path)
        return Plan(suite=Suite(name=name, cases=()), problems=(Problem(message=str(error)),))
    except SuiteError as error:
        return Plan(
            suite=Suite(name=str(settings.suite.path), cases=()), problems=tuple(error.problems)
        )
    try:
        counts = _count(settings, suite, reading.suite, scorers, store)
    except ProctorError as error:
        problems = (
            error.problems if isinstance(error, SuiteError) else [Problem(message=str(error))]
        )
        return Plan(suite=suite, warnings=reading.warnings, problems=tuple(problems))
    by_scorer = {
        name.removeprefix("scorer "): n for name, n in counts.items() if name[:7] == "scorer "
    }
    return Plan(
        suite=suite,
        warnings=reading.warnings,
        cases=len(suite.cases),
        attempts=counts["attempts"],
        unanswered=counts["unanswered"],
        scores=counts["scores"],
        stored=counts["stored"],
        scorers=by_scorer,
    )


def _count(
    settings: RunSettings, suite: Suite, whole: Suite, scorers: Scorers, store: Store | None
) -> Counter[str]:
    counts: Counter[str] = Counter()
    cases = {case.id: case for case in suite.cases}
    answered = set()
    found = load.answers(settings.answers, whole)
    for batch in batched(wanted(found, cases, settings.attempts), BATCH):
        keys: list[tuple[str, str]] = []
        for attempt in batch:
            case = cases[attempt.case_id]
            answered.add(case.id)
            counts["attempts"] += 1
            if attempt.status is not AttemptStatus.ANSWERED:
                counts["unanswered"] += 1
                continue
            names = {criterion.id: criterion.scorer.name for criterion in case.criteria}
            keys += [(key, names[i]) for i, key in scorers.keys(case, attempt).items()]
            counts["scores"] += len(names)
        known = store.known_scores(key for key, _ in keys) if store is not None else set()
        for key, name in keys:
            counts["stored"] += key in known
            counts[f"scorer {name}"] += key not in known
    counts["unanswered"] += len(cases.keys() - answered)
    return counts
