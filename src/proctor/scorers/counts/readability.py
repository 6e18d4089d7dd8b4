"""How easy an answer is to read: the Flesch Reading Ease Score."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import copysign, floor
from typing import ClassVar

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score
from proctor.io.search_paths import installed_version
from proctor.scorers.counts import tokenise
from proctor.scorers.overlap.chinese import cutter

FULL = 100.0


@dataclass(frozen=True)
class Readability(TextScorer):
    """Give the Flesch Reading Ease Score of the answer; higher is easier, 90 is fifth grade.

    206.835 - 1.015 * words / sentences - 84.6 * syllables / words. It is shown only, unless it is
    to count, as so many of 100.
    """

    version: ClassVar[str] = "2"
    out_of: ClassVar[float | None] = None
    instant: ClassVar[bool] = True
    instant_length: ClassVar[int] = 20_000
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    by_spaces: ClassVar[bool] = False
    """Whether only spaces part words, and both ratios are rounded to one decimal first."""

    counts: bool = False

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if lacking := next(iter(self.missing()), None):
            return Score.failed(lacking, out_of=self.full_marks)
        if self.by_spaces:
            words = len(tokenise.spaced_words(output))
            sentences = tokenise.spaced_sentences(output)
            syllables = tokenise.spaced_syllables(output)
        else:
            words = len(tokenise.words(output))
            sentences, syllables = tokenise.sentences(output), tokenise.syllables(output)
        if not words and not self.by_spaces:
            return self._unread("the answer has no words to be read")
        ease = reading_ease(words, sentences, syllables, rounded=self.by_spaces)
        reason = f"{words} words, {sentences} sentences, {syllables} syllables: {ease:g}"
        detail = {"words": words, "sentences": sentences, "syllables": syllables}
        return Score(points=ease, out_of=self.full_marks, reason=reason, detail=detail)

    def _unread(self, reason: str) -> Score:
        """Score an answer without a word: a miss, where the number counts."""
        if self.full_marks is None:
            return Score.failed(reason)
        return Score(points=0.0, out_of=self.full_marks, reason=reason)

    @property
    def full_marks(self) -> float | None:
        return FULL if self.counts else None

    def missing(self) -> Iterable[str]:
        return tokenise.missing_hyphenation()

    def toolchain(self) -> str:
        hyphens = f"pyphen {installed_version('pyphen')}"
        return hyphens if self.by_spaces else f"{hyphens} {cutter()}"


def reading_ease(words: int, sentences: int, syllables: int, *, rounded: bool = False) -> float:
    """Apply the formula of Flesch, to two decimals."""
    length = words / sentences
    weight = syllables / words if words else 0.0
    if rounded:
        length, weight = _round(length, 1), _round(weight, 1)
    return _round(206.835 - 1.015 * length - 84.6 * weight, 2)


def _round(number: float, places: int) -> float:
    """Round halves away from zero, as textstat does."""
    scale = 10.0**places
    return floor(number * scale + copysign(0.5, number)) / scale
