"""Dialogues in which a candidate works on a state by tools, alone or for a simulated user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.contracts.tool_session import LONGEST, ToolModule, ToolSession
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import CAUSE, Cause
from proctor.core.exchange import Reply, Request
from proctor.core.json_changes import changes_between
from proctor.core.suite import Case, Json, Message, Tool, ToolCall
from proctor.core.tool_module import functions_of, wrong_calls
from proctor.dialogues.conversation import NO_USER, Conversation, DialogueStopped, told_apart
from proctor.dialogues.user_faults import (
    ENDED_EARLY,
    ENDED_WITH_MORE,
    UserFault,
    facts_of,
    faults_of,
)
from proctor.errors import BudgetError, ModelError
from proctor.judging.prompts import Pen, keys_of, load

MOST_TURNS = 1000
FAULT = "SimulatorFault"
"""Why an attempt was stopped whose simulated user kept saying what it must not say."""
STATE, ACTIONS = "state", "actions"
"""Where an attempt's notes keep what changed in the state, and every call of a tool."""
PROMPTS = ("stateful_user", "stateful_user_start", "stateful_user_again")
_SHOWN = 2000


@dataclass(frozen=True)
class StatefulTools(Dialogue):
    """The case's messages, then the tools of a module, run in the sandbox on a state of its own.

    Each attempt begins with the same state. It ends with a reply that calls nothing, or after
    ``max_turns`` replies. The attempt notes every call and what changed in the state.
    """

    tools: ToolModule = field(default_factory=lambda: ToolModule(source=""))
    """The Python source of the tools, and the state that they begin with."""
    max_turns: int = 30
    """How many replies the candidate may give in all."""

    @property
    def needs_sandbox(self) -> bool:
        return True

    async def hold(self, ctx: DialogueContext) -> Attempt:
        work = await self._begun(ctx)
        text = await work.candidate_turn(self.max_turns)
        if text is None:
            return work.unanswered()
        return work.ended("Answered" if not work.talk.calls else "TurnLimit", self._why(work))

    def _why(self, work: "_Work") -> str:
        if not work.talk.calls:
            return ""
        return f"it still called tools in its reply number {self.max_turns}"

    async def _begun(self, ctx: DialogueContext) -> "_Work":
        if ctx.sandbox is None:
            raise ModelError(
                f"the tools of the case {ctx.case.id!r} need a sandbox",
                cause=Cause.ENVIRONMENT.value,
            )
        session = ToolSession(self.tools, ctx.sandbox)
        return _Work(Conversation(ctx), session, await session.begin())

    def turns(self, case: Case) -> Turns:
        return Turns(candidate=(1, min(4, self.max_turns), self.max_turns))

    def problems(self, case: Case) -> Iterable[str]:
        if not 1 <= self.max_turns <= MOST_TURNS:
            yield f"max_turns is from 1 to {MOST_TURNS}, not {self.max_turns}"
        if not self.tools.source:
            yield "there is no module of tools (write 'tools: {module: tools.py}')"
            return
        functions, wrong = functions_of(self.tools.source)
        yield from (str(problem) for problem in wrong)
        yield from wrong_calls(functions, [(a.name, a.arguments) for a in self.tools.actions])
        if not 0 < self.tools.timeout <= LONGEST:
            yield f"the timeout of the tools is from 0 to {LONGEST:g} s, not {self.tools.timeout:g}"


@dataclass(frozen=True)
class StatefulUser(StatefulTools):
    """A simulated user with a task, and a candidate that helps it by tools on a state.

    The case's hidden ``task`` is what the user wants, ``facts`` what it tells only when asked. The
    user may have tools of the module, too, which work on the same state. What it must not say is
    noted, and asked for anew once; a user that goes on so stops the attempt, which is unscored.
    """

    consults: ClassVar[frozenset[str]] = frozenset({"simulator"})

    user_tools: tuple[str, ...] = ()
    """The tools of the module that the user may call."""
    stop_word: str = "TASK_FINISHED"
    user_calls: int = 10
    """How many calls the user may make for one message."""

    def __post_init__(self) -> None:
        if not self.stop_word.strip():
            raise ValueError("the stop word is empty")

    async def hold(self, ctx: DialogueContext) -> Attempt:
        work = await self._begun(ctx)
        user = _User(self, work)
        try:
            return await self._talk(work, user)
        except DialogueStopped as stop:
            notes = {**work.notes(stop.reason), "skipped": True, CAUSE: Cause.SIMULATOR.value}
            return work.talk.attempt(AttemptStatus.STOPPED, notes, stop.error)

    async def _talk(self, work: "_Work", user: "_User") -> Attempt:
        talk = work.talk
        user.add_history(talk.ctx.case.messages)
        if not _candidate_is_next(talk.ctx.case):
            talk.tell(await user.say())
        while True:
            text = await work.candidate_turn(self.max_turns)
            if text is None:
                return work.unanswered()
            if talk.calls or talk.turn >= self.max_turns:
                return work.ended("TurnLimit", f"the limit of {self.max_turns} replies was reached")
            user.heard(work.spoken)
            query = await user.say()
            if user.is_over(query):
                return work.ended("TaskFinished", "the simulated user was done")
            talk.tell(query)

    def turns(self, case: Case) -> Turns:
        most = self.max_turns
        first = int(not _candidate_is_next(case))
        likely = min(3, most)
        return Turns(
            candidate=(1, min(6, most), most),
            simulator=(first, likely + first, 2 * (most + first) * (1 + self.user_calls)),
        )

    def prompt_key(self, language: str) -> str:
        return keys_of(PROMPTS, language)

    def problems(self, case: Case) -> Iterable[str]:
        yield from super().problems(case)
        if not str(case.hidden.get("task") or "").strip():
            yield "the simulated user has no task (write it as 'task' under 'hidden')"
        for name in self.user_tools:
            if name not in self.tools.functions:
                yield f"the user's tool {name!r} is none of the module's"
        if self.user_calls < 0:
            yield "user_calls is 0 or more"


