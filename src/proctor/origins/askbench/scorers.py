"""Scorers as AskBench's own code has them, so that its numbers come out."""

from dataclasses import dataclass, replace
from typing import Literal

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.origins.askbench.verdicts import read_met, read_result
from proctor.scorers.judged.asking_judge import Question
from proctor.scorers.judged.criteria import JudgedCorrect, salt_of
from proctor.scorers.judged.rubric import RubricItem


@dataclass(frozen=True)
class AskBenchJudgedCorrect(JudgedCorrect):
    """No answer is extracted, each attempt is judged by itself, verdicts are read leniently."""

    compat: Literal["original"] = "original"

    @property
    def per_attempt(self) -> bool:
        return True

    def _question(self, ctx: ScoreContext) -> Question:
        return replace(super()._question(ctx), reader=read_result, salt=salt_of(ctx))

    def _extracted(self, answer: str) -> str:
        return ""


@dataclass(frozen=True)
class AskBenchRubricItem(RubricItem):
    """An item without a readable verdict does not hold, and the detail says it is not valid."""

    compat: Literal["original"] = "original"

    @property
    def per_attempt(self) -> bool:
        return True

    async def score(self, ctx: ScoreContext) -> Score:
        score = await super().score(ctx)
        if score.detail is None:
            return score
        valid = score.status is ScoreStatus.SCORED
        detail = {**score.detail, "valid": valid}
        points = score.points if valid else 0.0
        return replace(score, status=ScoreStatus.SCORED, points=points, detail=detail)

    def _question(self, ctx: ScoreContext) -> Question:
        return replace(super()._question(ctx), reader=read_met, salt=salt_of(ctx))
