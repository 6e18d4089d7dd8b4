"""Preparation of a run: every problem is found before a model is called."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from proctor import registry
from proctor.core.fold import parse_fold
from proctor.core.suite import Spec, Suite
from proctor.engine.models.roles import Cast, Models, cast_for, lacking, resolved
from proctor.engine.run import read_suite
from proctor.engine.run.attempt_writer import AttemptWriter
from proctor.engine.run.score_dispatch import ASYNC_LIMIT, ScoreDispatcher, Tools, TurnGrader
from proctor.engine.run.scorer_pool import Dialogues, Scorers
from proctor.engine.run.settings import LOCAL, RunSettings
from proctor.errors import MissingResource, ModelError, Problem, SuiteError
from proctor.io.concurrency import available_cores
from proctor.records import dataclass
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.contracts.dialect import Reading
    from proctor.contracts.executor import Executor
    from proctor.contracts.model import Model, ModelChoice
    from proctor.contracts.sandbox import Sandbox
    from proctor.engine.run.collect import AttemptPlan, Collector
    from proctor.engine.run.program_workers import ProgramWorkers
    from proctor.engine.run.sandbox_cache import SharedSandbox
    from proctor.engine.run.scorer_pool import Survey

NO_BOUNDARY = "--sandbox process is no boundary: programs can read and change whatever you can"

SINGLE = "pass@1"
REPEATED = ("pass@k", "pass^k")
"""Measures that need k attempts at a case."""
IDLE_JUDGE = (
    "a --judge is named, and nothing asks it: no criterion of these cases needs one (fix: add one"
    " that does, such as `judged: QUESTION`, or leave out --judge)"
)
NO_JUDGE = "there is no --judge: criteria that need one, and are only shown, stay unscored"


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """A suite with everything needed to evaluate a candidate on it."""

    settings: RunSettings
    """Settings, completed from the suite's own settings file."""
    reading: "Reading"
    suite: Suite
    """The requested cases."""
    scorers: Scorers
    dialogues: Dialogues
    models: Models
    cast: Cast

    @property
    def concurrency(self) -> int:
        """Return the maximum number of concurrent attempts."""
        most = 1 if self.settings.calls.pause else self.settings.calls.concurrency
        if self.cast.agent is not None:
            limit = self.cast.agent.concurrency
            return most if limit is None else min(most, limit)
        choice = self.settings.model
        if self.settings.calls.batch and choice is not None:
            from proctor.engine.models.batching import AT_ONCE

            return AT_ONCE
        return min(most, (choice.concurrency if choice is not None else None) or most)

    @property
    def _next_in_line(self) -> int:
        """Return how many attempts more are begun, so that no place at a server stays empty.

        Their calls are looked up and wait, while the replies of others are stored.
        """
        model = self.cast.candidate
        return self.concurrency // 4 if model is not None and model.inner.queues else 0

    @property
    def _deadline(self) -> float:
        """Return how many seconds an attempt may take."""
        limit = self.settings.calls.attempt_timeout
        if not self.settings.calls.batch:
            return limit
        from proctor.engine.models.batching import LONGEST_JOB

        return max(limit, LONGEST_JOB)

    @property
    def roster(self) -> "AttemptPlan":
        """Return the attempts of the run."""
        from proctor.engine.run.collect import AttemptPlan

        return AttemptPlan(
            suite=self.suite,
            dialogues=self.dialogues,
            cast=self.cast,
            prompt=self.settings.prompt,
            attempts=self.settings.attempts or 1,
        )

    @property
    def needs_sandbox(self) -> bool:
        """Tell whether the dialogue of a case or an agent's setup needs a sandbox."""
        if not self.settings.on_file and self.dialogues.need_sandbox(self.suite):
            return True
        return self.cast.agent is not None and any(
            case.setup.get("pre_command") or case.setup.get("environment")
            for case in self.suite.cases
        )

    def relabelled(self, label: str) -> "PreparedRun":
        """Return the same as another repetition, whose attempts are made anew."""
        settings = replace(self.settings, repeat_label=label)
        return replace(self, settings=settings, cast=replace(self.cast, repeat_label=label))

    def interviewer(
        self, writer: AttemptWriter, tools: Tools, positions: tuple[int, ...] | None = None
    ) -> "Collector":
        """Return the collector of attempts."""
        from proctor.engine.run.collect import Collector

        dispatcher = self.dispatcher(writer.store, tools, look_first=False)
        grader = TurnGrader(store=writer.store, dispatcher=dispatcher)
        return Collector(
            writer=writer,
            roster=replace(self.roster, positions=positions),
            scorers=self.scorers,
            concurrency=self.concurrency + self._next_in_line,
            deadline=self._deadline,
            pause=self.settings.calls.pause,
            ignore_stored=self.settings.calls.record is not None,
            again=self.settings.again_causes,
            grader=grader,
            notice=self.models.notice,
        )

    def dispatcher(self, store: Store | None, tools: Tools, *, look_first: bool) -> ScoreDispatcher:
        """Return the dispatcher of scores; without a store there are no files of candidates."""
        judge = self.cast.judge
        waiting = max(ASYNC_LIMIT, tools.programs)
        return ScoreDispatcher(
            scorers=self.scorers,
            executor=tools.executor,
            sandbox=tools.sandbox,
            judge=judge,
            read_file=None if store is None else store.files.get,
            marks=self.cast.marks,
            check=self.check_judges,
            limit=max(waiting, self.concurrency) if judge else waiting,
            look_first=look_first,
            program_workers=tools.program_workers,
        )

    async def check(self) -> None:
        """Check that all required models can be reached."""
        if self.cast.candidate is not None:
            await self._reach(self.cast.candidate, self.settings.model, "candidate")
        if self.cast.agent is not None:
            await self.cast.agent.check()
        needs = self.dialogues.needs(self.suite)
        if "simulator" in needs and self.cast.simulator is not None:
            await self._reach(self.cast.simulator, self.settings.simulator, "simulator")
        if "judge" in needs or self.scorers.need_judge(self.suite):
            await self.check_judges()

    async def check_judges(self) -> None:
        """Check that all judges can be reached."""
        for judge, choice in zip(self.cast.judges, self.settings.panel.judges, strict=True):
            await self._reach(judge, choice, "judge")

    async def _reach(self, model: "Model", choice: "ModelChoice | None", role: str) -> None:
        """Check that a model answers; an error says which file named its address."""
        try:
            await self.models.check(model)
        except ModelError as error:
            source = None if choice is None else choice.access.source
            if source is None or source.personal:
                raise
            from proctor.engine.models.access import FLAGS

            note = self.reading.role_notes.get(role, "")
            where = f"{source.place} names this address{f'; {note}' if note else ''}"
            error.args = (f"{error} ({where}; fix: mend it there, or add {FLAGS[role]} M)",)
            raise


def prepare(
    settings: RunSettings, reading: "Reading", models: Models, survey: "Survey | None" = None
) -> PreparedRun:
    """Select cases, assign roles, and raise all problems.

    ``survey`` is what was found out of the criteria, where that was done before.
    """
    settings = resolved(settings, reading)
    suite = measured(read_suite.chosen(reading.suite, settings.suite), settings)
    parse_fold(suite.reduce)
    scorers = Scorers(allow_import=settings.suite.allow_import, language=suite.language)
    dialogues = Dialogues(allow_import=settings.suite.allow_import)
    if survey is not None:
        scorers.know(suite.cases, survey)
    if problems := scorers.problems(suite):
        raise SuiteError(problems)
    needs = {"judge"} if scorers.need_judge(suite, counting=True) else set()
    if not settings.on_file:
        from proctor.engine.run.prompts import check_asking

        check_asking(settings, suite)
        if problems := dialogues.problems(suite):
            raise SuiteError(problems)
        needs |= dialogues.needs(suite)
        if dialogues.need_sandbox(suite):
            open_sandbox(settings)
    lacking(settings, needs, reading)
    if settings.asks_models:
        from proctor.engine.models.access import permitted

        settings = permitted(settings, needs | ({"judge"} if scorers.need_judge(suite) else set()))
    cast = cast_for(settings, suite, models)
    scorers.judge = None if cast.judge is None else cast.judge.identity
    if scorers.need_sandbox(suite):
        scorers.place = open_sandbox(settings).brings()
    if cast.agent is not None:
        from proctor.engine.agents.workspaces import placed_cases

        cases, lacking_places = placed_cases(cast.agent, suite.cases)
        if lacking_places:
            raise SuiteError(list(lacking_places.values()))
        suite = replace(suite, cases=cases)
    return PreparedRun(
        settings=settings,
        reading=replace(
            reading,
            warnings=(
                *scorers.doubts(suite),
                *reading.warnings,
                *_wanting(settings, suite, scorers, dialogues),
            ),
        ),
        suite=suite,
        scorers=scorers,
        dialogues=dialogues,
        models=models,
        cast=cast,
    )


def cases_that_cannot_begin(settings: RunSettings, suite: Suite) -> dict[str, Problem]:
    """Return, by id, what is missing in cases that the agent cannot begin."""
    if settings.agent is None:
        return {}
    from proctor.engine.agents.workspaces import placed_cases

    return placed_cases(registry.build("candidate", settings.agent), suite.cases)[1]


