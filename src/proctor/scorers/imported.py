"""Scores that another tool gave; they are shown and compared, and cannot be made again."""

from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score


@dataclass(frozen=True)
class ImportedScore(Scorer):
    """A value that another tool gave to an attempt, as `proctor import` read it from its results.

    Such a score comes with its attempt. An answer that is scored anew has none: its case needs
    criteria of its own.
    """

    metric: str
    tool: str = ""
    bounded: bool = True
    """Whether all values lie between 0 and 1."""

    instant: ClassVar[bool] = True

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        return (0.0, 1.0) if self.bounded else (None, None)

    def score(self, ctx: ScoreContext) -> Score:
        by = f" by {self.tool}" if self.tool else ""
        return Score.failed(
            f"{self.metric!r} was given{by} and cannot be computed here"
            " (fix: give the case criteria of its own)"
        )
