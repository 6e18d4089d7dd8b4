"""Whether a Python test can run in another process than the answer, told from the test alone.

It can where the test only calls the answer's functions, makes and uses objects of its classes, and
reads what comes back. It cannot where both must share something: files, patched modules, the state
of a random generator, classes that derive from the answer's, event loops.
"""

import ast
import builtins
import collections
import symtable
import sys
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from proctor.scorers.programs.isolation_values import LOOPS, loops_too_often, mixed_comparison

PURE = frozenset((
    "abc", "array", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "colorsys",
    "contextlib", "copy", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions",
    "functools", "hashlib", "heapq", "html", "io", "itertools", "json", "keyword", "math",
    "numbers", "numpy", "operator", "pandas", "pprint", "pytest", "random", "re", "statistics",
    "string", "struct", "sys", "textwrap", "time", "typing", "unicodedata", "unittest", "urllib",
    "uuid", "zlib", "__future__",
))  # fmt: skip
"""Modules that mean the same in every process, apart from what follows."""
SHARED_STATE = (
    "unittest.mock", "unittest.main", "unittest.defaultTestLoader.loadTestsFromModule",
    "unittest.defaultTestLoader.loadTestsFromName", "unittest.defaultTestLoader.discover",
    "random.seed", "random.setstate", "numpy.random.seed", "numpy.random.set_state", "io.open",
    "io.FileIO", "urllib.request", "numpy.load", "numpy.save", "numpy.savetxt", "numpy.loadtxt",
    "pandas.read_csv", "pandas.read_excel", "pandas.read_json", "pandas.read_pickle",
    "pandas.set_option", "pandas.options", "pytest.MonkeyPatch", "pytest.main",
    "decimal.getcontext", "decimal.setcontext", "abc.ABCMeta", "functools.lru_cache",
    "functools.cache", "contextlib.chdir", "contextlib.redirect_stderr", "pytest.warns",
    "pytest.deprecated_call",
)  # fmt: skip
SYS = frozenset(("stdout", "stderr", "maxsize", "float_info", "int_info", "version_info", "version",
                 "platform", "exit", "byteorder", "maxunicode"))  # fmt: skip
"""What a test may use of sys."""
REPLACEABLE = ("sys.stdout",)
REACHES_OUT = frozenset(("open", "input", "exec", "eval", "compile", "globals", "locals", "vars",
                         "__import__", "breakpoint", "memoryview", "__builtins__", "__loader__",
                         "__spec__", "help", "delattr"))  # fmt: skip
READABLE = frozenset(("__name__", "__qualname__", "__doc__", "__annotations__", "__dict__",
                      "__module__", "__defaults__", "__members__", "__class__"))  # fmt: skip
MUTATORS = frozenset(("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse",
                      "add", "discard", "update", "setdefault", "popitem", "appendleft",
                      "popleft", "extendleft", "rotate"))  # fmt: skip
