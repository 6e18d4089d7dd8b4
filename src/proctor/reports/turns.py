"""What each turn of an attempt is worth, where criteria judge single turns."""

from collections.abc import Iterator
from dataclasses import dataclass

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.rounds import RoundState, rounds_of
from proctor.core.run import AttemptResult
from proctor.core.score import ValueStatus, turn_values
from proctor.core.suite import Case, Json

SCORED, UNSCORED = "scored", "unscored"
NOT_REACHED, AGENT_FAILURE = "not_reached", "agent_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The mark of one turn."""

    turn: int
    """From 0; people count from 1."""
    score: float | None
    """The weighted points."""
    normalized: float | None
    """Their share of all that the turn could give."""
    status: str

    def to_json(self) -> dict[str, Json]:
        """Return the turn as reports write it, counted from 1."""
        return {
            "turn": self.turn + 1,
            "score": self.score,
            "normalized": self.normalized,
            "status": self.status,
        }


def turns_of(case: Case, item: AttemptResult) -> list[Turn]:
    """Return the mark of each turn that has criteria of its own."""
    return list(_turns(case, item))


def _turns(case: Case, item: AttemptResult) -> Iterator[Turn]:
    for turn, value in turn_values(case, item.scores).items():
        status = _status(item.attempt, turn)
        if status != SCORED:
            yield Turn(turn=turn, score=0.0, normalized=0.0, status=status)
        elif value.status is not ValueStatus.SCORED:
            yield Turn(turn=turn, score=None, normalized=None, status=UNSCORED)
        else:
            yield Turn(turn=turn, score=value.points, normalized=value.value, status=SCORED)


def _status(attempt: Attempt, turn: int) -> str:
    rounds = rounds_of(attempt)
    if turn < len(rounds) and rounds[turn].get("state") == RoundState.FAILED:
        return AGENT_FAILURE
    replies = sum(message.role == "assistant" for message in attempt.messages)
    if turn < max(len(rounds), replies):
        return SCORED
    if attempt.status in (AttemptStatus.STOPPED, AttemptStatus.ERROR):
        return SCORED if turn == 0 else NOT_REACHED
    return NOT_REACHED if replies or turn else AGENT_FAILURE
