"""The dialogue with a judge and a user as AskBench's own code holds it: ``compat: original``."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from proctor.contracts.dialogue import DialogueContext
from proctor.core.exchange import Sampling
from proctor.dialogues.arbiter import Arbiter
from proctor.dialogues.clarify import Clarify, Guidance
from proctor.dialogues.conversation import Conversation
from proctor.dialogues.ledger import Ledger
from proctor.dialogues.simulated import SimulatedUser
from proctor.dialogues.verdicts import ArbiterDecision
from proctor.errors import BudgetError, ModelError

# AskBench sends these, whatever its settings say.
_JUDGE = Sampling(temperature=0.0, max_tokens=4096, top_p=1.0)
_USER = {"missing_info": 0.5, "plain": 0.5, "overconfidence": 0.3, "in3": 0.3}


class AnyObject(BaseModel):
    """Hold whatever object the judge gave."""

    given: dict[str, Any]


@dataclass(frozen=True)
class AskBenchUser(SimulatedUser):
    """A simulated user who is asked once, and whose words nobody checks."""

    async def answer(self, talk: Conversation, ledger: Ledger) -> str:
        """Return whatever the user says, the first time; a failure is a word of its own."""
        messages = self.messages(talk)
        talk.user_requests.clear()
        try:
            text = await self._reply(talk, messages, "")
        except BudgetError:
            raise
        except ModelError:
            return "Error"
        return "None" if text is None else text


@dataclass(frozen=True)
class AskBenchClarify(Clarify):
    """Verdicts are read leniently, nobody checks the user, in3 is never strict."""

    user_replies: ClassVar[int] = 1

    compat: Literal["original"] = "original"

    @property
    def _is_strict(self) -> bool:
        return self.strict and self.scenario != "in3"

    @property
    def _guidance(self) -> Guidance:
        return "none" if self.scenario == "in3" and self.guidance == "fata" else self.guidance

    def _conversation(self, ctx: DialogueContext) -> Conversation:
        return Conversation(ctx, failed_as="Error", null_as="None")

    @property
    def _arbiter(self) -> Arbiter:
        return Arbiter(tries=self.tries, sampling=_JUDGE, reader=read_object)

    @property
    def _verdict_type(self) -> type[Any]:
        return AnyObject

    def _decided(self, verdict: Any, points: Sequence[str]) -> ArbiterDecision:
        return decided_leniently(verdict.given, points)

    def _user(self, ctx: DialogueContext) -> SimulatedUser:
        sampling = Sampling(temperature=_USER[self.scenario], max_tokens=4096, top_p=1.0)
        return AskBenchUser(self.scenario, sampling)


def decided_leniently(verdict: dict[str, Any], points: Sequence[str]) -> ArbiterDecision:
    """Rule as AskBench's own code does: truth values of anything, the flag before its own list."""
    listed = verdict.get("missing_required_points")
    missing = tuple(str(name) for name in listed) if isinstance(listed, list) else ()
    flag = verdict.get("all_required_points_resolved")
    final = bool(verdict.get("is_final_answer"))
    return ArbiterDecision(
        final=final,
        correct=bool(verdict.get("is_correct")) if final else None,
        resolved=flag if isinstance(flag, bool) else not points or not missing,
        missing=missing,
        verdict=verdict,
    )


def read_object(text: str) -> AnyObject:
    """Read a reply as AskBench does: the first fence marked json, else the whole reply."""
    fence = re.search(r"```json\s*(.*?)```", text, re.DOTALL)
    try:
        decoded = json.loads(fence[1] if fence else text, parse_constant=str)
    except (ValueError, RecursionError):
        raise ValueError("no JSON in a fence, and the reply as a whole is none either") from None
    if not isinstance(decoded, dict) or not decoded:
        raise ValueError("expected a JSON object with something in it")
    return AnyObject(given=decoded)
