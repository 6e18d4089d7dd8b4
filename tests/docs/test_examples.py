"""The examples: each runs as its page says, and comes to the numbers that it should."""

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
