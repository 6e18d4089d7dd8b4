"""Samples that lm-evaluation-harness logged, with the results file beside them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.contracts.archive import Archive, KeptSuite
from proctor.core.suite import Case, Json, Message
from proctor.formats.imports.foreign_results import (
    ForeignAttempt,
    ForeignModel,
    ForeignRun,
    ForeignScore,
    kept_suite,
    number,
    text_of,
    unique,
)
from proctor.io.text_files import file_error, read_json, read_jsonl
from proctor.io.validation import validate

TOOL = "lm-eval"
_FILE = re.compile(r"samples_(?P<task>.+)_(?P<moment>\d{4}-\d{2}-\d{2}T[\d.:\-]+)\.jsonl")


class _LmEvalSampleRow(ForeignModel, extra="allow"):
    doc_id: int | str
    doc: Json = None
    target: Json = None
    arguments: Json = None
    resps: Json = None
    filtered_resps: Json = None
    filter: str = "none"
    metrics: list[str] | None = None


class _LmEvalAbout(ForeignModel):
    model: str = ""
    model_args: Json = None


class _LmEvalResultsFile(ForeignModel):
    config: _LmEvalAbout = _LmEvalAbout()
    model_name: str | None = None
    date: float = 0.0


@dataclass(frozen=True)
class LmEvalSamples(Archive):
    """A ``samples_TASK_TIME.jsonl`` file, or the folder with all that a run wrote."""

    def recognises(self, path: Path) -> bool:
        return any(_files(path))

    def read(self, path: Path) -> Iterator[KeptSuite]:
        for file in _files(path):
            yield _LmEvalTaskSamples(file).read()


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(
            file
            for pattern in ("samples_*.jsonl", "*/samples_*.jsonl")
            for file in path.glob(pattern)
            if _FILE.fullmatch(file.name)
        )
    elif _FILE.fullmatch(path.name) and path.is_file():
        yield path


@dataclass
class _LmEvalTaskSamples:
    """The samples of one task while they are read: a row for each document and filter."""

    path: Path
    cases: dict[str, Case] = field(default_factory=dict)
    rows: dict[str, list[_LmEvalSampleRow]] = field(default_factory=dict)

    def read(self) -> KeptSuite:
        name = _FILE.fullmatch(self.path.name)
        assert name is not None
        for document in read_jsonl(self.path):
            row = validate(_LmEvalSampleRow, document)
            self.rows.setdefault(str(row.doc_id), []).append(row)
        if not self.rows:
            raise file_error(self.path, "the file has no samples")
        about = self._results(name["moment"])
        attempts = [self._attempt(case, rows) for case, rows in self.rows.items()]
        candidate = about.model_name or _model(about.config) or self._folder_name() or "unknown"
        run = ForeignRun(
            name=f"{name['task']} {candidate}",
            candidate=candidate,
            attempts=attempts,
            settings={"imported_from": TOOL},
            started=max(0.0, about.date),
        )
        first = next(iter(attempts[0].scores), "")
        counted = [first] if first else []
        return kept_suite(name["task"], self.cases, [run], counted=counted, source=TOOL)

    def _folder_name(self) -> str:
        """Return the model's name as the folder has it, which the tool calls after the model."""
        return self.path.resolve().parent.name.replace("__", "/")

    def _results(self, moment: str) -> _LmEvalResultsFile:
        beside = self.path.with_name(f"results_{moment}.json")
        return (
            validate(_LmEvalResultsFile, read_json(beside))
            if beside.is_file()
            else _LmEvalResultsFile()
        )

    def _attempt(self, case_id: str, rows: list[_LmEvalSampleRow]) -> ForeignAttempt:
        first = rows[0]
        self.cases[case_id] = _case(case_id, first)
        scores: dict[str, ForeignScore] = {}
        several = len({row.filter for row in rows}) > 1
        for row in rows:
            for metric in row.metrics or ():
                value = (row.model_extra or {}).get(metric)
                label = f"{metric},{row.filter}" if several or row.filter != "none" else metric
                reason = f"of {text_of(row.filtered_resps)[:500]}"
                scores[unique(label, scores)] = ForeignScore(value=number(value), reason=reason)
        output = _output(first)
        reply = Message(role="assistant", content=output)
        return ForeignAttempt(case=case_id, messages=(reply,), scores=scores)


def _case(case_id: str, row: _LmEvalSampleRow) -> Case:
    choices = _choices(row)
    target = text_of(row.target)
    if choices and target.isdigit() and int(target) < len(choices):
        target = choices[int(target)]
    question = _requests(row)
    prompt = text_of(question[0][0]) if question else text_of(row.doc)
    return Case(
        id=case_id,
        messages=(Message(role="user", content=prompt),),
        criteria=(),
        references=(target,) if target else (),
    )


def _requests(row: _LmEvalSampleRow) -> list[tuple[Json, Json]]:
    """Return the requests of a document: the context of each, and its continuation or settings."""
    if not isinstance(row.arguments, Mapping):
        return []
    return [
        (request.get("arg_0"), request.get("arg_1"))
        for request in row.arguments.values()
        if isinstance(request, Mapping)
    ]


def _choices(row: _LmEvalSampleRow) -> list[str]:
    """Return the continuations whose likelihoods were compared; empty where text was generated."""
    requests = _requests(row)
    if len(requests) < 2 or not all(isinstance(continued, str) for _, continued in requests):
        return []
    return [str(continued).strip() for _, continued in requests]


def _output(row: _LmEvalSampleRow) -> str:
    """Return what was generated, or the choice with the highest likelihood."""
    filtered, choices = row.filtered_resps, _choices(row)
    if choices and isinstance(filtered, list) and len(filtered) == len(choices):
        likelihoods = [_likelihood(pair) for pair in filtered]
        return choices[likelihoods.index(max(likelihoods))]
    reply = row.resps
    while isinstance(reply, list) and reply:
        reply = reply[0]
    return text_of(reply)


def _likelihood(pair: Json) -> float:
    try:
        return float(pair[0] if isinstance(pair, list) else pair)
    except (TypeError, ValueError, IndexError):
        return float("-inf")


def _model(about: _LmEvalAbout) -> str:
    args = about.model_args
    if isinstance(args, str):
        args = dict(part.split("=", 1) for part in args.split(",") if "=" in part)
    named = args.get("pretrained") or args.get("model") if isinstance(args, Mapping) else None
    return str(named or about.model)
