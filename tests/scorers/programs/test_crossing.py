"""The encoding of values between two processes: exact types, shared objects, hostile bytes."""

import datetime
import decimal
import fractions
import importlib
import math
import operator
import random
import re
import struct
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

import proctor.scorers.programs
from level import LEVEL

LAUNCHERS = Path(str(proctor.scorers.programs.__file__)).with_name("launchers")


def load(name: str) -> Any:
    """Import a file that runs inside the sandbox, as it is imported there."""
    sys.path.insert(0, str(LAUNCHERS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(LAUNCHERS))


crossing = load("crossing")
load("crossing_kinds")
load("crossing_tables")
Pair = namedtuple("Pair", "left right")


class Number(IntEnum):
    ONE = 1


class Loud(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def refuse(_: Any, value: Any) -> None:
    raise crossing.CannotCross(type(value).__name__)


def resolve(_: Any, tag: bytes) -> Any:
    raise crossing.Unreadable(tag)


def written(value: Any) -> bytes:
    writer = crossing.Writer(refuse)
    writer.put(value)
    data: bytes = writer.data()
    return data


def read(data: bytes) -> Any:
    return crossing.read_whole(crossing.Reader(data, resolve), lambda reader: reader.get())


VALUES = [
    None, ..., NotImplemented, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, -(10**500), 10**5000,
    0.0, -0.0, 1e308, math.inf, -math.inf, 1 + 2j, "", "é漢\U0001f600", "\ud800", "\ud83d\ude00"[:1], b"", b"\0\xff",
    bytearray(b"ab"), [], [1, [2, [3]]], list(range(50)), [0.5] * 20, [True] * 20, [2**70] * 20, [1, 2.0] * 10,
    (), (1, (2,)), {1, "a", (2, 3)}, frozenset({1, frozenset()}), {}, {"b": 1, "a": 2}, {1: "x", (1, 2): {3}, None: None},
    deque([1, 2]), deque([1, 2], 5), defaultdict(list, {1: [2]}), defaultdict(None), Counter("aab"),
    OrderedDict([("b", 1), ("a", 2)]), decimal.Decimal("1.10"), decimal.Decimal("Infinity"), fractions.Fraction(-1, 3),
    range(1, 10, 3), slice(None, 3, -1), datetime.date(1, 1, 1), datetime.datetime(2020, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001

    datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=-3)), fold=1),
    datetime.time(1, 2, 3, tzinfo=datetime.UTC), datetime.timedelta(-1, 5, 7), datetime.UTC,
    re.compile("a+", re.I), len, sorted, int, ValueError, datetime.date, math.sqrt, operator.add, str.upper, Pair(1, [2]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    made = read(written(value))
    assert type(made).__name__ == type(value).__name__
    assert made == value or made is value
    if not isinstance(value, int):
        assert repr(made) == repr(value)


def test_what_is_not_a_number_comes_back() -> None:
    assert math.isnan(read(written(math.nan)))
    assert read(written(decimal.Decimal("sNaN"))).is_snan()


@pytest.mark.parametrize(
    "error",
    [KeyError("a"), ValueError(1, "b"), OSError(2, "no"), UnicodeDecodeError("utf-8", b"a", 0, 1, "x"), StopIteration(3),
     SystemExit(4), AssertionError(), SyntaxError("bad", ("f", 1, 2, "t")), KeyboardInterrupt()],
    ids=repr,
)  # fmt: skip
def test_an_exception_of_a_built_in_type_comes_back(error: BaseException) -> None:
    made = read(written(error))
    assert (type(made), made.args) == (type(error), error.args)
    assert str(made) == str(error)


def test_shared_and_circular_objects_stay_so() -> None:
    inner: list[Any] = [1]
    value: dict[str, Any] = {"a": inner, "b": inner, "t": (inner,)}
    value["self"] = value
    made = read(written(value))
    assert made["a"] is made["b"] is made["t"][0]
    assert made["self"] is made


@pytest.mark.parametrize(
    "value",
    [Loud(3), Number.ONE, object(), lambda: 0, type("Own", (list,), {})([1]), sys, open, exec, eval, property(), print.__self__],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_not_of_a_known_type_does_not_cross_as_one(value: Any) -> None:
    with pytest.raises(crossing.CannotCross):
        written(value)
    with pytest.raises(crossing.CannotCross):
        written([{"deep": (value,)}])


@pytest.mark.slow
def test_depth_and_size_have_limits() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(crossing.CannotCross):
        written(deep)
    wide: Any = ()
    for _ in range(60):
        wide = (wide, wide)
    assert len(written(wide)) < 2000  # each shared part is written once
    with pytest.raises(crossing.Unreadable):
        read(b"l\1\0\0\0" * 100_000)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"?", b"i1", b"l\xff\xff\xff\xff", b"s\xff\xff\xff\x7fabc", b"@\0\0\0\0", b"NN", b"H", b"K\0\0\0\0",
        b"P\3\0\0\0abc", b"D\xff\0\0\0\0", b"S\1\0\0\0l\0\0\0\0", b"d\1\0\0\0l\0\0\0\0N",
        b"et\1\0\0\0s\3\0\0\0abc", b"rt\2\0\0\0i" + struct.pack("<q", 1) + b"i" + bytes(8),
        b"1t\3\0\0\0" + 3 * (b"i" + bytes(8)), b"gt\2\0\0\0s\x08\0\0\0builtinss\4\0\0\0eval",
        b"gt\2\0\0\0s\2\0\0\0oss\6\0\0\0system", b"mt\2\0\0\0s\3\0\0\0strs\x0e\0\0\0__getattribute",
        b"Et\2\0\0\0s\6\0\0\0objectt\0\0\0\0", b"nt\2\0\0\0s\1\0\0\0As\7\0\0\0__eq__x\0\0\0\0",
        b"At\0\0\0\0", b"A\2\0\0\0U0t\1\0\0\0i" + bytes(8) + bytes(4), b"A\1\0\0\0Ot\1\0\0\0i" + b"\xff" * 7 + b"\x0f",
        b"~t\2\0\0\0s\1\0\0\0(i" + bytes(8), b"W" + b"N" * 9,
    ],
)  # fmt: skip
def test_bytes_that_are_no_value_are_refused(data: bytes) -> None:
    with pytest.raises(crossing.Unreadable):
        read(data)


@pytest.mark.scaled
def test_changed_bytes_make_a_value_or_one_error() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1, 2], "b": ["x", None]}, index=pandas.date_range("2020", periods=2)
    )
    good = written([*VALUES, numpy.arange(6).reshape(2, 3), frame])
    chance = random.Random(5)
    for _ in range(20_000 if LEVEL.ci else 300):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            read(bytes(data[: chance.choice((len(data), chance.randrange(len(data))))]))
        except crossing.Unreadable:
            continue


