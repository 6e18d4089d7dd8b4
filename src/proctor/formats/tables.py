"""Tables that others made: columns by other names, and tables that are objects of a program."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from proctor.core.fingerprint import digest
from proctor.core.suite import Case, Json
from proctor.errors import Problem, UsageError
from proctor.formats.native.spot import meant_by
from proctor.io.findings import Findings
from proctor.io.text_files import Document
from proctor.suggestions import LOOSELY, suggest

ANSWER_COLUMNS = ("case", "output", "attempt", "messages", "tool_calls", "retrieved", "context")
"""What rows of answers call their parts; cases have a context, too."""
_ANSWERS_MEANT = {
    "case": ("case_id", "id", "question_id", "example_id", "sample_id", "key"),
    "output": (
        "response",
        "answer",
        "completion",
        "prediction",
        "generation",
        "model_output",
        "actual_output",
    ),
}


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Names of columns in a file, by what cases or answers call them."""

    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, text: str, names: Collection[str] = (), prefixes: tuple[str, ...] = ()
    ) -> "ColumnMap":
        """Read ``ask=question,reference=answer``, or raise a UsageError.

        Where no names are listed, any will do.
        """
        columns: dict[str, str] = {}
        for part in filter(None, (one.strip() for one in text.split(","))):
            name, sign, column = (piece.strip() for piece in part.partition("="))
            if not sign or not name or not column:
                raise UsageError(
                    f"--columns: expected NAME=COLUMN, as in ask=question,reference=answer,"
                    f" not {part!r}"
                )
            if names and name not in names and not name.startswith(prefixes):
                hint = suggest(name, names, cutoff=LOOSELY)
                raise UsageError(f"--columns: cases and answers have no {name!r} ({hint})")
            if name in columns:
                raise UsageError(f"--columns: {name!r} is there twice")
            columns[name] = column
        return cls(columns)

    def only(self, names: Collection[str]) -> "ColumnMap":
        """Return the part that is about some names."""
        return ColumnMap({name: col for name, col in self.columns.items() if name in names})

    def without(self, names: Collection[str]) -> "ColumnMap":
        """Return the part that is about other names."""
        return ColumnMap({name: col for name, col in self.columns.items() if name not in names})

    def __bool__(self) -> bool:
        return bool(self.columns)

    def rename(self, document: Document, names: Collection[str], prefixes: tuple[str, ...]) -> None:
        """Give the columns of a row the names that are meant; what nobody knows is left out."""
        data = document.data
        taken = set(self.columns.values())
        row = {
            name: value
            for name, value in data.items()
            if name not in taken and (name in names or name.startswith(prefixes))
        }
        for name, column in self.columns.items():
            if column in data:
                row[name] = data[column]
        document.data = row

    def lacking(self, document: Document) -> Problem | None:
        """Return what is wrong where a row has not the columns that were named."""
        missing = [column for column in self.columns.values() if column not in document.data]
        if not missing:
            return None
        hint = suggest(missing[0], document.data, listed=list(map(str, document.data))[:20])
        return document.problem((), f"there is no column {missing[0]!r}", hint=hint)


MOST_COMPARED = 200_000
"""How many rows of a table are looked at for others that say the same."""


@dataclass
class RepeatedRows:
    """Rows of one table that say what earlier ones say, but for their ids."""

    first: dict[str, int] = field(default_factory=dict)
    """By what a row says, the first that says it."""
    twins: list[tuple[int, int]] = field(default_factory=list)

    def add(self, case: Case, row: int) -> None:
        """Look at the case of one more row."""
        if len(self.first) >= MOST_COMPARED:
            return
        key = digest(case.messages, case.references, case.context, case.criteria)
        if (first := self.first.setdefault(key, row)) != row:
            self.twins.append((row, first))

    def warn(self, findings: Findings, path: Path) -> None:
        """Warn of the rows that repeat others, if there are any."""
        if not self.twins:
            return
        shown = ", ".join(f"{row} (as {first})" for row, first in self.twins[:3])
        more = f", … ({len(self.twins)} in all)" if len(self.twins) > 3 else ""
        message = f"rows of this table repeat earlier ones: {shown}{more}"
        place = Document(path=path, data=None, row=self.twins[0][0])
        findings.warn(place.problem((), message, severity="warning"))


def suggested(columns: Sequence[str], names: Collection[str]) -> str:
    """Return what --columns should say for columns of other names; empty if nobody knows."""
    pairs: dict[str, str] = {}
    for column in columns[:20]:
        name = meant_by(column, names)
        if name and name != column and "," not in column and "=" not in column:
            pairs.setdefault(name, column)
    return ",".join(f"{name}={column}" for name, column in pairs.items())


def suggested_answers(columns: Collection[str]) -> str:
    """Return what --columns should say for a table of answers; empty if nobody knows."""
    pairs = {
        name: next((column for column in meant if column in columns), "")
        for name, meant in _ANSWERS_MEANT.items()
        if name not in columns
    }
    return ",".join(f"{name}={column}" for name, column in pairs.items() if column)


def table_rows(table: Any) -> Iterator[dict[str, Json]]:
    """Yield the rows of a table that is an object: a DataFrame, an Arrow table, a Dataset, or rows.

    Libraries are told apart by the modules of the object, so that none of them is imported.
    """
    library = type(table).__module__.partition(".")[0]
    if library == "pandas":
        rows: Any = table.to_dict("records")
    elif library == "polars":
        rows = table.to_dicts()
    elif library == "pyarrow":
        rows = table.to_pylist()
    elif isinstance(table, Mapping):
        columns = {str(name): list(values) for name, values in table.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise UsageError("the columns of the table have different lengths")
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    else:
        rows = table
    for row in rows:
        if not isinstance(row, Mapping):
            raise UsageError(f"a row of a table is a mapping, not {type(row).__name__}")
        yield {str(name): _value(value) for name, value in row.items() if not _missing(value)}


def _missing(value: Any) -> bool:
    """Tell whether a cell is empty: nothing, or a float that is no number."""
    return value is None or (isinstance(value, float) and isnan(value))


def _value(value: Any) -> Json:
    """Return a cell as a JSON value; numbers of numpy as Python's own."""
    if type(value).__module__ == "numpy":
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_value(part) for part in value]
    return value
