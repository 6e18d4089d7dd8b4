"""How specific an answer is: no vague words, rare words, names and numbers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers.counts.tokenise import HOW_TO, spaced_words

VAGUE = (
    "around", "about", "almost", "basically", "approximately", "nearly", "roughly", "some", "most",
    "most", "least", "good", "bad", "nice", "great", "may", "could", "certain", "might", "usually",
    "typically", "like", "sure",
)  # fmt: skip
"""What says little; Arthur Bench lists and counts one of them twice."""
SHARE = 0.33
_TAGGER = "pip install nltk; python -m nltk.downloader punkt_tab averaged_perceptron_tagger_eng"
_COMMON = 0.001
_LOOK_BACK = 40
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?。！？:\n]\s*[\"'“”‘’()\[\]*#-]*\s*$")


@dataclass(frozen=True)
class Specificity(Scorer):
    """Score from 0 to 0.99 how specific the answer is, in three parts of 0.33 each.

    Few vague words, words that are rare in English, and names and numbers. A name is a word with a
    capital that does not open a sentence; ``I`` is none. ``compat: original`` counts vague words
    also inside of others, and names and numbers by NLTK's tagger, as Arthur Bench does; where NLTK
    or its data are not here, by the rule.
    """

    instant: ClassVar[bool] = True

    compat: Literal["", "original"] = ""

    def score(self, ctx: ScoreContext) -> Score:
        """Add up the three parts."""
        if lacking := next(iter(self.missing()), None):
            return Score.failed(lacking, out_of=1.0)
        text = ctx.output
        total = len(spaced_words(text))
        if not total:
            if self.compat:
                return Score.failed("the answer has no words", out_of=1.0)
            return Score(points=0.0, out_of=1.0, reason="the answer has no words")
        original = self.compat == "original"
        count = tagged_names(text) if original else None
        parts = {
            "not_vague": not_vague(text, original=original),
            "rare": rare(text),
            "named": min(1.0, 5 * (names(text) if count is None else count) / total),
        }
        reason = ", ".join(f"{name.replace('_', ' ')} {part:.2f}" for name, part in parts.items())
        if original and count is None:
            reason += " (by a rule: NLTK's tagger is not here)"
        return Score(points=SHARE * sum(parts.values()), out_of=1.0, reason=reason, detail=parts)

    def missing(self) -> Iterable[str]:
        """Report the package that knows how frequent words are."""
        if find_spec("wordfreq") is None:
            yield f"specificity looks words up in wordfreq, which is not installed ({HOW_TO})"

    def doubts(self, case: Case) -> Iterable[str]:
        """Report that the original's tagger is not here, where its numbers are wanted."""
        if self.compat == "original" and _tagger() is None:
            yield (
                "specificity: Arthur Bench counts names by a tagger of NLTK that is not here, so"
                f" that old numbers may not come out (fix: {_TAGGER})"
            )

    def toolchain(self) -> str:
        """Return the version of the table of frequencies, and the tagger where there is one."""
        try:
            found = f"wordfreq {version('wordfreq')}"
            tags = self.compat == "original" and _tagger() is not None
            return f"{found} nltk {version('nltk')}" if tags else found
        except PackageNotFoundError:
            return ""


def not_vague(text: str, *, original: bool = False) -> float:
    """Return 1 where no word is vague, 0 where a fifth of them are."""
    found = spaced_words(text)
    lowered = text.lower()
    if original:
        vague = sum(lowered.count(word) for word in VAGUE)
    else:
        known = set(VAGUE)
        vague = sum(word in known for word in spaced_words(lowered))
    return max(0.0, (len(found) - vague) / len(found) / 0.2 - 4)


def rare(text: str) -> float:
    """Return 1 where the words are rare in English, 0 where they are among the commonest."""
    from wordfreq import word_frequency

    words = re.sub(r"[^\w\s'/]", "", text).replace("/", " ").split()
    common = [min(word_frequency(word, "en"), _COMMON) for word in words]
    mean = sum(common) / len(common) if common else _COMMON
    return min(1.0, max(0.0, 2 - mean / 0.0004))


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


def names(text: str) -> int:
    """Count names and numbers by their looks."""
    count = 0
    for found in _WORD.finditer(text):
        word = found[0]
        if word[0].isdigit():
            count += 1
        elif word[0].isupper() and word.split("'")[0].split("’")[0] != "I":
            before = text[max(0, found.start() - _LOOK_BACK) : found.start()]
            opens = not before.strip() or _SENTENCE_END.search(before)
            inner = any(char.isupper() or char.isdigit() for char in word[1:])
            count += not opens or (inner and len(word) > 1)
    return count
