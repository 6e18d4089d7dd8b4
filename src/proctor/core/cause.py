"""Whose fault it is that an attempt did not end well."""

from collections.abc import Iterable
from enum import StrEnum

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.rounds import RoundState, rounds_of
from proctor.core.score import Score, ScoreStatus

CAUSE = "cause"
"""Where an attempt's notes keep whose fault it was that it failed."""
_NO_USER = "SimulatorFailed"
_LIMITS = ("it took longer than", "it wrote more", "it had more than", "it used more")
_SURROUNDINGS = (
    "No space left on device", "ended by SIGKILL", "it ended what watches over it",
    "cannot be started", "the environment was lost", "the environment did not run it",
)  # fmt: skip


class Cause(StrEnum):
    """Whose fault it was."""

    CANDIDATE = "candidate"
    PROVIDER = "provider"
    """The model or agent could not be reached, was too busy, or refused the key."""
    ENVIRONMENT = "environment"
    """The machine, the sandbox or the files of the case."""
    VERIFIER = "verifier"
    """What scores the attempt broke, or took too long."""
    JUDGE = "judge"
    SIMULATOR = "simulator"
    LIMIT = "limit"
    """Time, money, output or processes came to their end."""


_WORDS = frozenset(cause.value for cause in Cause)


def causes_in(text: str) -> frozenset[Cause]:
    """Read causes with commas between them; none where a text says something else."""
    words = {word.strip() for word in text.split(",")}
    return frozenset(map(Cause, words)) if words <= _WORDS else frozenset()


def cause_of(attempt: Attempt, scores: Iterable[Score] = ()) -> Cause | None:
    """Return whose fault it was; none for an attempt that ended well, or of which nobody knows.

    An attempt that was answered has ended well, unless one of its scores could not be made.
    """
    noted = attempt.notes.get(CAUSE)
    if isinstance(noted, str) and noted in _WORDS:
        return Cause(noted)
    if attempt.status is AttemptStatus.STOPPED:
        return Cause.SIMULATOR if attempt.notes.get("reason") == _NO_USER else Cause.JUDGE
    if attempt.status is AttemptStatus.UNANSWERED:
        return _of_silence(attempt)
    if attempt.status is AttemptStatus.ANSWERED:
        failed = [score.reason for score in scores if score.status is ScoreStatus.FAILED]
        if not failed:
            return None
        if any(words in reason for reason in failed for words in _SURROUNDINGS):
            return Cause.ENVIRONMENT
        return Cause.JUDGE if any("judge" in reason for reason in failed) else Cause.VERIFIER
    return None


def cause_of_failure(text: str, *, of_agent: bool) -> Cause:
    """Return whose fault it was that a candidate broke, by what is told of it."""
    if any(words in text for words in _SURROUNDINGS):
        return Cause.ENVIRONMENT
    return Cause.CANDIDATE if of_agent else Cause.PROVIDER


def _of_silence(attempt: Attempt) -> Cause:
    """Return why there is no answer: a limit was passed, or the candidate had none."""
    rounds = rounds_of(attempt)
    last = rounds[-1] if rounds else {}
    text = last.get("error", "") if last.get("state") == RoundState.FAILED else attempt.error
    return Cause.LIMIT if any(words in str(text) for words in _LIMITS) else Cause.CANDIDATE
