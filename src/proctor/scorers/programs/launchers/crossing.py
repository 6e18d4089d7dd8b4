"""Values on their way between two processes that share nothing: a typed encoding of our own.

Types cross exactly as they are or not at all: a subclass of ``int`` never arrives as an ``int``.
What has no encoding stays where it is, and a number for it crosses instead. Reading makes nothing
but the types that are listed here and in the files beside it, whatever the bytes say, and within
limits. It runs by itself, inside a sandbox, and uses the standard library alone.
"""

import struct
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of one message."""
MOST_DEPTH = 150
MOST_PARTS = 4_000_000
PACKED = 8
"""From this length on, a list of plain numbers is written as one block."""
COUNT = struct.Struct("<I")
WORD = struct.Struct("<q")
REAL = struct.Struct("<d")
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class CannotCross(TypeError):
    """A value that has no encoding, or is too large or too deep for one."""


class Unreadable(ValueError):
    """Bytes that are no value."""


class Writer:
    """The encoding of some values, with each shared object written once."""

    def __init__(
        self, export: Callable[["Writer", Any], None], objects: list[Any] | None = None
    ) -> None:
        self.export = export
        self.parts: list[bytes] = []
        self.objects: list[Any] = list(objects or ())
        """What may be referred to again, by number; it also keeps these objects alive."""
        self.numbers = {id(value): number for number, value in enumerate(self.objects)}
        self.left = MOST_PARTS

    def put(self, value: Any, depth: int = 0) -> None:
        """Write one value."""
        self.left -= 1
        if depth > MOST_DEPTH or self.left < 0:
            raise CannotCross("a value that is too deep or too large")
        number = self.numbers.get(id(value))
        if number is not None:
            self.parts += (b"@", COUNT.pack(number))
            return
        write = WRITERS.get(type(value)) or next(filter(None, (f(value) for f in BY_KIND)), None)
        if write is None:
            self.export(self, value)
        else:
            write(self, value, depth + 1)

    def put_all(self, values: Any, depth: int) -> None:
        """Write a number of values, with their count before them."""
        self.parts.append(COUNT.pack(len(values)))
        for value in values:
            self.put(value, depth)

    def put_bytes(self, data: bytes) -> None:
        """Write bytes with their length before them."""
        self.parts += (COUNT.pack(len(data)), data)

    def put_text(self, text: str) -> None:
        """Write a text with its length before it."""
        self.put_bytes(text.encode("utf-8", "surrogatepass"))

    def share(self, value: Any) -> None:
        """Let what follows refer to this object."""
        self.numbers[id(value)] = len(self.objects)
        self.objects.append(value)

    def data(self) -> bytes:
        """Return all that was written."""
        return b"".join(self.parts)


class Reader:
    """Values read from bytes that nobody trusts."""

    def __init__(
        self,
        data: bytes,
        resolve: Callable[["Reader", bytes], Any],
        objects: list[Any] | None = None,
    ) -> None:
        self.bytes, self.at, self.resolve = data, 0, resolve
        self.objects: list[Any] = list(objects or ())
        self.left = MOST_PARTS

    def get(self, depth: int = 0) -> Any:
        """Read one value."""
        self.left -= 1
        if depth > MOST_DEPTH or self.left < 0:
            raise Unreadable("too deep or too large")
        tag = self.take(1)
        if tag == b"@":
            return self.shared()
        read = READERS.get(tag)
        return read(self, depth + 1) if read is not None else self.resolve(self, tag)

    def shared(self) -> Any:
        """Return an object that was read before."""
        number = self.count()
        if number >= len(self.objects):
            raise Unreadable("no such object")
        return self.objects[number]

    def take(self, size: int) -> bytes:
        """Read some bytes."""
        data = self.bytes[self.at : self.at + size]
        if len(data) != size:
            raise Unreadable("the end is missing")
        self.at += size
        return data

    def count(self) -> int:
        """Read a number of things to come."""
        number: int = COUNT.unpack(self.take(COUNT.size))[0]
        return number

    def get_bytes(self) -> bytes:
        """Read bytes with their length before them."""
        return self.take(self.count())

    def get_text(self) -> str:
        """Read a text."""
        return self.get_bytes().decode("utf-8", "surrogatepass")

    def get_all(self, depth: int) -> list[Any]:
        """Read a number of values."""
        count = self.count()
        if count > len(self.bytes) - self.at:
            raise Unreadable("more values than bytes")
        return [self.get(depth) for _ in range(count)]

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.at != len(self.bytes):
            raise Unreadable("more than was expected")


WRITERS: dict[type, Callable[[Writer, Any, int], None]] = {}
READERS: dict[bytes, Callable[[Reader, int], Any]] = {}
BY_KIND: list[Callable[[Any], Callable[[Writer, Any, int], None] | None]] = []
"""What finds out how to write values whose types are not in the table."""


def _constant(tag: bytes, value: Any) -> None:
    WRITERS[type(value)] = lambda writer, _, __: writer.parts.append(tag)
    READERS[tag] = lambda _, __: value


_constant(b"N", None)
_constant(b".", ...)
_constant(b"!", NotImplemented)


def _put_bool(writer: Writer, value: bool, _: int) -> None:
    writer.parts.append(b"T" if value else b"F")


def _put_int(writer: Writer, value: int, _: int) -> None:
    if SMALLEST <= value <= LARGEST:
        writer.parts += (b"i", WORD.pack(value))
        return
    writer.parts.append(b"I")
    writer.put_bytes(value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))


def _put_float(writer: Writer, value: float, _: int) -> None:
    writer.parts += (b"f", REAL.pack(value))


def _put_complex(writer: Writer, value: complex, _: int) -> None:
    writer.parts += (b"c", REAL.pack(value.real), REAL.pack(value.imag))


def _put_str(writer: Writer, value: str, _: int) -> None:
    writer.parts.append(b"s")
    writer.put_text(value)


def _put_bytes(writer: Writer, value: bytes, _: int) -> None:
    writer.parts.append(b"b")
    writer.put_bytes(value)


def _put_bytearray(writer: Writer, value: bytearray, _: int) -> None:
    writer.share(value)
    writer.parts.append(b"a")
    writer.put_bytes(bytes(value))


WRITERS |= {
    bool: _put_bool,
    int: _put_int,
    float: _put_float,
    complex: _put_complex,
    str: _put_str,
    bytes: _put_bytes,
    bytearray: _put_bytearray,
}
READERS |= {
    b"T": lambda _, __: True,
    b"F": lambda _, __: False,
    b"i": lambda reader, _: WORD.unpack(reader.take(8))[0],
    b"I": lambda reader, _: int.from_bytes(reader.get_bytes(), "little", signed=True),
    b"f": lambda reader, _: REAL.unpack(reader.take(8))[0],
    b"c": lambda reader, _: complex(*struct.unpack("<dd", reader.take(16))),
    b"s": lambda reader, _: reader.get_text(),
    b"b": lambda reader, _: reader.get_bytes(),
    b"a": lambda reader, _: _noted(reader, bytearray(reader.get_bytes())),
}


def _noted(reader: Reader, value: Any) -> Any:
    reader.objects.append(value)
    return value


def _put_list(writer: Writer, value: list[Any], depth: int) -> None:
    writer.share(value)
    if len(value) >= PACKED:
        kinds = set(map(type, value))
        code = {int: "q", float: "d"}.get(next(iter(kinds))) if len(kinds) == 1 else None
        if code is not None:
            try:
                data = array(code, value).tobytes()
            except OverflowError:
                pass
            else:
                writer.parts.append(b"P" if code == "q" else b"p")
                writer.put_bytes(data)
                return
    writer.parts.append(b"l")
    writer.put_all(value, depth)


def _get_list(reader: Reader, depth: int) -> list[Any]:
    items: list[Any] = _noted(reader, [])
    items += reader.get_all(depth)
    return items


def _unpacked(code: str) -> Callable[[Reader, int], list[Any]]:
    def read(reader: Reader, _: int) -> list[Any]:
        numbers = array(code)
        numbers.frombytes(reader.get_bytes())
        items: list[Any] = _noted(reader, numbers.tolist())
        return items

    return read


def _put_sequence(tag: bytes) -> Callable[[Writer, Any, int], None]:
    def write(writer: Writer, value: Any, depth: int) -> None:
        writer.parts.append(tag)
        writer.put_all(value, depth)
        writer.share(value)

    return write


def _get_sequence(kind: type) -> Callable[[Reader, int], Any]:
    return lambda reader, depth: _noted(reader, kind(reader.get_all(depth)))


def _put_set(writer: Writer, value: set[Any], depth: int) -> None:
    writer.share(value)
    writer.parts.append(b"S")
    writer.put_all(value, depth)


def _get_set(reader: Reader, depth: int) -> set[Any]:
    items: set[Any] = _noted(reader, set())
    items.update(reader.get_all(depth))
    return items


def _put_deque(writer: Writer, value: "deque[Any]", depth: int) -> None:
    writer.share(value)
    writer.parts.append(b"q")
    writer.put(value.maxlen, depth)
    writer.put_all(value, depth)


def _get_deque(reader: Reader, depth: int) -> "deque[Any]":
    number = len(reader.objects)
    reader.objects.append(None)
    most = reader.get(depth)
    if most is not None and type(most) is not int:
        raise Unreadable("the length of a deque")
    items: deque[Any] = deque(maxlen=most)
    reader.objects[number] = items
    items.extend(reader.get_all(depth))
    return items


WRITERS |= {
    list: _put_list,
    tuple: _put_sequence(b"t"),
    frozenset: _put_sequence(b"z"),
    set: _put_set,
    deque: _put_deque,
}
READERS |= {
    b"l": _get_list,
    b"P": _unpacked("q"),
    b"p": _unpacked("d"),
    b"t": _get_sequence(tuple),
    b"z": _get_sequence(frozenset),
    b"S": _get_set,
    b"q": _get_deque,
}
FACTORIES = (None, int, float, str, bool, list, dict, set, tuple, bytes)
"""What a defaultdict may make that crosses."""


def _put_pairs(tag: bytes) -> Callable[[Writer, Any, int], None]:
    def write(writer: Writer, value: Any, depth: int) -> None:
        writer.share(value)
        writer.parts.append(tag)
        writer.parts.append(COUNT.pack(len(value)))
        for key, item in value.items():
            writer.put(key, depth)
            writer.put(item, depth)

    return write


def _put_defaultdict(writer: Writer, value: "defaultdict[Any, Any]", depth: int) -> None:
    factory = value.default_factory
    if not any(factory is allowed for allowed in FACTORIES):
        writer.export(writer, value)
        return
    number = next(n for n, allowed in enumerate(FACTORIES) if factory is allowed)
    writer.parts += (b"D", bytes([number]))
    _put_pairs(b"")(writer, value, depth)


def _fill(reader: Reader, mapping: Any, depth: int) -> Any:
    reader.objects.append(mapping)
    count = reader.count()
    if 2 * count > len(reader.bytes) - reader.at:
        raise Unreadable("more values than bytes")
    for _ in range(count):
        key = reader.get(depth)
        mapping[key] = reader.get(depth)
    return mapping


def _get_defaultdict(reader: Reader, depth: int) -> "defaultdict[Any, Any]":
    number = reader.take(1)[0]
    if number >= len(FACTORIES):
        raise Unreadable("the factory of a defaultdict")
    mapping: defaultdict[Any, Any] = _fill(reader, defaultdict(FACTORIES[number]), depth)
    return mapping


WRITERS |= {
    dict: _put_pairs(b"d"),
    Counter: _put_pairs(b"C"),
    OrderedDict: _put_pairs(b"O"),
    defaultdict: _put_defaultdict,
}
READERS |= {
    b"d": lambda reader, depth: _fill(reader, {}, depth),
    b"C": lambda reader, depth: _fill(reader, Counter(), depth),
    b"O": lambda reader, depth: _fill(reader, OrderedDict(), depth),
    b"D": _get_defaultdict,
}


def read_whole(reader: Reader, read: Callable[[Reader], Any]) -> Any:
    """Read all of a message; whatever is wrong with it has one name."""
    try:
        value = read(reader)
        reader.end()
    except Unreadable:
        raise
    except Exception as error:  # noqa: BLE001 - bytes of a stranger can be wrong in every way
        raise Unreadable(type(error).__name__) from None
    return value
