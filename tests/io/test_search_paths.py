"""Where modules come from: not from the working directory, unless the person says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.io import search_paths

TOLD = (
    "import os, sys, json\nfrom proctor.io import search_paths as s\n"
    "s.forget_working_directory()\n"
    "print(json.dumps([sys.path, os.environ.get('PYTHONPATH'), os.environ.get('PATH'),"
    " os.environ.get('LD_LIBRARY_PATH'), s.agent_modules()]))"
)


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(search_paths, "_left_out", [])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(folder: Path, *how: str, **env: str) -> list[str | list[str]]:
    import json

    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *how], cwd=folder, env={**own, **env}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found: list[str | list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("modules", ["", ":src:.:/elsewhere"])
def test_a_new_process_forgets_where_it_is(tmp_path: Path, modules: str) -> None:
    (tmp_path / "told.py").write_text(TOLD)
    for how in (("-c", TOLD), ("-m", "told"), ("told.py",)):
        found, kept, *_, agents = started(
            tmp_path, *how, PYTHONPATH=modules, PATH=":.:/usr/bin", LD_LIBRARY_PATH=":"
        )
        assert not [entry for entry in found if entry in ("", ".") or str(tmp_path) in entry]
        assert kept == ("/elsewhere" if "elsewhere" in modules else "")
        assert (str(tmp_path / "src") in agents) == ("src" in modules)
        assert (str(tmp_path) in agents.split(":")) == ("." in modules.split(":"))


def test_variables_lose_what_is_relative(tmp_path: Path) -> None:
    *_, path, libraries, _ = started(
        tmp_path, "-c", TOLD, PATH=":.:/usr/bin::bin", LD_LIBRARY_PATH="lib:"
    )
    assert (path, libraries) == ("/usr/bin", None)


def test_trust_puts_folders_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src:.")
    search_paths.forget_working_directory()
    assert str(path) not in sys.path
    search_paths.trust_folders([".", "suite"])
    assert sys.path[:3] == [str(path), str(path / "suite"), str(path / "src")]


def test_an_agent_in_this_process_comes_first_only_while_it_is_imported(path: Path) -> None:
    with search_paths.importing_from(str(path)):
        assert sys.path[0] == str(path)
    assert sys.path[-1] == str(path)
    assert sys.path.count(str(path)) == 1


@pytest.mark.parametrize("name", ["trap", "trap.inner", "trap.inner.more", "holder.trap"])
def test_looking_up_imports_nothing(path: Path, name: str) -> None:
    for package in ("trap", "holder", "installed"):
        (path / package).mkdir()
        (path / package / "__init__.py").write_text("raise SystemExit('imported')")
    sys.path.insert(0, "")
    assert search_paths.find_installed(name) is None
    sys.path.insert(0, str(path))
    assert search_paths.find_installed(name) is not None
    assert not {"trap", "holder"} & sys.modules.keys()


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "1", "/etc", "x/y", "-"])
def test_what_is_no_name_is_not_looked_up(name: str) -> None:
    assert search_paths.find_installed(name) is None


def test_what_is_installed_is_found() -> None:
    assert search_paths.find_installed("pydantic.fields") is not None
    assert search_paths.find_installed("json.tool") is not None
    assert search_paths.find_installed("sys") is not None
    assert search_paths.installed_version("pydantic") is not None
    assert search_paths.installed_version("nobody-has-this") is None


def test_a_distribution_of_the_working_directory_offers_nothing(path: Path) -> None:
    about = path / "evil-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[proctor.scorers]\nevil = evil:Evil\n")
    sys.path.insert(0, "")
    assert search_paths.installed_version("evil") is None
    assert "evil" not in search_paths.installed_entry_points("proctor.scorers")
    sys.path.insert(0, str(path))
    assert search_paths.installed_version("evil") == "1.0"
    assert "evil" in search_paths.installed_entry_points("proctor.scorers")
