"""Overlap of the answer with references: ROUGE."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers.overlap.alignment import NOWHERE, align
from proctor.scorers.overlap.formulas import f_measure
from proctor.scorers.overlap.tokens import words

if TYPE_CHECKING:
    from proctor.contracts.columns import ScoreColumn, ScoreRows

METRICS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
MOST_CELLS = 400_000_000
"""Characters of answer times reference that are compared at once, in less than a second."""
MOST_LINES = 10_000
"""Lines of answer times reference of which that is so, each being compared with each."""
RougeValues: TypeAlias = tuple[float, float, float, float]
"""The F-measures of the four metrics, in their order."""
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class Rouge(TextScorer):
    """Compare the answer with references by ROUGE's F-measure, the best reference counting.

    The F-measure is mapped so that ``low`` gives nothing and ``high`` gives full marks. References
    are those given here, or else the case's own. Tokens are lower-case words of any script, sign by
    sign where it writes no spaces.
    """

    version: ClassVar[str] = "2"
    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    ascii_only: ClassVar[bool] = False
    """Whether tokens are made of plain letters and digits alone."""

    metric: Literal["rouge1", "rouge2", "rougeL", "rougeLsum"] = "rougeL"
    references: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    low: float = 0.0
    high: float = 1.0

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        references = self.references or references
        if not references:
            return Score.failed("there is no reference to compare with", out_of=1.0)
        answer = _RougeText.of(output, self.ascii_only)
        rows = [_values(_prepared(reference, self.ascii_only), answer) for reference in references]
        points, reason, detail = self.summary(rows)
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        references = self.references or references
        lines = output.count("\n") + 1
        return super().takes_long(output, references) or any(
            len(output) * len(reference) > MOST_CELLS
            or lines * (reference.count("\n") + 1) > MOST_LINES
            for reference in references
        )

    def summary(self, rows: Sequence[RougeValues]) -> tuple[float, str, dict[str, float]]:
        """Return points, reason and detail of the values against each reference."""
        values, best = rows[0], 0
        if len(rows) > 1:
            column = METRICS.index(self.metric)
            values = tuple(map(max, *rows))
            best = max(range(len(rows)), key=lambda i: rows[i][column])
        detail = dict(zip(METRICS, values, strict=True))
        raw = detail[self.metric]
        points = min(max((raw - self.low) / (self.high - self.low), 0.0), 1.0)
        reason = f"{self.metric} {raw:.4f} against reference {best + 1} of {len(rows)}"
        if (self.low, self.high) != (0.0, 1.0):
            reason += f", from {self.low:g} (nothing) to {self.high:g} (full marks)"
        detail["normalized_score"], detail["best_reference"] = points, best
        return points, reason, detail

    @classmethod
    def score_column(cls, scorers: "Sequence[Rouge]", rows: "ScoreRows") -> "ScoreColumn":
        from proctor.scorers.overlap.rouge_columns import score_rouge

        return score_rouge(scorers, rows, cls.ascii_only)

    def problems(self) -> Iterable[str]:
        if self.high <= self.low:
            yield f"high ({self.high:g}) must be greater than low ({self.low:g})"

    def probes(self, case: Case) -> Iterable[Probe]:
        references = self.references or case.references
        return [Probe(kind="reference", answer=reference) for reference in references]


@dataclass(frozen=True, slots=True)
class _RougeText:
    """A text cut into sentences of tokens."""

    sentences: tuple[tuple[str, ...], ...]
    tokens: tuple[str, ...]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]

    @classmethod
    def of(cls, text: str, ascii_only: bool) -> "_RougeText":
        sentences = tuple(cut_lines(text, ascii_only))
        tokens = tuple(token for sentence in sentences for token in sentence)
        return cls(sentences, tokens, Counter(tokens), Counter(pairwise(tokens)))

    @property
    def is_sentence(self) -> bool:
        return sum(map(bool, self.sentences)) <= 1


def cut_lines(text: str, ascii_only: bool) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each line; an empty line has none to yield."""
    cut = _ascii_words if ascii_only else words
    return (tuple(cut(line)) for line in text.split("\n") if line)


def _ascii_words(text: str) -> list[str]:
    return _ASCII_WORD.findall(text.lower())


@lru_cache(maxsize=256)
def _prepared(text: str, ascii_only: bool) -> _RougeText:
    return _RougeText.of(text, ascii_only)


def _values(reference: _RougeText, answer: _RougeText) -> RougeValues:
    from rapidfuzz.distance import LCSseq

    longest = LCSseq.similarity(reference.tokens, answer.tokens)
    sizes = len(reference.tokens), len(answer.tokens)
    return (
        _f_of_counts(reference.unigrams, answer.unigrams),
        _f_of_counts(reference.bigrams, answer.bigrams),
        f_measure(longest, *sizes),
        f_measure(_union_hits(reference, answer, longest), *sizes),
    )


def union_hits(pair: tuple[str, str], longest: int, ascii_only: bool) -> int:
    """Count the tokens of a reference that some line of an answer shares in order, each once.

    Where both have one line, these are the longest common subsequence, whose length is known.
    """
    answer, reference = pair
    if "\n" not in answer.strip() and "\n" not in reference.strip():
        return longest
    prepared = _prepared(reference, ascii_only)
    return _union_hits(prepared, _RougeText.of(answer, ascii_only), longest)


def _f_of_counts(reference: Counter[Any], answer: Counter[Any]) -> float:
    small, large = sorted((reference, answer), key=len)
    hits = sum(min(count, large[gram]) for gram, count in small.items())
    return f_measure(hits, reference.total(), answer.total())


def _union_hits(reference: _RougeText, answer: _RougeText, longest: int) -> int:
    """Count the reference tokens that some sentence of the answer shares in order, each once."""
    if reference.is_sentence and answer.is_sentence:
        return longest
    left_of_reference, left_of_answer = Counter(reference.unigrams), Counter(answer.unigrams)
    hits = 0
    for token in _union_tokens(reference.sentences, answer.sentences):
        if left_of_reference[token] > 0 and left_of_answer[token] > 0:
            left_of_reference[token] -= 1
            left_of_answer[token] -= 1
            hits += 1
    return hits


def _union_tokens(
    reference: Sequence[tuple[str, ...]], answer: Sequence[tuple[str, ...]]
) -> Iterator[str]:
    vocabularies = [frozenset(sentence) for sentence in answer]
    for sentence in reference:
        shared: set[int] = set()
        words = frozenset(sentence)
        for candidate, vocabulary in zip(answer, vocabularies, strict=True):
            if not words.isdisjoint(vocabulary):
                partners = align(sentence, candidate)
                shared.update(i for i, place in enumerate(partners) if place != NOWHERE)
        for i in sorted(shared):
            yield sentence[i]
