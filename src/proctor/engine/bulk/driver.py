"""A large run of answers on file: planned, checked, scored part by part, and summed up.

Workers read, score and write; here parts are committed in order, and their sums added. Parts that
are there already, made with the same answers and scorers, are kept.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.contracts.dialect import Reading
from proctor.contracts.report import RunView
from proctor.core.failures import FailureNotices
from proctor.core.fingerprint import digest, plain, suite_key_of_texts
from proctor.core.run import Run, Summary
from proctor.core.suite import Json, Suite
from proctor.engine.bulk.cases import PartCases
from proctor.engine.bulk.check import reader_of
from proctor.engine.bulk.inputs import CheckedPart, InputReader, Inputs, file_plan
from proctor.engine.bulk.reach import Reach
from proctor.engine.bulk.tasks import PartOutcome, RowFile, ShareTask
from proctor.engine.bulk.workers import ClusterWorkers, WorkerLost, Workers
from proctor.engine.models.roles import Models
from proctor.engine.run import read_suite
from proctor.engine.run.aggregate import BlockTotals
from proctor.engine.run.later_findings import Ending, concluded, stored_results
from proctor.engine.run.lock import alone, at_work
from proctor.engine.run.names import named_run, namesake_notice
from proctor.engine.run.prepare import PreparedRun, prepare
from proctor.engine.run.score import Graded
from proctor.engine.run.score_dispatch import Tools
from proctor.engine.run.scorer_pool import Survey
from proctor.engine.run.settings import BULK_ROWS, LOCAL, RunSettings, SuiteSettings
from proctor.engine.run.signature import signature
from proctor.engine.run.totals import RunTotals
from proctor.errors import Problem, ProctorError, SuiteError
from proctor.io import json_bytes
from proctor.io.concurrency import map_unordered, meanwhile
from proctor.io.parquet_files import note_columns
from proctor.io.row_shares import JSONL, FilePlan, UnreadableShare
from proctor.store.parts.claims import Claim
from proctor.store.parts.files import RUN, PartFolder
from proctor.store.parts.layout import CASES
from proctor.store.parts.rows import RunPart, SuitePart
from proctor.store.store import Store

if TYPE_CHECKING:
    from proctor.contracts.executor import Executor

NATIVE = "native"
BYTES_FOR_WORKER = 2**20
"""So much of the files is worth a process that is started before the rows are counted."""
IN_FLIGHT = 2
"""How many tasks each worker of a cluster is given: one waits while the other is done."""
Report = Callable[[str, int, int, int], None]
"""Is told a phase, how much of how much is done, and how much failed."""


async def evaluate_in_bulk(
    settings: RunSettings,
    store: Store,
    models: Models,
    executor: "Callable[[], Executor]",
    report: Report,
) -> tuple[RunView, tuple[Problem, ...], Graded] | None:
    """Evaluate many answers on file; None where the run is to be made row by row.

    That is so too where something is wrong with a file: the reader of whole files says what.
    """
    if settings.answers is None:
        return None
    if settings.executor.name != LOCAL and not executor().serves:
        return None
    workers = Workers()
    try:
        return await _Bulk(settings, store, models, executor, report, workers).evaluate()
    except (UnreadableShare, SuiteError):
        return None
    finally:
        await workers.close()


@dataclass
class _Bulk:
    """One large run."""

    settings: RunSettings
    store: Store
    models: Models
    executor: "Callable[[], Executor]"
    report: Report
    workers: Workers | ClusterWorkers
    graded: Graded = field(default_factory=Graded)
    claim: Claim = field(default_factory=lambda: Claim("", None))
    _failed_before: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Size and document of the parts that are made again, since some of their scores failed."""

    async def evaluate(self) -> tuple[RunView, tuple[Problem, ...], Graded] | None:
        """Evaluate, and leave no file behind that no row commits, however it ends."""
        folder = self.store.part_folders.folder
        if folder is not None and isinstance(self.workers, Workers):
            self.workers.claim = self.claim = self.store.part_folders.claim()
        try:
            await self._begin(folder)
            return await self._evaluate(folder)
        finally:
            await self.workers.close()
            self.claim.release()
            with suppress(ProctorError, OSError):
                self.store.parts.clear()

    async def _begin(self, folder: PartFolder | None) -> None:
        """Start processes that are sure to be wanted, while the files are looked at."""
        files = [file for file in (self.settings.suite.path, self.settings.answers) if file]
        local = folder is not None and folder.is_local and self.settings.executor.name == LOCAL
        if local and isinstance(self.workers, Workers):
            await self.workers.begin(_workers_for(files))

    async def _evaluate(
        self, folder: PartFolder | None
    ) -> tuple[RunView, tuple[Problem, ...], Graded] | None:
        source = self.settings.suite
        text = source.path.suffix.lower() == JSONL
        if source.dialect not in ("", NATIVE) or (text and not _is_native(source)):
            return None
        (suite_plan, suite_limits), (answers_plan, answers_limits) = await self._plans()
        if not text:
            # Its columns tell the dialect of a table: nobody has to look at them again.
            note_columns(source.path, suite_plan.columns)
            if not _is_native(source):
                return None
        if not self.settings.bulk and answers_plan.rows < BULK_ROWS:
            return None
        if folder is None:
            self.models.notice(
                "the store is shared, and has no place for the files of large runs: rows are kept"
                " (fix: --parts URL, an address that all who read the store can reach)"
            )
            return None
        folder.check()
        self.store.parts.clear()
        inputs: Inputs | None = None
        written: list[str] = []
        try:
            await self._choose_workers(folder)
            reader = InputReader(
                self.settings, NATIVE, self.workers, folder, self.claim, self._tell_reading
            )
            written = reader.written
            limits = suite_limits, answers_limits
            inputs = await reader.read(suite_plan, answers_plan, limits)
            if inputs.suite.dialect != NATIVE or self._needs_rows(inputs.survey):
                return None
            return await self._examine(inputs, folder)
        finally:
            await self.workers.close()
            self._forget(folder, written)
            if inputs is not None and inputs.scratch is not None:
                inputs.scratch.cleanup()

    async def _plans(self) -> list[tuple[FilePlan, dict[str, int]]]:
        """Look at both files; meanwhile load what will be wanted, as the workers do."""
        assert self.settings.answers is not None
        files = self.settings.suite.path, self.settings.answers
        with meanwhile(partial(_load, str(files[0]))):
            return [await file_plan(self.workers, file) for file in files]

    async def _choose_workers(self, folder: PartFolder) -> None:
        """Let processes of this machine read and score, or those of a cluster's nodes."""
        if not folder.is_local:
            await self.workers.close()
            self.workers = Workers(keys=True)
            self.workers.claim = self.claim
        if self.settings.executor.name != LOCAL and isinstance(self.workers, Workers):
            files = [file for file in (self.settings.suite.path, self.settings.answers) if file]
            self.workers = ClusterWorkers(
                executor=self.executor(),
                size=IN_FLIGHT * (await self.executor().width() or 1),
                here=self.workers,
                reach=Reach.of(files, folder, self.claim.token),
                notice=self.models.notice,
            )

    def _needs_rows(self, survey: Survey) -> bool:
        """Tell whether some criterion needs what no worker has."""
        if self.settings.executor.name != LOCAL and not _are_quick(survey):
            # A cluster scores them row by row, all parts at once.
            return True
        return any(kind[0] or kind[1] for kind in survey.examples)

    def _tell_reading(self, done: int, total: int) -> None:
        self.report("read", done, total, 0)

    def _forget(self, folder: PartFolder, places: Sequence[str]) -> None:
        """Delete the parts of a suite that no row commits."""
        used = {part.place for part in self._committed}
        with suppress(Exception):
            folder.delete([place for place in places if place not in used], [CASES])

    _committed: Sequence[SuitePart] = ()

    async def _examine(
        self, inputs: Inputs, folder: PartFolder
    ) -> tuple[RunView, tuple[Problem, ...], Graded]:
        cases = PartCases(folder, tuple((part.place, part.cases) for part in inputs.parts))
        reading = Reading(suite=replace(inputs.suite, cases=cases), warnings=tuple(inputs.warnings))
        ready = prepare(self.settings, reading, self.models, inputs.survey)
        if self.settings.gates:
            from proctor.engine.run.gates import check_gates, measure_ends

            check_gates(
                self.settings.gates,
                ready.suite,
                measure_ends(ready.suite),
                against=bool(self.settings.against),
            )
        header = replace(ready.suite, cases=())
        key = suite_key_of_texts(header, inputs.keys)
        run = named_run(ready.settings, header, key, self.store)
        if notice := namesake_notice(run, self.store):
            self.models.notice(notice)
        put = partial(self._put_suite, header, key, inputs)
        async with alone(self.store, run, self.models.notice):
            with at_work(self.store, run, put):
                before = self.store.runs.find(run.id)
                put()
                self.store.liveness.begin(run.id)
                ended = before is not None and not before.status.is_unfinished
                await self._make(ready, run, inputs, folder, retry=ended)
                view = self._finished(ready, run, header)
        if before is not None:
            for name, old, new in view.run.signed.changed_scorers(before.signed):
                self.models.notice(
                    f"the scorer {name!r} is another than when this run was last made (version"
                    f" {old}, now {new}): its scores were made again"
                )
        return view, ready.reading.warnings, self.graded

    def _put_suite(self, header: Suite, key: str, inputs: Inputs) -> None:
        """Store a suite whose cases are parts; one that has all of its cases keeps them.

        One that has lost files gets all of its cases anew.
        """
        parts = self.store.parts
        if parts.lacks_files(key):
            parts.drop_suite(key)
        with self.store.batch():
            whole = self.store.suites.has_cases(key, inputs.cases)
            self.store.suites.put_header(header, key, inputs.cases)
            if not whole:
                for number, part in enumerate(inputs.parts):
                    committed = SuitePart(
                        number=number,
                        first=part.first,
                        cases=part.cases,
                        place=part.place,
                        size=part.size,
                    )
                    self.store.parts.commit_suite(key, committed)
        self._committed = self.store.parts.of_suite(key)

    async def _make(
        self,
        ready: PreparedRun,
        run: Run,
        inputs: Inputs,
        folder: PartFolder,
        *,
        retry: bool,
    ) -> None:
        """Make the parts that are missing, and commit them in order.

        With ``retry`` those that have failed scores are made again, too.
        """
        parts = inputs.parts
        fingerprint = self._fingerprint(ready, inputs)
        kept = self._kept(run, parts, fingerprint, retry)
        total = sum(part.cases for part in parts)
        done = sum(parts[number].cases for number in kept)
        self.report("grade", done, total, 0)
        tasks = [
            ShareTask(
                suite=plain(replace(ready.suite, cases=())),
                number=number,
                first=part.first,
                cases=part.cases,
                case_place=part.place,
                tags=inputs.tags,
                answers=inputs.answers,
                shares=tuple(inputs.shares.get(number, ())),
                attempts=self.settings.attempts,
                interval=self.settings.interval,
                allow_import=self.settings.suite.allow_import,
                folder=folder,
                place=folder.new_place(RUN, run.id, number, self.claim.new_name()),
                fingerprint=fingerprint,
            )
            for number, part in enumerate(parts)
            if number not in kept
        ]
        places = {task.number: task.place for task in tasks}
        notices = FailureNotices(self.models.notice, "not scored")
        waiting: dict[int, PartOutcome] = {}
        in_order = iter(places)
        following = next(in_order, -1)
        async with aclosing(self._outcomes(ready, inputs.survey, tasks)) as outcomes:
            async for outcome in outcomes:
                waiting[outcome.number] = outcome
                while following in waiting:
                    ready_part = waiting.pop(following)
                    self._commit(run, ready_part, places[following])
                    following = next(in_order, -1)
                    done += ready_part.cases
                    self.graded.judged += ready_part.scores
                    self.graded.failed += ready_part.failed
                    for reason, scorer in ready_part.failures:
                        notices.add(reason, scorer)
                    self.report("grade", done, total, self.graded.failed)
        notices.close()

    async def _outcomes(
        self, ready: PreparedRun, survey: Survey, tasks: Sequence[ShareTask]
    ) -> AsyncGenerator[PartOutcome, None]:
        """Score parts by workers; here what is not sure to end, or has cost one its life."""
        from proctor.engine.bulk.score_here import PartScoring

        tools = Tools(executor=self.executor, sandbox=None)
        here = PartScoring(ready.dispatcher(self.store, tools, look_first=False))
        quick = _are_quick(survey)

        async def outcome_of(task: ShareTask) -> PartOutcome:
            if quick:
                with suppress(WorkerLost):
                    outcome: PartOutcome = await self.workers.run(task)
                    return outcome
            return await here.score(task)

        limit = self.workers.size if quick else 1
        async with aclosing(map_unordered(tasks, outcome_of, limit=limit)) as outcomes:
            async for outcome in outcomes:
                yield outcome

    def _commit(self, run: Run, outcome: PartOutcome, place: str) -> None:
        if self._failed_before.get(outcome.number) == (outcome.size, outcome.document):
            # All failed again: readers keep the files that they know.
            self.store.parts.delete_files([place])
            return
        part = RunPart(
            number=outcome.number,
            first=outcome.first,
            cases=outcome.cases,
            attempts=outcome.attempts,
            scores=outcome.scores,
            place=place,
            size=outcome.size,
            document=outcome.document,
        )
        self.store.parts.commit(run.id, part)

    def _kept(
        self, run: Run, parts: Sequence[CheckedPart], fingerprint: str, retry: bool
    ) -> set[int]:
        """Return the parts that are there already and stay; those that do not fit are deleted."""
        ledger = self.store.parts
        gone = set(ledger.missing(run.id))
        kept = set()
        fitting = 0
        committed = ledger.of_run(run.id)
        for part, (number, document) in zip(committed, ledger.documents(run.id), strict=False):
            wanted = parts[number] if number < len(parts) else None
            fits = wanted is not None and (part.first, part.cases) == (wanted.first, wanted.cases)
            made_with, failed = _made_with(document)
            if not fits or number in gone or made_with != fingerprint:
                break
            fitting += 1
            if retry and failed:
                self._failed_before[number] = part.size, document
            else:
                self.graded.stored += part.scores
                kept.add(number)
        if len(committed) > fitting:
            ledger.drop_run(run.id, after=fitting - 1)
        return kept

    def _fingerprint(self, ready: PreparedRun, inputs: Inputs) -> str:
        """Return what scores depend on besides the suite: answers, scorers, settings."""
        specs = ready.scorers.specs(ready.suite)
        versions = {name: ready.scorers.version(spec) for name, spec in sorted(specs.items())}
        tools = {name: ready.scorers.built(spec).toolchain() for name, spec in specs.items()}
        settings = self.settings.attempts, self.settings.interval
        return digest(
            inputs.answers_content, versions, tools, settings, plain(replace(ready.suite, cases=()))
        )

    def _finished(self, ready: PreparedRun, run: Run, header: Suite) -> RunView:
        summary = self._summary(run, header)
        ending = Ending(max_unscored=self.settings.max_unscored)
        done = replace(
            run,
            status=ending.status(summary.totals),
            signature=signature(run, ready.suite, summary, ready.scorers),
        )
        return concluded(self.store, done, summary, header)

    def _summary(self, run: Run, header: Suite) -> Summary:
        """Add up the sums of all parts."""
        method = self.settings.interval
        totals = BlockTotals(shares_of_value=header.shares_of_value, interval=method)
        measures = None
        if header.measures:
            from proctor.engine.run.measure_sums import RunMeasures

            measures = RunMeasures(header)
        for _, text in self.store.parts.documents(run.id):
            document = json_bytes.loads(text)
            for block in document["blocks"]:
                totals.add_block(
                    RunTotals.from_json(
                        block, shares_of_value=header.shares_of_value, interval=method
                    )
                )
            if measures is not None:
                for block in document["measures"]:
                    measured = measures.new_block()
                    measured.load_json(block)
                    measures.add_block(measured)
        summary = replace(totals.summary(), clustered_by=header.cluster)
        if measures is None:
            return summary
        results = partial(stored_results, self.store, run.id, header)
        return replace(summary, measures=measures.measured(results))


def _load(path: str) -> None:
    """Load what reads the rows of a suite, and what knows parts."""
    reader_of(RowFile(path=path, dialect=NATIVE))
    import_module("proctor.store.parts.ledger")


def _is_native(source: SuiteSettings) -> bool:
    return read_suite.find_dialect(source.path, source.dialect).name == NATIVE


def _workers_for(files: Sequence[Path]) -> int:
    """Return how many processes have something to do with files of this size."""
    try:
        return 1 + sum(file.stat().st_size for file in files) // BYTES_FOR_WORKER
    except OSError:
        return 0


def _are_quick(survey: Survey) -> bool:
    return all(_is_quick(kind) for kind in survey.examples)


def _is_quick(kind: tuple[bool, ...]) -> bool:
    """Tell whether a scorer needs no process that can be killed, and nothing to wait for."""
    _, _, instant, _, finishes, is_async, _ = kind
    return instant and not finishes and not is_async


def _made_with(document: str) -> tuple[Json, Json]:
    """Return the fingerprint of a part, and how many of its scores failed."""
    try:
        content = json_bytes.loads(document)
        return content.get("fingerprint"), content.get("failed")
    except (ValueError, AttributeError):
        return None, None
