"""Scorers that run programs, in several processes: one alone could not keep many cores busy.

Around each program there is work of our own: reading the answer, writing the program, talking to
the sandbox, judging what came of it. On a machine with few cores the run's own process does it; on
a larger one worker processes do, each with a sandbox of its own, and the run's process sends them
jobs and stores the scores. Results of programs stay in the store, which workers ask through it.
"""

from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from proctor.core.encoding import score_from
from proctor.core.fingerprint import plain
from proctor.core.score import Score
from proctor.core.suite import Json, Spec
from proctor.engine.run.sandbox_cache import ProgramResults, SharedSandbox
from proctor.engine.run.settings import LOCAL, RunSettings
from proctor.io import json_bytes
from proctor.io.concurrency import map_unordered
from proctor.io.message_process import MessageProcess, ProcessLost, ServingModule
from proctor.store.rows import CallRow

if TYPE_CHECKING:
    from proctor.engine.run.score_dispatch import ScoreTask

FEWEST_CORES = 4
"""On how many cores workers begin to pay."""
LARGEST_JOB = 16
SHARES = 4
"""Of what is left, each worker gets one part in so many, so that all end at about the same time."""
AT_ONCE = 32
"""How many programs may be under way on all workers, those included that only wait."""
_MODULE = ServingModule(name="proctor.engine.run.program_worker")


@dataclass
class ProgramWorkers:
    """Processes that score attempts by running programs."""

    sandbox: Spec
    brings_along: str
    """Languages that the sandbox provides itself."""
    results: ProgramResults
    size: int
    language: str
    _idle: list[MessageProcess] = field(default_factory=list)
    _all: set[MessageProcess] = field(default_factory=set)

    async def scored(
        self, tasks: Sequence["ScoreTask"]
    ) -> AsyncGenerator[tuple["ScoreTask", Score | None], None]:
        """Score attempts; those that a worker ended over have no score, and are tried elsewhere."""
        jobs = self._jobs(deque(tasks))
        async with aclosing(map_unordered(jobs, self._job, limit=self.size)) as done:
            async for pairs in done:
                for pair in pairs:
                    yield pair

    async def close(self) -> None:
        """Leave no process behind."""
        self._idle.clear()
        while self._all:
            await self._all.pop().end()

    def _jobs(self, waiting: "deque[ScoreTask]") -> "Iterator[list[ScoreTask]]":
        while waiting:
            size = min(LARGEST_JOB, max(1, len(waiting) // (SHARES * self.size)))
            yield [waiting.popleft() for _ in range(min(size, len(waiting)))]

    async def _job(self, tasks: "list[ScoreTask]") -> "list[tuple[ScoreTask, Score | None]]":
        message: Json = {"tasks": [_written(task) for task in tasks]}
        process = self._idle.pop() if self._idle else await self._start()
        try:
            reply = await self._exchanged(process, message)
        except ProcessLost:
            self._all.discard(process)
            return [(task, None) for task in tasks]
        self._idle.append(process)
        self.results.put([CallRow(**row) for row in reply["results"]])
        return [
            (task, score_from(score)) for task, score in zip(tasks, reply["scores"], strict=True)
        ]

    async def _exchanged(self, process: MessageProcess, message: Json) -> Mapping[str, Any]:
        """Send a job, look up what the worker asks for, and return what came of the job."""
        while True:
            # Its programs have limits of their own.
            data = await process.reply(json_bytes.dumps(message), patience=None)
            reply: dict[str, Any] = json_bytes.loads(data)
            if "find" not in reply:
                return reply
            row = self.results.find(reply["find"])
            message = None if row is None else asdict(row)

    async def _start(self) -> MessageProcess:
        process = await MessageProcess.start(_MODULE)
        self._all.add(process)
        about = {
            "sandbox": plain(self.sandbox),
            "brings_along": self.brings_along,
            "language": self.language,
            "at_once": max(2, AT_ONCE // self.size),
            "workers": self.size,
        }
        with suppress(ProcessLost):  # then its first job finds that out, too
            await process.reply(json_bytes.dumps(about))
        return process


def _written(task: "ScoreTask") -> Json:
    return {
        "case": plain(replace(task.case, criteria=())),
        "criterion": plain(task.criterion),
        "attempt": plain(task.attempt),
    }


def workers_for(
    settings: RunSettings, sandbox: SharedSandbox, language: str
) -> ProgramWorkers | None:
    """Return workers that run programs as a sandbox would; none where they would not pay."""
    alone = settings.executor.name == LOCAL and not settings.suite.allow_import
    if not alone or sandbox.limit < FEWEST_CORES or sandbox.results is None:
        return None
    return ProgramWorkers(
        sandbox=settings.sandbox,
        brings_along=sandbox.brings_along,
        results=sandbox.results,
        size=sandbox.limit,
        language=language,
    )
