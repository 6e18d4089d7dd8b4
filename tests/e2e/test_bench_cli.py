"""The command ``proctor bench``: a folder of Arthur Bench read once, and the pages served."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from waiting import PATIENCE

RUN = "5a3fd1d1-55b5-4a3e-8a3c-1e1f7a1b9c22"


def kept(root: Path, *runs: str) -> Path:
    """Write a folder as Arthur Bench does, with a run of each name."""
    folder = root / "quiz"
    folder.mkdir(parents=True, exist_ok=True)
    cases = [{"id": RUN, "input": "q", "reference_output": "a"}]
    suite = {"id": RUN, "name": "quiz", "scoring_method": "exact_match", "test_cases": cases}
    (folder / "suite.json").write_text(json.dumps(suite))
    for number, name in enumerate(runs):
        (folder / name).mkdir(exist_ok=True)
        output = {"id": RUN, "output": "a", "score": 1.0}
        run = {"id": f"{number}{RUN[1:]}", "name": name, "test_cases": [output]}
        (folder / name / "run.json").write_text(json.dumps(run))
    return root


@contextmanager
def served(folder: Path, *more: str) -> Iterator[list[str]]:
    """Start the server; give what it says up to its address, and see it end in order."""
    command = [sys.executable, "-m", "proctor.cli.main", "bench", "--port", "0", *more]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line.strip())
            if line.startswith("http"):
                break
        try:
            yield said
        finally:
            process.send_signal(signal.SIGINT)
            _, trouble = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in trouble


@pytest.mark.slow
def test_what_is_new_is_read_and_said_and_served(tmp_path: Path) -> None:
    kept(tmp_path / "bench_runs", "first")
    with served(tmp_path) as said:
        assert said[0] == "quiz: 1 new run"
        assert said[1].startswith("first (")
        with urlopen(f"{said[-1]}api/v3/bench/test_suites") as answer:
            (suite,) = json.load(answer)["test_suites"]
        assert suite["name"] == "quiz"
        with urlopen(f"{said[-1]}") as answer:
            assert answer.read().startswith(b"<!doctype html>")
    kept(tmp_path / "bench_runs", "first", "second")
    with served(tmp_path, "--directory", "bench_runs") as said:
        assert said[0] == "quiz: 1 new run, 1 there already"
        with urlopen(f"{said[-1]}api/v3/bench/test_suites/{suite['id']}/runs") as answer:
            assert [run["name"] for run in json.load(answer)["test_runs"]] == ["first", "second"]


@pytest.mark.slow
def test_without_a_folder_the_store_is_served(tmp_path: Path) -> None:
    with served(tmp_path) as said:
        assert len(said) == 1
        with urlopen(f"{said[-1]}api/v3/bench/test_suites") as answer:
            assert json.load(answer)["total_count"] == 0


@pytest.mark.slow
def test_nothing_is_ever_pushed(tmp_path: Path) -> None:
    for flag in ("--enable_push_usage_data", "--disable_push_usage_data"):
        command = [sys.executable, "-m", "proctor.cli.main", "bench", flag]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "no usage data are sent" in done.stdout
        assert list(tmp_path.iterdir()) == []
