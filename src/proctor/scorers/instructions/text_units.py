"""Words, tokens and sentences of English text, counted as instructions about them mean it."""

import re

ABBREVIATIONS = frozenset(
    [
        "mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "e.g", "i.e", "cf", "al",
        "fig", "no", "vol", "inc", "ltd", "co", "corp", "dept", "est", "approx", "jan", "feb",
        "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "u.s", "u.k",
        "p.s", "a.m", "p.m",
    ]
)  # fmt: skip
"""Words after which a full stop ends no sentence, unless the text ends there."""
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+(?:[.\-&/]\w+)*\.?|['’]\w+")
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)")


def word_count(text: str) -> int:
    """Count runs of letters, digits and underscores."""
    return sum(1 for _ in _WORD.finditer(text))


def tokens(text: str) -> list[str]:
    """Return words with what belongs to them (U.S., well-known); endings such as 's are apart."""
    return _TOKEN.findall(text)


def count_sentences(text: str) -> int:
    """Count sentences: each ends with a full stop, an exclamation or a question mark.

    A full stop after an abbreviation, an initial or a number at the start of a line (as in a list)
    ends none, and neither does one before a small letter. What follows the last end is one more.
    """
    count, start = 0, 0
    for end in _END.finditer(text):
        if end.end() < len(text.rstrip()) and not _ends_sentence(text, start, end):
            continue
        if text[start : end.end()].strip():
            count += 1
        start = end.end()
    return count + bool(text[start:].strip())


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    following = text[end.end() :].lstrip()[:1]
    if end.group().startswith(".") and len(end.group().rstrip("\"'”’)]")) == 1:
        before = text[start : end.start()].split()
        last = before[-1].lstrip("(\"'“‘[").lower() if before else ""
        initial = len(last) == 1 and last.isalpha() and last != "i"
        line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()]
        if last in ABBREVIATIONS or initial or line.strip().isdigit():
            return False
    return not following.islower()
