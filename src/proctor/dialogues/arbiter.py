"""The judge of a dialogue: a ruling on every turn, or the reason why there is none."""

from dataclasses import dataclass
from typing import Any

from proctor.contracts.judge import Ruling
from proctor.core.attempt import UNDECIDED
from proctor.core.exchange import Sampling
from proctor.core.fingerprint import plain
from proctor.core.suite import Json, Message
from proctor.dialogues.conversation import Conversation, DialogueStopped
from proctor.errors import BudgetError, JudgeError, ModelError

UNREADABLE = "JudgeJSONParseFailed"
UNREACHABLE = "JudgeUnreachable"


@dataclass(frozen=True)
class Arbiter:
    """The judge of a dialogue, asked in one way."""

    tries: int
    sampling: Sampling | None = None
    reader: Any = None
    """Another way to read a reply; rulings that fail then have one reason, whatever the cause."""

    async def rule(
        self,
        talk: Conversation,
        messages: tuple[Message, ...],
        verdict: type[Any],
        salt: str = "",
    ) -> Ruling[Any]:
        """Return the ruling, or raise Stopped with what the judge said instead."""
        judge = talk.ctx.judge
        if judge is None:
            raise DialogueStopped(UNREACHABLE, "there is no judge")
        try:
            ruling = await judge.ask(
                messages,
                verdict,
                tries=self.tries,
                salt=f"{talk.ctx.salt}/t{talk.turn}{salt}",
                sampling=self.sampling,
                reader=self.reader,
            )
        except BudgetError:
            raise
        except JudgeError as error:
            talk.spend("judge", error.usage)
            record = _failure_record(len(error.raw) or self.tries, error.raw)
            record["usage"] = plain(error.usage)
            reason = UNREADABLE if self.reader else error.reason or UNREADABLE
            raise DialogueStopped(reason, str(error), record) from None
        except ModelError as error:
            reason = UNREADABLE if self.reader else UNREACHABLE
            record = _failure_record(self.tries if self.reader else 0, ())
            raise DialogueStopped(
                reason, f"the judge could not be reached: {error}", record
            ) from None
        talk.spend("judge", ruling.usage)
        return ruling


def ruled(correct: bool | None) -> bool:
    """Return whether a final answer is correct; a panel whose votes are even has not ruled."""
    if correct is None:
        raise DialogueStopped(UNDECIDED, "the judges are divided on whether the answer is correct")
    return correct


def _failure_record(tries: int, raw: tuple[str, ...]) -> dict[str, Json]:
    return {"rung": "", "tries": tries, "raw": list(raw)}
