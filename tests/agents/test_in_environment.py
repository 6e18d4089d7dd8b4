"""Agents in the environments of tasks: commands, the reference solution, nobody, and cheats."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.in_environment import doors_in, solutions_of
from proctor.core.suite import Case

TASKS = Path(__file__).parents[1] / "data" / "harbor"
ALL = sorted(path.name for path in TASKS.iterdir())
HACKS = {
    "writes the reward": ("mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt", "wrote"),
    "leaves a daemon": (
        "setsid sh -c 'while :; do echo 1 >/logs/verifier/reward.txt; sleep .01; done' & sleep .1",
        "wrote /logs/verifier/reward.txt",
    ),
    "edits the tests": (
        "mkdir -p /tests; echo 'echo 1 >/logs/verifier/reward.txt' >/tests/test.sh",
        "wrote /tests/test.sh",
    ),
    "replaces a program": (
        r"printf '#!/bin/sh\necho hello\n' >/tmp/cat; chmod 755 /tmp/cat; mv /tmp/cat /usr/bin/cat",
        "replaced the program /usr/bin/cat",
    ),
    "leads the reward elsewhere": (
        "rm -rf /logs/verifier; mkdir /mine; echo 1 >/mine/reward.txt; ln -s /mine /logs/verifier",
        "made /logs/verifier a link",
    ),
    "hooks into every program": (
        "echo /tmp/mine.so >/etc/ld.so.preload",
        "put a start-up hook at /etc/ld.so.preload",
    ),
}


def test_ports_of_the_proxy_are_found() -> None:
    env = {"A": "http://127.0.0.1:7462/x/v1", "B": "none", "C": "https://localhost:1/", "D": "7462"}
    assert doors_in(env) == (1, 7462)


def test_solutions_need_a_script() -> None:
    case = Case(
        id="c", messages=(), criteria=(), hidden={"solutions": [{"a": ""}, {"solve.sh": ""}]}
    )
    assert solutions_of(case) == [{"solve.sh": ""}]


@pytest.fixture
def run(proctor: str, tmp_path: Path) -> Callable[..., Any]:
    def run_tasks(tasks: Path, agent: str, *more: str) -> Any:
        argv = [proctor, "run", str(tasks), "--agent", agent, "--cases", "--json", *more]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    return run_tasks


@pytest.mark.sandbox
@pytest.mark.parametrize(("agent", "rate"), [("oracle", 1.0), ("nop", 0.0)])
def test_one_task(run: Callable[..., Any], agent: str, rate: float) -> None:
    assert run(TASKS / "greeting", agent)["totals"]["rate"] == rate


@pytest.mark.slow
@pytest.mark.sandbox
def test_solutions_pass_and_doing_nothing_fails(run: Callable[..., Any]) -> None:
    for agent, rate in (("oracle", 1.0), ("nop", 0.0)):
        found = run(TASKS, agent)
        assert {case["id"]: case["value"] for case in found["cases"]} == dict.fromkeys(ALL, rate)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("kind", HACKS)
def test_cheating_fails_and_is_named(run: Callable[..., Any], kind: str) -> None:
    script, words = HACKS[kind]
    agent = "exec:bash -c " + shlex.quote(f"{script}; echo done")
    (case,) = run(TASKS / "greeting", agent)["cases"]
    score = case["attempts"][0]["scores"][0]
    assert (case["value"], score["points"]) == (0.0, 0.0)
    assert words in score["reason"]
    assert "not counted" in score["reason"]


@pytest.mark.slow
@pytest.mark.sandbox
def test_tests_that_lack_a_package_are_not_held_against_the_agent(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    task = tmp_path / "greeting"
    shutil.copytree(TASKS / "greeting", task)
    script = """uvx -w not-a-package-of-anybody pytest /tests/test_more.py
if [ $? -eq 0 ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
"""
    (task / "tests" / "test.sh").write_text(script)
    (task / "tests" / "test_more.py").write_text(
        "import not_a_package_of_anybody\n\ndef test_it(): pass\n"
    )
    (case,) = run(task, "oracle")["cases"]
    score = case["attempts"][0]["scores"][0]
    assert (case["value"], score["points"]) == (None, None)
    assert "lacked what they would have fetched: not-a-package-of-anybody" in score["reason"]
    assert case["attempts"][0]["cause"] == "verifier"


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_command_works_inside_and_may_take_too_long(tmp_path: Path) -> None:
    (place := tmp_path / "places").mkdir()
    agent = "exec:bash -c 'echo hello >hello.txt; sleep 60'"
    argv = [sys.executable, "-m", "proctor", "run", str(TASKS / "greeting"), "--agent", agent]
    argv += ["--agent-option", "timeout=6", "--cases", "--json"]
    env = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["cases"][0]["value"] == 1.0, done.stderr
    assert os.listdir(place) == []


def test_tasks_without_a_solution_are_told_before_anything_runs(
    proctor: str, tmp_path: Path
) -> None:
    suite = tmp_path / "plain.yaml"
    suite.write_text("name: s\ncases:\n- {id: a, ask: b, criteria: {contains: c}}\n")
    argv = [proctor, "run", str(suite), "--agent", "oracle"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "no reference solution" in done.stdout + done.stderr
