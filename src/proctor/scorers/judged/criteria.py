"""Criteria that a judge decides: a question about the answer, correctness, a rating."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, create_model

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Message
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import (
    Correctness,
    Decision,
    Question,
    decide,
    unaskable,
    with_passages,
)
from proctor.scorers.maths.comparing import library_versions, missing_library, score_of
from proctor.scorers.text.final_answer import extracted

_NONE = {"zh": "（无）"}


class YesNo(BaseModel):
    """Hold whether an answer fulfils a criterion."""

    reason: str = ""
    result: Literal["yes", "no"]


@dataclass(frozen=True)
class Judged(Scorer):
    """Pass when a judge finds that the answer fulfils a criterion in the suite's own words.

    The judge is shown the passages of the answer, or of the case, where there are any; with
    ``context: false`` it is not.
    """

    version: ClassVar[str] = "2"
    needs_judge: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True

    question: str
    tries: int = 3
    context: bool = True

    async def score(self, ctx: ScoreContext) -> Score:
        question = Question(
            prompt="judge_yes_no",
            verdict=YesNo,
            untrusted={**_around(ctx), "criterion": self.question},
            tries=self.tries,
        )
        question = with_passages(question, ctx) if self.context else question
        return await decide(
            ctx, question, lambda it: Decision(points=float(it.result == "yes"), reason=it.reason)
        )

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_yes_no"], language)

    def context_prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_yes_no"], language, passages=self.context)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries, question=self.question)


@dataclass(frozen=True)
class JudgedCorrect(Scorer):
    """Pass when a judge finds that the answer is one of the case's references in substance.

    The judge is also shown the final answer that simple rules find in the reply. With
    ``maths_first``, math-verify decides where it can, and the judge is asked only about the rest.
    """

    # 3: with maths_first, an answer whose comparison has to be killed is a miss, and no judge is
    # asked about it any more. All other verdicts are read from the calls in the store.
    version: ClassVar[str] = "3"
    needs_judge: ClassVar[bool] = True

    kind: Literal["", "maths", "choice", "open"] = ""
    extract: bool = True
    category: str = ""
    choices: tuple[str, ...] = ()
    maths_first: bool = False
    tries: int = 3

    def score(self, ctx: ScoreContext) -> Any:
        if not self.maths_first:
            return self._ruled(ctx)
        if any(missing_library()):
            return Score(points=0.0, out_of=1.0, detail={"readable": False})
        score = score_of(ctx.output, ctx.references)
        return replace(score, detail={**score.detail, "by": "math-verify"})

    @property
    def is_async(self) -> bool:
        return not self.maths_first

    @property
    def finishes(self) -> bool:
        return self.maths_first

    async def finish(self, ctx: ScoreContext, score: Score) -> Score:
        return score if score.detail["readable"] else await self._ruled(ctx)

    @property
    def needs_sandbox(self) -> bool:
        return False

    async def _ruled(self, ctx: ScoreContext) -> Score:
        if not ctx.references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        return await decide(ctx, self._question(ctx), _of_correctness)

    def _question(self, ctx: ScoreContext) -> Question:
        none = _NONE.get(ctx.language[:2], "(none)")
        answer = self._extracted(ctx.output)
        return Question(
            prompt="judge_correct",
            verdict=Correctness,
            trusted={"rules": prompts.load(self._rules, ctx.language).text},
            untrusted={
                "question": ctx.prompt,
                "choices": "\n".join(_lettered(self.choices)) or none,
                "category": self.category or none,
                "references": "\n".join(ctx.references),
                "answer": ctx.said_and_called,
                "extracted": answer or none,
            },
            tries=self.tries,
            detail={"extracted": answer} if answer else {},
        )

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_correct", self._rules], language)

    def toolchain(self) -> str:
        return library_versions() if self.maths_first else ""

    def missing(self) -> Iterable[str]:
        return missing_library() if self.maths_first else ()

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)

    def _extracted(self, answer: str) -> str:
        return extracted(answer) if self.extract else ""

    @property
    def _rules(self) -> str:
        return f"judge_rules_{self.kind or 'any'}"


@dataclass(frozen=True)
class Rating(Scorer):
    """Let a judge rate the answer on a scale; only shown, unless it is to count.

    Where it counts, ``scale`` says how: ``share``, the rating out of the highest, so that the
    lowest is worth something (1 of 5 counts 20 %); ``range``, what it is above the lowest out of
    the whole range, so that the lowest is worth nothing (1 of 5 counts 0 %, 3 of 5 counts 50 %).
    The judge is shown the passages of the answer, or of the case, unless ``context`` is false.
    """

    version: ClassVar[str] = "2"

    out_of: ClassVar[float | None] = None
    needs_judge: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    rates: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True

    question: str
    low: int = 1
    high: int = 5
    counts: bool = False
    tries: int = 3
    scale: Literal["share", "range"] = "share"
    context: bool = True

    async def score(self, ctx: ScoreContext) -> Score:
        question = Question(
            prompt="judge_rating",
            verdict=_rated(self.low, self.high),
            trusted={"low": str(self.low), "high": str(self.high)},
            untrusted={**_around(ctx), "criterion": self.question},
            tries=self.tries,
            out_of=self.full_marks,
        )
        question = with_passages(question, ctx) if self.context else question
        return await decide(ctx, question, self._meaning)

    def _meaning(self, verdict: Any) -> Decision:
        """Return the points that a rating gives, saying so where they are not the rating."""
        rating = float(verdict.rating)
        if not self.counts:
            return Decision(points=rating, reason=verdict.reason)
        points = rating - self._nothing
        worth = f"rated {rating:g} from {self.low} to {self.high}"
        worth += f", which counts {points:g} of {self.full_marks:g} points"
        return Decision(points=points, reason=f"{worth}: {verdict.reason}".removesuffix(": "))

    @property
    def full_marks(self) -> float | None:
        return float(self.high) - self._nothing if self.counts else None

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the ends of the scale, as points."""
        nothing = self._nothing if self.counts else 0.0
        return self.low - nothing, self.high - nothing

    @property
    def _nothing(self) -> float:
        """Return the rating that is worth nothing."""
        return float(self.low) if self.scale == "range" else 0.0

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_rating"], language)

    def context_prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_rating"], language, passages=self.context)

    def problems(self) -> Iterable[str]:
        if self.low >= self.high:
            yield f"the scale goes from {self.low} to {self.high}: high must be above low"
        elif self.counts and not (self.full_marks or 0.0) > 0:
            yield f"the highest rating, {self.high}, is worth nothing (fix: scale: range)"
        yield from unaskable(self.tries, question=self.question)


