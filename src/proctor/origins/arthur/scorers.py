"""Scorers as Arthur Bench has them, so that its numbers come out: ``compat: original``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case
from proctor.scorers.counts.readability import Readability
from proctor.scorers.counts.specificity import VAGUE, Specificity, names
from proctor.scorers.counts.word_count import WordCountMatch
from proctor.scorers.embedding.hedging import HedgingLanguage
from proctor.scorers.judged.against_context import QaCorrectness
from proctor.scorers.judged.asking_judge import Decision, Question, decide
from proctor.scorers.judged.summary_quality import SummaryQuality, about
from proctor.scorers.text.comparisons import ExactMatch

_TAGGER = "pip install nltk; python -m nltk.downloader punkt_tab averaged_perceptron_tagger_eng"
INVALID = "invalid"
WRONG = -1.0
"""What a reply is worth that is not one of the few words which are understood."""


@dataclass(frozen=True)
class ArthurExactMatch(ExactMatch):
    """Case is ignored by lower-casing alone, as in Arthur Bench: ß is not ss."""

    lower_case_only: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class ArthurWordCountMatch(WordCountMatch):
    """Words stand between spaces, Chinese ones too; two texts without any have no score."""

    by_spaces: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class ArthurReadability(Readability):
    """Ratios are rounded to one decimal first, and only spaces part words, as by textstat 0.7.3."""

    by_spaces: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class ArthurSpecificity(Specificity):
    """Vague words count inside of others too, names by NLTK's tagger, or by a rule without it."""

    compat: Literal["original"] = "original"

    def doubts(self, case: Case) -> Iterable[str]:
        if _tagger() is None:
            yield (
                "specificity: Arthur Bench counts names by a tagger of NLTK that is not here, so"
                f" that old numbers may not come out (fix: {_TAGGER})"
            )

    def toolchain(self) -> str:
        versions = super().toolchain()
        return (
            f"{versions} nltk {version('nltk')}" if versions and _tagger() is not None else versions
        )

    def _wordless(self) -> Score:
        return Score.failed("the answer has no words", out_of=1.0)

    def _counts(self, text: str) -> tuple[int, int, str]:
        lowered = text.lower()
        vague = sum(lowered.count(word) for word in VAGUE)
        if (tagged := tagged_names(text)) is not None:
            return vague, tagged, ""
        return vague, names(text), " (by a rule: NLTK's tagger is not here)"


@dataclass(frozen=True)
class ArthurHedgingLanguage(HedgingLanguage):
    """The F of the whole answer is the score, whatever the threshold."""

    compat: Literal["original"] = "original"

    def _texts(self, answer: str) -> list[str]:
        return [answer]

    def _score(self, similarities: Any) -> Score:
        value, text = similarities[0]
        detail = {"value": value, "threshold": self.threshold, "text": text[:400]}
        return Score(points=value, out_of=1.0, reason=f"F {value:.4f}", detail=detail)


@dataclass(frozen=True)
class ArthurQaCorrectness(QaCorrectness):
    """The whole reply of the judge is 0 or 1, and any other gives -1."""

    prompt: ClassVar[str] = "bench_correct_original"

    compat: Literal["original"] = "original"

    async def _ask(self, ctx: ScoreContext, texts: Mapping[str, str]) -> Score:
        question = Question(prompt=self.prompt, verdict=Grade, untrusted=texts, reader=read_correct)
        return await graded(ctx, question)


@dataclass(frozen=True)
class ArthurSummaryQuality(SummaryQuality):
    """The judge is asked once, the reference first; a reply begins with 0, 1 or tie, else -1."""

    prompt: ClassVar[str] = "bench_summary_original"

    compat: Literal["original"] = "original"

    async def _compare(self, ctx: ScoreContext, reference: str) -> Score:
        texts = about(ctx, reference, ctx.output)
        question = Question(prompt=self.prompt, verdict=Grade, untrusted=texts, reader=read_choice)
        return await graded(ctx, question)


def tagged_names(text: str) -> int | None:
    """Count proper nouns and numbers as NLTK tags them; none where it cannot."""
    if (tagger := _tagger()) is None:
        return None
    from nltk.tokenize import word_tokenize

    return sum(tag in ("NNP", "CD") for _, tag in tagger.tag(word_tokenize(text)))


@cache
def _tagger() -> Any:
    """Return NLTK's tagger, loaded once; none where it or its data are not installed."""
    if find_spec("nltk") is None:
        return None
    from nltk.tag import PerceptronTagger
    from nltk.tokenize import word_tokenize

    try:
        word_tokenize("One. Two.")
        return PerceptronTagger()
    except (LookupError, OSError, ValueError):
        return None


class Grade(BaseModel):
    """What a reply is worth, and what that is called."""

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
