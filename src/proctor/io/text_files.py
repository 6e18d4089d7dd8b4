"""Files that people write: read with limits, and with the place of every value."""

import codecs
import io
import json
import math
import os
import re
import stat
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from proctor.errors import Problem, SuiteError, UsageError
from proctor.io.json_bytes import Json
from proctor.late_patterns import late_pattern
from proctor.records import dataclass

MAX_FILE = 64 * 1024 * 1024
MAX_LINE = 1_000_000
MAX_ROW = 128 * 1024 * 1024
MAX_DEPTH = 60
MAX_NAME = 255
MAX_VALUES = 5_000_000
"""How many values one JSON text may hold, as far as brackets and commas tell."""
MAX_COLUMNS = 10_000
LIMITS: Mapping[str, int] = {
    "rows": 100_000_000,
    "decoded": 1024 * 1024 * 1024,
    "memory": 1024 * 1024 * 1024,
}
"""What a file may come to at most: rows, bytes when it is decoded, and bytes of memory for that.

Whoever trusts a file moves them by a variable of the environment, ``PROCTOR_MAX_ROWS`` and so on.
"""

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may stand between the fields of a table, and what that is called."""
_QUOTED = late_pattern(r'"(?:[^"]|"")*"')
LINE_END = late_pattern("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line in YAML, whose places count so."""

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column, both from 1."""

    line: int
    column: int


@dataclass(eq=False)
class Document:
    """Values of one file (or one line of it), where each stands, and how it is spelt."""

    path: Path
    data: Json
    places: Mapping[Loc, Place] = field(default_factory=dict)
    """Where each value stands; a mapping's entry stands where its key does."""
    spelling: Mapping[Loc, str] = field(default_factory=dict)
    """The text of numbers and booleans as written: ``1.10`` is not ``1.1`` to a keyword."""
    warnings: tuple[Problem, ...] = ()
    text: str = ""
    row: int | None = None
    """The line of a JSONL, CSV or Parquet file that this is."""

    @cached_property
    def lines(self) -> Sequence[str]:
        """Return the lines of the file, for excerpts."""
        return LINE_END.split(self.text)

    def place(self, loc: Loc) -> Place | None:
        """Return where a value stands, or else the nearest thing around it that is known."""
        for end in range(len(loc), -1, -1):
            if (place := self.places.get(loc[:end])) is not None:
                return place
        return Place(self.row, 1) if self.row is not None else None

    def problem(
        self,
        loc: Loc,
        message: str,
        *,
        hint: str = "",
        severity: str = "error",
    ) -> Problem:
        """Make a problem at a value of this file."""
        place = self.place(loc)
        excerpt = ""
        if place is not None and self.text and place.line <= len(self.lines):
            excerpt = self.lines[place.line - 1]
        return Problem(
            message=message,
            file=str(self.path),
            line=place.line if place else None,
            column=place.column if place else None,
            field=show_loc(loc),
            hint=hint,
            excerpt=excerpt,
            severity=severity,  # type: ignore[arg-type]
        )

    def spelt(self, loc: Loc, value: Json) -> str:
        """Return a scalar as the text its author wrote."""
        return value if isinstance(value, str) else self.spelling.get(loc, _as_text(value))


@lru_cache(maxsize=64)
def short_name(path: Path, root: Path) -> str:
    """Return a file's path as seen from a folder; that of a file elsewhere is its name."""
    resolved, top = path.resolve(), root.resolve()
    return resolved.relative_to(top).as_posix() if resolved.is_relative_to(top) else path.name


def variable(name: str) -> str:
    """Return the name of the variable that moves a limit."""
    return f"PROCTOR_MAX_{name.upper()}"


def limit(name: str, usual: int | None = None) -> int:
    """Return a limit: what the environment says, else the usual one."""
    text = os.environ.get(variable(name), "")
    if not text:
        return LIMITS[name] if usual is None else usual
    if not (text.isascii() and text.isdigit()) or not 1 <= len(text) <= 18:
        raise UsageError(f"{variable(name)} is a whole number, not {text[:40]!r}")
    return int(text)


