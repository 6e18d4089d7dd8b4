"""First pass over the files of a large run: all rows are checked, and answers find their cases."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.contracts.shares import FileRow, RowProblem
from proctor.core.suite import Json, Suite
from proctor.engine.bulk.check import reader_of
from proctor.engine.bulk.criteria_findings import joined
from proctor.engine.bulk.tasks import (
    AnswersTask,
    CheckedAnswers,
    CheckedCases,
    CheckTask,
    ContentTask,
    FileContent,
    PlanTask,
    RowFile,
    SortTask,
)
from proctor.engine.bulk.workers import ClusterWorkers, Workers
from proctor.engine.run.scorer_pool import Survey
from proctor.engine.run.settings import RunSettings
from proctor.errors import Problem
from proctor.io.concurrency import map_unordered, meanwhile
from proctor.io.parquet_files import parquet_limits
from proctor.io.row_shares import JSONL, FilePlan, Share, UnreadableShare, plan_text, rows_of
from proctor.store.parts.claims import Claim
from proctor.store.parts.files import SUITE, PartFolder

PART = 10_000
"""Cases of a part, where nothing speaks for another number."""
MOST_IN_PART = 50_000
BLOCK = 1_000
MOST_BYTES = 64 * 2**20
"""Of the rows of a part, about."""
MOST_TAGS = 1_000
"""Names of tags whose order is kept; others follow them, sorted."""
MOST_RUNS = 8
"""In how many places of a file the answers of a part may lie before they are sorted."""

Tell = Callable[[int, int], None]
"""Is told how many rows of how many are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPart:
    """Cases of the run that were read and written as a part of the suite."""

    first: int
    cases: int
    place: str
    size: int


@dataclass(kw_only=True)
class Inputs:
    """A suite and answers that are as they should be."""

    suite: Suite
    """Without its cases."""
    warnings: list[Problem]
    survey: Survey
    parts: list[CheckedPart]
    tags: list[str]
    """The names of the first tags, in the order in which the suite has them."""
    keys: list[str]
    """Those of the cases, 32 digits each, in one text for each part."""
    answers: RowFile
    answers_content: str
    """The hash of the file."""
    shares: dict[int, list[Share]] = field(default_factory=dict)
    """The answers to the cases of each part."""
    scratch: "tempfile.TemporaryDirectory[str] | None" = None

    @property
    def cases(self) -> int:
        """Return the number of cases of the run."""
        return sum(part.cases for part in self.parts)


async def file_plan(
    workers: Workers | ClusterWorkers, path: Path
) -> tuple[FilePlan, dict[str, int]]:
    """Return where the rows of a file lie, and how much it may come to."""
    if path.suffix.lower() == JSONL:
        return plan_text(path, BLOCK), {}
    limits = parquet_limits(path)
    return await workers.run(PlanTask(path=_whole(path), limits=limits)), limits


