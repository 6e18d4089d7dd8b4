"""Plain values as YAML that people like to read and that reads back unchanged."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from proctor.core.suite import Json

_STEP = "  "
_MAX_KEY = 100
# What needs no quotes, whatever YAML version reads it.
_PLAIN = re.compile(r"[^\W\d_](?:[\w /.,;()?!'+=*%$&@^<>~|-]|[，。？！、；：（）《》“”])*")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def dump(data: Mapping[str, Json]) -> str:
    """Write a mapping of JSON values as a YAML document."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def _mapping(data: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in data.items():
        name = _key(key)
        if len(name) > _MAX_KEY:
            yield f"{indent}? {name}"
            yield from _entry(f"{indent}:", value, indent)
        else:
            yield from _entry(f"{indent}{name}:", value, indent)


def _entry(head: str, value: Json, indent: str) -> Iterator[str]:
    """Write a value behind its key."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent + _STEP)
    elif isinstance(value, list | tuple) and value:
        yield head
        yield from _sequence(value, indent + _STEP)
    else:
        yield from _scalar_lines(head, value, indent + _STEP)


def _sequence(data: Sequence[Json], indent: str) -> Iterator[str]:
    for value in data:
        if isinstance(value, Mapping) and value:
            lines = _mapping(value, indent + _STEP)
        elif isinstance(value, list | tuple) and value:
            lines = _sequence(value, indent + _STEP)
        else:
            yield from _scalar_lines(f"{indent}-", value, indent + _STEP)
            continue
        first = next(lines)
        yield f"{indent}- {first[len(indent) + len(_STEP) :]}"
        yield from lines


def _scalar_lines(head: str, value: Json, indent: str) -> Iterator[str]:
    if isinstance(value, str) and _fits_block(value):
        yield f"{head} {_block_sign(value)}"
        for line in value.removesuffix("\n").split("\n"):
            yield f"{indent}{line}" if line else ""
    else:
        yield f"{head} {_scalar(value)}"


def _fits_block(text: str) -> bool:
    """Tell whether a text of several lines can stand as it is."""
    return "\n" in text and bool(text.strip()) and not _UNPRINTABLE.search(text)


def _block_sign(text: str) -> str:
    """Say how a block ends, and how deep it is indented where its first line does not tell."""
    end = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    depth = str(len(_STEP)) if text[0] in " \t\n" else ""
    return f"|{depth}{end}"


def _scalar(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if not isfinite(value):
            raise ValueError(f"{value} is not a number that a file can hold")
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _key(key: str) -> str:
    return _text(str(key))


def _text(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and not text.endswith(" ") and text.lower() not in _RESERVED
    return text if plain and not _UNPRINTABLE.search(text) else _quoted(text)


def _quoted(text: str) -> str:
    """Quote a text; backslashes are left alone where single quotes will do."""
    is_one_line = not _UNPRINTABLE.search(text) and "\n" not in text and "\t" not in text
    if is_one_line and ("\\" in text or '"' in text):
        return "'" + text.replace("'", "''") + "'"
    return _UNPRINTABLE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("a text contains half of a surrogate pair, which is no character")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
