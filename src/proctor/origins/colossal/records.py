"""Targets and answers of ColossalAI's evaluation: lists of records, each with its place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Json, Suite
from proctor.errors import DialectError, Problem
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Loc
from proctor.origins.colossal.source import JsonDocument, meant_by, read_document

MOST = 20
"""How many records are named one by one when many lack the same thing."""
FIELDS = ("category", "instruction", "input", "output", "target", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One question with its answer, or its target."""

    place: int
    """Which one of the file it is."""
    id: Json
    """As it is written; none where it is missing."""
    category: str
    instruction: str = ""
    input: str = ""
    output: str | None = None
    target: str = ""

    @property
    def key(self) -> str:
        """Return the id as a text; the place where there is none."""
        return f"#{self.place + 1}" if self.id is None else str(self.id)

    @property
    def reference(self) -> str:
        """Return the target, or else the sample output."""
        return self.target or self.output or ""

    def question(self, joint: str = "\n") -> str:
        """Return the instruction, with the input behind it where there is one."""
        return f"{self.instruction}{joint}{self.input}" if self.input else self.instruction


@dataclass
class Records:
    """The records of a file, and where its problems are noted."""

    document: JsonDocument
    findings: Findings
    rows: list[AnswerRecord] = field(default_factory=list)

    def report(self, loc: Loc, message: str, hint: str = "") -> None:
        """Note a problem."""
        self.findings.error_at(self.document, loc, message, hint=hint)

    def of(self, category: str) -> list[AnswerRecord]:
        """Return the records of a category, in their order."""
        return [row for row in self.rows if row.category == category]


def read_records(path: Path, needed: Iterable[str], findings: Findings) -> Records:
    """Read a list of records, noting problems; ``needed`` are the fields that each must have."""
    document = read_document(path)
    if not isinstance(document.data, list):
        message = f"expected a list of records, not {describe(document.data)}"
        raise DialectError([document.problem((), message)])
    records = Records(document, findings)
    needed = tuple(needed)
    for place, row in enumerate(document.data):
        if (record := _record(records, place, row, needed)) is not None:
            records.rows.append(record)
    if not document.data:
        records.report((), "the list is empty")
    return records


def check_ids(records: Records) -> None:
    """Report ids that occur twice."""
    first: dict[str, int] = {}
    for row in records.rows:
        if row.key in first:
            message = f"the id {row.key} occurs twice (first in record {first[row.key] + 1})"
            records.report((row.place, "id"), message)
        first.setdefault(row.key, row.place)


def _record(records: Records, place: int, row: Json, needed: Sequence[str]) -> AnswerRecord | None:
    if not isinstance(row, dict):
        records.report((place,), f"a record is a mapping, not {describe(row)}")
        return None
    before = records.findings.total
    for name in needed:
        if name not in row:
            similar = [key for key in row if key not in FIELDS]
            close = meant_by(name, similar)
            hint = f"is it {close!r}?" if close else ""
            records.report((place,), f"the record has no {name!r}", hint)
    for name in FIELDS[:-1]:
        value = row.get(name)
        if value is not None and not isinstance(value, str):
            records.report((place, name), f"expected a string, not {describe(value)}")
    row_id = row.get("id")
    if not isinstance(row_id, int | str | None) or isinstance(row_id, bool):
        records.report((place, "id"), f"an id is a whole number or a text, not {describe(row_id)}")
    if "category" in needed and row.get("category") == "":
        records.report((place, "category"), "the category is empty")
    if records.findings.total > before:
        return None
    return AnswerRecord(
        place=place,
        id=row_id,
        category=row.get("category") or "",
        instruction=row.get("instruction") or "",
        input=row.get("input") or "",
        output=row.get("output"),
        target=row.get("target") or "",
    )


def read_answers(path: Path, suite: Suite) -> Iterator[Attempt]:
    """Read answers: by id, or by their place in their category where the original counts so."""
    if path.suffix.lower() != ".json":
        raise DialectError([Problem(message="answers are a JSON list", file=str(path))])
    by_place = bool(suite.compat)
    needed = ("category", "output") if by_place else ("category", "instruction", "output", "id")
    records = read_records(path, needed, Findings())
    pairs = _by_place(records, suite) if by_place else _by_id(records, suite)
    records.findings.check()
    return (_attempt(row, case) for row, case in pairs)


def _attempt(row: AnswerRecord, case: Case) -> Attempt:
    answered = Attempt.of(case.id, row.output)
    meta: dict[str, Json] = {}
    if row.id is not None:
        meta["id"] = row.id
    if row.target:
        meta["target"] = row.target
    return Attempt(
        case_id=answered.case_id, messages=answered.messages, status=answered.status, meta=meta
    )


def _by_id(records: Records, suite: Suite) -> list[tuple[AnswerRecord, Case]]:
    """Find the case of each answer, and report those that are missing or too many."""
    cases = {case.id: case for case in suite.cases}
    categories = {name for case in suite.cases for name in _category(case)}
    check_ids(records)
    pairs = []
    strange: list[AnswerRecord] = []
    for row in records.rows:
        case = cases.get(row.key)
        if case is not None:
            _compare(records, row, case)
            pairs.append((row, case))
        elif row.category in categories:
            strange.append(row)
    for row in strange[:MOST]:
        records.report((row.place, "id"), f"no target has the id {row.key}")
    answered = {row.key for row, _ in pairs}
    missing = [case.id for case in suite.cases if case.id not in answered]
    if missing and not _broken(records):
        records.report(
            (), f"{_listed(missing)} no answer", "every target needs an answer with its id"
        )
    if len(strange) > MOST:
        records.report((), f"{len(strange) - MOST} more ids are those of no target")
    return pairs


def _broken(records: Records) -> bool:
    """Tell whether records were left out because of what is wrong with them."""
    return len(records.rows) < len(records.document.data)


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:MOST]) + (f" and {len(ids) - MOST} more" if len(ids) > MOST else "")
    return f"the id {shown} has" if len(ids) == 1 else f"the ids {shown} have"


def _compare(records: Records, row: AnswerRecord, case: Case) -> None:
    """Report an answer to another question than that of the target with its id."""
    hidden: Mapping[str, Json] = case.hidden
    if row.category not in _category(case):
        message = f"the category is {row.category!r}; the target's is {_category(case)[0]!r}"
        records.report((row.place, "category"), message)
    for name in ("instruction", "input"):
        in_answers, in_targets = getattr(row, name).strip(), str(hidden.get(name, "")).strip()
        if in_answers != in_targets and not (name == "input" and not in_answers):
            message = f"the {name} of id {row.key} is not that of the target with this id"
            hint = "are the ids those of the same questions in both files?"
            records.report((row.place, name), message, hint)


def _by_place(records: Records, suite: Suite) -> list[tuple[AnswerRecord, Case]]:
    """Pair the answers of each category with its targets in their order."""
    grouped: dict[str, list[Case]] = {}
    for case in suite.cases:
        for name in _category(case):
            grouped.setdefault(name, []).append(case)
    pairs = []
    for name, cases in grouped.items():
        rows = records.of(name)
        if len(rows) != len(cases):
            message = f"{len(rows)} answers of category {name!r} for {len(cases)} targets"
            records.report((), message, "the original pairs them by their order")
        pairs += list(zip(rows, cases, strict=False))
    return sorted(pairs, key=lambda pair: pair[0].place)


def _category(case: Case) -> tuple[str, ...]:
    return case.tags.get("category", ())
