"""Grading on this machine: one process per core, each replaceable."""

import asyncio
import mmap
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from proctor.contracts.executor import Executor, GradeTask
from proctor.core.attempt import Attempt
from proctor.core.encoding import score_from
from proctor.core.failures import innocent_answers, missed, suites_doing
from proctor.core.fingerprint import digest, plain
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.errors import ProctorError
from proctor.executors.worker import HEADER, PROGRESS
from proctor.io import child_processes, concurrency, json_bytes, search_paths

JOB_SIZE = 64
READY = 2
"""How many jobs wait beside those under way, so that no worker waits for the next one."""
START_LIMIT = 60.0
STARTS = 3
"""How often a process is started that others keep from it, for want of memory, say."""
BUSY = 0.5
"""What part of its time a process must have computed, and not waited, to have taken too long."""
PATIENCE = 9.0
"""How many times longer one may take that could not compute, since the machine was busy."""
MOST_REMEMBERED = 1000


@dataclass
class LocalExecutor(Executor):
    """Processes of this machine; those that take too long are killed."""

    workers: int = 0
    """How many processes; 0 means one per core."""
    allow_import: bool = False

    def __post_init__(self) -> None:
        self._booting: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._size = self.workers or concurrency.available_cores()
        self._room = asyncio.Semaphore(self._size)
        self._harmed: dict[str, str] = {}
        """On which harmless answer a criterion cost a worker its life; nothing where on none."""

    async def warm(self, cases: int) -> None:
        sure = -(-cases // JOB_SIZE)
        while len(self._workers) < min(sure, self._size):
            worker = await _Worker.spawn()
            self._workers.add(worker)
            self._booting.append(worker)

    async def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        limit = self._size + READY
        async with aclosing(concurrency.map_unordered(jobs(tasks), self._run, limit=limit)) as done:
            async for scores in done:
                for key, score in scores:
                    yield key, score

    async def close(self) -> None:
        while self._workers:
            await self._discard(self._workers.pop())
        self._idle.clear()
        self._booting.clear()

    async def _run(self, job: "GradingJob") -> list[tuple[str, Score]]:
        """Score one job; whatever an attempt does to its worker costs only that attempt."""
        done: list[tuple[str, Score]] = []
        left: GradingJob | None = job
        while left is not None:
            try:
                scores = await self._scored(left)
            except _WorkerLost as lost:
                score = await self._blamed(left.alone(lost.number), lost)
                done.append((left.keys[lost.number], score))
                left = left.without(lost.number)
                continue
            done += zip(left.keys, scores, strict=True)
            left = None
        return done

    async def _blamed(self, task: GradeTask, lost: "_WorkerLost") -> Score:
        """Score an attempt at which a worker was lost: a miss, unless it is the suite's doing."""
        if lost.ended:
            # Somebody else may have killed that process, or all of the machine's memory was used.
            try:
                return (await self._scored(_job(task)))[0]
            except _WorkerLost as again:
                lost = again
        if not lost.computed or task.out_of is None:
            return Score.failed(lost.reason, out_of=task.out_of)
        what = await self._fails_on(task)
        if what:
            return suites_doing(lost.reason, what, task.out_of)
        return missed(lost.reason, task.out_of, weight=task.criterion.weight)

    async def _fails_on(self, task: GradeTask) -> str:
        """Return on which harmless answer a criterion costs a worker its life as well."""
        key = digest(task.criterion.scorer, task.case.id, task.case.references)
        if key not in self._harmed:
            if len(self._harmed) >= MOST_REMEMBERED:
                self._harmed.clear()
            self._harmed[key] = ""
            for what, answer in innocent_answers(task.case):
                try:
                    tried = replace(task, attempts=(Attempt.of(task.case.id, answer),))
                    await self._scored(_job(tried))
                except _WorkerLost:
                    self._harmed[key] = what
                    break
        return self._harmed[key]

    async def _scored(self, job: "GradingJob") -> list[Score]:
        message = json_bytes.dumps(job.message())
        with concurrency.in_line():
            await self._room.acquire()
        try:
            worker = self._idle.pop() if self._idle else await self._start()
            try:
                scores = await worker.score(job.limits, message)
            except BaseException:
                await self._discard(worker)
                raise
            self._idle.append(worker)
            return scores
        finally:
            self._room.release()

    async def _start(self) -> "_Worker":
        for left in range(STARTS - 1, -1, -1):
            worker = self._booting.pop() if self._booting else await _Worker.spawn()
            self._workers.add(worker)
            try:
                await worker.get_ready(self.allow_import)
                return worker
            except WorkerNotStarted:
                await self._discard(worker)
                if not left:
                    raise
        raise AssertionError

    async def _discard(self, worker: "_Worker") -> None:
        self._workers.discard(worker)
        await worker.kill()


class WorkerNotStarted(ProctorError):
    """A grading process that ended before it could be given anything."""


class _WorkerLost(Exception):
    """The attempt of a job that ended its worker, and how."""

    def __init__(
        self, number: int, reason: str, *, ended: bool = False, computed: bool = True
    ) -> None:
        super().__init__(reason)
        self.number, self.reason = number, reason
        self.ended = ended
        """Whether the process ended by itself."""
        self.computed = computed
        """Whether it used its time, and did not merely wait for the machine."""


@dataclass(frozen=True)
class GradingJob:
    """The attempts that are sent to a worker at once."""

    groups: tuple[tuple[GradeTask, tuple[int, ...]], ...]
    """Tasks, and which of their attempts."""

    @property
    def keys(self) -> list[str]:
        """Return the score keys of the attempts, in their order."""
        return [task.keys[i] for task, places in self.groups for i in places]

    @property
    def limits(self) -> list[float]:
        """Return how long each attempt may take."""
        return [task.time_limit for task, places in self.groups for _ in places]

    def message(self) -> Json:
        """Return what a grading process is sent; a case that follows itself is sent once."""
        groups, last = list[Json](), None
        for task, places in self.groups:
            group = {
                "criterion": plain(task.criterion),
                "attempts": [plain(task.attempts[i]) for i in places],
            }
            if task.case is not last:
                last = task.case
                group["case"] = plain(replace(last, criteria=()))
            groups.append(group)
        return {"groups": groups}

    def tasks(self) -> Iterator[GradeTask]:
        """Return tasks that hold the attempts of this job alone."""
        for task, places in self.groups:
            yield replace(
                task,
                attempts=tuple(task.attempts[i] for i in places),
                keys=tuple(task.keys[i] for i in places),
            )

    def halves(self) -> "list[GradingJob]":
        """Return two jobs with half of the attempts each."""
        single = [(task, (i,)) for task, places in self.groups for i in places]
        middle = len(single) // 2
        return [GradingJob(tuple(part)) for part in (single[:middle], single[middle:]) if part]

    def alone(self, number: int) -> GradeTask:
        """Return a task that holds one attempt alone."""
        single = [(task, i) for task, places in self.groups for i in places]
        task, place = single[number]
        return replace(task, attempts=(task.attempts[place],), keys=(task.keys[place],))

    def without(self, number: int) -> "GradingJob | None":
        """Return the job less one attempt; none where nothing is left."""
        groups = []
        for task, places in self.groups:
            remaining = tuple(i for at, i in enumerate(places) if at != number)
            number -= len(places)
            if remaining:
                groups.append((task, remaining))
        return GradingJob(tuple(groups)) if groups else None


def _job(task: GradeTask) -> GradingJob:
    """Return the job of a task with one attempt."""
    return GradingJob(((task, (0,)),))


def jobs(tasks: Iterable[GradeTask], size: int = JOB_SIZE) -> Iterator[GradingJob]:
    """Pack tasks into jobs of about the same number of attempts."""
    groups: list[tuple[GradeTask, tuple[int, ...]]] = []
    room = size
    for task in tasks:
        places = list(range(len(task.attempts)))
        while places:
            taken, places = places[:room], places[room:]
            groups.append((task, tuple(taken)))
            room -= len(taken)
            if room == 0:
                yield GradingJob(tuple(groups))
                groups, room = [], size
    if groups:
        yield GradingJob(tuple(groups))


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return child_processes.OUTSIDE


@dataclass(eq=False)
class _Worker:
    """One grading process with the page on which it notes its progress."""

    process: asyncio.subprocess.Process
    progress: mmap.mmap

    @classmethod
    async def spawn(cls) -> "_Worker":
        with tempfile.TemporaryFile() as file:
            file.write(bytes(PROGRESS.size))
            file.flush()
            # Plugins that a person installed may want their environment, keys included.
            own = child_processes.own_environment(keys=True)
            process = await child_processes.spawn(
                child_processes.own_module("proctor.executors.worker"),
                env={**own, "PROCTOR_PROGRESS_FD": str(file.fileno())},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                pass_fds=(file.fileno(),),
            )
            return cls(process, mmap.mmap(file.fileno(), PROGRESS.size))

    async def get_ready(self, allow_import: bool) -> None:
        """Tell the process what it needs to know, and wait until it has started."""
        path = search_paths.path_for_workers(allow_import=allow_import)
        settings = {
            "path": path,
            "trusted": search_paths.trusted_folders(),
            "folder": _working_directory(),
            "allow_import": allow_import,
        }
        try:
            await self._send(json_bytes.dumps(settings))
            await asyncio.wait_for(self._receive(), START_LIMIT)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            message = "a grading process did not start; see its message above"
            raise WorkerNotStarted(message) from None

    async def score(self, limits: Sequence[float], message: bytes) -> list[Score]:
        """Send a job and wait for its scores, watching the time of each attempt."""
        receiving = asyncio.ensure_future(self._exchange(message))
        try:
            while True:
                number, since, used = PROGRESS.unpack_from(self.progress, 0)
                limit = limits[number] if 0 <= number < len(limits) else min(limits)
                left = since + limit - time.monotonic() if number >= 0 else limit
                if left <= 0:
                    computed = self._used(used) >= BUSY * limit
                    if computed or left <= -PATIENCE * limit:
                        reason = f"took longer than the {limit:g} s allowed and was stopped"
                        raise _WorkerLost(number, reason, computed=computed)
                    left = limit / 5
                done, _ = await asyncio.wait({receiving}, timeout=min(left + 0.01, limit))
                if done:
                    return [score_from(data) for data in receiving.result()]
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.process.wait()
            number = max(PROGRESS.unpack_from(self.progress, 0)[0], 0)
            code = self.process.returncode
            reason = f"its grading process ended unexpectedly ({code})"
            raise _WorkerLost(number, reason, ended=True) from None
        finally:
            receiving.cancel()

    def _used(self, before: float) -> float:
        """Return how much processor time the process has used since."""
        if sys.platform != "linux":
            return float("inf")
        # The clock of another process, as clock_getcpuclockid(3) numbers it.
        return time.clock_gettime((~self.process.pid << 3) | 2) - before

    async def kill(self) -> None:
        """End the process at once and reap it."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()
        await self.process.wait()
        # Closing the transport here keeps its finaliser from running after the loop is closed.
        self.process._transport.close()  # type: ignore[attr-defined]
        self.progress.close()

    async def _exchange(self, message: bytes) -> Json:
        await self._send(message)
        return await self._receive()

    async def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(HEADER.pack(len(message)) + message)
        await self.process.stdin.drain()

    async def _receive(self) -> Json:
        assert self.process.stdout is not None
        (size,) = HEADER.unpack(await self.process.stdout.readexactly(HEADER.size))
        return json_bytes.loads(await self.process.stdout.readexactly(size))
