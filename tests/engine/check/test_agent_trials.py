"""Cases for agents with planted faults are found, and sound ones are not accused."""

import asyncio
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from level import LEVEL
from proctor.cli.main import _run
from proctor.core.suite import Suite
from proctor.engine.check.task_trials import examined, to_try
from proctor.engine.check.trial_outcome import ExaminedTask
from proctor.engine.run.scorer_pool import Scorers
from proctor.formats.native.dialect import Native
from proctor.sandboxes.own_root import TaskBubblewrap

pytestmark = pytest.mark.sandbox
CALC = "def add(a, b):\n    return a - b\n"
TESTS = "from calc import add\n\nassert add(0, 0) == 0\n"
MEND = "sed -i 's/a - b/a + b/' calc.py"
MENDED = 'import runpy\nassert runpy.run_path("calc.py")["add"](2, 3) == 5'
RUN = (
    "import subprocess, sys\nassert subprocess.run([sys.executable, 'test_sum.py']).returncode == 0"
)
SUM = "from calc import add\n\nassert add(1, 2) == 3\n"
# What scores the files, the solution, and a part of what is said.
FAULTS: dict[str, tuple[list[Any], str, str]] = {
    "solution does nothing": ([{"eval_code": MENDED}], "true", "the solution gets 0 of 1"),
    "solution is wrong": (
        [{"eval_code": MENDED}], "sed -i 's/a - b/a * b/' calc.py", "the solution gets 0 of 1",
    ),
    "solution touches the tests": (
        [{"eval_code": MENDED}, {"files_changed": {"files": "calc.py", "never": "test_*"}}],
        f"{MEND}; echo >>test_calc.py", "the solution gets 0.5 of 1",
    ),
    "solution breaks tests": (
        [{"eval_code": MENDED}, {"no_new_failures": {"command": "python3 test_calc.py"}}],
        f"{MEND}; echo 'raise SystemExit(1)' >>test_calc.py", "the solution gets 0.5 of 1",
    ),
    "solution by chance": (
        [{"eval_code": MENDED}], f"[ $((RANDOM % 64)) = 0 ] && {MEND}", "the solution",
    ),
    "nothing is asked for": (
        [{"no_new_failures": {"command": "python3 test_calc.py"}}], MEND, "doing nothing gets 1",
    ),
    "already so": ([{"eval_code": 'assert open("calc.py").read()'}], MEND, "doing nothing gets 1"),
    "only what must not change": (
        [{"files_changed": {"never": "test_*"}}], MEND, "doing nothing gets 1",
    ),
    "trusts the agent's tests": ([{"eval_code": RUN}], MEND, "emptying the tests gets 1"),
    "trusts a file": (
        [{"eval_code": 'import json\nassert json.load(open("result.json"))["passed"]'}],
        "echo '{\"passed\": true}' >result.json", "planting results that nothing stands behind",
    ),
    "trusts a report": (
        [{"eval_code": 'assert "failures=\\"0\\"" in open("report.xml").read()'}],
        "echo '<testsuite failures=\"0\"/>' >report.xml", "planting results",
    ),
    "little time": (
        [{"eval_code": {"code": f"import time\ntime.sleep(4)\n{MENDED}", "timeout": 6}}], MEND,
        "with half the time the solution gets 0",
    ),
}  # fmt: skip
SOUND: dict[str, tuple[list[Any], str]] = {
    "a function that works": ([{"eval_code": MENDED}], MEND),
    "with a guard": (
        [{"eval_code": MENDED}, {"no_new_failures": {"command": "python3 test_calc.py"}}], MEND,
    ),
    "the right file": ([{"files_changed": {"files": "calc.py", "only": "calc.py"}}], MEND),
    "a new file": ([{"eval_code": 'assert open("sum.txt").read() == "5\\n"'}], "echo 5 >sum.txt"),
    "without a solution": ([{"eval_code": MENDED}], ""),
    "what was said counts too": (
        [{"contains": "mended"}, {"no_new_failures": {"command": "python3 test_calc.py"}}], MEND,
    ),
}  # fmt: skip


