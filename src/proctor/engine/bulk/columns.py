"""The columns of a part's files, gathered block by block."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.store.parts.layout import (
    ATTEMPTS,
    RESULTS,
    AttemptColumns,
    ResultColumnsToWrite,
    ScoreColumns,
    attempt_table,
    columns_of_attempts,
    columns_of_results,
    output_of,
    rest_of,
    result_table,
)
from proctor.store.rows import LinkedCase, ResultRow, encode

if TYPE_CHECKING:
    from proctor.contracts.columns import ScoreColumn
    from proctor.core.suite import Criterion
    from proctor.engine.bulk.answers import ScoredAnswer, StoredCase
    from proctor.store.parts.files import PartFolder

_ANSWERED = AttemptStatus.ANSWERED.value


@dataclass
class PartColumns:
    """Attempts with their scores, and results."""

    attempts: int = 0
    scores: int = 0
    _attempts: list[AttemptColumns] = field(default_factory=list)
    _results: list[ResultColumnsToWrite] = field(default_factory=list)

    def add_attempts(self, answers: "Sequence[ScoredAnswer]") -> None:
        """Add the attempts of a block with all their scores."""
        scores = _scores_of(answers)
        columns = AttemptColumns(
            position=[answer.stored.position for answer in answers],
            number=[answer.number for answer in answers],
            status=[_ANSWERED if a.attempt is None else a.attempt.status.value for a in answers],
            output=[a.output if a.attempt is None else output_of(a.attempt) for a in answers],
            attempt=[
                None if a.attempt is None else rest_of(a.attempt, a.stored.id) for a in answers
            ],
            attempt_key=[None] * len(answers),
            scores=scores,
        )
        self.attempts += len(answers)
        self.scores += len(scores.criterion)
        self._attempts.append(columns)

    def add_linked(self, block: Sequence[LinkedCase]) -> None:
        """Add the attempts of a block that was scored elsewhere."""
        columns = columns_of_attempts(block)
        self.attempts += len(columns.position)
        self.scores += len(columns.scores.criterion)
        self._attempts.append(columns)

    def add_results(self, rows: Sequence[ResultRow]) -> None:
        """Add the results of a block."""
        self._results.append(columns_of_results(rows))

    def add_plain_results(self, block: "Sequence[StoredCase]", values: Sequence[float]) -> None:
        """Add the results of a block whose cases are all plain."""
        columns = ResultColumnsToWrite(
            position=[case.position for case in block],
            case_id=[case.id for case in block],
            status=[ValueStatus.SCORED.value] * len(block),
            value=values,
            full=[case.shape.case.full_score for case in block],
            weight=[case.shape.case.weight for case in block],
            low=values,
            high=values,
            spread=[0.0] * len(block),
            cluster=[None] * len(block),
            tags=[encode(case.content.get("tags", {})) for case in block],
        )
        self._results.append(columns)

    def write(self, folder: "PartFolder", place: str) -> tuple[int, int, int]:
        """Write both files; return their size, and how many attempts and scores they have."""
        scores = _joined(ScoreColumns, [one.scores for one in self._attempts], offsets=[])
        ends = [0]
        for one in self._attempts:
            start = ends[-1]
            ends += [start + offset for offset in one.scores.offsets[1:]]
        scores = replace(scores, offsets=ends)
        attempts = _joined(AttemptColumns, self._attempts, scores=scores)
        size = folder.write(place, ATTEMPTS, attempt_table(attempts))
        size += folder.write(
            place, RESULTS, result_table(_joined(ResultColumnsToWrite, self._results))
        )
        return size, self.attempts, self.scores


def _scores_of(answers: "Sequence[ScoredAnswer]") -> ScoreColumns:
    if answers and answers[0].columns:
        columns = answers[0].columns
        if all(answer.columns is columns for answer in answers):
            return _crossed(answers[0].stored.shape.criteria, columns)
    offsets = [0]
    names: list[str] = []
    scorers: list[str] = []
    statuses: list[str] = []
    points: list[float | None] = []
    marks: list[float | None] = []
    reasons: list[str] = []
    details: list[bytes | None] = []
    written: dict[int, list[bytes | None]] = {}
    for answer in answers:
        row = answer.row
        for criterion, column in zip(answer.stored.shape.criteria, answer.columns, strict=False):
            if id(column) not in written:
                written[id(column)] = column.written_details()
            names.append(criterion.id)
            scorers.append(criterion.scorer.name)
            statuses.append(column.statuses[row].value)
            points.append(column.points[row])
            marks.append(column.out_of[row])
            reasons.append(column.reasons[row])
            details.append(written[id(column)][row])
        offsets.append(len(names))
    return ScoreColumns(
        offsets=offsets,
        criterion=names,
        scorer=scorers,
        status=statuses,
        points=points,
        out_of=marks,
        reason=reasons,
        detail=details,
    )


def _crossed(criteria: "Sequence[Criterion]", columns: "Sequence[ScoreColumn]") -> ScoreColumns:
    """Return the scores of answers that are the rows of the same columns, answer by answer."""
    rows = len(columns[0])
    return ScoreColumns(
        offsets=list(range(0, len(columns) * rows + 1, len(columns))),
        criterion=[criterion.id for criterion in criteria] * rows,
        scorer=[criterion.scorer.name for criterion in criteria] * rows,
        status=_in_turn([column.status_values() for column in columns]),
        points=_in_turn([column.points for column in columns]),
        out_of=_in_turn([column.out_of for column in columns]),
        reason=_in_turn([column.reasons for column in columns]),
        detail=_in_turn([column.written_details() for column in columns]),
    )


def _in_turn(columns: Sequence[Sequence[Any]]) -> list[Any]:
    return list(chain.from_iterable(zip(*columns, strict=True)))


def _joined(kind: Any, blocks: Sequence[Any], **other: Any) -> Any:
    """Put the columns of blocks one after the other."""
    columns = {
        column.name: [value for block in blocks for value in getattr(block, column.name)]
        for column in fields(kind)
        if column.name not in other
    }
    return kind(**columns, **other)
