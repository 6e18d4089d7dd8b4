"""Grading on a cluster: the same scores as here, whatever becomes of its nodes on the way."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from needs import imported
from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.exchange import Request
from proctor.core.program import Limits, Program, Step
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.errors import MissingResource, ModelError
from proctor.executors.local import LocalExecutor, jobs
from proctor.io import concurrency
from proctor.io.concurrency import run_sync
from proctor.registry import build

ray = imported("ray", "ray")

from ray.cluster_utils import Cluster  # noqa: E402

from proctor.executors import ray as on_ray  # noqa: E402
from proctor.executors import ray_pool  # noqa: E402
from proctor.executors.ray import RayExecutor  # noqa: E402

Made = TypeVar("Made")
HERE = Path(__file__).resolve().parent
STRANGE = Spec(name="strange_scorers:Strange")
# Ray leaves files and sockets to the garbage collector.
pytestmark = [pytest.mark.ray, pytest.mark.alone, pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)]  # fmt: skip


@pytest.fixture(autouse=True)
def _own_scorers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Give a cluster of two nodes on this machine, with one core each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    room = {"object_store_memory": 80 * 1024 * 1024}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **room})
    made.add_node(num_cpus=1, **room)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def executor(cluster: Any) -> RayExecutor:
    return RayExecutor(address=cluster.address, allow_import=True)


def task_of(spec: Spec, outputs: list[str], name: str = "", limit: float = 60.0) -> GradeTask:
    criterion = Criterion(id="c", scorer=spec)
    case = Case(
        id=f"case{name}",
        messages=(Message(role="user", content="?"),),
        criteria=(criterion,),
        references=("the cat sat on the mat",),
    )
    return GradeTask(
        case=case,
        criterion=criterion,
        attempts=tuple(Attempt.of(case.id, text, index=i) for i, text in enumerate(outputs)),
        keys=tuple(f"{name}-{i}" for i in range(len(outputs))),
        time_limit=limit,
    )


def closing(executor: Executor, work: Callable[[], Awaitable[Made]]) -> Made:
    async def whole() -> Made:
        try:
            return await work()
        finally:
            await executor.close()

    return run_sync(whole())


def grade(executor: Executor, tasks: list[GradeTask]) -> dict[str, Score]:
    async def work() -> dict[str, Score]:
        return {key: score async for key, score in executor.grade(tasks)}

    return closing(executor, work)


def locally(tasks: list[GradeTask]) -> dict[str, Score]:
    return grade(LocalExecutor(workers=1, allow_import=True), tasks)


def test_scores_are_those_of_this_machine(executor: RayExecutor) -> None:
    words = ["the cat sat", "a dog ran", "猫坐在垫子上", "", "mat the on sat cat the", "\ud800"]
    tasks = [
        task_of(Spec(name="rouge"), words * 20, "r"),
        task_of(Spec(name="contains", params={"texts": ["cat"]}), words * 20, "c"),
        task_of(Spec(name="matches", params={"pattern": "(a+)+$"}), ["aa", "a" * 40 + "b"], "m", 1),
        task_of(STRANGE, ["good", "exit", "bad", "raise", "segfault", "nan", "half"], "s"),
    ]
    made = grade(executor, tasks)
    assert made == locally(tasks)
    assert len(made) == 249
    assert made["m-1"].status == "failed"


def test_a_large_case_travels_once(executor: RayExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[Any] = []
    real = ray.put
    monkeypatch.setattr(ray, "put", lambda thing: put.append(thing) or real(thing))
    task = task_of(Spec(name="contains", params={"texts": ["1"]}), [str(n) for n in range(300)])
    task = replace(task, case=replace(task.case, context=("x" * on_ray.LARGE,)))
    assert grade(executor, [task]) == locally([task])
    assert put == [task.case]


def test_a_lost_node_costs_only_what_is_under_way(
    cluster: Any, executor: RayExecutor, tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1, object_store_memory=80 * 1024 * 1024)
    cluster.wait_for_nodes()
    log = tmp_path / "log"
    spec = Spec(name="slow_scorer:Slow", params={"log": str(log)})
    tasks = [task_of(spec, [str(n) for n in range(64)], f"t{i}") for i in range(12)]

    def strike() -> None:
        while not log.exists() or len(log.read_text().splitlines()) < 100:
            time.sleep(0.05)
        cluster.remove_node(node, allow_graceful=False)

    async def work() -> dict[str, Score]:
        # The node that is to be lost must be at work: all workers are ready before the first task.
        await executor.warm(0)
        assert executor._pool is not None
        while executor._pool._starting:
            await asyncio.sleep(0.05)
        thread.start()
        return {key: score async for key, score in executor.grade(tasks)}

    thread = threading.Thread(target=strike)
    made = closing(executor, work)
    thread.join()
    assert executor.lost >= 1
    assert len(made) == 12 * 64
    assert {(score.status, score.points) for score in made.values()} == {("scored", 1.0)}
    judged = len(log.read_text().splitlines())
    assert judged <= 12 * 64 + 2 * 64


def test_workers_that_are_killed_are_replaced(executor: RayExecutor, tmp_path: Path) -> None:
    spec = Spec(name="slow_scorer:Slow", params={"log": str(tmp_path / "log"), "kills": True})
    tasks = [task_of(spec, [str(n) for n in range(8)], f"t{i}") for i in range(8)]
    tasks.append(task_of(spec, ["kill once", "9"], "k"))
    made = grade(executor, tasks)
    assert {score.points for score in made.values()} == {1.0}
    assert executor.lost >= 1


def test_an_attempt_that_kills_every_worker_is_found(
    executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "MOST_TRIES", 1)
    spec = Spec(name="slow_scorer:Slow", params={"log": str(tmp_path / "log"), "kills": True})
    made = grade(executor, [task_of(spec, ["1", "2", "kill always", "4"])])
    assert [made[f"-{n}"].points for n in (0, 1, 3)] == [1.0, 1.0, 1.0]
    assert "were lost" in made["-2"].reason


@pytest.mark.sandbox
def test_programs_run_on_the_nodes(executor: RayExecutor) -> None:
    spec = Spec(name="bubblewrap")
    sandbox = executor.sandbox(spec)
    assert sandbox is not None
    assert (sandbox.tier, sandbox.safe) == ("bubblewrap", True)
    script = Program(
        steps=(Step(argv=("sh", "main.sh")),),
        files={"main.sh": b"echo hello; cat words"},
        limits=Limits(wall=20),
    )

    async def work() -> list[tuple[str, bool]]:
        made = [await sandbox.run(replace(script, files={**script.files, "words": b"you"}))]
        made.append(await sandbox.run(script))
        return [(ran.stdout, ran.finished) for ran in made]

    assert closing(executor, work) == [("hello\nyou", True), ("hello\n", False)]


def test_batches_are_judged_on_the_nodes_with_files_of_the_driver(
    executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "BATCH", 8)
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"12345")
    spec = Spec(name="slow_scorer:Weighed", params={"model": str(folder)})
    contexts = [ScoreContext.of(str(n)) for n in range(50)]
    scorer = build("scorer", spec, allow_import=True)
    made = closing(executor, lambda: executor.score_batch(scorer, spec, contexts))
    assert [score.points for score in made] == [5.0 + n for n in range(50)]
    assert list(made) == list(run_sync(LocalExecutor().score_batch(scorer, spec, contexts)))


def test_only_weights_are_taken_from_a_path_that_a_suite_names(tmp_path: Path) -> None:
    (tmp_path / "id_ed25519").write_text("a key")
    (tmp_path / "notes.txt").write_text("what nobody else should read")
    assert on_ray._checkpoint_files(str(tmp_path)) == []
    assert on_ray._checkpoint_files(str(tmp_path / "id_ed25519")) == []
    (tmp_path / "1_Pooling").mkdir()
    for name in ("model.safetensors", "config.json", "1_Pooling/config.json"):
        (tmp_path / name).write_text("{}")
    names = {path.name for path in on_ray._checkpoint_files(str(tmp_path))}
    assert names == {"model.safetensors", "config.json", "notes.txt"}


def test_models_that_compute_are_asked_on_the_nodes(executor: RayExecutor, tmp_path: Path) -> None:
    from slow_scorer import Echo

    (tmp_path / "a.bin").write_bytes(b"12345")
    model = executor.model(Echo(model=str(tmp_path)))
    assert (model.identity, model.label) == ("echo", "echo")

    async def ask(text: str) -> str:
        request = Request(messages=(Message(role="user", content=text),))
        return str((await model.reply(request)).text)

    async def work() -> list[str]:
        await model.check()
        with pytest.raises(ModelError, match="no such luck") as said:
            await ask("fail")
        assert said.value.status == 400
        replies: list[str] = []
        # One worker may have answered all before the other has started.
        while len({text.split()[1] for text in replies}) < 2 and len(replies) < 100_000:
            asked = concurrency.map_unordered([str(n) for n in range(40)], ask, limit=8)
            latest = [text async for text in asked]
            assert sorted(int(text.split()[0]) for text in latest) == list(range(40))
            replies += latest
        return replies

    assert len({text.split()[1] for text in closing(executor, work)} - {str(os.getpid())}) == 2


def test_models_that_are_elsewhere_are_asked_from_here(executor: RayExecutor) -> None:
    far = build("model", Spec(name="openai", params={"model": "x", "urls": ["http://127.0.0.1:1"]}))
    assert executor.model(far) is far


def test_files_that_a_node_lacks_are_brought(tmp_path: Path) -> None:
    from proctor.executors.ray_worker import Batcher, Parcel, Setting

    batcher = Batcher(Setting(path=(str(HERE),), allow_import=True))
    name = str(tmp_path / "elsewhere" / "weights")
    parcel = Parcel(name=name, digest=f"test{time.time_ns()}", folder=True, files={"a/b.bin": 3})
    assert batcher.lacks([parcel]) == [name]
    batcher.take(parcel, b"123")
    assert batcher.lacks([parcel]) == []
    spec = Spec(name="slow_scorer:Weighed", params={"model": name})
    (score,) = batcher.score(spec, [ScoreContext.of("4")])
    assert score.points == 7.0


def test_another_version_on_a_node_is_refused(
    executor: RayExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "__version__", "0.0.0")
    with pytest.raises(MissingResource, match=r"the node .* has Proctor .*, and this is 0\.0\.0"):
        grade(executor, [task_of(Spec(name="exact_match"), ["x"])])


def test_a_cluster_that_is_not_there(cluster: Any) -> None:
    ray.shutdown()
    nowhere = RayExecutor(address="127.0.0.1:1")
    with pytest.raises(MissingResource, match=r"the Ray cluster 127\.0\.0\.1:1 cannot be reached"):
        grade(nowhere, [task_of(Spec(name="exact_match"), ["x"])])


def test_a_whole_run_has_the_same_numbers(cluster: Any, tmp_path: Path) -> None:
    from proctor.engine.run.evaluate import evaluate
    from proctor.reports.structured import to_object
    from proctor.store.store import Store

    suite, answers = write_suite(tmp_path, 40)
    settings = RunSettings(suite=SuiteSettings(path=suite), answers=answers)
    spread = replace(settings, executor=Spec(name="ray", params={"address": cluster.address}))
    made = []
    for name, asked in (("local", settings), ("ray", spread)):
        with Store.open(str(tmp_path / f"{name}.db")) as store:
            view = run_sync(evaluate(asked, store)).view
            made.append(to_object(view, (), True))
    for part in ("totals", "cases", "measures"):
        assert untimed(made[0][part]) == untimed(made[1][part])
    assert made[0]["totals"]["unscored"] == 0


def untimed(value: Any) -> Any:
    """Leave out how long programs took."""
    if isinstance(value, dict):
        return {name: untimed(part) for name, part in value.items() if name != "seconds"}
    return [untimed(part) for part in value] if isinstance(value, list) else value


def write_suite(folder: Path, cases: int) -> tuple[Path, Path]:
    rows = []
    for n in range(cases):
        tests = {"lang": "python", "tests": [{"content": f"assert add(1, {n}) == {n + 1}"}]}
        criteria: list[Any] = [{"rouge": {}}, {"keywords": ["add", "return"]}]
        if n % 4 == 0:
            criteria.append({"unit_tests": tests})
        rows.append({"id": f"c{n}", "ask": "add", "references": ["def add"], "criteria": criteria})
    suite = folder / "suite.yaml"
    suite.write_text(json.dumps({"name": "both", "cases": rows}))
    answers = folder / "answers.jsonl"
    right, wrong = "def add(a, b):\n    return a + b", "def add(a, b):\n    return a"
    answers.write_text(
        "".join(
            json.dumps({"case": f"c{n}", "output": f"```python\n{right if n % 3 else wrong}\n```"})
            + "\n"
            for n in range(cases)
        )
    )
    return suite, answers


def test_jobs_can_be_cut_in_half() -> None:
    (job,) = jobs([task_of(Spec(name="rouge"), ["a", "b", "c"], "x"), task_of(STRANGE, ["d"], "y")])
    parts = job.halves()
    assert [part.keys for part in parts] == [["x-0", "x-1"], ["x-2", "y-0"]]
    assert [task.attempts[0].output for part in parts for task in part.tasks()] == list("abcd")


def test_the_working_directory_is_on_the_path_of_no_worker(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """See that a suite's file cannot take the place of a module that the nodes import."""
    (tmp_path / "orjson.py").write_text("raise SystemExit('imported from the working directory')")
    monkeypatch.chdir(tmp_path)
    executor = RayExecutor(address=cluster.address)

    def places() -> list[str]:
        import os
        import sys

        import orjson

        return [os.pathsep.join(sys.path), str(orjson.__file__)]

    async def work() -> list[list[str]]:
        await executor._connect()
        look = ray.remote(num_cpus=0)(places).options(scheduling_strategy="SPREAD")
        return [await look.remote() for _ in range(2)]

    for path, orjson in closing(executor, work):
        assert str(tmp_path) not in path.split(os.pathsep)
        assert str(tmp_path) not in orjson
    words = ["the cat sat", "a dog ran"]
    assert (
        len(grade(RayExecutor(address=cluster.address), [task_of(Spec(name="rouge"), words)])) == 2
    )