def salt_of(ctx: ScoreContext) -> str:
    """Return what tells the judgements of this attempt apart from those of others."""
    return f"{ctx.case.id}#{ctx.attempt.index}"


def before_answer(messages: Sequence[Message], language: str = "en") -> prompts.Transcript:
    """Return the messages before the last reply, as a judge is shown them."""
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=len(messages))
    return prompts.spoken(messages[:last], nothing=_NONE.get(language[:2], "(none)"))


def _around(ctx: ScoreContext) -> Mapping[str, prompts.Words]:
    none = _NONE.get(ctx.language[:2], "(none)")
    return {
        "conversation": before_answer(ctx.transcript, ctx.language),
        "references": "\n".join(ctx.references) or none,
        "answer": ctx.said_and_called,
    }


def _of_correctness(verdict: Correctness) -> Decision:
    return Decision(points=float(verdict.result == "correct"), reason=verdict.reason)


def _lettered(choices: Sequence[str]) -> Iterable[str]:
    for number, choice in enumerate(choices):
        yield f"{chr(ord('A') + number)}) {choice}" if number < 26 else choice


@cache
def _rated(low: int, high: int) -> Any:
    return create_model(
        "Rated", reason=(str, ""), rating=(int, Field(ge=low, le=high)), __base__=BaseModel
    )
