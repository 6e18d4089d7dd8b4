"""What tells a function or an object of a program apart from others, in this process and the next.

A function is its source, its defaults, what it closes over, and all that it uses of its own
project: other functions, classes, constants, whole modules and the texts that it reads from files.
What is installed counts by name. Objects count by their class and their fields. Some objects have
a state that nobody can read, such as a model in memory: whatever uses one has no sure identity.

What a function itself changes while it runs, as a counter or a list of calls, is no part of it.
"""

import ast
import dis
import functools
import hashlib
import inspect
import os
import pickle  # nosec B403  # written, never read
import re
import sys
import textwrap
import types
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, TypeGuard

from proctor.core.fingerprint import digest
from proctor.core.suite import Json
from proctor.engine.run.plugin_sources import source_of
from proctor.io.search_paths import is_installed

MOST_OBJECTS = 20_000
LARGEST_FILE = 16 * 2**20
_TEXT_FILES = frozenset(
    {".txt", ".md", ".j2", ".jinja", ".jinja2", ".prompt", ".yaml", ".yml", ".json", ".toml"}
)
_TABLES = frozenset({"numpy", "pandas", "pyarrow", "polars"})
"""Packages whose objects are data, and can be written down whole."""
_CLIENTS = frozenset(
    {"openai", "anthropic", "httpx", "requests", "aiohttp", "litellm", "mistralai", "cohere",
     "groq", "together", "boto3", "botocore", "ollama", "google"}
)  # fmt: skip
"""Packages whose objects are connections to a server: they have no state that answers."""
_STATELESS = frozenset(
    {"_thread", "threading", "asyncio", "logging", "queue", "_queue", "contextvars",
     "_contextvars", "concurrent", "io", "_io", "socket", "ssl", "http", "urllib", "time"}
)  # fmt: skip
"""Modules of Python whose objects hold nothing that an answer could depend on."""
_CHANGING = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft",
     "popitem", "remove", "discard", "clear", "sort", "reverse", "put", "put_nowait", "write"}
)  # fmt: skip
"""Methods that change what they are called on."""
_MAKING = frozenset({"__init__", "__post_init__", "__new__"})
_WRITING = frozenset({"write", "write_text", "write_bytes", "dump", "writelines"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The key of a function or an object, and what of it could not be read."""

    key: str
    unknown: tuple[str, ...] = ()
    """What has a state that nobody can read; empty where the key says all."""


def identify(thing: Any) -> Identity:
    """Return what tells a function or an object apart from others."""
    changed = _Changed()
    changed.look_at(thing)
    walk = _ContentWalk(changed)
    content = walk.of(thing)
    return Identity(key=digest(content), unknown=tuple(walk.unknown))


@dataclass
class _Changed:
    """What the functions of a program change while they run: names, variables and fields."""

    names: set[tuple[int, str]] = field(default_factory=set)
    """Global names, each with the place of its module's names in memory."""
    cells: set[int] = field(default_factory=set)
    fields: set[tuple[type[Any], str]] = field(default_factory=set)
    _seen: set[int] = field(default_factory=set)
    _kept_alive: list[Any] = field(default_factory=list)

    def look_at(self, thing: Any) -> None:
        """Look at a function, and at all that it calls."""
        if id(thing) in self._seen or len(self._seen) > MOST_OBJECTS:
            return
        self._seen.add(id(thing))
        self._kept_alive.append(thing)
        if isinstance(thing, functools.partial):
            self.look_at(thing.func)
        elif isinstance(thing, types.MethodType):
            self.look_at(thing.__self__)
            self.look_at(thing.__func__)
        elif isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(thing, type):
            self._class(thing)
        elif _is_own(type(thing).__module__, _file_of(type(thing).__module__)):
            self._class(type(thing))

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        if not _is_own(function.__module__, code.co_filename):
            return
        changed = _changed_names(function)
        scope = function.__globals__
        self.names |= {(id(scope), name) for name in changed}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if name in changed:
                self.cells.add(id(cell))
            elif _is_full(cell):
                self.look_at(cell.cell_contents)
        for name in _global_names(code):
            if name in scope and name not in changed:
                self.look_at(scope[name])

    def _class(self, cls: type[Any]) -> None:
        if not _is_own(cls.__module__, _file_of(cls.__module__)):
            return
        for name, member in list(vars(cls).items()):
            function = getattr(member, "__func__", member)
            if isinstance(function, types.FunctionType):
                self.look_at(function)
                if name not in _MAKING:
                    self.fields |= {(cls, one) for one in _changed_fields(function)}


@dataclass
class _ContentWalk:
    """A way through all that a function depends on."""

    changed: _Changed
    unknown: dict[str, None] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)
    _kept_alive: list[Any] = field(default_factory=list)
    """Objects on the way, so that no other gets the place of one in memory."""
    _modules: set[str] = field(default_factory=set)

    def of(self, thing: Any, name: str = "") -> Json:
        """Write down what something is; what was met before is written as its number."""
        if (value := _plain(thing)) is not _NONE:
            return value
        if id(thing) in self._places:
            return {"again": self._places[id(thing)]}
        if len(self._places) >= MOST_OBJECTS:
            self.unknown[f"{name} and more"] = None
            return "more"
        self._places[id(thing)] = len(self._places)
        self._kept_alive.append(thing)
        return self._content(thing, name)

    def _content(self, thing: Any, name: str) -> Json:
        if isinstance(thing, types.ModuleType):
            return self._module(thing)
        if isinstance(thing, types.MethodType):
            return ["method", self.of(thing.__self__, name), self.of(thing.__func__)]
        if isinstance(thing, functools.partial):
            return ["partial", self.of(thing.func), self.of(thing.args), self.of(thing.keywords)]
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, staticmethod | classmethod | property):
            return self._member(thing)
        if isinstance(thing, type):
            return self._class(thing)
        return self._value(thing, name)

    def _member(
        self, member: "staticmethod[Any, Any] | classmethod[Any, Any, Any] | property"
    ) -> Json:
        if isinstance(member, property):
            return ["property", self.of(member.fget), self.of(member.fset)]
        return ["method", self.of(member.__func__)]

    def _value(self, thing: Any, name: str) -> Json:
        if isinstance(thing, Mapping):
            return {
                "mapping": [
                    [self.of(key), self.of(value, str(key))] for key, value in thing.items()
                ]
            }
        if isinstance(thing, list | tuple | deque):
            return [type(thing).__name__, *(self.of(part) for part in thing)]
        if isinstance(thing, set | frozenset):
            return ["set", *sorted(digest(self.of(part)) for part in thing)]
        return self._object(thing, name)

    def _function(self, function: types.FunctionType) -> Json:
        if not _is_own(function.__module__, function.__code__.co_filename):
            return ["installed", function.__module__, function.__qualname__]
        code = function.__code__
        closure = {
            variable: self.of(cell.cell_contents, variable)
            for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
            if _is_full(cell) and id(cell) not in self.changed.cells
        }
        scope = function.__globals__
        changed = self.changed.names
        named = sorted(name for name in _global_names(code) if (id(scope), name) not in changed)
        return {
            "function": _source(function),
            "defaults": self.of(function.__defaults__),
            "keywords": self.of(function.__kwdefaults__),
            "closure": closure,
            "globals": {one: self.of(scope[one], one) for one in named if one in scope},
            "files": _files_of(code, function.__module__),
            "wrapped": self.of(getattr(function, "__wrapped__", None)),
        }

    def _class(self, cls: type[Any]) -> Json:
        module = sys.modules.get(cls.__module__)
        if not _is_own(cls.__module__, str(getattr(module, "__file__", None) or "")):
            return ["installed", cls.__module__, cls.__qualname__]
        members = {
            name: self.of(value, name)
            for name, value in sorted(vars(cls).items())
            if name not in _CLASS_NOISE and not name.startswith("_abc_")
        }
        bases = [self.of(base) for base in cls.__bases__ if base is not object]
        return {"class": cls.__qualname__, "members": members, "bases": bases}

    def _module(self, module: types.ModuleType) -> Json:
        """Return the key of a module of the project, with all that it imports from there."""
        name = module.__name__
        if not _is_own(name, str(getattr(module, "__file__", None) or "")):
            return ["installed", name]
        if name in self._modules:
            return ["module", name]
        self._modules.add(name)
        return ["module", name, source_of([name]).key]

    def _object(self, thing: Any, name: str) -> Json:
        kind = type(thing)
        root = kind.__module__.partition(".")[0]
        if root in _TABLES:
            return ["data", kind.__qualname__, _pickled(thing)]
        if root in _STATELESS:
            return ["installed", kind.__module__, kind.__qualname__]
        if root in _CLIENTS:
            return ["client", kind.__qualname__, str(vars(thing).get("_base_url", ""))]
        if is_dataclass(thing):
            state = {one.name: getattr(thing, one.name, None) for one in fields(thing)}
        elif root == "pydantic" or any(b.__module__.startswith("pydantic") for b in kind.__mro__):
            state = dict(vars(thing))
        elif _is_own(kind.__module__, str(_file_of(kind.__module__))):
            state = dict(_state(thing))
        else:
            self.unknown[f"{name or 'an object'} ({kind.__module__}.{kind.__qualname__})"] = None
            return ["unknown", kind.__module__, kind.__qualname__]
        changing = {name for cls, name in self.changed.fields if isinstance(thing, cls)}
        contents = {
            key: self.of(value, key) for key, value in sorted(state.items()) if key not in changing
        }
        return ["object", self.of(kind), contents]


