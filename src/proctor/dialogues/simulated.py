"""The simulated user: what it is told, what it answers, and what it must not say."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.contracts.dialogue import DialogueContext
from proctor.core.exchange import Request, Sampling
from proctor.core.suite import Case, Json, Message
from proctor.dialogues.conversation import NO_USER, Conversation, DialogueStopped, transcript_of
from proctor.dialogues.leaks import gives_away, unasked, values_of
from proctor.dialogues.ledger import Ledger, points_of
from proctor.errors import BudgetError, ModelError
from proctor.judging.prompts import NumberOf, Words, load

FAILED = NO_USER
LEAK = "SimulatorLeak"
PROMPTS = {
    "missing_info": "ask_user_missing",
    "plain": "ask_user_missing",
    "overconfidence": "ask_user_overconfidence",
    "in3": "in3_user",
}
AGAIN = ("ask_user_again_answer", "ask_user_again_point")


@dataclass(frozen=True)
class SimulatedUser:
    """A user who answers the candidate's questions, knowing what the user knows and no more."""

    scenario: str
    sampling: Sampling

    async def answer(self, talk: Conversation, ledger: Ledger) -> str:
        """Return the user's next message, or raise Stopped where there is none to be had."""
        messages = self.messages(talk)
        talk.user_requests.clear()
        text = await self._say(talk, messages, "")
        mistake, severe = self._mistake(talk, ledger, text, first=True)
        if mistake is None:
            return text
        ledger.turns[-1].setdefault("refused", []).append(text)
        again = (*messages, Message(role="assistant", content=text), mistake)
        text = await self._say(talk, again, "/again")
        mistake, severe = self._mistake(talk, ledger, text, first=False)
        if mistake is not None and severe:
            ledger.turns[-1]["refused"].append(text)
            await talk.discard_user()
            raise DialogueStopped(LEAK, "the simulated user gave away what it should not, twice")
        return text

    def messages(self, talk: Conversation) -> tuple[Message, ...]:
        """Return what the simulated user is asked."""
        ctx = talk.ctx
        prompt = load(PROMPTS[self.scenario], ctx.language)
        if self.scenario == "overconfidence":
            points = listed(points_of(ctx.case), ctx.language)
            return (prompt.message({}, {"points": points, "message": talk.last}, ctx.marks),)
        transcript = transcript_of(talk.transcript)
        knowledge = json.dumps(self._knowledge(ctx.case), ensure_ascii=False, indent=1)
        own: dict[str, Words | NumberOf] = {
            "transcript": transcript,
            "number": NumberOf(transcript),
        }
        return (prompt.message(own, {"knowledge": knowledge}, ctx.marks),)

    def _knowledge(self, case: Case) -> Json:
        hidden, points = case.hidden, points_of(case)
        if self.scenario == "in3":
            answers = hidden.get("point_answers") or ()
            return {
                "task": hidden.get("question") or case.prompt,
                "vague": bool(hidden.get("vague")),
                "details": dict(zip(points, answers, strict=False)) or list(points),
            }
        knowledge: dict[str, Json] = {
            "real_question": hidden.get("question") or case.prompt,
            "context": hidden.get("info") or "",
            "situation": "the question was put without some of its information",
            "checklist": list(points),
        }
        if hidden.get("point_answers"):
            knowledge["answers"] = dict(zip(points, hidden["point_answers"], strict=False))
        return knowledge

    def _mistake(
        self, talk: Conversation, ledger: Ledger, text: str, *, first: bool
    ) -> tuple[Message | None, bool]:
        """Flag what a reply should not say; return how to tell, and whether it is beyond doubt."""
        case, language = talk.ctx.case, talk.ctx.language
        transcript_texts = [message.content for message in talk.transcript]
        hidden = case.hidden
        private = [str(hidden.get(name) or "") for name in ("question", "info")]
        private += [str(value) for value in hidden.get("point_answers") or ()]
        visible = [*transcript_texts, *points_of(case)]
        allowed = visible if self.scenario == "overconfidence" else [*visible, *private]
        if case.references and gives_away(text, case.references[0], allowed):
            ledger.flag(talk.turn, "AnswerGivenAway", again=not first)
            return Message(role="user", content=load(AGAIN[0], language).text), True
        if self.scenario == "overconfidence":
            return None, False
        values = values_of(ledger.points, hidden.get("point_answers"), private[1])
        unasked_points = unasked(
            text,
            values,
            asked_points=ledger.asked_so_far,
            questions=[m.content for m in talk.exchanged if m.role == "assistant"],
            shown=transcript_texts,
        )
        for one in unasked_points:
            ledger.flag(
                talk.turn, "UnaskedPoint", point=one.point, evidence=one.evidence, again=not first
            )
        if not unasked_points:
            return None, False
        named = {"point": "\n".join(one.point for one in unasked_points)}
        again = load(AGAIN[1], language).message({}, named, talk.ctx.marks)
        return again, unasked_points[0].evidence == "judge"

    async def _say(self, talk: Conversation, messages: Sequence[Message], salt: str) -> str:
        try:
            text = await self._reply(talk, tuple(messages), salt)
        except BudgetError:
            raise
        except ModelError as error:
            raise DialogueStopped(
                FAILED, f"the simulated user could not be reached: {error}"
            ) from None
        if text is None or not text.strip():
            await talk.discard_user()
            raise DialogueStopped(FAILED, "the simulated user said nothing")
        return text

    async def _reply(
        self, talk: Conversation, messages: tuple[Message, ...], salt: str
    ) -> str | None:
        request = Request(
            messages=messages, sampling=self.sampling, salt=f"{talk.ctx.salt}/t{talk.turn}{salt}"
        )
        return await talk.ask_user(request)


def listed(points: Sequence[str], language: str) -> str:
    """Write a checklist with numbers, or that there is none."""
    if not points:
        return "（无）" if language.startswith("zh") else "(none)"
    return "\n".join(f"{number}. {point}" for number, point in enumerate(points, 1))


def materials(ctx: DialogueContext) -> dict[str, str]:
    """Return what a case holds for its judges, to be put into a prompt as strange texts."""
    case, nothing = ctx.case, listed((), ctx.language)
    return {
        "reference": "\n".join(case.references) or nothing,
        "question": str(case.hidden.get("question") or case.prompt),
        "shown": case.prompt,
        "info": str(case.hidden.get("info") or nothing),
        "points": listed(points_of(case), ctx.language),
    }
