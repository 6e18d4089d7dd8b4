"""What is said in one attempt: the messages, what they took, and which of them were cut off."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from proctor.contracts.dialogue import DialogueContext
from proctor.core.attempt import TURNS, Attempt, AttemptStatus
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.fingerprint import plain
from proctor.core.rounds import FILES, ROUNDS, Round
from proctor.core.suite import Json, Message, ToolCall
from proctor.core.tool_calls import said_and_called
from proctor.errors import AgentError, BudgetError, ModelError

if TYPE_CHECKING:
    from proctor.judging.prompts import Transcript

NO_USER = "SimulatorFailed"
"""Why an attempt was stopped whose simulated user said nothing, or was not there."""


class DialogueStopped(Exception):
    """A judge or a simulated user that failed, so that the attempt cannot be scored."""

    def __init__(self, reason: str, error: str, turn: Mapping[str, Json] | None = None) -> None:
        super().__init__(error)
        self.reason = reason
        self.error = error
        self.turn = dict(turn or {})
        """What is known of the failed ruling: how often it was tried, and what was said."""


@dataclass
class Conversation:
    """The messages after those of the case, turn by turn."""

    ctx: DialogueContext
    failed_as: str | None = None
    """The text that stands for a candidate that could not be reached; none lets the error pass."""
    null_as: str | None = None
    """The text that stands for a reply without content; none means that there is no answer."""
    exchanged: list[Message] = field(default_factory=list)
    turn: int = 0
    finish: str = ""
    thinking: str = ""
    """What was thought before the last reply."""
    carried: Mapping[str, Json] = field(default_factory=dict)
    """What the provider wants back unchanged with the last reply."""
    truncated: list[int] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: float | None = None
    rounds: list[Json] = field(default_factory=list)
    """What an agent did, turn by turn; of a model, what it said."""
    files: list[Json] = field(default_factory=list)
    took: list[Json] = field(default_factory=list)
    """Seconds and tokens of each turn of the candidate."""
    user_requests: list[Request] = field(default_factory=list)
    """What the simulated user was asked for its next message."""

    @property
    def transcript(self) -> tuple[Message, ...]:
        """Return the whole conversation, from the case's messages on."""
        return (*self.ctx.case.messages, *self.exchanged)

    @property
    def last(self) -> str:
        """Return the candidate's last words."""
        return next((m.content for m in reversed(self.exchanged) if m.role == "assistant"), "")

    async def ask(self, messages: Sequence[Message]) -> str | None:
        """Let the candidate take its turn, and return what it says; none where it says nothing.

        One that calls tools without a word has answered with an empty text.
        """
        self.turn += 1
        try:
            reply = await self.ctx.candidate.reply(self.ctx, messages)
        except BudgetError:
            raise
        except ModelError as error:
            if isinstance(error, AgentError) and isinstance(error.reply, Reply):
                self._took(error.reply)
            if self.failed_as is None:
                error.so_far = self.attempt(AttemptStatus.ERROR, {}, str(error))
                raise
            self.finish, self.thinking, self.carried = "", "", {}
            return self._record_reply(self.failed_as)
        self._took(reply)
        text = reply.text
        if reply.tool_calls:
            return self._record_reply(text or "", reply.tool_calls)
        if self.null_as is not None:
            return self._record_reply(self.null_as if text is None else text)
        return None if text is None or not text.strip() else self._record_reply(text)

    async def ask_user(self, request: Request) -> str | None:
        """Let the simulated user take its turn, and return what it says."""
        return (await self.user_reply(request)).text

    async def user_reply(self, request: Request) -> Reply:
        """Let the simulated user take its turn, and return all of its reply."""
        model = self.ctx.simulator
        if model is None:
            raise DialogueStopped(
                NO_USER, "there is no simulated user (fix: name one with --simulator)"
            )
        reply = await model.reply(request)
        self.user_requests.append(request)
        self.spend("simulator", reply.usage)
        return reply

    async def discard_user(self) -> None:
        """Let what the simulated user said for its next message be of no use to anybody."""
        if self.ctx.simulator is not None:
            await self.ctx.simulator.discard(self.user_requests)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last reply that have no result yet."""
        return self.exchanged[-1].tool_calls if self.exchanged else ()

    def give_results(self, results: Sequence[str]) -> None:
        """Add the results of the calls of the last reply, in their order."""
        self.exchanged += [
            Message(role="tool", content=result, tool_call_id=call.id)
            for call, result in zip(self.calls, results, strict=True)
        ]

    def tell(self, text: str) -> None:
        """Add what the user says next; servers want every call to have a result before that."""
        self.give_results([no_result(call) for call in self.calls])
        self.exchanged.append(Message(role="user", content=text))

    def spend(self, role: str, usage: object) -> None:
        """Count what a call of a role took."""
        if isinstance(usage, Usage):
            before = self.usage.get(role)
            self.usage[role] = usage if before is None else before + usage

    def attempt(self, status: AttemptStatus, notes: Mapping[str, Json], error: str = "") -> Attempt:
        """Return the attempt as it has ended."""
        all_notes = {**notes, **({"truncated": list(self.truncated)} if self.truncated else {})}
        if self.rounds:
            all_notes[ROUNDS] = list(self.rounds)
        # An agent that deleted all it was given has left something to judge: nothing.
        if any(self.files) or (self.files and self.ctx.case.files):
            all_notes[FILES] = list(self.files)
        return Attempt(
            case_id=self.ctx.case.id,
            index=self.ctx.index,
            messages=tuple(self.exchanged),
            status=status,
            error=error,
            seconds=self.seconds,
            usage={role: plain(usage) for role, usage in self.usage.items()},
            # One turn took what the whole attempt did.
            meta={TURNS: list(self.took)} if len(self.took) > 1 else {},
            notes=all_notes,
        )

    def _took(self, reply: Reply) -> None:
        """Take in what a turn consisted of, besides what was said."""
        self._count(reply)
        if reply.round is not None:
            self.rounds.append(reply.round)
            self.files.append(dict(reply.files))

    def _record_reply(self, text: str, calls: Sequence[ToolCall] = ()) -> str:
        self.exchanged.append(
            Message(
                role="assistant",
                content=text,
                thinking=self.thinking,
                tool_calls=told_apart(calls, self.turn),
                carried=self.carried,
            )
        )
        return text

    def _count(self, reply: Reply) -> None:
        self.finish, self.thinking, self.carried = reply.finish, reply.thinking, reply.carried
        self.spend("candidate", reply.usage)
        if reply.seconds is not None:
            self.seconds = (self.seconds or 0.0) + reply.seconds
        tokens = reply.usage.prompt_tokens + reply.usage.completion_tokens
        self.took.append({"seconds": reply.seconds, "tokens": tokens})
        if reply.truncated:
            self.truncated.append(self.turn)


def no_result(call: ToolCall) -> str:
    """Return what a candidate is told of a call for which there is no result."""
    return json.dumps({"error": f"there is no result for this call of {call.name!r}"})


def told_apart(calls: Sequence[ToolCall], turn: int) -> tuple[ToolCall, ...]:
    """Give an id to calls that have none, or one that another has: results refer to it."""
    ids = [call.id for call in calls]
    if all(ids) and len(set(ids)) == len(ids):
        return tuple(calls)
    return tuple(replace(call, id=f"call_{turn}_{place}") for place, call in enumerate(calls, 1))


def spoken(talk: Conversation, text: str | None) -> Json:
    """Write what a model said as the round of an agent that did nothing else."""
    question = next((m.content for m in reversed(talk.transcript) if m.role == "user"), "")
    if text is None:
        return Round.failed(question, "it gave no answer").to_json()
    return Round.of(question, text).to_json()


def transcript_of(messages: Sequence[Message]) -> "Transcript":
    """Return a conversation as judges and simulated users are shown it."""
    from proctor.judging.prompts import Transcript

    return Transcript(
        entries=tuple(
            (f"{message.role} {place}", said_and_called(message))
            for place, message in enumerate(messages, 1)
        ),
        between="\n\n",
    )


def sampling_of(params: Mapping[str, Json]) -> Sampling | None:
    """Make the sampling that parameters describe; none where they say nothing."""
    if not params:
        return None
    settings = dict(params)
    if isinstance(settings.get("stop"), list):
        settings["stop"] = tuple(settings["stop"])
    try:
        return Sampling(**settings)
    except TypeError:
        raise ValueError(f"not a way to sample: {', '.join(sorted(settings))}") from None
