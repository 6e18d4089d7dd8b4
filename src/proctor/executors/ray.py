"""Grading on a Ray cluster: the driver reads, sends and stores; the nodes score."""

import asyncio
import hashlib
import os
import socket
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.model import Model
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.exchange import Reply, Request
from proctor.core.program import Program, Ran
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Spec
from proctor.errors import MissingResource, ModelError, SandboxError
from proctor.executors.local import GradingJob, jobs
from proctor.executors.ray_pool import NodeLost, Pool
from proctor.executors.ray_worker import Batcher, Parcel, RayWorker, Setting, WorkerHost
from proctor.io import concurrency, search_paths
from proctor.io.message_process import ServingModule

BATCH = 1024
"""How many attempts a scorer that scores many at once is given on a node."""
LARGE = 16 * 1024
"""Characters from which on a case travels by itself, once, whatever jobs it is part of."""
CONNECT_LIMIT = 10.0
SHARED = 64
"""How many large cases are kept in the cluster's memory at a time."""


@dataclass
class RayExecutor(Executor):
    """The nodes of a Ray cluster, which run scorers and programs; results are stored here."""

    serves = True

    address: str = ""
    """Where the cluster is; empty means the one that this machine belongs to, else a new one."""
    workers: int = 0
    """How many workers of one core each; 0 means one for every core of the cluster."""
    allow_import: bool = False

    def __post_init__(self) -> None:
        self.lost = 0
        """How many workers were lost, once closed."""
        self._pool: Pool | None = None
        self._batchers: Pool | None = None
        self._hosts: dict[str, Pool] = {}
        """Workers with a model in them, by what the model is."""
        self._hosting = asyncio.Lock()
        self._sandbox: Spec | None = None
        self._mine = False
        self._connected = False
        self._cases: dict[int, tuple[Case, Any]] = {}
        self._parcels: dict[str, tuple[Parcel, list[Any]]] = {}
        self._brought: set[tuple[str, str]] = set()

    async def warm(self, cases: int) -> None:
        (await self._grading()).start()

    async def width(self) -> int:
        return (await self._grading()).size

    async def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        pool = await self._grading()
        async with aclosing(
            concurrency.map_unordered(jobs(tasks), self._run, limit=pool.limit)
        ) as done:
            async for pairs in done:
                for pair in pairs:
                    yield pair

    def sandbox(self, spec: Spec) -> Sandbox:
        self._sandbox = spec
        from proctor.registry import find

        cls = find("sandbox", spec.name)
        return ClusterSandbox(executor=self, tier=cls.tier, safe=cls.safe, joins=cls.joins)

    async def score_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> list[Score]:
        pool = await self._batching()
        parcels = await self._packed(spec)
        parts = [contexts[i : i + BATCH] for i in range(0, len(contexts), BATCH)]

        async def scored(numbered: tuple[int, Sequence[ScoreContext]]) -> tuple[int, list[Score]]:
            number, part = numbered

            async def work(worker: Any) -> list[Score]:
                await self._bring(worker, parcels)
                batch_scores: list[Score] = await worker.score.remote(spec, list(part))
                return batch_scores

            try:
                return number, await pool.use(work)
            except NodeLost:
                return number, [Score.failed(_LOST) for _ in part]

        scores_by_part: dict[int, list[Score]] = {}
        async with aclosing(
            concurrency.map_unordered(enumerate(parts), scored, limit=pool.limit)
        ) as done:
            async for number, scores in done:
                scores_by_part[number] = scores
        return [score for number in sorted(scores_by_part) for score in scores_by_part[number]]

    def model(self, model: Model) -> Model:
        """Return the model as the nodes have it, where it computes; others are asked from here."""
        return ClusterModel(model, self) if model.computes else model

    async def ask(self, spec: Spec, request: Request | None) -> Reply | None:
        """Let the model of some node reply, or without a request only say that it works."""
        key = f"{spec.name} {sorted(spec.params.items(), key=str)}"
        async with self._hosting:
            if (pool := self._hosts.get(key)) is None:
                await self._connect()
                deep = int(spec.params.get("slots") or 2)
                pool = self._hosts[key] = self._pool_of(WorkerHost, deep=deep)
        parcels = await self._packed(spec)

        async def work(worker: Any) -> Reply | None:
            await self._bring(worker, parcels)
            if request is None:
                await worker.check.remote(spec)
                return None
            reply: Reply = await worker.reply.remote(spec, request)
            return reply

        try:
            return await pool.use(work)
        except NodeLost:
            raise ModelError(_LOST, passing=True) from None

    async def run_program(self, program: Program, *, warm: bool) -> Ran | None:
        """Run a program on some node."""
        pool = await self._grading()

        async def work(worker: Any) -> Ran | None:
            ran: Ran | None = await worker.run.remote(program, warm)
            return ran

        try:
            return await pool.use(work)
        except NodeLost:
            raise SandboxError(_LOST) from None

    async def exchange(self, module: ServingModule, message: bytes) -> bytes | None:
        pool = await self._grading()

        async def work(worker: Any) -> bytes | None:
            reply: bytes | None = await worker.exchange.remote(module, message)
            return reply

        try:
            return await pool.use(work)
        except NodeLost:
            return None

    async def close(self) -> None:
        for pool in (self._pool, self._batchers, *self._hosts.values()):
            if pool is not None:
                await pool.close()
                self.lost += pool.lost
        self._pool = self._batchers = None
        self._hosts.clear()
        self._cases.clear()
        self._parcels.clear()
        self._brought.clear()
        if self._mine:
            import ray

            await asyncio.to_thread(ray.shutdown)
            self._mine = self._connected = False

    async def _run(self, job: GradingJob) -> list[tuple[str, Score]]:
        """Score one job; where all who try it are lost, find out which attempt it is."""
        tasks, cases = self._message(job)

        async def work(worker: Any) -> list[list[Score]]:
            task_scores: list[list[Score]] = await worker.grade.remote(tasks, *cases)
            return task_scores

        assert self._pool is not None
        try:
            scores = await self._pool.use(work)
        except NodeLost:
            if len(job.keys) == 1:
                return [(job.keys[0], Score.failed(_LOST))]
            return [pair for part in job.halves() for pair in await self._run(part)]
        return list(zip(job.keys, (one for task in scores for one in task), strict=True))

    def _message(self, job: GradingJob) -> tuple[list[Any], list[Any]]:
        """Return the tasks of a job, and references to the large cases that travel apart."""
        tasks: list[Any] = []
        places: dict[int, int] = {}
        cases: list[Any] = []
        for task in job.tasks():
            if _size(task.case) < LARGE:
                tasks.append(task)
                continue
            if (place := places.get(id(task.case))) is None:
                place = places[id(task.case)] = len(cases)
                cases.append(self._shared(task.case))
            rest = {f.name: getattr(task, f.name) for f in fields(task) if f.name != "case"}
            tasks.append((place, rest))
        return tasks, cases

    def _shared(self, case: Case) -> Any:
        """Put a case into the cluster's memory, once."""
        import ray

        if id(case) not in self._cases:
            if len(self._cases) >= SHARED:
                self._cases.pop(next(iter(self._cases)))
            # The case is kept as well, so that no other one can come to have its id.
            self._cases[id(case)] = (case, ray.put(case))
        return self._cases[id(case)][1]

    async def _grading(self) -> Pool:
        if self._pool is None:
            await self._connect()
            import ray

            size = self.workers or int(ray.cluster_resources().get("CPU", 1)) or 1
            actor = ray.remote(num_cpus=1, max_concurrency=16)(RayWorker)
            spread = actor.options(scheduling_strategy="SPREAD")
            self._pool = Pool(lambda: spread.remote(self._setting()), size)
        return self._pool

    async def _batching(self) -> Pool:
        if self._batchers is None:
            await self._connect()
            self._batchers = self._pool_of(Batcher)
        return self._batchers

    def _pool_of(self, kind: type, deep: int = 2) -> Pool:
        """Return workers for models: one for each GPU, or where there is none, for each node."""
        import ray

        gpus = int(ray.cluster_resources().get("GPU", 0))
        nodes = sum(1 for node in ray.nodes() if node["Alive"])
        size = gpus or min(nodes, self.workers or nodes)
        actor = ray.remote(num_cpus=0, num_gpus=1 if gpus else 0)(kind)
        spread = actor.options(scheduling_strategy="SPREAD")
        return Pool(lambda: spread.remote(self._setting()), size, deep)

    def _setting(self) -> Setting:
        path = tuple(search_paths.path_for_workers(allow_import=self.allow_import))
        return Setting(
            path=path,
            trusted=tuple(search_paths.trusted_folders()),
            allow_import=self.allow_import,
            sandbox=self._sandbox,
        )

    async def _connect(self) -> None:
        if self._connected:
            return
        # Ray reports what it is used for to its makers unless told not to.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            import ray
        except ImportError:
            raise MissingResource(
                "--executor ray needs Ray (fix: pip install 'proctor[ray]')"
            ) from None
        if not ray.is_initialized():
            await asyncio.to_thread(_init, self.address)
            self._mine = True
        self._connected = True

    async def _packed(self, spec: Spec) -> list[Parcel]:
        """Put the weights that a scorer's parameters name into the cluster's memory, once."""
        checkpoints = [value for value in spec.params.values() if _is_checkpoint(value)]
        for value in checkpoints:
            if value not in self._parcels:
                self._parcels[value] = await asyncio.to_thread(_parcel, value)
        return [self._parcels[value][0] for value in checkpoints]

    async def _bring(self, worker: Any, parcels: Sequence[Parcel]) -> None:
        """See to it that a node has the files; the first worker of a node takes them."""
        name = str(worker._actor_id.hex())
        new = [parcel for parcel in parcels if (name, parcel.name) not in self._brought]
        if not new:
            return
        for lacking in await worker.lacks.remote(new):
            parcel, contents = self._parcels[lacking]
            await worker.take.remote(parcel, *contents)
        self._brought |= {(name, parcel.name) for parcel in new}


