"""Scorers as AskBench's own code has them, so that its numbers come out."""

from dataclasses import dataclass, replace
from typing import Literal

from proctor.contracts.judge import ReadingError
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.origins.askbench.first_fence import read_first_json
from proctor.scorers.judged.asking_judge import Correctness, Question
from proctor.scorers.judged.criteria import JudgedCorrect, salt_of
from proctor.scorers.judged.rubric import Met, RubricItem

_RESULTS = {
    "correct": True, "right": True, "yes": True, "match": True,
    "incorrect": False, "wrong": False, "no": False,
}  # fmt: skip
_MET = {
    "true": True, "yes": True, "y": True, "1": True,
    "false": False, "no": False, "n": False, "0": False,
}  # fmt: skip


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


class Unusable(ReadingError):
    """JSON without a usable value: the original does not ask again."""

    final = True


def read_result(text: str) -> Correctness:
    """Read a single-turn verdict."""
    verdict = read_first_json(text)
    right = _truth(_get(verdict, "result"), _RESULTS)
    if right is None:
        raise Unusable("the JSON has no usable value of 'result'")
    reason = str(_get(verdict, "reason") or "")
    return Correctness(reason=reason, result="correct" if right else "incorrect")


def read_met(text: str) -> Met:
    """Read the verdict on a rubric item."""
    verdict = read_first_json(text)
    met = _truth(_get(verdict, "criteria_met"), _MET)
    if met is None:
        raise Unusable("the JSON has no usable value of 'criteria_met'")
    return Met(explanation=str(_get(verdict, "explanation") or ""), criteria_met=met)


def _get(verdict: Json, key: str) -> Json:
    return verdict.get(key) if isinstance(verdict, dict) else None


def _truth(value: Json, words: dict[str, bool]) -> bool | None:
    if isinstance(value, bool):
        return value
    return words.get(value.strip().lower()) if isinstance(value, str) else None
