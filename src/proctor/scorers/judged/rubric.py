"""One item of a rubric, judged on the last reply of a conversation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import (
    Decision,
    Question,
    decide,
    unaskable,
    with_passages,
)
from proctor.scorers.judged.criteria import before_answer


class Met(BaseModel):
    """Hold whether a rubric item holds."""

    explanation: str = ""
    criteria_met: bool


@dataclass(frozen=True)
class RubricItem(Scorer):
    """Give a point when a judge finds that an item of a rubric holds for the last reply.

    The criterion's weight says what that is worth; a negative one describes something undesirable.
    ``points`` is what the judge is told it is worth. The judge is shown the passages of the
    answer, or of the case, unless ``context`` is false.
    """

    version: ClassVar[str] = "2"
    needs_judge: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True

    criterion: str
    points: float = 1.0
    tries: int = 3
    context: bool = True

    async def score(self, ctx: ScoreContext) -> Score:
        question = self._question(ctx)
        question = with_passages(question, ctx) if self.context else question
        return await decide(ctx, question, _meaning)

    def _question(self, ctx: ScoreContext) -> Question:
        return Question(
            prompt="judge_rubric",
            verdict=Met,
            trusted={"points": f"{self.points:g}"},
            untrusted={
                "conversation": before_answer(ctx.transcript, ctx.language),
                "answer": ctx.said_and_called,
                "criterion": self.criterion,
            },
            tries=self.tries,
        )

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_rubric"], language)

    def context_prompt_key(self, language: str) -> str:
        return prompts.keys_of(["judge_rubric"], language, passages=self.context)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries, criterion=self.criterion)


def _meaning(verdict: Met) -> Decision:
    return Decision(points=float(verdict.criteria_met), reason=verdict.explanation)
