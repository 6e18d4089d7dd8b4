"""A program and its test in one process, the test read only when the program has run.

Before the test begins, what the program may have changed of the library is put back as it was:
built-in functions, the modules that the test uses, hooks of the interpreter. What comes after the
program waits as the elements of a list that is being sorted: no frame shows them, the list itself
looks empty, and nothing that the program can replace is asked on the way. The file runs by itself,
inside a sandbox, and uses the standard library alone.
"""

import _ast
import _signal
import builtins
import gc
import importlib
import linecache
import operator
import os
import sys
import traceback
import types
from functools import partial
from typing import Any

SOURCE = "main.py"
ALWAYS = ("builtins", "math", "operator", "traceback", "linecache", "contextlib")
WITH = {"unittest": ("unittest.case", "unittest.suite", "unittest.result", "unittest.loader"),
        "numpy": ("numpy.testing", "numpy.testing._private.utils"),
        "pandas": ("pandas.testing", "pandas._testing", "pandas._testing.asserters")}  # fmt: skip
"""Modules in which another one does what it is known for; parts of packages come by themselves."""
WHOLE = frozenset(("unittest", "asyncio", "contextlib"))
"""Packages whose classes decide whether and how a test runs: all that these hold is put back."""
DECIDING = frozenset((
    "__enter__", "__exit__", "__aenter__", "__aexit__", "__eq__", "__ne__", "__lt__", "__le__",
    "__gt__", "__ge__", "__bool__", "__len__", "__contains__", "__iter__", "__next__",
    "__getattribute__", "__getattr__", "__init_subclass__", "__new__", "__init__", "__call__",
    "__set_name__", "__hash__", "__get__", "__set__", "__del__", "__sub__", "__rsub__", "__abs__",
    "__float__", "__getitem__", "__await__", "__class_getitem__", "__instancecheck__",
))  # fmt: skip
"""What is put back in classes of other modules that a test uses."""
UNSETTABLE = frozenset(("__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__doc__"))
MISSING = object()
REFUSED = frozenset((
    "sys.addaudithook", "sys._current_frames", "sys._current_exceptions",
    "sys.monitoring.register_callback", "gc.get_objects", "gc.get_referrers", "gc.get_referents",
    "ctypes.string_at", "ctypes.wstring_at", "ctypes.cdata", "ctypes.PyObj_FromPtr",
))  # fmt: skip
"""What a program must not do: listen to what happens later, or search its own memory."""
TIMERS = (_signal.ITIMER_REAL, _signal.ITIMER_VIRTUAL, _signal.ITIMER_PROF)
SIZE = 4
HALF = 16
"""Bytes by which a program asks for its test, and again by which it says that this has ended."""
HEAP_TYPE = 1 << 9
FLAGS = 0x1FFE0000
"""The flags of a text that ``from __future__`` sets."""


class Pristine:
    """Modules and hooks as they are before the program."""

    def __init__(self, names: list[str]) -> None:
        more = [part for name in names for part in WITH.get(name, ())]
        by_name = {name: SNAPSHOTS.get(name) or snapshot(name) for name in (*ALWAYS, *names, *more)}
        roots = {name.partition(".")[0] for name in names} - {"numpy", "pandas"}
        parts = {
            name: SNAPSHOTS.get(name) or snapshot(name)
            for name in list(sys.modules)
            if name.partition(".")[0] in roots and name not in by_name
        }
        self.snapshots = [(True, *taken) for taken in by_name.values() if taken is not None]
        self.snapshots += [(False, *taken) for taken in parts.values() if taken is not None]
        """Modules, and whether the test names them: of the rest, what they remember stays."""
        self.imports = (list(sys.meta_path), list(sys.path_hooks), list(sys.path))
        self.hooks = (sys.excepthook, sys.displayhook, sys.unraisablehook)


Snapshot = tuple[str, Any, dict[str, Any], list[tuple[Any, str, Any]], list[Any]]


def snapshot(name: str) -> Snapshot | None:
    """Return a module with its names, and what could be changed within what they name."""
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - it fails again in the test
        return None
    names = dict(vars(module))
    return name, module, names, functions_in(names), classes_in(names, name.partition(".")[0])


def functions_in(names: dict[str, Any]) -> list[tuple[Any, str, Any]]:
    """Return what could be changed within functions: the function, the attribute, its value."""
    functions = [value for value in names.values() if type(value) is types.FunctionType]
    return [(f, part, getattr(f, part)) for f in functions for part in ("__code__", "__defaults__")]


def classes_in(names: dict[str, Any], root: str) -> list[Any]:
    """Return classes, and objects of those that decide, with what they hold themselves.

    With each comes whether all of it is put back, or only what decides.
    """
    whole = root in WHOLE
    classes: list[Any] = []
    for value in list(names.values()):
        if isinstance(value, type) and value.__module__.partition(".")[0] in (root, f"_{root}"):
            if value.__flags__ & HEAP_TYPE:
                attributes = {n: part for n, part in vars(value).items() if whole or n in DECIDING}
                classes += [(value, attributes, whole, functions_in(attributes))]
        elif root == "unittest" and type(value).__module__.startswith("unittest."):
            classes += [(value, dict(vars(value)), whole, [])]
    return classes


def refuse(
    event: str,
    arguments: Any,
    refused: frozenset[str] = REFUSED,
    text: type = str,
    error: type[Exception] = PermissionError,
) -> None:
    """Refuse what a program must not do; all names in here are local, and cannot be replaced."""
    if event in refused:
        raise error(event)
    if event == "open" and arguments[0].__class__ is text and arguments[0].endswith("/mem"):
        raise error(arguments[0])


