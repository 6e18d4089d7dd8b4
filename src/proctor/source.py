"""Files that people write: read with limits, and with the place of every value."""

import csv
import io
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from proctor.core.suite import Json
from proctor.errors import MissingResource, Problem, SuiteError

MAX_FILE = 64 * 1024 * 1024
MAX_LINE = 1_000_000
MAX_ROW = 128 * 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 2_000_000
MAX_ALIASED = 100_000
MAX_ALIASED_TEXT = 32 * 1024 * 1024
MAX_NAME = 255

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Hold a line and a column, both from 1."""

    line: int
    column: int


@dataclass(eq=False)
class Document:
    """Hold the values of one file (or one line of it), where each stands, and how it is spelt."""

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
        return self.text.split("\n")

    def place(self, loc: Loc) -> Place | None:
        """Return where a value stands, or else the nearest thing around it that is known."""
        for end in range(len(loc), -1, -1):
            if (found := self.places.get(loc[:end])) is not None:
                return found
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


def show_loc(loc: Loc) -> str:
    """Write a location as ``cases[3].weight``."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def read_text(path: Path, *, limit: int = MAX_FILE) -> str:
    """Read a UTF-8 text file, or say what is wrong with it and where."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise _wrong(path, "this is a pipe or a device, not a file")
        if found.st_size > limit:
            message = f"the file has {found.st_size:,} bytes; no more than {limit:,} are read"
            raise _wrong(path, message)
        data = path.read_bytes()
    except FileNotFoundError:
        raise _wrong(path, "there is no such file") from None
    except IsADirectoryError:
        raise _wrong(path, "this is a folder, not a file") from None
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror or error}") from None
    return decode(path, data)


def decode(path: Path, data: bytes, *, row: int | None = None) -> str:
    """Decode UTF-8, or say where it stops being that."""
    if (nul := data.find(b"\0")) >= 0:
        line, column = _line_column(data, nul)
        raise _wrong(path, "this is a binary file (it contains a NUL byte)", row or line, column)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _line_column(data, error.start)
        message = f"not valid UTF-8: byte 0x{data[error.start]:02x}"
        hint = "save the file as UTF-8"
        raise _wrong(path, message, row or line, column, hint=hint) from None


def read_yaml(path: Path) -> Document:
    """Read a YAML file as plain values with their places."""
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            message = f"a line of {len(line):,} characters; no more than {MAX_LINE:,} are read"
            raise _wrong(path, message, number, 1)
    return _YamlBuilder(path, text).build()


def read_json(path: Path) -> Document:
    """Read a JSON file as plain values; places are known where parsing failed."""
    text = read_text(path)
    return Document(path=path, data=_parse_json(path, text), text=text)


def read_jsonl(path: Path) -> Iterator[Document]:
    """Read a JSON Lines file, one document a line, never holding more than one."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_ROW), b""), 1):
                if len(line) >= MAX_ROW:
                    raise _wrong(path, f"a line of more than {MAX_ROW:,} bytes", number, 1)
                if not line.strip():
                    continue
                text = decode(path, line.rstrip(b"\r\n"), row=number)
                yield Document(path=path, data=_parse_json(path, text, number), row=number)
    except OSError as error:
        raise _unreadable(path, error) from None


def read_csv(path: Path) -> Iterator[Document]:
    """Read a CSV file with a header, one document a row; an empty field is an empty text."""
    text = read_text(path, limit=MAX_ROW * 8)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    csv.field_size_limit(MAX_ROW)
    started = 1
    try:
        header = next(reader, None)
        if not header:
            raise _wrong(path, "the file is empty; a header line is needed", 1, 1)
        if len(set(header)) < len(header):
            twice = sorted({name for name in header if header.count(name) > 1})
            raise _wrong(path, f"columns that occur twice: {', '.join(twice)}", 1, 1)
        started = reader.line_num + 1
        for row in reader:
            line, started = started, reader.line_num + 1
            if not row:
                continue
            if len(row) != len(header):
                message = f"a row of {len(row)} fields under a header of {len(header)}"
                hint = "put fields that contain commas or line breaks in double quotes"
                raise _wrong(path, message, line, 1, hint=hint)
            yield Document(path=path, data=dict(zip(header, row, strict=True)), row=line)
    except csv.Error as error:
        hint = "a field in double quotes ends with one; inside it, a double quote is written twice"
        raise _wrong(path, f"not readable as CSV: {error}", started, 1, hint=hint) from None


