"""The simplest dialogue: the case's messages, and one reply."""

from dataclasses import dataclass

from proctor.contracts.dialogue import Dialogue, DialogueContext
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Json
from proctor.dialogues.conversation import Conversation


@dataclass(frozen=True)
class SingleTurn(Dialogue):
    """The case's messages, and the candidate's one reply."""

    failed_as: str | None = None
    """The answer text that a failed call stands for; none lets the error pass."""
    null_as: str | None = None
    """The answer text that a reply without content stands for; none means no answer."""

    async def hold(self, ctx: DialogueContext) -> Attempt:
        talk = Conversation(ctx, failed_as=self.failed_as, null_as=self.null_as)
        text = await talk.ask(ctx.case.messages)
        notes: dict[str, Json] = {"finish": talk.finish} if talk.finish else {}
        if text is None:
            if talk.thinking:
                notes["thinking"] = talk.thinking
            return talk.attempt(AttemptStatus.UNANSWERED, notes)
        return talk.attempt(AttemptStatus.ANSWERED, notes)
