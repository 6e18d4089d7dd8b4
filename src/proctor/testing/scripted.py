"""Models, candidates and judges that say what a test tells them to, without a server."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from proctor.contracts.dialogue import Candidate, Dialogue, DialogueContext
from proctor.contracts.judge import Judge, Ruling
from proctor.contracts.measure import MeasureSums, SummedMeasure
from proctor.contracts.model import Model
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import finish_score, run_scorer, run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.run import CaseResult, Measured
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Json, Message
from proctor.errors import JudgeError, ModelError
from proctor.io import json_bytes
from proctor.io.concurrency import run_sync

Verdict = TypeVar("Verdict")
Line = str | None | Reply | Exception
"""What a model says: a text, no content, a whole reply, or an error that it raises."""
Lines = str | Sequence[Line] | Mapping[str, Line] | Callable[[Request], Line]
"""One text for everything; lines in their order; patterns that are looked for; or a function."""


@dataclass
class ScriptedModel(Model):
    """Model that replies with the lines of a script, and records the requests."""

    script: Lines = "ok"
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)

    @property
    def identity(self) -> Json:
        return {"provider": "scripted", "model": self.name}

    @property
    def label(self) -> str:
        return f"scripted:{self.name}"

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        line = self._line(request)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        characters = sum(len(message.content) for message in request.messages)
        usage = Usage(
            calls=1, prompt_tokens=characters // 4 + 1, completion_tokens=len(line or "") // 4 + 1
        )
        return Reply(text=line, finish="stop", usage=usage, seconds=0.0, served_by=self.name)

    async def check(self) -> None:
        """Be there."""

    def _line(self, request: Request) -> Line:
        if callable(self.script):
            return self.script(request)
        if isinstance(self.script, str):
            return self.script
        if isinstance(self.script, Mapping):
            text = "\n".join(message.content for message in request.messages)
            for pattern, line in self.script.items():
                if re.search(pattern, text):
                    return line
            return ModelError(f"nothing is scripted for {text[-200:]!r}")
        if len(self.requests) <= len(self.script):
            return self.script[len(self.requests) - 1]
        return ModelError(f"the script has {len(self.script)} lines, and all of them were said")


@dataclass
class ScriptedCandidate(Candidate):
    """Candidate that answers with the lines of a script."""

    script: Lines = "ok"

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.script)

    @property
    def conversations(self) -> list[tuple[Message, ...]]:
        """Return the messages of each call so far."""
        return [request.messages for request in self.model.requests]

    @property
    def heard(self) -> list[tuple[Message, ...]]:
        """Return ``conversations``, by their earlier name."""
        return _renamed("ScriptedCandidate", self.conversations)

    async def reply(self, ctx: DialogueContext, messages: Sequence[Message]) -> Reply:
        request = Request(
            messages=tuple(messages),
            salt=ctx.salt,
            tools=ctx.case.tools,
            tool_choice=ctx.case.tool_choice,
        )
        return await self.model.reply(request)


@dataclass
class ScriptedJudge(Judge):
    """Judge that rules by a script: the fields of each verdict in their order, or an error."""

    script: Iterable[Mapping[str, Json] | str | Exception] = ()
    """A text is what the reader of the one who asks is given."""
    identity: Json = "scripted judge"
    conversations: list[tuple[Message, ...]] = field(default_factory=list)
    """The messages of each question so far."""

    def __post_init__(self) -> None:
        self._lines = iter(self.script)

    @property
    def heard(self) -> list[tuple[Message, ...]]:
        """Return ``conversations``, by their earlier name."""
        return _renamed("ScriptedJudge", self.conversations)

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
        self.conversations.append(tuple(messages))
        line = next(self._lines, None)
        if isinstance(line, Exception):
            raise line
        if line is None:
            raise JudgeError("the script has no more verdicts", reason="NothingScripted")
        ruled = reader(line) if isinstance(line, str) and reader is not None else None
        if ruled is None:
            if isinstance(line, str):
                raise JudgeError(f"not the fields of a verdict: {line!r}", raw=(line,))
            ruled = verdict(**line)
        return Ruling(verdict=ruled, rung="scripted", usage=Usage(calls=1))


def try_scorer(scorer: Scorer, ctx: ScoreContext) -> Score:
    """Let a scorer judge as a run would: whatever it raises is a failed score."""
    return run_sync(_scored(scorer, ctx))


def hold_dialogue(
    dialogue: Dialogue,
    case: Case,
    candidate: Candidate | Lines = "ok",
    *,
    judge: Judge | None = None,
    simulator: Model | None = None,
    language: str = "en",
) -> Attempt:
    """Put a case to a candidate, or to the lines that it is to say, in the way of a dialogue."""
    who = candidate if isinstance(candidate, Candidate) else ScriptedCandidate(candidate)
    ctx = DialogueContext(
        case=case, index=0, candidate=who, judge=judge, simulator=simulator, language=language
    )
    return run_sync(dialogue.hold(ctx))


def measure_in_parts(
    measure: SummedMeasure, results: Sequence[CaseResult], cuts: Iterable[int] = (1,)
) -> Measured:
    """Measure as several processes would: cut before these places, sent as JSON, and merged."""
    ends = sorted({0, len(results), *(cut for cut in cuts if 0 < cut < len(results))})
    whole: MeasureSums | None = None
    for start, end in pairwise(ends):
        there, here = measure.sums(), measure.sums()
        there.add(results[start:end])
        here.load_json(json_bytes.loads(json_bytes.dumps(there.to_json())))
        if whole is None:
            whole = here
        else:
            whole.merge(here)
    return (whole or measure.sums()).result()


async def _scored(scorer: Scorer, ctx: ScoreContext) -> Score:
    score = await run_scorer_async(scorer, ctx) if scorer.is_async else run_scorer(scorer, ctx)
    if scorer.finishes and score.status is not ScoreStatus.FAILED:
        return await finish_score(scorer, ctx, score)
    return score


def _renamed(owner: str, conversations: list[tuple[Message, ...]]) -> list[tuple[Message, ...]]:
    message = f"{owner}.heard is {owner}.conversations now"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return conversations
