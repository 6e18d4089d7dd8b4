"""All overlap metrics of many pairs of texts; each text is prepared once for all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, TypeVar

from proctor.scorers.overlap import formulas, original_formulas, original_texts
from proctor.scorers.overlap.chinese import cut_originally
from proctor.scorers.overlap.ngrams import shared
from proctor.scorers.overlap.tokens import Language, words
from proctor.scorers.text.patterns import ORIGINAL

Metric: TypeAlias = Literal["bleu", "rouge", "distinct", "chrf", "prf"]
Pair: TypeAlias = tuple[str, str, Language]
"""An answer, a reference, and how to cut both."""

ROWS: Mapping[str, tuple[str, ...]] = {
    "bleu": ("bleu1", "bleu2", "bleu3", "bleu4"),
    "rouge": ("rouge1", "rouge2", "rougeL"),
    "distinct": ("distinct",),
    "chrf": ("chrf",),
    "prf": ("precision", "recall", "f1_score"),
}
"""The values that each metric has."""


@dataclass(slots=True)
class MetricRow:
    """Hold the values of one pair, and what the original would have stopped at."""

    values: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def values_of(pairs: Sequence[Pair], metrics: Sequence[str], compat: str = "") -> list[MetricRow]:
    """Compute the metrics of all pairs."""
    order = 4 if "bleu" in metrics else 2 if "rouge" in metrics else 1
    if compat == ORIGINAL:
        made: _Pairs = _OriginalPairs(_texts(pairs, _OriginalText), order)
    else:
        made = _Pairs(_texts(pairs, _PreparedText), order)
    rows = [MetricRow() for _ in pairs]
    for metric in metrics:
        for row, found in zip(rows, made.compute(metric), strict=True):
            if isinstance(found, str):
                row.errors[metric] = found
            else:
                row.values |= found
    return rows


class _PreparedText:
    """Hold a text, cut when first needed."""

    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language

    @cached_property
    def tokens(self) -> list[str]:
        return words(self.text, self.language)

    @cached_property
    def characters(self) -> str:
        return "".join(self.text.split())


class _OriginalText(_PreparedText):
    """Hold a text, prepared and cut when first needed as the original does."""

    @cached_property
    def prepared(self) -> str:
        return original_texts.prepared(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        return original_texts.tokens(self.prepared, self.language)

    @cached_property
    def characters(self) -> str:
        return "".join(self.tokens)

    @cached_property
    def rouge(self) -> list[str]:
        if self.language == "zh":
            return original_texts.rouge_chinese_words(self.tokens)
        return original_texts.rouge_words(self.prepared)

    @cached_property
    def distinct(self) -> float:
        if self.language == "zh":
            return original_formulas.distinct(cut_originally(self.text), 1)
        return original_formulas.distinct(self.tokens)


Kind = TypeVar("Kind", bound=_PreparedText)
Found: TypeAlias = "list[dict[str, float]] | list[dict[str, float] | str]"


@dataclass
class _Pairs:
    """Compute metrics by their right definitions."""

    pairs: Sequence[tuple[_PreparedText, _PreparedText]]
    order: int
    """The longest n-grams of tokens that some metric asks for."""

    def compute(self, metric: str) -> Found:
        known: Mapping[str, Callable[[], Found]] = {
            "bleu": self.bleu,
            "rouge": self.rouge,
            "distinct": self.distinct,
            "chrf": self.chrf,
            "prf": self.prf,
        }
        return known[metric]()

    @cached_property
    def hits(self) -> list[list[int]]:
        return shared([(a.tokens, r.tokens) for a, r in self.pairs], self.order)

    @cached_property
    def sizes(self) -> list[tuple[int, int]]:
        """Return how many tokens reference and answer have."""
        return [(len(r.tokens), len(a.tokens)) for a, r in self.pairs]

    def bleu(self) -> Found:
        both = zip(self.hits, self.sizes, strict=True)
        return [formulas.bleu(hits, *sizes) for hits, sizes in both]

    def rouge(self) -> Found:
        return _rouge([(a.tokens, r.tokens) for a, r in self.pairs], self.hits)

    def distinct(self) -> Found:
        return [{"distinct": formulas.distinct(a.tokens)} for a, _ in self.pairs]

    def chrf(self) -> Found:
        return self._chrf(formulas.chrf)

    def prf(self) -> Found:
        both = zip(self.hits, self.sizes, strict=True)
        return [formulas.precision_recall_f1(hits[0], *sizes) for hits, sizes in both]

    def _chrf(self, formula: Callable[[Sequence[int], int, int], float]) -> Found:
        texts = [(a.characters, r.characters) for a, r in self.pairs]
        hits = shared(texts, formulas.CHRF_ORDER)
        return [
            {"chrf": formula(found, len(reference), len(answer))}
            for found, (answer, reference) in zip(hits, texts, strict=True)
        ]


@dataclass
class _OriginalPairs(_Pairs):
    """Compute metrics as the original does."""

    pairs: Sequence[tuple[_OriginalText, _OriginalText]]

    def bleu(self) -> Found:
        both = zip(self.hits, self.sizes, strict=True)
        return [original_formulas.bleu(hits, *sizes) for hits, sizes in both]

    def rouge(self) -> Found:
        english = [(a.rouge, r.rouge) for a, r in self.pairs if a.language != "zh"]
        found = iter(_rouge(english, shared(english, 2)))
        made: list[dict[str, float] | str] = []
        for answer, reference in self.pairs:
            if answer.language != "zh":
                made.append(next(found))
                continue
            try:
                made.append(original_formulas.rouge_chinese(answer.rouge, reference.rouge))
            except ValueError as error:
                made.append(f"ValueError: {error}")
        return made

    def distinct(self) -> Found:
        return [{"distinct": a.distinct} for a, _ in self.pairs]

    def chrf(self) -> Found:
        return self._chrf(original_formulas.chrf)

    def prf(self) -> Found:
        pairs = self.pairs
        return [original_formulas.precision_recall_f1(a.tokens, r.tokens) for a, r in pairs]


def _texts(pairs: Sequence[Pair], kind: type[Kind]) -> list[tuple[Kind, Kind]]:
    """Wrap the texts of all pairs, equal ones once."""
    texts: dict[tuple[str, Language], Kind] = {}
    made = []
    for answer, reference, language in pairs:
        both = []
        for text in (answer, reference):
            if (one := texts.get((text, language))) is None:
                one = texts[text, language] = kind(text, language)
            both.append(one)
        made.append((both[0], both[1]))
    return made


def _rouge(
    pairs: Sequence[tuple[list[str], list[str]]], hits: Sequence[Sequence[int]]
) -> list[dict[str, float]]:
    """Return ROUGE's F-measures by counts of n-grams, and by the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    longest = LCSseq.similarity
    f = formulas.f_measure
    made = []
    for (answer, reference), found in zip(pairs, hits, strict=True):
        ours, theirs = len(answer), len(reference)
        made.append(
            {
                "rouge1": f(found[0], theirs, ours),
                "rouge2": f(found[1], theirs - 1, ours - 1),
                "rougeL": f(longest(reference, answer), theirs, ours),
            }
        )
    return made
