"""Rows of Excel workbooks: the first sheet, whose first row names the columns."""

import zipfile
from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource, SuiteError
from proctor.io.json_bytes import Json
from proctor.io.text_files import LIMITS, MAX_COLUMNS, Document, file_error, limit, refuse_pipe


def read_excel(path: Path) -> Iterator[Document]:
    """Read the first sheet of a workbook, one document a row; empty cells are left out."""
    header: list[str] | None = None
    most = limit("rows", min(LIMITS["rows"], 1_048_576))
    for number, cells in enumerate(_cells(path), 1):
        if number > most + 1:
            raise file_error(path, f"more than {most:,} rows", number)
        if header is None:
            header = _header(path, cells)
            continue
        row = {
            name: _value(cell)
            for name, cell in zip(header, cells, strict=False)
            if name and cell is not None
        }
        if row:
            yield Document(path=path, data=row, row=number)
    if header is None:
        raise file_error(path, "the first sheet is empty; a header row is needed", 1, 1)


def _header(path: Path, cells: tuple[Any, ...]) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    if len(names) > MAX_COLUMNS:
        raise file_error(path, f"more than {MAX_COLUMNS:,} columns", 1, 1)
    if not any(names):
        raise file_error(path, "the first row of the first sheet names no column", 1, 1)
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise file_error(path, f"columns that occur twice: {', '.join(twice)}", 1, 1)
    return names


def _cells(path: Path) -> Iterator[tuple[Any, ...]]:
    try:
        import openpyxl
    except ImportError:
        raise MissingResource(
            f"{path}: reading Excel needs openpyxl (fix: pip install 'proctor[excel]', or save the"
            " sheet as CSV)"
        ) from None
    _check_size(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield from book.worksheets[0].iter_rows(values_only=True)
        finally:
            book.close()
    except SuiteError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's file may break the library in any way
        raise file_error(path, f"not readable as Excel: {type(error).__name__}: {error}") from None


def _check_size(path: Path) -> None:
    """Refuse what is no archive, or would come to more than a file may."""
    try:
        refuse_pipe(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise file_error(path, f"not readable as Excel: {error}") from None
    if size > limit("decoded"):
        raise file_error(path, f"the workbook comes to {size:,} bytes; that is too much")


def _value(cell: Any) -> Json:
    if isinstance(cell, str | bool | int):
        return cell
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else cell
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
