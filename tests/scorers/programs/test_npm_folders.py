"""Folders of npm packages: those that somebody installed, by their real paths, and no others."""

import os
from pathlib import Path

import pytest

from proctor.scorers.programs import npm_folders
from proctor.scorers.programs.npm_folders import left_out_words, package_version, why_left_out
from proctor.scorers.programs.toolchains import _home_of


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    (folder / "node_modules" / "typescript").mkdir(parents=True)
    (folder / "node_modules" / "typescript" / "package.json").write_text('{"version": "5.4.2"}')
    return folder


def folders(cwd: Path, path: str = "", node_path: str = "") -> list[str]:
    return npm_folders.npm_folders("/usr/bin/node", path=path, node_path=node_path, cwd=str(cwd))


def test_real_packages_of_the_working_directory_are_shown(cwd: Path) -> None:
    (cwd / "node_modules" / ".bin").mkdir()
    (cwd / "node_modules" / ".bin" / "tsc").symlink_to("../typescript/package.json")
    assert str(cwd / "node_modules") in folders(cwd)
    assert left_out_words(str(cwd)) == ""


@pytest.mark.parametrize(
    "place", ["a", "@types/a", "typescript/lib/deep/a", ".bin/a", "typescript/package.json"]
)
@pytest.mark.parametrize("target", ["private", "private/file", "missing", "suite/beside"])
def test_no_link_may_lead_out(cwd: Path, place: str, target: str) -> None:
    (cwd.parent / "private").mkdir()
    (cwd.parent / "private" / "file").write_text("secret")
    (cwd / "beside").mkdir()
    link = cwd / "node_modules" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(cwd.parent / target)
    assert f"node_modules/{place} is a link that leads out of it" in left_out_words(str(cwd))
    assert not [folder for folder in folders(cwd) if str(cwd.parent) in folder]


def test_a_link_through_another_leads_out_as_well(cwd: Path) -> None:
    (cwd / "node_modules" / "one").symlink_to("two")
    (cwd / "node_modules" / "two").symlink_to("typescript/../../..")
    assert "leads out" in why_left_out(str(cwd))


def test_the_folder_itself_is_no_link(cwd: Path) -> None:
    (cwd / "node_modules").rename(cwd.parent / "elsewhere")
    for target in (cwd.parent / "elsewhere", cwd.parent, Path("/"), Path("missing")):
        (cwd / "node_modules").symlink_to(target)
        assert "it is a link" in left_out_words(str(cwd))
        assert not [folder for folder in folders(cwd) if str(cwd.parent) in folder]
        (cwd / "node_modules").unlink()
    (cwd / "node_modules").write_text("")
    assert not [folder for folder in folders(cwd) if str(cwd) in folder]


def test_what_is_too_large_to_look_through_is_left_out(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm_folders, "MOST_ENTRIES", 1)
    (cwd / "node_modules" / "more").mkdir()
    assert "more than 1 entries" in left_out_words(str(cwd))


def test_the_persons_variable_counts_where_it_is_absolute(
    cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cwd)
    (cwd / "mine").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    found = folders(cwd, node_path=f":mine:.:{tmp_path / 'link'}")
    assert str(tmp_path / "real") in found
    assert not {str(cwd / "mine"), str(cwd), str(tmp_path / "link")} & {*found}


def test_a_compiler_that_is_a_script_shows_no_home(cwd: Path, tmp_path: Path) -> None:
    installed = tmp_path / "global" / "node_modules"
    for place in (tmp_path / "home" / "bin", installed / "typescript" / "bin"):
        place.mkdir(parents=True)
        (place / "tsc").write_text("#!/bin/sh\n")
        (place / "tsc").chmod(0o755)
    assert not [p for p in folders(cwd, str(tmp_path / "home" / "bin")) if p == str(tmp_path)]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tsc").symlink_to(installed / "typescript" / "bin" / "tsc")
    assert str(installed) in folders(cwd, str(tmp_path / "bin"))


@pytest.mark.parametrize("told", ["/", "relative/node_modules", "", "/etc", "a\n/b/node_modules"])
def test_npm_is_believed_where_it_names_such_a_folder(cwd: Path, tmp_path: Path, told: str) -> None:
    (cwd / "node_modules").rename(cwd / "none")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "npm").write_text(f"#!/bin/sh\ncat <<'X'\n{told}\nX\n")
    (tools / "npm").chmod(0o755)
    usual = {os.path.realpath(folder) for folder in npm_folders._SHARED}
    assert {*folders(cwd, str(tools))} <= usual


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"version": "5.4.2"}', "5.4.2"),
        ('{"version": "5.4.2-beta.1+x"}', "5.4.2-beta.1+x"),
        ('{"version": "5\\u001b[31m"}', ""),
        ('{"version": "' + "1" * 100 + '"}', ""),
        ('{"version": 5}', ""),
        ("[]", ""),
        ("{", ""),
        ("[" * 100_000, ""),
    ],
)
def test_versions_look_like_versions(tmp_path: Path, text: str, version: str) -> None:
    (tmp_path / "package.json").write_text(text)
    assert package_version(str(tmp_path)) == version


@pytest.mark.parametrize(
    ("tool", "cwd", "home"),
    [
        ("/opt/go/bin/go", "/srv/suite", "/opt/go"),
        ("/opt/go/bin/go", "/opt/go", "/opt/go/bin/go"),
        ("/opt/go/bin/go", "/opt/go/src/suite", "/opt/go/bin/go"),
        ("/bin/go", "/srv", "/bin/go"),
        ("/people/me/bin/go", "/srv", "/people/me/bin/go"),
        ("/people/me/.local/bin/go", "/srv", "/people/me/.local/bin/go"),
        ("/people/bin/go", "/srv", "/people/bin/go"),
        (
            "/people/me/.rustup/toolchains/x/bin/rustc",
            "/people/me",
            "/people/me/.rustup/toolchains/x",
        ),
        ("/opt/tools/go", "/srv", "/opt/tools/go"),
    ],
)
def test_a_tool_is_shown_with_its_folder_unless_that_holds_more(
    monkeypatch: pytest.MonkeyPatch, tool: str, cwd: str, home: str
) -> None:
    monkeypatch.setenv("HOME", "/people/me")
    assert _home_of(Path(tool), cwd) == home
