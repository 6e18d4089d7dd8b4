"""Run a test whose answer is in another process; runs by itself, in a sandbox without the answer.

Names of the answer are asked for when the test uses them. Nothing of the answer's types is made
here, and no text of the answer runs here. What the answer's process does against the rules ends
the test, whatever the test catches.
"""

import functools
import importlib
import io
import linecache
import marshal
import os
import sys
import traceback
import types
from typing import Any

from crossing import CannotCross, Reader
from crossing_kinds import ERRORS, error_of
from joined import ARITHMETIC, COMPARISONS, NONE, AModule, Peer, Proxy, exactly, part_of

SOURCE = "main.py"
READY = b"+"
CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType,
            types.MethodWrapperType, functools.partial)  # fmt: skip
STREAMS = (io.StringIO, io.BytesIO)
STREAM_METHODS = frozenset(("read", "readline", "readlines", "write", "writelines", "seek", "tell",
                            "getvalue", "close", "closed", "flush", "readable", "writable",
                            "seekable", "encoding", "read1", "readinto"))  # fmt: skip
COMPARING = frozenset(("startswith", "endswith", "equals", "identical", "issubset", "issuperset",
                       "isdisjoint"))  # fmt: skip
"""Methods of plain values that show an object what the test compares it with."""
FUNCTION_NAMES = ("__name__", "__qualname__", "__doc__")
ITERATION = frozenset(("__iter__", "__next__", "__length_hint__"))
STREAM_OPERATIONS = ITERATION | {"__enter__", "__exit__"}


OWN = tuple(
    sys.modules[name].__file__ for name in ("crossing", "crossing_kinds", "joined", __name__)
)


class AnswerError(BaseException):
    """What the answer did that no test can be satisfied with."""


