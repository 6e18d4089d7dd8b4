"""From a question to a judge's ruling to a score: what all judged criteria share."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any, Literal

from pydantic import BaseModel

from proctor.contracts.judge import Ruling, Tie
from proctor.contracts.scorer import ScoreContext
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.passages import passages_of
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.errors import JudgeError
from proctor.judging import prompts


class Correctness(BaseModel):
    """Hold whether an answer is correct."""

    reason: str = ""
    result: Literal["correct", "incorrect"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question to a judge, with its prompt, verdict and texts."""

    prompt: str
    verdict: type[Any]
    untrusted: Mapping[str, prompts.Words]
    trusted: Mapping[str, str] = field(default_factory=dict)
    tries: int = 3
    reader: Callable[[str], Any] | None = None
    salt: str = ""
    out_of: float | None = 1.0
    detail: Mapping[str, Json] = field(default_factory=dict)
    passages: bool = False
    """Whether the prompt also shows passages, which ``untrusted`` has as ``context``."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The points of a verdict, and the judge's reason."""

    points: float
    reason: str


def unaskable(tries: int, **texts: str) -> Iterable[str]:
    """Yield what keeps a judge from being asked: no try at all, or texts that say nothing."""
    if tries < 1:
        yield f"{tries} tries: a judge must be asked at least once"
    for name, text in texts.items():
        if not text.strip():
            yield f"the {name} is empty"


def with_passages(question: Question, ctx: ScoreContext) -> Question:
    """Add the passages of the answer, or of the case, where there are any.

    Those of an answer that cannot be read are not shown: scorers of passages say what is wrong.
    """
    try:
        passages = passages_of(ctx.case, ctx.attempt)
    except ValueError:
        passages = ()
    if not passages:
        return question
    shown = prompts.numbered("passage", [passage.text for passage in passages])
    return replace(question, untrusted={**question.untrusted, "context": shown}, passages=True)


async def decide(
    ctx: ScoreContext, question: Question, meaning: Callable[[Any], Decision]
) -> Score:
    """Ask the judge, and make a score of the ruling; no verdict is a failed score."""
    if ctx.judge is None:
        words = "there is no judge to ask (fix: name one with --judge)"
        return Score.failed(words, out_of=question.out_of)
    prompt = prompts.load(question.prompt, ctx.language, passages=question.passages)
    try:
        ruling = await ctx.judge.ask(
            (prompt.message(question.trusted, question.untrusted, ctx.marks),),
            question.verdict,
            tries=question.tries,
            salt=question.salt,
            reader=question.reader,
        )
    except JudgeError as error:
        return failed(error, question)
    decision = meaning(ruling.verdict)
    detail = {**question.detail, **record(ruling, meaning)}
    if ruling.tied:
        return _divided(ctx.judge.tie, ruling, question, meaning, detail)
    return Score(
        points=decision.points, out_of=question.out_of, reason=decision.reason, detail=detail
    )


def _divided(
    tie: Tie,
    ruling: Ruling[Any],
    question: Question,
    meaning: Callable[[Any], Decision],
    detail: Mapping[str, Json],
) -> Score:
    """Make the score of a criterion on which the judges are evenly divided."""
    decision = meaning(ruling.verdict)
    votes = Counter(meaning(one.verdict).points for one in ruling.panel if one.verdict is not None)
    counts = " to ".join(str(count) for _, count in votes.most_common())
    detail = {**detail, "tie": tie}
    if tie == "unscored":
        return Score.failed(
            f"the judges are divided, {counts}, and a tie is unscored (--tie)",
            out_of=question.out_of,
            detail=detail,
        )
    points = decision.points
    if tie == "half":
        most = max(votes.values())
        points = mean(value for value, count in votes.items() if count == most)
    reason = (
        f"the judges are divided, {counts}, and a tie gives {points:g} (--tie): {decision.reason}"
    )
    return Score(points=points, out_of=question.out_of, reason=reason, detail=detail)


def record(ruling: Ruling[Any], meaning: Callable[[Any], Decision]) -> dict[str, Json]:
    """Return what is kept of a ruling: how it came about, the verdict, and every judge's own."""
    recorded = {**ruling.record(), **ruling.verdict.model_dump(mode="json", warnings=False)}
    if ruling.panel:
        recorded["panel"] = [_member(member, meaning) for member in ruling.panel]
    return recorded


def failed(error: JudgeError, question: Question) -> Score:
    """Make the score of a criterion on which no verdict was to be had."""
    detail: dict[str, Json] = {
        **question.detail,
        "failure": error.reason,
        "tries": len(error.raw),
        "raw": list(error.raw),
        "usage": plain(error.usage or Usage()),
    }
    reason = f"{error.reason}: {error}" if error.reason else str(error)
    return Score.failed(reason, out_of=question.out_of, detail=detail)


def _member(ruling: Ruling[Any], meaning: Callable[[Any], Decision]) -> dict[str, Json]:
    if ruling.verdict is None:
        return {**ruling.record(), "points": None}
    return {**record(ruling, meaning), "points": meaning(ruling.verdict).points}