OF_CLASSES = ("copy.copy", "copy.deepcopy", "dataclasses.")
"""What looks into objects, where a test has some of the answer's classes."""
LISTENING = frozenset(("assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs"))
BUILTINS = frozenset(dir(builtins))
_MEANT = {"np": "numpy", "pd": "pandas"}
ASYNC = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
NAMING = (ast.Name, ast.Attribute)
ACTING = (ast.stmt, ast.Call, ast.MatchClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How a test runs apart from the answer, or why it cannot."""

    names: tuple[str, ...] = ()
    """What the test asks the answer's process for."""
    before: str = ""
    """The part of what stands before the answer that the test's process needs too."""
    reason: str = ""
    """Why the two must share a process; empty where they need not."""


class _Shared(Exception):
    """Why a test and the answer must share a process."""


@cache
def isolation(content: str, before: str, preamble: str) -> Isolation:
    """Find out whether a test can run apart from the answer, and what it then needs."""
    try:
        reading = _Reading(_parsed(content, "the test"), content)
        local, remote, shared_source, modules = _before(before)
        preamble_names, preamble_modules = _preamble(preamble)
        reading.modules = {**preamble_modules, **modules, **reading.modules}
        used = reading.loads - preamble_names - local - BUILTINS
        own = used - reading.bound
        reading.modules |= {name: _MEANT.get(name, name) for name in reading.implied(own)}
        if not own:
            raise _Shared("it uses nothing of the answer by name")
        reading.check(own, remote)
    except _Shared as reason:
        return Isolation(reason=str(reason))
    needed = preamble if reading.loads & preamble_names or local else ""
    return Isolation(names=tuple(sorted(used)), before=f"{needed}\n{shared_source}")


@cache
def plain_builtins(content: str) -> tuple[str, ...]:
    """Return the built-in functions that a test means by their names.

    Where it has no other name from the answer, one of them may be the answer's own.
    """
    try:
        reading = _Reading(_parsed(content, "the test"), content)
    except _Shared:
        return ()
    bound = {node.arg for node in reading.nodes if isinstance(node, ast.arg)} | reading.bound
    bound |= {n.id for n in reading.nodes if isinstance(n, ast.Name) and not _is_load(n)}
    if not reading.loads - BUILTINS - bound:
        return ()
    return tuple(sorted(name for name in reading.loads & BUILTINS - bound if name.isidentifier()))


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _parsed(text: str, what: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Shared(f"{what} is not Python by itself") from None


@cache
def _preamble(text: str) -> tuple[frozenset[str], dict[str, str]]:
    """Return the names that a preamble of imports binds, and what those of modules stand for."""
    nodes = list(ast.walk(_parsed(text, "the preamble")))
    stars = {"typing": typing.__all__, "collections": collections.__all__}
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            starred = any(alias.name == "*" for alias in node.names)
            names |= set(stars.get(node.module or "", ())) if starred else set()
            names |= {alias.asname or alias.name for alias in node.names}
    return frozenset(names), _modules(nodes)


def _modules(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return what the names of modules, and of their parts, stand for."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                names[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _dotted(node: ast.expr) -> list[str]:
    """Return the names of an expression like a.b.c; nothing for any other."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _global_loads(text: str) -> tuple[set[str], set[str], set[str]]:
    """Return the global names that a text loads, that its class bodies load, and that it binds."""
    top = symtable.symtable(text, "main.py", "exec")
    loads: set[str] = set()
    in_classes: set[str] = set()
    bound: set[str] = set()
    for table in _tables(top):
        for symbol in table.get_symbols():
            if table is not top and not symbol.is_global():
                continue
            if symbol.is_referenced():
                loads.add(symbol.get_name())
                if table.get_type() == "class":
                    in_classes.add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
    return loads, in_classes, bound


class _Reading:
    """What a test's text says about its use of names."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self.tree = tree
        self.nodes = list(ast.walk(tree))
        self.loads, self.in_classes, self.bound = _global_loads(text)
        self.modules = _modules(self.nodes)
        self.paths: set[str] = set()

    def implied(self, own: set[str]) -> set[str]:
        """Return the modules that the test uses and leaves to the answer to import."""
        bases = {_dotted(n)[0] for n in self.nodes if isinstance(n, ast.Attribute) and _dotted(n)}
        return bases & own & (sys.stdlib_module_names | _MEANT.keys())

    def check(self, own: set[str], remote: dict[str, ast.stmt]) -> None:
        """Raise the first reason why the test and the answer must share a process."""
        for node in self.nodes:
            if isinstance(node, ASYNC):
                raise _Shared("it is asynchronous")
            if isinstance(node, NAMING):
                self._attribute(node)
            elif isinstance(node, ACTING):
                self._imports(node)
                self._changed(node)
                self._derived(node, own)
        self._builtins(own)
        self._for_the_answer(own)
        if own & self.in_classes:
            raise _Shared("a class of its own is made with names of the answer")
        for name in sorted(own & remote.keys()):
            if any(isinstance(part, ast.Assert | ast.Raise) for part in ast.walk(remote[name])):
                raise _Shared(f"{name}, which stands before the answer, checks something itself")
        problem = mixed_comparison(self.tree, own)
        if not problem and any(isinstance(node, LOOPS) for node in self.nodes):
            problem = loops_too_often(self.tree, own)
        if problem:
            raise _Shared(problem)

    def _imports(self, node: ast.AST) -> None:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if node.level:
                raise _Shared("it imports from its own package")
        for name in names:
            self._path(name)

    def _path(self, path: str) -> None:
        """Raise where a part of a module is bound to the process it is used in."""
        root, _, rest = path.partition(".")
        if root not in PURE:
            raise _Shared(f"it uses the module {root}")
        if root == "sys" and rest and rest.partition(".")[0] not in SYS:
            raise _Shared(f"it uses {path}")
        for shared in SHARED_STATE:
            if f"{path}.".startswith(f"{shared}."):
                raise _Shared(f"it uses {shared}")

    def _attribute(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id in self.modules:
            self.paths.add(self.modules[node.id])
            self._path(self.modules[node.id])
        if not isinstance(node, ast.Attribute):
            return
        own = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        through_super = own and node.value.func.id == "super"  # type: ignore[attr-defined]
        if node.attr in LISTENING:
            raise _Shared(f"it uses {node.attr}")
        if node.attr.startswith("__") and node.attr not in READABLE and not through_super:
            raise _Shared(f"it uses {node.attr}")
        names = _dotted(node)
        if names and names[0] in self.modules:
            self.paths.add(".".join([self.modules[names[0]], *names[1:]]))
            self._path(".".join([self.modules[names[0]], *names[1:]]))

    def _changed(self, node: ast.AST) -> None:
        """Raise where modules, or what objects of the answer hold, are changed in place."""
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            targets = [node.target]
        for target in targets:
            within = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute)
            names = _dotted(target.value if isinstance(target, ast.Subscript) else target)
            path = ".".join([self.modules.get(names[0], ""), *names[1:]]) if names[1:] else ""
            if names[1:] and names[0] in self.modules and path not in REPLACEABLE:
                raise _Shared(f"it changes {path}")
            if within and names[:1] != ["self"]:
                raise _Shared("it changes what an object holds")
        if isinstance(node, ast.Call):
            self._called(node)

    def _called(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            inner = function.value
            if isinstance(inner, ast.Attribute) and _dotted(inner)[:1] != ["self"]:
                raise _Shared("it changes what an object holds")
        first = _dotted(node.args[0]) if node.args else []
        sets = isinstance(function, ast.Name) and function.id == "setattr"
        if sets and first and first[0] in self.modules:
            raise _Shared(f"it changes {self.modules[first[0]]}")

    def _derived(self, node: ast.AST, own: set[str]) -> None:
        parts: Iterable[ast.AST] = ()
        if isinstance(node, ast.ClassDef):
            parts = (*node.bases, *node.keywords, *node.decorator_list)
        elif isinstance(node, ast.FunctionDef):
            parts = node.decorator_list
        elif isinstance(node, ast.MatchClass):
            parts = (node.cls,)
        if any(_used(part) & own for part in parts):
            raise _Shared("a definition of its own is made with names of the answer")
        if isinstance(node, ast.Raise) and _used(node) & own:
            raise _Shared("it raises an exception of the answer")

    def _builtins(self, own: set[str]) -> None:
        if used := sorted(self.loads & REACHES_OUT - self.bound):
            raise _Shared(f"it uses {used[0]}")
        if not any(name[:1].isupper() for name in own):
            return
        if self.loads & {"type", "issubclass"} - self.bound:
            raise _Shared("it asks for the type of objects of the answer's classes")
        if looked := sorted(path for path in self.paths if f"{path}.".startswith(OF_CLASSES)):
            raise _Shared(f"it uses {looked[0]} on objects of the answer's classes")

    def _for_the_answer(self, own: set[str]) -> None:
        """Raise where the test sets a name that only the answer can be meant to read."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and not _used(node.value):
                targets = node.targets
            elif isinstance(node, ast.AugAssign):
                targets = [node.target]
            else:
                continue
            for target in targets:
                if isinstance(target, ast.Name) and target.id not in self.loads | {"_"}:
                    raise _Shared(f"it sets {target.id} for the answer to read")
        rebound = [n.target.id for n in self.nodes
                   if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)]  # fmt: skip
        plain = {n.id for n in self.nodes if isinstance(n, ast.Name) and _plainly_bound(n, self)}
        if lost := sorted(set(rebound) & self.bound - plain):
            raise _Shared(f"it changes {lost[0]} of the answer")


def _plainly_bound(node: ast.Name, reading: _Reading) -> bool:
    """Tell whether a name is bound here by something other than an augmented assignment."""
    if not isinstance(node.ctx, ast.Store):
        return False
    return not any(isinstance(n, ast.AugAssign) and n.target is node for n in reading.nodes)


def _used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@cache
def _before(text: str) -> tuple[set[str], dict[str, ast.stmt], str, dict[str, str]]:
    """Sort what stands before the answer: what the test's process has too, and what it asks for.

    With these come the text of the first, and what the names of modules stand for.
    """
    tree = _parsed(text, "what stands before the answer")
    modules = _modules(ast.walk(tree))
    local: dict[str, ast.stmt] = {}
    remote: dict[str, ast.stmt] = {}
    functions: dict[str, ast.FunctionDef] = {}
    bindings = collections.Counter(
        part.id for part in ast.walk(tree) if isinstance(part, ast.Name)
        and isinstance(part.ctx, ast.Store)
    )  # fmt: skip
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            local |= {(a.asname or a.name).partition(".")[0]: node for a in node.names}
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            remote[node.name] = node
        elif isinstance(node, ast.Assign) and _is_constant(node, bindings):
            local |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    _sort_functions(functions, local, remote, modules)
    statements = list(dict.fromkeys(local.values()))
    ordered = [node for node in tree.body if node in statements]
    text = ast.unparse(ast.Module(body=ordered, type_ignores=[]))
    return set(local), remote, text, modules


def _is_constant(node: ast.Assign, bindings: collections.Counter[str]) -> bool:
    simple = all(isinstance(t, ast.Name) and bindings[t.id] == 1 for t in node.targets)
    return simple and _is_literal(node.value)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    if isinstance(node, ast.Tuple):
        return all(_is_literal(part) for part in node.elts)
    return isinstance(node, ast.Constant)


def _sort_functions(
    functions: dict[str, ast.FunctionDef],
    local: dict[str, ast.stmt],
    remote: dict[str, ast.stmt],
    modules: dict[str, str],
) -> None:
    """Take functions that depend on nothing but their arguments to the test's process."""
    waiting = dict(functions)
    grown = True
    while grown:
        grown = False
        for name, node in list(waiting.items()):
            if _is_pure(node, set(local) | {name}, modules):
                local[name] = waiting.pop(name)
                grown = True
    remote |= waiting


def _is_pure(node: ast.FunctionDef, available: set[str], modules: dict[str, str]) -> bool:
    """Tell whether a function needs only its arguments, and is more than a stub for the answer."""
    body = [part for part in node.body if not isinstance(part, ast.Expr | ast.Pass)]
    if not body or all(isinstance(part, ast.Raise) for part in body) or node.decorator_list:
        return False
    text = ast.unparse(node)
    reading = _Reading(ast.parse(text), text)
    reading.modules = modules
    if reading.loads - available - BUILTINS or reading.bound - {node.name}:
        return False
    try:
        reading.check(set(), {})
    except _Shared:
        return False
    return True
