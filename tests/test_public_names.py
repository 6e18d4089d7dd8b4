"""The public names: sorted, importable, and cheap to start with."""

import subprocess
import sys

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
