"""Core objects as the JSON text of their documents: what ``rows.encode`` writes, sooner.

A suite stores each of its cases, most of whose fields are at their defaults. What is written for
those is part of a function that is compiled for each class.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import orjson

from proctor.core.fingerprint import plain
from proctor.store.rows import encode

_quoted: Callable[[str], str] = json.encoder.encode_basestring
_Write = Callable[[Any], str]
_RECORDS: dict[tuple[type[Any], str], _Write] = {}


def encode_record(thing: Any, *, without: str = "") -> str:
    """Write a dataclass as ``rows.encode`` does, with the text of one field left empty."""
    key = type(thing), without
    write = _RECORDS.get(key)
    if write is None:
        write = _RECORDS[key] = _made_writer(thing, without)
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
    """Write the first object of a class, and make what writes the others."""
    kind = type(thing)
    write = _WRITERS[kind] = _made_writer(thing) if is_dataclass(kind) else _other_text
    return write(thing)


def _text(thing: Any) -> str:
    return _writer(type(thing), _first_text)(thing)


def _other_text(thing: Any) -> str:
    return orjson.dumps(thing, default=plain).decode()


_WRITERS: dict[type[Any], _Write] = {
    **{str: _quoted, tuple: _list_text, list: _list_text, dict: _dict_text},
}
"""What writes a thing, by its class."""
_writer = _WRITERS.get


def _made_writer(thing: Any, without: str = "") -> _Write:
    """Compile what writes a class: one text, in which a field at its default is a constant.

    What has the same fields at their defaults as the first object, as most have, is written of the
    few pieces that differ.
    """
    scope: dict[str, Any] = {"_writer": _writer, "_first": _first_text}
    conditions: list[str] = []
    few, pieces = _Pieces(), _Pieces()
    for place, field in enumerate(fields(thing)):
        name, value = field.name, getattr(thing, field.name)
        written = f"_writer(type(v := thing.{name}), _first)(v)"
        few.say(head := f"{',' if place else '{'}{_quoted(name)}:")
        pieces.say(head)
        if name == without:
            few.say(empty := _quoted(""))
            pieces.say(empty)
            continue
        if value is field.default:
            conditions.append(f"thing.{name} is _default_{name}")
            few.say(_text(value))
        elif type(value) is dict and not value:
            conditions.append(f"type(thing.{name}) is dict and not thing.{name}")
            few.say("{}")
        else:
            few.call(written)
        if field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            always = repr(_text(field.default))
            written = f"{always} if thing.{name} is _default_{name} else {written}"
        pieces.call(written)
    for one in (few, pieces):
        one.say("}" if fields(thing) else "{}")
    lines = ["def write(thing):", f" return {pieces.joined()}"]
    if conditions:
        lines[1:1] = [f" if {' and '.join(conditions)}:", f"  return {few.joined()}"]
    exec("\n".join(lines), scope)  # noqa: S102  # nosec B102 - of the names of our own fields
    write: _Write = scope["write"]
    return write


class _Pieces:
    """Code of the pieces of a text, with what is always the same next to each other as one."""

    def __init__(self) -> None:
        self.code: list[str] = []
        self._said = ""

    def say(self, text: str) -> None:
        """Add what is always the same."""
        self._said += text

    def call(self, code: str) -> None:
        """Add what code gives."""
        self.code += [*self._constant(), f"({code})"]
        self._said = ""

    def _constant(self) -> list[str]:
        return [repr(self._said)] if self._said else []

    def joined(self) -> str:
        """Return code that joins the pieces."""
        return f"''.join(({', '.join([*self.code, *self._constant()])},))"
