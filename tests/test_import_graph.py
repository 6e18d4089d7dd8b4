"""The import graph of the package: no module imports itself, however late or long the way."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"


def modules_of(source: Path) -> dict[str, Path]:
    """Find all modules below a folder, by their names."""
    found = {}
    for path in source.rglob("*.py"):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports_of(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield what is imported anywhere in a module: in functions and for types alone, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            home = ".".join(filter(None, [above if node.level else "", node.module]))
            yield from (f"{home}.{alias.name}" for alias in node.names)


def import_graph(source: Path) -> dict[str, set[str]]:
    """Return what each module imports; a name of a module counts as that module."""
    modules = modules_of(source)
    graph = {}
    for name, path in modules.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        wanted = imports_of(ast.parse(path.read_text(encoding="utf-8")), package)
        homes = {one if one in modules else one.rpartition(".")[0] for one in wanted}
        graph[name] = (homes & modules.keys()) - {name}
    return graph


def cycle_of(source: Path) -> list[str]:
    """Return a way from a module to itself; empty where there is none."""
    try:
        TopologicalSorter(import_graph(source)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_any_way() -> None:
    assert cycle_of(SOURCE) == []


@pytest.mark.parametrize(
    "late",
    [
        "import house.first",
        "def work():\n    from house.first import ONE\n",
        "def work():\n    from house import first\n",
        "def work():\n    from . import first\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .first import ONE\n",
    ],
)
def test_a_cycle_is_found_wherever_the_import_stands(tmp_path: Path, late: str) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text("")
    (house / "first.py").write_text("from house.second import TWO\n")
    (house / "second.py").write_text("TWO = 2\n")
    assert cycle_of(tmp_path) == []
    (house / "second.py").write_text(late)
    assert set(cycle_of(tmp_path)) == {"house.first", "house.second"}
