"""Tools that a suite brings along as a Python module: what they take, read off their source.

The source is only parsed here, never run. A tool is a public function at the top of the module
whose first parameter is called ``state``; the others are what a model fills in.
"""

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.suite import Json, Tool

STATE = "state"
"""The name of a tool's first parameter: the data that it reads and changes."""
_TYPES: Mapping[str, str] = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean",
    "list": "array", "dict": "object", "tuple": "array", "List": "array", "Dict": "object",
}  # fmt: skip
_ANY = frozenset({"Any", "object", "Json"})


class ModuleProblem(ValueError):
    """What is wrong with a module of tools, and in which line."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFunction:
    """A function of a module that is a tool."""

    tool: Tool
    line: int

    @property
    def name(self) -> str:
        """Return its name."""
        return self.tool.name

    def wrong_arguments(self, arguments: Json) -> str:
        """Say which arguments it does not take, or lacks; nothing where it can be called so."""
        if not isinstance(arguments, Mapping):
            return f"the arguments of {self.name!r} are a mapping"
        parameters = self.tool.parameters.get("properties", {})
        if strange := [name for name in arguments if name not in parameters]:
            return f"{self.name!r} has no parameter {strange[0]!r}"
        needed = self.tool.parameters.get("required", ())
        if lacking := [name for name in needed if name not in arguments]:
            return f"{self.name!r} needs {lacking[0]!r}"
        return ""


def functions_of(source: str) -> tuple[tuple[ToolFunction, ...], tuple[ModuleProblem, ...]]:
    """Return the tools of a module in their order, and everything that is wrong with it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", 0) or 0, getattr(error, "offset", 0) or 0
        words = getattr(error, "msg", None) or str(error)
        return (), (ModuleProblem(f"this is not Python: {words}", line, column),)
    tools: dict[str, ToolFunction] = {}
    problems: list[ModuleProblem] = []
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and not node.name.startswith("_"):
            problems.append(_at(node, f"{node.name} is async; a tool is a plain function"))
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if not _takes_state(node):
            continue
        if node.name in tools:
            problems.append(_at(node, f"two functions have the name {node.name!r}"))
        try:
            tools[node.name] = ToolFunction(tool=_tool(node), line=node.lineno)
        except ModuleProblem as problem:
            problems.append(problem)
    if not tools and not problems:
        problems.append(
            ModuleProblem(f"no function's first parameter is called {STATE!r}: there are no tools")
        )
    return tuple(tools.values()), tuple(problems)


def _takes_state(node: ast.FunctionDef) -> bool:
    first = [*node.args.posonlyargs, *node.args.args][:1]
    return bool(first) and first[0].arg == STATE


def _tool(node: ast.FunctionDef) -> Tool:
    """Read the name, the description and the parameters of a tool."""
    arguments = node.args
    if arguments.vararg is not None or arguments.kwarg is not None or arguments.posonlyargs:
        raise _at(node, f"{node.name}: the parameters of a tool are named, one by one")
    properties: dict[str, Json] = {}
    needed: list[str] = []
    plain = arguments.args[1:]
    defaults: list[ast.expr | None] = [None] * len(arguments.args)
    defaults[len(arguments.args) - len(arguments.defaults) :] = arguments.defaults
    pairs = [*zip(plain, defaults[1:], strict=True)]
    pairs += [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    for parameter, default in pairs:
        properties[parameter.arg] = _schema(node, parameter)
        if default is None:
            needed.append(parameter.arg)
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if needed:
        schema["required"] = needed
    text = ast.get_docstring(node) or ""
    return Tool(name=node.name, description=inspect.cleandoc(text), parameters=schema)


def _schema(node: ast.FunctionDef, parameter: ast.arg) -> dict[str, Json]:
    where = f"{node.name}: the parameter {parameter.arg!r}"
    if parameter.annotation is None:
        raise _at(parameter, f"{where} has no type")
    schema = _of_type(parameter.annotation)
    if schema is None:
        shown = ast.unparse(parameter.annotation)
        raise _at(parameter, f"{where} has the type {shown}, which JSON has no word for")
    return schema


def _of_type(node: ast.expr) -> dict[str, Json] | None:
    """Return the JSON Schema of an annotation; none where there is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _of_type(ast.parse(node.value, mode="eval").body)
        except (SyntaxError, RecursionError):
            return None
    if isinstance(node, ast.Constant) and node.value is None:
        return {"type": "null"}
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return {} if name in _ANY else {"type": _TYPES[name]} if name in _TYPES else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _any_of([node.left, node.right])
    return _of_generic(node) if isinstance(node, ast.Subscript) else None


def _of_generic(node: ast.Subscript) -> dict[str, Json] | None:
    name = ast.unparse(node.value).rpartition(".")[2]
    inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal":
        values = [part.value for part in inner if isinstance(part, ast.Constant)]
        return {"enum": values} if len(values) == len(inner) else None
    if name in ("Optional", "Union"):
        return _any_of([*inner, *([ast.Constant(value=None)] if name == "Optional" else [])])
    if name in ("list", "List", "tuple", "Sequence"):
        items = _of_type(inner[0])
        return None if items is None else {"type": "array", **({"items": items} if items else {})}
    if name in ("dict", "Dict", "Mapping") and len(inner) == 2:
        values_schema = _of_type(inner[1])
        if values_schema is None:
            return None
        more = {"additionalProperties": values_schema} if values_schema else {}
        return {"type": "object", **more}
    return None


def _any_of(nodes: Sequence[ast.expr]) -> dict[str, Json] | None:
    schemas = [_of_type(part) for part in nodes]
    readable = [schema for schema in schemas if schema is not None]
    if len(readable) < len(schemas):
        return None
    flat = [part for schema in readable for part in schema.get("anyOf", [schema])]
    kinds = [part["type"] for part in flat if set(part) == {"type"}]
    return {"type": kinds} if len(kinds) == len(flat) else {"anyOf": flat}


def _at(node: ast.AST, message: str) -> ModuleProblem:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    return ModuleProblem(message, line, column)


def wrong_calls(
    functions: Iterable[ToolFunction], calls: Iterable[tuple[str, Json]]
) -> Iterable[str]:
    """Yield what is wrong with calls of a module's tools."""
    by_name = {function.name: function for function in functions}
    for name, arguments in calls:
        if name not in by_name:
            yield f"there is no tool {name!r} (there are: {', '.join(by_name)})"
        elif wrong := by_name[name].wrong_arguments(arguments):
            yield wrong
