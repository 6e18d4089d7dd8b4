"""FATA, first ask then answer: the official request, one inquiry, one answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.contracts.judge import Ruling
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Case, Json, Message
from proctor.dialogues.arbiter import Arbiter, ruled
from proctor.dialogues.clarify import GUIDANCE, Guidance, fata_request, problems_of
from proctor.dialogues.conversation import Conversation, DialogueStopped, sampling_of, transcript_of
from proctor.dialogues.leaks import gives_away
from proctor.dialogues.simulated import LEAK, materials
from proctor.dialogues.verdicts import FataLastVerdict, FataVerdict
from proctor.judging.prompts import NumberOf, Words, keys_of, load


@dataclass
class _Record:
    """Account of one attempt while it goes on."""

    turns: list[dict[str, Json]] = field(default_factory=list)
    flags: list[dict[str, Json]] = field(default_factory=list)
    has_asked: bool = False


@dataclass(frozen=True)
class Fata(Dialogue):
    """A dialogue in which the candidate asks for what is missing once, and then answers.

    The judge says whether a reply asks or answers. It writes the user's reply to a question, and
    rules on an answer. Asking again on the last turn is wrong.
    """

    consults: ClassVar[frozenset[str]] = frozenset({"judge"})

    max_turns: int = 2
    tries: int = 10
    guidance: Guidance = "none"
    """Added to the first request after a blank line; ``fata`` is what the request says anyway."""
    judge_sampling: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_turns < 1 or self.tries < 1:
            raise ValueError("max_turns and tries are at least 1")
        sampling_of(self.judge_sampling)

    async def hold(self, ctx: DialogueContext) -> Attempt:
        talk, record = Conversation(ctx), _Record()
        try:
            while True:
                if await talk.ask(self._request(talk)) is None:
                    notes = self._notes(talk, record, "NoAnswer", correct=False)
                    return talk.attempt(AttemptStatus.UNANSWERED, notes)
                verdict = await self._rule(talk, record)
                if not verdict.needs_more_info:
                    correct = ruled(verdict.is_correct)
                    notes = self._notes(talk, record, "FinalAnswerEvaluated", correct, final=True)
                    return talk.attempt(AttemptStatus.ANSWERED, notes)
                record.has_asked = True
                if talk.turn == self.max_turns:
                    notes = self._notes(talk, record, "KeptAskingOnLastTurn", correct=False)
                    return talk.attempt(AttemptStatus.ANSWERED, notes)
                reply = verdict.user_reply or ""
                record.turns[-1]["user"] = reply
                talk.tell(reply)
        except DialogueStopped as stop:
            if stop.turn:
                record.turns.append({"turn": talk.turn, "verdict": None, **stop.turn})
            notes = self._notes(talk, record, stop.reason, correct=None, skipped=True)
            return talk.attempt(AttemptStatus.STOPPED, notes, stop.error)

    def turns(self, case: Case) -> Turns:
        """Return how many calls to expect: the request asks for one inquiry."""
        likely = min(2, self.max_turns)
        most = (2 * self.max_turns - 1) * self.tries
        return Turns(candidate=(1, likely, self.max_turns), judge=(1, likely, most))

    def prompt_key(self, language: str) -> str:
        names = {"fata_request", "fata_guidance", "fata_arbiter", "fata_last", "fata_again"}
        if self.guidance in ("weak", "strong"):
            names.add(GUIDANCE[self.guidance])
        return keys_of(names, language)

    def problems(self, case: Case) -> Iterable[str]:
        return problems_of(case, answer=True)

    def _request(self, talk: Conversation) -> tuple[Message, ...]:
        language = talk.ctx.language
        messages = list(talk.transcript)
        first = next((n for n, message in enumerate(messages) if message.role == "user"), None)
        if first is not None:
            text = fata_request(messages[first].content, language)
            if talk.turn == 0 and self.guidance in ("weak", "strong"):
                text = f"{text}\n\n{load(GUIDANCE[self.guidance], language).text}"
            messages[first] = replace(messages[first], content=text)
        return tuple(messages)

    async def _rule(self, talk: Conversation, record: _Record) -> FataLastVerdict:
        """Have the judge rule, once more where its reply for the user gives away the answer."""
        messages = self._arbitration(talk)
        ruling = await self._ask(talk, messages)
        self._enter(talk, record, ruling)
        if not self._leaks(talk, ruling.verdict):
            return self._verdict(ruling)
        record.flags.append({"turn": talk.turn, "kind": "AnswerGivenAway", "again": False})
        previous_reply = ruling.raw[-1] if ruling.raw else ruling.verdict.model_dump_json()
        again = (
            *messages,
            Message(role="assistant", content=previous_reply),
            Message(role="user", content=load("fata_again", talk.ctx.language).text),
        )
        refused = ruling.verdict.user_reply
        ruling = await self._ask(talk, again, salt="/again")
        record.turns.pop()
        self._enter(talk, record, ruling)
        record.turns[-1]["refused"] = [refused]
        if self._leaks(talk, ruling.verdict):
            record.flags.append({"turn": talk.turn, "kind": "AnswerGivenAway", "again": True})
            raise DialogueStopped(LEAK, "the user's reply gave away the expected answer, twice")
        return self._verdict(ruling)

    async def _ask(
        self, talk: Conversation, messages: tuple[Message, ...], salt: str = ""
    ) -> Ruling[Any]:
        verdict = FataLastVerdict if talk.turn == self.max_turns else FataVerdict
        arbiter = Arbiter(tries=self.tries, sampling=sampling_of(self.judge_sampling))
        return await arbiter.rule(talk, messages, verdict, salt)

    def _verdict(self, ruling: Ruling[Any]) -> FataLastVerdict:
        verdict: FataLastVerdict = ruling.verdict
        return verdict

    def _leaks(self, talk: Conversation, verdict: FataLastVerdict) -> bool:
        if not verdict.needs_more_info or not verdict.user_reply or talk.turn == self.max_turns:
            return False
        case = talk.ctx.case
        shown_texts = [message.content for message in talk.transcript]
        shown_texts += [str(case.hidden.get(name) or "") for name in ("question", "info")]
        shown_texts += [str(point) for point in case.hidden.get("points") or ()]
        return bool(case.references) and gives_away(
            verdict.user_reply, case.references[0], shown_texts
        )

    def _enter(self, talk: Conversation, record: _Record, ruling: Ruling[Any]) -> None:
        verdict = self._verdict(ruling)
        record.turns.append(
            {
                "turn": talk.turn,
                "verdict": verdict.model_dump(),
                "final": not verdict.needs_more_info,
                "correct": None if verdict.needs_more_info else verdict.is_correct,
                **ruling.record(),
            }
        )

    def _arbitration(self, talk: Conversation) -> tuple[Message, ...]:
        ctx = talk.ctx
        transcript = transcript_of(talk.transcript)
        last = load("fata_last", ctx.language).text if talk.turn == self.max_turns else ""
        own: dict[str, Words | NumberOf] = {
            "transcript": transcript,
            "number": NumberOf(transcript),
            "last": last,
        }
        return (load("fata_arbiter", ctx.language).message(own, materials(ctx), ctx.marks),)

    def _notes(
        self,
        talk: Conversation,
        record: _Record,
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
            "asked": record.has_asked,
            "clarified": record.has_asked,
            "kept_asking": reason == "KeptAskingOnLastTurn",
            "skipped": skipped,
            "turns": record.turns,
            "flags": record.flags,
        }
        if talk.thinking and reason == "NoAnswer":
            notes["thinking"] = talk.thinking
        return notes