_NONE = object()
_CLASS_NOISE = frozenset(
    {"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__",
     "__annotations__", "__abstractmethods__", "__match_args__", "__dataclass_params__",
     "__dataclass_fields__", "__slots__", "__annotate__", "__annotate_func__",
     "__annotations_cache__", "__orig_bases__", "__parameters__"}
)  # fmt: skip


_WRITTEN_IN_C = frozenset(
    {types.BuiltinFunctionType, types.MethodWrapperType, types.GenericAlias,
     types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType}
)  # fmt: skip


def _plain(thing: Any) -> Json:
    """Write down a simple value with its kind; ``_NONE`` where it is something else."""
    kind = type(thing)
    if kind in (str, int, bool, type(None)):
        return thing
    if kind is float:
        return ["float", repr(thing)]
    if kind is bytes:
        return ["bytes", hashlib.blake2b(thing, digest_size=16).hexdigest()]
    if isinstance(thing, PurePath | Decimal | date | time | timedelta | complex | range | slice):
        return [kind.__name__, str(thing)]
    if isinstance(thing, Enum):
        return ["enum", kind.__qualname__, thing.name, str(thing.value)]
    if isinstance(thing, re.Pattern):
        return ["pattern", str(thing.pattern), thing.flags]
    if kind in _WRITTEN_IN_C:
        return ["built in", str(getattr(thing, "__qualname__", thing))]
    if thing is Ellipsis or thing is NotImplemented:
        return ["built in", str(thing)]
    return _NONE


