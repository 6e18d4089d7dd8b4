"""Two processes joined by a socket, each of which may use objects of the other.

What crosses are requests and replies, one after the other. An object without an encoding stays in
its process; the other one gets a proxy, on which calls, attributes and operators become requests.
What a call did to lists and other containers that came with it goes back with its reply. The file
runs by itself, inside a sandbox, and uses the standard library alone.

It has more than 600 lines because asking and serving are two sides of one protocol: whoever changes
one must see the other.
"""

import io
import operator
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from crossing import (
    COUNT,
    MOST_BYTES,
    CannotCross,
    Reader,
    Unreadable,
    Writer,
    read_whole,
)
from crossing_kinds import ERRORS, error_of

REQUEST, RESULT, RAISED = b"?", b"=", b"!"
NONE = 0xFFFFFFFF
TICKET = 8
"""Bytes of a request that its reply repeats."""
TRACE = 4000
"""Characters of a traceback that cross."""


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda mine, other: function(other, mine)


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "lshift", "rshift")
COMPARISONS = {
    f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": getattr(operator, name) for name in _BINARY},
    **{f"__r{name}__": _reflected(getattr(operator, name)) for name in _BINARY},
    **{f"__i{name}__": getattr(operator, f"i{name}") for name in _BINARY},
    "__pow__": pow, "__rpow__": _reflected(pow), "__ipow__": operator.ipow,
    "__divmod__": divmod, "__rdivmod__": _reflected(divmod),
    "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor,
    "__rand__": _reflected(operator.and_), "__ror__": _reflected(operator.or_),
    "__rxor__": _reflected(operator.xor), "__iand__": operator.iand, "__ior__": operator.ior,
    "__ixor__": operator.ixor,
}  # fmt: skip
PLAIN: dict[str, Callable[..., Any]] = {
    "__len__": len, "__getitem__": operator.getitem, "__setitem__": operator.setitem,
    "__delitem__": operator.delitem, "__contains__": operator.contains, "__iter__": iter,
    "__next__": next, "__reversed__": reversed, "__bool__": bool, "__int__": int,
    "__float__": float, "__complex__": complex, "__index__": operator.index, "__abs__": abs,
    "__neg__": operator.neg, "__pos__": operator.pos, "__invert__": operator.invert,
    "__round__": round, "__hash__": hash, "__repr__": repr, "__str__": str, "__format__": format,
    "__enter__": lambda mine: mine.__enter__(),
    "__exit__": lambda mine, *error: mine.__exit__(*error),
    "__trunc__": lambda mine: mine.__trunc__(), "__floor__": lambda mine: mine.__floor__(),
    "__ceil__": lambda mine: mine.__ceil__(), "__bytes__": bytes, "__dir__": dir,
    "__length_hint__": operator.length_hint,
}  # fmt: skip
OPERATIONS = {**PLAIN, **COMPARISONS, **ARITHMETIC}
ALWAYS = ("__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__format__", "__dir__")
OPTIONAL = tuple(name for name in OPERATIONS if name not in ALWAYS and name not in COMPARISONS)
BITS = (*OPTIONAL, *(name for name in COMPARISONS if name not in ALWAYS), "__call__")
"""What a type may be able to do, a bit for each."""
MASK = 16
"""Bytes of these."""
READABLE = frozenset(("__name__", "__qualname__", "__doc__", "__annotations__", "__dict__",
                      "__module__", "__defaults__", "__members__"))  # fmt: skip
"""Attributes with two underscores that may be asked for."""


class Ended(Exception):
    """The other process is gone."""


class AModule:
    """A module that the other process has."""


class Proxy:
    """An object of the other process."""

    __slots__ = ("_proctor_kind", "_proctor_number", "_proctor_own", "_proctor_peer")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in READABLE:
            raise AttributeError(name)
        return peer_of(self).ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        peer_of(self).ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        peer_of(self).ask("delete", self, name)

    def __instancecheck__(self, other: Any) -> bool:
        return isinstance(other, Proxy) and peer_of(self).ask("is_instance", other, self) is True

    def __subclasscheck__(self, other: Any) -> bool:
        return isinstance(other, Proxy) and peer_of(self).ask("is_subclass", other, self) is True


