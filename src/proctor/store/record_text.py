"""Core objects as the JSON text of their documents: what ``rows.encode`` writes, sooner.

A suite stores each of its cases, most of whose fields are at their defaults. What is written for
those is part of a function that is compiled for each class.
"""

import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import orjson

from proctor.core.fingerprint import plain
from proctor.store.rows import encode

_quoted: Callable[[str], str] = json.encoder.encode_basestring
_Write = Callable[[Any], str]
_WRITERS: dict[type[Any], _Write | None] = {}
_RECORDS: dict[tuple[type[Any], str], _Write] = {}


def encode_record(thing: Any, *, without: str = "") -> str:
    """Write a dataclass as ``rows.encode`` does, with the text of one field left empty."""
    key = type(thing), without
    write = _RECORDS.get(key)
    if write is None:
        write = _RECORDS[key] = _made_writer(*key)
    try:
        text = write(thing)
        if not text.isascii():
            text.encode()
    except (TypeError, UnicodeEncodeError):
        if not without:
            return encode(thing)
        values = {field.name: getattr(thing, field.name) for field in fields(thing)}
        return encode({**values, without: ""})
    return text


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is tuple or kind is list:
        return f"[{','.join([_text(part) for part in value])}]" if value else "[]"
    if kind is dict and not value:
        return "{}"
    if (write := _WRITERS.get(kind) or _writer(kind)) is not None:
        return write(value)
    return orjson.dumps(value, default=plain).decode()


def _writer(kind: type[Any]) -> _Write | None:
    """Return what writes a dataclass, made once for each class; None for any other class."""
    if kind not in _WRITERS:
        _WRITERS[kind] = _made_writer(kind) if is_dataclass(kind) else None
    return _WRITERS[kind]


def _made_writer(kind: type[Any], without: str = "") -> _Write:
    """Compile what writes a class: one text, in which a field at its default is a constant."""
    scope: dict[str, Any] = {"_text": _text, "_quoted": _quoted}
    pieces: list[str] = []
    for field in fields(kind):
        name = field.name
        written = f"_quoted(v) if type(v := thing.{name}) is str else _text(v)"
        if name == without:
            written = repr(_quoted(""))
        elif field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            always = repr(_text(field.default))
            written = f"{always} if thing.{name} is _default_{name} else {written}"
        pieces += [repr(f"{',' if pieces else '{'}{_quoted(name)}:"), f"({written})"]
    pieces.append(repr("}" if pieces else "{}"))
    body = f"def write(thing):\n return ''.join(({', '.join(pieces)}))"
    exec(body, scope)  # noqa: S102  # nosec B102 - of the names of our own fields
    write: _Write = scope["write"]
    return write