def _state(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an object of the project."""
    yield from getattr(thing, "__dict__", {}).items()
    for cls in type(thing).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                yield name, getattr(thing, name, None)


def _is_own(module: str, file: str) -> bool:
    """Tell whether code belongs to the project: it is neither installed nor part of Python."""
    root = module.partition(".")[0] if module else ""
    if root in ("proctor", "builtins") or (root in sys.stdlib_module_names and root != "__main__"):
        return False
    return not (os.path.isabs(file) and is_installed(file))


def _file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - asked whether there are any
    except ValueError:  # a name that is not assigned yet
        return False
    return True


def _source(function: types.FunctionType) -> Json:
    """Return the text of a function as its meaning: comments and white space do not count."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return _code(function.__code__)
    first = tree.body[0] if len(tree.body) == 1 else None
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef):
        _drop_docstrings(tree)
        return ["source", ast.dump(tree)]
    return _code(function.__code__)  # a lambda, of which the text may hold several


def _drop_docstrings(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            body = node.body
            if len(body) > 1 and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    del body[0]


def _tree_of(function: types.FunctionType) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None


def _changed_names(function: types.FunctionType) -> set[str]:
    """Return the names outside of a function whose values it changes."""
    names = set(_stored_names(function.__code__))
    tree = _tree_of(function)
    for node in ast.walk(tree) if tree is not None else ():
        for target in _changed_by(node):
            names |= {part.id for part in _inward(target) if isinstance(part, ast.Name)}
    return names


def _changed_fields(function: types.FunctionType) -> set[str]:
    """Return the fields of its object that a method changes."""
    names: set[str] = set()
    tree = _tree_of(function)
    first = next(iter(function.__code__.co_varnames), "")
    for node in ast.walk(tree) if tree is not None else ():
        for target in _changed_by(node):
            names |= {part.attr for part in _inward(target, whole=True) if _is_field(part, first)}
    return names


def _is_field(node: ast.AST, owner: str) -> TypeGuard[ast.Attribute]:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
    )


