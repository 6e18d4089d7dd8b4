"""YAML files that people write: plain values with their places, and nothing that runs."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from proctor.errors import Problem, SuiteError
from proctor.io.json_bytes import Json
from proctor.io.text_files import (
    LINE_END,
    MAX_DEPTH,
    MAX_LINE,
    Document,
    Loc,
    Place,
    file_error,
    read_text,
    show_loc,
)

MAX_VALUES = 2_000_000
MAX_ALIASED = 100_000
MAX_ALIASED_TEXT = 32 * 1024 * 1024
MAX_TWICE = 500
MAX_PURE = 200_000
"""Characters of a file that is read a second time, by the slower parser."""


def read_yaml(path: Path) -> Document:
    """Read a YAML file as plain values with their places."""
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE:
            message = f"a line of {len(line):,} characters; no more than {MAX_LINE:,} are read"
            raise file_error(path, message, number, 1)
    return _YamlBuilder(path, text).build()


class _YamlBuilder:
    """Builder of plain values from YAML events: no recursion, no tags that run code, limits."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self.lines = LINE_END.split(text)
        self.places: dict[Loc, Place] = {}
        self.spelling: dict[Loc, str] = {}
        self.anchors: dict[str, tuple[Json, int, int]] = {}
        """What an anchor stands for, how many values that is, and how many characters."""
        self.warnings: list[Problem] = []
        self.count = self.length = 0
        self.aliased = self.aliased_length = 0
        self.stack: list[_OpenCollection] = []
        self.root: Json = None

    def build(self) -> Document:
        """Read all events of the one document."""
        from ruamel.yaml.error import YAMLError

        try:
            self._take_all(pure=False)
        except YAMLError as error:
            if "unexpected ':'" not in str(error) or len(self.text) > MAX_PURE:
                raise self._syntax(error) from None
            return self._otherwise(error)
        document = self._document()
        if self.root is None:
            raise file_error(self.path, "the file is empty", 1, 1)
        return document

    def _otherwise(self, first: Exception) -> Document:
        """Read with the parser in Python, since the other takes no ``[openai:name]``.

        It follows YAML 1.1, in which a colon within brackets ends a word.
        """
        from ruamel.yaml.error import YAMLError

        again = _YamlBuilder(self.path, self.text)
        try:
            again._take_all(pure=True)
        except YAMLError as error:
            raise self._syntax(error) from None
        except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
            raise self._syntax(first) from None
        return again._document()

    def _take_all(self, *, pure: bool) -> None:
        from ruamel.yaml import YAML

        documents = 0
        for event in YAML(typ="safe", pure=pure).parse(io.StringIO(self.text)):
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise self._error(event, "a second YAML document; one file holds one")
            if pure and kind == "ScalarEvent":
                self._colon(event)
            self._take(kind, event)

    def _colon(self, event: Any) -> None:
        """Refuse ``{contains:Paris}``, which would be a key of this name without a value."""
        if event.style in (None, "") and ":" in event.value and self._is_key():
            line = self.lines[event.end_mark.line][event.end_mark.column :]
            if not line.lstrip().startswith(":"):
                message = f"{event.value!r} is a key without a value"
                raise self._error(event, message, "write a space after the colon")

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
                raise self._error(event, f"the alias *{event.anchor} points to nothing before it")
            value, size, length = self.anchors[event.anchor]
            if size == 0:
                raise self._error(event, f"the alias *{event.anchor} contains itself")
            self._repeat(event, size, length)
            self._add(value, event, size)

    def _repeat(self, event: Any, size: int, length: int) -> None:
        """Count what an alias stands for: a small file may be huge when it is written out."""
        self.length += length
        self.aliased += size
        self.aliased_length += length
        if self.aliased > MAX_ALIASED:
            raise self._error(event, f"more than {MAX_ALIASED:,} values, aliases counted")
        if self.aliased_length > MAX_ALIASED_TEXT:
            message = f"more than {MAX_ALIASED_TEXT:,} characters, aliases counted"
            raise self._error(event, message)

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
            raise self._error(event, f"the tag {_short(tag)} is not allowed", "write plain values")
        value = _plain_scalar(event.value)
        if isinstance(value, str):
            raise self._error(event, f"{event.value!r} is not a {short}")
        return value

    def _open(self, value: Json, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} deep")
        if self._is_key():
            raise self._error(event, "a key must be a plain text")
        if (tag := _tag(event)) not in _PLAIN_TAGS:
            raise self._error(event, f"the tag {_short(tag)} is not allowed", "write plain values")
        if event.anchor:
            self.anchors[event.anchor] = (value, 0, 0)
        before = self.count, self.length
        self._add(value, event, 1)
        loc = self.stack[-1].last if self.stack else ()
        self.stack.append(_OpenCollection(value=value, loc=loc, anchor=event.anchor, before=before))

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
            raise self._error(event, "merge keys (<<) are not read", "write the values out")
        place = Place(event.start_mark.line + 1, event.start_mark.column + 1)
        if key in top.value:
            if len(self.warnings) >= MAX_TWICE:
                raise self._error(event, f"more than {MAX_TWICE} keys occur twice")
            first = self.places[(*top.loc, key)]
            self.warnings.append(
                Problem(
                    message=f"the key {key!r} occurs twice; the last one counts"
                    f" (the first is on line {first.line})",
                    file=str(self.path),
                    line=place.line,
                    column=place.column,
                    field=show_loc((*top.loc, key)),
                    excerpt=self.lines[place.line - 1],
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
            raise self._error(event, f"more than {MAX_VALUES:,} values")
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

    def _error(self, event: Any, message: str, hint: str = "") -> SuiteError:
        mark = event.start_mark
        line = self.lines[mark.line] if mark.line < len(self.lines) else ""
        return file_error(
            self.path, message, mark.line + 1, mark.column + 1, hint=hint, excerpt=line
        )

    def _syntax(self, error: Exception) -> SuiteError:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        if mark is None:
            return file_error(self.path, f"not valid YAML: {message}", 1, 1)
        opened = getattr(error, "context_mark", None)
        if "end of stream" in message and opened is not None:
            mark, message = opened, "what begins here has no end"
        lines = self.lines
        number = min(mark.line, len(lines) - 1)
        line, column, hint = lines[number], mark.column, "check indentation, quotes and colons here"
        if (line[:column].isspace() and "\t" in line[:column]) or line[column : column + 1] == "\t":
            message, hint = "a tab stands where only spaces may", "indent with spaces"
        elif "',' or" in message:
            hint = "inside [ ] and { }, put texts that contain , ? : [ ] { or } in quotes"
        return file_error(
            self.path,
            f"not valid YAML: {message}",
            number + 1,
            column + 1,
            hint=hint,
            excerpt=line,
        )


@dataclass
class _OpenCollection:
    """A collection that is still being read."""

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


_STEP = 2
_NEVER_FOLDED = 1 << 30
# Words that YAML 1.1 takes for something else than themselves.
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def yaml_text(data: Mapping[str, Json]) -> str:
    """Return a mapping of JSON values as a YAML document."""
    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.Representer = _representer()
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = _NEVER_FOLDED
    writer.indent(mapping=_STEP, sequence=2 * _STEP, offset=_STEP)
    stream = io.StringIO()
    writer.dump(data, stream)
    return stream.getvalue()


@cache
def _representer() -> type:
    """Return what chooses how each value is written."""
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(representer: Any, value: str) -> Any:
        if _HALF_PAIR.search(value):
            raise ValueError("a text contains half of a surrogate pair, which is no character")
        return representer.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    def number(representer: Any, value: float) -> Any:
        if not isfinite(value):
            raise ValueError(f"{value} is not a number that a file can hold")
        return representer.represent_scalar("tag:yaml.org,2002:float", repr(value))

    Representer.add_representer(str, text)
    Representer.add_representer(float, number)
    return Representer


def _style(text: str) -> str | None:
    """Return how a text is written: as a block, in quotes, or as ruamel sees fit.

    Quotes are for what some reader of YAML takes for a number, a date or a truth value.
    """
    if _UNPRINTABLE.search(text):
        return '"'
    if "\n" in text and text.strip() and not text.startswith("\t"):
        return "|"
    if text[:1].isalpha() and text.lower() not in _RESERVED:
        return None
    return "'" if '"' in text or "\\" in text else '"'
