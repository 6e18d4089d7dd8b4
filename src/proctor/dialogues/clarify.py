"""A dialogue in which the candidate may ask: a judge as arbiter, a simulated user who answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Case, Json, Message
from proctor.dialogues import simulated
from proctor.dialogues.arbiter import Arbiter, ruled
from proctor.dialogues.conversation import Conversation, DialogueStopped, sampling_of, transcript_of
from proctor.dialogues.ledger import Ledger, matched, points_of
from proctor.dialogues.simulated import SimulatedUser, materials
from proctor.dialogues.verdicts import (
    AnswerVerdict,
    ArbiterDecision,
    ClarifyVerdict,
    decided,
)
from proctor.judging.prompts import NumberOf, Words, keys_of, load

Guidance = Literal["none", "weak", "strong", "fata"]

GUIDANCE: Mapping[str, str] = {
    "weak": "ask_guidance_weak",
    "strong": "ask_guidance_strong",
    "fata": "fata_guidance",
}
_ARBITERS = {
    "missing_info": "ask_arbiter_missing",
    "plain": "ask_arbiter_missing",
    "overconfidence": "ask_arbiter_overconfidence",
    "in3": "in3_arbiter",
}
_VAGUE = {"true": "true", "false": "false"}


@dataclass(frozen=True)
class Clarify(Dialogue):
    """A dialogue in which the candidate may ask before it answers; every turn is ruled on.

    After each reply the judge says whether it is a final answer, whether that is correct, and
    which points of the checklist are settled; a simulated user answers questions. The last turn
    asks for an answer. ``strict`` allows two turns: the first must ask, the second must answer.
    """

    consults: ClassVar[frozenset[str]] = frozenset({"judge", "simulator"})
    user_replies: ClassVar[int] = 2
    """How often the simulated user may be asked for one reply."""

    scenario: Literal["missing_info", "overconfidence", "plain", "in3"] = "missing_info"
    max_turns: int = 3
    guidance: Guidance = "none"
    strict: bool = False
    wrapper: Literal["", "fata"] = ""
    """``fata`` puts the FATA request around the question."""
    tries: int = 10
    judge_sampling: Mapping[str, Json] = field(default_factory=dict)
    simulator_sampling: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_turns < 1 or self.tries < 1:
            raise ValueError("max_turns and tries are at least 1")
        sampling_of(self.judge_sampling)
        sampling_of(self.simulator_sampling)

    async def hold(self, ctx: DialogueContext) -> Attempt:
        talk = self._conversation(ctx)
        ledger = Ledger.of(ctx.case)
        try:
            while True:
                turn = talk.turn + 1
                if await talk.ask(self._request(talk, turn)) is None:
                    return self._silent(talk, ledger)
                decision = await self._rule(talk, ledger)
                if (end := self._end(decision, turn)) is not None:
                    reason, correct = end
                    notes = self._notes(talk, ledger, reason, correct, final=decision.final)
                    return talk.attempt(AttemptStatus.ANSWERED, notes)
                reply = await self._user(ctx).answer(talk, ledger)
                ledger.turns[-1]["user"] = reply
                talk.tell(reply)
        except DialogueStopped as stop:
            if stop.turn:
                ledger.enter_failure(talk.turn, stop.turn)
            notes = self._notes(talk, ledger, stop.reason, None, skipped=True)
            return talk.attempt(AttemptStatus.STOPPED, notes, stop.error)

    def turns(self, case: Case) -> Turns:
        """Return how many calls to expect: most candidates ask once, or not at all."""
        last = self._last
        likely = min(2, last)
        return Turns(
            candidate=(1, likely, last),
            judge=(1, likely, last * self.tries),
            simulator=(0, likely - 1, (last - 1) * self.user_replies),
        )

    def prompt_key(self, language: str) -> str:
        names = [_ARBITERS[self.scenario], simulated.PROMPTS[self.scenario], *simulated.AGAIN]
        names += ["ask_contract", "ask_last_turn"]
        names += ["ask_strict"] if self._is_strict else []
        names += [GUIDANCE[self.guidance]] if self.guidance in GUIDANCE else []
        names += ["fata_request", "fata_guidance"] if self.wrapper else []
        return keys_of(set(names), language)

    def problems(self, case: Case) -> Iterable[str]:
        return problems_of(case, answer=self.scenario != "in3")

    @property
    def _is_strict(self) -> bool:
        """Tell whether strict rules hold."""
        return self.strict

    @property
    def _last(self) -> int:
        return 2 if self._is_strict else self.max_turns

    def _request(self, talk: Conversation, turn: int) -> tuple[Message, ...]:
        """Return what the candidate is sent: the transcript, and texts that are not part of it."""
        language = talk.ctx.language
        messages = list(talk.transcript)
        if self.wrapper:
            _append(messages, 0, lambda text: fata_request(text, language))
        guidance = self._guidance
        if turn == 1 and guidance in GUIDANCE:
            added = load(GUIDANCE[guidance], language).text
            _append(messages, 0, lambda text: f"{text}\n\n{added}")
        if turn == self._last:
            forced = load("ask_last_turn", language).text
            _append(messages, -1, lambda text: f"{text}\n{forced}")
        return tuple(messages)

    @property
    def _guidance(self) -> Guidance:
        """Return the guidance that the candidate gets."""
        return self.guidance

    def _conversation(self, ctx: DialogueContext) -> Conversation:
        return Conversation(ctx)

    @property
    def _arbiter(self) -> Arbiter:
        return Arbiter(tries=self.tries, sampling=sampling_of(self.judge_sampling))

    def _decided(self, verdict: Any, points: Sequence[str]) -> ArbiterDecision:
        return decided(verdict, points, matched)

    async def _rule(self, talk: Conversation, ledger: Ledger) -> ArbiterDecision:
        """Have the judge rule on the last reply, and write it down."""
        ruling = await self._arbiter.rule(talk, self._arbitration(talk), self._verdict_type)
        decision = self._decided(ruling.verdict, ledger.points)
        if self.scenario == "in3":
            decision = replace(decision, correct=None)
        ledger.enter(talk.turn, decision, ruling)
        return decision

    @property
    def _verdict_type(self) -> type[Any]:
        return ClarifyVerdict if self.scenario == "in3" else AnswerVerdict

    def _arbitration(self, talk: Conversation) -> tuple[Message, ...]:
        ctx = talk.ctx
        transcript = transcript_of(talk.transcript)
        own: dict[str, Words | NumberOf] = {
            "strict": load("ask_strict", ctx.language).text if self._is_strict else "",
            "contract": load("ask_contract", ctx.language).text,
            "transcript": transcript,
            "number": NumberOf(transcript),
            "vague": _VAGUE.get(str(ctx.case.hidden.get("vague")).strip().lower(), "?"),
        }
        prompt = load(_ARBITERS[self.scenario], ctx.language)
        return (prompt.message(own, materials(ctx), ctx.marks),)

    def _end(self, decision: ArbiterDecision, turn: int) -> tuple[str, bool | None] | None:
        """Return why the dialogue ends here and what the answer is worth; none if it goes on."""
        unjudged = self.scenario == "in3"
        wrong = None if unjudged else False
        if decision.final:
            if self._is_strict and turn == 1:
                return "StrictFinalAnswerOnFirstTurn", wrong
            good = "FinalAnswerAfterClarifications" if unjudged else "FinalAnswerEvaluated"
            reason = good if decision.resolved else "FinalAnswerMissingInfo"
            return reason, None if unjudged else ruled(decision.correct)
        if turn < self._last:
            return None
        reason = "StrictNoFinalAnswerOnLastTurn" if self._is_strict else "FailedToAnswerOnLastTurn"
        return reason, wrong

    def _user(self, ctx: DialogueContext) -> SimulatedUser:
        sampling = sampling_of(self.simulator_sampling) or ctx.simulator_sampling
        return SimulatedUser(self.scenario, sampling)

    def _silent(self, talk: Conversation, ledger: Ledger) -> Attempt:
        """End where the candidate was reached and said nothing."""
        wrong = None if self.scenario == "in3" else False
        notes = self._notes(talk, ledger, "NoAnswer", wrong)
        if talk.thinking:
            notes["thinking"] = talk.thinking
        return talk.attempt(AttemptStatus.UNANSWERED, notes)

    def _notes(
        self,
        talk: Conversation,
        ledger: Ledger,
        reason: str,
        correct: bool | None,
        *,
        final: bool = False,
        skipped: bool = False,
    ) -> dict[str, Json]:
        notes: dict[str, Json] = {
            "reason": reason,
            "final": final,
            "correct": correct,
            "final_turn": talk.turn,
            "resolved": ledger.resolved,
            "missing": list(ledger.missing),
            "asked": ledger.has_asked,
            "redundant": ledger.redundant,
            "premature": final and not ledger.resolved,
            "skipped": skipped,
            "ledger": ledger.table(),
            "turns": ledger.turns,
            "flags": ledger.flags,
        }
        vague = talk.ctx.case.hidden.get("vague")
        if isinstance(vague, bool):
            notes["vague"] = vague
            notes["asked_right"] = None if skipped else vague == ledger.has_asked
        return notes


def fata_request(question: str, language: str) -> str:
    """Put the official FATA request around a question."""
    guidance = load("fata_guidance", language).text
    return load("fata_request", language).fill({"question": question, "guidance": guidance})


def problems_of(case: Case, *, answer: bool) -> Iterable[str]:
    """Yield what a case lacks for a dialogue with a judge and a user."""
    if not any(message.role == "user" for message in case.messages):
        yield "the case has no user message to begin with"
    if answer and not case.references:
        yield "the case has no reference, which the judge compares answers with"
    points = case.hidden.get("points")
    if points is not None and not isinstance(points, list | tuple):
        yield "hidden.points is not a list"
        return
    answers = case.hidden.get("point_answers")
    if answers is not None and (
        not isinstance(answers, list | tuple) or len(answers) != len(points_of(case))
    ):
        yield "hidden.point_answers is not a list with one answer for each of hidden.points"


def _append(messages: list[Message], place: int, change: Any) -> None:
    """Change the text of the first or the last user message."""
    users = [number for number, message in enumerate(messages) if message.role == "user"]
    if users:
        number = users[place]
        messages[number] = replace(messages[number], content=change(messages[number].content))