def suite_of(folder: Path, cases: dict[str, tuple[list[Any], str]]) -> Path:
    """Write cases for agents, each with the files of a small repository."""
    for name, text in (("calc.py", CALC), ("test_calc.py", TESTS), ("test_sum.py", SUM)):
        (folder / name).write_text(text)
    written = [
        {
            "id": name,
            "ask": "Mend it.",
            "files": ["calc.py", "test_calc.py", "test_sum.py"],
            "criteria": criteria,
            **({"solution": solution} if solution else {}),
        }
        for name, (criteria, solution) in cases.items()
    ]
    path = folder / "fixes.yaml"
    path.write_text(json.dumps({"name": "fixes", "cases": written}))
    return path


def examine(suite: Suite, repeats: int = 2) -> list[ExaminedTask]:
    async def in_sandbox() -> list[ExaminedTask]:
        sandbox = TaskBubblewrap()
        try:
            return await examined(suite, Scorers(), sandbox, repeats)
        finally:
            await sandbox.close()

    return asyncio.run(in_sandbox())


def read(path: Path) -> Suite:
    return Native().read(path).suite


@pytest.mark.slow
@pytest.mark.scaled
def test_planted_faults_are_found(tmp_path: Path) -> None:
    faults = dict(islice(FAULTS.items(), 0, None, 1 if LEVEL.full else 2))
    cases = {name: (criteria, solution) for name, (criteria, solution, _) in faults.items()}
    tasks = examine(read(suite_of(tmp_path, cases)))
    said = {task.case.id: "; ".join(one.message for one in task.suspicions) for task in tasks}
    assert [(name, said[name]) for name in faults if faults[name][2] not in said[name]] == []
    weights = [task.weight for task in tasks]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.slow
def test_sound_cases_are_not_accused(tmp_path: Path) -> None:
    tasks = examine(read(suite_of(tmp_path, SOUND)))
    assert {task.case.id: task.suspicions for task in tasks} == {name: [] for name in SOUND}
    rows = {task.case.id: task.trials for task in tasks}
    assert rows["a function that works"] == {
        "solution": "2/2", "half the time": "1", "nothing": "0", "edited tests": "0",
        "forged results": "0",
    }  # fmt: skip
    assert rows["without a solution"]["solution"] == "none"


def test_one_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = {
        "trusts": (FAULTS["trusts a file"][0], FAULTS["trusts a file"][1]),
        "sound": SOUND["a new file"],
    }
    path = suite_of(tmp_path, cases)
    assert _run(["check", str(path), "--deep", "--repeats", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["case"] for row in report["trials"]] == ["trusts", "sound"]
    assert report["trials"][0]["forged results"] == "1"
    (warning,) = [one for one in report["problems"] if one["severity"] == "warning"]
    assert "planting results that nothing stands behind gets 1 of 1" in warning["message"]


def test_a_solution_in_a_file_for_each_turn(tmp_path: Path) -> None:
    (tmp_path / "first.sh").write_text("echo 1 >count.txt\n")
    (tmp_path / "steps.yaml").write_text(
        "name: steps\n"
        "cases:\n"
        "  - id: count\n"
        "    ask: Write 1 to count.txt.\n"
        "    dialogue: {scripted: {then: [Write 2 to it.]}}\n"
        "    solution: [{file: first.sh}, echo 2 >count.txt]\n"
        "    criteria:\n"
        '      - {turn: 1, eval_code: \'assert open("count.txt").read() == "1\\n"\'}\n'
        '      - {turn: 2, eval_code: \'assert open("count.txt").read() == "2\\n"\'}\n'
    )
    suite = read(tmp_path / "steps.yaml")
    assert suite.cases[0].hidden["solutions"][1] == {"solve.sh": "echo 2 >count.txt"}
    (task,) = examine(suite, repeats=1)
    assert task.trials["solution"] == "1/1"
    assert not task.suspicions


def test_cases_that_look_at_words_alone_are_not_tried(tmp_path: Path) -> None:
    said = 'assert "5" in agent_response["post_list"][-1]["message"]'
    suite = read(suite_of(tmp_path, {"said": ([{"eval_code": said}], "")}))
    assert not to_try(suite, Scorers())
