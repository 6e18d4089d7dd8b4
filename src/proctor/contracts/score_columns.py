"""Attempts to score as columns, and the scores of one criterion on all of them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.core.attempt import AttemptStatus
from proctor.core.fingerprint import plain
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.io import json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRows:
    """Attempts to score: what most scorers look at as columns, all the rest on demand."""

    outputs: Sequence[str]
    references: Sequence[tuple[str, ...]]
    prompts: Sequence[str]
    context: Callable[[int], Any]
    """Makes the ScoreContext of a row: all that a scorer may look at."""
    unanswered: Collection[int] = ()
    """The rows whose attempts gave no answer, in order."""

    def __len__(self) -> int:
        return len(self.outputs)

    @classmethod
    def of(cls, contexts: Sequence[Any]) -> "ScoreRows":
        """Make columns of contexts."""
        silent = AttemptStatus.UNANSWERED
        return cls(
            outputs=[ctx.output for ctx in contexts],
            references=[ctx.references for ctx in contexts],
            prompts=[ctx.prompt for ctx in contexts],
            context=contexts.__getitem__,
            unanswered=[i for i, ctx in enumerate(contexts) if ctx.attempt.status is silent],
        )

    def take(self, places: Sequence[int]) -> "ScoreRows":
        """Return some of the rows."""
        silent = set(self.unanswered)
        return replace(
            self,
            outputs=[self.outputs[i] for i in places],
            references=[self.references[i] for i in places],
            prompts=[self.prompts[i] for i in places],
            context=lambda i: self.context(places[i]),
            unanswered=[i for i, place in enumerate(places) if place in silent],
        )


@dataclass(slots=True, kw_only=True)
class ScoreColumn:
    """The scores of many attempts, field by field."""

    points: list[float | None]
    out_of: list[float | None]
    reasons: list[str]
    details: list[Json]
    """JSON values; bytes are JSON that is written already."""
    statuses: list[ScoreStatus] = field(default_factory=list)
    """Left empty where every row is scored."""

    def __post_init__(self) -> None:
        if not self.statuses:
            self.statuses = [ScoreStatus.SCORED] * len(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def empty(cls, rows: int) -> "ScoreColumn":
        """Make a column whose rows are still to be put."""
        return cls(
            points=[None] * rows,
            out_of=[None] * rows,
            reasons=[""] * rows,
            details=[None] * rows,
        )

    @classmethod
    def of(cls, scores: Iterable[Score]) -> "ScoreColumn":
        """Make a column of scores."""
        listed = list(scores)
        return cls(
            points=[score.points for score in listed],
            out_of=[score.out_of for score in listed],
            reasons=[score.reason for score in listed],
            details=[score.detail for score in listed],
            statuses=[score.status for score in listed],
        )

    def score(self, row: int) -> Score:
        """Return the score of one attempt."""
        detail = self.details[row]
        return Score(
            status=self.statuses[row],
            points=self.points[row],
            out_of=self.out_of[row],
            reason=self.reasons[row],
            detail=json_bytes.loads(detail) if type(detail) is bytes else detail,
        )

    def put(self, row: int, score: Score) -> None:
        """Set the score of one attempt."""
        self.points[row], self.out_of[row] = score.points, score.out_of
        self.reasons[row], self.details[row] = score.reason, score.detail
        self.statuses[row] = score.status

    def put_rows(self, places: Sequence[int], column: "ScoreColumn") -> None:
        """Set the scores of some attempts, which were scored as a column of their own."""
        for row, place in enumerate(places):
            self.points[place], self.out_of[place] = column.points[row], column.out_of[row]
            self.reasons[place], self.details[place] = column.reasons[row], column.details[row]
            self.statuses[place] = column.statuses[row]

    def status_values(self) -> list[str]:
        """Return all statuses as they are stored."""
        scored = ScoreStatus.SCORED
        if self.statuses.count(scored) == len(self.statuses):
            return [scored.value] * len(self.statuses)
        return [status.value for status in self.statuses]

    def written_details(self) -> list[bytes | None]:
        """Return all details as JSON; none where there is no detail."""
        return [
            detail if detail is None or type(detail) is bytes else json_bytes.dumps(plain(detail))
            for detail in self.details
        ]