@dataclass
class _Work:
    """One attempt: what is said, the state, and every call so far."""

    talk: Conversation
    session: ToolSession
    start: Json
    actions: list[Json] = field(default_factory=list)
    flags: list[Json] = field(default_factory=list)
    spoken: str = ""
    """What the candidate said to the user in its last turn."""
    user_tools: tuple[Tool, ...] = ()

    async def candidate_turn(self, most: int) -> str | None:
        """Let the candidate call tools until it answers; none where it says nothing."""
        talk, words = self.talk, []
        text = await talk.ask(talk.transcript)
        while text is not None and talk.calls and talk.turn < most:
            words += [text] if text else []
            talk.give_results(await self.call(talk.calls, "assistant"))
            text = await talk.ask(talk.transcript)
        self.spoken = "\n\n".join([*words, text] if text else words)
        return text

    async def call(self, calls: Sequence[ToolCall], by: str) -> list[str]:
        """Make calls of tools, and return the texts of their results."""
        offered = self._offered(by)
        allowed = [call for call in calls if call.name in offered]
        results = iter(await self.session.call([(call.name, call.arguments) for call in allowed]))
        texts = []
        for call in calls:
            result = next(results) if call.name in offered else None
            text = f'{{"error": "there is no tool {call.name}"}}' if result is None else result.text
            row: dict[str, Json] = {
                "turn": self.talk.turn,
                "by": by,
                "name": call.name,
                "arguments": call.arguments,
            }
            if result is None or result.failed:
                row["failed"] = True
            if by == "user":
                row["result"] = text[:_SHOWN]
            self.actions.append(row)
            texts.append(text)
        return texts

    def _offered(self, by: str) -> set[str]:
        if by == "user":
            return {tool.name for tool in self.user_tools}
        return {tool.name for tool in self.talk.ctx.case.tools}

    def notes(self, reason: str) -> dict[str, Json]:
        """Return what is noted of the attempt."""
        changes = changes_between(self.start, self.session.state)
        notes: dict[str, Json] = {
            "reason": reason,
            ACTIONS: self.actions,
            STATE: {"key": self.session.module.key, "changes": changes},
        }
        if self.flags:
            notes["flags"] = self.flags
        if self.talk.finish:
            notes["finish"] = self.talk.finish
        return notes

    def ended(self, reason: str, why: str) -> Attempt:
        """Return the attempt that came to its end."""
        notes = self.notes(reason) | ({"ended": why} if why else {})
        return self.talk.attempt(AttemptStatus.ANSWERED, notes)

    def unanswered(self) -> Attempt:
        """Return the attempt of a candidate that says nothing any more."""
        notes = self.notes("NoAnswer")
        if any(message.role == "assistant" for message in self.talk.exchanged):
            notes["ended"] = "it said nothing any more"
            return self.talk.attempt(AttemptStatus.ANSWERED, notes)
        if self.talk.thinking:
            notes["thinking"] = self.talk.thinking
        return self.talk.attempt(AttemptStatus.UNANSWERED, notes)


