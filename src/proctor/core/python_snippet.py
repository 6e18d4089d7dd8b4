"""Snippets of Python in suites: how they are read, and what keeps one from running at all."""

import ast
import textwrap
from dataclasses import dataclass

SNIPPET = "eval_code"
"""The name under which a snippet is compiled; messages about its lines carry it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What keeps a snippet from running, and on which of its lines, from 1, where that is known."""

    message: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.message} (line {self.line})" if self.line else self.message


def flaw_in(code: str) -> Flaw | None:
    """Return what keeps a snippet from running at all."""
    try:
        tree = ast.parse(parsable(code))
        if not tree.body:
            return Flaw(message="the code is empty")
        if returns(tree):
            function = ast.parse("def check(): pass")
            function.body[0].body = tree.body  # type: ignore[attr-defined]
            tree = function
        compile(tree, SNIPPET, "exec", dont_inherit=True)
    except SyntaxError as error:
        return Flaw(message=f"the code is not Python: {error.msg}", line=error.lineno)
    except (ValueError, RecursionError, MemoryError) as error:
        return Flaw(message=f"the code is not Python: {error}")
    return None


def parsable(code: str) -> str:
    """Return a snippet without an indentation that all its lines have."""
    try:
        ast.parse(code)
    except IndentationError:
        return textwrap.dedent(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return code


def returns(tree: ast.Module) -> bool:
    """Tell whether a snippet returns something itself, and not only in functions of its own."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return False
