"""The language of prompt templates: names, two filters and one loop, and nothing that runs.

``{{question}}`` stands for a value, ``{{rows | json}}`` for it as JSON, ``{{names | join(", ")}}``
for the entries of a list in one text, and ``{% for passage in context %} … {% endfor %}`` repeats
what is inside for each entry. ``{{"{{"}}`` writes two braces.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from proctor.core.suite import Json
from proctor.suggestions import suggest

LONGEST = 1_000_000
"""How many characters one prompt may come to."""
PARAGRAPHS = "\n\n"
"""What stands between the entries of a list that no filter joins."""
INDEX = "index"
"""The name of the number of an entry within a loop, from 1."""
_NAME = r"[A-Za-z_]\w*"
_TEXT = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_TAG = re.compile(r"\{\{|\{%")
_VALUE = re.compile(
    rf"\s*(?:(?P<name>{_NAME})|(?P<text>{_TEXT}))\s*"
    rf"(?:\|\s*(?P<filter>{_NAME})\s*(?:\(\s*(?P<argument>{_TEXT})?\s*\)\s*)?)?"
)
_FOR = re.compile(rf"\s*for\s+(?P<entry>{_NAME})\s+in\s+(?P<name>{_NAME})\s*")
_END = re.compile(r"\s*endfor\s*")
_FILTERS = ("join", "json")


class TemplateError(ValueError):
    """A mistake in a template, with its line and column from 1."""

    def __init__(self, message: str, text: str, offset: int, *, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        self.excerpt = text.split("\n")[self.line - 1]


@dataclass(frozen=True, slots=True)
class _Value:
    """A name or a text between double braces, with its filter."""

    offset: int
    name: str
    text: str = ""
    filter: str = ""
    joined_by: str = ", "


@dataclass(slots=True)
class _Loop:
    """What is repeated for each entry of a list."""

    offset: int
    entry: str
    name: str
    parts: "list[str | _Value]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Template:
    """A template that was read, and can be filled in."""

    text: str
    parts: "tuple[str | _Value | _Loop, ...]"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names whose values it needs, in their order."""
        return tuple(dict.fromkeys(name for name, _ in self._needed()))

    def _needed(self) -> Iterator[tuple[str, int]]:
        for part in self.parts:
            if isinstance(part, _Value) and part.name:
                yield part.name, part.offset
            elif isinstance(part, _Loop):
                yield part.name, part.offset
                for inner in part.parts:
                    if isinstance(inner, _Value) and inner.name not in ("", part.entry, INDEX):
                        yield inner.name, inner.offset

    def check(self, names: Iterable[str]) -> None:
        """Raise a TemplateError for the first name that has no value."""
        allowed = set(names)
        for name, offset in self._needed():
            if name not in allowed:
                raise self._unknown(name, offset, allowed)

    def fill(self, values: Mapping[str, Json]) -> str:
        """Return the text with all values in place, or raise a TemplateError."""
        written: list[str] = []
        length = 0
        for offset, piece in self._pieces(values):
            length += len(piece)
            if length > LONGEST:
                raise TemplateError(
                    f"the prompt comes to more than {LONGEST:,} characters", self.text, offset
                )
            written.append(piece)
        return "".join(written)

    def _pieces(self, values: Mapping[str, Json]) -> Iterator[tuple[int, str]]:
        for part in self.parts:
            if isinstance(part, _Loop):
                if part.name not in values:
                    raise self._unknown(part.name, part.offset, values)
                entries = values[part.name]
                if not isinstance(entries, list | tuple):
                    raise TemplateError(
                        f"{part.name!r} is no list, and a loop goes over a list",
                        self.text,
                        part.offset,
                    )
                for number, entry in enumerate(entries, 1):
                    inner = {**values, part.entry: entry, INDEX: number}
                    for piece in part.parts:
                        yield part.offset, self._piece(piece, inner)
            else:
                offset = part.offset if isinstance(part, _Value) else 0
                yield offset, self._piece(part, values)

    def _piece(self, part: "str | _Value", values: Mapping[str, Json]) -> str:
        if isinstance(part, str):
            return part
        if not part.name:
            return part.text
        if part.name not in values:
            raise self._unknown(part.name, part.offset, values)
        value = values[part.name]
        if part.filter == "json":
            return json.dumps(value, ensure_ascii=False)
        if part.filter == "join" and not isinstance(value, list | tuple):
            message = f"{part.name!r} is no list, and 'join' joins the entries of one"
            raise TemplateError(message, self.text, part.offset)
        return as_text(value, part.joined_by if part.filter else PARAGRAPHS)

    def _unknown(self, name: str, offset: int, allowed: Iterable[str]) -> TemplateError:
        names = sorted(allowed)
        hint = suggest(name, names) if names else "the case has no vars"
        return TemplateError(f"there is no value named {name!r}", self.text, offset, hint=hint)


