"""Criteria for which a judge reads the answer against the passages that came with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.passages import passages_of
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import Decision, Question, decide, unaskable


class Correct(BaseModel):
    """Hold whether an answer is right by its context."""

    reason: str = ""
    result: Literal["correct", "incorrect", "cannot tell"]


class Supported(BaseModel):
    """Hold whether an answer claims more than its context does."""

    reason: str = ""
    unsupported: tuple[str, ...] = ()
    result: Literal["supported", "hallucination"]


@dataclass(frozen=True)
class QaCorrectness(Scorer):
    """Pass when a judge finds the answer to the question correct, going by the context.

    No reference is needed. Where the context does not decide the question, the answer is unscored.
    """

    version: ClassVar[str] = "2"
    reads_notes: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True
    needs_judge: ClassVar[bool] = True
    prompt: ClassVar[str] = "bench_correct"

    tries: int = 3

    async def score(self, ctx: ScoreContext) -> Score:
        context = context_of(ctx)
        if not context:
            return _without_context()
        texts = {"question": ctx.prompt, "context": context, "answer": ctx.output}
        return await self._ask(ctx, texts)

    async def _ask(self, ctx: ScoreContext, texts: Mapping[str, str]) -> Score:
        question = Question(prompt=self.prompt, verdict=Correct, untrusted=texts, tries=self.tries)
        score = await decide(
            ctx,
            question,
            lambda it: Decision(points=float(it.result == "correct"), reason=it.reason),
        )
        detail: Mapping[str, Json] = score.detail or {}
        if detail.get("result") == "cannot tell":
            reason = f"the judge cannot tell by the context: {score.reason}"
            detail = {**detail, "category": "invalid"}
            return Score.failed(reason, out_of=1.0, detail=detail)
        return score

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of([self.prompt], language)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)


@dataclass(frozen=True)
class Hallucination(Scorer):
    """Pass when a judge finds nothing in the answer that the context does not support."""

    version: ClassVar[str] = "2"

    reads_notes: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True
    needs_judge: ClassVar[bool] = True

    tries: int = 3

    async def score(self, ctx: ScoreContext) -> Score:
        context = context_of(ctx)
        if not context:
            return _without_context()
        question = Question(
            prompt="bench_hallucination",
            verdict=Supported,
            untrusted={"context": context, "answer": ctx.output},
            tries=self.tries,
        )
        return await decide(
            ctx,
            question,
            lambda it: Decision(points=float(it.result == "supported"), reason=it.reason),
        )

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(["bench_hallucination"], language)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)


def context_of(ctx: ScoreContext) -> str:
    """Return the passages of an attempt: its own where it notes some, else those of the case."""
    return "\n\n".join(passage.text for passage in passages_of(ctx.case, ctx.attempt))


def _without_context() -> Score:
    return Score.failed("there is no context to go by", out_of=1.0)
