"""What is asked of a plugin is on its contract: nothing is found out by an attribute's name."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.agent import Agent, ProgramAgent
from proctor.contracts.archive import Archive
from proctor.contracts.dialect import Dialect, SuiteWriter
from proctor.contracts.dialogue import Dialogue
from proctor.contracts.executor import Executor
from proctor.contracts.measure import Measure
from proctor.contracts.model import Model
from proctor.contracts.recipe import RecipeDialect
from proctor.contracts.report import Layout, Report
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import Scorer
from proctor.registry import BUILT_IN, find

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "proctor"
CONTRACTS: Mapping[str, type] = {
    "scorer": Scorer, "dialect": Dialect, "candidate": Agent, "archive": Archive,
    "dialogue": Dialogue, "executor": Executor, "measure": Measure, "model": Model,
    "report": Report, "sandbox": Sandbox, "writer": SuiteWriter, "layout": Layout,
}  # fmt: skip
# Contracts of some plugins of a kind: whoever builds one of these says so by the annotation.
NARROWER: Mapping[str, type] = {"ProgramAgent": ProgramAgent, "RecipeDialect": RecipeDialect}
MEET_PLUGINS = (
    "cli", "contracts", "engine", "executors", "formats", "judging", "testing", "web",
)  # fmt: skip
OF_LIBRARIES = {
    "hasattr(os, 'sched_getaffinity')": "Linux alone has it",
    "hasattr(os, 'setpriority')": "Windows lacks it",
    "hasattr(socket, 'TCP_INFO')": "Linux alone has it",
    "hasattr(worker, '_actor_id')": "an actor of Ray, or a stand-in",
    "hasattr(state, 'openapi')": "Starlette's state holds whatever was put there",
    "getattr(error, 'lineno', None)": "an error of Python's parser, or another",
    "getattr(error, 'msg', None)": "an error of Python's parser, or another",
    "getattr(sys.exc_info()[1], 'error_status_hint', 400)": "an error of h11, or another",
}


def trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def guesses(tree: ast.AST) -> Iterator[str]:
    """Yield the places that ask whether something has an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            by_name = node.func.id == "getattr" and len(node.args) == 3
            if by_name or node.func.id == "hasattr":
                yield ast.unparse(node)


def plugin_kind(node: ast.AST) -> str:
    """Return the kind of plugin that an expression builds or finds; empty where it does not."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    name = ast.unparse(node.func).rpartition(".")[2]
    kind = node.args[0]
    known = name in ("build", "build_plugin", "find") and isinstance(kind, ast.Constant)
    return kind.value if known and kind.value in CONTRACTS else ""  # type: ignore[union-attr]


def uses(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what is asked of plugins, at once or by the name that one is given in a function."""
    scopes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for scope in [tree, *scopes]:
        names: dict[str, str] = {}
        for node in ast.walk(scope):
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and (kind := plugin_kind(value)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                written = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
                names[ast.unparse(target)] = written if written in NARROWER else kind
        for node in ast.walk(scope):
            if isinstance(node, ast.Attribute):
                kind = plugin_kind(node.value)
                if scope is not tree:
                    kind = kind or names.get(ast.unparse(node.value), "")
                if kind:
                    yield kind, node.attr


def on_contract(kind: str, name: str) -> bool:
    contract = NARROWER.get(kind) or CONTRACTS[kind]
    return hasattr(contract, name) or any(
        name in vars(c).get("__annotations__", {}) for c in contract.__mro__
    )


def test_nobody_guesses_what_a_plugin_can_do() -> None:
    found = [(str(path), text) for path, tree in trees(*MEET_PLUGINS) for text in guesses(tree)]
    assert [(path, text) for path, text in found if text not in OF_LIBRARIES] == []
    assert OF_LIBRARIES.keys() <= {text for _, text in found}


@pytest.mark.slow
def test_what_is_asked_of_a_plugin_is_on_its_contract() -> None:
    asked = {(kind, name, str(path)) for path, tree in trees("") for kind, name in uses(tree)}
    assert ("scorer", "languages", "src/proctor/cli/doctor.py") in asked
    assert {row for row in asked if not on_contract(*row[:2])} == set()


@pytest.mark.parametrize("kind", sorted(BUILT_IN))
def test_every_plugin_keeps_the_contract_of_its_kind(kind: str) -> None:
    for name in BUILT_IN[kind]:
        cls: Any = find(kind, name)
        assert issubclass(cls, CONTRACTS[kind]), name
