"""Core objects as the JSON text of their documents: what ``rows.encode`` writes, sooner.

A suite stores each of its cases, most of whose fields are at their defaults. What is written for
those is part of a function that is compiled for each class.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import Any

import orjson

from proctor.core.fingerprint import plain
from proctor.core.late_code import Write, compiled, late_writer
from proctor.store.rows import encode

_quoted: Callable[[str], str] = json.encoder.encode_basestring
_RECORDS: dict[tuple[type[Any], str], Write] = {}


def encode_record(thing: Any, *, without: str = "") -> str:
    """Write a dataclass as ``rows.encode`` does, with the text of one field left empty."""
    key = type(thing), without
    write = _RECORDS.get(key) or _writer_of(key, _RECORDS)
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


def _list_text(things: Sequence[Any]) -> str:
    if len(things) == 1:  # as most have
        return f"[{_writer(type(one := things[0]), _first_text)(one)}]"
    texts = [_writer(type(one), _first_text)(one) for one in things]
    return f"[{','.join(texts)}]" if things else "[]"


def _dict_text(thing: dict[Any, Any]) -> str:
    if not thing:
        return "{}"
    if len(thing) == 1:
        ((name, value),) = thing.items()
        if type(name) is str and type(value) is str:
            return f"{{{_quoted(name)}:{_quoted(value)}}}"
    return _other_text(thing)


def _first_text(thing: Any) -> str:
    """Write the first object of a class, and find what writes the others."""
    kind = type(thing)
    if not is_dataclass(kind):
        _WRITERS[kind] = _other_text
        return _other_text(thing)
    return _writer_of(kind, _WRITERS)(thing)


def _text(thing: Any) -> str:
    return _writer(type(thing), _first_text)(thing)


def _other_text(thing: Any) -> str:
    return orjson.dumps(thing, default=plain).decode()


_WRITERS: dict[type[Any], Write] = {
    str: _quoted,
    tuple: _list_text,
    list: _list_text,
    dict: _dict_text,
}
"""What writes a thing, by its class."""
_writer = _WRITERS.get


def _writer_of(key: Any, table: dict[Any, Write]) -> Write:
    """Return what writes objects of a class, and enter it in a table.

    The key is the class, or the class and a field whose text is left empty.
    """
    kind, without = key if isinstance(key, tuple) else (key, "")
    own = [(field.name, field.default) for field in fields(kind)]

    def put(write: Write) -> None:
        table[key] = write

    def in_loop(thing: Any) -> str:
        values = [(name, "" if name == without else getattr(thing, name)) for name, _ in own]
        return f"{{{','.join([f'{_quoted(name)}:{_text(value)}' for name, value in values])}}}"

    alike, any_of_class = (partial(make, own, without) for make in (_alike_writer, _any_writer))
    put(late_writer(put, in_loop, alike, any_of_class))
    return table[key]


_Fields = Sequence[tuple[str, Any]]
"""Names of fields with their defaults."""


def _alike_writer(own: _Fields, without: str, thing: Any, other: Write) -> Write:
    """Compile what writes objects with the same fields at their defaults as one, of few pieces."""
    scope: dict[str, Any] = {"_writer": _writer, "_first": _first_text, "_other": other}
    conditions: list[str] = []
    pieces = _Pieces()
    for place, (name, default) in enumerate(own):
        value = getattr(thing, name)
        pieces.say(f"{',' if place else '{'}{_quoted(name)}:")
        if name == without:
            pieces.say(_quoted(""))
        elif value is default:
            scope[f"_default_{name}"] = default
            conditions.append(f"thing.{name} is _default_{name}")
            pieces.say(_text(value))
        elif type(value) is dict and not value:
            conditions.append(f"type(thing.{name}) is dict and not thing.{name}")
            pieces.say("{}")
        else:
            pieces.call(f"_writer(type(v := thing.{name}), _first)(v)")
    lines = [
        "def write(thing):",
        f" if {' and '.join(conditions or ['True'])}:",
        f"  return {pieces.joined()}",
        " return _other(thing)",
    ]
    write: Write = compiled(lines, scope)["write"]
    return write


def _any_writer(own: _Fields, without: str) -> Write:
    """Compile what writes any object of a class, of which fields at their defaults are constant."""
    scope: dict[str, Any] = {"_writer": _writer, "_first": _first_text}
    pieces = _Pieces()
    for place, (name, default) in enumerate(own):
        pieces.say(f"{',' if place else '{'}{_quoted(name)}:")
        written = f"_writer(type(v := thing.{name}), _first)(v)"
        if name == without:
            pieces.say(_quoted(""))
        elif default is MISSING:
            pieces.call(written)
        else:
            scope[f"_default_{name}"] = default
            pieces.call(f"{_text(default)!r} if thing.{name} is _default_{name} else {written}")
    write: Write = compiled(["def write(thing):", f" return {pieces.joined()}"], scope)["write"]
    return write


class _Pieces:
    """Code of the pieces of a text, with what is always the same next to each other as one."""

    def __init__(self) -> None:
        self.code: list[str] = []
        self._fixed = ""

    def say(self, text: str) -> None:
        """Add what is always the same."""
        self._fixed += text

    def call(self, code: str) -> None:
        """Add what code gives."""
        self.code += [*self._constant(), f"({code})"]
        self._fixed = ""

    def _constant(self) -> list[str]:
        return [repr(self._fixed)] if self._fixed else []

    def joined(self) -> str:
        """Return code that joins the pieces."""
        self.say("}" if self.code or self._fixed else "{}")
        return f"''.join(({', '.join([*self.code, *self._constant()])},))"
