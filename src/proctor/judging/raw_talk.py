"""A talk with one judge: its plain replies, by which a verdict may be found in a way of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from proctor.contracts.judge import Ruling, Talk, Voice
from proctor.contracts.model import Model
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.suite import Message
from proctor.errors import ModelError

Verdict = TypeVar("Verdict")

_REFUSED = (400, 422)


class _Mute(Exception):
    """A judge that cannot be asked for log-probabilities."""


@dataclass(frozen=True, kw_only=True)
class TalkReply(Generic[Verdict]):
    """Outcome of a talk."""

    ruling: Ruling[Verdict] | None
    usage: Usage
    mute: bool = False
    """Whether the judge was asked for log-probabilities and gave none."""
    requests: Sequence[Request] = ()
    """What it was asked."""


@dataclass
class _Spoken(Voice):
    """Voice of a model that keeps its replies."""

    model: Model
    salt: str
    sampling: Sampling
    requests: list[Request] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    logprobs: Mapping[str, float] = field(default_factory=dict)
    mute: bool = False

    async def say(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, top_logprobs: int = 0
    ) -> Reply:
        request = Request(
            messages=tuple(messages),
            sampling=replace(self.sampling, max_tokens=max_tokens or self.sampling.max_tokens),
            salt=self.salt,
            top_logprobs=top_logprobs,
        )
        try:
            reply = await self.model.reply(request)
        except ModelError as error:
            # A model that thinks first has no room for that in one token, and says so.
            if top_logprobs and error.status in _REFUSED:
                raise _Mute from None
            raise
        self.requests.append(request)
        self.raw.append(reply.text or "")
        self.usage += reply.usage
        self.logprobs = reply.logprobs
        self.mute = bool(top_logprobs and not reply.logprobs)
        return reply


async def hold_talk(
    model: Model, talk: Talk[Verdict], salt: str, sampling: Sampling
) -> TalkReply[Verdict]:
    """Hold a talk with a model to its end."""
    voice = _Spoken(model=model, salt=salt, sampling=sampling)
    try:
        verdict = await talk.hold(voice)
    except _Mute:
        return TalkReply(ruling=None, usage=voice.usage, mute=True, requests=voice.requests)
    if verdict is None:
        return TalkReply(ruling=None, usage=voice.usage, mute=voice.mute, requests=voice.requests)
    ruling = Ruling(
        verdict=verdict,
        rung="logprobs" if voice.logprobs else "talk",
        raw=tuple(voice.raw),
        usage=voice.usage,
        logprobs=voice.logprobs,
    )
    return TalkReply(ruling=ruling, usage=voice.usage)
