"""Tables of Arthur Bench: CSV files with a column for each thing, and suites made of them."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.io.text_files import DELIMITERS, MAX_ROW, csv_delimiter, file_error, read_text

INPUT, REFERENCE, CANDIDATE = "input", "reference_output", "candidate_output"
CONTEXT, ID = "context", "id"
_LONGEST = 255
Table = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCases:
    """Columns of a suite's cases, each as long as the inputs."""

    inputs: Sequence[str]
    references: Sequence[str] | None = None
    contexts: Sequence[Sequence[str]] | None = None
    ids: Sequence[str] | None = None
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_table(path: Path) -> Table:
    """Read a CSV file by columns; blanks around the names of a header do not count."""
    text = read_text(path, limit=MAX_ROW * 8)
    csv.field_size_limit(MAX_ROW)
    first = text.partition("\n")[0]
    delimiter = csv_delimiter(first)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        strict=True,
        skipinitialspace=f"{delimiter} " in first,
        delimiter=delimiter,
    )
    try:
        header = [name.strip() for name in next(reader, [])]
        if not any(header):
            raise file_error(path, "the file is empty; a header line is needed", 1, 1)
        if twice := [name for name, count in Counter(header).items() if count > 1]:
            raise file_error(path, f"columns that occur twice: {', '.join(twice)}", 1, 1)
        rows = []
        for row in reader:
            if row and len(row) != len(header):
                message = f"a row of {len(row)} fields under a header of {len(header)}"
                named = DELIMITERS[delimiter]
                hint = f"put fields that contain {named} or line breaks in double quotes"
                raise file_error(path, message, reader.line_num, 1, hint=hint)
            if row:
                rows.append(row)
    except csv.Error as error:
        raise file_error(path, f"not readable as CSV: {error}", reader.line_num, 1) from None
    return {name: [row[place] for row in rows] for place, name in enumerate(header)}


def name_problem(name: object) -> str:
    """Say why something cannot be the name of a suite or a run; nothing if it can."""
    if not isinstance(name, str) or not name.strip():
        return "a name is a text with at least one letter"
    if name.strip(".") == "" or "/" in name or "\\" in name:
        return f"{name!r} is no name but a path (fix: leave out slashes and lone dots)"
    if any(ord(char) < 32 for char in name):
        return "a name may not contain control characters"
    if len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"a name has at most {_LONGEST} bytes"
    return ""


def place_id(position: int) -> str:
    """Return the id of a case that has none of its own."""
    return f"row-{position + 1}"


def suite_of(
    header: Suite, cases: BenchCases, method: str, specs: Sequence[Spec], full: float
) -> Suite:
    """Make a suite whose every case is scored by one method."""
    suite_cases = tuple(
        _case(cases, position, Criterion(id=method, scorer=spec), full)
        for position, spec in enumerate(specs)
    )
    return Suite(
        name=header.name,
        cases=suite_cases,
        version=header.version,
        description=header.description,
        compat=header.compat,
        dialect="bench",
        measures=(Spec(name="mean_points", params={"criterion": method}),),
    )


def _case(cases: BenchCases, position: int, criterion: Criterion, full: float) -> Case:
    references, contexts = cases.references, cases.contexts
    return Case(
        id=place_id(position) if cases.ids is None else cases.ids[position],
        messages=(Message(role="user", content=cases.inputs[position]),),
        criteria=(criterion,),
        references=() if references is None else (references[position],),
        context=() if contexts is None else tuple(contexts[position]),
        tags={name: (values[position],) for name, values in cases.tags.items()},
        full_score=full,
    )
