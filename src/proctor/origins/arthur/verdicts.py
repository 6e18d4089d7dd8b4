"""Replies of judges read as Arthur Bench reads them, so that old numbers come out."""

from dataclasses import replace

from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.scorers.judged.asking_judge import Decision, Question, decide

INVALID = "invalid"
WRONG = -1.0
"""What a reply is worth that is not one of the few words which are understood."""


class Grade(BaseModel):
    """Hold what a reply is worth, and what that is called."""

    points: float
    category: str


def read_correct(text: str) -> Grade:
    """Read a verdict on correctness: the whole reply is 0 or 1."""
    categories = {"0": "incorrect", "1": "correct"}
    return _grade(text, categories, {})


def read_choice(text: str) -> Grade:
    """Read a choice between two summaries: the first three characters are 0, 1 or tie."""
    return _grade(text[:3], {"0": "reference", "1": "candidate", "tie": "equal"}, {"tie": 0.5})


async def graded(ctx: ScoreContext, question: Question) -> Score:
    """Ask once; whatever comes back is worth something, and an empty reply is invalid, too."""
    score = await decide(
        ctx, replace(question, tries=1), lambda it: Decision(points=it.points, reason=it.category)
    )
    replies = (score.detail or {}).get("raw", ())
    if score.status is ScoreStatus.FAILED and replies and not any(text.strip() for text in replies):
        detail = {**score.detail, "category": INVALID}
        return Score(points=WRONG, out_of=question.out_of, reason=INVALID, detail=detail)
    return score


def _grade(reply: str, categories: dict[str, str], worth: dict[str, float]) -> Grade:
    if reply not in categories:
        return Grade(points=WRONG, category=INVALID)
    return Grade(
        points=worth[reply] if reply in worth else float(reply), category=categories[reply]
    )