@dataclass
class InputReader:
    """First pass over a suite and answers to it."""

    settings: RunSettings
    dialect: str
    workers: Workers | ClusterWorkers
    folder: PartFolder
    claim: Claim
    tell: Tell
    _done: int = 0
    _total: int = 0
    written: list[str] = field(default_factory=list)
    """The parts of the suite whose files may be there."""

    async def read(self, suite_plan: FilePlan, answers_plan: FilePlan, limits: Any) -> Inputs:
        """Check all rows, and tell which answers belong to which part."""
        suite_limits, answers_limits = limits
        source = self._source(self.settings.suite.path, suite_limits, suite_plan)
        assert self.settings.answers is not None
        answers = self._source(self.settings.answers, answers_limits, None)
        try:
            reader = reader_of(source)
            suite, warnings = reader.header()
        except RowProblem:
            raise UnreadableShare from None
        before = int(source.first_row is not None)
        self._total = suite_plan.rows - before + answers_plan.rows
        case_tasks = self._case_tasks(source, suite, suite_plan, before)
        answer_tasks = [
            AnswersTask(source=answers, share=replace(answers_plan.cut(*cut), path=answers.path))
            for cut in _sizes(answers_plan.rows, PART)
        ]
        content = ContentTask(path=answers.path)
        # What is wanted as soon as all is read is loaded while the workers read.
        with meanwhile(partial(import_module, "numpy")):
            # First the content, since nobody can help the one who reads a whole file.
            results = await self._all([content, *case_tasks, *answer_tasks], _rows_checked)
        answers_content: str = results.pop(0).digest
        checked: list[CheckedCases] = results[: len(case_tasks)]
        tags = dict.fromkeys(tag for one in checked for tag in one.tags)
        try:
            reader.check_clusters(
                tags,
                {name for one in checked for name in one.clustered},
            )
        except RowProblem:
            raise UnreadableShare from None
        sizes = _sizes(suite_plan.rows - before, self._part_size(suite_plan))
        parts = [
            CheckedPart(first=first, cases=one.cases, place=place, size=one.size)
            for (first, _), one, place in zip(sizes, checked, self.written, strict=True)
            if one.cases
        ]
        inputs = Inputs(
            suite=suite,
            warnings=[*warnings, *self._warnings(checked)],
            survey=joined(one.survey for one in checked),
            parts=parts,
            tags=list(islice(tags, MOST_TAGS)),
            keys=[one.keys for one in checked],
            answers=answers,
            answers_content=answers_content,
        )
        checked_answers: list[CheckedAnswers] = results[len(case_tasks) :]
        positions = _positions(checked, checked_answers)
        await self._share_out(inputs, positions, answers_plan, [one.share for one in answer_tasks])
        return inputs

    def _source(self, path: Path, limits: Any, plan: FilePlan | None) -> RowFile:
        root = self.settings.suite.root
        return RowFile(
            path=_whole(path),
            dialect=self.dialect,
            root=None if root is None else _whole(root),
            first_row=None if plan is None else _first_row(path, plan),
            limits=limits,
        )

    def _part_size(self, plan: FilePlan) -> int:
        """Return how many cases a part has: those of a large row group are read together."""
        largest = max(plan.groups, default=0)
        size = min(MOST_IN_PART, max(PART, -(-largest // BLOCK) * BLOCK))
        room = MOST_BYTES * plan.rows // max(1, plan.size)
        return max(BLOCK, min(size, room // BLOCK * BLOCK))

    def _case_tasks(
        self, source: RowFile, suite: Suite, plan: FilePlan, before: int
    ) -> list[CheckTask]:
        limit = self.settings.suite.limit
        most = plan.rows - before if limit is None else limit
        tasks = []
        for number, (first, rows) in enumerate(_sizes(plan.rows - before, self._part_size(plan))):
            digits = self.claim.new_name()
            self.written.append(self.folder.new_place(SUITE, self.written_for, number, digits))
            tasks.append(
                CheckTask(
                    source=source,
                    share=replace(plan.cut(before + first, rows), path=source.path),
                    first=first,
                    keep=max(0, min(rows, most - first)),
                    allow_import=self.settings.suite.allow_import,
                    language=suite.language,
                    folder=self.folder,
                    place=self.written[-1],
                )
            )
        return tasks

    @property
    def written_for(self) -> str:
        """Return what the folder of the new parts is named after: their key is not known yet."""
        return f"{_whole(self.settings.suite.path)} {id(self)}"

    async def _all(self, tasks: Sequence[Any], rows: Callable[[Any], int]) -> list[Any]:
        """Do tasks, and return what came of them in their order."""
        results: list[Any] = [None] * len(tasks)

        async def one(number: int) -> tuple[int, Any]:
            return number, await self.workers.run(tasks[number])

        done = map_unordered(range(len(tasks)), one, limit=self.workers.size)
        async with aclosing(done) as numbered:
            async for number, result in numbered:
                results[number] = result
                self._done += rows(result)
                self.tell(self._done, self._total)
        return results

    def _warnings(self, checked: Sequence[CheckedCases]) -> Iterator[Problem]:
        """Yield the warnings of workers, which know the file by its whole path."""
        path = self.settings.suite.path
        for one in checked:
            for fields in one.warnings:
                problem = Problem(**fields)
                same = problem.file == _whole(path)
                yield replace(problem, file=str(path)) if same else problem

    async def _share_out(
        self, inputs: Inputs, positions: Any, plan: FilePlan, shares: Sequence[Share]
    ) -> None:
        """Tell where the answers to the cases of each part lie, or put them together."""
        import numpy as np

        source = inputs.answers
        ends = np.array([part.first + part.cases for part in inputs.parts])
        of_part = np.searchsorted(ends, positions, side="right")
        of_part[of_part >= len(ends)] = -1
        runs = _runs(of_part)
        if len(runs) <= MOST_RUNS * max(1, len(inputs.parts)):
            for part, first, rows in runs:
                if part >= 0:
                    share = replace(plan.cut(first, rows), path=source.path)
                    inputs.shares.setdefault(part, []).append(share)
            return
        inputs.scratch = self.workers.scratch()
        await self._sort(inputs, source, shares, of_part)

    async def _sort(
        self, inputs: Inputs, source: RowFile, shares: Sequence[Share], of_part: Any
    ) -> None:
        assert inputs.scratch is not None
        tasks = []
        start = 0
        for number, share in enumerate(shares):
            parts = of_part[start : start + share.rows].tolist()
            start += share.rows
            target = str(Path(inputs.scratch.name) / f"{number:05}.jsonl")
            tasks.append(SortTask(source=source, share=share, parts=tuple(parts), target=target))
        self._total += start
        results = await self._all(tasks, lambda done: sum(place[3] for place in done.places))
        for result in results:
            for part, offset, line, rows in result.places:
                share = Share(path=result.path, rows=rows, offset=offset, line=line)
                inputs.shares.setdefault(part, []).append(share)


def _rows_checked(done: CheckedCases | CheckedAnswers | FileContent) -> int:
    if isinstance(done, FileContent):
        return 0
    return done.answers if isinstance(done, CheckedAnswers) else len(done.ids) // 16


def _positions(cases: Sequence[CheckedCases], answers: Sequence[CheckedAnswers]) -> Any:
    """Find the case of each answer."""
    if not any(one.has_output for one in answers):
        raise UnreadableShare
    positions = joined_positions(
        _hashes([one.ids for one in cases]), _hashes([one.ids for one in answers])
    )
    _check_numbers(positions, answers)
    return positions


def _whole(path: Path) -> str:
    return os.path.abspath(path)


def _sizes(rows: int, size: int) -> list[tuple[int, int]]:
    return [(first, min(size, rows - first)) for first in range(0, rows, size)]


def _hashes(texts: Sequence[str]) -> Any:
    import numpy as np

    return np.frombuffer(bytes.fromhex("".join(texts)), dtype=">u8").astype("u8")


def joined_positions(cases: Any, answers: Any) -> Any:
    """Return the position of the case of each answer, by the hashes of their ids.

    It is an UnreadableShare where two cases have the same one, or an answer has that of no case.
    """
    import numpy as np

    ordered = np.sort(cases)
    if (ordered[1:] == ordered[:-1]).any():
        raise UnreadableShare
    if np.array_equal(answers, cases):
        return np.arange(len(cases))
    if not len(cases):
        raise UnreadableShare
    # To sort by value alone takes a twentieth of the time of a stable order of places.
    order = np.argsort(cases)
    # Both in order: looking up hashes one by one would miss the caches of the processor each time.
    sorter = np.argsort(answers)
    wanted = answers[sorter]
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    if (ordered[places] != wanted).any():
        raise UnreadableShare
    positions = np.empty(len(answers), dtype=order.dtype)
    positions[sorter] = order[places]
    return positions


def _check_numbers(positions: Any, checked: Sequence[CheckedAnswers]) -> None:
    """Raise an UnreadableShare if two answers are the same attempt at a case."""
    import numpy as np

    if not any(one.numbers for one in checked):
        return
    numbers = [number for one in checked for number in one.numbers or [None] * one.answers]
    following: dict[int, int] = {}
    attempts = []
    for position, written in zip(positions.tolist(), numbers, strict=True):
        number = following.get(position, 0) if written is None else written
        following[position] = max(following.get(position, 0), number + 1)
        attempts.append(position << 31 | number)
    if len(np.unique(np.array(attempts))) < len(attempts):
        raise UnreadableShare


def _runs(of_part: Any) -> list[tuple[int, int, int]]:
    """Return part, first row and number of rows of each run of rows of one part."""
    import numpy as np

    if not len(of_part):
        return []
    starts = np.concatenate(([0], np.flatnonzero(np.diff(of_part)) + 1, [len(of_part)]))
    return [
        (int(of_part[first]), int(first), int(end - first))
        for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def _first_row(path: Path, plan: FilePlan) -> tuple[int, Json] | None:
    """Return the row that describes the suite, where a text begins with one."""
    if path.suffix.lower() != JSONL or not plan.rows:
        return None
    row = FileRow(*next(rows_of(replace(plan.cut(0, 1), path=_whole(path)), {})))
    is_header = isinstance(row.data, dict) and set(row.data) == {"suite"}
    return (row.line, row.data) if is_header else None
