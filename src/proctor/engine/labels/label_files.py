"""Labels in files: written as CSV or JSONL, and read back with the line of every mistake."""

import csv
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import IO

from proctor.core.run import Run
from proctor.core.suite import Criterion, Json, Spec
from proctor.engine.labels.criterion_scale import CriterionScale, scale_of
from proctor.engine.labels.labelling_order import RandomCases
from proctor.errors import ProctorError, SuiteError, UsageError
from proctor.io import json_bytes
from proctor.io.findings import Findings
from proctor.io.row_files import read_rows
from proctor.io.text_files import Document
from proctor.reports.reasons import rows_of
from proctor.store.labels import SCANNED
from proctor.store.rows import Label, LinkedCase
from proctor.store.store import Store
from proctor.suggestions import closest, suggest

COLUMNS = ("case", "attempt", "criterion", "points", "note", "author", "created", "seen")
SHOWN = ("question", "answer")
"""What a file to be filled in shows besides; it is not read."""
ENDINGS = (".csv", ".tsv", ".jsonl")
LONGEST_NOTE = 4000
LONGEST_AUTHOR = 100
MOST_INDEX = (1 << 31) - 1
_MARKS = {
    **dict.fromkeys(("right", "yes", "true", "pass", "correct"), True),
    **dict.fromkeys(("wrong", "no", "false", "fail", "incorrect"), False),
}
_SEEN = {
    **dict.fromkeys(("", "0", "false", "no"), False),
    **dict.fromkeys(("1", "true", "yes"), True),
}
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "'")
"""What a spreadsheet takes for the beginning of a formula, or of a text that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLabels:
    """What came of a file of labels."""

    added: int
    unchanged: int
    """Labels that were there already, exactly so."""
    empty: int
    """Rows whose points nobody filled in."""


def import_labels(store: Store, run: Run, path: Path, *, author: str = "") -> ReadLabels:
    """Read labels of a run from a file and store them, all of them or none.

    Every mistake is raised at once, with its line. A label that is there already is left alone.
    """
    _check_ending(path)
    reader = _LabelRows(store, run, Findings(), author=author)
    labels = list(reader.read(path))
    reader.findings.check()
    if not labels and not reader.empty:
        raise SuiteError(f"{path}: no row has 'points'")
    stored = store.labels.of_run(run.id)
    seen = {(*_words(label), label.created) for label in stored}
    seen |= {(*_words(label), 0.0) for label in stored}
    dated = {(*_words(label), label.created): label for label in labels}
    new = {key: label for key, label in dated.items() if key not in seen}
    now = time.time()
    store.labels.add_many(_dated(label, now) for label in new.values())
    return ReadLabels(added=len(new), unchanged=len(labels) - len(new), empty=reader.empty)


def export_labels(store: Store, run: Run, path: Path, *, criterion: str = "") -> int:
    """Write the labels of a run, the oldest first, and return how many there are."""
    labels = [label for label in store.labels.of_run(run.id) if criterion in ("", label.criterion)]
    with _writing(path, COLUMNS) as write:
        for label in labels:
            write(
                {
                    "case": label.case_id,
                    "attempt": label.index,
                    "criterion": label.criterion,
                    "points": label.points,
                    "note": label.note,
                    "author": label.author,
                    "created": label.created,
                    "seen": int(label.seen),
                }
            )
    return len(labels)


def export_sample(
    store: Store, run: Run, path: Path, size: int, *, criterion: str = "", seed: str = ""
) -> int:
    """Write cases without a label to be filled in, in random order; return how many there are.

    What the judge said is left out, so that nobody is led by it.
    """
    labelled = {
        label.case_id for label in store.labels.of_run(run.id) if criterion in ("", label.criterion)
    }
    waiting = (
        case_id for _, case_id in RandomCases(store, run, seed).after() if case_id not in labelled
    )
    if criterion.startswith(SCANNED):
        places = _scanned_rows(store, run, criterion)
        rows = (
            _row_to_fill_in(store.attempts.case(run.id, case_id), criterion, places[case_id][0])
            for case_id in waiting
            if case_id in places
        )
    else:
        rows = (_to_fill_in(store.attempts.case(run.id, case_id), criterion) for case_id in waiting)
    count = 0
    with _writing(path, (*COLUMNS[:6], *SHOWN)) as write:
        for row in islice((row for row in rows if row is not None), size):
            write(row)
            count += 1
    if criterion and not count and not labelled:
        raise UsageError(f"no case of the run {run.name!r} has a criterion {criterion!r}")
    return count


def scanned_criteria(store: Store, run: Run) -> set[str]:
    """Return what labels of a scan's marks name: ``scan:`` and the kind."""
    return {f"{SCANNED}{scan.get('kind')}" for scan in store.scans.of_run(run.id)}


def scan_criterion(name: str) -> Criterion:
    """Return the criterion by which people say whether an attempt is of a kind: 1 or 0."""
    question = f"Is it a case of {name.removeprefix(SCANNED)}?"
    return Criterion(id=name, scorer=Spec(name="judged", params={"question": question}))


def _scanned_rows(store: Store, run: Run, name: str) -> dict[str, list[int]]:
    """Return the attempts that were looked at for a kind, by case."""
    places: dict[str, list[int]] = {}
    for scan in store.scans.of_run(run.id):
        if name == f"{SCANNED}{scan.get('kind')}":
            for mark in rows_of(scan, "marks"):
                places.setdefault(str(mark.get("case")), []).append(int(mark.get("attempt", 0)))
    return places


def labelled_by_default(linked: LinkedCase) -> Criterion | None:
    """Return the criterion that a person is asked about: the first that a judge decided."""
    for criterion in linked.case.criteria:
        for _, scores in linked.attempts:
            score = scores.get(criterion.id)
            if score is not None and any("raw" in row for row in rows_of([score.detail])):
                return criterion
    return next(iter(linked.case.criteria), None)


def _to_fill_in(linked: LinkedCase, name: str) -> dict[str, Json] | None:
    criteria = {criterion.id: criterion for criterion in linked.case.criteria}
    criterion = criteria.get(name) if name else labelled_by_default(linked)
    if criterion is None or not linked.attempts:
        return None
    return _row_to_fill_in(linked, criterion.id, linked.attempts[0][0].index)


def _row_to_fill_in(linked: LinkedCase, criterion: str, index: int) -> dict[str, Json] | None:
    attempt = next((one for one, _ in linked.attempts if one.index == index), None)
    if attempt is None:
        return None
    return {
        "case": linked.case.id,
        "attempt": attempt.index,
        "criterion": criterion,
        "points": None,
        "note": "",
        "author": "",
        "question": linked.case.prompt,
        "answer": attempt.output,
    }


@dataclass
class _LabelRows:
    """The rows of a file, each checked against the run that it is about."""

    store: Store
    run: Run
    findings: Findings
    author: str = ""
    empty: int = 0
    _cases: dict[str, "LinkedCase | None"] = field(default_factory=dict)
    _scales: dict[tuple[str, str], CriterionScale] = field(default_factory=dict)
    _undated: dict[tuple[str, int, str, str], tuple[float | None, int]] = field(
        default_factory=dict
    )
    """Points and row of each label that does not say when it was given."""

    def read(self, path: Path) -> Iterator[Label]:
        is_table = path.suffix.lower() != ".jsonl"
        for number, document in enumerate(read_rows(path)):
            if not isinstance(document.data, dict):
                self._wrong(document, "", "a row is an object")
                continue
            if is_table:
                document.data = {name: _unquoted(text) for name, text in document.data.items()}
            self._check_names(document, first=number == 0)
            if document.data.get("points") in (None, ""):
                self.empty += 1
            elif (label := self._label(document)) is not None:
                self._check_twice(document, label, number + 1)
                yield label

    def _check_twice(self, document: Document, label: Label, row: int) -> None:
        """Refuse what one person says twice, and differently, if nothing tells which is newer."""
        if label.created:
            return
        place = (label.case_id, label.index, label.criterion, label.author)
        points, before = self._undated.setdefault(place, (label.points, row))
        if points != label.points:
            message = f"row {before} has another label of the same attempt by the same author"
            self._wrong(document, "points", message, hint="keep one of them")

    def _check_names(self, document: Document, *, first: bool) -> None:
        data = document.data
        for name in ("case", "points"):
            if first and name not in data:
                close = closest(name, data, cutoff=0.6)
                hint = f"call {close!r} {name!r}" if close else suggest(name, data)
                problem = document.problem((), f"a label has a {name!r}", hint=hint)
                raise SuiteError([problem])

    def _label(self, document: Document) -> Label | None:
        data = document.data
        if (linked := self._case(document)) is None:
            return None
        index = _whole(data.get("attempt", 0))
        if index is None or index not in {attempt.index for attempt, _ in linked.attempts}:
            indices = ", ".join(str(attempt.index) for attempt, _ in linked.attempts)
            written = data.get("attempt")
            message = (
                f"the case {linked.case.id!r} has no attempt {written!r} (there are: {indices})"
            )
            self._wrong(document, "attempt", message)
            return None
        criterion = self._criterion(document, linked)
        points = None if criterion is None else self._points(document, linked, criterion)
        created = _time(data.get("created"))
        if created is None:
            self._wrong(document, "created", "'created' is a number of seconds")
            return None
        seen = _SEEN.get(_text(data.get("seen")).strip().lower())
        if seen is None:
            self._wrong(document, "seen", "'seen' is 1 or 0: whether the verdict had been seen")
        if criterion is None or points is None or seen is None:
            return None
        return Label(
            run_id=self.run.id,
            case_id=linked.case.id,
            index=index,
            criterion=criterion.id,
            points=points,
            note=_text(data.get("note"))[:LONGEST_NOTE],
            author=(_text(data.get("author")) or self.author)[:LONGEST_AUTHOR],
            created=created,
            seen=seen,
        )

    def _case(self, document: Document) -> LinkedCase | None:
        case_id = _text(document.data.get("case"))
        if case_id not in self._cases:
            try:
                self._cases[case_id] = self.store.attempts.case(self.run.id, case_id)
            except ProctorError:
                self._cases[case_id] = None
        if self._cases[case_id] is None:
            self._wrong(document, "case", f"the run {self.run.name!r} has no case {case_id!r}")
        return self._cases[case_id]

    def _criterion(self, document: Document, linked: LinkedCase) -> Criterion | None:
        name = _text(document.data.get("criterion"))
        criteria = {criterion.id: criterion for criterion in linked.case.criteria}
        if name in criteria:
            return criteria[name]
        if name in scanned_criteria(self.store, self.run):
            return scan_criterion(name)
        if not name and criteria:
            return labelled_by_default(linked)
        message = f"the case {linked.case.id!r} has no criterion {name!r}"
        self._wrong(document, "criterion", message, hint=suggest(name, criteria))
        return None

    def _points(self, document: Document, linked: LinkedCase, criterion: Criterion) -> float | None:
        key = (linked.case.id, criterion.id)
        if key not in self._scales:
            scores = [scores.get(criterion.id) for _, scores in linked.attempts]
            score = next((one for one in scores if one is not None and one.out_of), None)
            self._scales[key] = scale_of(criterion, score)
        scale, written = self._scales[key], document.data["points"]
        points = _number(written, scale)
        if points is None:
            words = "'points' is a number, or right or wrong"
            self._wrong(document, "points", f"{words}, not {str(written)[:40]!r}")
            return None
        if not scale.holds(points):
            ends = f"from {scale.low:g} to {scale.high:g}"
            message = f"{criterion.id!r} gives points {ends}, not {points:g}"
            self._wrong(document, "points", message)
            return None
        return points

    def _wrong(self, document: Document, name: str, message: str, *, hint: str = "") -> None:
        self.findings.add(document.problem((name,) if name else (), message, hint=hint))


