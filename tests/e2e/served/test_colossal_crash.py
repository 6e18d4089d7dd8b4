"""Two models, three categories, ratings, metrics and a battle: killed, resumed, the same numbers."""

import json
import random
import subprocess
import time
from math import log
from typing import Any

import pytest

from level import LEVEL
from proctor.testing import FakeServer
from proctor.testing.replies import Answer, all_text
from waiting import PATIENCE

KILLS = LEVEL.of(quick=1, ci=2, full=2)
GRACE = 10.0
"""Seconds: on a busy machine a client may have no turn for so long."""
CONCURRENCY = 8
CATEGORIES = ("brainstorming", "closed_qa", "summarization")
CONFIG = {
    "language": "en",
    "target_file": "targets.json",
    "category": {
        "brainstorming": {"GPT": ["relevance", "creativity"], "Metrics": ["Distinct"]},
        "closed_qa": {"GPT": ["correctness"], "Metrics": ["BLEU", "ROUGE", "CHRF", "F1 score"]},
        "summarization": {"GPT": ["conciseness", "correctness"], "Metrics": ["ROUGE"]},
    },
}
CASES = 24
RATINGS = 2 * CASES * 5 // 3


def judge(messages: list[Any], body: Any) -> Any:
    text = all_text(messages)
    if body.get("logprobs"):
        four = 0.9 if "Creativity" in text else 0.6
        return Answer("4", logprobs={"4": log(four), "5": log(1 - four)})
    first = text.index("<<answer_1")
    marks = (8, 4) if "right-" in text[first : text.index("<<answer_2")] else (4, 8)
    return json.dumps({"reason": "r", "score_1": marks[0], "score_2": marks[1]})


def records(word: str) -> list[dict[str, Any]]:
    return [
        {
            "category": CATEGORIES[number % 3], "instruction": f"Question {number}?", "input": "",
            "output": f"{word}answer {number}", "target": f"right-answer {number}", "id": number,
        }
        for number in range(CASES)
    ]  # fmt: skip


@pytest.fixture
def examined(cli: Any) -> Any:
    for name, value in (("config", CONFIG), ("targets", records("")), ("a", records("right-")),
                        ("b", records("wrong-"))):  # fmt: skip
        cli.write(f"{name}.json", json.dumps(value))
    return cli


def args(server: FakeServer, store: str) -> list[str]:
    return [
        "colossal", "--config_file", "config.json", "--answer_file_list", "a.json", "b.json",
        "--model_name_list", "one", "two", "--evaluate", "--judge", f"openai:j@{server.url}",
        "--store", store, "--json", "--concurrency", str(CONCURRENCY),
    ]  # fmt: skip


def numbers(made: Any) -> Any:
    runs = [{part: run[part] for part in ("totals", "measures")} for run in made["runs"]]
    return runs, made["pairs"]


@pytest.mark.slow
def test_killed_and_resumed(examined: Any) -> None:
    with FakeServer(judge) as calm:
        done = examined.start(*args(calm, "calm.db"))
        assert done.returncode == 0, done.stderr[-3000:]
    wanted = numbers(json.loads(done.stdout))
    assert len(calm.calls) == len(calm.counts()) == RATINGS + 2 * CASES
    assert wanted[1][0]["win"] == CASES
    chance = random.Random(5)
    kills: list[float] = []
    with FakeServer(judge, latency=(0.0, 0.2)) as server:
        while True:
            process = subprocess.Popen(
                examined.command(*args(server, "killed.db")), cwd=examined.folder,
                env=examined.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            with process:
                goal = len(server.calls) + chance.randrange(10, len(calm.calls) // (KILLS + 1))
                until = time.monotonic() + PATIENCE
                while len(kills) < KILLS and process.poll() is None and time.monotonic() < until:
                    if len(server.calls) >= goal:
                        process.kill()
                        process.wait()
                        kills.append(time.monotonic())
                        break
                    time.sleep(0.002)
                out, err = process.communicate(timeout=3 * PATIENCE)
            if process.returncode >= 0:
                assert process.returncode == 0, err[-3000:]
                break
    assert len(kills) == KILLS
    assert numbers(json.loads(out)) == wanted
    assert len(server.counts()) == len(calm.calls)
    assert server.finished_twice(kills=kills, grace=GRACE) == []
    # A quarter more attempts are begun than calls allowed; each may lose one call to a kill.
    assert len(server.calls) - len(server.counts()) <= KILLS * CONCURRENCY * 1.25
