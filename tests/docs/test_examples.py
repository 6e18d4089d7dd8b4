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

import needs

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


PAGES = sorted(path.name for path in EXAMPLES.iterdir() if path.name != "notebooks")
"""Examples with commands; tests/docs/test_notebooks.py runs the notebooks."""


@pytest.mark.parametrize("name", PAGES)
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


def trained(program: str, tmp_path: Path) -> list[str]:
    """Run a program where the trainers are installed, and return the lines that it prints."""
    files = [path for path in (EXAMPLES / "rl").iterdir() if path.is_file()]
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(
        [needs.TRAINERS, "-c", program],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow("full")
@pytest.mark.trainers
def test_trl_trains_with_the_suite_as_its_reward(tmp_path: Path) -> None:
    """TRL's own trainer, two steps with a tiny model on the CPU."""
    printed = trained("import train_trl; train_trl.main()", tmp_path)
    assert printed[-1] == "2 steps, 0% without a score"


VERIFIERS = """
import asyncio

from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.errors import TaskError
from verifiers.v1.trace import AgentInfo, Trace, TraceTask
from verifiers_tasks import QuizConfig, QuizTaskset, grader

tasks = list(QuizTaskset(QuizConfig()))
print([task.data.case for task in tasks])
for task, reply in (
    (tasks[0], "Paris"), (tasks[0], "Rome"), (tasks[0].with_data(case="none"), "Paris")
):
    trace = Trace(
        task=TraceTask(type="QuizTask", data=task.data),
        agent=AgentInfo(config=AgentConfig()),
        root_reply=reply,
    )
    try:
        asyncio.run(task.score(trace))
        print(trace.reward, trace.info["proctor"]["why"])
    except TaskError as error:
        print(error)
grader.close()
"""


@pytest.mark.slow("full")
@pytest.mark.trainers
def test_verifiers_scores_its_tasks_by_the_suite(tmp_path: Path) -> None:
    """The scoring of verifiers itself: its tasks, and its traces with a reply."""
    cases, good, bad, none = trained(VERIFIERS, tmp_path)
    assert cases == "['capital', 'product', 'double']"
    assert good.strip() == "1.0"
    assert bad == "0.0 contains 0 of 1: does not contain 'Paris'"
    assert "the suite has no case 'none'" in none


VERL = """
import asyncio

import numpy
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn

WORDS = ["", "Paris", "Rome"]


class Tokenizer:
    def decode(self, ids, skip_special_tokens):
        return " ".join(WORDS[number] for number in ids)


def sample(word):
    tensors = {
        "prompts": torch.zeros(1, 2, dtype=torch.long),
        "responses": torch.tensor([[word, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 0]]),
    }
    others = {
        "data_source": "tasks",
        "reward_model": {"ground_truth": None},
        "extra_info": {"case": "capital"},
    }
    others = {name: numpy.array([value], dtype=object) for name, value in others.items()}
    return DataProto.from_dict(tensors=tensors, non_tensors=others)


async def main():
    place = {"path": "verl_reward.py", "name": "compute_score"}
    config = OmegaConf.create({"reward": {"custom_reward_function": place}})
    manager = NaiveRewardManager(config, Tokenizer(), get_custom_reward_fn(config))
    for word in (1, 2):
        done = await manager.run_single(sample(word))
        print(done["reward_score"], done["reward_extra_info"]["why"])


asyncio.run(main())
"""


@pytest.mark.slow("full")
@pytest.mark.trainers
def test_verl_is_given_rewards_by_its_own_manager(tmp_path: Path) -> None:
    """The reward manager of verl, with the function that its configuration names."""
    good, bad = trained(VERL, tmp_path)
    assert good.strip() == "1.0"
    assert bad == "0.0 contains 0 of 1: does not contain 'Paris'"
