"""Shares of a run on a cluster: nodes that are lost, late, or lack the files."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import pytest
from tests.engine.bulk.conftest import Run, assert_same_parts, simple_rows, write_rows

from proctor.contracts.executor import Executor, GradeTask
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.engine.bulk import reach, worker_process
from proctor.engine.run import evaluate
from proctor.io import json_bytes
from proctor.io.message_process import ServingModule

pytestmark = pytest.mark.usefixtures("here")
RAY = Spec(name="ray")


class Cluster(Executor):
    """A cluster in this process, whose nodes reply in any order, and some of them never."""

    serves = True

    def __init__(self, lost: frozenset[int] = frozenset()) -> None:
        self.lost = lost
        self.messages = 0
        self.modules: set[ServingModule] = set()

    async def width(self) -> int:
        return 3

    def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        raise AssertionError("nothing is scored row by row")

    async def exchange(self, module: ServingModule, message: bytes) -> bytes | None:
        number = self.messages
        self.messages += 1
        self.modules.add(module)
        for _ in range(7 - number % 7):
            await asyncio.sleep(0)
        if number in self.lost:
            return None
        return json_bytes.dumps(worker_process._reply(message))

    async def close(self) -> None:
        return None


def use(monkeypatch: pytest.MonkeyPatch, cluster: Executor) -> None:
    monkeypatch.setattr(evaluate.ExecutorOnDemand, "__call__", lambda _: cluster)


def files(folder: Path, count: int) -> tuple[Path, Path]:
    cases, answers = simple_rows(count)
    suite = write_rows(folder / "suite.jsonl", cases)
    return suite, write_rows(folder / "answers.jsonl", answers)


@pytest.mark.parametrize(
    ("count", "lost", "messages"),
    [
        (30, {1, 2}, 4),
        # The hash of the answers, three shares of cases, three of answers, and three parts.
        pytest.param(2_100, {0, 4, 6}, 10, marks=pytest.mark.slow),
    ],
)
def test_nodes_that_are_late_or_lost_change_no_number(
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    lost: set[int],
    messages: int,
) -> None:
    suite, answers = files(tmp_path, count)
    here = run(suite, answers, store="here", bulk=True)
    cluster = Cluster(lost=frozenset(lost))
    use(monkeypatch, cluster)
    parts = run(suite, answers, store="parts", bulk=True, executor=RAY)
    assert_same_parts(here, parts)
    assert cluster.messages == messages
    (module,) = cluster.modules
    assert module.name == worker_process.__name__
    assert not list(tmp_path.glob("*.parts/.*"))


def test_where_a_node_lacks_the_files_this_machine_does_the_rest(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, answers = files(tmp_path, 30)
    here = run(suite, answers, store="here", bulk=True)
    cluster = Cluster()
    use(monkeypatch, cluster)
    monkeypatch.setattr(reach, "lacking", lambda _: "the node n7 cannot read /data/suite.jsonl")
    parts = run(suite, answers, store="parts", bulk=True, executor=RAY)
    assert_same_parts(here, parts)
    assert cluster.messages <= 3, "both files are read at once; the parts go to no node"
    (notice,) = parts.notices
    assert notice.startswith("the node n7 cannot read /data/suite.jsonl: this machine reads and")


@pytest.mark.slow
def test_answers_are_sorted_where_all_nodes_find_them(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(1_050)
    answers = [answer for half in (0, 1) for answer in answers[half::2]]
    half = len(answers) // 2
    mixed = [
        one for pair in zip(answers[:half], reversed(answers[half:]), strict=True) for one in pair
    ]
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", mixed)
    here = run(suite, file, store="here", bulk=True)
    use(monkeypatch, Cluster())
    parts = run(suite, file, store="parts", bulk=True, executor=RAY)
    assert_same_parts(here, parts)
    assert not list(tmp_path.glob("*.parts/.*"))


def test_an_executor_that_runs_no_modules_keeps_rows(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, answers = files(tmp_path, 20)
    cluster = Cluster()
    monkeypatch.setattr(cluster, "serves", False)
    use(monkeypatch, cluster)
    assert run(suite, answers, bulk=True, executor=RAY).home == "rows"
    assert cluster.messages == 0