class _User:
    """The simulated user of one attempt: its side of the conversation, and its tools."""

    def __init__(self, dialogue: StatefulUser, work: _Work) -> None:
        self.dialogue, self.work, self.ctx = dialogue, work, work.talk.ctx
        functions = dialogue.tools.functions
        work.user_tools = tuple(
            functions[name].tool for name in dialogue.user_tools if name in functions
        )
        case, language = self.ctx.case, self.ctx.language
        nothing = "（无）" if language.startswith("zh") else "(none)"
        facts = "\n".join(
            name if name == value else f"{name}: {value}" for name, value in facts_of(case).items()
        )
        strange = {"task": str(case.hidden.get("task") or ""), "facts": facts or nothing}
        own = {"stop": dialogue.stop_word}
        self.side = [
            load("stateful_user", language).message(own, strange, self.ctx.marks, role="system"),
            Message(role="user", content=load("stateful_user_start", language).text),
        ]
        self.own: list[str] = []
        """What its own tools gave."""
        self.candidate_texts: list[str] = []
        """What the candidate said to it."""

    def add_history(self, messages: Sequence[Message]) -> None:
        """Add what both said before the attempt."""
        for message in messages:
            if message.role == "user":
                self.side.append(Message(role="assistant", content=message.content))
            elif message.role == "assistant" and message.content:
                self.heard(message.content)

    def heard(self, text: str) -> None:
        """Add what the candidate said."""
        self.candidate_texts.append(text)
        pen = Pen(self.ctx.marks)
        self.side.append(pen.message(pen.quote("assistant", text, pen.mark([text]))))

    def is_over(self, query: str) -> bool:
        """Tell whether it is done: by the stop word, which the candidate cannot say for it."""
        word = self.dialogue.stop_word
        if any(word in text for text in self.candidate_texts[-1:]):
            return _bare(query) == word
        return word in query

    async def say(self) -> str:
        """Return the user's next message, or raise DialogueStopped where there is none."""
        talk = self.work.talk
        talk.user_requests.clear()
        side = list(self.side)
        for again in ("", "/again"):
            text, side = await self._reply(side, again)
            if not text:
                continue
            faults = self._faults(text)
            for fault in faults:
                self._flag(fault, again=bool(again))
            if not faults or (again and not any(fault.severe for fault in faults)):
                self.side = [*side, Message(role="assistant", content=text)]
                return text
            words = "\n".join(f"- {fault.words}" for fault in faults)
            wish = load("stateful_user_again", self.ctx.language)
            side = [
                *side,
                Message(role="assistant", content=text),
                wish.message({}, {"faults": words}, self.ctx.marks),
            ]
        await talk.discard_user()
        if not text:
            raise DialogueStopped(NO_USER, "the simulated user said nothing")
        raise DialogueStopped(
            FAULT,
            f"the simulated user kept to a fault ({faults[0].kind}): {faults[0].words}",
        )

    async def _reply(self, side: list[Message], again: str) -> tuple[str, list[Message]]:
        """Let it call its tools until it says something; return that, and its side by then."""
        for number in range(self.dialogue.user_calls + 1):
            reply = await self._user_reply(side, f"{again}/c{number}" if number else again)
            calls = told_apart(reply.tool_calls, number + 1)
            if not calls or number == self.dialogue.user_calls:
                return (reply.text or "").strip(), side
            results = await self.work.call(calls, "user")
            self.own += results
            side = [
                *side,
                Message(role="assistant", content=reply.text or "", tool_calls=calls),
                *(
                    Message(role="tool", content=text, tool_call_id=call.id)
                    for call, text in zip(calls, results, strict=True)
                ),
            ]
        raise AssertionError("a loop that returns")

    async def _user_reply(self, side: Sequence[Message], again: str) -> Reply:
        talk = self.work.talk
        request = Request(
            messages=tuple(side),
            sampling=self.ctx.simulator_sampling,
            salt=f"{self.ctx.salt}/t{talk.turn}{again}",
            tools=self.work.user_tools,
        )
        try:
            return await talk.user_reply(request)
        except BudgetError:
            raise
        except ModelError as error:
            why = f"the simulated user could not be reached: {error}"
            raise DialogueStopped(NO_USER, why) from None

    def _faults(self, text: str) -> list[UserFault]:
        word = self.dialogue.stop_word
        if self.is_over(text):
            if not self.work.talk.turn:
                words = "the assistant has said nothing yet, and the matter is not settled"
                return [UserFault(kind=ENDED_EARLY, words=words)]
            if "?" in text or "？" in text:
                words = f"it asks something and ends with {word}; write the one or the other"
                return [UserFault(kind=ENDED_WITH_MORE, words=words, severe=False)]
            return []
        shown = [m.content for m in self.work.talk.transcript if m.role in ("user", "assistant")]
        return faults_of(
            text, self.ctx.case, candidate_texts=self.candidate_texts, shown=shown, own=self.own
        )

    def _flag(self, fault: UserFault, *, again: bool) -> None:
        flag: dict[str, Json] = {"turn": self.work.talk.turn, "kind": fault.kind}
        if fault.what:
            flag["what"] = fault.what
        if again:
            flag["again"] = True
        self.work.flags.append(flag)


def _candidate_is_next(case: Case) -> bool:
    """Tell whether the case's messages end with what the candidate is to answer."""
    return bool(case.messages) and case.messages[-1].role in ("user", "tool")


def _bare(text: str) -> str:
    return text.strip(" \t\n.!*`\"'。！")
