"""A dialogue whose questions are written down: put one after the other, in one session."""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.suite import Case, Json
from proctor.dialogues.conversation import Conversation, spoken


@dataclass(frozen=True)
class Scripted(Dialogue):
    """The case's messages, and then each further question, in one session.

    It ends early where the agent fails, and below ``stop_below`` where that is more than 0: a turn
    whose share of its full marks is less than that (strictly) is the last one.
    """

    then: tuple[str, ...] = ()
    """What the user says after the first reply, after the second, and so on."""
    stop_below: float | None = None

    @property
    def grades(self) -> bool:
        return self.stop_below is not None and self.stop_below > 0

    async def hold(self, ctx: DialogueContext) -> Attempt:
        talk = Conversation(ctx)
        for turn in range(len(self.then) + 1):
            if turn:
                talk.tell(self.then[turn - 1])
            text = await talk.ask(talk.transcript)
            if len(talk.rounds) <= turn:
                talk.rounds.append(spoken(talk, text))
            if text is None:
                return self._ended(talk, turn, "the agent gave no answer")
            if (ended := await self._stopped(talk, turn)) is not None:
                return ended
        return talk.attempt(AttemptStatus.ANSWERED, {"finish": talk.finish} if talk.finish else {})

    async def _stopped(self, talk: Conversation, turn: int) -> Attempt | None:
        """Return the attempt where a turn's mark ends it."""
        if not self.grades or talk.ctx.grade is None or self.stop_below is None:
            return None
        value = await talk.ctx.grade(talk.attempt(AttemptStatus.ANSWERED, {}), turn)
        if value is None:
            return None
        if value.status is ValueStatus.UNSCORED:
            return talk.attempt(
                AttemptStatus.STOPPED, {}, f"turn {turn + 1} could not be judged, so whether to"
                f" go on below {self.stop_below:g} is not known",
            )  # fmt: skip
        if value.value is None or value.value >= self.stop_below:
            return None
        return self._ended(
            talk, turn, f"turn {turn + 1} got {value.value:.4g}, below the threshold"
            f" {self.stop_below:g}",
        )  # fmt: skip

    def _ended(self, talk: Conversation, turn: int, why: str) -> Attempt:
        notes: dict[str, Json] = {} if turn == len(self.then) else {"ended": why}
        if talk.last or turn:
            return talk.attempt(AttemptStatus.ANSWERED, notes)
        error = str(talk.rounds[-1].get("error", "")) if talk.rounds else ""
        return talk.attempt(AttemptStatus.UNANSWERED, notes, error and f"the agent failed: {error}")

    def turns(self, case: Case) -> Turns:
        most = len(self.then) + 1
        return Turns(candidate=(1 if self.grades else most, most, most))

    def problems(self, case: Case) -> Iterable[str]:
        if any(not text.strip() for text in self.then):
            yield "a question of the scripted dialogue is empty"
        if self.stop_below is not None and not 0 <= self.stop_below <= 1:
            yield f"stop_below is a share from 0 to 1, not {self.stop_below:g}"
