"""Cases as rows of JSONL, CSV and Parquet files."""

import json
from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.core.suite import Json
from proctor.errors import Problem
from proctor.formats.native.case import CaseKeys
from proctor.formats.native.spot import meant_by
from proctor.io import json_bytes
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.row_files import TABLE_ENDINGS, read_rows
from proctor.io.text_files import CHINESE, WINDOWS, Document, parse_json, table_encoding
from proctor.io.validation import number_with_comma
from proctor.suggestions import closest, did_you_mean

if TYPE_CHECKING:
    from proctor.formats.tables import ColumnMap

TAG_PREFIXES = ("tags.", "tag:")
VAR_PREFIX = "vars."
COLUMNS = frozenset({*CaseKeys.model_fields, "reference"})
_FIRST_COLUMNS = ("id", "ask", "reference", "references", "context", "criteria", "weight")
_TEXTS = frozenset({"id", "ask", "ask_file", "system", "cluster", "source"})
"""What is a text in every suite, whatever it begins with."""
_MAYBE_JSON = frozenset({"context"})
_NUMBERS = frozenset({"weight", "full_score", "null_score", "min_points", "max_points", "out_of"})
"""What is a number in every suite; spreadsheets of some countries write it with a comma."""
_STRUCTURED = CaseKeys.model_fields.keys() - _TEXTS - _MAYBE_JSON


def case_rows(
    findings: Findings, path: Path, columns: "ColumnMap | None" = None
) -> Iterator[Document]:
    """Read the rows of a file as documents whose data have the keys of a case."""
    _warn_of_encoding(findings, path)
    documents = read_rows(path) if not columns else _renamed(findings, path, columns)
    if path.suffix.lower() == ".jsonl":
        yield from _json_rows(findings, documents)
    else:
        yield from _table_rows(findings, path, documents)


def _renamed(findings: Findings, path: Path, columns: "ColumnMap") -> Iterator[Document]:
    """Give columns the names of cases; the first row tells whether they are there."""
    checked = False
    for document in read_rows(path):
        data = document.data
        if isinstance(data, dict) and set(data) != {"suite"}:
            problem = columns.lacking(document)
            if not checked and problem is not None and path.suffix.lower() != ".jsonl":
                findings.add(problem)
                return
            checked = True
            columns.rename(document, COLUMNS, (*TAG_PREFIXES, VAR_PREFIX))
        yield document


def _warn_of_encoding(findings: Findings, path: Path) -> None:
    """Say so where a table is in another encoding than UTF-8."""
    if path.suffix.lower() not in TABLE_ENDINGS or not path.is_file():
        return
    encoding = table_encoding(path)
    if encoding in (WINDOWS, CHINESE):
        message = f"this table is not UTF-8; it was read as {encoding}"
        hint = "save it as UTF-8, if letters look wrong"
        findings.warn(_top(path).problem((), message, hint=hint, severity="warning"))


def _json_rows(findings: Findings, documents: Iterable[Document]) -> Iterator[Document]:
    for document in documents:
        if not isinstance(document.data, dict):
            message = f"a case is an object, not {describe(document.data)}"
            findings.add(document.problem((), message))
        elif is_encodable(document.data):
            yield document
        else:
            message = "a text contains half of a surrogate pair, which is no character"
            findings.add(document.problem((), message))


def _table_rows(
    findings: Findings, path: Path, documents: Iterable[Document]
) -> Iterator[Document]:
    columns: dict[str, None] = {}
    strange = False
    for document in documents:
        if not columns or not document.data.keys() <= columns.keys():
            new = [name for name in document.data if name not in columns]
            columns |= dict.fromkeys(new)
            if not any(name in COLUMNS for name in columns):
                findings.add(_no_known_column(path, list(columns)))
                return
            unknown = [name for name in new if not _is_known(name)]
            strange = strange or bool(unknown)
            findings.add(*(_unknown_column(path, name) for name in unknown))
        before = findings.total
        document.data = _case_of(findings, document)
        if not strange and findings.total == before:
            yield document


def read_table_row(findings: Findings, document: Document) -> None:
    """Give the row of a table the keys of a case, noting every problem."""
    unknown = [name for name in document.data if not _is_known(name)]
    findings.add(*(_unknown_column(document.path, name) for name in unknown))
    document.data = _case_of(findings, document)


def _is_known(column: str) -> bool:
    return column in COLUMNS or column.startswith((*TAG_PREFIXES, VAR_PREFIX))


