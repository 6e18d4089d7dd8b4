"""Shares of the rows of JSONL and Parquet files: where each begins, and its rows.

Parquet is decoded in the process that reads it: it is for processes that are limited, and that may
be lost.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

from proctor.errors import SuiteError
from proctor.io.json_bytes import Json
from proctor.io.text_files import MAX_ROW, decode, limit, parse_json, read_lines

PARQUET, JSONL = ".parquet", ".jsonl"
ENDINGS = (PARQUET, JSONL)
MOST_BRACKETS = 50
_LONG_NUMBER = re.compile(rb"\d{15}")


class UnreadableShare(Exception):
    """Something wrong in a share, or with a file: reading the whole file says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Some rows of a file, one after the other."""

    path: str
    rows: int
    groups: tuple[int, ...] = ()
    """The row groups of a Parquet file that they lie in."""
    skip: int = 0
    """How many rows come before them: of the first group, or from the offset on."""
    first: int = 0
    """The number of the first row of a Parquet file, from 0."""
    offset: int = 0
    """Where a line of a text begins, and the number of that line, from 1."""
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """The rows of a file, and where to cut them."""

    path: str
    rows: int
    size: int = 0
    """Bytes of all rows, decoded."""
    columns: tuple[str, ...] = ()
    """Of a Parquet file."""
    groups: tuple[int, ...] = ()
    """The rows of each row group."""
    marks: tuple[tuple[int, int], ...] = ()
    """Of a text, offset and number of the line of every so many rows, and those of its end."""
    every: int = 0
    ends: tuple[int, ...] = ()
    """Where each row group ends, counted in rows."""

    def __post_init__(self) -> None:
        if len(self.ends) != len(self.groups):
            object.__setattr__(self, "ends", tuple(accumulate(self.groups)))

    def cut(self, first: int, rows: int) -> Share:
        """Return some of the rows."""
        if self.groups or not self.marks:
            return self._of_groups(first, rows)
        number, skip = divmod(first, self.every)
        offset, line = self.marks[number]
        return Share(path=self.path, rows=rows, skip=skip, offset=offset, line=line)

    def _of_groups(self, first: int, rows: int) -> Share:
        begin = bisect_right(self.ends, first)
        end = min(len(self.ends), bisect_left(self.ends, first + rows) + 1)
        groups = tuple(range(begin, end))
        skip = first - (self.ends[begin] - self.groups[begin]) if groups else 0
        return Share(path=self.path, rows=rows, groups=groups, skip=skip, first=first)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Rows of a table that has columns of texts and no others."""

    before: int
    """How many rows come before them."""
    names: Sequence[str]
    columns: Sequence[Sequence[str | None]]


def plan_text(path: Path, every: int) -> FilePlan:
    """Go through the lines of a JSONL file, and note where every so many rows begin."""
    rows = offset = 0
    marks: list[tuple[int, int]] = []
    most, number = limit("rows"), 0
    try:
        for number, line in enumerate(read_lines(path), 1):
            if number > most:
                raise UnreadableShare
            if line.strip():
                if rows % every == 0:
                    marks.append((offset, number))
                rows += 1
            offset += len(line)
    except SuiteError:
        raise UnreadableShare from None
    return FilePlan(
        path=str(path), rows=rows, size=offset, marks=(*marks, (offset, number + 1)), every=every
    )


