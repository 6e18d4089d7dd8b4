"""What tests need of the machine. The marker of a need skips a test where it is not met.

``--require browser,torch`` makes such a test fail instead.
"""

import importlib
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

IMAGE = "localhost/proctor-ci"
"""The image of the container tier; ``.ci/container_image`` makes one of this name."""
LANGUAGES = 14
"""How many languages are enough to run the tests of all languages."""
TRAINERS = Path(__file__).resolve().parents[1] / ".venv-trainers" / "bin" / "python"
"""The Python that has TRL, verifiers and verl."""
REQUIRED: set[str] = set()
"""The needs that must be met."""
SERVER: list[str] = []
"""The database on a PostgreSQL server that was named, if one was."""


def _packages(*names: str) -> str:
    missing = [name for name in names if find_spec(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def _sandbox() -> str:
    from proctor.sandboxes.bubblewrap import Bubblewrap

    return next(iter(Bubblewrap().problems()), "")


def _browser() -> str:
    return _packages("playwright") or ("" if shutil.which("chromium") else "no chromium")


def _postgres() -> str:
    return _packages("psycopg") if SERVER else _packages("psycopg", "pgserver")


def _languages() -> str:
    from proctor.scorers.programs.languages import languages

    names = [row.name for row in languages() if row.available]
    return "" if len(names) >= LANGUAGES else f"{LANGUAGES} languages wanted, only {names} here"


def _container() -> str:
    engine = shutil.which("podman") or shutil.which("docker")
    if engine is None:
        return "neither podman nor docker is installed"
    found = subprocess.run([engine, "image", "inspect", IMAGE], capture_output=True, check=False)
    return "" if found.returncode == 0 else f"no image {IMAGE} (.ci/container_image makes one)"


def _coding_agents() -> str:
    missing = [name for name in ("claude", "codex") if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def _trainers() -> str:
    return "" if TRAINERS.exists() else "no .venv-trainers (.ci/trainers makes it)"


NEEDS: dict[str, Callable[[], str]] = {
    "sandbox": _sandbox,
    "browser": _browser,
    "torch": lambda: _packages("torch", "transformers"),
    "postgres": _postgres,
    "ray": lambda: _packages("ray"),
    "s3": lambda: _packages("moto", "flask", "flask_cors"),
    "languages": _languages,
    "container": _container,
    "coding_agents": _coding_agents,
    "notebooks": lambda: _packages("ipykernel", "nbclient", "nbformat"),
    "trainers": _trainers,
    # Whether weights can be had is known when they are fetched; such a test calls ``unmet``.
    "weights": lambda: _packages("xllamacpp"),
}
"""For each need, what returns why it is not met, or an empty text."""


@cache
def problem(need: str) -> str:
    """Return why a need is not met here, or an empty text."""
    return NEEDS[need]()


def unmet(need: str, reason: str) -> NoReturn:
    """Skip the test that has this need, or fail it where the need is required."""
    if need in REQUIRED:
        pytest.fail(f"{need} is required: {reason}", pytrace=False)
    pytest.skip(f"needs {need}: {reason}")


def imported(module: str, need: str) -> Any:
    """Import what a whole module of tests needs, or skip that module; fail where it is required."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if need in REQUIRED:
            raise
        pytest.skip(f"needs {need}: {error}", allow_module_level=True)
