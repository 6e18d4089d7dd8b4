"""What a judge was shown: the messages of a criterion, written again from what is stored."""

from collections.abc import Sequence
from typing import Any

from proctor import registry
from proctor.contracts.judge import Judge
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.rounds import scored_part
from proctor.core.suite import Case, Criterion, Message
from proctor.errors import JudgeError, ProctorError
from proctor.io.concurrency import run_sync


class _Listener(Judge):
    """A judge who notes what it is asked, and never answers."""

    identity = "listener"

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def ask(self, messages: Sequence[Message], verdict: type[Any], **_: Any) -> Any:
        self.messages += messages
        raise JudgeError("nobody was asked")


def judge_messages(
    case: Case, criterion: Criterion, attempt: Attempt, *, language: str = "en"
) -> list[Message]:
    """Return what a judge is shown first for a criterion; nothing where no judge is asked.

    No model is called and no code of a suite is imported. Later questions, which depend on
    replies, are not among them.
    """
    try:
        scorer = registry.build("scorer", criterion.scorer)
    except ProctorError:
        return []
    if not (scorer.needs_judge and scorer.is_async):
        return []
    listener = _Listener()
    part = scored_part(criterion, attempt)
    context = ScoreContext(case=case, attempt=part, judge=listener, language=language)
    run_sync(run_scorer_async(scorer, context))
    return listener.messages
