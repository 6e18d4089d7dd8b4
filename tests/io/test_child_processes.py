"""Processes that are started for ourselves: where, with what, and for how long."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.io import child_processes
from proctor.io.child_processes import (
    find_program,
    is_secret,
    own_environment,
    own_module,
    probe,
    tool_environment,
)

SECRETS = {
    "OPENAI_API_KEY": "sk-1", "HF_TOKEN": "hf", "AWS_SECRET_ACCESS_KEY": "s", "MY_PASSWORD": "p",
    "PROCTOR_STORE": "postgresql://me:word@host/db", "GOOGLE_APPLICATION_CREDENTIALS": "c",
}  # fmt: skip
LOADERS = {
    "LD_PRELOAD": "/trap.so", "NODE_OPTIONS": "-r /t", "RUBYOPT": "-rt", "PERL5OPT": "-Mt",
    "JAVA_TOOL_OPTIONS": "-javaagent:t", "PYTHONSTARTUP": "t.py", "GOFLAGS": "-toolexec=t",
    "BASH_ENV": "t.sh", "LUA_INIT": "@t", "R_PROFILE": "t", "PHPRC": "/t", "GIT_CONFIG_COUNT": "1",
}  # fmt: skip


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in {**SECRETS, **LOADERS}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}:.:bin:")
    monkeypatch.setenv("PYTHONPATH", ":.:src:/nowhere:")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":lib")
    monkeypatch.setenv("RUSTUP_HOME", "relative")
    monkeypatch.setenv("JAVA_HOME", "/java")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(environment: dict[str, str], **more: object) -> dict[str, str]:
    """Return what a program sees that is started with an environment."""
    done = probe(["/usr/bin/env"], env=environment)
    assert done.code == 0
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def test_a_tool_sees_its_place_and_no_key(surroundings: Path) -> None:
    seen = shown(tool_environment())
    assert not {*SECRETS, *LOADERS, "PYTHONPATH", "LD_LIBRARY_PATH", "RUSTUP_HOME"} & seen.keys()
    assert seen["HOME"] == os.environ["HOME"]
    assert seen["JAVA_HOME"] == "/java"
    assert all(os.path.isabs(entry) for entry in seen["PATH"].split(os.pathsep))
    assert shown(tool_environment(["NODE_*"]))["NODE_OPTIONS"] == "-r /t"


@pytest.mark.parametrize("keys", [True, False])
def test_modules_of_ours_search_nothing_relative(surroundings: Path, keys: bool) -> None:
    seen = shown(own_environment(keys=keys))
    assert seen["PYTHONPATH"] == "/nowhere"
    assert "LD_LIBRARY_PATH" not in seen
    assert all(os.path.isabs(entry) for entry in seen["PATH"].split(os.pathsep))
    assert SECRETS.keys() <= seen.keys() if keys else not SECRETS.keys() & seen.keys()


def test_an_empty_path_is_no_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ":.:")
    assert tool_environment()["PATH"] == os.defpath
    assert find_program("sh") == ""


def test_programs_of_the_working_directory_are_not_found(surroundings: Path) -> None:
    for place in (surroundings, surroundings / "bin"):
        place.mkdir(exist_ok=True)
        for name in ("sh", "only-here"):
            (place / name).write_text("#!/bin/sh\n")
            (place / name).chmod(0o755)
    assert find_program("only-here") == ""
    assert find_program("nobody-has-this", "only-here", "sh").startswith("/")
    assert str(surroundings) not in find_program("sh")


@pytest.mark.parametrize("argv", [["sh", "-c", "true"], ["./sh"], [""]])
def test_only_whole_paths_are_started(surroundings: Path, argv: list[str]) -> None:
    (surroundings / "sh").write_text("#!/bin/sh\ntouch sprung\n")
    (surroundings / "sh").chmod(0o755)
    assert probe(argv).code is None
    with pytest.raises(FileNotFoundError):
        child_processes.popen(argv, env={})
    with pytest.raises(FileNotFoundError):
        asyncio.run(child_processes.spawn(argv, env={}))
    assert not (surroundings / "sprung").exists()


def test_it_is_started_outside(surroundings: Path) -> None:
    assert probe(["/bin/pwd"]).stdout == "/\n"
    with child_processes.popen(["/bin/pwd"], env={}, stdout=subprocess.PIPE) as process:
        assert process.communicate()[0] == b"/\n"

    async def spawned() -> bytes:
        made = await child_processes.spawn(["/bin/pwd"], env={}, stdout=asyncio.subprocess.PIPE)
        return (await made.communicate())[0]

    assert asyncio.run(spawned()) == b"/\n"


def test_a_module_of_ours_imports_nothing_from_where_we_are(surroundings: Path) -> None:
    for name in ("json", "sitecustomize", "this"):
        (surroundings / f"{name}.py").write_text("raise SystemExit('sprung')\n")
    done = child_processes.popen(
        own_module("this"), env=own_environment(keys=True), cwd=str(surroundings),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    out, err = done.communicate()
    assert (done.returncode, b"Zen" in out) == (0, True), err


@pytest.mark.slow
def test_time_is_limited_for_all_that_was_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    begun = time.monotonic()
    done = probe(["/bin/sh", "-c", f"(sleep 1.5; touch {mark}) & sleep 60"], seconds=0.3)
    assert time.monotonic() - begun < 30
    assert done.code is None
    assert "0.3 s" in done.error
    time.sleep(1.5)
    assert not mark.exists()


def test_what_cannot_be_started_says_why() -> None:
    assert "No such file" in probe(["/nowhere/program"]).error
    assert probe([sys.executable, "-c", "import sys; sys.exit(3)"]).code == 3
    assert probe([sys.executable, "-c", r"import os; os.write(1, b'\xff')"]).stdout == "\ufffd"


@pytest.mark.parametrize(("name", "value"), [*SECRETS.items(), ("x_api_key", "")])
def test_secrets_are_known(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize("name", ["HOME", "PATH", "LANG", "CUDA_VISIBLE_DEVICES", "HF_HOME"])
def test_others_are_none(name: str) -> None:
    assert not is_secret(name, "/a/b:c@d")
