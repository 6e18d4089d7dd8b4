"""Summaries: whether a judge prefers the answer to the reference, asked in both orders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.exchange import Usage
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import Decision, Question, decide, unaskable

CATEGORIES = {0.0: "reference", 0.5: "equal", 1.0: "candidate"}


class Better(BaseModel):
    """Hold which of two summaries is better."""

    reason: str = ""
    better: Literal["first", "second", "tie"]


@dataclass(frozen=True)
class SummaryQuality(Scorer):
    """Compare the answer, a summary, with the reference: 1 where a judge finds it better, 0 if not.

    The judge is asked twice, with either of them first; a tie, or two verdicts that differ, is
    worth a half.
    """

    version: ClassVar[str] = "2"
    needs_judge: ClassVar[bool] = True
    verdicts: ClassVar[int] = 2
    prompt: ClassVar[str] = "bench_summary"

    tries: int = 3

    async def score(self, ctx: ScoreContext) -> Score:
        if not ctx.references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        return await self._compare(ctx, ctx.references[0])

    async def _compare(self, ctx: ScoreContext, reference: str) -> Score:
        first = await self._ask(ctx, reference, ctx.output, {"first": 0.0, "second": 1.0})
        if first.status is ScoreStatus.FAILED:
            return first
        second = await self._ask(ctx, ctx.output, reference, {"first": 1.0, "second": 0.0})
        if second.status is ScoreStatus.FAILED:
            return second
        return _folded(first, second)

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of([self.prompt], language)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)

    async def _ask(
        self, ctx: ScoreContext, first: str, second: str, worth: Mapping[str, float]
    ) -> Score:
        question = Question(
            prompt=self.prompt,
            verdict=Better,
            untrusted=about(ctx, first, second),
            tries=self.tries,
        )
        return await decide(
            ctx, question, lambda it: Decision(points=worth.get(it.better, 0.5), reason=it.reason)
        )


def about(ctx: ScoreContext, first: str, second: str) -> Mapping[str, str]:
    """Return what a judge is shown: the text, and two summaries of it."""
    return {"text": ctx.prompt, "first": first, "second": second}


def _folded(first: Score, second: Score) -> Score:
    """Make one score of both orders; whoever wins only by where it stands does not win."""
    both = (first.points or 0.0, second.points or 0.0)
    # Judges that are divided may give a quarter, which is no preference either.
    points = both[0] if both[0] == both[1] and both[0] in CATEGORIES else 0.5
    agreed = "" if both[0] == both[1] else "the verdict depends on the order: "
    details: list[Mapping[str, Json]] = [score.detail or {} for score in (first, second)]
    detail = {
        "category": CATEGORIES[points],
        "orders": [
            {"first": name, "points": score.points, **order_detail}
            for name, score, order_detail in zip(
                ("reference", "candidate"), (first, second), details, strict=True
            )
        ],
        "usage": _usage(details),
    }
    reason = f"{agreed}{first.reason}" + (f" / {second.reason}" if agreed else "")
    return Score(points=points, out_of=1.0, reason=reason, detail=detail)


def _usage(details: Iterable[Mapping[str, Json]]) -> Mapping[str, Json]:
    """Add up what both questions took, where the run's sums look for it."""
    from proctor.core.fingerprint import plain

    total = sum((Usage(**(detail.get("usage") or {})) for detail in details), Usage())
    usage: Mapping[str, Json] = plain(total)
    return usage
