"""The JSON value that an answer is, or has in it."""

import json
import re
from collections.abc import Iterator
from math import isinf

from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.judging.json_objects import objects

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)")
_LANGUAGES = ("", "json", "jsonc", "json5")


class NotJson(Exception):
    """An answer that is no JSON and has none in it; the text says why."""


def parsed_json(text: str) -> Json:
    """Read a text that is JSON and nothing else, or raise NotJson."""
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except ValueError as error:
        raise NotJson(_worded(error)) from None
    if json_bytes.is_deep(value):
        raise NotJson("it is nested too deep")
    return value


def json_in(text: str, *, whole: bool) -> Json:
    """Return the JSON of an answer, or raise NotJson.

    Unless the ``whole`` answer must be it, that may be the last fenced block of JSON, or the last
    object or list of objects in the text.
    """
    try:
        return parsed_json(text)
    except NotJson as error:
        if whole:
            raise
        why = str(error)
    for language, block in reversed(list(fenced(text))):
        if language in _LANGUAGES:
            try:
                return parsed_json(block)
            except NotJson as error:
                why = str(error)
    values = [one.value for one in objects(text) if one.value is not None]
    if values:
        return values[-1]
    raise NotJson(why)


def fenced(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fenced blocks of a text, each with its language in small letters."""
    mark = language = ""
    lines: list[str] = []
    for line in text.split("\n"):
        if not mark:
            if (match := _FENCE.match(line)) is not None:
                mark, language, lines = match[1], match[2].lower(), []
        elif line.strip() == mark:
            yield language, "\n".join(lines)
            mark = ""
        else:
            lines.append(line)


def _worded(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return (
            f"{error.msg[:1].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno}"
        )
    return str(error)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number
