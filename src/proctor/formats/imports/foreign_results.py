"""Cases, attempts and scores of another tool, put together as a suite with its runs."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Any

from pydantic import BaseModel, ConfigDict

from proctor.contracts.archive import KeptRun, KeptSuite
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite, ToolCall
from proctor.io import json_bytes
from proctor.io.text_files import parse_json

IMPORTED = "imported"
"""The scorer whose scores come from another tool."""


class ForeignModel(BaseModel):
    """Base of what other tools write: keys that are not needed are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignScore:
    """One value that another tool gave to an attempt; none where it could not."""

    value: float | None
    reason: str = ""
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignAttempt:
    """An attempt as another tool recorded it."""

    case: str
    index: int = 0
    messages: tuple[Message, ...] = ()
    """The messages after those of the case."""
    error: str = ""
    """Why there is no answer; empty where there is one."""
    scores: Mapping[str, ForeignScore] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None
    notes: Mapping[str, Json] = field(default_factory=dict)

    @property
    def attempt(self) -> Attempt:
        """Return it as an attempt of ours."""
        has_reply = any(
            m.role == "assistant" and (m.content or m.tool_calls) for m in self.messages
        )
        if self.error:
            status = AttemptStatus.ERROR
        else:
            status = (
                AttemptStatus.ANSWERED if has_reply or self.scores else AttemptStatus.UNANSWERED
            )
        return Attempt(
            case_id=self.case,
            index=self.index,
            messages=self.messages,
            status=status,
            error=self.error,
            seconds=self.seconds,
            usage={"candidate": plain(self.usage)} if self.usage != Usage() else {},
            notes=self.notes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRun:
    """One candidate's attempts."""

    name: str
    candidate: str
    attempts: Sequence[ForeignAttempt]
    settings: Mapping[str, Json] = field(default_factory=dict)
    started: float = 0.0


def kept_suite(
    name: str,
    cases: Mapping[str, Case],
    runs: Sequence[ForeignRun],
    *,
    counted: Iterable[str] = (),
    source: str,
) -> KeptSuite:
    """Make a suite whose criteria are the metrics of another tool, with its runs.

    A metric with all its values between 0 and 1 counts, or where ``counted`` names some, those
    alone; each has its mean as a measure of its own name.
    """
    values: dict[str, list[float]] = {}
    scored: dict[str, dict[str, None]] = {}
    for run in runs:
        for attempt in run.attempts:
            for metric, score in attempt.scores.items():
                scored.setdefault(attempt.case, {})[metric] = None
                values.setdefault(metric, [])
                if score.value is not None:
                    values[metric].append(score.value)
    named = set(counted)
    marks = {
        metric: 1.0 if all(0 <= value <= 1 for value in numbers) else None
        for metric, numbers in values.items()
    }
    weights = {
        metric: 1.0 if marks[metric] is not None and (not named or metric in named) else 0.0
        for metric in values
    }
    criteria = {
        metric: _criterion(metric, weights[metric], marks[metric] is not None, source)
        for metric in values
    }
    whole = [
        _with_criteria(case, [criteria[metric] for metric in scored.get(case_id, ())])
        for case_id, case in cases.items()
    ]
    measures = tuple(
        Spec(name="named_metric", params={"metric": metric, "unanswered": None})
        for metric in values
    )
    places = {case.id: place for place, case in enumerate(whole)}
    suite = Suite(name=name, cases=whole, measures=measures)
    return KeptSuite(
        suite=suite,
        runs=tuple(_kept_run(run, places, marks) for run in runs),
        created=min((run.started for run in runs if run.started), default=0.0),
    )


def _criterion(metric: str, weight: float, bounded: bool, source: str) -> Criterion:
    params: dict[str, Json] = {"metric": metric, "tool": source}
    scorer = Spec(name=IMPORTED, params=params if bounded else {**params, "bounded": False})
    return Criterion(id=metric, scorer=scorer, weight=weight, metric=metric)


def _with_criteria(case: Case, criteria: list[Criterion]) -> Case:
    return Case(
        id=case.id,
        messages=case.messages,
        criteria=tuple(criteria),
        references=case.references,
        context=case.context,
        tags=case.tags,
        tools=case.tools,
    )


def _kept_run(
    run: ForeignRun, places: Mapping[str, int], marks: Mapping[str, float | None]
) -> KeptRun:
    rows = tuple(
        (
            places[attempt.case],
            attempt.attempt,
            {
                metric: _score(metric, score, marks[metric])
                for metric, score in attempt.scores.items()
            },
        )
        for attempt in run.attempts
    )
    candidate = Spec(name="recorded", params={"name": run.candidate})
    return KeptRun(
        name=run.name, candidate=candidate, rows=rows, settings=run.settings, started=run.started
    )


def _score(metric: str, score: ForeignScore, out_of: float | None) -> Score:
    if score.value is None:
        reason = score.reason or "the tool it comes from gave no value"
        return Score.failed(reason, out_of=out_of, detail=dict(score.detail))
    detail = {"metrics": {metric: score.value}, **score.detail}
    return Score(points=score.value, out_of=out_of, reason=score.reason, detail=detail)


def number(value: Json) -> float | None:
    """Return a number or a truth value as a finite number; none for anything else."""
    if isinstance(value, bool | int | float):
        return float(value) if isfinite(value) else None
    return None


def text_of(value: Json) -> str:
    """Return a value as text: strings as they are, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_bytes.dumps(value).decode()


def tool_call(name: Any, arguments: Json, call_id: Any = "") -> ToolCall:
    """Return a tool call, with its arguments decoded where they are JSON in a string."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = parse_json(arguments)
    return ToolCall(
        name=text_of(name), arguments={} if arguments is None else arguments, id=text_of(call_id)
    )


def unique(wanted: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken, counting up from the second of the same name."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted} ({count})"
    return name


def moment(written: str | None) -> float:
    """Return a time in ISO format as seconds since 1970; 0 where it is none."""
    try:
        return max(0.0, datetime.fromisoformat(written).timestamp()) if written else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
