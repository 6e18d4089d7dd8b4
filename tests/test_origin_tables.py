"""Tables of origins: each is read off by its folder, and one that is gone is missed by nobody."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import origin_tables


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a package of origins of our own."""
    package = tmp_path / "own_origins"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(origin_tables, "ORIGINS", "own_origins")
    origin_tables._tables.cache_clear()
    yield package
    origin_tables._tables.cache_clear()
    for name in [name for name in sys.modules if name.startswith("own_origins")]:
        del sys.modules[name]


def add(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(text)


def test_what_origins_bring_is_joined(folder: Path) -> None:
    add(
        folder,
        "one",
        "PLUGINS = {'scorer': {'a': 'm:A'}}\nCOMMANDS = {'go': ('m:go', 'Go.')}\n"
        "FLAGS = [('--x', 'x', 'flag', 'one')]\nSIGNS = {'one': {'.json': '{'}}\n",
    )
    add(folder, "two", "PLUGINS = {'scorer': {'b': 'n:B'}}\nVARIANTS = {'scorer': {'a': 'n:A'}}\n")
    (folder / "not_one").mkdir()
    (folder / "notes.txt").write_text("x")
    assert origin_tables.plugins("scorer") == {"a": "m:A", "b": "n:B"}
    assert origin_tables.plugins("measure") == {}
    assert origin_tables.variants("scorer") == {"a": "n:A"}
    assert origin_tables.commands() == {"go": ("m:go", "Go.")}
    assert origin_tables.flags() == [("--x", "x", "flag", "one")]
    assert origin_tables.signs() == {"one": {".json": "{"}}
    assert origin_tables.endpoints() == []


def test_without_any_origin_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    origin_tables._tables.cache_clear()
    monkeypatch.setattr(origin_tables, "ORIGINS", "no_such_origins")
    assert origin_tables.plugins("scorer") == {}
    assert origin_tables.commands() == {}
    origin_tables._tables.cache_clear()


def test_endpoints_are_imported_when_they_are_asked_for(folder: Path) -> None:
    add(folder, "one", "ENDPOINTS = 'own_origins.one.pages'")
    (folder / "one" / "pages.py").write_text("PREFIX = '/one'")
    assert origin_tables.plugins("scorer") == {}
    assert "own_origins.one.pages" not in sys.modules
    (pages,) = origin_tables.endpoints()
    assert pages.PREFIX == "/one"
