"""The GitHub action: the script behind it with GitHub's variables, and the files that call it."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.io.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".github" / "examine.sh"
SUITE = """\
name: sums
cases:
  - {id: a, ask: 1 + 1, criteria: {number: 2}}
  - {id: b, ask: 2 + 2, criteria: {number: 4}}
"""
RIGHT = '{"case": "a", "output": "2"}\n{"case": "b", "output": "4"}\n'
WRONG = '{"case": "a", "output": "2"}\n{"case": "b", "output": "5"}\n'


@dataclass
class Build:
    """Builds of a repository, one after the other, that share a store."""

    folder: Path
    program: str

    def __call__(self, code: int = 0, **settings: str) -> dict[str, str]:
        """Run the script, and return its outputs, with the summary and what it printed."""
        written = {name: self.folder / name for name in ("output", "step-summary")}
        for path in written.values():
            path.unlink(missing_ok=True)
        keep = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GITHUB", "PROCTOR", "CI_"))
        }
        env = {
            **keep,
            "PATH": f"{Path(self.program).parent}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(written["output"]),
            "GITHUB_STEP_SUMMARY": str(written["step-summary"]),
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_REF_NAME": "main",
            "GITHUB_REPOSITORY": "somebody/shop",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": "17",
            "PROCTOR_SUITE": "suite.yaml",
            "PROCTOR_ARGS": "--answers answers.jsonl",
            **settings,
        }
        done = subprocess.run(
            ["bash", str(SCRIPT)],
            cwd=self.folder, env=env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, (done.stdout[-2000:], done.stderr[-2000:])
        lines = written["output"].read_text(encoding="utf-8").splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        outputs["step-summary"] = written["step-summary"].read_text(encoding="utf-8")
        return {**outputs, "printed": done.stdout + done.stderr}

    def answers(self, text: str) -> None:
        (self.folder / "answers.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def build(tmp_path: Path, proctor: str) -> Build:
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    made = Build(tmp_path, proctor)
    made.answers(RIGHT)
    return made


PULL = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF_NAME": "7/merge"}
GATES = "rate >= 0.2\n\nagainst.to_wrong == 0\n"


@pytest.mark.slow
def test_a_pull_request_is_compared_with_the_main_branch(build: Build) -> None:
    first = build(PROCTOR_GATES=GATES)
    assert (first["result"], first["rate"], first["verdict"]) == ("passed", "1.0000", "none")
    assert "the suite 'sums' has no baseline yet" in first["printed"]
    build.answers(WRONG)
    pulled = build(1, PROCTOR_GATES=GATES, **PULL)
    assert (pulled["result"], pulled["exit-code"], pulled["rate"]) == ("missed", "1", "0.5000")
    assert pulled["verdict"] == "unclear"
    summary = pulled["step-summary"]
    assert "- gate **missed**: `against.to_wrong == 0`" in summary
    assert "| `b` | 1 | 0 | 1 |" in summary
    assert "[Build](<https://github.com/somebody/shop/actions/runs/17>)" in summary
    report = build.folder / pulled["report"]
    names = {path.name for path in report.iterdir()}
    assert names == {"junit.xml", "report.html", "run.json", "summary.md"}
    # A pull request and a failing build leave the baseline where it was.
    again = build(1, PROCTOR_GATES=GATES)
    assert "`b` | 1 | 0" in again["step-summary"]
    build.answers(RIGHT)
    assert build(PROCTOR_GATES=GATES, **PULL)["result"] == "passed"


@pytest.mark.slow
def test_a_main_branch_of_another_name(build: Build) -> None:
    master = {"GITHUB_REF_NAME": "", "CI_COMMIT_BRANCH": "master"}
    first = build(**master)
    assert "no baseline is pinned: this is the branch 'master'" in first["printed"]
    assert "no baseline is pinned" not in build(**master, CI_DEFAULT_BRANCH="master")["printed"]
    assert "has no baseline yet" not in build(**master, PROCTOR_MAIN="master")["printed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "code", "result", "said"),
    [
        ({"PROCTOR_SUITE": "absent.yaml"}, 2, "refused", "absent.yaml"),
        ({"PROCTOR_GATES": "rte >= 1"}, 2, "refused", "unknown name 'rte'"),
        ({"PROCTOR_BASELINE": "absent.jsonl"}, 0, "passed", "absent.jsonl is not there"),
        ({"PROCTOR_ARGS": "--answers answers.jsonl --name 'two words'"}, 0, "passed", "two words"),
    ],
)
def test_other_ends(
    build: Build, settings: dict[str, str], code: int, result: str, said: str
) -> None:
    made = build(code, **settings)
    assert made["result"] == result
    assert said in made["printed"]
    assert made["step-summary"].startswith("## Proctor\n")


def document(name: str) -> Any:
    return read_yaml(ROOT / name).data


def test_the_action_passes_every_setting_that_the_script_reads() -> None:
    read = set(re.findall(r"\$\{(PROCTOR_\w+)", SCRIPT.read_text(encoding="utf-8")))
    action = document("action.yml")
    steps = action["runs"]["steps"]
    (step,) = [step for step in steps if step.get("id") == "examine"]
    assert {name for name in step["env"] if name.startswith("PROCTOR_")} == read
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    written = set(re.findall(r'echo "([\w-]+)=', SCRIPT.read_text(encoding="utf-8")))
    assert set(action["outputs"]) <= written


def test_what_a_workflow_is_given_is_never_part_of_a_command() -> None:
    """A title of a pull request or a name of a branch must not become shell."""
    for name in ("action.yml", ".github/workflows/proctor.yml"):
        for command in commands(document(name)):
            assert "${{" not in command, (name, command)


def commands(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["run"]] if isinstance(value.get("run"), str) else []
        return own + [found for inner in value.values() for found in commands(inner)]
    return (
        [found for inner in value for found in commands(inner)] if isinstance(value, list) else []
    )


def test_the_workflow_calls_the_action_with_inputs_that_it_has() -> None:
    workflow, action = document(".github/workflows/proctor.yml"), document("action.yml")
    (call,) = [
        step
        for step in workflow["jobs"]["examine"]["steps"]
        if step.get("uses") == "./.proctor-action"
    ]
    assert set(call["with"]) <= set(action["inputs"])
    assert set(workflow["jobs"]["examine"]["outputs"]) <= set(action["outputs"])
    offered = {**workflow}.get("on", {}).get("workflow_call", {})
    used = set(re.findall(r"inputs\.([\w-]+)", str(workflow)))
    assert used == set(offered["inputs"])