def peer_of(proxy: Proxy) -> "Peer":
    """Return the connection that a proxy belongs to."""
    peer: Peer = object.__getattribute__(proxy, "_proctor_peer")
    return peer


def part_of(proxy: Proxy, name: str) -> int:
    """Return one of the numbers that a proxy holds: its own, or that of its type."""
    number: int = object.__getattribute__(proxy, f"_proctor_{name}")
    return number


def _method(name: str) -> Callable[..., Any]:
    def method(self: Proxy, *arguments: Any) -> Any:
        return peer_of(self).operate(self, name, arguments)

    method.__name__ = name
    return method


def _called(self: Proxy, /, *arguments: Any, **named: Any) -> Any:
    return peer_of(self).ask("call", self, arguments, named)


_METHODS = {name: _method(name) for name in OPERATIONS}


class Peer:
    """One end of the connection: what it asks for, and what it serves."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting = bytearray()
        self.exported: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.kinds: dict[int, int] = {}
        self.kind_objects: list[type] = []
        self.proxies: dict[int, Any] = {}
        self.proxy_types: dict[tuple[str, int], type] = {}

    # What the two ends do differently.

    def may_leave(self, value: Any) -> None:
        """Raise CannotCross where the other process must not get a proxy for a value."""

    def permit(self, request: str, target: Any, detail: Any) -> None:
        """Raise TypeError where the other process must not do this."""

    def name(self, name: str) -> Any:
        """Return what a name means here."""
        raise NameError(name)

    def printed(self) -> str:
        """Return what was printed since this was last asked for."""
        return ""

    def hear_printed(self, text: str) -> None:
        """Take in what the other process has printed."""

    def trace_of(self, error: BaseException) -> str:
        """Return what the other process may know of where an exception came from."""
        return ""

    def operate(self, proxy: Proxy, name: str, arguments: tuple[Any, ...]) -> Any:
        """Ask for an operation on an object of the other process."""
        return self.ask("operate", proxy, name, arguments)

    def fail(self, reason: str) -> BaseException:
        """Return what is raised when the other process does not keep to the rules."""
        return Ended(reason)

    def gone(self) -> BaseException:
        """Return what is raised when the other process has ended."""
        return Ended()

    def raised(
        self, lineage: Any, arguments: Any, text: Any, trace: Any, value: Any
    ) -> BaseException:
        """Make the exception that was raised in the other process."""
        _, names = lineage
        return error_of(names[0], arguments)

    # Asking.

    def ask(self, request: str, *arguments: Any) -> Any:
        """Ask the other process for something, and serve it until it has replied."""
        writer = Writer(self.export)
        ticket = os.urandom(TICKET)
        writer.parts += (REQUEST, ticket)
        writer.put_text(request)
        writer.put(arguments)
        self.send(writer.data())
        while True:
            data = self.receive()
            if data is None:
                raise self.gone()
            if data[:1] != REQUEST:
                return self.reply(data, ticket, writer.objects)
            self.serve(data)

    def reply(self, data: bytes, ticket: bytes, objects: list[Any]) -> Any:
        """Take in a reply: what the call changed, what it printed, and its result."""
        reader = Reader(data[1 + TICKET :], self.resolve, objects)
        try:
            if data[1 : 1 + TICKET] != ticket:
                raise Unreadable("it is none to this request")
            value, changes, printed = read_whole(
                reader, lambda incoming: (incoming.get(), incoming.get(), incoming.get_text())
            )
            error = None
            if data[:1] == RAISED:
                lineage, arguments, text, trace, own = exactly(value, 5)
                error = self.raised(exactly(lineage, 2), arguments, text, trace, own)
            elif data[:1] != RESULT:
                raise Unreadable("a reply")
            if type(changes) is not list:
                raise Unreadable("changes")
            for change in changes:
                number, content = exactly(change, 2)
                apply_change(objects[abs(number)], content)
        except Exception as problem:  # noqa: BLE001 - what it says can be wrong in every way
            raise self.fail(f"a reply that cannot be read ({problem})") from None
        if printed:
            self.hear_printed(printed)
        if error is not None:
            raise error
        return value

    # Serving.

    def serve(self, data: bytes) -> None:
        """Do what the other process asks for, and reply."""
        reader = Reader(data[1 + TICKET :], self.resolve)
        try:
            request, arguments = read_whole(
                reader, lambda incoming: (incoming.get_text(), incoming.get())
            )
            before = [(n, thing, state_of(thing)) for n, thing in enumerate(reader.objects)]
        except Unreadable as problem:
            raise self.fail(f"a request that cannot be read ({problem})") from None
        try:
            value, tag = self.perform(request, arguments), RESULT
        except Exception as error:  # noqa: BLE001 - whatever it raises is its result
            value, tag = self.description(error), RAISED
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            value, tag = self.description(error), RAISED
        changes = [
            (n, content_of(thing)) for n, thing, state in before if not same(state, state_of(thing))
        ]
        tag += data[1 : 1 + TICKET]
        self.send(self.written(tag, value, changes, reader.objects))

    def written(self, tag: bytes, value: Any, changes: list[Any], objects: list[Any]) -> bytes:
        """Write a reply; one that cannot cross becomes an exception."""
        printed = self.printed()
        try:
            writer = Writer(self.export, objects)
            writer.parts.append(tag)
            writer.put(value)
            writer.put(changes)
            writer.put_text(printed)
            data = writer.data()
            if len(data) > MOST_BYTES:
                raise CannotCross("a value that is too large")
        except (CannotCross, RecursionError, MemoryError) as error:
            writer = Writer(self.export)
            writer.parts.append(RAISED + tag[1:])
            text = f"cannot cross: {error}"
            writer.put((((), ("TypeError",)), (text,), text, "", None))
            writer.put([])
            writer.put_text(printed)
            data = writer.data()
        return data

    def perform(self, request: str, arguments: tuple[Any, ...]) -> Any:
        """Do one thing that was asked for."""
        perform = getattr(self, f"do_{request}", None)
        if perform is None:
            raise TypeError("no such request")
        return perform(*arguments)

    def do_name(self, name: str) -> Any:
        """Return what a name means."""
        return self.name(name)

    def do_call(self, target: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call something."""
        self.permit("call", target, None)
        return target(*arguments, **named)

    def do_get(self, target: Any, name: str) -> Any:
        """Return an attribute."""
        self.permit("get", target, name)
        return getattr(target, name)

    def do_set(self, target: Any, name: str, value: Any) -> None:
        """Set an attribute."""
        self.permit("set", target, name)
        setattr(target, name, value)

    def do_delete(self, target: Any, name: str) -> None:
        """Remove an attribute."""
        self.permit("set", target, name)
        delattr(target, name)

    def do_operate(self, target: Any, name: str, arguments: tuple[Any, ...]) -> Any:
        """Apply an operator."""
        self.permit("operate", target, name)
        return OPERATIONS[name](target, *arguments)

    def do_send(self, target: Any, value: Any) -> Any:
        """Go on with a generator."""
        self.permit("operate", target, "__next__")
        return target.send(value)

    def do_is_instance(self, value: Any, kind: Any) -> bool:
        """Tell whether a value is of a type."""
        self.permit("is", kind, None)
        return isinstance(value, kind)

    def do_is_subclass(self, value: Any, kind: Any) -> bool:
        """Tell whether a class derives from another."""
        self.permit("is", kind, None)
        return issubclass(value, kind)

    # Objects that stay.

    def export(self, writer: Writer, value: Any) -> None:
        """Write a number for an object that stays here, or the other's own number for its own."""
        if isinstance(value, Proxy) and peer_of(value) is self:
            writer.parts += (b"K", COUNT.pack(part_of(value, "number")))
            return
        number = self.numbers.get(id(value))
        if number is None:
            self.may_leave(value)
            number = self.numbers[id(value)] = len(self.exported)
            self.exported.append(value)
        kind = type(value)
        own = self.kind(value) if isinstance(value, type) else NONE
        name = value.__name__ if isinstance(value, type) else kind.__name__
        mask = sum(1 << bit for bit, able in enumerate(BITS) if hasattr(kind, able))
        writer.parts += (b"H", COUNT.pack(number), COUNT.pack(self.kind(kind)), COUNT.pack(own))
        writer.put_text(name)
        writer.parts.append(mask.to_bytes(MASK, "little"))
        special = {types.GeneratorType: "generator", types.ModuleType: "module"}.get(kind, "")
        lineage = None
        if isinstance(value, type) and issubclass(value, BaseException):
            special, lineage = "error", self.lineage(value)
        writer.put_text(special)
        writer.put(lineage)

    def kind(self, kind: type) -> int:
        """Return the number of a type."""
        if id(kind) not in self.kinds:
            self.kinds[id(kind)] = len(self.kind_objects)
            self.kind_objects.append(kind)
        return self.kinds[id(kind)]

    def resolve(self, reader: Reader, tag: bytes) -> Any:
        """Read an object that stays in the other process, or one of ours that comes back."""
        if tag == b"K":
            number = reader.count()
            if number >= len(self.exported):
                raise Unreadable("no such object")
            return self.exported[number]
        if tag != b"H":
            raise Unreadable("no such kind of value")
        number, kind, own = reader.count(), reader.count(), reader.count()
        name = reader.get_text()
        mask = int.from_bytes(reader.take(MASK), "little")
        special, lineage = reader.get_text(), reader.get()
        if number not in self.proxies:
            self.proxies[number] = self.proxy(number, kind, own, (name[:100], mask))
            if special == "generator":
                self.proxies[number] = generated(self.proxies[number])
            elif special == "error":
                proxy = self.proxies[number]
                self.proxies[number] = self.error_class(exactly(lineage, 2), proxy)
            elif special == "module":
                self.proxies[number] = AModule()
        return self.proxies[number]

    def proxy(self, number: int, kind: int, own: int, able: tuple[str, int]) -> Proxy:
        """Make a proxy that can do what the object's own type can."""
        if able not in self.proxy_types:
            name, mask = able
            methods = {m: _METHODS[m] for m in ALWAYS}
            for bit, method in enumerate(BITS):
                if mask >> bit & 1:
                    methods[method] = _METHODS.get(method, _called)
            if "__len__" in methods and "__bool__" not in methods:
                methods["__bool__"] = _METHODS["__bool__"]
            proxy_type = type(name, (Proxy,), {"__slots__": (), "__module__": "program", **methods})
            self.proxy_types[able] = proxy_type
        proxy: Proxy = object.__new__(self.proxy_types[able])
        parts = {"peer": self, "number": number, "kind": kind, "own": own}
        for part, value in parts.items():
            object.__setattr__(proxy, f"_proctor_{part}", value)
        return proxy

    def error_class(self, lineage: Any, proxy: Proxy) -> Any:
        """Return what stands for an exception class of the other process."""
        return proxy

    # Exceptions.

    def lineage(self, kind: type) -> tuple[Any, ...]:
        """Describe an exception's class: its own classes, and the built-in ones behind them."""
        own, built_in = [], []
        for each in kind.__mro__:
            if ERRORS.get(each.__name__) is each:
                if not any(issubclass(ERRORS[error_name], each) for error_name in built_in):
                    built_in.append(each.__name__)
            elif each is not object:
                own.append((self.kind(each), each.__module__, each.__name__))
        return tuple(own), tuple(built_in)

    def description(self, error: BaseException) -> tuple[Any, ...]:
        """Describe an exception for the other process."""
        lineage = self.lineage(type(error))
        try:
            text = str(error)
        except Exception:  # noqa: BLE001 - an exception of the answer may be broken itself
            text = ""
        arguments = error.args
        try:
            Writer(self.export).put(arguments)
        except (CannotCross, RecursionError, MemoryError):
            arguments = (text,)
        own = error if lineage[0] else None
        try:
            Writer(self.export).put(own)
        except CannotCross:
            own = None
        return lineage, arguments, text, self.trace_of(error), own

    # The socket.

    def send(self, data: bytes) -> None:
        """Send one message."""
        if len(data) > MOST_BYTES:
            raise CannotCross("a value that is too large")
        left = memoryview(COUNT.pack(len(data)) + data)
        try:
            while left:
                left = left[os.write(self.fd, left) :]
        except OSError:
            raise self.gone() from None

    def receive(self) -> bytes | None:
        """Wait for one message; none at the end."""
        header = self._read(COUNT.size)
        if header is None:
            return None
        size: int = COUNT.unpack(header)[0]
        if not 0 < size <= MOST_BYTES:
            raise self.fail("a message that cannot be read")
        return self._read(size)

    def _read(self, size: int) -> bytes | None:
        while len(self.waiting) < size:
            try:
                data = os.read(self.fd, max(65536, min(size - len(self.waiting), 1 << 20)))
            except OSError:
                return None
            if not data:
                return None
            self.waiting += data
        data = bytes(self.waiting[:size])
        del self.waiting[:size]
        return data


