"""Words, sentences and syllables of a text, counted for word counts and readability."""

import re
from functools import cache
from importlib.util import find_spec
from typing import Any

from proctor.scorers.overlap.chinese import cut_run

HOW_TO = "install it with: pip install 'proctor[bench]'"

_PUNCTUATION = re.compile(r"[^\w\s]")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_ANY_SENTENCE = re.compile(r"\b[^.!?。！？]+[.!?。！？]*")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIGNS = (
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17d3"  # Myanmar, Khmer
)
_PART = re.compile(f"[{_HAN}]+|[{_SIGNS}]|[^{_HAN}{_SIGNS}]+")
_UNSPACED = re.compile(f"[{_HAN}{_SIGNS}]")
_SHORT = 2
"""Sentences of no more words are not counted: they are mostly abbreviations and numbers."""


def words(text: str) -> list[str]:
    """Cut a text into words: between spaces, and where a script has none, by dictionary or sign.

    Punctuation is deleted first, so that ``don't`` and ``well-known`` are one word each.
    """
    spaced = spaced_words(text)
    if text.isascii() or not _UNSPACED.search(text):
        return spaced
    cut_words: list[str] = []
    for word in spaced:
        for part in _PART.findall(word):
            cut_words += cut_run(part) if re.match(f"[{_HAN}]", part) else [part]
    return cut_words


def spaced_words(text: str) -> list[str]:
    """Cut a text where there is white space, without punctuation, as Arthur Bench does."""
    return _PUNCTUATION.sub("", text).split()


def sentences(text: str) -> int:
    """Count sentences of more than two words, in any script; there is at least one."""
    parts = _ANY_SENTENCE.findall(text)
    return max(1, sum(len(words(sentence)) > _SHORT for sentence in parts))


def spaced_sentences(text: str) -> int:
    """Count sentences of more than two words as textstat 0.7.3 does; there is at least one."""
    parts = _SENTENCE.findall(text)
    return max(1, sum(len(spaced_words(sentence)) > _SHORT for sentence in parts))


def syllables(text: str) -> int:
    """Count syllables: those of hyphenation, and one for each sign of a script without spaces."""
    total = 0
    for word in words(text.lower()):
        signs = len(_UNSPACED.findall(word))
        total += signs or _hyphenated(word)
    return total


def spaced_syllables(text: str) -> int:
    """Count syllables by hyphenation alone, as textstat 0.7.3 does."""
    return sum(_hyphenated(word) for word in spaced_words(text.lower()))


def missing_hyphenation() -> list[str]:
    """Report the package that syllables are counted with, where it is not installed."""
    if find_spec("pyphen") is not None:
        return []
    return [f"readability counts syllables with pyphen, which is not installed ({HOW_TO})"]


def _hyphenated(word: str) -> int:
    return len(_american().positions(word)) + 1


@cache
def _american() -> Any:
    from pyphen import Pyphen

    return Pyphen(lang="en_US")
