"""Short questions that ask the same in other words, and questions that differ in numbers alone."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from proctor.stats.near_duplicates import MOST_TEXTS, Groups

LONGEST = 20
"""Texts of more words are compared by their word sequences."""
ALIKE = 0.7
"""From which share of common words on, rare ones weighing more, two questions ask the same."""
_REPLACED = 0.85
"""The same where each has words that the other has not: something was put in place of another."""
_MOST_WITH_WORD = 100
"""A word in more texts than that brings none together."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[぀-ヿ㐀-鿿]|[^\W\d_]+(?:['’][^\W\d_]+)*|[-+*/^%<>×÷−]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER = re.compile(r"[^\W\d_]")
_SPACES = re.compile(r"\s+")
_SIGNS = frozenset("-+*/^%<>×÷−")
_QUESTION_WORDS = {
    "who": "who", "whom": "who", "whose": "who", "when": "when", "where": "where", "why": "why",
    "how": "how",
}  # fmt: skip
"""Words that ask for different things; ``what`` and ``which`` ask for whatever the rest says."""
_NO = """not no never none nor neither without cannot can't don't doesn't didn't isn't aren't wasn't
weren't won't wouldn't shouldn't couldn't except unless false wrong incorrect"""
_DENIED = frozenset(_NO.split())
_LITTLE = """a an the of in on at to for from by with about as into is are was were be been being am
do does did has have had can could will would shall should may might must it its this that these
those there their they them he she his her him we us our you your i me my and or if then so what
which what's whats who's name names named tell give show say state list find write explain describe
define please called call one answer question following some any many much long far old often
exactly just also"""
_COMMON = frozenset(_LITTLE.split())
"""Words that say nothing about what a question is about."""


def paraphrases(texts: Iterable[str]) -> list[list[int]]:
    """Return groups of the places of short questions that ask the same, the largest first.

    Two questions ask the same if they share most of their words, ask with the same question word,
    deny as often, and have the same numbers and signs in the same order. Words of one stem are
    one; words that are in many texts weigh little.
    """
    questions = {
        place: question
        for place, text in zip(range(MOST_TEXTS), texts, strict=False)
        if (question := _question(text)) is not None
    }
    number = len(questions)
    found_in = Counter(word for question in questions.values() for word in question.words)
    weights = {word: log(1 + number / times) for word, times in found_in.items()}
    groups = Groups(max(questions, default=-1) + 1)
    for one, other in _candidates(questions, found_in):
        if groups.root(one) != groups.root(other) and _same(
            questions[one].words, questions[other].words, weights
        ):
            groups.join(one, other)
    return sorted(groups.several(), key=lambda group: (-len(group), group))


def _candidates(
    questions: "dict[int, _Question]", found_in: Counter[str]
) -> Iterator[tuple[int, int]]:
    """Yield pairs with one frame that share a word, or have no words, numbers being all."""
    sharing: dict[object, list[int]] = {}
    for place, question in questions.items():
        for word in question.words or ("",):
            if found_in[word] <= _MOST_WITH_WORD:
                sharing.setdefault((question.frame, word), []).append(place)
    for places in sharing.values():
        for at, other in enumerate(places):
            for one in places[:at]:
                yield one, other


def templates(texts: Sequence[str], fewest: int = 3) -> list[list[int]]:
    """Return groups of texts that differ in their numbers alone, of at least so many."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts[:MOST_TEXTS]):
        masked = masked_numbers(text)
        if "#" in masked and _LETTER.search(masked):
            groups.setdefault(masked, []).append(place)
    several = [
        group
        for group in groups.values()
        if len(group) >= fewest and len({_bare(texts[place]) for place in group}) > 1
    ]
    return sorted(several, key=lambda group: (-len(group), group))


def masked_numbers(text: str) -> str:
    """Return a text with every number replaced by a mark, and spaces and case made alike."""
    return _NUMBER.sub("#", _bare(text))


def _bare(text: str) -> str:
    return _SPACES.sub(" ", text).strip().casefold()


@dataclass(frozen=True, slots=True)
class _Question:
    words: frozenset[str]
    frame: tuple[object, ...]
    """What must be the same: question words, denials, numbers and signs in their order."""


def _question(text: str) -> _Question | None:
    """Take a short question apart; none for a long one, and for one that says nothing."""
    tokens: list[str] = _TOKEN.findall(text.casefold().replace("’", "'"))
    if not tokens or len(tokens) > LONGEST:
        return None
    kinds = {_QUESTION_WORDS[token] for token in tokens if token in _QUESTION_WORDS}
    denied = sum(token in _DENIED for token in tokens)
    numbers = tuple(token for token in tokens if token[0].isdigit() or token in _SIGNS)
    if numbers and all(token in _SIGNS for token in numbers):
        numbers = ()
    plain_words = (token for token in tokens if token[0].isalpha())
    words = frozenset(
        _stem(token)
        for token in plain_words
        if token not in _COMMON and token not in _QUESTION_WORDS and token not in _DENIED
    )
    if not words and not numbers:
        return None
    return _Question(words, (frozenset(kinds), denied, numbers))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """Return a word without the common endings of English; what is left is three letters long."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _same(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> bool:
    """Tell whether the words that both have make up enough of all words."""
    together = sum(weights[word] for word in one | other)
    both = sum(weights[word] for word in one & other)
    return both >= (_REPLACED if one - other and other - one else ALIKE) * together
