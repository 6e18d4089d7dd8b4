"""Models with a system prompt and a suffix around every request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proctor.contracts.dialogue import Candidate, DialogueContext
from proctor.contracts.model import Model, ModelChoice
from proctor.core.exchange import Reply, ReplyShape, Request
from proctor.core.suite import Json, Message
from proctor.engine.models.call_cache import Wrapped


@dataclass(frozen=True)
class ModelCandidate(Candidate):
    """A model as candidate."""

    model: Model
    choice: ModelChoice

    async def reply(self, ctx: DialogueContext, messages: Sequence[Message]) -> Reply:
        case = ctx.case
        request = Request(
            messages=dressed(self.choice, messages),
            sampling=self.choice.sampling,
            salt=ctx.salt,
            tools=case.tools,
            tool_choice=case.tool_choice if case.tools else "",
            shape=_shape(case.response_format),
        )
        return await self.model.reply(request)


def _shape(response_format: Mapping[str, Json]) -> ReplyShape | None:
    """Return the shape that a case prescribes for its reply, if any."""
    if not response_format:
        return None
    return ReplyShape(name=str(response_format.get("title") or "reply"), schema=response_format)


@dataclass(frozen=True)
class PromptedModel(Wrapped):
    """A judge's or simulator's model with its prompt settings around every request."""

    inner: Model
    choice: ModelChoice

    @classmethod
    def of(cls, model: Model, choice: ModelChoice) -> Model:
        """Wrap a model, if its settings have a prompt or a suffix."""
        return cls(model, choice) if choice.system or choice.suffix else model

    @property
    def identity(self) -> Json:
        return [self.inner.identity, self.choice.system, self.choice.suffix]

    async def reply(self, request: Request) -> Reply:
        return await self.inner.reply(self._worn(request))

    async def discard(self, requests: Sequence[Request]) -> bool:
        return await self.inner.discard([self._worn(request) for request in requests])

    def _worn(self, request: Request) -> Request:
        return replace(request, messages=dressed(self.choice, request.messages))


def dressed(choice: ModelChoice, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Prepend the system prompt, and append the suffix to the last user message."""
    if not choice.suffix and not choice.system:
        return tuple(messages)
    shown_messages = list(messages)
    if choice.suffix:
        last = max((i for i, m in enumerate(shown_messages) if m.role == "user"), default=None)
        if last is not None:
            shown_messages[last] = replace(
                shown_messages[last], content=f"{shown_messages[last].content}\n{choice.suffix}"
            )
    if choice.system:
        shown_messages.insert(0, Message(role="system", content=choice.system))
    return tuple(shown_messages)
