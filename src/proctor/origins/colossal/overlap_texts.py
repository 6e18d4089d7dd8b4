"""Texts prepared and cut exactly as ColossalAI's evaluation does it."""

import re

from proctor.scorers.overlap.chinese import cut_exactly

# It deletes these, so that "well-known" becomes one word and Chinese clauses run together.
_DELETED = re.compile(
    r"[*+\-/:;=\[\\\]^_{}~`"
    "\u00b7\u2013\u2014\u2018\u2019\u201b-\u201f\u2026\u2027"
    "\u3000\u3001\u3002\u3003\u3008-\u3011\u3014-\u301f\u3030\u303e\u303f"
    "\ufe4f\ufe51\ufe54\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff64]+"
)
_ROUGE_WORD = re.compile(r"[a-z0-9]+")
_SIX_DOTS = re.compile(r"(\.{6})(.)")


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
