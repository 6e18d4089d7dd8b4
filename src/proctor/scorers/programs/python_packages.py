"""Packages that Python code of a suite imports: what it gives may change with their versions."""

import ast
import platform
import sys
from collections.abc import Iterable
from functools import lru_cache

from proctor.io.search_paths import find_installed, installed_versions


def imported(text: str) -> set[str]:
    """Return the first names of all modules that a text imports by their full name."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.partition(".")[0])
    return names


def python_with(texts: Iterable[str]) -> str:
    """Return the version of Python, and of the packages that texts import."""
    names = {name for text in texts for name in imported(text)}
    return " ".join([f"python {platform.python_version()}", *package_versions(names)])


def package_versions(names: Iterable[str]) -> tuple[str, ...]:
    """Return the versions of the packages among names of modules, as far as they are installed."""
    return _versions(frozenset(names) - sys.stdlib_module_names)


@lru_cache(maxsize=1024)
def _versions(names: frozenset[str]) -> tuple[str, ...]:
    present = [name for name in names if find_installed(name) is not None]
    versions = sorted(installed_versions(present).items())
    return tuple(f"{name} {version}" for name, version in versions if version)