def show_loc(loc: Loc) -> str:
    """Write a location as ``cases[3].weight``."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def read_text(path: Path, *, limit: int = MAX_FILE) -> str:
    """Read a UTF-8 text file, or say what is wrong with it and where."""
    return decode(path, read_bytes(path, limit=limit))


def read_bytes(path: Path, *, limit: int = MAX_FILE) -> bytes:
    """Read a file whole, or say why it cannot be: also where it is more than anybody wants."""
    try:
        status = refuse_pipe(path)
        if status.st_size > limit:
            message = f"the file has {status.st_size:,} bytes; no more than {limit:,} are read"
            raise file_error(path, message)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise file_error(path, "there is no such file") from None
    except IsADirectoryError:
        raise file_error(path, "this is a folder, not a file") from None
    except OSError as error:
        raise file_error(path, f"cannot be read: {error.strerror or error}") from None
    if len(data) > limit:
        # A file of /proc says that it is empty, and is not.
        raise file_error(path, f"the file has more than {limit:,} bytes")
    return data


def read_head(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of a file, to tell what it is; empty where it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def refuse_pipe(path: Path) -> os.stat_result:
    """Raise an error for what is neither file nor folder: reading it might never end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise file_error(path, "this is a pipe or a device, not a file")
    return status


def normal_newlines(text: str) -> str:
    """End every line with a line feed, as reading in text mode does."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decode(path: Path, data: bytes, *, row: int | None = None) -> str:
    """Decode UTF-8, or say where it stops being that."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise file_error(
            path, "this is UTF-16, not UTF-8", row or 1, 1, hint="save the file as UTF-8"
        )
    if (nul := data.find(b"\0")) >= 0:
        line, column = _line_column(data, nul)
        raise file_error(
            path, "this is a binary file (it contains a NUL byte)", row or line, column
        )
    try:
        # The codec that drops the mark is some ten times slower, which many short lines would feel.
        return data.decode("utf-8-sig" if data[:3] == BOM_UTF8 else "utf-8")
    except UnicodeDecodeError as error:
        line, column = _line_column(data, error.start)
        message = f"not valid UTF-8: byte 0x{data[error.start]:02x}"
        hint = "save the file as UTF-8"
        raise file_error(path, message, row or line, column, hint=hint) from None


def read_json(path: Path) -> Document:
    """Read a JSON file as plain values; places are known where parsing failed."""
    text = read_text(path)
    return Document(path=path, data=_parse_json(path, text), text=text)


def read_jsonl(
    path: Path, *, finite: bool = False, seen: Callable[[bytes], None] | None = None
) -> Iterator[Document]:
    """Read a JSON Lines file, one document a line, never holding more than one.

    With ``finite``, a number that is none (NaN, Infinity, 1e400) is an error. ``seen`` is given
    every line as it stands, before its document comes.
    """
    for row, data in jsonl_values(path, finite=finite, seen=seen):
        yield Document(path=path, data=data, row=row)


def jsonl_values(
    path: Path, *, finite: bool = False, seen: Callable[[bytes], None] | None = None
) -> Iterator[tuple[int, Json]]:
    """Read the values of a JSON Lines file with their lines, as ``read_jsonl`` does."""
    most = limit("rows")
    for number, line in enumerate(read_lines(path), 1):
        if number > most:
            raise _too_many_rows(path, most)
        if seen is not None:
            seen(line)
        if line.isspace():
            continue
        if finite or (data := _ordinary_json(line)) is _UNREAD:
            text = decode(path, line.rstrip(b"\r\n"), row=number)
            data = _parse_json(path, text, number, finite=finite)
        yield number, data


def read_lines(path: Path) -> Iterator[bytes]:
    """Read the lines of a file as they stand, never holding more than one."""
    try:
        refuse_pipe(path)
        with path.open("rb") as file:
            number, read = 0, file.readline
            while line := read(MAX_ROW):
                number += 1
                if len(line) >= MAX_ROW:
                    raise file_error(path, f"a line of more than {MAX_ROW:,} bytes", number, 1)
                yield line
    except OSError as error:
        raise _unreadable(path, error) from None


def csv_delimiter(header: str) -> str:
    """Tell by the first line of a table what stands between its fields: most often a comma."""
    bare = _QUOTED.sub("", header)
    return max(DELIMITERS, key=lambda char: (bare.count(char), char == ","))


