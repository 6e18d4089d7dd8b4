"""All overlap metrics of many pairs of texts; each text is prepared once for all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias

from proctor.scorers.overlap import formulas
from proctor.scorers.overlap.ngrams import shared
from proctor.scorers.overlap.tokens import Language, words

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


OURS = "proctor.scorers.overlap.values:TextPairs"


@dataclass(slots=True)
class MetricRow:
    """The values of one pair, and the metrics that have none, with the reason."""

    values: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def values_of(pairs: Sequence[Pair], metrics: Sequence[str], how: str = OURS) -> list[MetricRow]:
    """Compute the metrics of all pairs by a class of formulas, which is named."""
    order = 4 if "bleu" in metrics else 2 if "rouge" in metrics else 1
    module, _, name = how.partition(":")
    kind: type[TextPairs] = getattr(import_module(module), name)
    prepared = kind(_texts(pairs, kind.text), order)
    rows = [MetricRow() for _ in pairs]
    for metric in metrics:
        for row, value in zip(rows, prepared.compute(metric), strict=True):
            if isinstance(value, str):
                row.errors[metric] = value
            else:
                row.values |= value
    return rows


class PreparedText:
    """A text, cut when first needed."""

    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language

    @cached_property
    def tokens(self) -> list[str]:
        """Return the words."""
        return words(self.text, self.language)

    @cached_property
    def characters(self) -> str:
        """Return the characters that chrF compares."""
        return "".join(self.text.split())


MetricValues: TypeAlias = "list[dict[str, float]] | list[dict[str, float] | str]"


@dataclass
class TextPairs:
    """Metrics of pairs of texts by their right definitions."""

    text: ClassVar[type[PreparedText]] = PreparedText
    pairs: Sequence[tuple[PreparedText, PreparedText]]
    order: int
    """The longest n-grams of tokens that some metric asks for."""

    def compute(self, metric: str) -> MetricValues:
        """Return the values of one metric, a row for each pair."""
        by_metric: Mapping[str, Callable[[], MetricValues]] = {
            "bleu": self.bleu,
            "rouge": self.rouge,
            "distinct": self.distinct,
            "chrf": self.chrf,
            "prf": self.prf,
        }
        return by_metric[metric]()

    @cached_property
    def hits(self) -> list[list[int]]:
        """Return how many n-grams each pair shares."""
        return shared([(a.tokens, r.tokens) for a, r in self.pairs], self.order)

    @cached_property
    def sizes(self) -> list[tuple[int, int]]:
        """Return how many tokens reference and answer have."""
        return [(len(r.tokens), len(a.tokens)) for a, r in self.pairs]

    def bleu(self) -> MetricValues:
        """Compute BLEU."""
        both = zip(self.hits, self.sizes, strict=True)
        return [formulas.bleu(hits, *sizes) for hits, sizes in both]

    def rouge(self) -> MetricValues:
        """Compute ROUGE."""
        return rouge_rows([(a.tokens, r.tokens) for a, r in self.pairs], self.hits)

    def distinct(self) -> MetricValues:
        """Compute the share of distinct n-grams."""
        return [{"distinct": formulas.distinct(a.tokens)} for a, _ in self.pairs]

    def chrf(self) -> MetricValues:
        """Compute chrF."""
        return self.chrf_by(formulas.chrf)

    def prf(self) -> MetricValues:
        """Compute precision, recall and F1."""
        both = zip(self.hits, self.sizes, strict=True)
        return [formulas.precision_recall_f1(hits[0], *sizes) for hits, sizes in both]

    def chrf_by(self, formula: Callable[[Sequence[int], int, int], float]) -> MetricValues:
        """Compute chrF by a formula over counts."""
        texts = [(a.characters, r.characters) for a, r in self.pairs]
        hits = shared(texts, formulas.CHRF_ORDER)
        return [
            {"chrf": formula(counts, len(reference), len(answer))}
            for counts, (answer, reference) in zip(hits, texts, strict=True)
        ]


def _texts(pairs: Sequence[Pair], kind: type[PreparedText]) -> list[tuple[Any, Any]]:
    """Wrap the texts of all pairs, equal ones once."""
    texts: dict[tuple[str, Language], PreparedText] = {}
    wrapped = []
    for answer, reference, language in pairs:
        both = []
        for text in (answer, reference):
            if (one := texts.get((text, language))) is None:
                one = texts[text, language] = kind(text, language)
            both.append(one)
        wrapped.append((both[0], both[1]))
    return wrapped


def rouge_rows(
    pairs: Sequence[tuple[list[str], list[str]]], hits: Sequence[Sequence[int]]
) -> list[dict[str, float]]:
    """Return ROUGE's F-measures by counts of n-grams, and by the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    longest = LCSseq.similarity
    f = formulas.f_measure
    values = []
    for (answer, reference), counts in zip(pairs, hits, strict=True):
        ours, theirs = len(answer), len(reference)
        values.append(
            {
                "rouge1": f(counts[0], theirs, ours),
                "rouge2": f(counts[1], theirs - 1, ours - 1),
                "rougeL": f(longest(reference, answer), theirs, ours),
            }
        )
    return values
