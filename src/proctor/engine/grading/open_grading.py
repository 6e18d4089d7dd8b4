"""A suite made ready to score outputs: its scorers, processes, sandboxes and judges."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.contracts.dialect import Reading
from proctor.core.attempt import Attempt
from proctor.core.failures import HARMLESS
from proctor.core.suite import Case, Criterion
from proctor.engine.grading.output_grading import GradingLimits, OutputGrading, SlowOutput
from proctor.engine.models.roles import Models
from proctor.engine.run.prepare import ExecutorOnDemand, PreparedRun, open_sandbox, prepare
from proctor.engine.run.score_dispatch import ScoreDispatcher, ScoreTask, Tools
from proctor.engine.run.settings import LOCAL, RunSettings
from proctor.errors import Problem, ProctorError, UsageError
from proctor.io.concurrency import available_cores, map_unordered
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.engine.run.sandbox_cache import SharedSandbox

GRADER = Path("grader")
"""Stands for the answers on file that there are none of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingSettings:
    """How outputs are scored."""

    run: RunSettings
    """Suite, judges, calls, sandbox; there is no candidate."""
    limits: GradingLimits = field(default_factory=GradingLimits)
    cache: str | None = None
    """The store that has scores of earlier outputs and gets the new ones; none for no cache."""
    warm: bool = True
    """Whether processes and sandboxes are started before the first output."""

    def __post_init__(self) -> None:
        if self.run.executor.name != LOCAL:
            raise UsageError("a grader works on this machine alone (fix: leave out the executor)")


@asynccontextmanager
async def open_grading(
    settings: GradingSettings,
    reading: Reading,
    notice: Callable[[str], None] = lambda _: None,
    on_slow: Callable[[SlowOutput], None] = lambda _: None,
) -> AsyncIterator[tuple[OutputGrading, tuple[Problem, ...]]]:
    """Make a suite ready within the block; yield it with what a person should be warned of.

    Everything that would keep outputs from being scored is raised here.
    """
    run = replace(settings.run, answers=settings.run.answers or GRADER)
    async with AsyncExitStack() as stack:
        store = _opened_store(stack, settings, needs_calls=bool(run.panel.judges))
        cache = store if settings.cache is not None else None
        models = Models(store, run.calls, notice)
        stack.push_async_callback(models.close)
        ready = prepare(run, reading, models)
        executor = ExecutorOnDemand(ready.settings)
        stack.push_async_callback(executor.close)
        sandbox = _sandbox(ready, cache)
        if sandbox is not None:
            stack.push_async_callback(sandbox.close)
        dispatcher = _dispatcher(ready, executor, sandbox, store)
        if ready.cast.judge is not None and ready.scorers.need_judge(ready.suite):
            await ready.check_judges()
        if settings.warm:
            await _warm_up(ready, dispatcher, executor, sandbox)
        cases = {case.id: case for case in ready.suite.cases}
        limits = replace(settings.limits, at_once=max(settings.limits.at_once, dispatcher.limit))
        grading = OutputGrading(cases, dispatcher, limits, cache, on_slow)
        stack.push_async_callback(grading.close)
        yield grading, ready.reading.warnings


def _opened_store(
    stack: AsyncExitStack, settings: GradingSettings, *, needs_calls: bool
) -> Store | None:
    """Open the cache; without one, calls of judges are kept as long as the grader lives."""
    if settings.cache is not None:
        return stack.enter_context(Store.open(settings.cache or None))
    if not needs_calls:
        return None
    import tempfile

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-"))
    return stack.enter_context(Store.open(str(Path(folder) / "calls.db")))


def _sandbox(ready: PreparedRun, cache: Store | None) -> "SharedSandbox | None":
    if not ready.scorers.need_sandbox(ready.suite):
        return None
    from proctor.engine.run.sandbox_cache import SharedSandbox, StoredResults

    # Twice the cores: while one program is looked after, another computes.
    return SharedSandbox(
        inner=open_sandbox(ready.settings),
        results=None if cache is None else StoredResults(cache),
        limit=2 * available_cores(),
        brings_along=ready.scorers.place,
    )


def _dispatcher(
    ready: PreparedRun,
    executor: ExecutorOnDemand,
    sandbox: "SharedSandbox | None",
    store: Store | None,
) -> ScoreDispatcher:
    programs = sandbox.places.most if sandbox is not None else 0
    tools = Tools(executor=executor, sandbox=sandbox, programs=programs)
    return replace(ready.dispatcher(store, tools, look_first=True), several_at_once=True)


async def _warm_up(
    ready: PreparedRun,
    dispatcher: ScoreDispatcher,
    executor: ExecutorOnDemand,
    sandbox: "SharedSandbox | None",
) -> None:
    """Start processes and interpreters, by scoring what no candidate wrote."""
    if apart := ready.scorers.in_processes(ready.suite):
        await executor().warm(64 * apart)
    if sandbox is None:
        return
    example = next(_with_programs(ready), None)
    if example is None:
        return
    unstored = replace(sandbox, results=None)
    trying = replace(dispatcher, sandbox=unstored)

    async def score(number: int) -> None:
        case, criterion = example
        attempt = Attempt.of(case.id, f"{HARMLESS}\n# {number}")
        with suppress(ProctorError):
            async with asyncio.timeout(WARM_SECONDS):
                await trying.score(ScoreTask(str(number), case, criterion, attempt))

    with suppress(TimeoutError):
        async for _ in map_unordered(range(sandbox.limit), score, limit=sandbox.limit):
            pass


WARM_SECONDS = 20.0
"""How long the first programs may take; whatever is not there by then is started later."""


def _with_programs(ready: PreparedRun) -> Iterator[tuple[Case, Criterion]]:
    """Yield cases with a criterion that runs programs and asks no judge."""
    for case in ready.suite.cases:
        for criterion in case.criteria:
            scorer = ready.scorers.of(criterion)
            if scorer.needs_sandbox and not scorer.needs_judge and not scorer.finishes:
                yield case, criterion
