"""Origins are guests: each may be deleted, and what is left neither misses nor mentions it."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[2]
SOURCE = HERE / "src" / "proctor"
ORIGINS = sorted(path.parent.name for path in (SOURCE / "origins").glob("*/__init__.py"))
# What goes with its origin: the door of a notebook, which is one of Arthur Bench's.
GO_WITH = {"arthur": ("bench.py",)}
IMPORT_ALL = """
import importlib, pkgutil, sys
import proctor
skipped = {"proctor.__main__", "proctor.origins"}
names = [
    one.name
    for one in pkgutil.walk_packages(proctor.__path__, "proctor.", onerror=lambda name: None)
    if one.name not in skipped and not one.name.startswith(OUTSIDE)
]
for name in names:
    importlib.import_module(name)
print(len(names))
"""
# Files that are run by themselves, inside a sandbox or another process.
OUTSIDE = (
    "proctor.scorers.programs.launchers",
    "proctor.agents.launchers",
    "proctor.sandboxes.confined",
    "proctor.origins.taskweaver.launcher",
    "proctor.store.migrations",
    "proctor.testing.__main__",
)
SUITE = """name: quiz
cases:
  - id: capital
    ask: What is the capital of France?
    references: [Paris]
    criteria: {exact_match: true}
measures: [accuracy]
"""
# A test of the rest names no origin, no variant, and no page that describes them all.
NAMED = re.compile(r"origin|bench|colossal|taskweaver|compat|suite.schema", re.I)
FAST = (
    "core",
    "contracts",
    "io",
    "stats",
    "measures",
    "dialogues",
    "scorers/text",
    "formats",
    "reports",
)


@cache
def python_files() -> dict[str, str]:
    return {
        str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*")
        if path.suffix in (".py", ".html", ".js") and path.is_file()
    }


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made: dict[str, Path] = {}

    def without(origin: str) -> Path:
        if origin not in made:
            root = tmp_path_factory.mktemp(origin)
            shutil.copytree(SOURCE, root / "proctor", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.rmtree(root / "proctor" / "origins" / origin)
            for name in GO_WITH.get(origin, ()):
                (root / "proctor" / name).unlink()
            made[origin] = root
        return made[origin]

    return without


def python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root), "PROCTOR_STORE": str(root / "s.db")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def ran(root: Path, *words: str) -> str:
    done = python(root, *words)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "origin", [ORIGINS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in ORIGINS[1:])]
)
def test_the_rest_works_without_it(origin: str, copies: Any) -> None:
    root = copies(origin)
    place = ran(root, "-c", "import proctor; print(proctor.__file__)")
    assert Path(place.strip()).is_relative_to(root)
    imported = ran(root, "-W", "ignore", "-c", f"OUTSIDE = {OUTSIDE!r}\n{IMPORT_ALL}")
    assert int(imported) > 300
    shown = ran(root, "-m", "proctor", "--help")
    command = {"arthur": "bench"}.get(origin, origin)
    assert not re.search(rf"^  {command} ", shown, re.M)
    assert "exact_match" in ran(root, "-m", "proctor", "list", "scorers")
    (root / "quiz.yaml").write_text(SUITE, encoding="utf-8")
    (root / "answers.jsonl").write_text(
        '{"case": "capital", "output": "Paris"}\n', encoding="utf-8"
    )
    made = ran(root, "-m", "proctor", "run", "quiz.yaml", "--answers", "answers.jsonl", "--json")
    assert json.loads(made)["totals"]["rate"] == 1.0


@pytest.mark.parametrize(
    "origin",
    [
        pytest.param(one, marks=pytest.mark.slow("full") if place else pytest.mark.slow)
        for place, one in enumerate(ORIGINS)
    ],
)
def test_the_fast_tests_of_the_rest_pass_without_it(origin: str, copies: Any) -> None:
    root = copies(origin)
    tests = HERE / "tests"
    files = [
        str(path)
        for folder in FAST
        for path in sorted((tests / folder).rglob("test_*.py"))
        if not NAMED.search(path.read_text(encoding="utf-8"))
    ]
    assert len(files) > 40
    done = python(root, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                  "--rootdir", str(HERE), "-c", str(HERE / "pyproject.toml"), *files)  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("origin", ORIGINS)
def test_nothing_names_its_modules(origin: str) -> None:
    own = (f"origins/{origin}/", *GO_WITH.get(origin, ()))
    named = [
        name
        for name, text in python_files().items()
        if not name.startswith(own) and f"origins.{origin}" in text
    ]
    assert named == [name for name in named if name == "_moved.py"]


MOST_FILES = 11
"""Files outside of the origins that may know the word by which a spec asks for a variant."""


def test_few_files_outside_know_of_variants() -> None:
    knowing = [
        name
        for name, text in python_files().items()
        if not name.startswith("origins/") and re.search(r"\bcompat\b", text)
    ]
    assert len(knowing) <= MOST_FILES, knowing
