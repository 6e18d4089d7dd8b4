"""A run as the result files of AskBench's own tools."""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from proctor.contracts.report import Layout, RunView
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case, Json
from proctor.origins.askbench import task_summary as final
from proctor.origins.askbench.dialect import AskBench
from proctor.origins.askbench.records import (
    dialogue_record,
    rubric_record,
    rubric_score,
    single_record,
    summary_record,
)
from proctor.origins.askbench.tally import AskBenchTally
from proctor.reports.structured import clean

API = "api_responses.json"
SUMMARY = "summary_results.json"
DETAILED = "askbench_detailed_results.json"
HEALTH = "healthbench_detailed_results.json"


@dataclass(frozen=True)
class AskBenchLayout(Layout):
    """The result files of the original AskBench evaluator."""

    home: Path | None = None
    """The INI that names the tasks, where there is one."""

    def beside(self, suite: Path) -> Layout:
        return replace(self, home=suite)

    def write(self, view: RunView, folder: Path) -> list[Path]:
        with tempfile.TemporaryFile() as scratch:
            gathered = _AskBenchResults(
                scratch=scratch, compat=view.suite.compat, language=view.suite.language
            )
            for result in view.results():
                gathered.add(result)
            own_name = self._task_name(view)
            task = file_name(own_name)
            place = folder / file_name(gathered.evalset or view.suite.name) / task
            writer = _LayoutWriter(view=view, gathered=gathered, folder=place, task_name=own_name)
            written = writer.write()
        line = final.final_line(view.suite.name, _metrics(place, view), _duration(view))
        return [*written, final.append_line(folder, line)]

    def _task_name(self, view: RunView) -> str:
        """Return what the INI calls a task, which its folder is named after."""
        if self.home is None or view.suite.dialect != "askbench":
            return view.suite.name
        places = AskBench().output_places(self.home, compat=view.suite.compat)
        names: dict[str, str] = {place.task: place.task_name for place in places}
        return names.get(view.suite.name, view.suite.name)

    def gather(self, folder: Path, tasks: Sequence[str]) -> list[final.Gathered]:
        """Find for every task the newest results that another tool left below a folder."""
        return final.gather(folder, tasks)

    def append(self, folder: Path, lines: Sequence[str]) -> Path:
        """Add lines to the summary of all tasks."""
        for line in lines:
            final.append_line(folder, line)
        return folder / final.FINAL


@dataclass
class _LayoutRows:
    """Offsets of one file's records in the scratch file."""

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
class _AskBenchResults:
    """Records and numbers of a run, collected attempt by attempt, one case at a time."""

    scratch: IO[bytes]
    compat: str
    language: str = "en"
    kind: str = ""
    evalset: str = ""
    fata: bool = False
    covers: bool = False
    records: list[_LayoutRows] = field(default_factory=list)
    tallies: list[AskBenchTally] = field(default_factory=list)
    summaries: _LayoutRows = field(init=False)

    def __post_init__(self) -> None:
        self.summaries = _LayoutRows(self.scratch)

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
                self.records.append(_LayoutRows(self.scratch))
                self.tallies.append(AskBenchTally(compat=self.compat))
            tally = self.tallies[number]
            tally.add(case, attempt)
            self.covers = self.covers or "resolved" in attempt.attempt.notes
            if self.kind == "dialogue":
                record = dialogue_record(case, attempt, self.language, self.compat)
                self.records[number].add(record["id"], record)
            elif self.kind == "rubrics":
                record = rubric_record(case, attempt, self.compat)
                if (score := rubric_score(record, self.compat)) is not None:
                    tally.health.append(score)
                self.records[number].add("", record)
            else:
                self.records[number].add("", single_record(case, attempt, self.compat))
        if self.kind == "rubrics":
            summary = summary_record(case, result.attempts, self.compat, self._rubric_worth(case))
            self.summaries.add("", summary)
        elif self.kind != "dialogue":
            self.summaries.add("", summary_record(case, result.attempts, self.compat))

    def _rubric_worth(self, case: Case) -> Callable[[AttemptResult], float | None]:
        return lambda result: rubric_score(rubric_record(case, result, self.compat), self.compat)


