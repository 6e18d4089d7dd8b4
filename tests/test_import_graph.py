"""The import graph of the package: no module imports itself, and a run loads what it uses."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from proctor.testing import FakeServer

SOURCE = Path(__file__).resolve().parents[1] / "src"
QUIZ = """\
name: quiz
cases:
  - {id: a, ask: "What?", criteria: {contains: yes}}
  - {id: b, ask: "What?", references: "4"}
"""
ANSWERS = """\
{"case": "a", "output": "yes"}
{"case": "b", "output": "4"}
"""
PLAIN = """\
{"id": "a", "ask": "What?", "criteria": {"contains": "yes"}}
{"id": "b", "ask": "What?", "criteria": {"number": 4}}
"""
RUN = """\
import atexit, sys
from proctor.cli.main import main
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
sys.argv[:1] = ["proctor", "run", "--answers", "answers.jsonl", "--store", "quiz.db"]
main()
"""
MOST_LOADED = {"quiz.yaml": 123, "quiz.jsonl": 114}
"""Modules that a run of answers on file may load; see docs/decisions/0023-one-tree.md."""
HEAVY = {
    "quiz.yaml": {"sqlalchemy", "alembic", "aiohttp", "numpy", "rich"},
    "quiz.jsonl": {
        *("sqlalchemy", "alembic", "aiohttp", "numpy", "rich", "pydantic", "ruamel"),
        *("asyncio", "ssl", "socket", "hashlib"),
        *("statistics", "fractions", "decimal", "random", "tempfile", "shutil"),
    },
}
"""Libraries that it does without; see docs/decisions/0032-statements-as-text.md."""
UNUSED = (
    "proctor.agents", "proctor.engine.agents", "proctor.engine.compare", "proctor.executors",
    "proctor.judging", "proctor.models", "proctor.sandboxes", "proctor.web",
    "proctor.contracts.agent", "proctor.contracts.dialogue", "proctor.contracts.judge",
    "proctor.contracts.model", "proctor.contracts.sandbox", "proctor.engine.models.access",
    "proctor.engine.models.call_cache", "proctor.engine.models.proxy", "proctor.io.child_processes",
)  # fmt: skip
"""What nobody needs who asks no model and scores in no process."""


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


@pytest.mark.slow
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


@pytest.mark.parametrize("suite", ["quiz.yaml", "quiz.jsonl"])
def test_a_run_of_answers_on_file_loads_only_what_it_uses(tmp_path: Path, suite: str) -> None:
    (tmp_path / "quiz.yaml").write_text(QUIZ)
    (tmp_path / "quiz.jsonl").write_text(PLAIN)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    command = [sys.executable, "-c", RUN, suite]
    # A table that is to be so wide is written by rich.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    # First it makes the store, and then it finds all of its work there.
    for _ in range(2):
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert "100.00%" in done.stdout
        loaded = {name for name in done.stderr.split() if name.partition(".")[0] == "proctor"}
        unused = tuple(f"{name}." for name in UNUSED)
        assert sorted(name for name in loaded if f"{name}.".startswith(unused)) == []
        assert len(loaded) <= MOST_LOADED[suite], sorted(loaded)
        libraries = {name.partition(".")[0] for name in done.stderr.split()}
        assert sorted(libraries & HEAVY[suite]) == []
        if suite == "quiz.jsonl":
            slow = r"^from dataclasses import .*\bdataclass\b"
            texts = {name: path.read_text() for name, path in modules_of(SOURCE).items()}
            assert [one for one in sorted(loaded) if re.search(slow, texts[one], re.M)] == [], (
                "for a quick start they take dataclass from proctor.records"
            )


def test_a_run_against_a_model_loads_neither_sqlalchemy_nor_another_client(tmp_path: Path) -> None:
    (tmp_path / "quiz.jsonl").write_text(PLAIN)
    with FakeServer("yes 4") as server:
        ask = f'"--model", "openai:m@{server.url}"'
        script = RUN.replace('"--answers", "answers.jsonl"', ask)
        command = [sys.executable, "-c", script, "quiz.jsonl"]
        # First it asks, and then it finds all replies in the store.
        for calls in (2, 2):
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
            assert "100.00%" in done.stdout
            assert len(server.calls) == calls
            libraries = {name.partition(".")[0] for name in done.stderr.split()}
            assert sorted(libraries & {"sqlalchemy", "aiohttp"}) == []


def test_a_large_run_loads_no_sqlalchemy(tmp_path: Path) -> None:
    (tmp_path / "quiz.jsonl").write_text(PLAIN)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    # First it makes the parts, then it finds all of them there.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", RUN, "quiz.jsonl", "--bulk"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "100.00%" in done.stdout
        assert "proctor.engine.bulk.driver" in done.stderr.split()
        assert "sqlalchemy" not in done.stderr.split()
    assert list(tmp_path.glob("quiz.db.parts/r-*/results-*.parquet"))
