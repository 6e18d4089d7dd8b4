"""A dialogue in which a model plays a user who has a task, and watches over the agent doing it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Request
from proctor.core.suite import Case, Json, Message
from proctor.dialogues.conversation import NO_USER, Conversation, DialogueStopped, spoken
from proctor.errors import BudgetError, ModelError
from proctor.judging.prompts import Pen, keys_of, load

FAILED = NO_USER
PROMPTS = ("virtual_user", "virtual_user_start")


@dataclass(frozen=True)
class VirtualUser(Dialogue):
    """A model that plays a user who knows the task alone, until it says the stop word.

    The case's hidden ``task`` is what the user wants. A case that asks something itself begins
    with that. With ``verbose`` the user and the judge see every post of the agent's rounds.
    """

    consults: ClassVar[frozenset[str]] = frozenset({"simulator"})

    max_rounds: int = 5
    """How often the agent is asked at most."""
    stop_word: str = "TASK_FINISHED"
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.max_rounds < 1:
            raise ValueError("max_rounds is at least 1")
        if not self.stop_word.strip():
            raise ValueError("the stop word is empty")

    async def hold(self, ctx: DialogueContext) -> Attempt:
        talk = Conversation(ctx)
        try:
            if not ctx.case.messages or ctx.case.messages[-1].role != "user":
                query = await self._say(talk)
                if self._ends(query, ""):
                    await talk.discard_user()
                    raise DialogueStopped(
                        FAILED, "the virtual user ended before it had asked anything"
                    )
                talk.tell(query)
            return await self._go_on(talk)
        except DialogueStopped as stop:
            notes = {"reason": stop.reason, "skipped": True}
            return talk.attempt(AttemptStatus.STOPPED, notes, stop.error)

    async def _go_on(self, talk: Conversation) -> Attempt:
        for turn in range(self.max_rounds):
            text = await talk.ask(talk.transcript)
            if len(talk.rounds) <= turn:
                talk.rounds.append(spoken(talk, text))
            elif self.verbose and text is not None:
                self._show(talk)
            if text is None:
                return _broken(talk)
            if turn + 1 == self.max_rounds:
                break
            query = await self._say(talk)
            if self._ends(query, talk.last):
                return talk.attempt(
                    AttemptStatus.ANSWERED,
                    {"reason": "TaskFinished", "ended": "the virtual user was done"},
                )
            talk.tell(query)
        why = f"the limit of {self.max_rounds} rounds was reached"
        return talk.attempt(AttemptStatus.ANSWERED, {"reason": "RoundLimit", "ended": why})

    def _ends(self, query: str, reply: str) -> bool:
        """Tell whether the user is done: by the stop word, which the agent cannot say for it.

        Where the agent said the word itself, the user may repeat it: then it must stand alone.
        """
        if self.stop_word in reply:
            return query.strip(" \t\n.!*`\"'。！") == self.stop_word
        return self.stop_word in query

    def _show(self, talk: Conversation) -> None:
        """Put the whole of a round in the place of the reply."""
        last = talk.exchanged.pop()
        text = posts_of(talk.rounds[-1]) or last.content
        talk.exchanged.append(Message(role=last.role, content=text, thinking=last.thinking))

    async def _say(self, talk: Conversation) -> str:
        """Return what the user says next, or raise Stopped; an empty reply is asked for again."""
        talk.user_requests.clear()
        for again in ("", "/again"):
            try:
                text = await self._reply(talk, again)
            except BudgetError:
                raise
            except ModelError as error:
                raise DialogueStopped(
                    FAILED, f"the virtual user could not be reached: {error}"
                ) from None
            if text and text.strip():
                return text.strip()
        await talk.discard_user()
        raise DialogueStopped(FAILED, "the virtual user said nothing")

    async def _reply(self, talk: Conversation, again: str) -> str | None:
        ctx = talk.ctx
        request = Request(
            messages=self.messages(talk),
            sampling=ctx.simulator_sampling,
            salt=f"{ctx.salt}/t{talk.turn}{again}",
        )
        return await talk.ask_user(request)

    def messages(self, talk: Conversation) -> tuple[Message, ...]:
        """Return the conversation as the model that plays the user has it: it is the assistant."""
        language, marks = talk.ctx.language, talk.ctx.marks
        instructions = load("virtual_user", language).message(
            {"stop": self.stop_word}, {"task": task_of(talk.ctx.case)}, marks, role="system"
        )
        messages = [
            instructions,
            Message(role="user", content=load("virtual_user_start", language).text),
        ]
        for message in talk.transcript:
            if message.role == "user":
                messages.append(Message(role="assistant", content=message.content))
            elif message.role == "assistant":
                pen = Pen(marks)
                quoted = pen.quote("agent", message.content, pen.mark([message.content]))
                messages.append(pen.message(quoted))
        return tuple(messages)

    def turns(self, case: Case) -> Turns:
        """Return how many calls to expect: one of the user before each of the agent."""
        most = self.max_rounds
        likely = min(2, most)
        first = int(not case.messages)
        return Turns(
            candidate=(1, likely, most),
            simulator=(first, likely + first, 2 * (most - 1 + first)),
        )

    def prompt_key(self, language: str) -> str:
        return keys_of(PROMPTS, language)

    def problems(self, case: Case) -> Iterable[str]:
        if not task_of(case).strip():
            yield "the virtual user has no task (write it as 'task' under 'hidden')"


def task_of(case: Case) -> str:
    """Return what the user of a case wants."""
    return str(case.hidden.get("task") or case.prompt)


def posts_of(data: Mapping[str, Json]) -> str:
    """Write every post of a round, who said what to whom."""
    return "\n".join(
        f"{post['send_from']} -> {post['send_to']}: {post['message']}"
        for post in data.get("post_list", ())
    )


def _broken(talk: Conversation) -> Attempt:
    """Return the attempt of an agent that failed: what it said before stays."""
    why = str(talk.rounds[-1].get("error") or "it gave no answer")
    notes: dict[str, Json] = {"reason": "AgentFailed", "ended": "the agent gave no answer"}
    if talk.last:
        return talk.attempt(AttemptStatus.ANSWERED, notes)
    return talk.attempt(AttemptStatus.UNANSWERED, notes, f"the agent failed: {why}")
