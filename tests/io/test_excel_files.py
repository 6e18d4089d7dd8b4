"""Rows of workbooks: values as JSON, and what is no workbook."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.io.excel_files import read_excel

openpyxl = pytest.importorskip("openpyxl")


def book(path: Path, *rows: list[Any]) -> Path:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path


def test_cells_become_values(tmp_path: Path) -> None:
    cells = ["text", 2, 2.0, 2.5, True, date(2026, 1, 2), None]
    names = ["a", "b", "c", "d", "e", "f", "g"]
    (row,) = read_excel(book(tmp_path / "t.xlsx", names, cells))
    assert row.data == {
        "a": "text", "b": 2, "c": 2, "d": 2.5, "e": True, "f": "2026-01-02T00:00:00",
    }  # fmt: skip
    assert row.row == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the first"),
        ([[None, None], ["x", "y"]], "names no column"),
        ([["a", "a"], ["x", "y"]], "columns that occur twice: a"),
    ],
)
def test_what_is_no_table(tmp_path: Path, rows: list[list[Any]], message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        list(read_excel(book(tmp_path / "t.xlsx", *rows)))


def test_what_is_no_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(SuiteError, match="not readable as Excel"):
        list(read_excel(path))
    book(path, ["a"], ["x"])
    monkeypatch.setenv("PROCTOR_MAX_DECODED", "100")
    with pytest.raises(SuiteError, match="too much"):
        list(read_excel(path))
