"""How specific an answer is: no vague words, rare words, names and numbers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import ClassVar

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score
from proctor.scorers.counts.tokenise import HOW_TO, spaced_words

VAGUE = (
    "around", "about", "almost", "basically", "approximately", "nearly", "roughly", "some", "most",
    "most", "least", "good", "bad", "nice", "great", "may", "could", "certain", "might", "usually",
    "typically", "like", "sure",
)  # fmt: skip
"""What says little; Arthur Bench lists and counts one of them twice."""
SHARE = 0.33
_COMMON = 0.001
_LOOK_BACK = 40
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?。！？:\n]\s*[\"'“”‘’()\[\]*#-]*\s*$")


@dataclass(frozen=True)
class Specificity(TextScorer):
    """Score from 0 to 0.99 how specific the answer is, in three parts of 0.33 each.

    Few vague words, words that are rare in English, and names and numbers. A name is a word with a
    capital that does not open a sentence; ``I`` is none.
    """

    instant: ClassVar[bool] = True
    instant_length: ClassVar[int] = 20_000
    columnar: ClassVar[bool] = True

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if lacking := next(iter(self.missing()), None):
            return Score.failed(lacking, out_of=1.0)
        total = len(spaced_words(output))
        if not total:
            return self._wordless()
        vague, count, note = self._counts(output)
        parts = {
            "not_vague": max(0.0, (total - vague) / total / 0.2 - 4),
            "rare": rare(output),
            "named": min(1.0, 5 * count / total),
        }
        reason = ", ".join(f"{name.replace('_', ' ')} {part:.2f}" for name, part in parts.items())
        reason += note
        return Score(points=SHARE * sum(parts.values()), out_of=1.0, reason=reason, detail=parts)

    def _wordless(self) -> Score:
        return Score(points=0.0, out_of=1.0, reason="the answer has no words")

    def _counts(self, text: str) -> tuple[int, int, str]:
        """Return how many words are vague, how many are names or numbers, and a note on that."""
        return vague_words(text), names(text), ""

    def missing(self) -> Iterable[str]:
        if find_spec("wordfreq") is None:
            yield f"specificity looks words up in wordfreq, which is not installed ({HOW_TO})"

    def toolchain(self) -> str:
        try:
            return f"wordfreq {version('wordfreq')}"
        except PackageNotFoundError:
            return ""


def vague_words(text: str) -> int:
    """Count the words that say little."""
    vague = set(VAGUE)
    return sum(word in vague for word in spaced_words(text.lower()))


def rare(text: str) -> float:
    """Return 1 where the words are rare in English, 0 where they are among the commonest."""
    from wordfreq import word_frequency

    words = re.sub(r"[^\w\s'/]", "", text).replace("/", " ").split()
    common = [min(word_frequency(word, "en"), _COMMON) for word in words]
    mean = sum(common) / len(common) if common else _COMMON
    return min(1.0, max(0.0, 2 - mean / 0.0004))


def names(text: str) -> int:
    """Count names and numbers by their looks."""
    count = 0
    for match in _WORD.finditer(text):
        word = match[0]
        if word[0].isdigit():
            count += 1
        elif word[0].isupper() and word.split("'")[0].split("’")[0] != "I":
            before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
            opens = not before.strip() or _SENTENCE_END.search(before)
            inner = any(char.isupper() or char.isdigit() for char in word[1:])
            count += not opens or (inner and len(word) > 1)
    return count
