"""Python tests as programs: apart from the answer where that is possible, else after it."""

import ast
import marshal
import re
import sys
import warnings
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from proctor.core.program import CHANNEL, SECRET, Program
from proctor.scorers.programs.extraction import Composed
from proctor.scorers.programs.isolation import Isolation, isolation, plain_builtins
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.languages import named

LAUNCHERS = Path(__file__).with_name("launchers")
MODULES = ("crossing", "crossing_kinds", "crossing_tables", "joined", "answer_side", "test_side",
           "pristine", "launch", "rehearsal")  # fmt: skip
"""What runs inside, in the order in which each needs those before it."""
SOURCE = "main.py"
IMPORTED = {
    "np": "numpy", "pd": "pandas",
    **{name: name for name in ("math", "re", "copy", "datetime", "itertools", "collections",
                               "heapq", "statistics", "functools", "hashlib", "string", "numpy",
                               "pandas")},
}  # fmt: skip
"""Modules by the names under which the preamble has them."""
NEVER = frozenset(("antigravity", "this", "idlelib", "turtle", "tkinter", "sys"))
"""Modules that are not loaded, or not put back, for a test that names them."""


def isolation_of(content: str, before: str, language: Language) -> Isolation:
    """Find out whether a test can run apart from the answer."""
    return isolation(content, before, language.preamble_for(f"{before}\n{content}"))


def in_one_process(program: Program, composed: Composed) -> Program:
    """Make the program whose test is handed over when the answer's code has run."""
    head, late = parts_of(composed)
    test = late.decode("utf-8", "surrogatepass")
    names = " ".join((*sorted(_modules(test)), *(f"={name}" for name in plain_builtins(test))))
    return replace(
        program,
        files={**program.files, SOURCE: _encoded(head)},
        stdin=f"{SECRET}\n{names}\n".encode() + late,
        modules=modules(),
    )


def in_two_processes(program: Program, composed: Composed, parts: Isolation) -> Program:
    """Make a program out of the test alone, with the answer as its partner."""
    head, test = halves(composed)
    calls = {
        "test": test,
        "before": parts.before,
        "names": list(parts.names),
        "line": composed.test_line,
    }
    answer = replace(
        program,
        files={SOURCE: _start("answer_side", head)},
        call=("answer_side", head),
        stdin=f"{SECRET}\n".encode(),
        modules=modules(unittest=False),
    )
    more = bool(parts.before.strip()), "unittest" in test
    return replace(
        answer,
        files={SOURCE: _start("test_side", calls)},
        call=("test_side", calls | _compiled(test, composed.test_line)),
        modules=modules(usual=any(more), unittest=any(more)),
        partner=answer,
        confined=True,
    )


def parts_of(composed: Composed) -> tuple[str, bytes]:
    """Return a program's text before the test, and the test as it is handed over later.

    Empty lines before it keep its lines where they are in the whole program.
    """
    head, test = halves(composed)
    return head, _encoded("\n" * (composed.test_line - 1) + test)


def halves(composed: Composed) -> tuple[str, str]:
    """Return a program's text before the test, and the test."""
    lines = composed.text.split("\n")
    return "\n".join(lines[: composed.test_line - 1]), "\n".join(lines[composed.test_line - 1 :])


@cache
def modules(*, usual: bool = True, unittest: bool = True) -> dict[str, bytes]:
    """Return the modules of ours that run inside, and those that import others for later.

    These are what most programs import, and what some tests do. All that is loaded before makes a
    process dearer, so that a program gets no more than it is likely to need.
    """
    language = named("python")
    assert language is not None
    lines = "\n".join(line for line in language.preamble if line.startswith("import"))
    return {
        **({"usual_imports": lines.encode()} if usual else {}),
        **({"unittest_import": b"import unittest"} if unittest else {}),
        **{name: (LAUNCHERS / f"{name}.py").read_bytes() for name in MODULES},
    }


@lru_cache(maxsize=1024)
def _compiled(test: str, line: int) -> dict[str, bytes]:
    """Return the bytecode of a test, which a process that was just forked would be slow to make.

    Where there is a complaint about its text, its own process makes it.
    """
    text = "\n" * (line - 1) + test
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # Asserts stay, whatever this process itself was started with.
            code = compile(text, SOURCE, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return {}
    return {"code": marshal.dumps(code)}


def _start(module: str, arguments: object) -> bytes:
    return f"import {module}\n{module}.main({CHANNEL}, {arguments!r})\n".encode()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=1024)
def _modules(test: str) -> frozenset[str]:
    """Return the modules that a test names, to be loaded before the answer can touch them."""
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Name) and node.id in IMPORTED:
            modules.add(IMPORTED[node.id])
    available = sys.stdlib_module_names - NEVER | {"numpy", "pandas"}
    plain = {name for name in modules if re.fullmatch(r"[A-Za-z_][\w.]*", name, re.A)}
    return frozenset(name for name in plain if name.partition(".")[0] in available)
