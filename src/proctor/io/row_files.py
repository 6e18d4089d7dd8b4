"""Rows of JSONL, CSV, Excel and Parquet files, told apart by the ending of the name."""

from collections.abc import Iterator
from pathlib import Path

from proctor.io.json_bytes import Json
from proctor.io.text_files import Document, file_error, jsonl_values, read_csv, read_jsonl

TABLE_ENDINGS = (".csv", ".tsv")
"""Tables whose first line names the columns."""


def read_rows(path: Path) -> Iterator[Document]:
    """Read the rows of a file, told apart by the ending of its name."""
    tables = dict.fromkeys(TABLE_ENDINGS, read_csv)
    readers = {".jsonl": read_jsonl, **tables, ".parquet": _read_parquet, ".xlsx": _read_excel}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise file_error(path, f"rows are read from {', '.join(readers)} files")
    if not path.is_file():
        raise file_error(path, "there is no such file")
    return reader(path)


def read_values(path: Path) -> Iterator[tuple[int | None, Json]]:
    """Read the values of a file's rows, each with its line."""
    if path.suffix.lower() == ".jsonl" and path.is_file():
        return jsonl_values(path)
    return ((document.row, document.data) for document in read_rows(path))


def _read_parquet(path: Path) -> Iterator[Document]:
    from proctor.io.parquet_files import read_parquet

    return read_parquet(path)


def _read_excel(path: Path) -> Iterator[Document]:
    from proctor.io.excel_files import read_excel

    return read_excel(path)
