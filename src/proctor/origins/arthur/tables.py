"""Data as notebooks hold it: CSV files, data frames of any make, and lists, as texts."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from os import PathLike
from pathlib import Path
from typing import Any

from proctor.errors import SuiteError
from proctor.origins.arthur.errors import MissingFileError, UserTypeError, UserValueError
from proctor.origins.arthur.rows import read_table
from proctor.suggestions import LOOSELY, closest, did_you_mean

Texts = list[str | None]
_MISSING = frozenset({"NAType", "NaTType"})


class Columns:
    """A table by its columns, wherever it came from."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], what: str) -> None:
        self._columns = columns
        self._what = what

    @classmethod
    def of_frame(cls, frame: Any, what: str) -> "Columns":
        """Take whatever has named columns: a data frame, a table, a data set of Hugging Face."""
        named = getattr(frame, "column_names", None)
        if isinstance(named, Mapping):
            splits = ", ".join(map(repr, named))
            raise UserTypeError(
                f"{what}: this is a data set of several splits, {splits} (fix: pass one of them,"
                f" such as data[{next(iter(named), 'train')!r}])"
            )
        if isinstance(frame, Mapping):
            return cls({str(name): list(cells) for name, cells in frame.items()}, what)
        if isinstance(named, list | tuple):
            return cls({str(name): _cells(frame[name]) for name in named}, what)
        if not hasattr(frame, "columns") or not hasattr(frame, "__getitem__"):
            kind = type(frame).__name__
            raise UserTypeError(f"{what}: expected a data frame or a mapping of lists, not {kind}")
        return cls({str(name): _cells(frame[name]) for name in frame.columns}, what)

    @classmethod
    def of_file(cls, path: str | PathLike[str], what: str) -> "Columns":
        """Read a CSV file."""
        file = Path(path)
        if file.suffix.lower() != ".csv":
            raise UserValueError(f"{what}: {file} is no .csv file (fix: save it as CSV)")
        if not file.is_file():
            raise MissingFileError(f"{what}: there is no file {file}")
        try:
            return cls(read_table(file), what)
        except SuiteError as error:
            raise UserValueError(str(error)) from None

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def texts(self, name: str) -> Texts:
        """Return a column as texts; what is missing is none."""
        if name not in self._columns:
            there = ", ".join(map(repr, self._columns)) or "none"
            close = closest(name, self._columns, cutoff=LOOSELY)
            meant = did_you_mean(close) or f"its columns are: {there}"
            raise UserValueError(f"{self._what} has no column {name!r} ({meant})")
        return texts_of(self._columns[name])


def texts_of(cells: Iterable[Any]) -> Texts:
    """Return cells as texts; a whole number among missing ones is not written as a fraction."""
    listed = list(cells)
    values = [None if _is_missing(cell) else cell for cell in listed]
    numbers = [cell for cell in values if isinstance(cell, float)]
    whole = None in values and all(number.is_integer() for number in numbers)
    return [
        cell
        if cell is None or isinstance(cell, str)
        else str(int(cell))
        if whole and isinstance(cell, float)
        else str(cell)
        for cell in values
    ]


def listed(value: Any, what: str) -> list[Any]:
    """Return a list of texts that was given; one text is none."""
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise UserTypeError(f"{what}: expected a list, not {type(value).__name__}")
    return list(value)


def _cells(column: Any) -> Sequence[Any]:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            cells: Sequence[Any] = getattr(column, name)()
            return cells
    return list(column)


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in _MISSING:
        return True
    return isinstance(cell, float) and isnan(cell)
