"""How close the length of an answer comes to that of the reference, in words."""

from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score
from proctor.scorers.counts.tokenise import spaced_words, words
from proctor.scorers.overlap.chinese import cutter


@dataclass(frozen=True)
class WordCountMatch(TextScorer):
    """Compare the number of words with that of the reference: 1 for as many, 0 for twice as many.

    (r - |r - a|) / r for r words in the reference and a in the answer, and never below 0. Of
    several references, the nearest counts.
    """

    version: ClassVar[str] = "2"
    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    by_spaces: ClassVar[bool] = False
    """Whether a word is what stands between spaces, and two texts without any have no score."""

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if not references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        answer_words = self._count(output)
        scores = [self._one(answer_words, self._count(reference)) for reference in references]
        return max(scores, key=lambda score: -1.0 if score.points is None else score.points)

    def toolchain(self) -> str:
        return "" if self.by_spaces else cutter()

    def _one(self, answer_words: int, reference_words: int) -> Score:
        if not reference_words and not answer_words and self.by_spaces:
            return Score.failed("neither the reference nor the answer has a word", out_of=1.0)
        reason = f"{answer_words} words, {reference_words} in the reference"
        detail = {"words": answer_words, "reference_words": reference_words}
        points = closeness(answer_words, reference_words)
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def _count(self, text: str) -> int:
        return len(spaced_words(text) if self.by_spaces else words(text))


def closeness(answer_words: int, reference_words: int) -> float:
    """Return how close a number of words comes to the one that is wanted."""
    apart = abs(reference_words - answer_words)
    if not reference_words:
        return float(not answer_words)
    return 0.0 if apart > reference_words else (reference_words - apart) / reference_words
