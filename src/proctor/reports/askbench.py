"""A run as the result files of AskBench's own tools."""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from proctor.core.run import CaseResult
from proctor.core.suite import Case, Json
from proctor.reports import askbench_final as final
from proctor.reports.askbench_records import (
    dialogue_record,
    rubric_record,
    single_record,
    summary_record,
)
from proctor.reports.askbench_tally import Tally
from proctor.reports.structured import clean
from proctor.reports.view import Layout, RunView

API = "api_responses.json"
SUMMARY = "summary_results.json"
DETAILED = "askbench_detailed_results.json"
HEALTH = "healthbench_detailed_results.json"


@dataclass(frozen=True)
class AskBenchLayout(Layout):
    """Write the result files of the original AskBench evaluator."""

    def write(self, view: RunView, folder: Path) -> list[Path]:
        """Write the files of one task, and add its line to the summary of all tasks."""
        with tempfile.TemporaryFile() as scratch:
            gathered = _Gathered(scratch=scratch, compat=view.suite.compat)
            for result in view.results():
                gathered.add(result)
            task = _file_name(view.suite.name)
            place = folder / _file_name(gathered.evalset or view.suite.name) / task
            written = _Writer(view=view, gathered=gathered, folder=place).write()
        line = final.final_line(view.suite.name, _metrics(place, view), _duration(view))
        return [*written, final.append_line(folder, line)]

    def gather(self, folder: Path, tasks: Sequence[str]) -> list[final.Gathered]:
        """Find for every task the newest results that another tool left below a folder."""
        return final.gather(folder, tasks)

    def append(self, folder: Path, lines: Sequence[str]) -> Path:
        """Add lines to the summary of all tasks."""
        for line in lines:
            final.append_line(folder, line)
        return folder / final.FINAL


@dataclass
class _Rows:
    """Remember where the records of one file lie in the scratch file."""

    scratch: IO[bytes]
    places: list[tuple[tuple[bool, Json], int, int]] = field(default_factory=list)

    def add(self, key: Json, record: Json) -> None:
        """Take in one record."""
        text = json.dumps(clean(record, _text), ensure_ascii=False, indent=2).encode()
        self.scratch.seek(0, 2)
        self.places.append(((isinstance(key, str), key), self.scratch.tell(), len(text)))
        self.scratch.write(text)

    def write(self, path: Path, *, in_order: bool = False) -> Path:
        """Write all records as one list, sorted by their keys where asked for."""
        path.parent.mkdir(parents=True, exist_ok=True)
        places = sorted(self.places) if in_order else self.places
        with path.open("wb") as file:
            file.write(b"[")
            for number, (_, start, length) in enumerate(places):
                self.scratch.seek(start)
                file.write(b",\n" if number else b"\n")
                file.write(self.scratch.read(length))
            file.write(b"\n]\n")
        return path


@dataclass
class _Gathered:
    """Gather records and numbers of a run, attempt by attempt, one case at a time."""

    scratch: IO[bytes]
    compat: str
    kind: str = ""
    evalset: str = ""
    fata: bool = False
    covers: bool = False
    records: list[_Rows] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    summaries: _Rows = field(init=False)

    def __post_init__(self) -> None:
        self.summaries = _Rows(self.scratch)

    def add(self, result: CaseResult) -> None:
        """Take in one case with all its attempts."""
        case = result.case
        if not self.kind:
            self.kind = _kind(case)
            self.evalset = next(iter(case.tags.get("task", ())), "")
            self.fata = (
                case.dialogue.name == "fata" or case.dialogue.params.get("wrapper") == "fata"
            )
        for number, attempt in enumerate(result.attempts):
            if number == len(self.records):
                self.records.append(_Rows(self.scratch))
                self.tallies.append(Tally(compat=self.compat))
            tally = self.tallies[number]
            tally.add(case, attempt)
            self.covers = self.covers or "resolved" in attempt.attempt.notes
            if self.kind == "dialogue":
                record = dialogue_record(case, attempt)
                self.records[number].add(record["id"], record)
            elif self.kind == "rubrics":
                record = rubric_record(case, attempt, self.compat)
                if record["normalized_score"] is not None:
                    tally.health.append(record["normalized_score"])
                self.records[number].add("", record)
            else:
                self.records[number].add("", single_record(case, attempt, self.compat))
        if self.kind != "dialogue":
            self.summaries.add("", summary_record(case, result.attempts, self.compat))