_WEIGHTS = {".bin", ".gguf", ".onnx", ".pt", ".pth", ".safetensors"}
_BESIDE_WEIGHTS = {".csv", ".json", ".model", ".tsv", ".txt"}
_LOST = "the workers of the cluster that scored this were lost, one after the other"


@dataclass(eq=False)
class ClusterModel(Model):
    """A model whose replies the nodes compute; its identity and its limits stay here."""

    inner: Model
    executor: RayExecutor

    @property
    def identity(self) -> Json:
        return self.inner.identity

    @property
    def label(self) -> str:
        return self.inner.label

    async def reply(self, request: Request) -> Reply:
        reply = await self.executor.ask(self._spec, request)
        assert reply is not None
        return reply

    async def check(self) -> None:
        await self.executor.ask(self._spec, None)

    @property
    def _spec(self) -> Spec:
        executor: Any = self.inner
        kind = type(executor)
        params = {f.name: getattr(executor, f.name) for f in fields(executor)}
        return Spec(name=f"{kind.__module__}:{kind.__qualname__}", params=params)


@dataclass
class ClusterSandbox(Sandbox):
    """The sandboxes of the nodes."""

    executor: RayExecutor
    tier: str  # type: ignore[misc]
    safe: bool  # type: ignore[misc]
    joins: bool  # type: ignore[misc]

    async def run(self, program: Program) -> Ran:
        ran = await self.executor.run_program(program, warm=False)
        assert ran is not None
        return ran

    async def run_python(self, program: Program) -> Ran | None:
        return await self.executor.run_program(program, warm=True)


