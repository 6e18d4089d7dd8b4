"""A dialogue in which a candidate calls tools, and is given results until it answers."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proctor.contracts.dialogue import Dialogue, DialogueContext, Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import Cause
from proctor.core.suite import Case, Json, ToolCall
from proctor.core.tool_calls import same_value
from proctor.dialogues.conversation import Conversation, no_result
from proctor.dialogues.mcp_server import McpServer, McpSession
from proctor.errors import ModelError

MOST_TURNS = 1000


@dataclass(frozen=True)
class ScriptedResult:
    """What a tool gives, for every call of it or for those with the same arguments."""

    name: str
    arguments: Mapping[str, Json] | None = None
    result: Json = None
    error: str | None = None

    @property
    def text(self) -> str:
        """Return it as the text that a model is shown."""
        if self.error is not None:
            return json.dumps({"error": self.error}, ensure_ascii=False)
        if isinstance(self.result, str):
            return self.result
        return json.dumps(self.result, ensure_ascii=False)

    def fits(self, call: ToolCall) -> bool:
        """Tell whether it is the result of a call."""
        return self.name == call.name and (
            self.arguments is None or same_value(self.arguments, call.arguments)
        )


@dataclass(frozen=True)
class ToolLoop(Dialogue):
    """The case's messages, then results for the tools that the candidate calls, until it answers.

    A call is answered by the first of ``results`` that is for it and was not given before, one with
    the same arguments before one for any; when all were given, by the last of them once more. With
    ``in_order`` each call must be the next one of ``results``. A call for which there is no result
    goes to the MCP server that has the tool, or gets an error as its result.
    """

    results: tuple[ScriptedResult, ...] = ()
    in_order: bool = False
    max_turns: int = 10
    """How many replies the candidate may give; the last one may still call tools."""
    mcp: McpServer | None = None

    @property
    def needs_sandbox(self) -> bool:
        return self.mcp is not None

    async def hold(self, ctx: DialogueContext) -> Attempt:
        session = self._session(ctx)
        served: frozenset[str] = frozenset()
        if session is not None:
            listed = await session.tools()
            own = {tool.name for tool in ctx.case.tools}
            served = frozenset(tool.name for tool in listed)
            more = tuple(tool for tool in listed if tool.name not in own)
            ctx = replace(ctx, case=replace(ctx.case, tools=(*ctx.case.tools, *more)))
        talk = Conversation(ctx)
        tool_results = _ToolResults(self)
        text = await talk.ask(talk.transcript)
        while talk.calls and talk.turn < self.max_turns:
            talk.give_results(await tool_results.results(talk.calls, session, served))
            if ctx.case.tool_choice not in ("", "auto", "none"):
                # A candidate that must call a tool again and again would never answer.
                talk.ctx = replace(ctx, case=replace(ctx.case, tool_choice="auto"))
            text = await talk.ask(talk.transcript)
        return self._ended(talk, text, session)

    def _session(self, ctx: DialogueContext) -> McpSession | None:
        if self.mcp is None:
            return None
        if ctx.sandbox is None:
            raise ModelError(
                f"the case {ctx.case.id!r} has an MCP server, which needs a sandbox",
                cause=Cause.ENVIRONMENT.value,
            )
        return McpSession(self.mcp, ctx.sandbox)

    def _ended(self, talk: Conversation, text: str | None, session: McpSession | None) -> Attempt:
        notes: dict[str, Json] = {"finish": talk.finish} if talk.finish else {}
        if talk.calls:
            notes["ended"] = f"it still called tools in its reply number {self.max_turns}"
        if session is not None and session.changed:
            notes["mcp_changed"] = True
        if text is None and talk.turn == 1:
            if talk.thinking:
                notes["thinking"] = talk.thinking
            return talk.attempt(AttemptStatus.UNANSWERED, notes)
        if text is None:
            notes["ended"] = "it said nothing after the results"
        return talk.attempt(AttemptStatus.ANSWERED, notes)

    def turns(self, case: Case) -> Turns:
        likely = min(2, self.max_turns)
        return Turns(candidate=(1, likely, self.max_turns))

    def problems(self, case: Case) -> Iterable[str]:
        if not 1 <= self.max_turns <= MOST_TURNS:
            yield f"max_turns is from 1 to {MOST_TURNS}, not {self.max_turns}"
        if self.mcp is not None:
            yield from self.mcp.problems()
        elif not case.tools:
            yield "there are results of tools, and no 'tools' that could be called"
        else:
            names = {tool.name for tool in case.tools}
            for name in dict.fromkeys(one.name for one in self.results if one.name not in names):
                yield f"there is a result of {name!r}, which is none of the 'tools'"


@dataclass
class _ToolResults:
    """Which results were given already, in one attempt."""

    dialogue: ToolLoop
    used: set[int] = field(default_factory=set)

    async def results(
        self, calls: Sequence[ToolCall], session: McpSession | None, served: frozenset[str]
    ) -> list[str]:
        """Return the results of the calls of one reply."""
        texts: list[str | None] = [self._scripted(call) for call in calls]
        places_served = [
            place
            for place, (call, text) in enumerate(zip(calls, texts, strict=True))
            if text is None and call.name in served
        ]
        if places_served and session is not None:
            answers = await session.call([calls[place] for place in places_served])
            for place, answer in zip(places_served, answers, strict=True):
                texts[place] = answer
        return [
            no_result(call) if text is None else text
            for call, text in zip(calls, texts, strict=True)
        ]

    def _scripted(self, call: ToolCall) -> str | None:
        results = self.dialogue.results
        if self.dialogue.in_order:
            place = len(self.used)
            if place >= len(results) or not results[place].fits(call):
                return None
            self.used.add(place)
            return results[place].text
        fitting = [place for place, one in enumerate(results) if one.fits(call)]
        exact = [place for place in fitting if results[place].arguments is not None]
        places = exact or fitting
        if not places:
            return None
        place = next((place for place in places if place not in self.used), places[-1])
        self.used.add(place)
        return results[place].text