def _words(label: Label) -> tuple[str, int, str, float | None, str, str, bool]:
    """Return what two labels have in common that say the same, whenever they were given."""
    place = (label.case_id, label.index, label.criterion)
    return (*place, label.points, label.note, label.author, label.seen)


def _dated(label: Label, now: float) -> Label:
    return label if label.created else replace(label, created=now)


def _number(written: Json, scale: CriterionScale) -> float | None:
    """Read points: a number, or a word for full marks or none."""
    if isinstance(written, bool):
        return scale.high if written else scale.low
    if isinstance(written, str):
        word = written.strip().lower()
        if word in _MARKS:
            return scale.high if _MARKS[word] else scale.low
        try:
            written = float(word)
        except ValueError:
            return None
    if not isinstance(written, int | float) or not isfinite(written):
        return None
    return float(written)


def _whole(written: Json) -> int | None:
    if isinstance(written, bool) or not isinstance(written, str | int | float | None):
        return None
    try:
        number = float(written or 0)
    except ValueError:
        return None
    return int(number) if 0 <= number <= MOST_INDEX and number.is_integer() else None


def _time(written: Json) -> float | None:
    """Read when a label was given, 0 where nothing says so."""
    if written in (None, ""):
        return 0.0
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        number = float(written)
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _text(written: Json) -> str:
    return "" if written is None else str(written)


def _check_ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"{path}: labels are kept in {', '.join(ENDINGS)} files")
    return ending


@contextmanager
def _writing(path: Path, columns: Iterable[str]) -> Iterator["_Write"]:
    ending = _check_ending(path)
    names = tuple(columns)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            yield _Write(file, names, ending)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


class _Write:
    """Rows written one by one, as a table or as JSON."""

    def __init__(self, file: IO[str], columns: tuple[str, ...], ending: str) -> None:
        self.file, self.columns = file, columns
        self.table = None
        if ending != ".jsonl":
            delimiter = "\t" if ending == ".tsv" else ","
            self.table = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            # A carriage return by itself ends a row for spreadsheets, too, unless it is in quotes.
            self.in_quotes = csv.writer(
                file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL
            )
            self.table.writerow(columns)

    def __call__(self, row: Mapping[str, Json]) -> None:
        """Write one row."""
        if self.table is None:
            self.file.write(json_bytes.dumps(dict(row)).decode() + "\n")
        else:
            cells = [_cell(row.get(name)) for name in self.columns]
            table = self.in_quotes if any("\r" in cell for cell in cells) else self.table
            table.writerow(cells)


def _cell(value: Json) -> str:
    """Return a field that no spreadsheet takes for a formula, and that reads back as it was."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    text = value.replace("\0", "")
    return f"'{text}" if text.startswith(_FORMULAS) else text


def _unquoted(text: str) -> str:
    quoted = text[:1] == "'" and text[1:2] in _FORMULAS and text[1:2] != ""
    return text[1:] if quoted else text