class RemoteTrace(Exception):
    """Where in the answer an exception came from."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class TestPeer(Peer):
    """The end at which the test is."""

    def __init__(self, fd: int, test: str) -> None:
        super().__init__(fd)
        self.fault = ""
        self.named_classes: set[int] = set()
        self.errors: dict[int, type] = {}
        self.ends_iterations = "StopIteration" in test
        self.arriving: list[int] = []
        self.constructed: set[int] = set()
        """Objects that the test made, by a class that it names or by arithmetic with such."""
        self.returned: set[int] = set()
        """Objects that the answer chose to give."""

    def ask(self, request: str, *arguments: Any) -> Any:
        """Ask for something; only an iterator of the answer can end an iteration of the test."""
        if request == "get" and arguments[1] in COMPARING and self.was_chosen(arguments[0]):
            kind = type(arguments[0]).__name__
            raise self.fail(f"a {kind} cannot cross to the test, which asks {arguments[1]}")
        try:
            value = super().ask(request, *arguments)
        except StopIteration as error:
            steps = request == "send" or (request == "operate" and arguments[1] == "__next__")
            if steps or self.ends_iterations:
                raise
            raise RuntimeError("the answer raised StopIteration") from error
        self.note_origin(request, arguments, value)
        return value

    def was_chosen(self, target: Any) -> bool:
        """Tell whether a thing is an object that the answer chose, and no class of it."""
        chosen = part_of(target, "number") not in self.constructed
        return chosen and part_of(target, "own") == NONE

    def note_origin(self, request: str, arguments: tuple[Any, ...], value: Any) -> None:
        """Note whether an object was made by the test, or is one that the answer chose."""
        arriving, self.arriving = self.arriving, []
        if isinstance(value, Proxy) and self.is_making(request, arguments):
            number = part_of(value, "number")
            if number not in self.returned and arriving.count(number) == 1:
                self.constructed.add(number)
                return
        self.returned.update(arriving)
        self.constructed.difference_update(arriving)

    def is_making(self, request: str, arguments: tuple[Any, ...]) -> bool:
        """Tell whether a request calls a class that the test names, or computes with its object."""
        target = arguments[0]
        if request == "call" and isinstance(target, Proxy):
            return part_of(target, "own") in self.named_classes
        if request != "operate" or arguments[1] not in ARITHMETIC:
            return False
        return part_of(target, "number") in self.constructed

    def resolve(self, reader: Reader, tag: bytes) -> Any:
        """Read an object, and note that it has come."""
        value = super().resolve(reader, tag)
        if isinstance(value, Proxy):
            self.arriving.append(part_of(value, "number"))
        return value

    def fail(self, reason: str) -> BaseException:
        """Note what the answer's process did, for good."""
        self.fault = self.fault or reason
        return AnswerError(self.fault)

    def gone(self) -> BaseException:
        """End the test without a word: how the answer ended is known without it."""
        leave()
        return AnswerError()

    def hear_printed(self, text: str) -> None:
        """Print what the answer has printed, wherever the test has standard output now."""
        sys.stdout.write(text)

    def operate(self, proxy: Proxy, name: str, arguments: tuple[Any, ...]) -> Any:
        """Ask for an operation; none that shows the answer what the test compares it with."""
        if name == "__exit__":
            failed = is_failure(arguments[1])
            ended = super().operate(proxy, name, exit_arguments(*arguments))
            return False if failed else ended
        strangers = [part for part in arguments if not isinstance(part, Proxy)]
        if name in ("__eq__", "__ne__") and any(part is None for part in strangers):
            return name == "__ne__"
        if strangers and name in COMPARISONS:
            kind = type(proxy).__name__
            raise self.fail(
                f"a {kind} cannot cross to the test, and is not compared with"
                f" a {type(strangers[0]).__name__}"
            )
        asks = name in ARITHMETIC or name == "__contains__"
        if strangers and asks and part_of(proxy, "number") not in self.constructed:
            raise self.fail(f"a {type(proxy).__name__} cannot cross to the test")
        return self.checked(name, super().operate(proxy, name, arguments))

    def checked(self, name: str, value: Any) -> Any:
        """Return the result of an operation that Python wants to have a certain type."""
        required = {"__hash__": int, "__repr__": str, "__str__": str, "__format__": str,
                  "__bool__": bool, "__len__": int, "__contains__": bool}.get(name)  # fmt: skip
        if required is not None and type(value) is not required:
            raise self.fail(f"{name} of the answer gave a {type(value).__name__}")
        return value

    def may_leave(self, value: Any) -> None:
        """Let the answer use functions, iterators and instances of the test's own classes."""
        if not (is_call(value) or is_iterator(value) or type(value) in STREAMS or is_own(value)):
            kind = type(value).__name__
            raise self.fail(f"a {kind} of the test cannot cross to the answer (isolate: false)")

    def permit(self, request: str, target: Any, detail: Any) -> None:
        """Let the answer do with objects of the test what a function needs, and no more."""
        if type(detail) is not str and detail is not None:
            raise TypeError("no such attribute")
        own = is_own(target)
        if request == "call":
            fine = is_call(target) or own
        elif request == "operate":
            fine = own and from_test(target, detail)
            fine = fine or (is_iterator(target) and detail in ITERATION)
            fine = fine or (type(target) in STREAMS and detail in STREAM_OPERATIONS)
        elif request == "is":
            fine = isinstance(target, type)
        else:
            fine = own and not detail.startswith("_") and from_test(target, detail, request)
            fine = fine or (
                request == "get" and type(target) in STREAMS and detail in STREAM_METHODS
            )
            fine = fine or (request == "get" and is_call(target) and detail in FUNCTION_NAMES)
        if not fine and request == "get":
            raise AttributeError(detail)
        if not fine:
            raise TypeError(f"the test does not offer this of a {type(target).__name__}")

    def raised(
        self, lineage: Any, arguments: Any, text: Any, trace: Any, value: Any
    ) -> BaseException:
        """Make the exception again: built-in ones as they were, others by classes of our own."""
        own, names = lineage
        if type(text) is not str or type(trace) is not str or type(arguments) is not tuple:
            raise TypeError("an exception")
        if not own:
            error = error_of(names[0], arguments)
        else:
            kind = self.error_class(lineage, None)
            error = kind.__new__(kind)
            error.args = arguments
            error.__dict__.update(_proctor_text=text, _proctor_value=value)
        if trace:
            error.__cause__ = RemoteTrace(trace)
        return error

    def error_class(self, lineage: Any, proxy: Proxy | None) -> Any:
        """Return a class of our own for an exception class of the answer."""
        own, names = lineage
        if type(own) is not tuple or type(names) is not tuple:
            raise TypeError("an exception")
        bases: tuple[type, ...] = tuple(ERRORS[name] for name in names) or (Exception,)
        for number, module, name in (exactly(part, 3) for part in reversed(own)):
            if type(number) is not int or type(module) is not str or type(name) is not str:
                raise TypeError("an exception")
            if number not in self.errors:
                self.errors[number] = library_error(module, name) or type(
                    name[:100],
                    bases,
                    {
                        "__module__": "program",
                        "__str__": error_text,
                        "__getattr__": error_attribute,
                    },
                )
            bases = (self.errors[number],)
        return bases[0]


def is_failure(error: Any) -> bool:
    """Tell whether an exception is a failure of the test, which no answer can take back."""
    return isinstance(error, AssertionError) and not isinstance(error.__cause__, RemoteTrace)


def exit_arguments(kind: Any, error: Any, _: Any) -> tuple[Any, ...]:
    """Return what the answer's context manager may know of an exception in the test."""
    if kind is None:
        return None, None, None
    built_in = next(base for base in kind.__mro__ if ERRORS.get(base.__name__) is base)
    value = error.__dict__.get("_proctor_value")
    return built_in, error_of(built_in.__name__, error.args) if value is None else value, None


