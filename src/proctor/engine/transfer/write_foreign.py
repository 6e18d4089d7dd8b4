"""Runs written as other tools read them: answers, samples of lm-eval, evaluation log events."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.run import CaseResult, Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer.export_import import in_place
from proctor.errors import UsageError
from proctor.io import json_bytes
from proctor.store.store import Store
from proctor.version import __version__

LOG_LINE = 1_000
"""How many events are written as one document of a log."""


def write_as(store: Store, references: Sequence[str], path: Path, form: str) -> int:
    """Write runs in another tool's format, as JSON Lines; return the number of rows."""
    if path.suffix.lower() != ".jsonl":
        raise UsageError(f"{path}: --as {form} is written as .jsonl")
    rows = 0
    with in_place(path) as part, part.open("wb") as file:
        for reference in references:
            for count, row in FORMS[form](view_of(store, reference)):
                file.write(json_bytes.dumps(row) + b"\n")
                rows += count
    return rows


def _answers(view: RunView) -> Iterator[tuple[int, Json]]:
    """Yield each attempt as a row of an answers file."""
    for result in view.results():
        for tried in result.attempts:
            attempt = tried.attempt
            row: dict[str, Json] = {"case": result.case.id, "attempt": attempt.index}
            yield 1, row | _reply(attempt)


def _reply(attempt: Attempt) -> dict[str, Json]:
    if not attempt.messages:
        return {"output": None}
    if len(attempt.messages) == 1 and not attempt.messages[0].tool_calls:
        return {"output": attempt.output}
    return {"messages": [plain(message) for message in attempt.messages]}


def _samples(view: RunView) -> Iterator[tuple[int, Json]]:
    """Yield each attempt as lm-evaluation-harness logs a sample."""
    for place, result in enumerate(view.results()):
        for tried in result.attempts:
            scores = {
                name: score.points
                for name, score in tried.scores.items()
                if score.status is ScoreStatus.SCORED and score.points is not None
            }
            case, output = result.case, tried.attempt.output
            prompt = "\n\n".join(message.content for message in case.messages)
            yield (
                1,
                {
                    "doc_id": place,
                    "doc": {"id": case.id, "question": case.prompt, "context": list(case.context)},
                    "target": case.references[0] if case.references else "",
                    "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}},
                    "resps": [[output]],
                    "filtered_resps": [output],
                    "filter": "none",
                    "metrics": list(scores),
                    **scores,
                },
            )


def _events(view: RunView) -> Iterator[tuple[int, Json]]:
    """Yield the scores as evaluation results of OpenTelemetry's GenAI conventions, in logs."""
    waiting: list[Json] = []
    for result in view.results():
        for tried in result.attempts:
            waiting += (
                _event(view.run, result, tried.attempt, name, score)
                for name, score in tried.scores.items()
            )
        if len(waiting) >= LOG_LINE:
            yield len(waiting), _log(view.run, waiting)
            waiting = []
    if waiting:
        yield len(waiting), _log(view.run, waiting)


def _event(run: Run, result: CaseResult, attempt: Attempt, name: str, score: Score) -> Json:
    values: dict[str, Json] = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.explanation": score.reason,
        "proctor.run.id": run.id,
        "proctor.case.id": result.case.id,
        "proctor.attempt.index": attempt.index,
    }
    if score.status is ScoreStatus.SCORED:
        values["gen_ai.evaluation.score.value"] = score.points
    else:
        values["gen_ai.evaluation.score.label"] = score.status.value
    if score.out_of is not None:
        values["proctor.score.out_of"] = score.out_of
    return {
        "timeUnixNano": str(int((run.started or time.time()) * 1e9)),
        "eventName": "gen_ai.evaluation.result",
        "attributes": _attributes(values),
    }


def _log(run: Run, events: Sequence[Json]) -> Json:
    about = {"service.name": "proctor", "service.version": __version__, "proctor.run": run.name}
    scope = {"name": "proctor", "version": __version__}
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes(about)},
                "scopeLogs": [{"scope": scope, "logRecords": list(events)}],
            }
        ]
    }


def _attributes(values: Mapping[str, Json]) -> list[Json]:
    return [
        {"key": key, "value": _any_value(value)}
        for key, value in values.items()
        if value is not None
    ]


def _any_value(value: Json) -> Json:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}


FORMS: Mapping[str, Callable[[RunView], Iterator[tuple[int, Json]]]] = {
    "answers": _answers,
    "lm-eval": _samples,
    "events": _events,
}
"""The formats of other tools by the names that people use."""
