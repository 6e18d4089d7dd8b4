"""The public names: written down, sorted, importable, and cheap to start with."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import proctor

HEAVY = [
    "sqlalchemy",
    "pydantic",
    "rich",
    "numpy",
    "ruamel",
    "alembic",
    "pyarrow",
    "pydantic_monty",
]


PUBLIC = json.loads((Path(__file__).parent / "public_names.json").read_text(encoding="utf-8"))
"""The names that others may import, by module.

A new name is added here. A name is removed only after ``_moved.py`` has let it be imported, with a
warning, for one minor version: see "Deprecating a public name" in CONTRIBUTING.md.
"""


def public_names(module: str) -> list[str]:
    """Return the names that a module offers: those it lists, or else its own."""
    home = importlib.import_module(module)
    own = (n for n, value in vars(home).items() if getattr(value, "__module__", "") == module)
    return sorted(getattr(home, "__all__", ()) or (n for n in own if not n.startswith("_")))


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_those_written_down(module: str) -> None:
    names = public_names(module)
    assert sorted({*PUBLIC[module]} - {*names}) == [], "deprecate a name before it is removed"
    # A new scorer is written down in the registry, whose names this module has.
    assert module == "proctor.scorers" or names == PUBLIC[module], "add new names"


def test_names_are_sorted_and_there() -> None:
    assert sorted(proctor.__all__) == proctor.__all__
    for name in proctor.__all__:
        assert getattr(proctor, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="Scroer"):
        proctor.Scroer  # noqa: B018


@pytest.mark.parametrize("module", ["proctor", "proctor.cli.main"])
def test_starting_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, proctor.cli.main as m\n"
        "assert m._run(['--help']) == 0\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []
