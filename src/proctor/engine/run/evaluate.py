"""Evaluation of one candidate on one suite, from reading to the stored run."""

import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from proctor.contracts.case_spool import Keyed
from proctor.contracts.report import RunView
from proctor.core.fingerprint import suite_key
from proctor.core.run import (
    STOPPED_EARLY,
    Run,
    Signature,
)
from proctor.core.suite import Suite
from proctor.engine.models.budget import Budget, RefusedCalls
from proctor.engine.models.roles import Models, SharedCalls
from proctor.engine.run import read_suite
from proctor.engine.run.aggregate import RunSums
from proctor.engine.run.attempt_writer import AttemptWriter, RunRows
from proctor.engine.run.collect_answers import AnswerImporter
from proctor.engine.run.later_findings import Ending, concluded, stored_results
from proctor.engine.run.lock import allow_time_to_sum_up, alone, at_work
from proctor.engine.run.names import named_run, namesake_notice, open_label
from proctor.engine.run.prepare import ExecutorOnDemand, PreparedRun, opened_tools, prepare
from proctor.engine.run.score import Graded, RunScoring, blocks_of
from proctor.engine.run.score_dispatch import Kind, Tools, kind_of
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import ROWS_ARE_KEPT, RunSettings
from proctor.engine.run.signature import (
    refused_before,
    refused_for_others,
    refused_in,
    signature,
    with_refused,
)
from proctor.errors import BudgetError, Problem, ProctorError, StoreError, SuiteError, UsageError
from proctor.io.concurrency import LISTENER, loop_needed, tallied
from proctor.records import dataclass
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.contracts.dialect import Reading
    from proctor.engine.run.collect import CollectedCounts
    from proctor.engine.run.stop_early import StopRule

LARGE_FILE = 16 * 2**20
"""Size of a suite in bytes from which a notice says that it is being read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Progress of one phase of a run."""

    phase: str
    done: int
    total: int | None
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished run with its notices."""

    view: RunView
    warnings: tuple[Problem, ...]
    graded: Graded
    stopped: str = ""
    """Why the run stopped before its end, if it did."""


async def evaluate(
    settings: RunSettings,
    store: Store,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Evaluate a candidate on the one suite of a path; stored work is reused."""
    outcomes = await evaluate_all(settings, store, progress, notice)
    if len(outcomes) != 1:
        raise UsageError(f"{settings.suite.path} makes several runs; expected one")
    return outcomes[0]


async def evaluate_all(
    settings: RunSettings,
    store: Store,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
    refused: Callable[[str, ProctorError], None] | None = None,
    shared: SharedCalls | None = None,
) -> list[Outcome]:
    """Evaluate a candidate on all suites of a path, one run each; all are checked first.

    ``progress`` is told how far each run is, ``notice`` what a person should know meanwhile.
    Each prompt makes a run of its own. Several candidates may be evaluated with what is ``shared``,
    the money above all. A suite of several that cannot be run is
    told to ``refused``, where that is there, and the others are run; else it is raised.
    """
    models = Models(
        store, settings.calls, notice, Budget() if shared is None else shared.budget, shared=shared
    )
    size = settings.suite.path.stat().st_size if settings.suite.path.is_file() else 0
    if size >= LARGE_FILE:
        notice(f"reading {settings.suite.path}, {size / 2**20:,.0f} MiB: this takes a while")
    with _within_network(settings), _rare_collections(), _told(progress):
        try:
            if (outcome := await _in_bulk(settings, store, models, progress)) is not None:
                return [outcome]
            readings = read_suite.read_usable(settings.suite)
            runs = [
                (reading, one)
                for reading in readings
                for one in _for_each_prompt(settings, reading.suite)
            ]
            trial = _Trial(refused if len(readings) > 1 else None, len(runs))
            prepared = []
            for reading, one in runs:
                with trial.of(reading.suite.name):
                    ready = prepare(one, _usable(reading), models)
                    _check_gates(ready)
                    _check_earlier(ready, store)
                    prepared.append(ready)
            if not all(map(_waits_for_nothing, prepared)):
                await loop_needed()
            outcomes = []
            for ready in prepared:
                with trial.of(ready.suite.name):
                    outcomes.append(await _examine(ready, store, progress))
            return outcomes
        finally:
            await models.close()


def _for_each_prompt(settings: RunSettings, suite: Suite) -> Sequence[RunSettings]:
    """Return the settings of one run for each prompt."""
    if not settings.prompts and not suite.prompts:
        return [settings]
    from proctor.engine.run.prompts import with_prompts

    return with_prompts(settings, suite)


def _waits_for_nothing(ready: PreparedRun) -> bool:
    """Tell whether answers are on file and all scorers score here and now."""
    scorers, settings = ready.scorers, ready.settings
    if not settings.on_file or settings.stop is not None:
        return False
    kinds = {kind_of(scorers.of(criterion)) for criterion in scorers.examples(ready.suite)}
    return kinds <= {Kind.INSTANT}


@contextmanager
def _told(progress: Callable[[RunProgress], None]) -> Iterator[None]:
    """Report within the block how many cases were read, checked, stored and summed up."""

    def report(phase: str, done: int, total: int | None) -> None:
        progress(RunProgress(phase=phase, done=done, total=total))

    token = LISTENER.set(report)
    try:
        yield
    finally:
        LISTENER.reset(token)


async def _in_bulk(
    settings: RunSettings,
    store: Store,
    models: Models,
    progress: Callable[[RunProgress], None],
) -> Outcome | None:
    """Evaluate many answers on file part by part; None where that is not for this run."""
    if not settings.may_be_bulk:
        if settings.bulk:
            models.notice(ROWS_ARE_KEPT)
        return None
    from proctor.engine.bulk.driver import evaluate_in_bulk

    await loop_needed()
    executor = ExecutorOnDemand(settings)

    def report(phase: str, done: int, total: int, failed: int) -> None:
        progress(RunProgress(phase=phase, done=done, total=total, failed=failed))

    try:
        ended = await evaluate_in_bulk(settings, store, models, executor, report)
    finally:
        await executor.close()
    if ended is None:
        # Of a shared store without a place for files, that has been said.
        if settings.bulk and store.part_folders.folder is not None:
            models.notice(ROWS_ARE_KEPT)
        return None
    view, warnings, graded = ended
    return Outcome(view=view, warnings=warnings, graded=graded)


def _within_network(settings: RunSettings) -> AbstractContextManager[None]:
    """Block the network within the block, if requested."""
    if not settings.calls.offline:
        return nullcontext()
    from proctor.engine.models.network_guard import offline

    return offline()


@dataclass
class _Trial:
    """The suites of one command, some of which may not be runnable."""

    refused: Callable[[str, ProctorError], None] | None
    left: int
    """How many may still be run; the error of the last one is raised."""

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Report a suite that cannot be run, and continue with the others."""
        try:
            yield
        except (StoreError, BudgetError):
            raise
        except ProctorError as error:
            self.left -= 1
            if self.refused is None or not self.left:
                raise
            self.refused(name, error)


def _usable(reading: "Reading") -> "Reading":
    if reading.problems:
        raise SuiteError(reading.problems)
    return reading


def _check_gates(ready: PreparedRun) -> None:
    """Raise what is wrong with the gates, before anything is asked."""
    if ready.settings.gates:
        from proctor.engine.run.gates import check_gates, measure_ends

        settings, measures = ready.settings, measure_ends(ready.suite)
        check_gates(settings.gates, ready.suite, measures, against=bool(settings.against))


def _check_earlier(ready: PreparedRun, store: Store) -> None:
    """Raise, before anything is asked, if the run to compare with is not there."""
    if ready.settings.against:
        from proctor.engine.compare.baselines import earlier_run

        if earlier_run(store, ready.settings.against, ready.suite.name) is None:
            ready.models.notice(
                f"the suite {ready.suite.name!r} has no baseline yet: nothing is compared"
                " (`proctor baseline RUN` pins one)"
            )


async def _examine(
    ready: PreparedRun, store: Store, progress: Callable[[RunProgress], None]
) -> Outcome:
    settings, suite = ready.settings, ready.suite
    keyed = Keyed(suite.cases)
    key = suite_key(suite, keyed.keys())
    if settings.unknown_candidate:
        ready = ready.relabelled(open_label(settings, suite, key, store))
        settings = ready.settings
    run = named_run(settings, suite, key, store)
    if notice := namesake_notice(run, store):
        ready.models.notice(notice)

    rule: StopRule | None = None
    if settings.stop is not None:
        from proctor.engine.run.stop_early import stop_rule

        rule = stop_rule(settings, suite, store, store.runs.find(run.id) or run)

    async def collect(tools: Tools) -> RunRows:
        writer = AttemptWriter(store, run.id)
        if rule is not None:
            return await _interview_until(ready, writer, tools, rule, progress)
        if settings.on_file:
            await _collect_answers(ready, writer, progress)
        else:
            await _interview(ready, writer, tools, progress)
        return writer.rows

    put = partial(store.suites.put, suite, key, keyed)
    work = Work(put_suite=put, collect=collect, rule=rule)
    return await carry_out(ready, store, run, work, progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Parts of a run: its suite, stored with its first attempts, and their collector."""

    put_suite: Callable[[], object]
    collect: Callable[[Tools], Awaitable[RunRows]]
    rule: "StopRule | None" = None
    """When the run may end before its last case."""


async def carry_out(
    ready: PreparedRun,
    store: Store,
    run: Run,
    work: Work,
    progress: Callable[[RunProgress], None] = lambda _: None,
) -> Outcome:
    """Collect the attempts of a run, score them, and sum up."""
    async with alone(store, run, ready.models.notice):
        earlier = refused_before(store, run)
        ready.models.leave_out(earlier)
        run = with_refused(run, earlier, {})
        with at_work(store, run, work.put_suite):
            return await _carry_out(ready, store, run, work, progress)


async def _carry_out(
    ready: PreparedRun,
    store: Store,
    run: Run,
    work: Work,
    progress: Callable[[RunProgress], None],
) -> Outcome:
    settings, suite, scorers = ready.settings, ready.suite, ready.scorers
    budget = ready.models.budget
    refused_calls = RefusedCalls.watch()
    before = store.runs.find(run.id)
    earlier = refused_in(run)
    ready.models.on_refused = lambda now: store.liveness.note(
        with_refused(run, earlier, now), work.put_suite
    )
    async with opened_tools(ready, store) as tools:
        fresh = settings.on_file and store.summaries.get(run.id) is None
        if fresh and (apart := scorers.in_processes(suite)):
            await tools.executor().warm(apart)
        with ready.models.spread(tools.executor):
            rows = await work.collect(tools)
            store.liveness.begin(run.id)
            sums = _sums(run, suite, rows)
            graded = await _score(ready, rows, tools, sums, progress, paid=work.rule is not None)
    others = refused_for_others(store, run, ready.models.labels)
    done = with_refused(run, others, earlier, ready.models.refused)
    if (agent := ready.cast.agent) is not None:
        from proctor.engine.run.resources import processors_by, with_resources

        where = ready.settings.sandbox.name if ready.needs_sandbox else None
        done = with_resources(
            done, agent, ready.concurrency, where, processors_by(suite, tools.sandbox)
        )
    if budget.overdrawn and not refused_calls.any:
        ready.models.notice(budget.overdrawn)
    allow_time_to_sum_up(store, run, len(suite.cases))
    if work.rule is not None:
        done = _stopped_early(ready, store, done, work.rule, refused=refused_calls.any)
    ended = Ending(stopped=refused_calls.any, max_unscored=settings.max_unscored)
    view = _finished(store, done, suite, sums, signed_by=scorers, ending=ended)
    earlier_scorers = before.signed if before else Signature.of({})
    for name, old, new in view.run.signed.changed_scorers(earlier_scorers):
        ready.models.notice(
            f"the scorer {name!r} is another than when this run was last made (version {old}, now"
            f" {new}): its scores were made again"
        )
    return Outcome(
        view=view,
        warnings=ready.reading.warnings,
        graded=graded,
        stopped=budget.words if refused_calls.any else "",
    )


def _stopped_early(
    ready: PreparedRun, store: Store, run: Run, rule: "StopRule", *, refused: bool
) -> Run:
    """Say what the question of a run came to, and mark it where it ended before its last case."""
    attempts = max(1, ready.settings.attempts or 1)
    present = store.attempts.count(run.id) // attempts
    if not refused:
        ready.models.notice(rule.words(present))
    early = rule.stopped(present)
    if early is None:
        return run
    return replace(run, settings={**run.settings, STOPPED_EARLY: early})


async def _collect_answers(
    ready: PreparedRun, writer: AttemptWriter, progress: Callable[[RunProgress], None]
) -> None:
    answers = ready.settings.answers_in_memory or ready.settings.answers
    assert answers is not None
    collector = AnswerImporter(
        writer=writer,
        whole=ready.reading.suite,
        suite=ready.suite,
        scorers=ready.scorers,
        columns=ready.settings.suite.columns,
    )
    await collector.collect(
        answers,
        ready.settings.attempts,
        lambda done: progress(RunProgress(phase="collect", done=done, total=None)),
    )


async def _interview(
    ready: PreparedRun,
    writer: AttemptWriter,
    tools: Tools,
    progress: Callable[[RunProgress], None],
) -> None:
    interviewer = ready.interviewer(writer, tools)

    def report(counts: "CollectedCounts") -> None:
        progress(
            RunProgress(phase="collect", done=counts.done, total=counts.total, failed=counts.failed)
        )

    with _settled():
        if interviewer.missing() or interviewer.ignore_stored:
            await ready.check()
            writer.store.liveness.begin(writer.run_id)
        ready.models.budget.before_all(interviewer.used())
        async with _proxied(ready):
            await interviewer.collect(report)


