"""Rows of tables by columns: each row is what reading the table row by row gives."""

from proctor.contracts.shares import FileRow, TextRows


def test_a_row_has_its_line_and_lacks_what_has_no_text() -> None:
    rows = TextRows(10, ("case", "output", "note"), (["a", "b"], ["", None], [None, "odd"]))
    assert rows.row(0) == FileRow(11, {"case": "a", "output": ""})
    assert rows.row(1) == FileRow(12, {"case": "b", "note": "odd"})