def read_csv(path: Path) -> Iterator[Document]:
    """Read a CSV file with a header, one document a row; an empty field is an empty text.

    Fields are apart by commas, semicolons, tabs or bars, as the header shows.
    """
    import csv  # which answers as JSON do without

    csv.field_size_limit(MAX_ROW)
    started = 1
    lines = _CsvLines(path)
    try:
        texts = lines.read()
        first = next(texts, "")
        delimiter = csv_delimiter(first)
        reader = csv.reader(chain([first], texts), strict=True, delimiter=delimiter)
        header = next(reader, None)
        if not header:
            raise file_error(path, "the file is empty; a header line is needed", 1, 1)
        if len(header) > MAX_COLUMNS:
            raise file_error(path, f"more than {MAX_COLUMNS:,} columns", 1, 1)
        if len(set(header)) < len(header):
            twice = sorted(name for name, times in Counter(header).items() if times > 1)
            raise file_error(path, f"columns that occur twice: {', '.join(twice)}", 1, 1)
        started, most = reader.line_num + 1, limit("rows")
        for number, row in enumerate(reader, 1):
            if number > most:
                raise _too_many_rows(path, most)
            line, started, lines.buffered = started, reader.line_num + 1, 0
            if not row:
                continue
            if len(row) != len(header):
                message = f"a row of {len(row)} fields under a header of {len(header)}"
                named = DELIMITERS[delimiter]
                hint = f"put fields that contain {named} or line breaks in double quotes"
                raise file_error(path, message, line, 1, hint=hint)
            yield Document(path=path, data=dict(zip(header, row, strict=True)), row=line)
    except csv.Error as error:
        hint = "a field in double quotes ends with one; inside it, a double quote is written twice"
        raise file_error(path, f"not readable as CSV: {error}", started, 1, hint=hint) from None


@dataclass
class _CsvLines:
    """The lines of a text file with their ends, of which a row in quotes may take several."""

    path: Path
    buffered: int = 0
    """How many characters were given since the last row was whole; whoever reads rows says so."""

    def read(self) -> Iterator[str]:
        """Yield line by line, never more than one row can hold."""
        path = self.path
        try:
            refuse_pipe(path)
            encoding = table_encoding(path)
            with path.open("rb") as file:
                text = io.TextIOWrapper(file, encoding=encoding, newline="")
                for number, line in enumerate(iter(lambda: text.readline(MAX_ROW), ""), 1):
                    self.buffered += len(line)
                    if self.buffered >= MAX_ROW:
                        message = f"a row of more than {MAX_ROW:,} characters"
                        raise file_error(path, message, number, 1)
                    if "\0" in line:
                        decode(path, line.encode(), row=number)
                    yield line
        except UnicodeDecodeError:
            raise _undecodable(path) from None
        except OSError as error:
            raise _unreadable(path, error) from None


WINDOWS, CHINESE = "cp1252", "gb18030"
"""Encodings of tables that are not UTF-8, as spreadsheets write them."""
_ENCODED_PAIRS = 0.9
"""The share of bytes beyond ASCII that stand in pairs, from which on a text is Chinese."""


def table_encoding(path: Path) -> str:
    """Tell by its bytes how a table is encoded: UTF-8, UTF-16 with a mark, or what Excel writes."""
    with path.open("rb") as file:
        begin = file.read(2)
        if begin in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        file.seek(0)
        if _decodes(file, "utf-8"):
            return "utf-8-sig"
        file.seek(0)
        part = file.read(MAX_FILE)
        file.seek(0)
        if b"\0" not in part and _in_pairs(part) and _decodes(file, CHINESE):
            return CHINESE
        file.seek(0)
        return WINDOWS if b"\0" not in part and _decodes(file, WINDOWS) else "utf-8-sig"