def _no_known_column(path: Path, columns: Sequence[str]) -> Problem:
    """Name the columns that are there, and what cases would call them."""
    there = ", ".join(repr(name[:40]) for name in columns[:20]) + ", …" * (len(columns) > 20)
    message = f"no column of this file has a name that cases know: there are {there}"
    meant = [
        f"{name[:40]!r} {column!r}" for name in columns[:20] if (column := meant_by(name, COLUMNS))
    ]
    hint = f"cases know {', '.join(_FIRST_COLUMNS)}, … and tags.NAME"
    if meant:
        hint = f"--columns {suggested(columns)}, or call {', '.join(meant)}: {hint}"
    else:
        hint = f"--columns ask=COLUMN,reference=COLUMN: {hint}"
    return _top(path).problem((), message, hint=hint)


def suggested(columns: Sequence[str]) -> str:
    """Return what --columns should say for columns of other names."""
    from proctor.formats.tables import suggested as suggested_columns

    return suggested_columns(columns, COLUMNS)


def _unknown_column(path: Path, column: str) -> Problem:
    meant = meant_by(column, COLUMNS) or closest(column, sorted(COLUMNS))
    hint = did_you_mean(meant) or f"for a tag, call the column 'tags.{column}'"
    if meant:
        hint += f" (or leave the file as it is, and say --columns {meant}={column})"
    return _top(path).problem((), f"unknown column {column!r}", hint=hint)


def _top(path: Path) -> Document:
    """Return the header of a table, as a place."""
    return Document(path=path, data=None, row=1 if path.suffix.lower() in TABLE_ENDINGS else None)


def _case_of(findings: Findings, document: Document) -> dict[str, Json]:
    case: dict[str, Json] = {}
    tags: dict[str, Json] = {}
    variables: dict[str, Json] = {}
    for column, cell in document.data.items():
        if cell is None or cell == "" or (isinstance(cell, float) and isnan(cell)):
            continue
        if column.startswith(TAG_PREFIXES):
            name = next(column.removeprefix(p) for p in TAG_PREFIXES if column.startswith(p))
            tags[name] = _maybe_list(cell)
        elif column.startswith(VAR_PREFIX):
            variables[column.removeprefix(VAR_PREFIX)] = _maybe_json(cell)
        elif column == "reference":
            case.setdefault("references", [cell])
        else:
            case[column] = _cell(findings, document, column, cell)
    if "reference" in document.data and "references" in document.data:
        message = "the columns 'reference' and 'references' say the same thing; write one of them"
        findings.add(document.problem((), message))
    if tags:
        case["tags"] = {**case.get("tags", {}), **tags}
    if variables:
        case["vars"] = {**case.get("vars", {}), **variables}
    return case


def _cell(findings: Findings, document: Document, column: str, cell: Json) -> Json:
    """Read a cell; where a list or mapping may stand, it is written as JSON."""
    if not isinstance(cell, str):
        return cell
    if column in _MAYBE_JSON:
        return _maybe_list(cell)
    if column in _NUMBERS and (value := number_with_comma(cell)) is not None:
        message = f"the column {column!r} has numbers with a decimal comma; they are read as such"
        findings.warn_once(document.problem((column,), message, severity="warning"))
        return value
    if column not in _STRUCTURED or not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        return parse_json(cell)
    except ValueError:
        message = f"the column {column!r} starts like JSON and is not valid JSON"
        hint = "for a text that starts with a bracket, write a JSON list with that text"
        findings.add(document.problem((column,), message, hint=hint))
        return None


def _maybe_json(cell: Json) -> Json:
    """Read a var: a list or a mapping where it is one in JSON, else what it is."""
    if not isinstance(cell, str) or not cell.startswith(("[", "{")):
        return cell
    try:
        return parse_json(cell)
    except ValueError:
        return cell


def _maybe_list(cell: Json) -> Json:
    if not isinstance(cell, str):
        return cell if isinstance(cell, list | bool | int | float) else str(cell)
    if not cell.startswith("["):
        return cell
    try:
        return parse_json(cell)
    except ValueError:
        return cell


def is_encodable(data: Json) -> bool:
    """Tell whether no text holds half of a surrogate pair."""
    if json_bytes.is_writable(data):
        return True
    text = json.dumps(data, ensure_ascii=False)
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def columns_called(text: str) -> "ColumnMap | None":
    """Read what --columns says about cases, or raise a UsageError for names that nobody has."""
    if not text:
        return None
    from proctor.formats.tables import ANSWER_COLUMNS, ColumnMap

    column_names = {*COLUMNS, *ANSWER_COLUMNS}
    columns = ColumnMap.parse(text, column_names, (*TAG_PREFIXES, VAR_PREFIX))
    return columns.without(set(ANSWER_COLUMNS) - COLUMNS)
