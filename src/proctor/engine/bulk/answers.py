"""Cases of a part, and the answers to them, on their way to columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from proctor.contracts.columns import ScoreColumn
from proctor.contracts.shares import AnswerRow
from proctor.core.attempt import Attempt
from proctor.core.encoding import case_from
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.engine.run.aggregate import stored_score
from proctor.engine.run.plain_cases import CaseShape


@dataclass(slots=True)
class StoredCase:
    """A case as the part of its suite has it."""

    position: int
    id: str
    source: str
    content: dict[str, Json]
    shape: CaseShape
    answers: list[tuple[int, AnswerRow]] = field(default_factory=list)
    """The answers to it with their numbers, in order."""
    _case: Case | None = None

    @property
    def case(self) -> Case:
        """Return the case itself, made when it is first wanted."""
        if self._case is None:
            self._case = case_from({**self.content, "source": self.source})
        return self._case

    @property
    def prompt(self) -> str:
        """Return the question, as the case itself would."""
        return next(
            (m["content"] for m in reversed(self.content["messages"]) if m["role"] == "user"), ""
        )


@dataclass(slots=True)
class ScoredAnswer:
    """An attempt at a case, and its scores as rows of columns."""

    stored: StoredCase
    number: int
    output: str
    attempt: Attempt | None
    """None where it is one text, and nothing else."""
    columns: Sequence[ScoreColumn] = ()
    row: int = 0

    @property
    def whole(self) -> Attempt:
        """Return the attempt itself."""
        if self.attempt is None:
            return Attempt.of(self.stored.id, self.output, index=self.number)
        return self.attempt

    def scores(self) -> dict[str, Score]:
        """Return its scores by criterion."""
        return {
            criterion.id: stored_score(column.score(self.row))
            for criterion, column in zip(self.stored.shape.criteria, self.columns, strict=False)
        }