SNAPSHOTS = {
    name: snapshot(name)
    for name in (*ALWAYS, *WITH, *(part for parts in WITH.values() for part in parts))
    if name in sys.modules
}
"""Those that a warm interpreter has ready for every program."""
# This runs between the program and the test, in names of its own that nothing else knows.
BETWEEN = compile(
    """
sys.excepthook, sys.displayhook, sys.unraisablehook = kept.hooks
sys.meta_path[:], sys.path_hooks[:], sys.path[:] = kept.imports
for named, name, module, names, functions, owners in kept.snapshots:
    for owner, part, value in functions:
        if getattr(owner, part, None) is not value:
            setattr(owner, part, value)
    for owner, held, whole, functions in owners:
        now = owner.__dict__
        for part in [part for part in now if part not in held]:
            if (whole or part in DECIDING) and part not in UNSETTABLE:
                delattr(owner, part)
        for part, value in held.items():
            if now.get(part, MISSING) is not value and part not in UNSETTABLE:
                setattr(owner, part, value)
        for function, part, value in functions:
            if getattr(function, part, None) is not value:
                setattr(function, part, value)
    sys.modules[name] = module
    now = module.__dict__
    for part, value in names.items():
        found = now.get(part)
        if found is not value:
            if named or callable(value) or type(found).__module__ == "program":
                now[part] = value
write(line, key)
def take(size):
    data = b""
    while len(data) < size:
        piece = read(line, size - len(data))
        if not piece:
            leave(1)
        data += piece
    return data
text = str(take(int.from_bytes(take(SIZE), "little")), "utf-8", "surrogatepass")
flags = program.__code__.co_flags & FLAGS
tree = compile(text, SOURCE, "exec", flags | ONLY_AST, True)
waiting = [tree]
while waiting:
    node = waiting.pop()
    for part in node._fields:
        found = getattr(node, part, None)
        if part == "id" and found in plain:
            node.id = "built-in " + found
            test.__globals__[node.id] = __builtins__[found]
        elif isinstance(found, AST):
            waiting.append(found)
        elif isinstance(found, list):
            waiting += [each for each in found if isinstance(each, AST)]
test.__code__ = compile(tree, SOURCE, "exec", flags, True)
""",
    "between",
    "exec",
)
AFTER = compile(
    """
if getpid() != own:
    leave(1)
sys.stdout.flush()
sys.stderr.flush()
""",
    "after",
    "exec",
)
"""A child that tried a guess, and found that it passes, is not the program."""
NOTHING = compile("", SOURCE, "exec")


def steps(arguments: list[Any]) -> list[Any]:
    """Return what is called one after the other: the program, the test, and the sign of the end."""
    text, names, line, key = arguments
    arguments.clear()
    kept = Pristine([name for name in names if name[0] != "="])
    plain = frozenset(name[1:] for name in names if name[0] == "=")
    module = types.ModuleType("program")
    module.__file__ = SOURCE
    sys.modules["program"] = module
    module.__dict__["__builtins__"] = builtins
    linecache.cache[SOURCE] = (len(text), None, text.splitlines(True), SOURCE)
    program = types.FunctionType(compile(text, SOURCE, "exec", dont_inherit=True), module.__dict__)
    test = types.FunctionType(NOTHING, module.__dict__)
    built_in = dict(vars(builtins))
    own = {
        "__builtins__": built_in, "sys": sys, "kept": kept, "read": os.read,
        "write": os.write, "leave": os._exit, "line": line, "key": key[:HALF], "SIZE": SIZE,
        "FLAGS": FLAGS, "SOURCE": SOURCE, "program": program, "test": test,
        "DECIDING": DECIDING, "MISSING": MISSING, "UNSETTABLE": UNSETTABLE,
        "plain": plain, "AST": _ast.AST, "ONLY_AST": _ast.PyCF_ONLY_AST,
    }  # fmt: skip
    sys.addaudithook(refuse)
    every = _signal.valid_signals()
    after = {"__builtins__": built_in, "sys": sys, "getpid": os.getpid, "leave": os._exit}
    after["own"] = os.getpid()
    # A handler that is due runs at the end of these, and no other until they are let in again.
    quiet = (
        partial(sys.settrace, None),
        partial(sys.setprofile, None),
        *(partial(_signal.setitimer, timer, 0) for timer in TIMERS),
        partial(_signal.pthread_sigmask, _signal.SIG_BLOCK, every),
    )
    return [
        gc.freeze,
        program,
        *quiet,
        partial(exec, BETWEEN, own),
        partial(_signal.pthread_sigmask, _signal.SIG_UNBLOCK, every),
        test,
        *quiet,
        partial(exec, AFTER, after),
        partial(os.write, line, key[HALF:]),
        partial(os._exit, 0),
    ]


def run(arguments: list[Any]) -> None:
    """Run a program, and never return: its text, what its test uses, the line and its key.

    Of what the test uses, modules go by their names, and built-in functions, which it means even
    where the program has its own by that name, by their names after an equals sign.
    """
    try:
        steps(arguments).sort(key=operator.call)
    except BaseException:  # noqa: BLE001 - whatever ends a program is its result
        show_error()
    finally:
        leave()


def leave() -> None:
    """End this process without the end of the test."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(1)


def show_error() -> None:
    """Print the error as Python would, without the frames of this file."""
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if isinstance(error, SystemExit):
        sys.stderr.write(f"SystemExit: {error.code}\n")
    traceback.print_exception(kind, error, trace)
