"""Texts as ROUGE compares them: lines of tokens, and what two texts have in common."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from proctor.scorers.overlap.alignment import NOWHERE, align
from proctor.scorers.overlap.formulas import f_measure
from proctor.scorers.overlap.tokens import words

METRICS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
RougeValues: TypeAlias = tuple[float, float, float, float]
"""The F-measures of the four metrics, in their order."""
_ASCII_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class RougeText:
    """A text cut into sentences of tokens."""

    sentences: tuple[tuple[str, ...], ...]
    tokens: tuple[str, ...]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]

    @classmethod
    def of(cls, text: str, ascii_only: bool) -> "RougeText":
        """Cut a text."""
        sentences = tuple(cut_lines(text, ascii_only))
        tokens = tuple(token for sentence in sentences for token in sentence)
        return cls(sentences, tokens, Counter(tokens), Counter(pairwise(tokens)))

    @property
    def is_sentence(self) -> bool:
        """Tell whether no more than one line has tokens."""
        return sum(map(bool, self.sentences)) <= 1


def cut_lines(text: str, ascii_only: bool) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each line; an empty line has none to yield."""
    cut = _ascii_words if ascii_only else words
    return (tuple(cut(line)) for line in text.split("\n") if line)


def _ascii_words(text: str) -> list[str]:
    return _ASCII_WORD.findall(text.lower())


@lru_cache(maxsize=256)
def prepared(text: str, ascii_only: bool) -> RougeText:
    """Cut a reference, which many answers may be compared with."""
    return RougeText.of(text, ascii_only)


def values_against(reference: RougeText, answer: RougeText) -> RougeValues:
    """Compare an answer with a reference."""
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
    if _is_line(answer) and _is_line(reference):
        return longest
    return _union_hits(prepared(reference, ascii_only), RougeText.of(answer, ascii_only), longest)


def _is_line(text: str) -> bool:
    return "\n" not in text or "\n" not in text.strip()


def _f_of_counts(reference: Counter[Any], answer: Counter[Any]) -> float:
    small, large = sorted((reference, answer), key=len)
    hits = sum(min(count, large[gram]) for gram, count in small.items())
    return f_measure(hits, reference.total(), answer.total())


def _union_hits(reference: RougeText, answer: RougeText, longest: int) -> int:
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
