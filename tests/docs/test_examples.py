"""The examples: each runs as its page says, and comes to the numbers that it should."""

import asyncio
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.fresh

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def environment(proctor: str) -> dict[str, str]:
    made = {k: v for k, v in os.environ.items() if not k.startswith("PROCTOR")}
    path = os.pathsep.join([str(Path(proctor).parent), str(Path(sys.executable).parent)])
    return {**made, "PATH": os.pathsep.join([path, made["PATH"]]), "PYTHONPATH": "."}


def result_of(folder: Path, environment: dict[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        ["proctor", "run", *arguments, "--json", "--cases"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        (
            "first-suite",
            ("quiz.yaml", "--answers", "answers.jsonl"),
            {"capital": 1.0, "product": 1.0, "planet": 0.0},
        ),
        (
            "custom-scorer",
            ("suite.yaml", "--answers", "answers.jsonl", "--allow-import"),
            {"name": (1 + 8 / 15) / 2, "thanks": 1.0},
        ),
        (
            "tools",
            ("suite.yaml", "--answers", "answers.jsonl"),
            {"weather": 1.0, "train": 0.75, "greeting": 1.0, "warmer": 1.0, "ticket": 5 / 6},
        ),
    ],
)
@pytest.mark.slow
def test_an_example_comes_to_its_numbers(
    name: str,
    arguments: tuple[str, ...],
    wanted: dict[str, float],
    tmp_path: Path,
    environment: dict[str, str],
) -> None:
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name)
    result = result_of(folder, environment, *arguments)
    assert {case["id"]: case["value"] for case in result["cases"]} == pytest.approx(wanted)
    assert result["totals"]["unscored"] == 0


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_the_commands_on_the_page_of_an_example_work(
    name: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name)
    page = (folder / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
    commands = re.findall(r"^\$ (.*)$", block, re.M)
    assert len(commands) >= 3
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    shown = [line for line in block.splitlines() if line and not line.startswith("$ ")]
    assert shown
    assert [line for line in shown if line not in done.stdout] == []


def test_the_suite_of_the_custom_scorer_needs_permission(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = shutil.copytree(EXAMPLES / "custom-scorer", tmp_path / "custom-scorer")
    done = subprocess.run(
        ["proctor", "run", "suite.yaml", "--answers", "answers.jsonl"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert "--allow-import" in done.stderr


def test_the_reward_of_verl_is_loaded_by_its_path() -> None:
    path = EXAMPLES / "rl" / "verl_reward.py"
    spec = importlib.util.spec_from_file_location("verl_reward", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.grader:
        work = module.compute_score("tasks", "It is Paris.", None, {"case": "capital"})
        assert asyncio.run(work)["score"] == 1.0


@pytest.mark.slow("full")
@pytest.mark.torch
def test_trl_trains_with_the_suite_as_its_reward(tmp_path: Path) -> None:
    """TRL's own trainer, two steps with a tiny model on the CPU."""
    pytest.importorskip("trl")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "rl" / "train_trl.py")],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2 steps, 0% without a score"


@pytest.mark.slow("full")
def test_verifiers_scores_its_tasks_by_the_suite(tmp_path: Path) -> None:
    """The scoring of verifiers itself, on a trace with a reply."""
    pytest.importorskip("verifiers")
    done = subprocess.run(
        [sys.executable, "-c", VERIFIERS],
        cwd=EXAMPLES / "rl",
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1.0", "0.0"]


VERIFIERS = """
import asyncio
from types import SimpleNamespace

from verifiers_tasks import QuizData, QuizTask, QuizTaskset, grader

tasks = QuizTaskset.load(SimpleNamespace(config=SimpleNamespace(task=None)))
assert [task.data.case for task in tasks] == ["capital", "product", "double"]
for reply in ("Paris", "Rome"):
    trace = SimpleNamespace(last_reply=reply, info={})
    (reward,) = [fn for fn in tasks[0].hooks("reward")]
    print(asyncio.run(reward(trace=trace)))
grader.close()
"""
