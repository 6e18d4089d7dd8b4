"""The JSON object in a judge's reply: found, checked against its type, or refused with reasons."""

import json
import re
from collections.abc import Iterator
from functools import cache
from math import isinf
from typing import Any, TypeVar

from proctor.core.model import Shape
from proctor.core.suite import Json

Verdict = TypeVar("Verdict")

_START = re.compile(r"\{(?=\s*[\"'“}])|\[(?=\s*\{\s*[\"}])")
_MOST_BROKEN = 200
_FENCE = re.compile(r"```[ \t]*[A-Za-z0-9]*\s*\Z")


class Unreadable(ValueError):
    """Say why a reply holds no verdict, and whether it holds a JSON object at all."""

    def __init__(self, message: str, *, found: bool) -> None:
        super().__init__(message)
        self.found = found


def read(text: str, verdict: type[Verdict], rung: str = "") -> tuple[Verdict, str]:
    """Return the last object in a reply that is a verdict, and how it stood there.

    An object inside another one, or inside a list, is no verdict of its own: what a judge quotes
    must not speak for it. ``rung`` is how the shape was asked for, where the reply is one object.
    A verdict with a ``from_words`` may make sense of a reply without any object.
    """
    whole = text.strip()
    refused: Unreadable | None = None
    for start, end, value in reversed(list(_objects(whole))):
        try:
            made = checked(value, verdict)
        except Unreadable as error:
            refused = refused or error
            continue
        if (start, end) == (0, len(whole)):
            return made, rung or "object"
        fenced = _FENCE.search(whole[max(0, start - 40) : start])
        return made, "fence" if fenced else "object"
    if refused is not None:
        raise refused
    in_words = getattr(verdict, "from_words", None)
    if in_words is not None and "{" not in whole and (said := in_words(whole)) is not None:
        return said, "words"
    raise Unreadable("there is no JSON object in the reply", found=False)


def checked(value: Json, verdict: type[Verdict]) -> Verdict:
    """Check an object against a verdict's type, without bending a value to fit."""
    from pydantic import ValidationError

    from proctor.validation import words_of

    kind: Any = verdict
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    try:
        made: Verdict = kind.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise Unreadable("; ".join(words_of(error)), found=True) from None
    return made


def shape_of(verdict: type[Any]) -> Shape:
    """Return the JSON schema of a verdict, with every key required and no other allowed."""
    known: Any = verdict
    return _shape(known)


@cache
def _shape(verdict: Any) -> Shape:
    return Shape(name=verdict.__name__, schema=_closed(verdict.model_json_schema()))


def _closed(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: _named(value) if key in ("properties", "$defs") else _closed(value)
        for key, value in schema.items()
        if key not in ("default", "title")
    }
    if "properties" in made:
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made


def _named(parts: dict[str, Json]) -> dict[str, Json]:
    """Close schemas that are kept by name: a field may be called ``title`` or ``default``."""
    return {name: _closed(part) for name, part in parts.items()}


def _objects(text: str) -> Iterator[tuple[int, int, Json]]:
    """Yield the outermost JSON objects of a text with their places, in their order."""
    closing: dict[int, int] | None = None
    place = broken = 0
    while broken < _MOST_BROKEN and (found := _START.search(text, place)) is not None:
        start = found.start()
        try:
            value, place = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            place, broken = start + 1, broken + 1
            if found[0] == "[":
                continue
            # Something that was meant as JSON and is broken: what stands inside it is quoted.
            closing = _closing(text) if closing is None else closing
            if start not in closing:
                return
            place = closing[start]
        else:
            if isinstance(value, dict):
                yield start, place, value


def _closing(text: str) -> dict[int, int]:
    """Return where each brace is closed, counting braces alone."""
    opened: list[int] = []
    ends = {}
    for found in re.finditer(r"[{}]", text):
        if found[0] == "{":
            opened.append(found.start())
        elif opened:
            ends[opened.pop()] = found.end()
    return ends


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_no_constant)
