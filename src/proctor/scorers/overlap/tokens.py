"""Texts as tokens: words between spaces, Chinese by its dictionary, other scripts sign by sign."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Literal

from proctor.scorers.overlap.chinese import cut_run

Language = Literal["zh", "en"]

_HAN = "\u4e00-\u9fd5"
"""What jieba's dictionary and its model know; rarer ideographs stand alone."""
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_RARE_HAN = "\u3005-\u3007\u3400-\u4dbf\u9fd6-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"  # Thai
    "\u0e81-\u0edf"  # Lao
    "\u1000-\u1049\u1050-\u109f\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17e0-\u17e9"  # Khmer
    "\uac00-\ud7af"  # Korean has spaces, but between phrases rather than words
)
_MARKED = range(0x300, 0x1F000)
"""Where the marks are that scripts write upon their letters."""
_SIGNS = _HAN + _KANA + _RARE_HAN + _UNSPACED
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_HAN_SIGN = re.compile(f"[{_HAN}{_RARE_HAN}]")
_KANA_SIGN = re.compile(f"[{_KANA}]")
# NFKC would turn these into other punctuation, which takes its time and changes no word.
_WIDE_MARK = re.compile("[\u2025\u2026\u3000\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")
_OTHER_WORD = re.compile(rf"[^\W\d_{_HAN}{_KANA}{_RARE_HAN}]+")


def words(text: str, language: Language = "en") -> list[str]:
    """Cut a text into lower-case words without punctuation.

    Letters, digits and the marks upon them make words. Where a script writes no spaces, each sign
    is one; in Chinese, the dictionary decides. Texts that only look alike are first made equal
    (NFKC: full-width letters, composed accents).
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    alike = unicodedata.normalize("NFKC", _WIDE_MARK.sub(" ", text))
    pieces = _pieces(language).findall(alike.lower())
    if language != "zh":
        return pieces
    tokens: list[str] = []
    for piece in pieces:
        if len(piece) > 1 and "\u4e00" <= piece[0] <= "\u9fd5":
            tokens += cut_run(piece)
        else:
            tokens.append(piece)
    return tokens


def language_of(texts: Iterable[str]) -> Language:
    """Tell by its script whether the first text that has words is Chinese.

    It is where it has more Chinese signs than words of other scripts, and hardly any kana.
    """
    for text in texts:
        if text.isascii():
            if any(map(str.isalpha, text)):
                return "en"
            continue
        han, kana = len(_HAN_SIGN.findall(text)), len(_KANA_SIGN.findall(text))
        others = len(_OTHER_WORD.findall(text))
        if han or kana or others:
            return "zh" if han > others and 10 * kana <= han else "en"
    return "en"


@cache
def _pieces(language: Language) -> re.Pattern[str]:
    marks = _marks()
    letter = rf"[^\W_{_SIGNS}]"
    pattern = rf"[{_SIGNS}][{marks}]*|{letter}(?:{letter}|[{marks}])*"
    return re.compile(rf"[{_HAN}]+|{pattern}" if language == "zh" else pattern)


def _marks() -> str:
    """Return all combining marks, which are no word characters to ``re``, for use in a class."""
    ranges: list[list[int]] = []
    for code in _MARKED:
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
