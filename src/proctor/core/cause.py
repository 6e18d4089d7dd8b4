"""Whose fault it is that an attempt did not end well."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.rounds import RoundState, rounds_of
from proctor.core.score import Score, ScoreStatus
from proctor.errors import (
    AgentError,
    BudgetError,
    ConditionError,
    DialectError,
    JudgeError,
    MissingResource,
    ModelError,
    PartDamaged,
    PluginError,
    ProctorError,
    SandboxError,
    StoreError,
    StoreGone,
    SuiteError,
    UsageError,
)

CAUSE = "cause"
"""Where an attempt's notes keep whose fault it was that it failed."""
_OF_THE_USER = "Simulator"
"""How the reasons begin for which a simulated user stopped an attempt."""
_LIMITS = ("it took longer than", "it wrote more", "it had more than", "it used more")
_SURROUNDINGS = (
    "No space left on device", "ended by SIGKILL", "it ended what watches over it",
    "cannot be started", "the environment was lost", "the environment did not run it",
    "the container is gone", "there is no sandbox", "the sandbox did not run",
    "that scored this were lost", "what the store has of this is damaged",
)  # fmt: skip
_JUDGES = re.compile(
    r"the judges? |there is no judge|no readable verdict|none of \d+ judges|Judge[A-Z]\w+: "
)
"""How the reasons begin of scores for which a judge is to blame."""
_RAISED = re.compile(r"\w+: (\w+)(?:: |$)")
"""How the reason of a scorer begins that raised an error."""


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
_OF_ERRORS: Mapping[type[Exception], tuple[Cause, Cause]] = {
    AgentError: (Cause.CANDIDATE, Cause.VERIFIER),
    BudgetError: (Cause.LIMIT, Cause.LIMIT),
    ConditionError: (Cause.VERIFIER, Cause.VERIFIER),
    DialectError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    JudgeError: (Cause.JUDGE, Cause.JUDGE),
    MissingResource: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    ModelError: (Cause.PROVIDER, Cause.JUDGE),
    PartDamaged: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    PluginError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    ProctorError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    SandboxError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    StoreError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    StoreGone: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    SuiteError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    UsageError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    TimeoutError: (Cause.LIMIT, Cause.VERIFIER),
    OSError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
}
"""Whose fault an error is that ends an attempt, and one that a scorer raises. Where scorers ask a
model, it is a judge."""
_IN_SCORERS = {error.__name__: causes[1] for error, causes in _OF_ERRORS.items()}


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
        by_user = str(attempt.notes.get("reason") or "").startswith(_OF_THE_USER)
        return Cause.SIMULATOR if by_user else Cause.JUDGE
    if attempt.status is AttemptStatus.UNANSWERED:
        return _of_silence(attempt)
    if attempt.status is AttemptStatus.ANSWERED:
        return cause_of_scores(scores)
    return None


def cause_of_scores(scores: Iterable[Score]) -> Cause | None:
    """Return whose fault it was that scores could not be made; none where all of them were.

    Where they have several causes, what others depend on comes first: the machine, then a limit.
    """
    causes = {_of_reason(score.reason) for score in scores if score.status is ScoreStatus.FAILED}
    first = (Cause.ENVIRONMENT, Cause.LIMIT, Cause.JUDGE, Cause.VERIFIER)
    return next((cause for cause in first if cause in causes), None)


def cause_of_error(error: BaseException) -> Cause:
    """Return whose fault an error is that ended an attempt."""
    if isinstance(error, ModelError) and error.cause in _WORDS:
        return Cause(error.cause)
    cause = next(
        (_OF_ERRORS[kind][0] for kind in type(error).__mro__ if kind in _OF_ERRORS),
        Cause.ENVIRONMENT,
    )
    told_by_words = cause in (Cause.CANDIDATE, Cause.PROVIDER)
    return Cause.ENVIRONMENT if told_by_words and _is_of_surroundings(str(error)) else cause


def _is_of_surroundings(text: str) -> bool:
    return any(words in text for words in _SURROUNDINGS)


def _of_reason(reason: str) -> Cause:
    """Return whose fault a failed score is, by its reason."""
    if _is_of_surroundings(reason):
        return Cause.ENVIRONMENT
    if (raised := _RAISED.match(reason)) and raised[1] in _IN_SCORERS:
        return _IN_SCORERS[raised[1]]
    return Cause.JUDGE if _JUDGES.match(reason) else Cause.VERIFIER


def _of_silence(attempt: Attempt) -> Cause:
    """Return why there is no answer: a limit was passed, or the candidate had none."""
    rounds = rounds_of(attempt)
    last = rounds[-1] if rounds else {}
    text = last.get("error", "") if last.get("state") == RoundState.FAILED else attempt.error
    return Cause.LIMIT if any(words in str(text) for words in _LIMITS) else Cause.CANDIDATE
