"""Packages that code of a suite imports, with the versions that its numbers depend on."""

import platform
from importlib.metadata import version

import pytest

from proctor.scorers.programs.python_packages import imported, package_versions, python_with


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a, b.c\nfrom d.e import f", {"a", "b", "d"}),
        ("from . import x\nfrom .y import z", set()),
        ("def f():\n    import inner", {"inner"}),
        ("import (", set()),
        ("(" * 500, set()),
        ("x = 'import no'", set()),
    ],
)
def test_the_first_names_of_imports_are_found(text: str, names: set[str]) -> None:
    assert imported(text) == names


def test_what_comes_with_python_or_is_not_there_has_no_version() -> None:
    assert package_versions(["json", "no_such_package_here"]) == ()
    assert package_versions(["pydantic", "json"]) == (f"pydantic {version('pydantic')}",)


def test_the_version_of_python_comes_first() -> None:
    assert python_with([]) == f"python {platform.python_version()}"
    assert python_with(["import pydantic", "import os"]) == (
        f"python {platform.python_version()} pydantic {version('pydantic')}"
    )