def _inward(node: ast.AST, *, whole: bool = False) -> Iterator[ast.AST]:
    """Yield what a target lies in, step by step, and itself with ``whole``."""
    if whole:
        yield node
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
        yield node


def _changed_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a statement or a call changes: ``x`` of ``x[1] = 2`` and of ``x.append(3)``."""
    if isinstance(node, ast.Assign):
        yield from node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _CHANGING
    ):
        yield node.func


def _stored_names(code: types.CodeType) -> Iterator[str]:
    """Yield the outer names that code assigns to, or calls a method of that changes them."""
    last = ""
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL"):
            yield str(step.argval)
        elif step.opname in ("LOAD_METHOD", "LOAD_ATTR") and step.argval in _CHANGING and last:
            yield last
        loads = step.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME")
        last = str(step.argval) if loads else ""
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _stored_names(part)


def _code(code: types.CodeType) -> Json:
    """Return what a function does as its instructions, where its text cannot be read."""
    steps = [
        [
            step.opname,
            _code(step.argval) if isinstance(step.argval, types.CodeType) else str(step.argval),
        ]
        for step in dis.get_instructions(code)
        if step.opname not in ("RESUME", "CACHE", "NOP", "COPY_FREE_VARS", "MAKE_CELL")
    ]
    return ["code", list(code.co_varnames[: code.co_argcount]), code.co_flags, steps]


def _global_names(code: types.CodeType) -> set[str]:
    """Return the names that code looks up outside, with those of functions inside of it."""
    names = {
        str(step.argval)
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= _global_names(part)
    return names


def _files_of(code: types.CodeType, module: str) -> Json:
    """Return the hashes of the text files that a function names, where it writes none."""
    if _WRITING & set(_all_names(code)):
        return {}
    folders = [Path.cwd()]
    if file := _file_of(module):
        folders.append(Path(file).parent)
    hashes: dict[str, Json] = {}
    for text in _texts(code):
        if Path(text).suffix.lower() not in _TEXT_FILES or len(text) > 255 or "\0" in text:
            continue
        for folder in folders:
            path = folder / text
            if path.is_file() and path.stat().st_size <= LARGEST_FILE:
                hashes[text] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
                break
    return hashes


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _all_names(part)


def _texts(code: types.CodeType) -> Iterator[str]:
    for part in code.co_consts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, types.CodeType):
            yield from _texts(part)


def _pickled(thing: Any) -> str:
    try:
        return hashlib.blake2b(pickle.dumps(thing, protocol=5), digest_size=16).hexdigest()
    except (pickle.PicklingError, TypeError, AttributeError, ValueError):
        return "unreadable"
