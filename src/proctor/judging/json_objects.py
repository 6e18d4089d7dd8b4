"""JSON objects in a text: where each stands, what it holds, and what is broken or doubled."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf
from typing import Any

from proctor.core.suite import Json
from proctor.io import json_bytes

_START = re.compile(r"\{(?=\s*[\"'“}])|\[(?=\s*\{\s*[\"}])")
_MOST_BROKEN = 200


class _Object(dict[str, Any]):
    """An object as it was read, which remembers keys that it has twice."""

    doubled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """An outermost object, or list of objects, of a text; one that is broken has no value."""

    start: int
    end: int
    value: Json = None
    doubled: tuple[str, ...] = ()
    """The keys that it has more than once, also where they only look the same."""

    @property
    def is_object(self) -> bool:
        """Tell whether it is one JSON object."""
        return isinstance(self.value, dict)


def objects(text: str) -> Iterator[ParsedJson]:
    """Yield the outermost objects and lists of objects of a text, in their order.

    What stands inside something broken is quoted there, so it is not looked into. Where the end of
    something broken cannot be told, the rest of the text belongs to it.
    """
    closing: dict[int, int] | None = None
    place = broken = 0
    while broken < _MOST_BROKEN and (match := _START.search(text, place)) is not None:
        start = match.start()
        try:
            value, place = _decoded(text, start)
        except (ValueError, RecursionError):
            place, broken = start + 1, broken + 1
            if match[0] == "[":
                continue
            closing = _closing(text) if closing is None else closing
            if start not in closing:
                yield ParsedJson(start, len(text))
                return
            place = closing[start]
            yield ParsedJson(start, place)
        else:
            yield ParsedJson(start, place, value, tuple(_doubled(value)))


def _decoded(text: str, start: int) -> tuple[Json, int]:
    """Read what begins at a place, or raise a ValueError; versions of Python differ in depth."""
    value, end = _DECODER.raw_decode(text, start)
    if json_bytes.is_deep(value):
        raise ValueError("it is nested too deep")
    return value, end


def plainly(value: Json) -> Json:
    """Return a value in which texts are in lower case with single spaces, for comparison."""
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if isinstance(value, dict):
        return {str(plainly(key)): plainly(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plainly(part) for part in value]
    return value


def _doubled(value: Json) -> Iterator[str]:
    """Yield the doubled keys of an object; those of the objects inside it are its own affair."""
    if isinstance(value, _Object):
        yield from value.doubled


def _closing(text: str) -> dict[int, int]:
    """Return where each brace is closed, counting braces alone."""
    opened: list[int] = []
    ends = {}
    for brace in re.finditer(r"[{}]", text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            ends[opened.pop()] = brace.end()
    return ends


def _object(pairs: list[tuple[str, Json]]) -> _Object:
    parsed = _Object(pairs)
    seen: set[str] = set()
    doubled = []
    for key, _ in pairs:
        alike = plainly(key)
        if alike in seen:
            doubled.append(key)
        seen.add(alike)
    parsed.doubled = tuple(doubled)
    return parsed


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    strict=False, parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_object
)