def measured(suite: Suite, settings: RunSettings) -> Suite:
    """Add the measures for several attempts and several judges."""
    names = {measure.name for measure in suite.measures}
    added = []
    if (settings.attempts or 1) > 1 and "accuracy" in names and SINGLE not in names:
        same = next(measure for measure in suite.measures if measure.name == "accuracy")
        added.append(Spec(name=SINGLE, params=registry.variant_of(same)))
    panel = settings.panel
    if (len(panel.judges) > 1 or panel.repeats > 1) and "agreement" not in names:
        added.append(Spec(name="agreement"))
    return replace(suite, measures=(*suite.measures, *added))


def open_sandbox(settings: RunSettings) -> "Sandbox":
    """Return the requested sandbox, or raise an error if it does not work here."""
    sandbox: Sandbox = registry.build("sandbox", settings.sandbox)
    if problems := list(sandbox.problems()):
        raise MissingResource(
            f"the suite has programs to run, and there is no safe place for them: {problems[0]}"
        )
    return sandbox


class ExecutorOnDemand:
    """The executor of a run, built when something is first scored in a process.

    One that a person chose is built at once: a cluster that is not there is told before any work.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._built: Executor | None = None
        if settings.executor.name != LOCAL:
            self()

    def __call__(self) -> "Executor":
        if self._built is None:
            spec, allow_import = self._settings.executor, self._settings.suite.allow_import
            params = {**spec.params, "allow_import": allow_import}
            self._built = registry.build("executor", Spec(name=spec.name, params=params))
        return self._built

    async def close(self) -> None:
        """Leave no process behind."""
        if self._built is not None:
            await self._built.close()


@asynccontextmanager
async def opened_tools(ready: PreparedRun, store: Store) -> AsyncIterator[Tools]:
    """Give what scores a run, and leave no process behind."""
    executor = ExecutorOnDemand(ready.settings)
    sandbox = await _sandbox(ready, store, executor)
    workers = _program_workers(ready, sandbox)
    try:
        yield Tools(
            executor=executor,
            sandbox=sandbox,
            programs=0 if sandbox is None else sandbox.places.most,
            program_workers=workers,
        )
    finally:
        await executor.close()
        if workers is not None:
            await workers.close()
        if sandbox is not None:
            await sandbox.close()


async def _sandbox(
    ready: PreparedRun, store: Store, executor: "Callable[[], Executor]"
) -> "SharedSandbox | None":
    """Return the sandbox of the run's programs; none where there are no programs."""
    if not ready.scorers.need_sandbox(ready.suite) and not ready.needs_sandbox:
        return None
    from proctor.engine.run.sandbox_cache import SharedSandbox, StoredResults

    inner = executor().sandbox(ready.settings.sandbox) or open_sandbox(ready.settings)
    places = await executor().width() or available_cores()
    return SharedSandbox(
        inner=inner,
        results=StoredResults(store),
        limit=places,
        brings_along=ready.scorers.place,
    )


def _program_workers(
    ready: PreparedRun, sandbox: "SharedSandbox | None"
) -> "ProgramWorkers | None":
    """Return workers for programs; none where there are none, or no need of workers."""
    if sandbox is None:
        return None
    from proctor.engine.run.program_workers import workers_for

    return workers_for(ready.settings, sandbox, ready.suite.language)


def _attempts_missing(settings: RunSettings, suite: Suite) -> Iterator[Problem]:
    """Yield where the number of attempts does not fit the way to fold them, or a measure."""
    if settings.on_file:
        return
    attempts, size = settings.attempts or 1, parse_fold(suite.reduce).size or 1
    if attempts % size:
        above = -(-attempts // size) * size
        yield Problem(
            message=f"{attempts} attempts do not fill buckets of {size}: a best of fewer is lower,"
            f" and so is the rate of {suite.reduce} (fix: --attempts {above})",
            severity="warning",
        )
    for spec in suite.measures:
        k = spec.params.get("k")
        if spec.name in REPEATED and isinstance(k, int) and k > attempts:
            yield Problem(
                message=f"{spec.name.removesuffix('k')}{k} needs {k} attempts at a case, and there"
                f" will be {attempts} (fix: --attempts {k})",
                severity="warning",
            )


def _wanting(
    settings: RunSettings, suite: Suite, scorers: Scorers, dialogues: Dialogues
) -> list[Problem]:
    """Return what this machine lacks, as warnings."""
    problems = [*scorers.missing(suite), *_attempts_missing(settings, suite)]
    if scorers.need_judge(suite) and not settings.panel.judges:
        problems.append(Problem(message=NO_JUDGE, severity="warning"))
    consulted = set() if settings.on_file else dialogues.needs(suite)
    if settings.panel.judges and not scorers.need_judge(suite) and "judge" not in consulted:
        problems.append(Problem(message=IDLE_JUDGE, severity="warning"))
    runs_programs = scorers.need_sandbox(suite) or (
        not settings.on_file and dialogues.need_sandbox(suite)
    )
    if runs_programs and not open_sandbox(settings).safe:
        problems.append(Problem(message=NO_BOUNDARY, severity="warning"))
    return problems