def _decodes(file: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk := file.read(1 << 20):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _in_pairs(data: bytes) -> bool:
    """Tell whether bytes beyond ASCII come as pairs, as Chinese characters do."""
    runs = re.findall(rb"[\x81-\xfe]{2,}", data)
    high = sum(byte >= 0x80 for byte in data)
    return high > 0 and sum(map(len, runs)) >= _ENCODED_PAIRS * high


def _too_many_rows(path: Path, most: int) -> SuiteError:
    hint = f"if you trust it, set {variable('rows')} higher"
    return file_error(path, f"more than {most:,} rows", most + 1, 1, hint=hint)


def _undecodable(path: Path) -> SuiteError:
    """Find where a text stops being UTF-8, reading it once more."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_ROW), b""), 1):
                decode(path, line, row=number)
    except SuiteError as error:
        return error
    except OSError as error:
        return _unreadable(path, error)
    return file_error(path, "not valid UTF-8", hint="save the file as UTF-8")


def inside(root: Path, base: Path, name: str) -> Path | None:
    """Resolve a path that a suite names, relative to base; none if it leaves the root."""
    written = os.path.join(base, name)
    resolved = Path(os.path.realpath(written))
    if not resolved.is_relative_to(os.path.realpath(root)):
        return None
    short = Path(os.path.normpath(written))
    return short if os.path.realpath(short) == str(resolved) else resolved


def unusable_name(name: str) -> str:
    """Say why a text cannot be the path of a file; nothing if it can."""
    if not name:
        return "an empty text is not a path"
    if "\0" in name:
        return "a path cannot contain a NUL character"
    if max(len(part.encode(errors="replace")) for part in name.split("/")) > MAX_NAME:
        return f"a name in this path has more than {MAX_NAME} bytes"
    return "" if len(name) <= MAX_NAME * 8 else "the path is too long"


def _parse_json(path: Path, text: str, row: int | None = None, *, finite: bool = False) -> Json:
    try:
        return parse_json(text, finite=finite)
    except json.JSONDecodeError as error:
        line = error.lineno if row is None else row
        excerpt = error.doc.split("\n")[error.lineno - 1]
        message = f"not valid JSON: {error.msg}"
        raise file_error(path, message, line, error.colno, excerpt=excerpt) from None
    except ValueError as error:
        raise file_error(path, str(error), row or 1, 1) from None


def parse_json(text: str, *, finite: bool = False) -> Json:
    """Read JSON text that others wrote; what is nested too deep or too much is a ValueError.

    So is a whole number of very many digits and, with ``finite``, what is no number or none that
    a computer holds.
    """
    brackets = text.count("[") + text.count("{")
    if brackets + text.count(",") > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES:,} values")
    how: dict[str, Any] = {}
    if not finite and brackets <= MAX_DEPTH and not _WIDE.search(text):
        # Twice as fast, and otherwise only in that it makes fractions of wide whole numbers.
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(text)
    if finite:
        how = {"parse_constant": _no_number, "parse_float": _finite}
    if finite or _LONG.search(text):
        how["parse_int"] = _short
    try:
        data = json.loads(text, **how)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if brackets > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    return data


_UNREAD = object()
"""What stands for a line that is not ordinary."""
_FLAT = 2 * MAX_DEPTH
"""What is no longer than that, in bytes, is not nested too deep."""


def _ordinary_json(line: bytes) -> Json:
    """Read a line as ``parse_json`` does, if it is what nearly all are, and need not be decoded."""
    if len(line) > _FLAT and (
        len(line) > MAX_VALUES or line.count(b"[") + line.count(b"{") > MAX_DEPTH
    ):
        return _UNREAD
    if _WIDE_BYTES in line.translate(_AS_ZEROS):
        return _UNREAD
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _UNREAD


_TOO_DEEP = f"nested more than {MAX_DEPTH} deep"
MOST_DIGITS = 400
_LONG = late_pattern(rf"[0-9]{{{MOST_DIGITS}}}")
_WIDE = late_pattern("[0-9]{19}")
_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_WIDE_BYTES = b"0" * 19
"""A whole number of more than 64 bits has so many digits."""


def _no_number(text: str) -> Json:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _short(text: str) -> int:
    if len(text) >= MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def _depth(data: Json) -> int:
    depth, level = 0, [data]
    while level := [value for value in level if isinstance(value, dict | list) and value]:
        depth += 1
        level = [
            v for value in level for v in (value.values() if isinstance(value, dict) else value)
        ]
    return depth


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _line_column(data: bytes, offset: int) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, offset - start + 1


def _unreadable(path: Path, error: OSError) -> SuiteError:
    return file_error(path, f"cannot be read: {error.strerror or error}")


def file_error(
    path: Path,
    message: str,
    line: int | None = None,
    column: int | None = None,
    *,
    hint: str = "",
    excerpt: str = "",
) -> SuiteError:
    """Make the error of one problem in a file."""
    return SuiteError(
        [
            Problem(
                message=message,
                file=str(path),
                line=line,
                column=column,
                hint=hint,
                excerpt=excerpt,
            )
        ]
    )
