"""Thirty tasks with planted faults are found, and ten sound ones are not accused."""

import asyncio
import shutil
from pathlib import Path

import pytest

from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.check.task_trials import ExaminedTask, examined
from proctor.engine.run.scorer_pool import Scorers
from proctor.formats.harbor.reader import Harbor
from proctor.sandboxes.own_root import TaskBubblewrap

pytestmark = pytest.mark.sandbox
TASKS = Path(__file__).parents[2] / "data" / "harbor"
REWARD = "{ if %s; then echo 1; else echo 0; fi; } >/logs/verifier/reward.txt\n"
SOLVED = '[ "$(cat out.txt)" = 42 ]'
GOOD = "echo 42 >out.txt\n"
FETCH = "timeout 5 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' || exit 1\n"
HUNGRY = "python3 -c 'x = bytearray(%d * 2**20); x[::4096] = b\"1\" * len(x[::4096])' || exit 1\n"
# test.sh, solve.sh, a part of what is said, and files of the environment and limits.
FAULTS: dict[str, tuple[str, str, str, dict[str, str], str]] = {
    "wrong number": (REWARD % SOLVED, "echo 41 >out.txt\n", "gets 0 of 1", {}, ""),
    "wrong file": (REWARD % SOLVED, "echo 42 >result.txt\n", "gets 0 of 1", {}, ""),
    "wrong folder": (REWARD % SOLVED, "cd /tmp; echo 42 >out.txt\n", "gets 0 of 1", {}, ""),
    "solution has a mistake": (REWARD % SOLVED, "ehco 42 >out.txt\n", "gets 0 of 1", {}, ""),
    "solution is empty": (REWARD % SOLVED, "", "gets 0 of 1", {}, ""),
    "tests look elsewhere": (REWARD % "[ -f /data/out.txt ]", GOOD, "gets 0 of 1", {}, ""),
    "half of the reward": ("echo 0.5 >/logs/verifier/reward.txt\n", GOOD, "gets 0.5 of 1", {}, ""),
    "one of two rewards": (
        'echo "{\\"a\\": 1, \\"b\\": 0}" >/logs/verifier/reward.json\n', GOOD, "gets 0.5 of 1", {},
        "",
    ),
    "always full": ("echo 1 >/logs/verifier/reward.txt\n", GOOD, "doing nothing gets 1", {}, ""),
    "an empty assertion": (REWARD % "true", GOOD, "doing nothing gets 1", {}, ""),
    "already solved": (REWARD % SOLVED, GOOD, "doing nothing gets 1", {"out.txt": "42\n"}, ""),
    "looks for what is there": (REWARD % "[ -d /app ]", GOOD, "doing nothing gets 1", {}, ""),
    "a bonus for nothing": (
        "s=0.2; grep -qs 42 out.txt && s=1; echo $s >/logs/verifier/reward.txt\n", GOOD,
        "doing nothing gets 0.2", {}, "",
    ),
    "passes unless wrong": (
        REWARD % '[ ! -f out.txt ] || [ "$(cat out.txt)" = 42 ]', GOOD, "doing nothing gets 1", {},
        "",
    ),
    "no reward": ("grep -q 42 out.txt\n", GOOD, "gave no reward", {}, ""),
    "reward elsewhere": ("echo 1 >/logs/reward.txt\n", GOOD, "gave no reward", {}, ""),
    "reward only if passed": (
        "grep -qs 42 out.txt && echo 1 >/logs/verifier/reward.txt\n", GOOD,
        "doing nothing cannot be scored", {}, "",
    ),
    "reward is a word": ("echo passed >/logs/verifier/reward.txt\n", GOOD, "cannot be read", {}, ""),
    "tests hang": ("sleep 60\n", GOOD, "passed the limit on time", {}, "tests 1"),
    "flaky solution": (
        REWARD % SOLVED, "[ $((RANDOM % 64)) = 0 ] && echo 42 >out.txt\n", "reference solution", {},
        "",
    ),
    "flaky tests": (
        REWARD % f"{SOLVED} && [ $((RANDOM % 64)) = 0 ]", GOOD, "reference solution", {}, "",
    ),
    "solution fetches": (REWARD % SOLVED, FETCH + GOOD, "gets 0 of 1", {}, ""),
    "tests fetch": (FETCH + REWARD % SOLVED, GOOD, "gave no reward", {}, ""),
    "installs what is not there": (
        "pip install nosuchpackage\n" + REWARD % "python3 -c 'import nosuchpackage'", GOOD,
        "gets 0 of 1", {}, "",
    ),
    "leaves a server": (
        REWARD % "(exec 3<>/dev/tcp/127.0.0.1/8123) 2>/dev/null",
        "python3 -m http.server 8123 >/dev/null 2>&1 &\nsleep 0.5\n", "gets 0 of 1", {}, "",
    ),
    "copies the reward": (
        "echo 0 >/logs/verifier/reward.txt; cp reward.txt /logs/verifier/ 2>/dev/null\n",
        "echo 1 >reward.txt\n", "planted gets 1", {}, "",
    ),
    "trusts the agent's checks": (
        REWARD % "bash check.sh", GOOD, "emptying the files that the tests use gets 1",
        {"check.sh": f"{SOLVED}\n"}, "",
    ),
    "trusts a module of the agent": (
        REWARD % "python3 verify.py", GOOD, "emptying the files that the tests use gets 1",
        {"verify.py": "import sys\nsys.exit(open('out.txt').read() != '42\\n')\n"}, "",
    ),
    "little memory": (
        REWARD % SOLVED, HUNGRY % 60 + GOOD, "with half the memory", {}, "memory 96",
    ),
    "little time": (REWARD % SOLVED, "sleep 2.5\n" + GOOD, "with half the time", {}, "agent 4"),
}  # fmt: skip