def plan_parquet(path: Path, limits: Mapping[str, int]) -> FilePlan:
    """Look at what a Parquet file says of itself."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    from proctor.io.parquet_process import opened_file

    with _reading(pyarrow), path.open("rb") as file:
        opened = opened_file(pyarrow, file, limits)
        about = opened.metadata
        groups = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
        size = sum(about.row_group(place).total_byte_size for place in range(len(groups)))
        names = tuple(opened.schema_arrow.names)
    return FilePlan(
        path=str(path), rows=sum(groups), size=size, columns=names, groups=tuple(groups)
    )


def rows_of(share: Share, limits: Mapping[str, int]) -> Iterator[tuple[int, Json]]:
    """Yield line number and data of each row of a share."""
    if share.path.lower().endswith(JSONL):
        yield from _text_rows(share)
    else:
        yield from _table_rows(share, limits)


def _text_rows(share: Share) -> Iterator[tuple[int, Json]]:
    path = Path(share.path)
    left, before = share.rows, share.skip
    try:
        with path.open("rb") as file:
            file.seek(share.offset)
            for number, line in enumerate(iter(lambda: file.readline(MAX_ROW), b""), share.line):
                if not left:
                    return
                if len(line) >= MAX_ROW:
                    raise UnreadableShare
                if not line.strip():
                    continue
                if before:
                    before -= 1
                    continue
                left -= 1
                yield number, _parsed(path, line, number)
    except (OSError, SuiteError, ValueError):
        raise UnreadableShare from None
    if left:
        raise UnreadableShare


def _parsed(path: Path, line: bytes, number: int) -> Json:
    """Read a line; quickly where both readers of JSON come to the same value."""
    brackets = line.count(b"[") + line.count(b"{")
    if brackets <= MOST_BRACKETS and not _LONG_NUMBER.search(line):
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError:
            pass
    return parse_json(decode(path, line.rstrip(b"\r\n"), row=number))


def _table_rows(share: Share, limits: Mapping[str, int]) -> Iterator[tuple[int, Json]]:
    import pyarrow

    with _reading(pyarrow):
        for batch, number, simple in _table_batches(share, limits):
            yield from _rows_of_batch(share, batch, number, simple)


def texts_or_rows(
    share: Share, limits: Mapping[str, int], wanted: Sequence[str] | None = None
) -> Iterator[TextColumns | list[tuple[int, Json]]]:
    """Yield the rows of a share of a table, some at a time.

    They come as columns of texts where the table has the wanted columns and no others, any by
    default, and each is one of texts; else row by row, as from ``rows_of``.
    """
    import pyarrow

    with _reading(pyarrow):
        for batch, number, simple in _table_batches(share, limits):
            kinds = [pyarrow.types.is_string, pyarrow.types.is_large_string]
            own = batch.schema.names
            names = own if wanted is None else wanted
            if (
                own
                and len(own) == len(names) == sum(name in own for name in names)
                and all(any(check(kind) for check in kinds) for kind in batch.schema.types)
            ):
                columns = [batch.column(name).to_pylist() for name in names]
                yield TextColumns(number, names, columns)
            else:
                yield list(_rows_of_batch(share, batch, number, simple))


def _table_batches(share: Share, limits: Mapping[str, int]) -> Iterator[tuple[Any, int, bool]]:
    """Yield batches with how many rows come before, and whether values are JSON as they are."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    from proctor.io.parquet_files import is_simple
    from proctor.io.parquet_process import opened_file, plain_batches, shown_schema

    with Path(share.path).open("rb") as file:
        opened = opened_file(pyarrow, file, limits)
        simple = all(is_simple(pyarrow, one.type) for one in shown_schema(pyarrow, opened))
        before, left = share.skip, share.rows
        number = share.first
        for batch, _ in plain_batches(pyarrow, opened, limits, share.groups):
            part = batch.slice(before, left)
            before = max(0, before - batch.num_rows)
            yield part, number, simple
            number += part.num_rows
            left -= part.num_rows
            if not left:
                return
    raise UnreadableShare


def _rows_of_batch(
    share: Share, batch: Any, before: int, simple: bool
) -> Iterator[tuple[int, Json]]:
    import pyarrow

    from proctor.io.parquet_files import plain_rows

    rows = plain_rows(Path(share.path), pyarrow, batch, before, simple=simple)
    return enumerate(rows, before + 1)


@contextmanager
def _reading(pyarrow: Any) -> Iterator[None]:
    """Turn all that goes wrong with a Parquet file into one error."""
    from proctor.io.parquet_process import LimitPassed

    kinds = (
        *(OSError, ValueError, ArithmeticError, LookupError, TypeError, RecursionError),
        *(MemoryError, pyarrow.ArrowException, LimitPassed, SuiteError),
    )
    try:
        yield
    except kinds:
        raise UnreadableShare from None
