"""Attacking a suite: answers that deserve nothing, or everything, put to its own criteria."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from proctor import registry
from proctor.core.attempt import Attempt
from proctor.core.contracts import Executor, GradeTask, Scorer
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Spec, Suite
from proctor.engine.scoring import Scorers
from proctor.errors import Problem

LONG = 20_000
EMPTY, PROMPT, STUFFED, OTHER, REFERENCE, ENDLESS = range(6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Hold one made-up answer to one criterion of a case."""

    case: Case
    criterion: Criterion
    kind: int
    answer: str
    origin: str = ""
    """The case that the answer really belongs to."""


async def attack(suite: Suite, scorers: Scorers, executor: Executor) -> list[Problem]:
    """Try every criterion of a suite, and return what should be looked at."""
    trials = list(_trials(suite, scorers))
    tasks = (
        GradeTask(
            case=trial.case,
            criterion=trial.criterion,
            attempts=(Attempt.of(trial.case.id, trial.answer),),
            keys=(str(number),),
            time_limit=scorers.of(trial.criterion).time_limit,
        )
        for number, trial in enumerate(trials)
    )
    scores = {int(key): score async for key, score in executor.grade(tasks)}
    found = []
    for number, trial in enumerate(trials):
        found += [
            Problem(
                message=f"case {trial.case.id!r}, criterion {trial.criterion.id!r}: {message}",
                file=trial.case.source or None,
                severity=severity,  # type: ignore[arg-type]
                hint=hint,
            )
            for severity, message, hint in _findings(trial, scores[number])
        ]
    return found


def local_executor(allow_import: bool) -> Executor:
    """Return where attacks run: in processes that can be killed."""
    executor: Executor = registry.build(
        "executor", Spec(name="local", params={"allow_import": allow_import})
    )
    return executor


def _trials(suite: Suite, scorers: Scorers) -> Iterator[Trial]:
    known = [(case, _good_answer(case, scorers)) for case in suite.cases]
    for place, (case, own) in enumerate(known):
        other = next(
            (
                (answer, somewhere.id)
                for somewhere, answer in known[place + 1 :] + known[:place]
                if answer and answer != own
            ),
            None,
        )
        for criterion in case.criteria:
            yield from _trials_of(case, criterion, scorers.of(criterion), other)


def _trials_of(
    case: Case, criterion: Criterion, scorer: Scorer, other: tuple[str, str] | None
) -> Iterator[Trial]:
    def trial(kind: int, answer: str, origin: str = "") -> Trial:
        return Trial(case=case, criterion=criterion, kind=kind, answer=answer, origin=origin)

    yield trial(EMPTY, "")
    yield trial(PROMPT, case.prompt)
    if other is not None:
        yield trial(OTHER, *other)
    seed = case.prompt
    for probe in scorer.probes(case):
        seed = probe.answer or seed
        yield trial(REFERENCE if probe.kind == "reference" else STUFFED, probe.answer)
    if seed:
        yield trial(ENDLESS, (seed * (LONG // len(seed) + 1))[:LONG] + "\x01")


def _good_answer(case: Case, scorers: Scorers) -> str:
    """Return an answer that should do well: a reference, or what the criteria look for."""
    if case.references:
        return case.references[0]
    probes = [probe for c in case.criteria for probe in scorers.of(c).probes(case)]
    best = sorted(probes, key=lambda probe: probe.kind != "reference")
    return best[0].answer if best else ""


def _findings(trial: Trial, score: Score) -> Iterable[tuple[str, str, str]]:
    if score.status is ScoreStatus.FAILED:
        if "longer than" in score.reason:
            hint = "simplify its regular expression: nested repetition is what makes it slow"
            yield "warning", f"cannot judge a long answer: {score.reason}", hint
        elif trial.kind == EMPTY:
            yield "note", f"cannot be judged: {score.reason}", ""
        return
    if score.points is None or score.out_of is None or trial.kind == ENDLESS:
        return
    got, full = score.points, score.out_of
    marks = f"{got:g} of {full:g} points"
    everything = full > 0 and got >= full - 1e-9
    if trial.kind == EMPTY and got > 0:
        yield "warning", f"the empty answer gets {marks}", "ask for something that must be there"
    elif trial.kind == PROMPT and got > 0:
        hint = "look for words that the question does not contain"
        yield "warning" if everything else "note", f"the question itself gets {marks}", hint
    elif trial.kind == OTHER and everything:
        yield "warning", f"the answer to case {trial.origin!r} gets {marks}", "be more specific"
    elif trial.kind == REFERENCE and not everything and full > 0:
        yield "warning", f"its own reference gets only {marks} ({score.reason})", ""
    elif trial.kind == STUFFED:
        yield from _stuffed(score, everything, marks)


def _stuffed(score: Score, everything: bool, marks: str) -> Iterable[tuple[str, str, str]]:
    rules = score.detail.get("rules", ()) if isinstance(score.detail, dict) else ()
    dead = [row["keyword"] for row in rules if row["status"] == "unmatch" and not row.get("neg")]
    for keyword in dead:
        hint = "check its regular expression and its condition"
        yield "warning", f"the keyword {keyword!r} cannot be matched (dead)", hint
    if everything:
        hint = "a list of words passes; add a keyword with neg, a condition, or another criterion"
        yield "note", f"all its keywords pasted together get {marks}", hint