def exactly(value: Any, count: int) -> Any:
    """Return a tuple of so many parts, and nothing that only acts like one."""
    if type(value) is not tuple or len(value) != count:
        raise Unreadable("the parts of a message")
    return value


def generated(proxy: Proxy) -> Iterator[Any]:
    """Be a real generator that goes on with one of the other process."""
    peer = peer_of(proxy)
    sent = None
    while True:
        try:
            value = peer.ask("send", proxy, sent)
        except StopIteration as end:
            return end.value
        sent = yield value


def state_of(thing: Any) -> Any:
    """Return what tells later whether a container was changed; none for what cannot be."""
    kind = type(thing)
    if kind in (list, deque):
        return list(thing)
    if kind is set:
        return set(thing)
    if kind is bytearray:
        return bytes(thing)
    if isinstance(thing, dict) and kind.__module__ in ("builtins", "collections"):
        return [part for pair in thing.items() for part in pair]
    if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        return _encoded(thing)
    return None


def _encoded(thing: Any) -> bytes | None:
    def refuse(_: Writer, value: Any) -> None:
        raise CannotCross(type(value).__name__)

    writer = Writer(refuse)
    try:
        writer.put(thing)
    except CannotCross:
        return None
    return writer.data()


def same(before: Any, after: Any) -> bool:
    """Tell whether two states hold the very same things."""
    if type(before) is list and type(after) is list:
        return len(before) == len(after) and all(map(operator.is_, before, after))
    if type(before) is set and type(after) is set:
        return {id(part) for part in before} == {id(part) for part in after}
    return bool(before == after)


