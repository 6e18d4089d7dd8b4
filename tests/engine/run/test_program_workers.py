"""Programs by worker processes: the scores of one process, whatever becomes of a worker."""

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.core.suite import Spec
from proctor.engine.run import program_workers, score_dispatch
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.program_workers import ProgramWorkers, workers_for
from proctor.engine.run.sandbox_cache import SharedSandbox, StoredResults
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.reports.structured import to_object
from proctor.sandboxes.plain_process import PlainProcess
from proctor.store.store import Store

pytestmark = pytest.mark.sandbox

Answered = Callable[[str], Any]
ANSWERS = [
    "def f(n):\n    return n + 1",
    "def f(n):\n    return n",
    "def f(n):\n    raise ValueError('no')",
    "def f(n)\n    return n + 1",
    "import os\nos._exit(0)",
    "def f(n):\n    while True: pass",
]


def write(folder: Path, count: int) -> RunSettings:
    with (folder / "s.jsonl").open("w") as suite, (folder / "a.jsonl").open("w") as answers:
        for number in range(count):
            tests = [{"content": f"assert f({number}) == {number + 1}", "timeout": 1.5}]
            criteria = [{"unit_tests": {"lang": "python", "tests": tests}}, {"contains": "return"}]
            case = {"id": f"c{number}", "ask": "Write f.", "criteria": criteria}
            suite.write(json.dumps(case) + "\n")
            text = ANSWERS[number % len(ANSWERS) if number < 12 else 0]
            output = f"```python\n{text}\n# {number}\n```"
            answers.write(json.dumps({"case": f"c{number}", "output": output}) + "\n")
    return RunSettings(suite=SuiteSettings(path=folder / "s.jsonl"), answers=folder / "a.jsonl")


@pytest.fixture
def answered(tmp_path: Path) -> Answered:
    settings = write(tmp_path, 20)

    def run(store: str) -> Any:
        with Store.open(str(tmp_path / f"{store}.db")) as opened:
            made = to_object(run_sync(evaluate(settings, opened)).view, (), True)
        return untimed({name: made[name] for name in ("totals", "groups", "cases")})

    return run


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ProgramWorkers]]:
    """Let two workers run programs, on however few cores, and give them."""
    made: list[ProgramWorkers] = []

    usual = program_workers.workers_for

    def noted(*about: Any) -> ProgramWorkers | None:
        found = usual(*about)
        if found is not None:
            found.size = 2
            made.append(found)
        return found

    monkeypatch.setattr(program_workers, "FEWEST_CORES", 1)
    monkeypatch.setattr(score_dispatch, "FEWEST_FOR_WORKERS", 4)
    monkeypatch.setattr(program_workers, "workers_for", noted)
    yield made
    assert not any(one._all for one in made)


TIMED = {"seconds", "retried"}
"""What depends on how busy the machine is: a program that lacked a core is tried again."""


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: untimed(part) for name, part in value.items() if name not in TIMED}
    return [untimed(part) for part in value] if isinstance(value, list) else value


def test_scores_are_those_of_one_process(
    answered: Answered, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = answered("alone")
    workers: list[ProgramWorkers] = request.getfixturevalue("workers")
    started: list[int] = []
    start = ProgramWorkers._start

    async def counted(self: ProgramWorkers) -> Any:
        process = await start(self)
        started.append(process.process.pid)
        return process

    monkeypatch.setattr(ProgramWorkers, "_start", counted)
    assert answered("by workers") == alone
    assert alone["totals"]["unscored"] == 0
    assert len(workers) == 1
    assert len(started) == 2


@pytest.mark.usefixtures("workers")
def test_a_program_that_ran_is_not_run_again(
    answered: Answered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answered("store")
    with Store.open(str(tmp_path / "store.db")) as store:
        (run,) = store.runs.newest()
        store.runs.delete(run.id)
    kept: list[int] = []
    put = program_workers.CallRow

    def counted(**row: Any) -> Any:
        kept.append(1)
        return put(**row)

    monkeypatch.setattr(program_workers, "CallRow", counted)
    assert answered("store") == first
    assert not kept, "no worker had a new result"


@pytest.mark.usefixtures("workers")
def test_what_a_worker_ended_over_is_scored_all_the_same(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ProgramWorkers._start
    lost: list[int] = []

    async def started(self: ProgramWorkers) -> Any:
        process = await start(self)
        if not lost:
            lost.append(process.process.pid)
            os.kill(process.process.pid, signal.SIGKILL)
        return process

    with monkeypatch.context() as patch:
        patch.setattr(ProgramWorkers, "_start", started)
        first = answered("one lost")
    assert lost
    assert answered("none lost") == first


def test_the_last_jobs_are_small() -> None:
    workers = ProgramWorkers(
        sandbox=Spec(name="bubblewrap"), brings_along="", results=None, size=4, language="en"
    )  # type: ignore[arg-type]
    sizes = [len(job) for job in workers._jobs(deque(range(1_000)))]  # type: ignore[arg-type]
    assert sum(sizes) == 1_000
    assert sizes[0] == program_workers.LARGEST_JOB
    assert sizes[-16:] == [1] * 16


@pytest.mark.parametrize(
    ("cores", "changed", "pays"),
    [
        (program_workers.FEWEST_CORES, {}, True),
        (16, {}, True),
        (program_workers.FEWEST_CORES - 1, {}, False),
        (16, {"executor": Spec(name="ray")}, False),
        (16, {"suite": SuiteSettings(path=Path("s.jsonl"), allow_import=True)}, False),
    ],
)
def test_workers_run_programs_on_many_cores_of_this_machine(
    tmp_path: Path, cores: int, changed: dict[str, Any], pays: bool
) -> None:
    settings = RunSettings(suite=SuiteSettings(path=Path("s.jsonl")), answers=Path("a.jsonl"))
    with Store.open(str(tmp_path / "store.db")) as store:
        sandbox = SharedSandbox(inner=PlainProcess(), results=StoredResults(store), limit=cores)
        workers = workers_for(replace(settings, **changed), sandbox, "en")
        assert (workers is not None) is pays
        if workers is not None:
            assert workers.size == cores
        asyncio.run(sandbox.close())