def written(folder: Path, name: str) -> Path:
    """Write the task of a planted fault."""
    tests, solution, _, files, limit = FAULTS[name]
    what, _, number = limit.partition(" ")
    task = folder / name.replace(" ", "-").replace("'", "")
    for part in ("tests", "solution", "environment"):
        (task / part).mkdir(parents=True)
    limits = {"tests": 30, "agent": 30, "memory": 512} | ({what: int(number)} if what else {})
    (task / "task.toml").write_text(
        'schema_version = "1.4"\n'
        f"[agent]\ntimeout_sec = {limits['agent']}\n[verifier]\ntimeout_sec = {limits['tests']}\n"
        f'[environment]\nmemory_mb = {limits["memory"]}\nnetwork_mode = "no-network"\n'
    )
    (task / "instruction.md").write_text("Write 42 to out.txt.\n")
    (task / "tests" / "test.sh").write_text(tests)
    (task / "solution" / "solve.sh").write_text(solution)
    (task / "environment" / "Dockerfile").write_text("FROM debian:12\nWORKDIR /app\nCOPY . .\n")
    (task / "environment" / "README.txt").write_text("nothing\n")
    for file, text in files.items():
        (task / "environment" / file).write_text(text)
    return task


def examine(suite: Suite, repeats: int = 2) -> list[ExaminedTask]:
    async def held() -> list[ExaminedTask]:
        sandbox = TaskBubblewrap()
        try:
            return await examined(suite, Scorers(), sandbox, repeats)
        finally:
            await sandbox.close()

    return asyncio.run(held())


@pytest.mark.slow("full")
def test_planted_faults_are_found(tmp_path: Path) -> None:
    assert len(FAULTS) == 30
    places = {written(tmp_path, name).name: name for name in FAULTS}
    tasks = examine(Harbor().read(tmp_path).suite)
    missed = []
    for task in tasks:
        name = places[task.case.id]
        said = "; ".join(one.message for one in task.suspicions)
        if FAULTS[name][2] not in said:
            missed.append((name, said))
    assert len(missed) <= 3, missed
    assert not [name for name, said in missed if not said]
    weights = [task.weight for task in tasks]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.slow("full")
def test_sound_tasks_are_not_accused() -> None:
    tasks = examine(Harbor().read(TASKS).suite)
    assert {task.case.id: task.suspicions for task in tasks} == {
        path.name: [] for path in TASKS.iterdir()
    }


SOME = (
    "wrong number", "half of the reward", "always full", "already solved", "no reward",
    "reward is a word", "tests fetch", "leaves a server", "copies the reward",
    "trusts the agent's checks",
)  # fmt: skip
"""A third of them, one of each kind that does not depend on how fast the machine is."""


@pytest.mark.slow
def test_some_planted_faults_are_found(tmp_path: Path) -> None:
    places = {written(tmp_path, name).name: name for name in SOME}
    tasks = examine(Harbor().read(tmp_path).suite, repeats=1)
    said = {
        places[task.case.id]: "; ".join(one.message for one in task.suspicions) for task in tasks
    }
    assert len(said) == len(SOME)
    assert {name: words for name, words in said.items() if FAULTS[name][2] not in words} == {}


@pytest.mark.slow
def test_some_sound_tasks_are_not_accused(tmp_path: Path) -> None:
    for name in ("greeting", "rewards", "separate"):
        shutil.copytree(TASKS / name, tmp_path / name)
    tasks = examine(Harbor().read(tmp_path).suite, repeats=1)
    assert [task.suspicions for task in tasks] == [[], [], []]


@pytest.mark.slow
def test_one_fault(tmp_path: Path) -> None:
    written(tmp_path, "always full")
    (task,) = examine(Harbor().read(tmp_path).suite, repeats=1)
    assert task.trials["solution"] == "1/1"
    assert task.trials["nothing"] == "1"
    assert [one.message for one in task.suspicions] == ["doing nothing gets 1 of 1"]
    (problem,) = task.problems()
    assert (problem.severity, problem.about) == ("warning", "case 'always-full'")


@pytest.mark.slow
def test_a_task_without_a_solution(tmp_path: Path) -> None:
    shutil.rmtree(written(tmp_path, "always full") / "solution")
    (task,) = examine(Harbor().read(tmp_path).suite, repeats=1)
    assert task.suspicions[0].message == "there is no reference solution"


@pytest.mark.parametrize(
    ("tests", "reference", "said"),
    [
        ("assert double(2) == 4", "def double(x):\n    return 2 * x", []),
        ("assert double(2) == 4", "def double(x):\n    return x", ["the reference does not pass"]),
        ("assert True", "def double(x):\n    return 2 * x", ["the empty answer gets 1 of 1"]),
    ],
)
def test_suites_of_unit_tests(tests: str, reference: str, said: list[str]) -> None:
    spec = Spec(name="unit_tests", params={"lang": "python", "tests": [{"content": tests}]})
    case = Case(
        id="double", messages=(Message(role="user", content="Double."),),
        criteria=(Criterion(id="tests", scorer=spec),), references=(f"```python\n{reference}\n```",),
    )  # fmt: skip
    (task,) = examine(Suite(name="s", cases=(case,)), repeats=1)
    assert [one.message.partition(":")[0] for one in task.suspicions] == said