@dataclass(frozen=True, kw_only=True)
class _Writer:
    """Write the files of one task."""

    view: RunView
    gathered: _Gathered
    folder: Path

    def write(self) -> list[Path]:
        """Write them all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.gathered.kind == "dialogue":
            return [*self._dialogues(), self._results(self.folder, self._head())]
        made = []
        for number, rows in enumerate(self.gathered.records, 1):
            place = self.folder / f"attempt_{number}"
            made.append(rows.write(place / API))
            if self.gathered.kind == "rubrics":
                made.append(rows.write(place / HEALTH))
        made.append(self.gathered.summaries.write(self.folder / SUMMARY))
        return [*made, self._results(self.folder, self._head())]

    def _dialogues(self) -> list[Path]:
        made = []
        several = len(self.gathered.records) > 1
        for number, rows in enumerate(self.gathered.records, 1):
            place = self.folder / f"attempt_{number}" if several else self.folder
            made.append(rows.write(place / DETAILED, in_order=True))
            if several:
                tally = self.gathered.tallies[number - 1]
                head = (
                    [f"Final accuracy: {tally.accuracy:.4f}"] if self._has_answers else _NO_ANSWERS
                )
                made.append(self._results(place, head, [tally]))
        if self.gathered.fata and not self.gathered.compat:
            made.append(self._fata_summary())
        return made

    @property
    def _has_answers(self) -> bool:
        return not any(tally.vague or tally.clear for tally in self.gathered.tallies)

    def _fata_summary(self) -> Path:
        tallies = self.gathered.tallies
        counted = [
            {
                "attempt_num": number,
                "total": tally.total,
                "valid": tally.valid,
                "accuracy": tally.accuracy,
                "clarified": tally.asked,
                "kept_asking": tally.kept_asking,
                "judge_unreadable": tally.unreadable,
                "reasons": dict(tally.reasons),
            }
            for number, tally in enumerate(tallies, 1)
        ]
        path = self.folder / SUMMARY
        path.write_text(json.dumps(counted, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return path

    def _head(self) -> list[str]:
        """Return the line, or lines, with the number that a task is known by."""
        tallies, several = self.gathered.tallies, len(self.gathered.tallies) > 1
        if self.gathered.kind == "rubrics":
            values = [value for tally in tallies if (value := tally.health_score) is not None]
            mean = sum(values) / len(values) if values else None
            return [f"HealthBench Score: {'N/A' if mean is None else f'{mean:.4f}'}"]
        accuracies = [tally.accuracy for tally in tallies]
        if self.gathered.kind == "dialogue":
            if not self._has_answers:
                return _NO_ANSWERS
            mean = sum(accuracies) / len(accuracies) if accuracies else 0.0
            if not several:
                return [f"Final accuracy: {mean:.4f}"]
            each = ", ".join(f"{value:.4f}" for value in accuracies)
            made = [
                f"Average accuracy (n_attempts={len(tallies)}): {mean:.4f}",
                f"Accuracy of each attempt: {each}",
            ]
            if not self.gathered.fata and not self.gathered.compat:
                score = sum(tally.score for tally in tallies) / len(tallies)
                made.append(f"Composite score (n_attempts={len(tallies)}): {score:.4f}")
            return made
        valid = sum(tally.valid for tally in tallies)
        value = sum(tally.correct for tally in tallies) / valid if valid else 0.0
        name = f"Pass@1 (n_attempts={len(tallies)}, valid={valid})" if several else "Accuracy"
        return [f"{name}: {value:.4f}"]

    def _results(
        self, folder: Path, head: Sequence[str], tallies: Sequence[Tally] | None = None
    ) -> Path:
        run = self.view.run
        lines = [
            f"Evalset: {self.gathered.evalset or self.view.suite.name}",
            f"Task: {self.view.suite.name}",
            *head,
            f"Start: {_moment(run.started)}",
            f"End: {_moment(run.finished)}",
            f"Total time: {_duration(self.view)}",
            "",
        ]
        shown = self.gathered.tallies if tallies is None else tallies
        dialogue = self.gathered.kind == "dialogue"
        for number, tally in enumerate(shown, 1):
            if tallies is None and len(shown) > 1:
                lines += [f"Attempt {number}"]
            if tally.vague or tally.clear:
                lines.append(f"Vague Ask Rate: {tally.vague_ask_rate:.4f}")
            scored = self._has_answers and not self.gathered.fata
            lines += tally.lines(dialogue=dialogue, scored=scored, covers=self.gathered.covers)
        path = folder / final.RESULTS
        path.write_text(_text("\n".join(lines)) + "\n", encoding="utf-8")
        return path


_NO_ANSWERS = ["Accuracy: N/A (the task has no expected answers)"]


def _kind(case: Case) -> str:
    if case.dialogue.name != "single_turn":
        return "dialogue"
    scorers = {criterion.scorer.name for criterion in case.criteria}
    return "rubrics" if not case.criteria or "rubric" in scorers else "single"


def _metrics(folder: Path, view: RunView) -> tuple[str, ...]:
    """Take the numbers for the summary out of a results file, as the original does."""
    text = (folder / final.RESULTS).read_text(encoding="utf-8")
    return final.metrics_in(text, marked=not view.suite.compat)


def _duration(view: RunView) -> timedelta:
    end = view.run.finished if view.run.finished is not None else view.run.started
    return timedelta(seconds=round(max(0.0, end - view.run.started), 6))


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _text(text: str) -> str:
    """Replace what no file can hold: half a surrogate pair, which model output may contain."""
    return text.encode("utf-8", "replace").decode()


def _file_name(name: str) -> str:
    """Return a name that is one plain part of a path."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", _text(name)).strip(". ") or "unnamed"
