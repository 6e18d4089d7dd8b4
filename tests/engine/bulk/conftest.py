"""Suites and answers of all sorts, and runs of them in rows and in parts."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.core.suite import Json
from proctor.engine.bulk import driver, inputs, worker_process
from proctor.engine.bulk.workers import Workers
from proctor.engine.run.evaluate import Outcome, evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.store.parts.layout import ATTEMPTS, RESULTS
from proctor.store.rows import LinkedCase, ResultRow
from proctor.store.store import Store

WORDS = ("Paris", "London", "four", "seven", "blue", "green", "Müller", "数字", "it's", "x-ray")


class WorkersHere(Workers):
    """Workers that do their tasks at once, in this process."""

    def __init__(self, **_: bool) -> None:
        super().__init__()
        self.size = 1
        self.tasks: list[Any] = []

    async def begin(self, count: int) -> None:
        """Start nothing."""

    async def run(self, task: Any) -> Any:
        self.tasks.append(task)
        # Through JSON, as between processes.
        from proctor.engine.bulk.tasks import from_json, to_json

        read = from_json(json.loads(json.dumps(to_json(task))))
        return from_json(json.loads(json.dumps(to_json(worker_process.done(read)))))

    async def close(self) -> None:
        return None


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers work in this process, on parts of a thousand cases."""
    monkeypatch.setattr(driver, "Workers", WorkersHere)
    monkeypatch.setattr(inputs, "PART", 1_000)


def simple_rows(count: int, seed: int = 3) -> tuple[list[Json], list[Json]]:
    """Return cases and answers that differ in their texts alone."""
    draw = random.Random(seed)
    cases, answers = [], []
    for number in range(count):
        words = draw.sample(WORDS, 4)
        cases.append(
            {
                "id": f"case-{number}",
                "ask": f"Question {number}: {' '.join(words)}?",
                "references": [" ".join(words)],
                "criteria": [{"keywords": words[:2]}, {"rouge": "rougeL"}],
                "tags": {"part": f"part {number % 7}"},
            }
        )
        said = [draw.choice(WORDS) if draw.random() < 0.4 else word for word in words]
        answers.append({"case": f"case-{number}", "output": " ".join(said)})
    return cases, answers


def write_rows(path: Path, rows: list[Json]) -> Path:
    """Write rows as JSONL or Parquet, by the ending."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    import pyarrow
    import pyarrow.parquet

    cells = [_cells(row) for row in rows]
    names = dict.fromkeys(name for row in cells for name in row)
    table = pyarrow.Table.from_pylist([{name: row.get(name) for name in names} for row in cells])
    pyarrow.parquet.write_table(table, path, row_group_size=700)
    return path


def _cells(row: dict[str, Json]) -> dict[str, Json]:
    cells = dict(row)
    for tag, value in cells.pop("tags", {}).items():
        cells[f"tags.{tag}"] = value
    if len(cells.get("references", ())) == 1:
        cells["reference"] = cells.pop("references")[0]
    for name in ("criteria", "references", "messages", "context", "hidden", "dialogue"):
        if name in cells:
            cells[name] = json.dumps(cells[name])
    return cells


@dataclass
class Ran:
    """A run, all that is stored of it, and what was said."""

    outcome: Outcome
    store: Store
    notices: list[str]
    progress: list[Any]

    @property
    def home(self) -> str:
        return self.store.parts.home_of(self.outcome.view.run.id)

    def cases(self) -> Iterator[LinkedCase]:
        return self.store.attempts.iter_cases(self.outcome.view.run.id)

    def rows(self) -> list[ResultRow]:
        return list(self.store.results.iter_rows(self.outcome.view.run.id))


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return what evaluates answers on file, each time into a store by its name."""
    stores: dict[str, Store] = {}

    def evaluated(
        suite: Path, answers: Path, *, store: str = "s", bulk: bool | None = None, **more: Any
    ) -> Ran:
        opened = stores.get(store)
        if opened is None:
            opened = stores[store] = Store.open(str(tmp_path / f"{store}.db"))
        notices: list[str] = []
        progress: list[Any] = []
        of_suite = {name: more.pop(name) for name in ("limit", "where", "select") if name in more}
        settings = RunSettings(
            suite=SuiteSettings(path=suite, **of_suite), answers=answers, bulk=bulk, **more
        )
        outcome = run_sync(evaluate(settings, opened, progress.append, notices.append))
        return Ran(outcome, opened, notices, progress)

    yield evaluated
    for opened in stores.values():
        opened.close()


def assert_same(rows: Ran, parts: Ran) -> None:
    """Compare all numbers, scores and results of a run in rows and of one in parts."""
    assert (rows.home, parts.home) == ("rows", "parts")
    assert rows.outcome.view.run.id == parts.outcome.view.run.id
    assert rows.outcome.view.run.signature == parts.outcome.view.run.signature
    assert rows.outcome.view.run.status == parts.outcome.view.run.status
    assert rows.outcome.view.summary == parts.outcome.view.summary
    assert rows.outcome.warnings == parts.outcome.warnings
    assert rows.rows() == parts.rows()
    both = zip(rows.cases(), parts.cases(), strict=True)
    for mine, other in both:
        assert (mine.position, mine.case) == (other.position, other.case)
        assert mine.attempts == other.attempts


def assert_same_parts(one: Ran, other: Ran) -> None:
    """Compare what two runs in parts sum up to, and the bytes of their files."""
    assert one.outcome.view.run.id == other.outcome.view.run.id
    assert one.outcome.view.summary == other.outcome.view.summary
    run_id = one.outcome.view.run.id
    assert list(one.store.parts.documents(run_id)) == list(other.store.parts.documents(run_id))
    assert _files(one, run_id) == _files(other, run_id) != []


def _files(ran: Ran, run_id: str) -> list[bytes]:
    folder = ran.store.parts.folder
    assert folder is not None
    return [
        Path(folder.address, folder.path(part.place, kind)).read_bytes()
        for part in ran.store.parts.of_run(run_id)
        for kind in (ATTEMPTS, RESULTS)
    ]
