"""Whatever a scorer does to its process costs only its own attempt, and no process stays."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.executor import GradeTask
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.executors.local import LocalExecutor, jobs
from proctor.io.concurrency import run_sync
from waiting import until

HERE = Path(__file__).resolve().parent
STRANGE = Spec(name="strange_scorers:Strange")
CATASTROPHE = Spec(name="matches", params={"pattern": "(a+)+$"})


def task_of(spec: Spec, outputs: list[str], limit: float = 20.0, name: str = "") -> GradeTask:
    criterion = Criterion(id="c", scorer=spec)
    case = Case(id="case", messages=(Message(role="user", content="?"),), criteria=(criterion,))
    return GradeTask(
        case=case,
        criterion=criterion,
        attempts=tuple(Attempt.of("case", output, index=i) for i, output in enumerate(outputs)),
        keys=tuple(f"{name}{i}" for i in range(len(outputs))),
        time_limit=limit,
    )


@pytest.fixture(autouse=True)
def _strange_scorers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


@pytest.fixture
def children() -> Iterator[None]:
    """Fail where a child of this process is left behind."""
    before = _children()
    yield
    assert _children() <= before


def _children() -> set[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [line.split(None, 1) for line in found.stdout.splitlines()]
    return {int(pid) for pid, command in rows if command.strip() != "ps"}


def grade(tasks: list[GradeTask], workers: int = 1) -> dict[str, Score]:
    async def work() -> dict[str, Score]:
        executor = LocalExecutor(workers=workers, allow_import=True)
        try:
            return {key: score async for key, score in executor.grade(tasks)}
        finally:
            await executor.close()

    return run_sync(work())


@pytest.mark.usefixtures("children")
@pytest.mark.slow
def test_a_catastrophic_pattern_costs_its_criterion_alone() -> None:
    bad = "a" * 40 + "b"
    tasks = [
        task_of(CATASTROPHE, ["aaa", bad, "b", bad, "aa"], limit=0.5),
        task_of(Spec(name="contains", params={"texts": ["b"]}), [bad, "x"], name="other"),
    ]
    scores = grade(tasks)
    assert [scores[str(i)].status for i in range(5)] == [
        "scored",
        "failed",
        "scored",
        "failed",
        "scored",
    ]
    assert [scores[str(i)].points for i in (0, 2, 4)] == [1.0, 0.0, 1.0]
    assert "longer than the 0.5 s allowed" in scores["1"].reason
    assert (scores["other0"].points, scores["other1"].points) == (1.0, 0.0)


STRANGE_DEEDS: dict[str, tuple[float | None, str]] = {
    "exit": (None, "ended unexpectedly (7)"),
    "sys.exit": (None, "ended unexpectedly (3)"),
    "segfault": (None, f"ended unexpectedly ({-signal.SIGSEGV})"),
    "raise": (None, "Strange: RuntimeError: no luck"),
    "none": (None, "returned NoneType"),
    "text": (None, "returned str"),
    "nan": (None, "returned nan"),
    "infinite": (None, "returned inf"),
    "nan score": (None, "nan"),
    "text score": (None, "str"),
    "empty score": (None, "no points"),
    "odd detail": (None, "set"),
    "print": (1.0, ""),
    "read": (1.0, ""),
    "half": (0.5, ""),
}


@pytest.mark.usefixtures("children")
@pytest.mark.slow
def test_a_strange_scorer_costs_its_attempt_alone(capfd: pytest.CaptureFixture[str]) -> None:
    outputs = [said for deed in STRANGE_DEEDS for said in ("good", deed, "bad", "good")]
    scores = grade([task_of(STRANGE, outputs)])
    for place, (deed, (points, reason)) in enumerate(STRANGE_DEEDS.items()):
        good, strange, bad, last = (scores[str(4 * place + at)] for at in range(4))
        assert (good.points, bad.points, last.points) == (1.0, 0.0, 1.0), deed
        assert strange.points == points, deed
        assert strange.status == ("failed" if points is None else "scored"), deed
        assert reason in strange.reason
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("children")
@pytest.mark.slow
def test_a_scorer_that_hangs_is_stopped() -> None:
    scores = grade([task_of(STRANGE, ["hang", "good"], limit=0.5)])
    assert (scores["0"].status, scores["1"].points) == ("failed", 1.0)


@pytest.mark.usefixtures("children")
@pytest.mark.slow
def test_many_tasks_on_two_workers() -> None:
    tasks = [
        task_of(
            Spec(name="contains", params={"texts": [str(n)]}),
            [str(m) for m in range(40)],
            name=f"{n}/",
        )
        for n in range(10)
    ]
    scores = grade(tasks, workers=2)
    assert len(scores) == 400
    for n in range(10):
        got = [scores[f"{n}/{m}"].points for m in range(40)]
        assert got == [float(str(n) in str(m)) for m in range(40)]


@pytest.mark.usefixtures("children")
@pytest.mark.slow
def test_closing_while_busy_leaves_no_process() -> None:
    async def work() -> int:
        executor = LocalExecutor(workers=2, allow_import=True)
        tasks = [task_of(STRANGE, ["hang"], limit=100, name=str(n)) for n in range(4)]
        tasks.insert(0, task_of(STRANGE, ["good"] * 64, name="first"))
        seen = 0
        scores: Any = executor.grade(tasks)
        async for _ in scores:
            seen += 1
            if seen == 64:
                break
        await scores.aclose()
        await executor.close()
        return seen

    assert run_sync(work()) == 64


@pytest.mark.slow
@pytest.mark.usefixtures("children")
def test_cancelling_leaves_no_process() -> None:
    async def work() -> None:
        executor = LocalExecutor(workers=1, allow_import=True)

        async def all_of_it() -> None:
            async for _ in executor.grade([task_of(STRANGE, ["hang"], limit=100)]):
                pass

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(all_of_it(), 1.5)
        await executor.close()

    run_sync(work())


def test_texts_that_are_not_unicode_are_judged() -> None:
    spec = Spec(name="contains", params={"texts": ["\ud83d"]})
    scores = grade([task_of(spec, ["half \ud83d pair", "none"])])
    assert [scores[k].points for k in "01"] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([3], [3]),
        ([4], [4]),
        ([5], [4, 1]),
        ([1, 1, 1, 1, 1], [4, 1]),
        ([10], [4, 4, 2]),
        ([0, 2], [2]),
        ([], []),
    ],
)
def test_jobs_have_about_the_same_size(sizes: list[int], expected: list[int]) -> None:
    tasks = [task_of(STRANGE, ["x"] * size, name=f"{n}/") for n, size in enumerate(sizes)]
    made = list(jobs(tasks, size=4))
    assert [len(job.keys) for job in made] == expected
    assert [key for job in made for key in job.keys] == [key for task in tasks for key in task.keys]


PARENT = """
import asyncio, sys
sys.path[:0] = {tests!r}
from test_local_executor import LocalExecutor, STRANGE, task_of

async def main():
    executor = LocalExecutor(workers=2, allow_import=True)
    tasks = [task_of(STRANGE, ["hang"] * 64, limit=100, name=str(n)) for n in range(2)]
    async def grade():
        async for _ in executor.grade(tasks):
            pass
    work = asyncio.ensure_future(grade())
    while len(executor._workers) < 2:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    print(*[worker.process.pid for worker in executor._workers], flush=True)
    await work

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_killed_parent_leaves_no_worker() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(tests=[str(HERE), str(HERE.parent)])],
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2
        parent.kill()
    until(lambda: not any(_alive(pid) for pid in workers))


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
