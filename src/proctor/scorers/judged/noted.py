"""What the dialogue noted while it was held, as a score."""

from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score, ScoreStatus


@dataclass(frozen=True)
class Noted(Scorer):
    """Take the score from what the dialogue noted: yes or no, or a number that is only shown."""

    instant: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True

    key: str = "correct"

    def score(self, ctx: ScoreContext) -> Score:
        """Look the note up; what is noted as unknown does not apply."""
        notes = ctx.attempt.notes
        reason = str(notes.get("reason") or "")
        if self.key not in notes:
            return Score.failed(f"the dialogue noted nothing as {self.key!r}", out_of=1.0)
        value = notes[self.key]
        if value is None:
            return Score(status=ScoreStatus.NOT_APPLICABLE, reason=reason)
        if isinstance(value, bool):
            return Score(points=float(value), out_of=1.0, reason=reason)
        if isinstance(value, int | float) and isfinite(value):
            return Score(points=float(value), out_of=None, reason=reason)
        return Score.failed(f"what the dialogue noted as {self.key!r} is no number", out_of=1.0)
