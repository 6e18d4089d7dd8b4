"""Arrays of numpy and tables of pandas on their way between two processes.

Kinds whose values are plain numbers, texts, times or objects cross; others (categories, time zones,
records) stay where they are. The file runs by itself, inside a sandbox.
"""

import re
import sys
from collections.abc import Callable
from typing import Any

from crossing import Reader, Unreadable, Writer

PLAIN = re.compile(
    r"[<>|=]?(?:b1|[iu][1248]|f(?:2|4|8|16)|c(?:8|16|32)|[SU][1-9]\d*"
    r"|[Mm]8(?:\[(?:ns|us|ms|[smhDWMY])\])?)"
)
"""Types of arrays that may be read; numpy itself breaks on some that make no sense."""
KINDS = frozenset("biufcSUMm")
WORDS = ("object", "str", "string", "boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16",
         "UInt32", "UInt64", "Float32", "Float64")  # fmt: skip
"""Types of columns that cross value by value."""
Write = Callable[[Writer, Any, int], None]


def table_writer(value: Any) -> Write | None:
    """Return how a value of numpy or pandas is written, if it crosses."""
    import numpy

    kind = type(value)
    if kind is numpy.ndarray:
        return _put_array if value.dtype.kind in KINDS or value.dtype.kind == "O" else None
    if isinstance(value, numpy.generic):
        return _put_scalar if value.dtype.kind in KINDS else None
    pandas = sys.modules.get("pandas")
    return None if pandas is None else _pandas_writer(pandas, kind, value)


def _pandas_writer(pandas: Any, kind: type, value: Any) -> Write | None:
    if value is pandas.NaT or value is pandas.NA:
        return _put_missing
    if kind is pandas.Timestamp:
        return _put_moment if value.tzinfo is None else None
    if kind is pandas.Timedelta:
        return _put_moment
    if isinstance(value, pandas.Index):
        return _put_index if _index(pandas, value) is not None else None
    if kind is pandas.Series:
        fine = _column(value) is not None and _index(pandas, value.index) is not None
        return _put_series if fine else None
    if kind is pandas.DataFrame:
        fine = _index(pandas, value.index) is not None and _index(pandas, value.columns) is not None
        columns = [value.iloc[:, number] for number in range(value.shape[1])]
        return _put_frame if fine and all(_column(c) is not None for c in columns) else None
    return None


def _put_array(writer: Writer, value: Any, depth: int) -> None:
    writer.share(value)
    writer.parts.append(b"A")
    writer.put_text("O" if value.dtype.kind == "O" else value.dtype.str)
    writer.put(value.shape, depth)
    if value.dtype.kind == "O":
        writer.put_all(value.ravel().tolist(), depth)
    else:
        writer.put_bytes(value.tobytes())


def _put_scalar(writer: Writer, value: Any, _: int) -> None:
    writer.parts.append(b"0")
    writer.put_text(value.dtype.str)
    writer.put_bytes(value.tobytes())


def _put_missing(writer: Writer, value: Any, _: int) -> None:
    writer.parts.append(b"Z")
    writer.put_text(type(value).__name__)


def _put_moment(writer: Writer, value: Any, depth: int) -> None:
    writer.parts.append(b"Y")
    writer.put_text(type(value).__name__)
    writer.put((value.to_numpy(),), depth)


def _column(series: Any) -> tuple[str, Any] | None:
    """Return the type of a column and its values; none where it does not cross."""
    dtype = series.dtype
    if getattr(dtype, "kind", "") in KINDS and type(dtype).__module__.startswith("numpy"):
        return "", series.to_numpy()
    return (str(dtype), series.tolist()) if str(dtype) in WORDS else None


def _index(pandas: Any, index: Any) -> tuple[Any, ...] | None:
    kind = type(index)
    if kind is pandas.RangeIndex:
        return "range", (index.start, index.stop, index.step), index.name, None
    if kind is pandas.MultiIndex:
        if any(_index(pandas, level) is None for level in index.levels):
            return None
        codes = [code.tolist() for code in index.codes]
        return "multi", (list(index.levels), codes), list(index.names), None
    if kind in (pandas.DatetimeIndex, pandas.TimedeltaIndex):
        if getattr(index, "tz", None) is not None:
            return None
        return kind.__name__, index.to_numpy(), index.name, index.freqstr
    if kind is pandas.Index:
        column = _column(index)
        return None if column is None else (f"plain {column[0]}", column[1], index.name, None)
    return None


def _put_index(writer: Writer, value: Any, depth: int) -> None:
    import pandas

    writer.parts.append(b"X")
    writer.put(_index(pandas, value), depth)


