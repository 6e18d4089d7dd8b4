"""The agents in examples/: one small agent, reached in every way, with the same marks."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.cli import main
from proctor.testing import FakeServer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
SAID = [
    ("17 hens", "CALC: 17 * 6"),
    ("double that", "CALC: 102 * 2"),
    ("91 marbles", "CALC: 91 / 7"),
    ("The result is 102.", "That is 102 eggs a week."),
    ("The result is 204.", "Doubled, that is 204."),
    ("The result is 13.0.", "Each of them gets 13."),
]
MARKS = {"eggs": 1.0, "share": 0.5}


def model(messages: list[Any], _: Any) -> str:
    last = messages[-1]["content"]
    return next(said for words, said in SAID if words in last)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = shutil.copytree(EXAMPLES, tmp_path / "agents")
    monkeypatch.chdir(made)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))  # fmt: skip
    monkeypatch.setattr(sys, "path", [str(made), *sys.path])
    before = set(sys.modules)
    with FakeServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield made
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(made) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "server.py"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code = main._run(["run", "suite.yaml", *arguments, "--json", "--cases"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


def marks(made: Any) -> dict[str, float]:
    return {case["id"]: case["value"] for case in made["cases"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--agent", "python:function:answer"),
        ("--agent", "python:function:answer", "--agent-option", "in_process=true"),
        ("--agent", "python:sessions:Session"),
        ("--agent", "exec:python per_turn.py"),
        ("--agent", "lines.yaml"),
        ("--agent", "recorded:rounds.jsonl"),
    ],
    ids=lambda arguments: " ".join(arguments[1::2]),
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_every_way_comes_to_the_same_marks(
    arguments: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(capsys, *arguments)
    assert marks(made) == MARKS
    main._run(["show", "@last", "eggs"])
    shown = capsys.readouterr().out
    assert "17 * 6" in shown
    assert "calculator" in shown
    if "recorded" not in arguments[1]:
        assert made["usage"]["calls"] == 6
        assert "tape.txt" in shown


def test_over_http_too(folder: Path, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "http.yaml").read_text()
    (folder / "http.yaml").write_text(text.replace("http://127.0.0.1:8462/chat", address))
    made = run(capsys, "--agent", "http.yaml")
    assert marks(made) == MARKS
    assert made["usage"]["calls"] == 6


def test_a_second_run_asks_nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    option = ("--agent-option", "in_process=true")
    run(capsys, "--agent", "python:function:answer", *option)
    (folder / "calculator.py").write_text("raise RuntimeError('it must not be asked')\n")
    assert marks(run(capsys, "--agent", "python:function:answer", *option)) == MARKS