def test_arrays_and_tables_come_back() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    for array in (
        numpy.arange(6).reshape(2, 3), numpy.array(["a", "bc"]), numpy.array([None, [1]], object), numpy.zeros((0, 3)),
        numpy.array(["2020-01-01"], "M8[D]"), numpy.array([1 + 2j]), numpy.array(5.0), numpy.array([True]),
    ):  # fmt: skip
        made = read(written(array))
        assert (made.dtype, made.shape, made.tolist()) == (array.dtype, array.shape, array.tolist())
    for scalar in (numpy.int32(3), numpy.float64(0.1), numpy.bool_(True), numpy.str_("x")):
        made = read(written(scalar))
        assert (type(made), made) == (type(scalar), scalar)
    frame = pandas.DataFrame(
        {"a": [1, 2], "b": ["x", None], "c": pandas.to_datetime(["2020", "2021"]), "d": pandas.array([1, None], "Int64")},
        index=pandas.date_range("2020", periods=2),
    )  # fmt: skip
    pandas.testing.assert_frame_equal(read(written(frame)), frame)
    grouped = frame.groupby(["a", "b"], dropna=False).sum(numeric_only=True)
    pandas.testing.assert_frame_equal(read(written(grouped)), grouped)
    pandas.testing.assert_series_equal(read(written(frame["b"])), frame["b"])
    for value in (pandas.Timestamp("2020"), pandas.Timedelta(1, "D"), pandas.NaT, pandas.NA):
        made = read(written(value))
        assert made is value or made == value
    with pytest.raises(crossing.CannotCross):
        written(frame["b"].astype("category"))