def library_error(module: str, name: str) -> type | None:
    """Return an exception class of the library that both processes have."""
    root = module.partition(".")[0]
    # No exception of the answer may tell the framework of a test to pass it over.
    if root not in sys.stdlib_module_names or root == "unittest" or module not in sys.modules:
        return None
    kind = vars(sys.modules[module]).get(name)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def error_text(error: BaseException) -> str:
    """Return what the answer's exception says of itself."""
    text: str | None = error.__dict__.get("_proctor_text")
    return BaseException.__str__(error) if text is None else text


def error_attribute(error: BaseException, name: str) -> Any:
    """Return an attribute that the answer gave to its own exception."""
    value = error.__dict__.get("_proctor_value")
    if value is None or name.startswith("__"):
        raise AttributeError(name)
    return getattr(value, name)


def is_call(value: Any) -> bool:
    """Tell whether a value is a function, or a class of the test."""
    return isinstance(value, CALLABLE) or (
        isinstance(value, type) and value.__module__ == "program" and not_a_test(value)
    )


def is_iterator(value: Any) -> bool:
    """Tell whether a value is an iterator of the language's own kind."""
    kind = type(value)
    return hasattr(kind, "__next__") and kind.__module__ in ("builtins", "itertools")


def is_own(value: Any) -> bool:
    """Tell whether a value is an instance of a class that the test defines."""
    return type(value).__module__ == "program" and not_a_test(type(value))


def not_a_test(kind: type) -> bool:
    """Tell whether a class is none of those that decide about the test."""
    framework = sys.modules.get("unittest.case")
    cases = (framework.TestCase,) if framework is not None else ()
    return not issubclass(kind, (*cases, BaseException, Proxy, TestPeer))


def from_test(target: Any, name: str, request: str = "get") -> bool:
    """Tell whether an attribute comes from the test itself and not from a library."""
    if request == "set" or name in getattr(target, "__dict__", {}):
        return True
    return any(name in vars(kind) for kind in type(target).__mro__ if kind.__module__ == "program")


class Names(dict[str, Any]):
    """The test's names; those of the answer are asked for each time, functions once."""

    def __init__(self, peer: TestPeer, allowed: list[str]) -> None:
        super().__init__(__name__="program", __file__=SOURCE)
        self.peer, self.allowed = peer, frozenset(allowed)
        self.functions: dict[str, Any] = {}

    def __missing__(self, name: str) -> Any:
        if name not in self.allowed:
            raise KeyError(name)
        if name in self.functions:
            return self.functions[name]
        try:
            value = self.peer.ask("name", name)
        except NameError:
            raise KeyError(name) from None
        if isinstance(value, AModule):
            return self.module(name)
        if isinstance(value, Proxy):
            if type(value).__name__ == "function":
                self.functions[name] = value
            if part_of(value, "own") != NONE and name[:1].isupper():
                self.peer.named_classes.add(part_of(value, "own"))
        return value

    def module(self, name: str) -> Any:
        """Return our own module of that name, whatever the answer's process has under it."""
        meant = {"np": "numpy", "pd": "pandas"}.get(name, name)
        if meant not in (*sys.stdlib_module_names, "numpy", "pandas"):
            raise self.peer.fail(f"the module {name} of the answer cannot cross to the test")
        return importlib.import_module(meant)


def main(fd: int, arguments: dict[str, Any]) -> None:
    """Wait until the answer has run, then run the test with its names."""
    peer = TestPeer(fd, arguments["test"])
    names = Names(peer, arguments["names"])
    if arguments["before"].strip():
        exec(compile(arguments["before"], "before", "exec", dont_inherit=True), names)  # noqa: S102  # nosec B102
    text = "\n" * (arguments["line"] - 1) + arguments["test"]
    linecache.cache[SOURCE] = (len(text), None, text.splitlines(True), SOURCE)
    try:
        if "code" in arguments:
            code = marshal.loads(arguments["code"])  # noqa: S302 - from the grader  # nosec B302
        else:
            code = compile(text, SOURCE, "exec", dont_inherit=True)
        if peer.receive() != READY:
            leave()  # the answer itself has said why
        try:
            exec(code, names)  # noqa: S102  # nosec B102
        except CannotCross as error:
            raise peer.fail(str(error)) from None
        if peer.fault:
            raise AnswerError(peer.fault)
    except BaseException as error:  # noqa: BLE001 - whatever ends the test is its result
        show(error)
        leave()


def show(error: BaseException) -> None:
    """Print an error as Python would, with the frames of the test alone."""
    if isinstance(error, SystemExit):
        sys.stderr.write(f"SystemExit: {error.code}\n")
    shown = traceback.TracebackException.from_exception(error)
    waiting: list[traceback.TracebackException | None] = [shown]
    while waiting:
        part = waiting.pop()
        if part is not None:
            own = [frame for frame in part.stack if frame.filename not in OWN]
            part.stack = traceback.StackSummary.from_list(own)
            waiting += (part.__cause__, part.__context__)
    sys.stderr.write("".join(shown.format()))


def leave() -> None:
    """End this process without the end of the test."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(1)
