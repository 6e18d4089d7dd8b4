"""Judges as scorers and dialogues are given them: one model asked once or often, or a panel."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

from proctor.contracts.judge import Judge, Ruling, Talk, Tie, seconds_of
from proctor.contracts.model import Model
from proctor.core.exchange import Sampling, Usage
from proctor.core.fingerprint import digest, plain
from proctor.core.suite import Json, Message
from proctor.errors import JudgeError, ModelError
from proctor.io import concurrency
from proctor.judging.asking import INVALID, ask
from proctor.judging.folding import divided, fold
from proctor.judging.raw_talk import TalkReply, hold_talk

Verdict = TypeVar("Verdict")
Combine = Literal["mean", "median", "majority"]


@dataclass(kw_only=True)
class ModelJudge(Judge):
    """One model as judge, asked once or several times with the verdicts folded into one."""

    model: Model
    sampling: Sampling = field(default_factory=Sampling)
    repeats: int = 1
    combine: Combine = "majority"
    identity: Json = field(init=False)
    _mute: bool = field(default=False, init=False)
    """Whether the model turned out to give no log-probabilities."""
    _tried: bool = field(default=False, init=False)
    _trying: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        """Say who this is."""
        self.identity = {
            "model": self.model.identity,
            "sampling": plain(self.sampling),
            "repeats": self.repeats,
        }
        if self.repeats > 1:
            self.identity["combine"] = self.combine

    async def ask(
        self,
        messages: Sequence[Message],
        verdict: type[Verdict],
        *,
        tries: int = 3,
        salt: str = "",
        sampling: Sampling | None = None,
        reader: Any = None,
    ) -> Ruling[Verdict]:
        async def once(number: int) -> Ruling[Verdict]:
            salted = salt if self.repeats == 1 else f"{salt}r{number}"
            talk_reply: TalkReply[Verdict] = TalkReply(ruling=None, usage=Usage())
            if isinstance(reader, Talk):
                talk_reply = await self._try_talk(reader, salted, sampling)
                if talk_reply.ruling is not None:
                    return talk_reply.ruling
            try:
                ruling = await ask(
                    self.model,
                    messages,
                    verdict,
                    tries=tries,
                    salt=salted,
                    sampling=sampling or self.sampling,
                    reader=None if isinstance(reader, Talk) else reader,
                )
            except JudgeError:
                await self.model.discard(talk_reply.requests)
                raise
            spent = talk_reply.usage
            return replace(ruling, usage=ruling.usage + spent) if spent.calls else ruling

        if self.repeats == 1:
            return await once(1)
        members = await _outcomes(range(1, self.repeats + 1), once)
        return _folded(members, self.combine)

    async def _try_talk(
        self, talk: Talk[Verdict], salt: str, sampling: Sampling | None
    ) -> TalkReply[Verdict]:
        """Hold a talk, unless it is known that this model gives none of what it needs.

        The first talk that comes to an end is held alone, so that not everybody asks in vain at
        once; one that raised has shown nothing.
        """
        if not self._tried:
            async with self._trying:
                if not self._tried:
                    talk_reply = await self._talked(talk, salt, sampling)
                    self._tried = True
                    return talk_reply
        if self._mute:
            return TalkReply(ruling=None, usage=Usage())
        return await self._talked(talk, salt, sampling)

    async def _talked(
        self, talk: Talk[Verdict], salt: str, sampling: Sampling | None
    ) -> TalkReply[Verdict]:
        talk_reply = await hold_talk(self.model, talk, salt, sampling or self.sampling)
        self._mute = self._mute or talk_reply.mute
        return talk_reply


@dataclass(kw_only=True)
class Panel(Judge):
    """Several judges, asked at once, with their verdicts folded field by field.

    A judge that gives no readable verdict is left out, and its place in the ruling's panel says
    so. One that may be reached later is waited for: its error is passed on.
    """

    judges: Sequence[ModelJudge]
    combine: Combine = "majority"
    tie: Tie = "0"
    """What a score is worth on which they are evenly divided; a judge whose own repeats are is then
    left out, unless that is 0."""
    identity: Json = field(init=False)

    def __post_init__(self) -> None:
        """Say who they are; their repeats are folded in the panel's way."""
        if not self.judges:
            raise ValueError("a panel has at least one judge")
        self.judges = [replace(judge, combine=self.combine) for judge in self.judges]
        self.identity = {
            "judges": [judge.identity for judge in self.judges],
            "combine": self.combine,
        }
        if self.tie != "0":
            self.identity["tie"] = self.tie

    async def ask(
        self,
        messages: Sequence[Message],
        verdict: type[Verdict],
        *,
        tries: int = 3,
        salt: str = "",
        sampling: Sampling | None = None,
        reader: Any = None,
    ) -> Ruling[Verdict]:
        salts = _salts(self.judges, salt)

        async def one(number: int) -> Ruling[Verdict]:
            return await self.judges[number].ask(
                messages,
                verdict,
                tries=tries,
                salt=salts[number],
                sampling=sampling,
                reader=reader,
            )

        if len(self.judges) == 1:
            return await one(0)
        members = await _outcomes(range(len(self.judges)), one)
        return _folded(members, self.combine, leave_out_tied=self.tie != "0")