@dataclass(frozen=True, kw_only=True)
class _LayoutWriter:
    """Writer of the files of one task."""

    view: RunView
    gathered: _AskBenchResults
    folder: Path
    task_name: str

    def write(self) -> list[Path]:
        """Write them all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.gathered.kind == "dialogue":
            return [*self._dialogues(), self._results(self.folder, self._head())]
        paths = []
        for number, rows in enumerate(self.gathered.records, 1):
            place = self.folder / f"attempt_{number}"
            paths.append(rows.write(place / API))
            if self.gathered.kind == "rubrics":
                paths.append(rows.write(place / HEALTH))
        paths.append(self.gathered.summaries.write(self.folder / SUMMARY))
        return [*paths, self._results(self.folder, self._head())]

    def _dialogues(self) -> list[Path]:
        paths = []
        several = len(self.gathered.records) > 1
        for number, rows in enumerate(self.gathered.records, 1):
            place = self.folder / f"attempt_{number}" if several else self.folder
            paths.append(rows.write(place / DETAILED, in_order=True))
            if several:
                tally = self.gathered.tallies[number - 1]
                shown = f"{tally.accuracy:.4f}" if self._has_answers else _NO_ANSWERS
                head = [
                    f"Attempt: {number}/{len(self.gathered.records)}",
                    f"AskBench Final Accuracy: {shown}",
                ]
                paths.append(self._results(place, head, [tally]))
        if self.gathered.fata and not self.gathered.compat:
            paths.append(self._fata_summary())
        return paths

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
                "clarified": tally.with_question,
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
        if self.gathered.kind == "rubrics":
            return self._rubric_head()
        if self.gathered.kind == "dialogue":
            return self._dialogue_head()
        tallies = self.gathered.tallies
        valid = sum(tally.valid for tally in tallies)
        value = sum(tally.correct for tally in tallies) / valid if valid else 0.0
        several = len(tallies) > 1
        name = f"Pass@1 (n_attempts={len(tallies)}, valid={valid})" if several else "Accuracy"
        return [f"{name}: {value:.4f}"]

    def _rubric_head(self) -> list[str]:
        tallies = self.gathered.tallies
        values = [value for tally in tallies if (value := tally.health_score) is not None]
        mean = sum(values) / len(values) if values else None
        score = f"HealthBench Score: {'N/A' if mean is None else f'{mean:.4f}'}"
        if len(tallies) <= 1:
            return [score]
        pooled = [value for tally in tallies for value in tally.health]
        single = sum(pooled) / len(pooled) if pooled else 0.0
        head = f"Pass@1 (n_attempts={len(tallies)}, valid={len(pooled)}): {single:.4f}"
        return [head] if self.gathered.compat else [head, score]

    def _dialogue_head(self) -> list[str]:
        tallies = self.gathered.tallies
        if not self._has_answers:
            return [f"Accuracy: {_NO_ANSWERS}"]
        accuracies = [tally.accuracy for tally in tallies]
        mean = sum(accuracies) / len(accuracies) if accuracies else 0.0
        if len(tallies) <= 1:
            return [f"Final accuracy: {mean:.4f}"]
        each = ", ".join(f"{value:.4f}" for value in accuracies)
        head = [
            f"Average accuracy (n_attempts={len(tallies)}): {mean:.4f}",
            f"Per-attempt accuracy: {each}",
        ]
        if not self.gathered.fata and not self.gathered.compat:
            score = sum(tally.score for tally in tallies) / len(tallies)
            head.append(f"Composite score (n_attempts={len(tallies)}): {score:.4f}")
        return head

    def _results(
        self, folder: Path, head: Sequence[str], tallies: Sequence[AskBenchTally] | None = None
    ) -> Path:
        run, compat = self.view.run, self.gathered.compat
        shown = self.gathered.tallies if tallies is None else tallies
        rates = [tally.vague_line for tally in shown if tally.vague or tally.clear]
        lines = [
            # The document wants it first; the original has it first in its log.
            *([] if compat else rates[:1]),
            f"Evalset: {self.gathered.evalset or self.view.suite.name}",
            f"Task: {self.task_name}",
            *head,
            f"Start time: {_moment(run.started, compat)}",
            f"End time: {_moment(run.finished, compat)}",
            f"Total time: {_duration(self.view)}",
            "",
        ]
        for number, tally in enumerate(shown, 1):
            if tallies is None and len(shown) > 1:
                lines += [f"===== Attempt {number} log ====="]
            lines += self._log(tally, number, several=tallies is None and len(shown) > 1)
        path = folder / final.RESULTS
        path.write_text(_text("\n".join(lines)) + "\n", encoding="utf-8")
        return path

    def _log(self, tally: AskBenchTally, number: int, *, several: bool) -> list[str]:
        """Return what is said of one attempt at all cases."""
        lines: list[str] = []
        if tally.vague or tally.clear:
            label = f"{self.view.suite.name} " if self.gathered.compat else ""
            lines.append(f"{label}{tally.vague_line}")
        if self.gathered.kind == "rubrics" and several and tally.health_score is not None:
            lines.append(f"Attempt {number} HealthBench Score: {tally.health_score:.4f}")
        dialogue = self.gathered.kind == "dialogue"
        scored = self._has_answers and not self.gathered.fata
        return lines + list(
            tally.lines(dialogue=dialogue, scored=scored, covers=self.gathered.covers)
        )


_NO_ANSWERS = "N/A (the task has no expected answers)"


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


def _moment(seconds: float | None, compat: str) -> str:
    """Write a moment; the original writes its own clock's, and does not say so."""
    if seconds is None:
        return "-"
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    if compat:
        return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _text(text: str) -> str:
    """Replace what no file can hold: half a surrogate pair, which model output may contain."""
    return text.encode("utf-8", "replace").decode()


def file_name(name: str) -> str:
    """Return a name that is one plain part of a path."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", _text(name)).strip(". ") or "unnamed"
