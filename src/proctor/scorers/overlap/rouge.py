"""Overlap of the answer with references: ROUGE."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.io import json_bytes
from proctor.scorers.overlap.rouge_texts import (
    METRICS,
    RougeText,
    RougeValues,
    prepared,
    values_against,
)

if TYPE_CHECKING:
    from proctor.contracts.score_columns import ScoreColumn, ScoreRows

MOST_CELLS = 400_000_000
"""Characters of answer times reference that are compared at once, in less than a second."""
MOST_LINES = 10_000
"""Lines of answer times reference of which that is so, each being compared with each."""


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class Rouge(TextScorer):
    """Compare the answer with references by ROUGE's F-measure, the best reference counting.

    The F-measure is mapped so that ``low`` gives nothing and ``high`` gives full marks. References
    are those given here, or else the case's own. Tokens are lower-case words of any script, sign by
    sign where it writes no spaces.
    """

    version: ClassVar[str] = "2"
    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    ascii_only: ClassVar[bool] = False
    """Whether tokens are made of plain letters and digits alone."""

    metric: Literal["rouge1", "rouge2", "rougeL", "rougeLsum"] = "rougeL"
    references: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    low: float = 0.0
    high: float = 1.0

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        references = self.references or references
        if not references:
            return Score.failed("there is no reference to compare with", out_of=1.0)
        answer = RougeText.of(output, self.ascii_only)
        rows = [
            values_against(prepared(reference, self.ascii_only), answer) for reference in references
        ]
        points, reason, detail = self._summary(rows)
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        references = self.references or references
        lines = output.count("\n") + 1
        return super().takes_long(output, references) or any(
            len(output) * len(reference) > MOST_CELLS
            or lines * (reference.count("\n") + 1) > MOST_LINES
            for reference in references
        )

    def _summary(self, rows: Sequence[RougeValues]) -> tuple[float, str, dict[str, float]]:
        """Return points, reason and detail of the values against each reference."""
        values, best = rows[0], 0
        if len(rows) > 1:
            column = METRICS.index(self.metric)
            values = tuple(map(max, *rows))
            best = max(range(len(rows)), key=lambda i: rows[i][column])
        detail = dict(zip(METRICS, values, strict=True))
        raw = detail[self.metric]
        points = min(max((raw - self.low) / (self.high - self.low), 0.0), 1.0)
        reason = f"{self.metric} {raw:.4f} against reference {best + 1} of {len(rows)}"
        if (self.low, self.high) != (0.0, 1.0):
            reason += f", from {self.low:g} (nothing) to {self.high:g} (full marks)"
        detail["normalized_score"], detail["best_reference"] = points, best
        return points, reason, detail

    @classmethod
    def score_column(cls, scorers: "Sequence[Rouge]", rows: "ScoreRows") -> "ScoreColumn":
        from proctor.contracts.columns import text_by_text
        from proctor.contracts.score_columns import ScoreColumn
        from proctor.scorers.overlap.rouge_columns import rouge_values

        column = ScoreColumn.empty(len(rows))
        pairs: list[tuple[str, str]] = []
        counts: list[int] = []
        for scorer, output, own in zip(scorers, rows.outputs, rows.references, strict=True):
            references = scorer.references or own
            counts.append(len(references))
            pairs += [(output, reference) for reference in references]
        values = rouge_values(pairs, cls.ascii_only)
        others = [
            row
            for row, (scorer, count) in enumerate(zip(scorers, counts, strict=True))
            if not scorer._put(column, row, tuple(islice(values, count)))
        ]
        if others:
            own_scorers = [scorers[row] for row in others]
            column.put_rows(others, text_by_text(own_scorers, rows.take(others)))
        return column

    def _put(self, column: "ScoreColumn", row: int, values: Sequence[RougeValues]) -> bool:
        """Set a score, or tell that the row has none to be set."""
        if not values or self.high == self.low:
            return False
        points, reason, detail = self._summary(values)
        column.points[row], column.out_of[row] = points, 1.0
        column.reasons[row], column.details[row] = reason, json_bytes.dumps(detail)
        return isfinite(points)

    def problems(self) -> Iterable[str]:
        if self.high <= self.low:
            yield f"high ({self.high:g}) must be greater than low ({self.low:g})"

    def probes(self, case: Case) -> Iterable[Probe]:
        references = self.references or case.references
        return [Probe(kind="reference", answer=reference) for reference in references]
