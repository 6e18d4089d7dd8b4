"""A large run on a cluster of two nodes, one of which is killed on the way."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.engine.bulk.conftest import Ran, assert_same_parts, simple_rows, write_rows

from needs import imported
from proctor.core.suite import Spec
from proctor.engine.bulk import inputs
from proctor.engine.run.evaluate import RunProgress, evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.store.store import Store

ray = imported("ray", "ray")

from ray.cluster_utils import Cluster  # noqa: E402

from proctor.executors.ray import RayExecutor  # noqa: E402
from proctor.executors.ray_pool import Pool  # noqa: E402

# Ray leaves files and sockets to the garbage collector.
pytestmark = [pytest.mark.ray, pytest.mark.alone, pytest.mark.slow, pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)]  # fmt: skip
ROOM = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024}


def children_of(parent: int) -> list[int]:
    """Return the processes that a process started."""
    children = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                children.append(int(status.parent.name))
    return children


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Give a cluster of one node of one core on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args=ROOM)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_a_node_that_is_killed_changes_no_number(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(12_000)
    settings = RunSettings(
        suite=SuiteSettings(path=write_rows(tmp_path / "suite.parquet", cases)),
        answers=write_rows(tmp_path / "answers.parquet", answers),
        bulk=True,
    )
    monkeypatch.setattr(inputs, "PART", 1_000)
    node = cluster.add_node(**ROOM)
    cluster.wait_for_nodes()
    dropped: list[Any] = []
    drop, width = Pool._drop, RayExecutor.width

    def note_loss(pool: Pool, worker: Any) -> None:
        dropped.append(worker)
        drop(pool, worker)

    async def width_when_all_are_ready(executor: RayExecutor) -> int:
        await executor.warm(0)
        assert executor._pool is not None
        while executor._pool._starting:
            await asyncio.sleep(0.05)
        return await width(executor)

    monkeypatch.setattr(Pool, "_drop", note_loss)
    monkeypatch.setattr(RayExecutor, "width", width_when_all_are_ready)
    killed_at: list[int] = []

    def kill(progress: RunProgress) -> None:
        if progress.phase == "grade" and progress.done and not killed_at:
            killed_at.append(progress.done)
            # Workers outlive their node for a moment, in which they could do all that is left.
            workers = children_of(node.all_processes["raylet"][0].process.pid)
            cluster.remove_node(node, allow_graceful=False)
            for pid in workers:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    on_ray = RunSettings(
        suite=settings.suite,
        answers=settings.answers,
        bulk=True,
        executor=Spec(name="ray", params={"address": cluster.address}),
    )
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with Store.open(str(here)) as local, Store.open(str(there)) as remote:
        notices: list[str] = []
        outcome = run_sync(evaluate(on_ray, remote, kill, notices.append))
        expected = run_sync(evaluate(settings, local))
        rows = Ran(expected, local, [], [])
        parts = Ran(outcome, remote, notices, [])
        assert (rows.home, parts.home) == ("parts", "parts")
        assert [part.number for part in remote.parts.of_run(outcome.view.run.id)] == list(range(12))
        assert_same_parts(rows, parts)
    assert killed_at
    assert killed_at[0] < 12_000
    assert dropped
    assert notices == []