def _salts(judges: Sequence[ModelJudge], salt: str) -> list[str]:
    """Tell apart judges that are the same model, asked in the same way."""
    seen: dict[str, int] = {}
    salts = []
    for judge in judges:
        key = digest(judge.identity)
        seen[key] = seen.get(key, 0) + 1
        salts.append(salt if seen[key] == 1 else f"{salt}j{seen[key]}")
    return salts


async def _outcomes(
    numbers: range, work: Callable[[int], Any]
) -> list[Ruling[Any] | JudgeError | ModelError]:
    """Let all of them finish, and return what came of each in its order."""

    async def outcome(number: int) -> tuple[int, Ruling[Any] | JudgeError | ModelError]:
        try:
            return number, await work(number)
        except (JudgeError, ModelError) as error:
            return number, error

    results = {}
    async with aclosing(concurrency.map_unordered(numbers, outcome, limit=len(numbers))) as pairs:
        async for number, result in pairs:
            results[number] = result
    return [results[number] for number in numbers]


def _folded(
    members: Sequence[Ruling[Verdict] | JudgeError | ModelError],
    combine: str,
    *,
    leave_out_tied: bool = False,
) -> Ruling[Verdict]:
    for member in members:
        if isinstance(member, ModelError) and member.passing:
            raise member
    panel = tuple(member if isinstance(member, Ruling) else _left_out(member) for member in members)
    usage = sum((ruling.usage for ruling in panel), Usage())
    raw = tuple(text for ruling in panel for text in ruling.raw)
    ruled = [member for member in members if isinstance(member, Ruling)]
    if not ruled:
        raise _none_ruled(members, raw, usage)
    rungs = {ruling.rung for ruling in ruled}
    clear = [ruling for ruling in ruled if not (leave_out_tied and ruling.tied)]
    verdicts = [ruling.verdict for ruling in clear or ruled]
    return Ruling(
        verdict=fold(verdicts, combine),
        tied=not clear or divided(verdicts),
        rung=rungs.pop() if len(rungs) == 1 else "panel",
        tries=sum(ruling.tries for ruling in panel),
        raw=raw,
        usage=usage,
        seconds=seconds_of(panel),
        panel=panel,
    )


def _left_out(error: JudgeError | ModelError) -> Ruling[Any]:
    """Keep the place of a judge without a verdict."""
    if isinstance(error, ModelError):
        return Ruling(verdict=None, rung="failed", tries=0, raw=(str(error),))
    usage = cast(Usage, error.usage or Usage())
    return Ruling(verdict=None, rung="failed", tries=len(error.raw), raw=error.raw, usage=usage)


def _none_ruled(members: Sequence[Any], raw: Sequence[str], usage: Usage) -> Exception:
    """Return the error of a panel of which nobody gave a verdict."""
    for member in members:
        if isinstance(member, ModelError):
            return member
    reasons = {member.reason for member in members}
    return JudgeError(
        f"none of {len(members)} judges gave a readable verdict: {members[0]}",
        raw=raw,
        usage=usage,
        reason=reasons.pop() if len(reasons) == 1 else INVALID,
    )
