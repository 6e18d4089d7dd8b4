"""Scoring of a part: answers are joined with their cases, scored as columns, valued and written.

``score_share`` is all that a worker does for a part. It needs no store: it reads the part of the
suite, its share of the answers, and leaves two files that the driver commits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from proctor.contracts.columns import ScoreColumn, ScoreRows, run_scorer_column
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.shares import AnswerRow, RowProblem, ShareReader
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import suite_from
from proctor.core.fold import is_ragged
from proctor.core.rounds import scored_part
from proctor.core.run import CASES_PER_BLOCK, CaseResult
from proctor.core.score import REFERENCE, Score, ScoreStatus
from proctor.core.suite import Json, Suite
from proctor.engine.bulk.answers import ScoredAnswer, StoredCase
from proctor.engine.bulk.check import answer_rows, reader_of
from proctor.engine.bulk.columns import PartColumns
from proctor.engine.bulk.shapes import ShapePool
from proctor.engine.bulk.tasks import PartOutcome, ShareTask
from proctor.engine.run.aggregate import case_result, fold_of, result_row
from proctor.engine.run.plain_cases import PlainCase, PlainColumns, PlainValue
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.totals import RunTotals
from proctor.io import json_bytes
from proctor.io.row_shares import UnreadableShare
from proctor.store.parts.layout import CASES
from proctor.store.rows import LinkedCase

_SCORED = ScoreStatus.SCORED
_MOST_FAILURES = 1_000
_MARKS = (b'"reference"', b'"usage"')
"""What a detail has in it that says how the answer relates to a reference, or used a model."""


def score_share(task: ShareTask) -> PartOutcome:
    """Score the answers to the cases of a part, and write its files."""
    part = part_of(task, suite_from(task.suite, ()))
    try:
        for block in part.blocks():
            part.add(block)
    except RowProblem:
        raise UnreadableShare from None
    return part.written()


def part_of(task: ShareTask, suite: Suite) -> "PartBuilder":
    """Return what a part is made with."""
    scorers = Scorers(allow_import=task.allow_import, language=suite.language)
    pool = ShapePool(scorers, suite.shares_of_value, fold_of(suite))
    return PartBuilder(task=task, suite=suite, pool=pool)


def stored_cases(task: ShareTask, pool: ShapePool) -> Iterator[list[StoredCase]]:
    """Yield the cases of a part of the suite, block by block."""
    file = task.folder.open(task.case_place, CASES)
    in_order = _TagOrder.of(task.tags)
    cases: list[StoredCase] = []
    done = 0
    for batch in file.iter_batches(batch_size=CASES_PER_BLOCK, use_threads=False):
        names = ("position", "id", "source", "document")
        columns = [batch.column(name).to_pylist() for name in names]
        for position, name, source, document in zip(*columns, strict=True):
            if not task.first <= position < task.first + task.cases:
                continue
            content = json_bytes.loads(document)
            if in_order is not None and len(content.get("tags", ())) > 1:
                content["tags"] = in_order.sorted(content["tags"])
            cases.append(StoredCase(position, name, source, content, pool.shape(content)))
            if (position + 1) % CASES_PER_BLOCK == 0:
                yield cases
                done += len(cases)
                cases = []
    if cases:
        done += len(cases)
        yield cases
    if done != task.cases:
        raise UnreadableShare


@dataclass(frozen=True, slots=True)
class _TagOrder:
    """The order in which a suite has its tags."""

    places: Mapping[str, int]

    @classmethod
    def of(cls, names: Sequence[str]) -> "_TagOrder | None":
        """Return the order of these names; none where it is that of documents."""
        if list(names) == sorted(names):
            return None
        return cls({name: place for place, name in enumerate(names)})

    def sorted(self, tags: Mapping[str, Json]) -> dict[str, Json]:
        last = len(self.places)
        return {name: tags[name] for name in sorted(tags, key=lambda n: self.places.get(n, last))}


@dataclass
class PartBuilder:
    """A part that is being made, block by block."""

    task: ShareTask
    suite: Suite
    pool: ShapePool
    columns: PartColumns = field(default_factory=PartColumns)
    sums: list[Json] = field(default_factory=list)
    measures: list[Json] = field(default_factory=list)
    failures: list[list[str]] = field(default_factory=list)
    failed: int = 0
    cases: int = 0
    _reader: ShareReader = field(init=False)
    _measures: Any = None

    def __post_init__(self) -> None:
        self._reader = reader_of(self.task.answers)
        if self.suite.measures:
            from proctor.engine.run.measure_sums import RunMeasures

            self._measures = RunMeasures(self.suite)

    def blocks(self) -> Iterator[list[StoredCase]]:
        """Yield the cases, block by block, with the answers to them."""
        blocks = list(stored_cases(self.task, self.pool))
        by_id = {case.id: case for block in blocks for case in block}
        for share in self.task.shares:
            for row in answer_rows(self._reader, self.task.answers, share):
                if (case := by_id.get(row.case_id)) is None:
                    raise RowProblem
                _enter(case.answers, row)
        most = self.task.attempts
        while blocks:
            block = blocks.pop(0)
            for case in block:
                if len(case.answers) > 1:
                    case.answers.sort(key=lambda answer: answer[0])
                if most is not None:
                    case.answers = [one for one in case.answers if one[0] < most]
            yield block

    def add(self, block: Sequence[StoredCase]) -> None:
        """Score, sum and keep the cases of a block."""
        self.cases += len(block)
        by_case = [list(self._answers(case)) for case in block]
        answers = [answer for one in by_case for answer in one]
        self._score(answers)
        self._count_failures(answers)
        self.columns.add_attempts(answers)
        totals = self._totals()
        if (columns := self._plain_columns(answers, len(block))) is not None:
            totals.add_columns(columns)
            self.columns.add_plain_results(block, columns.values)
            self.sums.append(totals.to_json())
            return
        plain = self._plain(by_case)
        if plain is None:
            self._add_results(
                [
                    (case.position, self._result(case, own))
                    for case, own in zip(block, by_case, strict=True)
                ]
            )
            return
        totals.add_plain([case for case, _ in plain])
        self.columns.add_plain_results(block, [value.value for _, value in plain])
        self.sums.append(totals.to_json())

    def linked(self, block: Sequence[StoredCase]) -> list[LinkedCase]:
        """Return the cases of a block with their attempts, which have no scores yet."""
        return [
            LinkedCase(case.position, case.case, [(one.whole, {}) for one in self._answers(case)])
            for case in block
        ]

    def add_linked(self, block: Sequence[LinkedCase]) -> None:
        """Sum and keep cases that were scored elsewhere."""
        self.cases += len(block)
        for linked in block:
            for _, scores in linked.attempts:
                for criterion in linked.case.criteria:
                    if criterion.id in scores:
                        self._count_failure(scores[criterion.id], criterion.scorer.name)
        self.columns.add_linked(block)
        how = self.pool.how
        self._add_results(
            [(one.position, case_result(how, one.case, one.attempts)) for one in block]
        )

    def _add_results(self, results: Sequence[tuple[int, CaseResult]]) -> None:
        totals = self._totals()
        for _, result in results:
            values = [attempt.value for attempt in result.attempts]
            totals.add(result, ragged=is_ragged(self.pool.how, values))
        self.columns.add_results([result_row(*result) for result in results])
        if self._measures is not None:
            measured = self._measures.new_block()
            measured.add([result for _, result in results])
            self.measures.append(measured.to_json())
        self.sums.append(totals.to_json())

    def _totals(self) -> RunTotals:
        method: Any = self.task.interval
        return RunTotals(shares_of_value=self.suite.shares_of_value, interval=method)

    def _count_failure(self, score: Score, scorer: str) -> None:
        if score.status is ScoreStatus.FAILED:
            self.failed += 1
            if len(self.failures) < _MOST_FAILURES:
                self.failures.append([score.reason, scorer])

    def written(self) -> PartOutcome:
        """Write the files of the part, and return what there is to tell of it."""
        task = self.task
        size, attempts, scores = self.columns.write(task.folder, task.place)
        document = {
            "fingerprint": task.fingerprint,
            "blocks": self.sums,
            "measures": self.measures,
            "failed": self.failed,
        }
        return PartOutcome(
            number=task.number,
            first=task.first,
            cases=self.cases,
            attempts=attempts,
            scores=scores,
            failed=self.failed,
            size=size,
            document=json_bytes.dumps(document).decode(),
            failures=self.failures,
        )

    def _answers(self, case: StoredCase) -> Iterator[ScoredAnswer]:
        if not case.answers:
            yield ScoredAnswer(case, 0, "", Attempt.of(case.id, None))
        for number, row in case.answers:
            if row.rest is None:
                yield ScoredAnswer(case, number, row.output or "", None)
            else:
                attempt = self._reader.attempt(row, number, case.case.messages)
                yield ScoredAnswer(case, number, attempt.output, attempt)

    def _score(self, answers: Sequence[ScoredAnswer]) -> None:
        """Score all answers, those at cases of one shape together."""
        by_shape: dict[int, list[ScoredAnswer]] = {}
        for answer in answers:
            if answer.attempt is None or answer.attempt.status is AttemptStatus.ANSWERED:
                by_shape.setdefault(id(answer.stored.shape), []).append(answer)
        for rows in by_shape.values():
            columns = [
                self._column(place, rows) for place in range(len(rows[0].stored.shape.criteria))
            ]
            for number, answer in enumerate(rows):
                answer.columns, answer.row = columns, number

    def _column(self, place: int, rows: Sequence[ScoredAnswer]) -> ScoreColumn:
        """Score answers by the criterion at a place."""
        criterion = rows[0].stored.shape.criteria[place]
        scorers = self.pool.scorers_of(
            [row.stored.content["criteria"][place]["scorer"] for row in rows]
        )

        def context(number: int) -> ScoreContext:
            row = rows[number]
            return ScoreContext(case=row.stored.case, attempt=scored_part(criterion, row.whole))

        if criterion.turn is None and all(row.attempt is None for row in rows):
            return run_scorer_column(
                scorers,
                ScoreRows(
                    outputs=[row.output for row in rows],
                    references=[tuple(row.stored.content.get("references", ())) for row in rows],
                    prompts=_Prompts(rows),
                    context=context,
                ),
            )
        return run_scorer_column(scorers, ScoreRows.of([context(i) for i in range(len(rows))]))

    def _count_failures(self, answers: Sequence[ScoredAnswer]) -> None:
        seen: set[int] = set()
        last: Sequence[ScoreColumn] = ()
        for answer in answers:
            if answer.columns is last:
                continue
            last = answer.columns
            for criterion, column in zip(
                answer.stored.shape.criteria, answer.columns, strict=False
            ):
                if id(column) in seen:
                    continue
                seen.add(id(column))
                if ScoreStatus.FAILED not in column.statuses:
                    continue
                for status, reason in zip(column.statuses, column.reasons, strict=True):
                    if status is ScoreStatus.FAILED:
                        self.failed += 1
                        if len(self.failures) < _MOST_FAILURES:
                            self.failures.append([reason, criterion.scorer.name])

    def _plain_columns(self, answers: Sequence[ScoredAnswer], cases: int) -> PlainColumns | None:
        """Return the cases of a block if all of them are plain, and of one simple shape."""
        if self._measures is not None or self.pool.how.size not in (None, 1):
            return None
        if len(answers) != cases:
            return None
        shape, columns = answers[0].stored.shape, answers[0].columns
        if not shape.is_plain or not all(
            one.stored.shape is shape
            and one.attempt is None
            and "cluster" not in one.stored.content
            for one in answers
        ):
            return None
        counted = [columns[place] for place, _, _ in shape.counted]
        if not all(map(_all_scored, counted)) or any(map(_may_relate, columns)):
            return None
        scored: Any = [(column.points, column.out_of) for column in counted]
        if (plain := shape.plain_columns(scored)) is None:
            return None
        tags = [one.stored.content.get("tags", {}) for one in answers]
        case = shape.case
        return PlainColumns(plain.values, case.weight, case.full_score, tags, plain.metrics)

    def _plain(
        self, by_case: Sequence[Sequence[ScoredAnswer]]
    ) -> list[tuple[PlainCase, PlainValue]] | None:
        """Return the cases of a block if all of them are plain."""
        if self._measures is not None or self.pool.how.size not in (None, 1):
            return None
        cases = []
        for answers in by_case:
            if (case := _plain_case(answers)) is None:
                return None
            cases.append(case)
        return cases

    def _result(self, case: StoredCase, answers: Sequence[ScoredAnswer]) -> CaseResult:
        return case_result(
            self.pool.how, case.case, [(answer.whole, answer.scores()) for answer in answers]
        )


@dataclass(frozen=True, slots=True)
class _Prompts(Sequence[str]):
    """The questions of answers, looked up when they are wanted: few scorers do."""

    rows: Sequence[ScoredAnswer]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return _Prompts(self.rows[place])
        return self.rows[place].stored.prompt


def _all_scored(column: ScoreColumn) -> bool:
    return (
        column.statuses.count(_SCORED) == len(column)
        and None not in column.points
        and None not in column.out_of
    )


def _may_relate(column: ScoreColumn) -> bool:
    """Tell whether some detail may say how an answer relates to the references, or used a model."""
    written = [detail for detail in column.details if detail is not None]
    if not all(type(detail) is bytes for detail in written):
        return True
    whole = b"\n".join(written)
    return any(mark in whole for mark in _MARKS)


def _plain_case(answers: Sequence[ScoredAnswer]) -> tuple[PlainCase, PlainValue] | None:
    """Return a case with one answer, all of whose criteria are scored; none for any other."""
    answer = answers[0]
    stored, row = answer.stored, answer.row
    shape, content = stored.shape, stored.content
    if len(answers) > 1 or answer.attempt is not None or not shape.is_plain:
        return None
    if "cluster" in content:
        return None
    scored = []
    for place, _, _ in shape.counted:
        column = answer.columns[place]
        points, marks = column.points[row], column.out_of[row]
        if column.statuses[row] is not _SCORED or points is None or marks is None:
            return None
        scored.append((points, marks))
    if (relations := _relations(answer)) is None:
        return None
    if (value := shape.plain_value(scored)) is None:
        return None
    case = shape.case
    plain = PlainCase(
        stored.id,
        value.value,
        case.weight,
        case.full_score,
        value.scale,
        content.get("tags", {}),
        value.metrics,
        relations,
    )
    return plain, value


def _relations(answer: ScoredAnswer) -> list[Json] | None:
    """Return how an answer relates to the references; none where its scores used a model."""
    relations = []
    for column in answer.columns:
        detail = column.details[answer.row]
        if type(detail) is bytes:
            if not any(mark in detail for mark in _MARKS):
                continue
            detail = json_bytes.loads(detail)
        if detail is not None and isinstance(detail, Mapping):
            if "usage" in detail:
                return None
            if REFERENCE in detail:
                relations.append(detail[REFERENCE])
    return relations


def _enter(answers: list[tuple[int, AnswerRow]], row: AnswerRow) -> None:
    """Enter an answer under its number: the one written, or the next one."""
    number = row.number
    if number is None and not answers:
        answers.append((0, row))
        return
    if number is None:
        number = max((one for one, _ in answers), default=-1) + 1
    if any(one == number for one, _ in answers):
        raise RowProblem
    answers.append((number, row))
