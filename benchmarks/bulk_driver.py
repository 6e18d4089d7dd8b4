"""What a part of a large run costs the driver, with a thousand workers that do nothing.

One part is really read, checked and scored. Then the whole driver runs over as many parts as there
are to be: its workers, all in this process, return at once what that part gave, with keys and ids
of their own. What is left is planning, joining, committing and summing up: the driver's own work.
Its time on the processor is shown for each stage, and the most memory it took.
"""

import argparse
import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measured import Row, alone, offer_json, reporting
from million_rows import write

from proctor.engine.bulk import driver, inputs
from proctor.engine.bulk.tasks import (
    AnswersTask,
    CheckedAnswers,
    CheckedCases,
    CheckTask,
    ContentTask,
    FileContent,
    PartOutcome,
    PlanTask,
    ShareTask,
)
from proctor.engine.bulk.worker_process import done
from proctor.engine.bulk.workers import Workers
from proctor.engine.run.evaluate import RunProgress, evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io import json_bytes
from proctor.io.concurrency import run_sync
from proctor.io.row_shares import FilePlan
from proctor.store.store import Store

WORKERS = 1_000


class Idle(Workers):
    """Workers that return what another part gave."""

    parts = 0

    def __init__(self, *, keys: bool = False) -> None:
        super().__init__(keys=keys)
        self.size = WORKERS
        self.seconds = 0.0
        self.worked = 0.0
        self._ids: dict[int, str] = {}
        self._checked: CheckedCases | None = None
        self._answers: CheckedAnswers | None = None
        self._scored: tuple[PartOutcome, Any] | None = None
        LATEST.append(self)

    async def run(self, task: Any) -> Any:
        """Return what a task would give; the time for that is none of the driver's."""
        begun = time.process_time()
        try:
            return _KINDS[type(task)](self, task)
        finally:
            self.seconds += time.process_time() - begun

    async def close(self) -> None:
        """There is nothing to close."""

    def plan(self, task: PlanTask) -> FilePlan:
        """Return the plan of a file that is so many times as long."""
        plan: FilePlan = done(task)
        return replace(plan, rows=plan.rows * self.parts, groups=plan.groups * self.parts)

    def check(self, task: CheckTask) -> CheckedCases:
        """Return the cases of a part, with keys and ids of their own."""
        if self._checked is None:
            self._checked = self._done(task)
        checked = self._checked
        ids = os.urandom(8 * checked.cases).hex()
        self._ids[task.first] = ids
        return replace(checked, keys=os.urandom(16 * checked.cases).hex(), ids=ids)

    def check_answers(self, task: AnswersTask) -> CheckedAnswers:
        """Return the answers to a part."""
        if self._answers is None:
            self._answers = self._done(task)
        return replace(self._answers, ids=self._ids.pop(task.share.first))

    def _done(self, task: Any) -> Any:
        begun = time.process_time()
        outcome = done(task)
        self.worked += time.process_time() - begun
        return outcome

    def content(self, task: ContentTask) -> FileContent:
        """Return the hash of a file, which is so many times as long."""
        found: FileContent = done(task)
        return found

    def score(self, task: ShareTask) -> PartOutcome:
        """Return what a part gives."""
        if self._scored is None:
            outcome: PartOutcome = self._done(task)
            self._scored = outcome, json_bytes.loads(outcome.document)
        outcome, document = self._scored
        return replace(
            outcome,
            number=task.number,
            first=task.first,
            document=json_bytes.dumps({**document, "fingerprint": task.fingerprint}).decode(),
        )


LATEST: list[Idle] = []
_KINDS: dict[type, Any] = {
    PlanTask: Idle.plan,
    CheckTask: Idle.check,
    AnswersTask: Idle.check_answers,
    ContentTask: Idle.content,
    ShareTask: Idle.score,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=1_000)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows, tempfile.TemporaryDirectory() as folder:
        rows.extend(measure(Path(folder), options.parts))


def measure(folder: Path, parts: int) -> list[Row]:
    part = inputs.PART
    suite, answers = write(folder, SimpleNamespace(rows=part, words=40, form="parquet"))
    settings = RunSettings(suite=SuiteSettings(path=suite), answers=answers, bulk=True)
    driver.Workers = Idle  # type: ignore[misc]
    Idle.parts = 1
    moments: dict[str, tuple[float, float]] = {}

    def note(progress: RunProgress) -> None:
        idle = LATEST[-1].seconds if LATEST else 0.0
        moments[progress.phase] = time.process_time(), idle

    with Store.open(str(folder / "warm.db")) as store:
        run_sync(evaluate(settings, store))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Idle.parts = parts
    with Store.open(str(folder / "store.db")) as store:
        begun = time.process_time(), 0.0
        run_sync(evaluate(settings, store, note))
        note(RunProgress(phase="end", done=0, total=0))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    stages = {"check and join": (begun, moments["read"])}
    stages["score and commit"] = moments["read"], moments["grade"]
    stages["sum up"] = moments["grade"], moments["end"]
    rows: list[Row] = []
    for stage, (start, end) in stages.items():
        processor, idle = (later - earlier for later, earlier in zip(end, start, strict=True))
        own = 1e3 * (processor - idle) / parts
        print(f"{stage:18} {own:8.2f} ms of CPU a part  {1e3 / own:10,.0f} parts/s")
        rows.append(alone(f"driver, {stage}", own, "ms of CPU a part"))
    driven, worked = sum(row.ours for row in rows), 1e3 * LATEST[-1].worked
    share = 100 * driven / (driven + worked)
    print(f"a worker           {worked:8.2f} ms of CPU a part; the driver has {share:.1f} % of all")
    rows.append(alone("driver, of all CPU", share, "%", f"a worker: {worked:,.0f} ms a part"))
    per_row = most * 1024 / (parts * part)
    print(f"{parts:,} parts of {part:,} cases: {most / 1024:,.0f} MiB, {per_row:.0f} bytes a case")
    return [*rows, alone("driver, memory", per_row, "bytes a case")]


if __name__ == "__main__":
    main()
