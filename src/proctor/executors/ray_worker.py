"""What runs in the workers of a Ray cluster: grading, programs, and scorers that score many."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.contracts.executor import GradeTask
from proctor.contracts.model import Model
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import run_scorer_batch
from proctor.core.exchange import Reply, Request
from proctor.core.program import Program, Ran
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.errors import SandboxError
from proctor.executors.local import LocalExecutor
from proctor.io.downloads import cache
from proctor.io.message_process import MessageProcess, ProcessLost, ServingModule
from proctor.io.search_paths import import_from_text
from proctor.registry import build
from proctor.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a worker must know before it can score as the driver would."""

    path: tuple[str, ...]
    """Where the driver imports from; folders that a node lacks are left out there."""
    allow_import: bool
    sandbox: Spec | None = None
    trusted: tuple[str, ...] = ()
    """Folders of the person's own code, which is always made of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """Files of a folder (or a file) of the driver that every node needs."""

    name: str
    digest: str
    folder: bool
    files: Mapping[str, int]
    """Their sizes by name, in the order in which their contents come."""


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """Version of Proctor and node of a worker."""

    version: str
    node: str
    problems: tuple[str, ...] = ()


class RayWorker:
    """Worker that scores jobs in a process that can be killed, and runs programs in a sandbox."""

    def __init__(self, setting: Setting) -> None:
        use_path(setting.path, setting.trusted)
        self._setting = setting
        self._local = LocalExecutor(workers=1, allow_import=setting.allow_import)
        self._sandbox: Sandbox | None = None
        self._serving: dict[ServingModule, MessageProcess] = {}
        self._one = asyncio.Lock()

    async def ready(self) -> WorkerReady:
        """Say that this worker has started, and what keeps it from running programs."""
        sandbox = self._setting.sandbox
        problems = () if sandbox is None else tuple(build("sandbox", sandbox).problems())
        return WorkerReady(__version__, os.uname().nodename, problems)

    async def grade(self, tasks: Sequence[Any], *cases: Any) -> list[list[Score]]:
        """Score tasks one after the other; large cases come apart, each once for all its tasks."""
        whole = [_whole(task, cases) for task in tasks]
        scores: dict[str, Score] = {}
        # Each worker has the one core that the cluster lends it.
        async with self._one, aclosing(self._local.grade(whole)) as graded:
            async for key, score in graded:
                scores[key] = score
        return [[scores[key] for key in task.keys] for task in whole]

    async def run(self, program: Program, warm: bool) -> Ran | None:
        """Run a program in the sandbox of this node."""
        async with self._one:
            if self._sandbox is None:
                if self._setting.sandbox is None:
                    raise SandboxError("this worker was not told which sandbox to use")
                self._sandbox = build("sandbox", self._setting.sandbox)
            if warm:
                return await self._sandbox.run_python(program)
            return await self._sandbox.run(program)

    async def exchange(self, module: ServingModule, message: bytes) -> bytes | None:
        """Let a process of this node reply to a message; None where that ended it."""
        async with self._one:
            process = self._serving.pop(module, None) or await MessageProcess.start(module)
            try:
                reply = await process.reply(message)
            except ProcessLost:
                return None
            self._serving[module] = process
            return reply

    async def close(self) -> None:
        """Leave no process behind."""
        while self._serving:
            await self._serving.popitem()[1].end()
        await self._local.close()
        if self._sandbox is not None:
            await self._sandbox.close()


@dataclass
class Batcher:
    """Worker that scores many attempts at once, with a model that stays loaded."""

    setting: Setting
    _places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        use_path(self.setting.path, self.setting.trusted)

    def ready(self) -> WorkerReady:
        """Say that this worker has started."""
        return WorkerReady(__version__, os.uname().nodename)

    def lacks(self, parcels: Sequence[Parcel]) -> list[str]:
        """Return the names of the parcels that this node has not got yet."""
        return [parcel.name for parcel in parcels if not self._is_present(parcel)]

    def take(self, parcel: Parcel, *contents: bytes) -> None:
        """Write the files of a parcel where all workers of this node find them."""
        target = _target(parcel)
        for name, content in zip(parcel.files, contents, strict=True):
            path = target / name if parcel.folder else target
            path.parent.mkdir(parents=True, exist_ok=True)
            # Several workers of a node may do this at once: each writes its own, and renames it.
            own = path.with_name(f".{path.name}.{os.getpid()}")
            own.write_bytes(content)
            own.replace(path)
        self._places[parcel.name] = str(target)

    def score(self, spec: Spec, contexts: Sequence[ScoreContext]) -> list[Score]:
        """Score many attempts by one scorer."""
        scorer = _scorer(_Key(self._here(spec)), self.setting.allow_import)
        return run_scorer_batch(scorer, contexts)

    def _here(self, spec: Spec) -> Spec:
        """Return a spec whose files are those of this node."""
        params = {
            name: self._places.get(value, value) if isinstance(value, str) else value
            for name, value in spec.params.items()
        }
        return Spec(name=spec.name, params=params)

    def _is_present(self, parcel: Parcel) -> bool:
        """Tell whether a parcel is on this node, where the driver has it or fetched before."""
        for place in (Path(parcel.name).expanduser(), _target(parcel)):
            if _same(place, parcel):
                self._places[parcel.name] = str(place)
                return True
        return False


class WorkerHost(Batcher):
    """Host of a model that computes, and stays loaded."""

    _model: Model | None = None

    async def reply(self, spec: Spec, request: Request) -> Reply:
        """Ask the model of this node."""
        return await self._opened(spec).reply(request)

    async def check(self, spec: Spec) -> None:
        """Find out whether the model of this node works."""
        await self._opened(spec).check()

    async def close(self) -> None:
        """Leave no process behind."""
        if self._model is not None:
            await self._model.close()

    def _opened(self, spec: Spec) -> Model:
        if self._model is None:
            # The driver, which is this person's own, has built the very same.
            self._model = build("model", self._here(spec), allow_import=True)
        assert self._model is not None
        return self._model


def use_path(path: Sequence[str], trusted: Sequence[str] = ()) -> None:
    """Import from where the driver does, as far as this machine has that."""
    sys.path[:0] = [entry for entry in path if entry not in sys.path and Path(entry).exists()]
    import_from_text(trusted)


def _whole(task: Any, cases: Sequence[Any]) -> GradeTask:
    if isinstance(task, GradeTask):
        return task
    place, rest = task
    return GradeTask(case=cases[place], **rest)


def _target(parcel: Parcel) -> Path:
    return cache() / "cluster" / parcel.digest / Path(parcel.name).name


def _same(place: Path, parcel: Parcel) -> bool:
    try:
        if not parcel.folder:
            return place.is_file() and [place.stat().st_size] == list(parcel.files.values())
        return all((place / name).stat().st_size == size for name, size in parcel.files.items())
    except OSError:
        return False


class _Key:
    """A spec that is compared by its content."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._text = f"{spec.name} {sorted(spec.params.items())}"

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other._text == self._text


@lru_cache(maxsize=16)
def _scorer(key: _Key, allow_import: bool) -> Scorer:
    scorer: Scorer = build("scorer", key.spec, allow_import=allow_import)
    return scorer