def _put_series(writer: Writer, value: Any, depth: int) -> None:
    writer.share(value)
    writer.parts.append(b"V")
    writer.put((_column(value), value.index, value.name), depth)


def _put_frame(writer: Writer, value: Any, depth: int) -> None:
    writer.share(value)
    writer.parts.append(b"W")
    columns = [_column(value.iloc[:, number]) for number in range(value.shape[1])]
    writer.put((columns, value.index, value.columns), depth)


def table_read(reader: Reader, tag: bytes, depth: int) -> Any:
    """Read a value of numpy or pandas."""
    return _READERS[tag](reader, depth)


def _dtype(text: str) -> Any:
    import numpy

    if not PLAIN.fullmatch(text) or len(text) > 40:
        raise Unreadable("the type of an array")
    return numpy.dtype(text)


def _get_array(reader: Reader, depth: int) -> Any:
    import numpy

    number = _placed(reader)
    text = reader.get_text()
    shape = reader.get(depth)
    if type(shape) is not tuple or len(shape) > 32 or any(type(n) is not int for n in shape):
        raise Unreadable("the shape of an array")
    if text == "O":
        array = numpy.empty(shape, object)
        array.ravel()[:] = reader.get_all(depth)
    else:
        array = numpy.frombuffer(reader.get_bytes(), _dtype(text)).reshape(shape).copy()
    reader.objects[number] = array
    return array


def _get_scalar(reader: Reader, _: int) -> Any:
    import numpy

    dtype = _dtype(reader.get_text())
    (value,) = numpy.frombuffer(reader.get_bytes(), dtype)
    return value


def _get_missing(reader: Reader, _: int) -> Any:
    import pandas

    return {"NaTType": pandas.NaT, "NAType": pandas.NA}[reader.get_text()]


def _get_moment(reader: Reader, depth: int) -> Any:
    import pandas

    make = {"Timestamp": pandas.Timestamp, "Timedelta": pandas.Timedelta}[reader.get_text()]
    (value,) = _parts(reader, depth, 1)
    return make(value)


def _made_column(pair: Any) -> Any:
    """Make the values of a column; what is no pair of type and values cannot be read."""
    import numpy
    import pandas

    if type(pair) is not tuple or len(pair) != 2:
        raise Unreadable("a column")
    dtype, values = pair
    if dtype == "":
        if type(values) is not numpy.ndarray or values.ndim != 1:
            raise Unreadable("the values of a column")
        return values
    if dtype not in WORDS or type(values) is not list:
        raise Unreadable("the type of a column")
    if dtype == "object":
        column = numpy.empty(len(values), object)
        column[:] = values
        return column
    return pandas.array(values, dtype=dtype)


def _get_index(reader: Reader, depth: int) -> Any:
    import pandas

    kind, values, name, frequency = _parts(reader, depth, 4)
    if kind == "range":
        start, stop, step = values
        return pandas.RangeIndex(start, stop, step, name=name)
    if kind == "multi":
        levels, codes = values
        return pandas.MultiIndex(levels=levels, codes=codes, names=name)
    if kind in ("DatetimeIndex", "TimedeltaIndex"):
        make = getattr(pandas, kind)
        return make(_made_column(("", values)), freq=frequency, name=name)
    if type(kind) is not str or not kind.startswith("plain "):
        raise Unreadable("an index")
    return pandas.Index(_made_column((kind.removeprefix("plain "), values)), name=name)


def _get_series(reader: Reader, depth: int) -> Any:
    import pandas

    number = _placed(reader)
    column, index, name = _parts(reader, depth, 3)
    series = pandas.Series(_made_column(column), index=index, name=name)
    reader.objects[number] = series
    return series


def _get_frame(reader: Reader, depth: int) -> Any:
    import pandas

    number = _placed(reader)
    columns, index, names = _parts(reader, depth, 3)
    if type(columns) is not list:
        raise Unreadable("the columns of a table")
    frame = pandas.DataFrame(dict(enumerate(map(_made_column, columns))), index=index)
    frame.columns = names
    reader.objects[number] = frame
    return frame


def _parts(reader: Reader, depth: int, count: int) -> Any:
    parts = reader.get(depth)
    if type(parts) is not tuple or len(parts) != count:
        raise Unreadable("the parts of a table")
    return parts


def _placed(reader: Reader) -> int:
    reader.objects.append(None)
    return len(reader.objects) - 1


_READERS: dict[bytes, Callable[[Reader, int], Any]] = {
    b"A": _get_array,
    b"0": _get_scalar,
    b"V": _get_series,
    b"W": _get_frame,
    b"X": _get_index,
    b"Y": _get_moment,
    b"Z": _get_missing,
}
