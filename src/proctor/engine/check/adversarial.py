"""Adversarial check of a suite: its criteria score answers that deserve nothing, or everything."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from proctor import registry
from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import Scorer
from proctor.core.attempt import Attempt
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json, Spec, Suite
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import PluginError, Problem

LONG = 5_000
OTHERS = 4
PARTNERS = 8
EMPTY, PROMPT, STUFFED, OTHER, REFERENCE, IDEAL, ENDLESS, KEYWORD = range(8)

NOT_TRIED = "was not tried: judging by it runs programs"
Finding = tuple[str, str, str]
"""A severity, a message, and what to do about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One adversarial answer to one criterion of a case."""

    case: Case
    criterion: Criterion
    kind: int
    answer: str
    origin: str = ""
    """The case that the answer really belongs to."""
    rule: int = -1
    """The keyword that the answer should match."""


async def attack(suite: Suite, scorers: Scorers, executor: Executor) -> list[Problem]:
    """Test every criterion of a suite, and return what should be reviewed."""
    tried = await _judged(list(_trials(suite, scorers)), scorers, executor)
    doubts = [trial for pair in tried for trial in _doubts(*pair, scorers)]
    matched = {
        (trial.case.id, trial.criterion.id, trial.rule)
        for trial, score in await _judged(doubts, scorers, executor)
        if _rows(score)[trial.rule : trial.rule + 1] and not _unmatched(_rows(score)[trial.rule])
    }
    problems = []
    for _, pairs in groupby(tried, key=lambda pair: (pair[0].case.id, pair[0].criterion.id)):
        group = list(pairs)
        trial = group[0][0]
        alive = {rule for case, name, rule in matched
                 if (case, name) == (trial.case.id, trial.criterion.id)}  # fmt: skip
        problems += [_problem(trial, *finding) for finding in _findings(group, alive)]
    return problems + list(_left_out(suite, scorers))


def _left_out(suite: Suite, scorers: Scorers) -> Iterator[Problem]:
    """Report the criteria that were not tested."""
    for case in suite.cases:
        for criterion in case.criteria:
            if not _can_be_tried(scorers.of(criterion)):
                trial = Trial(case=case, criterion=criterion, kind=EMPTY, answer="")
                yield _problem(trial, "note", NOT_TRIED, "")


def _can_be_tried(scorer: Scorer) -> bool:
    return not scorer.needs_sandbox and not scorer.is_async and not scorer.reads_files


def local_executor(allow_import: bool) -> Executor:
    """Return the executor of attacks: processes that can be killed."""
    executor: Executor = registry.build(
        "executor", Spec(name="local", params={"allow_import": allow_import})
    )
    return executor


async def _judged(
    trials: Sequence[Trial], scorers: Scorers, executor: Executor
) -> list[tuple[Trial, Score]]:
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
    return [(trial, scores[number]) for number, trial in enumerate(trials)]


def _problem(trial: Trial, severity: str, message: str, hint: str) -> Problem:
    name, _, line = trial.case.source.rpartition(":")
    is_placed = bool(name) and line.isdecimal()
    return Problem(
        message=message,
        about=f"case {trial.case.id!r}, criterion {trial.criterion.id!r}",
        file=(name if is_placed else trial.case.source) or None,
        line=int(line) if is_placed else None,
        severity=severity,  # type: ignore[arg-type]
        hint=hint,
    )


def _trials(suite: Suite, scorers: Scorers) -> Iterator[Trial]:
    good_answers = [(case.id, _good_answer(case, scorers)) for case in suite.cases]
    for place, case in enumerate(suite.cases):
        near = (
            good_answers[max(0, place - OTHERS) : place][::-1] + good_answers[place + 1 :][:OTHERS]
        )
        others = [
            (answer, name) for name, answer in near if answer not in ("", good_answers[place][1])
        ]
        for criterion in case.criteria:
            scorer = scorers.of(criterion)
            if _can_be_tried(scorer):
                yield from _trials_of(case, criterion, scorer, others)


def _trials_of(
    case: Case, criterion: Criterion, scorer: Scorer, others: Iterable[tuple[str, str]]
) -> Iterator[Trial]:
    def trial(kind: int, answer: str, origin: str = "") -> Trial:
        return Trial(case=case, criterion=criterion, kind=kind, answer=answer, origin=origin)

    probes = list(scorer.probes(case))
    yield trial(EMPTY, "")
    if criterion.weight > 0:
        yield trial(PROMPT, case.prompt)
        yield from (trial(OTHER, *other) for other in others)
    yield from (trial(REFERENCE, reference) for reference in case.references)
    for probe in probes:
        if probe.kind != "reference":
            yield trial(STUFFED, probe.answer)
        elif probe.answer not in case.references:
            yield trial(IDEAL, probe.answer)
    seed = next((probe.answer for probe in reversed(probes) if probe.answer), case.prompt)
    yield from (trial(ENDLESS, answer) for answer in _long_answers(seed))


def _long_answers(seed: str) -> Iterator[str]:
    """Repeat what a criterion matches, with an ending that forces a pattern to backtrack."""
    if not seed:
        return
    for part in dict.fromkeys((seed, seed[:-1] or seed)):
        yield (part * (LONG // len(part) + 1))[:LONG] + "\x01"
    for char, _ in Counter(seed).most_common(3):
        yield char * LONG + "\x01"


def _good_answer(case: Case, scorers: Scorers) -> str:
    """Return an answer that should score well: a reference, or what the criteria match."""
    if case.references:
        return case.references[0]
    probes = [probe for c in case.criteria for probe in scorers.of(c).probes(case)]
    best = sorted(probes, key=lambda probe: probe.kind != "reference")
    return best[0].answer if best else ""


def _doubts(trial: Trial, score: Score, scorers: Scorers) -> Iterator[Trial]:
    """Test a keyword that did not match among all others alone, and beside one other.

    An anchor or a condition may need the other keywords to be absent.
    """
    rules = trial.criterion.scorer.params.get("rules")
    rows = _rows(score) if trial.kind == STUFFED else []
    if not isinstance(rules, list | tuple) or len(rules) != len(rows):
        return
    for number, row in enumerate(rows):
        if not _unmatched(row):
            continue
        own = _example(trial, rules[number], scorers)
        partners = [_example(trial, rule, scorers) for rule in rules[:number][-PARTNERS:]]
        for answer in (own, *(f"{partner}\n{own}" for partner in partners)):
            yield replace(trial, kind=KEYWORD, answer=answer, rule=number)


def _example(trial: Trial, rule: Json, scorers: Scorers) -> str:
    alone = replace(trial.criterion.scorer, params={"rules": [_positive(rule)]})
    try:
        scorer = scorers.of(replace(trial.criterion, scorer=alone))
    except PluginError:
        return ""
    return next((probe.answer for probe in scorer.probes(trial.case)), "")


def _positive(rule: Json) -> Json:
    return {**rule, "neg": False} if isinstance(rule, dict) else rule


def _rows(score: Score) -> list[Mapping[str, Json]]:
    rows = score.detail.get("rules", ()) if isinstance(score.detail, dict) else ()
    return [row for row in rows if isinstance(row, dict)]


def _unmatched(row: Mapping[str, Json]) -> bool:
    return row.get("status") == "unmatch" and not row.get("neg")


def _findings(group: Sequence[tuple[Trial, Score]], alive: set[int]) -> Iterator[Finding]:
    """Yield the findings on one criterion, the most important first, each once."""
    reported_kinds: set[int] = set()
    if group[0][1].status is ScoreStatus.FAILED:
        group = group[:1]
    for trial, score in group:
        if trial.kind in reported_kinds or (
            trial.kind in (PROMPT, OTHER, STUFFED) and EMPTY in reported_kinds
        ):
            continue
        findings = list(_finding(trial, score, alive))
        if findings:
            reported_kinds.add(trial.kind)
        yield from findings


def _finding(trial: Trial, score: Score, alive: set[int]) -> Iterator[Finding]:
    if score.status is ScoreStatus.FAILED:
        yield from _failed(trial, score)
        return
    if score.points is None or score.out_of is None or trial.kind == ENDLESS:
        return
    if trial.criterion.weight <= 0:
        yield from _penalised(trial, score)
        return
    got, full = score.points, score.out_of
    marks, everything = f"{got:g} of {full:g} points", full > 0 and got >= full - 1e-9
    if trial.kind == EMPTY and got > 0:
        yield "warning", f"the empty answer gets {marks}", "ask for something that must be there"
    elif trial.kind == PROMPT and got > 0:
        hint = "look for words that the question does not contain"
        yield "warning" if everything else "note", f"the question itself gets {marks}", hint
    elif trial.kind == OTHER and everything:
        message = f"the answer to case {trial.origin!r} ({_short(trial.answer)}) gets {marks}"
        yield "warning", message, "look for something that only the right answer says"
    elif trial.kind == REFERENCE and not everything and full > 0:
        message = f"the reference {_short(trial.answer)} gets only {marks}: {score.reason}"
        yield "warning", message, "correct the reference, or accept what it says"
    elif trial.kind == IDEAL and not everything and full > 0:
        message = f"the very answer it asks for ({_short(trial.answer)}) gets only {marks}"
        yield "warning", f"{message}: {score.reason}", "full marks cannot be reached as written"
    elif trial.kind == STUFFED:
        yield from _stuffed(trial, score, alive, marks if everything else "")


def _failed(trial: Trial, score: Score) -> Iterator[Finding]:
    if trial.kind == ENDLESS or "longer than" in score.reason:
        hint = "simplify its regular expression: repetition inside repetition makes it slow"
        yield "warning", f"a long answer cannot be scored: {score.reason}", hint
    elif trial.kind == EMPTY:
        yield "note", f"cannot be scored: {score.reason}", ""


def _penalised(trial: Trial, score: Score) -> Iterator[Finding]:
    if trial.criterion.weight < 0 and score.points and trial.kind in (EMPTY, REFERENCE):
        what = (
            "the empty answer" if trial.kind == EMPTY else f"the reference {_short(trial.answer)}"
        )
        hint = "a penalty should spare answers that are right or say nothing"
        yield "warning", f"{what} is penalised: {score.reason}", hint


def _stuffed(trial: Trial, score: Score, alive: set[int], marks: str) -> Iterator[Finding]:
    rules = trial.criterion.scorer.params.get("rules", ())
    rows = _rows(score)
    for number, row in enumerate(rows):
        if not _unmatched(row) or number in alive:
            continue
        rule = rules[number] if number < len(rules) else ""
        if '"cond"' in json.dumps(rule):
            hint = "make sure that its condition can hold"
            yield "note", f"no answer that was tried matches the keyword {row['keyword']!r}", hint
        else:
            hint = "check its regular expression: no answer that was tried matches it"
            yield "warning", f"the keyword {row['keyword']!r} is dead", hint
    if marks and len(rows) > 1:
        hint = "a list of words passes; add a keyword with neg, a condition, or another criterion"
        yield (
            "note",
            f"its {len(rows)} keywords pasted together, and nothing else, get {marks}",
            hint,
        )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 40 else line[:39] + "…")
