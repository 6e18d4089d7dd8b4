"""Tasks in containers: solutions pass, nobody and cheats do not, and nothing is left behind."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.test_in_environment import HACKS
from proctor.core.environment import EnvironmentNeeds
from proctor.errors import ModelError
from proctor.sandboxes.container_engine import find_engine
from proctor.sandboxes.container_environment import pytest_places, task_image

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "tests" / "data" / "harbor"
ALL = sorted(path.name for path in TASKS.iterdir())
PACKAGES = ("coreutils", "bash", "grep", "sed", "tar", "gzip", "findutils", "procps", "util-linux")
IMAGE = "localhost/debian:12"
OTHER = "localhost/python:3.13-slim"


def test_an_image_is_taken_as_it_is_named() -> None:
    assert task_image(EnvironmentNeeds(image="mine:1", dockerfile="FROM x"), "usual") == "mine:1"
    assert task_image(EnvironmentNeeds(), "usual") == "usual"


def test_pytest_consists_of_files_that_any_python_reads() -> None:
    assert {place.name.removesuffix(".py") for place in pytest_places()} >= {"pytest", "_pytest"}


def engine(*words: str) -> "subprocess.CompletedProcess[str]":
    program = find_engine() or "podman"
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Make an image of this machine's own programs, under the names that our tasks begin from."""
    listed = subprocess.run(["dpkg", "-L", *PACKAGES], capture_output=True, text=True, check=False)
    programs = sorted({line for line in listed.stdout.splitlines() if "bin/" in line})
    subprocess.run([str(ROOT / ".ci" / "container_image"), IMAGE, *programs], check=True)
    engine("tag", IMAGE, OTHER)
    yield IMAGE
    engine("image", "rm", "--force", IMAGE, OTHER)


@pytest.fixture
def run(tmp_path: Path, proctor: str, image: str) -> Callable[..., Any]:
    def run_tasks(tasks: Path, agent: str, *more: str) -> Any:
        argv = [proctor, "run", str(tasks), "--agent", agent, "--cases", "--json"]
        argv += ["--sandbox", f"docker:{image}", *more]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    return run_tasks


@pytest.mark.slow
@pytest.mark.container
def test_solutions_pass_and_doing_nothing_fails(run: Callable[..., Any]) -> None:
    for agent, rate in (("oracle", 1.0), ("nop", 0.0)):
        report = run(TASKS, agent)
        assert {case["id"]: case["value"] for case in report["cases"]} == dict.fromkeys(ALL, rate)
    left = engine("ps", "--all", "--format", "{{.Names}}").stdout.split()
    assert not [name for name in left if name.startswith("proctor-")]


@pytest.mark.slow
@pytest.mark.container
@pytest.mark.parametrize("kind", HACKS)
def test_cheating_fails_and_is_named(run: Callable[..., Any], kind: str) -> None:
    script, words = HACKS[kind]
    agent = "exec:bash -c " + shlex.quote(f"{script}; echo done")
    (case,) = run(TASKS / "greeting", agent)["cases"]
    score = case["attempts"][0]["scores"][0]
    assert score["points"] == 0.0
    assert words in score["reason"]


@pytest.mark.slow
@pytest.mark.container
def test_what_cannot_be_built_is_told(run: Callable[..., Any], tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "broken"
    shutil.copytree(TASKS / "greeting", task)
    (task / "environment").mkdir(exist_ok=True)
    (task / "environment" / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN exit 3\n")
    (case,) = run(task, "oracle")["cases"]
    (attempt,) = case["attempts"]
    assert (attempt["status"], attempt["cause"]) == ("error", "environment")
    assert "the environment cannot be built" in attempt["error"]


def test_an_engine_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.sandboxes import container_environment

    monkeypatch.setattr(container_environment, "find_engine", lambda: "/usr/bin/false")
    with pytest.raises(ModelError, match="cannot be built"):
        task_image(EnvironmentNeeds(dockerfile="FROM x\n# never built"), "usual")
