"""Overlap metrics of many pairs of texts, computed as ColossalAI's evaluation does it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from proctor.origins.colossal import overlap_formulas, overlap_texts
from proctor.scorers.overlap.chinese import cut_exactly
from proctor.scorers.overlap.ngrams import shared
from proctor.scorers.overlap.values import MetricValues, PreparedText, TextPairs, rouge_rows


class ColossalText(PreparedText):
    """A text, prepared and cut when first needed as the original does."""

    @cached_property
    def prepared(self) -> str:
        """Return the text in lower case, without most punctuation."""
        return overlap_texts.prepared(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        return overlap_texts.tokens(self.prepared, self.language)

    @cached_property
    def characters(self) -> str:
        return "".join(self.tokens)

    @cached_property
    def rouge(self) -> list[str]:
        """Return the words that ROUGE compares."""
        if self.language == "zh":
            return overlap_texts.rouge_chinese_words(self.tokens)
        return overlap_texts.rouge_words(self.prepared)

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
