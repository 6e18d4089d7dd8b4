"""Values that cross and are made again from plain ones: numbers, dates, names, exceptions.

The file runs by itself, inside a sandbox: it uses the standard library alone, and leaves values of
numpy and pandas to the file about them.
"""

import builtins
import datetime
import decimal
import fractions
import math
import operator
import re
import sys
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any

from crossing import BY_KIND, READERS, WRITERS, Reader, Unreadable, Writer


def _put_fields(tag: bytes, fields: Callable[[Any], tuple[Any, ...]]) -> Any:
    """Return a writer of values that are made again from a few plain ones."""

    def write(writer: Writer, value: Any, depth: int) -> None:
        writer.parts.append(tag)
        writer.put(fields(value), depth)

    return write


def _get_fields(make: Callable[..., Any], *kinds: tuple[type, ...]) -> Any:
    """Return a reader of such values; each field has one of the types that are named for it."""

    def read(reader: Reader, depth: int) -> Any:
        fields = reader.get(depth)
        if type(fields) is not tuple or len(fields) != len(kinds):
            raise Unreadable("the parts of a value")
        if any(type(field) not in kind for field, kind in zip(fields, kinds, strict=True)):
            raise Unreadable("the parts of a value")
        return make(*fields)

    return read


INT, OPTIONAL, TEXT = (int,), (int, type(None)), (str,)
DATE = datetime.date
MOMENT = datetime.datetime
CLOCK = datetime.time
SPAN = datetime.timedelta
ZONE = datetime.timezone
NO_ZONE = type(None)


def _span(value: datetime.timedelta) -> tuple[int, ...]:
    return value.days, value.seconds, value.microseconds


def _put_zoned(tag: bytes) -> Callable[[Writer, Any, int], None]:
    def write(writer: Writer, value: Any, depth: int) -> None:
        if type(value.tzinfo) not in (NO_ZONE, ZONE):
            writer.export(writer, value)
            return
        names = ("year", "month", "day") if type(value) is MOMENT else ()
        clock = ("hour", "minute", "second", "microsecond")
        writer.parts.append(tag)
        parts = tuple(getattr(value, name) for name in (*names, *clock))
        writer.put((*parts, value.tzinfo, value.fold), depth)

    return write


def _pattern(text: str, flags: int) -> re.Pattern[str]:
    return re.compile(text, flags)


WRITERS |= {
    decimal.Decimal: _put_fields(b"e", lambda value: (str(value),)),
    fractions.Fraction: _put_fields(b"r", lambda value: (value.numerator, value.denominator)),
    range: _put_fields(b"R", lambda value: (value.start, value.stop, value.step)),
    slice: _put_fields(b"x", lambda value: (value.start, value.stop, value.step)),
    DATE: _put_fields(b"1", lambda value: (value.year, value.month, value.day)),
    SPAN: _put_fields(b"2", _span),
    ZONE: _put_fields(b"3", lambda value: (value.utcoffset(None),)),
    MOMENT: _put_zoned(b"4"),
    CLOCK: _put_zoned(b"5"),
}
READERS |= {
    b"e": _get_fields(decimal.Decimal, TEXT),
    b"r": _get_fields(fractions.Fraction, INT, INT),
    b"R": _get_fields(range, INT, INT, INT),
    b"x": _get_fields(slice, OPTIONAL, OPTIONAL, OPTIONAL),
    b"1": _get_fields(DATE, INT, INT, INT),
    b"2": _get_fields(SPAN, INT, INT, INT),
    b"3": _get_fields(lambda offset: ZONE(offset) if offset else ZONE.utc, (SPAN,)),
    b"4": _get_fields(
        lambda *parts: MOMENT(*parts[:-1], fold=parts[-1]), *[INT] * 7, (NO_ZONE, ZONE), INT
    ),
    b"5": _get_fields(
        lambda *parts: CLOCK(*parts[:-1], fold=parts[-1]), *[INT] * 4, (NO_ZONE, ZONE), INT
    ),
    b"~": _get_fields(_pattern, TEXT, INT),
}
NAMED = {
    "builtins": frozenset(
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and not name.startswith("_")
    )
    - {"classmethod", "staticmethod", "property", "super", "memoryview"}
    | {"abs", "all", "any", "bin", "callable", "chr", "divmod", "format", "hash", "hex", "iter"}
    | {"len", "max", "min", "next", "oct", "ord", "pow", "print", "repr", "round", "sorted", "sum"},
    "operator": frozenset(operator.__all__) - {"attrgetter", "itemgetter", "methodcaller", "call"},
    "math": frozenset(name for name in vars(math) if not name.startswith("_")),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
}
"""Functions and types that are the same on both sides, and cross by their names."""
HOMES = {"builtins": builtins, "operator": operator, "math": math, "datetime": datetime,
         "collections": sys.modules["collections"], "decimal": decimal,
         "fractions": fractions}  # fmt: skip


