"""One item of a rubric, judged on the last reply of a conversation."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score, ScoreStatus
from proctor.judging import prompts
from proctor.scorers.judged.criteria import before_answer, salt_of
from proctor.scorers.judged.original_verdicts import Met, read_met
from proctor.scorers.judged.question import Decision, Question, decide, unaskable


@dataclass(frozen=True)
class RubricItem(Scorer):
    """Give a point when a judge finds that an item of a rubric holds for the last reply.

    The criterion's weight says what that is worth; a negative one describes something undesirable.
    ``points`` is what the judge is told it is worth. With ``compat: original``, an item without a
    readable verdict does not hold, and the score's detail says that it is not valid.
    """

    version: ClassVar[str] = "2"
    needs_judge: ClassVar[bool] = True

    criterion: str
    points: float = 1.0
    tries: int = 3
    compat: Literal["", "original"] = ""

    async def score(self, ctx: ScoreContext) -> Score:
        """Ask whether the item holds."""
        original = self.compat == "original"
        asked = Question(
            prompt="judge_rubric",
            verdict=Met,
            trusted={"points": f"{self.points:g}"},
            untrusted={
                "conversation": before_answer(ctx.transcript, ctx.language),
                "answer": ctx.output,
                "criterion": self.criterion,
            },
            tries=self.tries,
            reader=read_met if original else None,
            salt=salt_of(ctx) if original else "",
        )
        score = await decide(ctx, asked, _meaning)
        if original and score.detail is not None:
            valid = score.status is ScoreStatus.SCORED
            points = score.points if valid else 0.0
            detail = {**score.detail, "valid": valid}
            return replace(score, status=ScoreStatus.SCORED, points=points, detail=detail)
        return score

    @property
    def per_attempt(self) -> bool:
        """Judge each attempt by itself where the original did."""
        return self.compat == "original"

    def prompt_key(self, language: str) -> str:
        """Return the hash of the prompt."""
        return prompts.keys_of(["judge_rubric"], language)

    def problems(self) -> Iterable[str]:
        """Report an item that says nothing."""
        return unaskable(self.tries, criterion=self.criterion)


def _meaning(verdict: Met) -> Decision:
    return Decision(points=float(verdict.criteria_met), reason=verdict.explanation)
