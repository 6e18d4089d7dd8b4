"""How values become text that every database keeps as it is, and back again."""

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import orjson
from sqlalchemy import Dialect, Float, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from proctor.core.fingerprint import plain
from proctor.core.suite import Json

Result = TypeVar("Result")

# NUL is refused by PostgreSQL, lone surrogates by both databases; DLE is what escapes them.
_AWKWARD = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def encode(thing: Any) -> str:
    """Write a core object or a JSON value as JSON text.

    Text that starts with a space holds something that only the standard library reads back
    unchanged: lone surrogates, or whole numbers of more than 64 bits.
    """
    try:
        return orjson.dumps(thing, default=plain).decode()
    except TypeError:
        return " " + json.dumps(plain(thing), separators=(",", ":"))


def decode(text: str) -> Json:
    """Read what ``encode`` wrote."""
    return json.loads(text) if text.startswith(" ") else orjson.loads(text)


BROKEN = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""What comes of reading a document that is not what it must be: others may write to a store."""


def decode_object(text: str) -> dict[str, Json]:
    """Read an object that ``encode`` wrote; something else is a ValueError."""
    value = decode(text)
    if not isinstance(value, dict):
        raise ValueError("this is no object")
    return value


def tags_of(text: str) -> dict[str, tuple[str, ...]]:
    """Read the tags of a row; those that cannot be read are none."""
    try:
        return read_tags(text)
    except BROKEN:
        return {}


def read_tags(text: str) -> dict[str, tuple[str, ...]]:
    """Read the tags of a row; what is none of them is an error."""
    tags = {name: tuple(values) for name, values in decode_object(text).items()}
    if not all(isinstance(value, str) for values in tags.values() for value in values):
        raise TypeError("a tag is no text")
    return tags


def readable(
    rows: Iterable[tuple[str, str]], make: Callable[[Any], Result], damaged: set[str]
) -> dict[str, Result]:
    """Make objects of documents, by key; the keys of those that cannot be read are noted."""
    objects = {}
    for key, document in rows:
        try:
            objects[key] = make(decode(document))
        except BROKEN:
            damaged.add(key)
    return objects


def escape(text: str) -> str:
    """Write a text without the characters that a database refuses."""
    return _AWKWARD.sub(lambda match: f"\x10{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """Read what ``escape`` wrote."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


class AnyText(TypeDecorator[str]):
    """Text column that takes whatever a file or a model may contain."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else escape(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Restore on the way out."""
        if value is not None and not isinstance(value, str):
            # SQLite keeps in any column whatever somebody else puts there.
            value = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        return unescape(value) if value is not None and "\x10" in value else value


class AnyNumber(TypeDecorator[float]):
    """Column of numbers, from which what is none comes out as not a number."""

    impl = Float
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:
        """Let finite numbers through."""
        if value is None:
            return None
        finite = type(value) in (int, float) and math.isfinite(value)
        return float(value) if finite else math.nan


class AnyWhole(TypeDecorator[int]):
    """Column of whole numbers, from which what is none comes out as -1."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """Let whole numbers through."""
        return value if value is None or type(value) is int else -1


def is_number(kind: TypeEngine[Any]) -> bool:
    """Tell whether a column, or what is computed of some, is a number."""
    return isinstance(kind, Float | AnyNumber)
