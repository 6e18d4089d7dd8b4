"""Scoring of many outputs at once: what scorers can do by columns is done so."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from proctor.contracts.columns import ScoreColumn, ScoreRows, run_scorer_column, takes_columns
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.case_value import null_value, value_of
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.engine.grading.graded_output import (
    ColumnScores,
    GradedOutput,
    Output,
    attempt_of,
)
from proctor.engine.run.scorer_pool import Scorers

Numbered = tuple[int, Case, Output]
"""An output with its place among all, and its case."""


@dataclass
class ColumnScoring:
    """Scoring of outputs by criteria that need neither a process nor a sandbox nor a judge."""

    scorers: Scorers
    _entries: dict[str, "tuple[Case, tuple[Scorer, ...] | None]"] = field(default_factory=dict)
    """The scorers of cases by id; none of a case that cannot be scored by columns."""

    def fits(self, case: Case, output: Output) -> bool:
        """Tell whether an output can be scored as one row of columns."""
        scorers = self._scorers_of(case)
        if scorers is None or not isinstance(output, str):
            return False
        return not any(scorer.takes_long(output, case.references) for scorer in scorers)

    def grade(self, outputs: Sequence[Numbered]) -> list[GradedOutput]:
        """Score outputs to cases that have the same criteria or others, in their order."""
        by_shape: dict[tuple[str, ...], list[Numbered]] = {}
        for numbered in outputs:
            shape = tuple(criterion.id for criterion in numbered[1].criteria)
            by_shape.setdefault(shape, []).append(numbered)
        graded = [one for ids, group in by_shape.items() for one in self._grade_alike(ids, group)]
        return graded if len(by_shape) == 1 else sorted(graded, key=lambda one: one.index)

    def _grade_alike(self, ids: tuple[str, ...], group: Sequence[Numbered]) -> list[GradedOutput]:
        started = time.monotonic()
        rows = _rows_of(group)
        scorers = [self._scorers_of(case) for _, case, _ in group]
        columns = [
            run_scorer_column([own[place] for own in scorers if own is not None], rows)
            for place in range(len(ids))
        ]
        seconds = (time.monotonic() - started) / len(group)
        return [
            GradedOutput(
                index=index,
                case=case,
                output=output,
                scores=ColumnScores(ids, columns, row),
                worth=value_of(case, _points_of(ids, columns, row)),
                seconds=seconds,
            )
            for row, (index, case, output) in enumerate(group)
        ]

    def _scorers_of(self, case: Case) -> "tuple[Scorer, ...] | None":
        entry = self._entries.get(case.id)
        if entry is None or entry[0] is not case:
            entry = self._entries[case.id] = case, self._columnar(case)
        return entry[1]

    def _columnar(self, case: Case) -> "tuple[Scorer, ...] | None":
        if not case.criteria or any(criterion.turn is not None for criterion in case.criteria):
            return None
        scorers = tuple(self.scorers.of(criterion) for criterion in case.criteria)
        alike = all(takes_columns(one) and one.is_instant for one in scorers)
        return scorers if alike else None


def unanswered(index: int, case: Case) -> GradedOutput:
    """Return the result of a case to which no answer was given."""
    return GradedOutput(index=index, case=case, output=None, scores={}, worth=null_value(case))


def _rows_of(group: Sequence[Numbered]) -> ScoreRows:
    def context(row: int) -> ScoreContext:
        _, case, output = group[row]
        return ScoreContext(case=case, attempt=attempt_of(case, output))

    return ScoreRows(
        outputs=[str(output) for _, _, output in group],
        references=[case.references for _, case, _ in group],
        prompts=[case.prompt for _, case, _ in group],
        context=context,
    )


def _points_of(ids: Sequence[str], columns: Sequence[ScoreColumn], row: int) -> dict[str, Score]:
    """Return what the value of a row is made of, without the details, which take time to read."""
    return {
        name: Score(
            status=column.statuses[row], points=column.points[row], out_of=column.out_of[row]
        )
        for name, column in zip(ids, columns, strict=True)
    }
