"""How values become text that every database keeps as it is, and back again."""

import json
import re
from typing import Any

import orjson
from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from proctor.core.fingerprint import plain
from proctor.core.suite import Json

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


def escape(text: str) -> str:
    """Write a text without the characters that a database refuses."""
    return _AWKWARD.sub(lambda found: f"\x10{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Read what ``escape`` wrote."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


class AnyText(TypeDecorator[str]):
    """Be a text column that takes whatever a file or a model may contain."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Restore on the way out."""
        return unescape(value) if value is not None and "\x10" in value else value
