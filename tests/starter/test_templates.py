"""The templates of `proctor init`: what each page says to do works as written, without a key."""

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.cli.init import TEMPLATES

FOLDER = Path(str(files("proctor.starter"))) / "templates"
# What comes out: a template shows a right answer, and one that is wrong for a reason to look at.
RATES = {
    "agent": "100.00%",
    "chat": "83.33%",
    "code": "66.67%",
    "judge": "66.67%",
    "rag": "66.67%",
    "tools": "87.50%",
}
SANDBOXED = ("agent", "code")


def test_every_template_is_offered() -> None:
    there = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
    assert there == sorted(TEMPLATES) == sorted(RATES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.sandbox] if name in SANDBOXED else [])
        for name in RATES
    ],
)
def test_the_commands_of_its_page_work(name: str, tmp_path: Path, proctor: str) -> None:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PROCTOR")},
        "PATH": f"{Path(proctor).parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OPENAI_API_KEY": "",
    }

    def call(command: str, folder: Path) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        again = "; if the judge's prompt has changed: python tests/starter/record_judge.py"
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}{again}"
        return done.stdout

    said = call(f"proctor init mine --template {name}", tmp_path)
    assert "  cd mine\n" in said
    commands = said.split("next:\n")[1].split("\n")
    commands = [line.strip() for line in commands if line.strip().startswith("proctor ")]
    page = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert all(f"\n{command}\n" in page for command in commands)
    printed = [call(command, tmp_path / "mine") for command in commands]
    assert len(printed) >= 2
    run = next(text for text in printed if "Overall" in text)
    assert re.search(rf"Overall .* {re.escape(RATES[name])} ", run)
    assert call("proctor check suite.yaml", tmp_path / "mine").endswith(" 0 errors\n")


def test_an_unknown_template_is_refused(tmp_path: Path, proctor: str) -> None:
    done = subprocess.run(
        [proctor, "init", "--template", "poem"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "'judge'" in done.stderr
    assert list(tmp_path.iterdir()) == []