def _init(address: str) -> None:
    import ray

    host, colon, port = address.rpartition(":")
    try:
        if colon and "/" not in host and port.isdigit():
            # Ray itself tries for minutes.
            socket.create_connection((host, int(port)), CONNECT_LIMIT).close()
        ray.init(
            address=address or None,
            job_config=_job_config(),
            log_to_driver=False,
            logging_level="ERROR",
            **({} if address else {"include_dashboard": False}),
        )
    except (OSError, RuntimeError, ValueError) as error:
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise MissingResource(
            f"the Ray cluster {address or ''} cannot be reached: {first_line}"
        ) from None


def _job_config() -> Any:
    """Return settings by which Ray leaves the working directory off its workers' module path."""
    from ray.job_config import JobConfig

    # Else it puts that first, where a suite's file may be called like a module that they import.
    return JobConfig(_client_job=True)


def _is_checkpoint(value: Any) -> bool:
    """Tell whether a parameter names weights on this machine, or a file that belongs to some."""
    return isinstance(value, str) and "/" in value and bool(_checkpoint_files(value))


def _checkpoint_files(name: str) -> list[Path]:
    """Return the files of a checkpoint; none where a path, which suites may name, is none."""
    path = Path(name).expanduser()
    if path.is_file():
        return [path] if path.suffix in _WEIGHTS | _BESIDE_WEIGHTS else []
    files = [file for pattern in ("*", "*/*") for file in path.glob(pattern) if file.is_file()]
    if not any(file.suffix in _WEIGHTS for file in files):
        return []
    return sorted(file for file in files if file.suffix in _WEIGHTS | _BESIDE_WEIGHTS)


def _size(case: Case) -> int:
    texts = (*case.references, *case.context, *(message.content for message in case.messages))
    return sum(map(len, texts))


def _parcel(name: str) -> tuple[Parcel, list[Any]]:
    import ray

    path = Path(name).expanduser()
    files = _checkpoint_files(name)
    digest = hashlib.sha256()
    contents = []
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.relative_to(path) if path.is_dir() else ''} {len(data)}\n".encode())
        digest.update(data)
        contents.append(ray.put(data))
    names = {str(file.relative_to(path)) if path.is_dir() else file.name: file for file in files}
    sizes = {shown: file.stat().st_size for shown, file in names.items()}
    parcel = Parcel(name=name, digest=digest.hexdigest()[:20], folder=path.is_dir(), files=sizes)
    return parcel, contents
