"""One criterion on one attempt: its points, and why."""

from enum import StrEnum

from proctor.core.suite import Json
from proctor.records import dataclass


class ScoreStatus(StrEnum):
    """Outcome of a criterion."""

    SCORED = "scored"
    FAILED = "failed"
    """The judge, the sandbox or the criterion itself broke: not the candidate's fault."""
    NOT_APPLICABLE = "not_applicable"

    @property
    def is_final(self) -> bool:
        """Tell whether the next run keeps the score, instead of making it again."""
        return self is not ScoreStatus.FAILED


REFERENCE, EQUAL, CONTAINED, ABSENT = "reference", "equal", "contained", "absent"
"""The key in a score's detail that says how an answer relates to the references, and its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Points that one criterion gave to one attempt, and why."""

    status: ScoreStatus = ScoreStatus.SCORED
    points: float | None = None
    out_of: float | None = None
    """The most points to be had; none for a number that is only shown and never added."""
    reason: str = ""
    detail: Json = None

    @classmethod
    def failed(cls, reason: str, *, out_of: float | None = None, detail: Json = None) -> "Score":
        """Make the score of a criterion that could not be scored."""
        return cls(status=ScoreStatus.FAILED, out_of=out_of, reason=reason, detail=detail)


def needs_scoring(score: Score | None) -> bool:
    """Tell whether a score is still to be made: there is none, or it failed."""
    return score is None or not score.status.is_final
