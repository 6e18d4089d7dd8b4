"""Overlap metrics of many pairs of texts, computed as ColossalAI's evaluation does it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from proctor.origins.colossal import overlap_formulas
from proctor.scorers.overlap.chinese import cut_exactly
from proctor.scorers.overlap.ngrams import shared
from proctor.scorers.overlap.values import MetricValues, PreparedText, TextPairs, rouge_rows

# It deletes these, so that "well-known" becomes one word and Chinese clauses run together.
_DELETED = re.compile(
    r"[*+\-/:;=\[\\\]^_{}~`"
    "\u00b7\u2013\u2014\u2018\u2019\u201b-\u201f\u2026\u2027"
    "\u3000\u3001\u3002\u3003\u3008-\u3011\u3014-\u301f\u3030\u303e\u303f"
    "\ufe4f\ufe51\ufe54\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff64]+"
)
_ROUGE_WORD = re.compile(r"[a-z0-9]+")
_SIX_DOTS = re.compile(r"(\.{6})(.)")


class ColossalText(PreparedText):
    """A text, prepared and cut when first needed as the original does."""

    @cached_property
    def prepared(self) -> str:
        """Return the text in lower case, without most punctuation."""
        return prepared(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        return tokens(self.prepared, self.language)

    @cached_property
    def characters(self) -> str:
        return "".join(self.tokens)

    @cached_property
    def rouge(self) -> list[str]:
        """Return the words that ROUGE compares."""
        if self.language == "zh":
            return rouge_chinese_words(self.tokens)
        return rouge_words(self.prepared)

    @cached_property
    def distinct(self) -> float:
        """Return the share of distinct n-grams."""
        if self.language == "zh":
            return overlap_formulas.distinct(cut_exactly(self.text), 1)
        return overlap_formulas.distinct(self.tokens)


@dataclass
class ColossalPairs(TextPairs):
    """Metrics of pairs of texts as the original computes them."""

    text: ClassVar[type[PreparedText]] = ColossalText
    pairs: Sequence[tuple[ColossalText, ColossalText]]

    def bleu(self) -> MetricValues:
        both = zip(self.hits, self.sizes, strict=True)
        return [overlap_formulas.bleu(hits, *sizes) for hits, sizes in both]

    def rouge(self) -> MetricValues:
        english = [(a.rouge, r.rouge) for a, r in self.pairs if a.language != "zh"]
        english_values = iter(rouge_rows(english, shared(english, 2)))
        values: list[dict[str, float] | str] = []
        for answer, reference in self.pairs:
            if answer.language != "zh":
                values.append(next(english_values))
                continue
            try:
                values.append(overlap_formulas.rouge_chinese(answer.rouge, reference.rouge))
            except ValueError as error:
                values.append(f"ValueError: {error}")
        return values

    def distinct(self) -> MetricValues:
        return [{"distinct": a.distinct} for a, _ in self.pairs]

    def chrf(self) -> MetricValues:
        return self.chrf_by(overlap_formulas.chrf)

    def prf(self) -> MetricValues:
        pairs = self.pairs
        return [overlap_formulas.precision_recall_f1(a.tokens, r.tokens) for a, r in pairs]


def prepared(text: str) -> str:
    """Return a text in lower case without most punctuation, white space made single."""
    return " ".join(_DELETED.sub("", text.lower()).split())


def tokens(text: str, language: str) -> list[str]:
    """Cut a prepared text at spaces, or by jieba."""
    return cut_exactly(text) if language == "zh" else text.split()


def rouge_words(text: str) -> list[str]:
    """Cut a prepared text as rouge-score does: everything but plain letters and digits is lost."""
    return _ROUGE_WORD.findall(text)


def rouge_chinese_words(tokens: list[str]) -> list[str]:
    """Cut tokens once more where rouge-chinese takes six dots for the end of a sentence."""
    if not any("......" in token for token in tokens):
        return tokens
    return " ".join(_SIX_DOTS.sub(r"\1 \2", token) for token in tokens).split()
