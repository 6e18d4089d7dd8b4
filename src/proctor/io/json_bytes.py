"""JSON as bytes, fast, and without losing texts that are not valid Unicode."""

import json
from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any

import orjson

Json = Any
"""Any value that JSON has."""


def dumps(value: Json) -> bytes:
    """Write JSON; lone surrogates, which models do produce, are kept as escapes."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def dumps_small(value: Json) -> bytes:
    """Write JSON that is held for long: what ``dumps`` returns takes 4 kB, however short it is."""
    return bytes(memoryview(dumps(value)))


def is_writable(value: Json) -> bool:
    """Tell quickly whether all texts of a value are valid Unicode; where it has doubts, it says no.

    Whole numbers of more than 64 bits are such a doubt.
    """
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def loads(data: bytes | str) -> Json:
    """Read JSON, lone surrogates included."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _slowly(data, json.loads)


def loads_foreign(data: bytes | str) -> Json:
    """Read JSON that somebody else wrote, or raise a ValueError that says what is wrong with it.

    What is written into the store later must be finite, and no deeper than can be written.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _slowly(data, _FOREIGN)
    if _brackets(data) > MOST_NESTED and is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


MOST_NESTED = 100
"""How deep JSON from outside may be nested."""
_TOO_DEEP = f"it is nested more than {MOST_NESTED} levels deep"


def _slowly(data: bytes | str, read: Callable[[bytes | str], Json]) -> Json:
    try:
        return read(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _brackets(data: bytes | str) -> int:
    """Count what opens a list or an object, in texts too: nothing is nested deeper than that."""
    if isinstance(data, str):
        return data.count("[") + data.count("{")
    return data.count(b"[") + data.count(b"{")


def is_deep(value: Json) -> bool:
    """Tell whether a value is nested deeper than anything from outside may be."""
    level = [value]
    for _ in range(MOST_NESTED):
        inner: list[Json] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        if not inner:
            return False
        level = [one for one in inner if isinstance(one, dict | list)]
    return bool(level)


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"it holds a number that is too large: {text[:40]}")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(text):,} digits")
    return int(text)


def _no_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which is no number of JSON")


MOST_DIGITS = 400
_FOREIGN = partial(json.loads, parse_float=_finite, parse_int=_whole, parse_constant=_no_constant)