def read_parquet(path: Path) -> Iterator[Document]:
    """Read a Parquet file, one document a row, batch by batch; nulls are left out."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingResource(
            f"{path}: reading Parquet needs pyarrow (fix: pip install 'proctor[parquet]')"
        ) from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    kept = {key: value for key, value in row.items() if value is not None}
                    yield Document(path=path, data=kept, row=number)
    except (OSError, pyarrow.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise _wrong(path, f"not readable as Parquet: {reason}") from None


def read_rows(path: Path) -> Iterator[Document]:
    """Read the rows of a JSONL, CSV or Parquet file, told apart by the name's ending."""
    readers = {".jsonl": read_jsonl, ".csv": read_csv, ".parquet": read_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise _wrong(path, f"rows are read from {', '.join(readers)} files")
    if not path.is_file():
        raise _wrong(path, "there is no such file")
    return reader(path)


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


class _YamlBuilder:
    """Build plain values of YAML events: no recursion, no tags that run code, limits on size."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self.places: dict[Loc, Place] = {}
        self.spelling: dict[Loc, str] = {}
        self.anchors: dict[str, tuple[Json, int, int]] = {}
        """What an anchor stands for, how many values that is, and how many characters."""
        self.warnings: list[Problem] = []
        self.count = self.length = 0
        self.aliased = self.aliased_length = 0
        self.stack: list[_Open] = []
        self.root: Json = None

    def build(self) -> Document:
        """Read all events of the one document."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        documents = 0
        reader = YAML(typ="safe", pure=False)
        try:
            for event in reader.parse(io.StringIO(self.text)):
                kind = type(event).__name__
                if kind == "DocumentStartEvent":
                    documents += 1
                    if documents > 1:
                        raise self._wrong(event, "a second YAML document; one file holds one")
                self._take(kind, event)
        except YAMLError as error:
            raise self._syntax(error) from None
        document = self._document()
        if self.root is None:
            raise _wrong(self.path, "the file is empty", 1, 1)
        return document

    def _document(self) -> Document:
        return Document(
            path=self.path,
            data=self.root,
            places=self.places,
            spelling=self.spelling,
            warnings=tuple(self.warnings),
            text=self.text,
        )

    def _take(self, kind: str, event: Any) -> None:
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._open({} if kind[0] == "M" else [], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._close(event)
        elif kind == "AliasEvent":
            if event.anchor not in self.anchors:
                raise self._wrong(event, f"the alias *{event.anchor} points to nothing before it")
            value, size, length = self.anchors[event.anchor]
            if size == 0:
                raise self._wrong(event, f"the alias *{event.anchor} contains itself")
            self._repeat(event, size, length)
            self._add(value, event, size)

    def _repeat(self, event: Any, size: int, length: int) -> None:
        """Count what an alias stands for: a small file may be huge when it is written out."""
        self.length += length
        self.aliased += size
        self.aliased_length += length
        if self.aliased > MAX_ALIASED:
            raise self._wrong(event, f"more than {MAX_ALIASED:,} values, aliases counted")
        if self.aliased_length > MAX_ALIASED_TEXT:
            message = f"more than {MAX_ALIASED_TEXT:,} characters, aliases counted"
            raise self._wrong(event, message)

    def _scalar(self, event: Any) -> None:
        value: Json = event.value
        tag = _tag(event)
        self.length += len(event.value)
        if tag in (None, "", "!"):
            if event.style in (None, "") and tag != "!":
                value = _plain_scalar(event.value)
        elif str(tag) not in ("tag:yaml.org,2002:str", "!!str"):
            value = self._tagged(str(tag), event)
        if self._is_key():
            self._key(event.value, event)
            return
        loc = self._loc()
        if not isinstance(value, str) and value is not None:
            self.spelling[loc] = event.value
        if event.anchor:
            self.anchors[event.anchor] = (value, 1, len(event.value))
        self._add(value, event, 1)

    def _tagged(self, tag: str, event: Any) -> Json:
        short = tag.removeprefix("tag:yaml.org,2002:").removeprefix("!!")
        if short not in ("int", "float", "bool", "null"):
            raise self._wrong(event, f"the tag {_short(tag)} is not allowed", "write plain values")
        value = _plain_scalar(event.value)
        if isinstance(value, str):
            raise self._wrong(event, f"{event.value!r} is not a {short}")
        return value

    def _open(self, value: Json, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self._wrong(event, f"nested more than {MAX_DEPTH} deep")
        if self._is_key():
            raise self._wrong(event, "a key must be a plain text")
        if (tag := _tag(event)) not in _PLAIN_TAGS:
            raise self._wrong(event, f"the tag {_short(tag)} is not allowed", "write plain values")
        if event.anchor:
            self.anchors[event.anchor] = (value, 0, 0)
        before = self.count, self.length
        self._add(value, event, 1)
        loc = self.stack[-1].last if self.stack else ()
        self.stack.append(_Open(value=value, loc=loc, anchor=event.anchor, before=before))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        if done.anchor:
            count, length = done.before
            self.anchors[done.anchor] = (done.value, self.count - count, self.length - length)

    def _is_key(self) -> bool:
        return bool(
            self.stack and isinstance(self.stack[-1].value, dict) and not self.stack[-1].keyed
        )

    def _key(self, key: str, event: Any) -> None:
        top = self.stack[-1]
        if key == "<<" and not event.style:
            raise self._wrong(event, "merge keys (<<) are not read", "write the values out")
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        if key in top.value:
            first = self.places[(*top.loc, key)]
            problem = self._document().problem((*top.loc,), "")
            self.warnings.append(
                Problem(
                    message=f"the key {key!r} occurs twice; the last one counts"
                    f" (the first is on line {first.line})",
                    file=problem.file,
                    line=place.line,
                    column=place.column,
                    field=show_loc((*top.loc, key)),
                    excerpt=self.text.split("\n")[place.line - 1],
                    hint="remove one of them",
                    severity="warning",
                )
            )
            self._forget((*top.loc, key))
        top.key, top.keyed = key, True
        self.places[(*top.loc, key)] = place

    def _forget(self, prefix: Loc) -> None:
        """Drop the spellings below a key that is written again."""
        for loc in [loc for loc in self.spelling if loc[: len(prefix)] == prefix]:
            del self.spelling[loc]

    def _loc(self) -> Loc:
        if not self.stack:
            return ()
        top = self.stack[-1]
        return (*top.loc, top.key) if isinstance(top.value, dict) else (*top.loc, len(top.value))

    def _add(self, value: Json, event: Any, size: int) -> None:
        self.count += size
        if self.count > MAX_VALUES:
            raise self._wrong(event, f"more than {MAX_VALUES:,} values")
        loc = self._loc()
        self.places.setdefault(loc, Place(event.start_mark.line + 1, event.start_mark.column + 1))
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        top.last = loc
        if isinstance(top.value, dict):
            top.value[top.key] = value
            top.keyed = False
        else:
            top.value.append(value)

    def _wrong(self, event: Any, message: str, hint: str = "") -> SuiteError:
        mark = event.start_mark
        line = self.text.split("\n")[mark.line] if mark.line < self.text.count("\n") + 1 else ""
        return _wrong(self.path, message, mark.line + 1, mark.column + 1, hint=hint, excerpt=line)

    def _syntax(self, error: Exception) -> SuiteError:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        if mark is None:
            return _wrong(self.path, f"not valid YAML: {message}", 1, 1)
        opened = getattr(error, "context_mark", None)
        if "end of stream" in message and opened is not None:
            mark, message = opened, "what begins here has no end"
        lines = self.text.split("\n")
        number = min(mark.line, len(lines) - 1)
        line, column, hint = lines[number], mark.column, "check indentation, quotes and colons here"
        if (line[:column].isspace() and "\t" in line[:column]) or line[column : column + 1] == "\t":
            message, hint = "a tab stands where only spaces may", "indent with spaces"
        elif "',' or" in message:
            hint = "inside [ ] and { }, put texts that contain , ? : [ ] { or } in quotes"
        return _wrong(
            self.path,
            f"not valid YAML: {message}",
            number + 1,
            column + 1,
            hint=hint,
            excerpt=line,
        )


@dataclass
class _Open:
    """Hold a collection that is still being read."""

    value: Any
    loc: Loc
    anchor: str | None
    before: tuple[int, int]
    key: str = ""
    keyed: bool = False
    last: Loc = ()


_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Json] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


_PLAIN_TAGS = ("", "!", "tag:yaml.org,2002:map", "!!map", "tag:yaml.org,2002:seq", "!!seq")


def _tag(event: Any) -> str:
    return str(event.tag or getattr(event, "ctag", None) or "")


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _plain_scalar(text: str) -> Json:
    """Resolve an unquoted scalar as YAML 1.2's core schema does."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first.isdigit() or first in "+-.":
        if _INT.fullmatch(text) and len(text) < 400:
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
    return text


def _parse_json(path: Path, text: str, row: int | None = None) -> Json:
    try:
        data = json.loads(text)
        if text.count("[") + text.count("{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
            raise _wrong(path, f"nested more than {MAX_DEPTH} deep", row or 1, 1)
        return data
    except json.JSONDecodeError as error:
        line = error.lineno if row is None else row
        excerpt = error.doc.split("\n")[error.lineno - 1]
        message = f"not valid JSON: {error.msg}"
        raise _wrong(path, message, line, error.colno, excerpt=excerpt) from None
    except RecursionError:
        raise _wrong(path, f"nested more than {MAX_DEPTH} deep", row or 1, 1) from None
    except ValueError:
        raise _wrong(path, "a number has too many digits", row or 1, 1) from None


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
    return _wrong(path, f"cannot be read: {error.strerror or error}")


def _wrong(
    path: Path,
    message: str,
    line: int | None = None,
    column: int | None = None,
    *,
    hint: str = "",
    excerpt: str = "",
) -> SuiteError:
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
