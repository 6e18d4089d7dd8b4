"""Results of other tools: who reads them, and their suites and answers as native files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proctor import registry
from proctor.contracts.archive import Archive, KeptRun, KeptSuite
from proctor.core.fingerprint import plain
from proctor.core.suite import Criterion, Json, Spec
from proctor.io import json_bytes

ANSWERS = "answers"
_CONTAINS = (Criterion(id="contains", scorer=Spec(name="contains", params={"any": "references"})),)
_NEVER_SCORED = (Criterion(id="score", scorer=Spec(name="imported", params={"metric": "score"})),)


def archive_of(path: Path) -> Archive | None:
    """Return what reads the results of the tool that wrote a file or folder; none if unknown."""
    for name in registry.names("archive"):
        archive: Archive = registry.build("archive", Spec(name=name))
        if archive.recognises(path):
            return archive
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedResults:
    """A suite that was written from another tool's results, and the answers beside it."""

    suite: str
    path: Path
    cases: int
    unscored: int
    """Cases without a reference, which need criteria before they can be scored."""
    answers: Sequence[Path]


def convert_results(archive: Archive, path: Path, out: Path, to: str) -> list[ConvertedResults]:
    """Write the suites of another tool's results, each run's answers beside its suite.

    The other tool's scores cannot be computed here: cases that have references are scored by
    whether the answer contains one, all others keep criteria that say so.
    """
    kept = list(archive.read(path))
    return [
        _converted(one, out if len(kept) == 1 else out / _file_name(one.suite.name), to)
        for one in kept
    ]


def _converted(kept: KeptSuite, folder: Path, to: str) -> ConvertedResults:
    cases = [
        replace(case, criteria=_CONTAINS if case.references else case.criteria or _NEVER_SCORED)
        for case in kept.suite.cases
    ]
    suite = replace(kept.suite, cases=cases, measures=())
    written: Path = registry.build("writer", Spec(name=to)).write(suite, folder)
    answers = []
    for run in kept.runs:
        suffix = f"-{_file_name(run.name)}" if len(kept.runs) > 1 else ""
        file = folder / f"{ANSWERS}{suffix}.jsonl"
        file.write_bytes(b"".join(json_bytes.dumps(row) + b"\n" for row in _answers(run)))
        answers.append(file)
    return ConvertedResults(
        suite=suite.name,
        path=written,
        cases=len(cases),
        unscored=sum(not case.references for case in cases),
        answers=answers,
    )


def _answers(run: KeptRun) -> Iterator[Json]:
    for _, attempt, _ in run.rows:
        row: dict[str, Json] = {"case": attempt.case_id, "attempt": attempt.index}
        if len(attempt.messages) == 1 and not attempt.messages[0].tool_calls:
            yield row | {"output": attempt.output}
        else:
            yield row | {"messages": [plain(message) for message in attempt.messages]}


def _file_name(name: str) -> str:
    """Return a name that is one of a file everywhere."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "suite"