def content_of(thing: Any) -> Any:
    """Return what a container holds now, as another one of a plain kind."""
    if isinstance(thing, dict):
        return dict(thing)
    if type(thing) is deque:
        return list(thing)
    if type(thing) in (list, set, bytearray):
        return type(thing)(thing)
    return thing.copy()


def apply_change(thing: Any, content: Any) -> None:
    """Give a container of ours the content that the other process left in its copy."""
    kind = type(thing)
    if kind in (list, bytearray) and type(content) is kind:
        thing[:] = content
    elif isinstance(thing, dict) and type(content) is dict:
        dict.clear(thing)
        dict.update(thing, content)
    elif kind is set and type(content) is set:
        thing.clear()
        thing.update(content)
    elif kind is deque and type(content) is list:
        thing.clear()
        thing.extend(content)
    elif kind is type(content) and kind.__module__.partition(".")[0] == "pandas":
        thing._update_inplace(content)
    elif kind is type(content) and kind.__module__ == "numpy":
        if thing.shape == content.shape:
            thing[...] = content
        else:
            thing.resize(content.shape, refcheck=False)
            thing[...] = content
    else:
        raise Unreadable("a change")


class Printed(io.TextIOWrapper):
    """Standard output that is handed over with each reply, and not by itself."""

    MOST = 256 * 1024

    def __init__(self) -> None:
        self.captured = io.BytesIO()
        super().__init__(
            self.captured, encoding="utf-8", errors="surrogateescape", write_through=True
        )

    def write(self, text: str) -> int:
        """Keep a text; where it becomes very long, let it out as it is."""
        count = super().write(text)
        if self.captured.tell() > self.MOST:
            self.let_out()
        return count

    def take(self) -> str:
        """Return what was printed, once."""
        data = self.captured.getvalue()
        self.captured.seek(0)
        self.captured.truncate()
        return data.decode("utf-8", "surrogateescape")

    def let_out(self) -> None:
        """Write what was printed to the process's own standard output."""
        data = self.take().encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(1, data) :]

    def fileno(self) -> int:
        """Return the number of the process's own standard output."""
        return sys.__stdout__.fileno()  # type: ignore[union-attr]