def as_text(value: Json, between: str = PARAGRAPHS) -> str:
    """Return a value as a prompt shows it: texts as they are, lists joined, mappings as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return between.join(as_text(entry, between) for entry in value)
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def read_template(text: str) -> Template:
    """Read a template, or raise a TemplateError with the place."""
    if len(text) > LONGEST:
        raise TemplateError(f"the template has more than {LONGEST:,} characters", text, 0)
    parts: list[str | _Value | _Loop] = []
    loop: _Loop | None = None
    start = 0
    while (tag := _TAG.search(text, start)) is not None:
        into: Any = parts if loop is None else loop.parts
        if tag.start() > start:
            into.append(text[start : tag.start()])
        if tag.group() == "{{":
            value, start = _read_value(text, tag.start())
            into.append(value)
            continue
        begun, start = _read_tag(text, tag.start(), loop)
        if begun is None:
            assert loop is not None
            parts.append(loop)
        loop = begun
    if loop is not None:
        raise TemplateError("the loop has no {% endfor %}", text, loop.offset)
    if start < len(text):
        parts.append(text[start:])
    return Template(text, tuple(parts))


def _read_tag(text: str, offset: int, loop: _Loop | None) -> tuple[_Loop | None, int]:
    """Read the beginning or the end of a loop, and return the one that is open after it."""
    if (match := _FOR.match(text, offset + 2)) is not None:
        if loop is not None:
            raise TemplateError("a loop stands inside another one", text, offset)
        return _Loop(offset, match["entry"], match["name"]), _closed(
            text, match.end(), "%}", offset
        )
    if (match := _END.match(text, offset + 2)) is not None:
        if loop is None:
            raise TemplateError("'endfor' without a loop before it", text, offset)
        return None, _closed(text, match.end(), "%}", offset)
    message = "between {% and %} stands 'for NAME in LIST' or 'endfor'"
    hint = 'for the two characters themselves, write {{"{%"}}'
    raise TemplateError(message, text, offset, hint=hint)


def _read_value(text: str, offset: int) -> tuple[_Value, int]:
    match = _VALUE.match(text, offset + 2)
    if match is None:
        raise TemplateError(
            "between {{ and }} stands a name, and nothing that is computed",
            text,
            offset,
            hint='for two braces themselves, write {{"{{"}}',
        )
    end = _closed(text, match.end(), "}}", offset)
    name, applied = match["name"] or "", match["filter"] or ""
    if applied and applied not in _FILTERS:
        hint = suggest(applied, _FILTERS)
        raise TemplateError(
            f"there is no filter {applied!r}", text, match.start("filter"), hint=hint
        )
    if match["argument"] is not None and applied != "join":
        raise TemplateError(f"{applied!r} takes no text", text, match.start("argument"))
    written = "" if name else _unquoted(match["text"], text, match.start("text"))
    between = ", "
    if match["argument"] is not None:
        between = _unquoted(match["argument"], text, match.start("argument"))
    return _Value(offset, name, written, applied, between), end


def _closed(text: str, end: int, closing: str, offset: int) -> int:
    if not text.startswith(closing, end):
        rest = text[end : end + 20].partition("\n")[0]
        message = f"expected {closing} instead of {rest!r}" if rest else f"{closing} is missing"
        hint = "values are named, not computed: no calls, dots, brackets or signs"
        raise TemplateError(message, text, end if end < len(text) else offset, hint=hint)
    return end + len(closing)


_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}


def _unquoted(quoted: str, text: str, offset: int) -> str:
    def plain(match: "re.Match[str]") -> str:
        if (char := _ESCAPES.get(match[1])) is None:
            raise TemplateError(f"there is no escape \\{match[1]}", text, offset)
        return char

    return re.sub(r"\\(.)", plain, quoted[1:-1])