def _by_name(value: Any) -> tuple[str, str] | None:
    name = getattr(value, "__name__", None)
    if type(name) is not str:
        return None
    for home, names in NAMED.items():
        if name in names and vars(HOMES[home]).get(name) is value:
            return home, name
    return None


def _put_named(writer: Writer, value: Any, depth: int) -> None:
    writer.parts.append(b"g")
    writer.put(_by_name(value), depth)


def _named(home: str, name: str) -> Any:
    if name not in NAMED.get(home, ()):
        raise Unreadable("a name that does not cross")
    return vars(HOMES[home])[name]


def _put_method(writer: Writer, value: Any, depth: int) -> None:
    writer.parts.append(b"m")
    writer.put((value.__objclass__.__name__, value.__name__), depth)


def _method(kind: str, name: str) -> Any:
    home = _named("builtins", kind)
    method = vars(home).get(name)
    if type(method) is not type(str.upper) or name.startswith("_"):
        raise Unreadable("a method that does not cross")
    return method


READERS |= {b"g": _get_fields(_named, TEXT, TEXT), b"m": _get_fields(_method, TEXT, TEXT)}


@cache
def _named_tuple(name: str, *fields: str) -> Any:
    return namedtuple(name, fields)


def _put_named_tuple(writer: Writer, value: Any, depth: int) -> None:
    writer.parts.append(b"n")
    writer.put((type(value).__name__, *type(value)._fields), depth)
    writer.put_all(tuple(value), depth)


def _get_named_tuple(reader: Reader, depth: int) -> Any:
    names = reader.get(depth)
    plain = type(names) is tuple and all(type(n) is str and len(n) <= 200 for n in names)
    if not plain or not 1 <= len(names) <= 200:
        raise Unreadable("the names of a tuple")
    return _named_tuple(*names)._make(reader.get_all(depth))


READERS[b"n"] = _get_named_tuple
ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException) and kind.__name__ == name
}
"""Exceptions that are the same on both sides."""


def error_of(name: str, arguments: tuple[Any, ...]) -> BaseException:
    """Make an exception of a built-in type, also of arguments that its type does not want."""
    kind = ERRORS.get(name)
    if kind is None or "Group" in name:
        raise Unreadable("an exception")
    try:
        error = kind(*arguments)
    except (TypeError, ValueError):
        error = kind.__new__(kind)
        error.args = arguments
    return error


def _put_error(writer: Writer, value: BaseException, depth: int) -> None:
    writer.parts.append(b"E")
    writer.put((type(value).__name__, value.args), depth)


READERS[b"E"] = _get_fields(error_of, TEXT, (tuple,))


def _is_named_tuple(kind: type) -> bool:
    """Tell whether a type is one that namedtuple makes, and nothing was added to it."""
    own = {"__new__", "__repr__", "__getnewargs__", "_make", "_replace", "_asdict", "__slots__"}
    own |= {"__doc__", "__module__", "__match_args__", "_fields", "_field_defaults", "__dict__"}
    own |= {"__annotations__", "__orig_bases__", "__replace__", "__qualname__", "__weakref__"}
    own |= {"__static_attributes__", "__firstlineno__", "__annotations_cache__", "__annotate__"}
    own |= {"__annotate_func__"}
    fields = vars(kind).get("_fields")
    return (
        kind.__bases__ == (tuple,) and type(fields) is tuple and set(vars(kind)) <= own | {*fields}
    )


def writer_of_kind(value: Any) -> Callable[[Writer, Any, int], None] | None:
    """Return how a value is written whose type is not in the table, if it is."""
    kind = type(value)
    if kind is re.Pattern and type(value.pattern) is str:
        return _put_fields(b"~", lambda pattern: (pattern.pattern, pattern.flags))
    if issubclass(kind, tuple) and _is_named_tuple(kind):
        return _put_named_tuple
    if ERRORS.get(kind.__name__) is kind and "Group" not in kind.__name__:
        return _put_error
    if kind is type(str.upper) and value.__objclass__.__name__ in NAMED["builtins"]:
        return _put_method
    if kind in (type, type(len)) and _by_name(value) is not None:
        return _put_named
    if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        from crossing_tables import table_writer

        return table_writer(value)
    return None


def _tables(tag: bytes) -> Callable[[Reader, int], Any]:
    def read(reader: Reader, depth: int) -> Any:
        from crossing_tables import table_read

        return table_read(reader, tag, depth)

    return read


READERS |= {tag: _tables(tag) for tag in (b"A", b"0", b"V", b"W", b"X", b"Y", b"Z")}


BY_KIND.append(writer_of_kind)
