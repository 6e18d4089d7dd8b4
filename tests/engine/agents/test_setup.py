"""What a case wants done before an agent begins."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from proctor import registry
from proctor.core.suite import Case, Spec
from proctor.engine.agents.setup import fits, missing, set_up
from proctor.errors import ModelError


def case(**setup: Any) -> Case:
    return Case(id="c1", messages=(), criteria=(), setup=setup)


def prepared(folder: Path, **setup: Any) -> None:
    async def work() -> None:
        sandbox = registry.build("sandbox", Spec(name="bubblewrap"))
        try:
            await set_up(case(**setup), folder, sandbox)
        finally:
            await sandbox.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("version", "bounds", "wanted"),
    [
        ("1.2.3", ">=1.2", True), ("1.2.3", ">=1.10", False), ("1.10", ">=1.9", True),
        ("1.2", ">1.2", False), ("1.2.1", ">1.2", True), ("1.2.0", "==1.2", True),
        ("1.2.3", "==1.2.*", True), ("1.3", "==1.2.*", False), ("1.2.3", "!=1.2.*", False),
        ("1.2.3", "==99.0", False), ("2.0", ">=1,<2", False), ("1.9", ">=1,<2", True),
        ("1.4.5", "~=1.4.2", True), ("1.5.0", "~=1.4.2", False), ("1.9", "~=1.4", True),
        ("2.0", "~=1.4", False), ("2.0rc1", ">=2.0", False), ("2.0.post1", ">2.0", False),
        ("2.0.dev1", "<2.0", False), ("2.0a1", "<2.0b1", True), ("2.0+cpu", "==2.0", True),
        ("1.0", "<=1.0.0", True), ("1.0", "===1.0", True), ("1.0", "===1.0.0", False),
        ("1!1.0", ">=2.0", True), ("2.0.post1", ">2.0.post0", True), ("2.0.dev2", ">2.0.dev1", True),
        ("1.2", "", True), ("", "", True), ("", ">=1", False), ("built here", "", True),
        ("built here", ">=1", False), ("unknown", "===unknown", True),
    ],
)  # fmt: skip
def test_versions(version: str, bounds: str, wanted: bool) -> None:
    assert fits(version, SpecifierSet(bounds)) is wanted


def test_packages_are_looked_for() -> None:
    assert missing(["aiohttp", "aiohttp>=3", "aiohttp >= 3.0, < 99", "json", "click[x]"]) == []
    assert missing(["no-such-package; python_version < '3'", "aiohttp; extra == 'more'"]) == []
    found = missing(["no-such-package", "aiohttp>=99", "aiohttp==0.1"])
    assert [wanted for wanted, _ in found] == ["no-such-package", "aiohttp>=99", "aiohttp==0.1"]
    with pytest.raises(ModelError, match="is not a package"):
        missing(["aiohttp>=new"])
    with pytest.raises(ModelError, match="is not a package"):
        missing(["!"])


def test_a_missing_package_is_named_with_the_command(tmp_path: Path) -> None:
    wanted = ["aiohttp", "no-such-package", "aiohttp>=99"]
    with pytest.raises(ModelError) as caught:
        asyncio.run(set_up(case(dependencies=wanted), tmp_path, None))
    assert "the package no-such-package, which is not installed" in str(caught.value)
    assert "(fix: pip install 'no-such-package' 'aiohttp>=99')" in str(caught.value)


def test_commands_work_on_the_files_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one")
    (folder / "old.txt").write_text("old")
    outside = tmp_path / "outside.txt"
    commands = [
        "cat a.txt > sub.txt; mkdir -p d; cp sub.txt d/b.txt; rm old.txt",
        f"touch {outside} || true; ln -s /etc/passwd link",
    ]
    prepared(folder, pre_command=commands)
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    assert found == ["a.txt", "d", "d/b.txt", "sub.txt"]
    assert (folder / "d" / "b.txt").read_text() == "one"
    assert not outside.exists()


def test_a_failing_command_stops_the_case(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"command 'ls nowhere' ended with 2: .*nowhere"):
        prepared(tmp_path, pre_command=["true", "ls nowhere", "touch never"])
    assert not (tmp_path / "never").exists()


def test_without_a_sandbox_no_command_runs(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="needs a sandbox"):
        asyncio.run(set_up(case(pre_command="touch x"), tmp_path, None))
    asyncio.run(set_up(case(), tmp_path, None))
    assert list(tmp_path.iterdir()) == []


def test_commands_find_python_by_its_plain_name(tmp_path: Path) -> None:
    """As the original's own cases call it, which ran beside an environment of its own."""
    commands = [
        'python -c \'import json, sys; open("a.json", "w").write(json.dumps([1]))\'',
        'sh -c \'python -c "import aiohttp; print(1)" > b.txt\'; python3 -c \'open("c.txt", "w")\'',
        "ls -A > names.txt",
    ]
    prepared(tmp_path, pre_command=commands)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.json", "b.txt", "c.txt", "names.txt",
    ]  # fmt: skip
    assert (tmp_path / "b.txt").read_text() == "1\n", "with the packages of this environment"
    assert ".proctor" not in (tmp_path / "names.txt").read_text()


def test_commands_find_python_where_only_python3_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Debian, and in images that have no environment."""
    monkeypatch.setattr("proctor.engine.agents.setup.sys.prefix", "/usr")
    if Path("/usr/bin/python").exists() or not Path("/usr/bin/python3").exists():
        pytest.skip("the system's Python has other names here")
    prepared(tmp_path, pre_command=["python -c 'print(1)' > a.txt", "exec python -c 'exit(0)'"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "1\n"
