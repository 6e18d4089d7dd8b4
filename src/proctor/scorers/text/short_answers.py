"""Short answers made comparable: what differs only in how it is written is the same answer.

Case, white space, full-width forms, surrounding quotes, closing punctuation and a leading article
do not count. No step empties a text, and none takes away what belongs to a number or a name: a
sign, a decimal point, the symbols of C++, C#, .NET or 5!.
"""

import re
import unicodedata
from collections import Counter

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ALIKE = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u2212": "-",  # a minus sign in typography
        "\u200b": " ", "\ufeff": " ",
    }
)  # fmt: skip
_PAIRS = (
    ("**", "**"), ("*", "*"), ("```", "```"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("«", "»"), ("‹", "›"), ("„", '"'), ("「", "」"), ("『", "』"), ("《", "》"), ("〈", "〉"),
)  # fmt: skip
_CLOSING = ".,;:…。、，；："
_LOUD = "!?"
_THOUSANDS = re.compile(r"(?<![\w.,])[-+]?[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_WHOLE_FLOAT = re.compile(r"([-+]?\d+)\.0+")
_ARTICLE = re.compile(r"(?:the |an? (?=\S*[^\W\d_]))(\S.+)", re.DOTALL)
_ARTICLES = frozenset({"a", "an", "the"})
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?<!\w)[-+]?\d+(?:[.,]\d+)*(?!\w)|(?<!\w)\.\d+|[{_SIGNS}]|[^\W_{_SIGNS}]+[+#]*"
)
_NO_ARTICLE = re.compile(
    r"a (?:major|minor|sharp|flat|priori|posteriori|cappella|la|level|levels|star)\b"
)


def normalised(text: str) -> str:
    """Return the form in which short answers are compared."""
    return _without_article(_numbers(_bare(_alike(text))))


def alike(text: str) -> str:
    """Return a text in one case and width, white space folded, its punctuation kept."""
    return _THOUSANDS.sub(_without_commas, _alike(text))


def contains(text: str, reference: str) -> bool:
    """Tell whether an answer has a reference in it, as words of its own."""
    needle = _numbers(_bare(_alike(reference)))
    pattern = re.escape(needle)
    if needle[:1].isalnum() and needle[:1].isascii():
        pattern = rf"(?<![^\W_])(?<!\d[.,])(?<![-+.](?=\d)){pattern}"
    if needle[-1:].isalnum() and needle[-1:].isascii():
        pattern = rf"{pattern}(?![^\W_])(?![.,]\d)(?![+#])"
    return re.search(pattern, alike(text)) is not None


def tokens_of(text: str) -> Counter[str]:
    """Count the words of a text, without articles."""
    tokens = _TOKEN.findall(_numbers(_bare(_alike(text))))
    return Counter(token for token in tokens if token not in _ARTICLES) or Counter(tokens)


def _alike(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).translate(_FULL_WIDTH).translate(_ALIKE)
    return " ".join(plain.split()).lower()


def _bare(text: str) -> str:
    """Take away quotes around a text and punctuation behind it, as long as something is left."""
    while (shorter := _peeled(text)) != text:
        text = shorter
    return text


def _peeled(text: str) -> str:
    for opening, closing in _PAIRS:
        inner = text[len(opening) : -len(closing)].strip()
        if (
            text.startswith(opening)
            and text.endswith(closing)
            and len(text) > len(opening) + len(closing)
            and inner
            and closing not in inner
        ):
            return inner
    for marks in (_CLOSING, _LOUD):
        rest = text.rstrip(marks).rstrip()
        if rest != text and _sayable(rest) and not (marks == _LOUD and _formula(rest)):
            return rest
    return text


def _sayable(text: str) -> bool:
    """Tell whether a text still has a letter or a digit."""
    return any(sign.isalnum() for sign in text)


def _formula(text: str) -> bool:
    """Tell whether a mark behind a text would be a factorial or the like."""
    last = text.rsplit(maxsplit=1)[-1]
    return not last[-1].isalpha() or len(last) == 1


def _numbers(text: str) -> str:
    text = _THOUSANDS.sub(_without_commas, text)
    whole = _WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def _without_commas(match: re.Match[str]) -> str:
    return match[0].replace(",", "")


def _without_article(text: str) -> str:
    match = _ARTICLE.fullmatch(text)
    return match[1] if match and not _NO_ARTICLE.match(text) else text