async def _interview_until(
    ready: PreparedRun,
    writer: AttemptWriter,
    tools: Tools,
    rule: "StopRule",
    progress: Callable[[RunProgress], None],
) -> RunRows:
    """Put cases to the candidate in random order, and score them, until it is sure."""
    from proctor.engine.run.stop_early import scored_results

    store, budget = writer.store, ready.models.budget
    reached, before = False, 0

    def report(counts: "CollectedCounts") -> None:
        total = len(ready.suite.cases) * (ready.settings.attempts or 1)
        progress(
            RunProgress(
                phase="collect", done=before + counts.done, total=total, failed=counts.failed
            )
        )

    async with _proxied(ready):
        for batch in rule.batches(ready.concurrency):
            interviewer = ready.interviewer(writer, tools, batch)
            if not reached and interviewer.missing():
                await ready.check()
                store.liveness.begin(writer.run_id)
                reached = True
            budget.before_all(interviewer.used())
            counts = await interviewer.collect(report)
            before += counts.done
            part = RunRows(store, writer.run_id, positions=batch).drop_memory()
            rule.take(batch, await scored_results(ready, part, tools))
            if rule.answered or budget.refused:
                break
    return RunRows(store, writer.run_id).drop_memory()


def _proxied(ready: PreparedRun) -> AbstractAsyncContextManager[None]:
    """Route an agent's calls through a proxy within the block."""
    if ready.cast.seats is None:
        return nullcontext()
    from proctor.engine.agents.run_proxy import run_proxy

    return run_proxy(ready.cast.seats, ready.settings.proxy, ready.models)


async def _score(
    ready: PreparedRun,
    rows: RunRows,
    tools: Tools,
    sums: RunSums,
    progress: Callable[[RunProgress], None],
    *,
    paid: bool = False,
) -> Graded:
    """Make missing scores, and sum up all cases as they pass by.

    What was ``paid`` for on the way is known to the budget already.
    """
    total = rows.store.scores.count(rows.run_id)

    def report(graded: Graded) -> None:
        done = graded.judged + graded.stored
        progress(RunProgress(phase="grade", done=done, total=total, failed=graded.failed))

    ignore_stored = ready.settings.calls.record is not None
    scoring = RunScoring(
        store=rows.store,
        rows=rows,
        dispatcher=ready.dispatcher(rows.store, tools, look_first=not ignore_stored),
        progress=report,
        ignore_stored=ignore_stored,
        notice=ready.models.notice,
    )
    if not paid:
        ready.models.budget.before_all(scoring.used())
    async with aclosing(scoring.blocks()) as blocks:
        async for block in blocks:
            sums.add(block)
    return scoring.counted


def finish(
    store: Store, run: Run, suite: Suite, scorers: Scorers | None, *, rows: RunRows | None = None
) -> RunView:
    """Sum up a run whose scores are in the store, and store the numbers.

    A run that was not scored here keeps its signature.
    """
    rows = rows or RunRows(store, run.id).drop_memory()
    sums = _sums(run, suite, rows)
    for block in blocks_of(rows.iter_cases()):
        sums.add(block)
    return _finished(store, run, suite, sums, signed_by=scorers)


def _sums(run: Run, suite: Suite, rows: RunRows) -> RunSums:
    header = replace(suite, cases=())
    return RunSums(
        header,
        interval=run.settings.get("interval", "bounded"),
        hold=rows.are_in_memory,
        stored_results=partial(stored_results, rows.store, run.id, header),
    )


def _finished(
    store: Store,
    run: Run,
    suite: Suite,
    sums: RunSums,
    *,
    signed_by: Scorers | None,
    ending: Ending | None = None,
) -> RunView:
    """Store the numbers of a run; the view has its results if they are in memory."""
    header, summary = sums.suite, sums.summary()
    if run.stopped_early is not None:
        from proctor.engine.run.stop_early import at_any_time

        summary = at_any_time(run, summary)
    store.results.put(run.id, tallied("sum up", sums.rows(), summary.totals.cases))
    done = replace(
        run,
        status=(ending or Ending()).status(summary.totals),
        signature=signature(run, suite, summary, signed_by) if signed_by else run.signature,
    )
    return concluded(store, done, summary, header, sums.results if sums.hold else None)


COLLECT_EVERY = 50_000
"""How many new objects make Python look for cycles of garbage among them."""


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for cycles of garbage less often: most of what a run makes stays until its end.

    What was loaded before is neither looked at nor counted meanwhile.
    """
    before = gc.get_threshold()
    if not 0 < before[0] <= COLLECT_EVERY:
        yield
        return
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        with _settled():
            yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _settled() -> Iterator[None]:
    """Freeze long-lived objects, so that garbage collection skips them."""
    frozen = gc.get_freeze_count() > 0
    gc.freeze()
    try:
        yield
    finally:
        if not frozen:
            gc.unfreeze()
