"""The final answer in a reply, found by simple rules; a judge may still find another."""

import re
from collections.abc import Iterator

_BOXED = re.compile(r"\\?\b(?:boxed|fbox)\s*\{")
_PHRASE = re.compile(
    r"\banswers?\b(?:\s{1,3}(?:of|to|for)\b[^.:\n]{0,60}?)?"
    r"(?:[*_]{0,3}\s{0,3}[:：=]\s{0,3}[*_]{0,3}"
    r"|\s{1,3}(?:is|are|would be|should be|must be|equals)\b\s{0,3}:?)"
    r"\s{0,3}(?P<en>[^\n]{1,300})"
    r"|答案\s{0,3}(?:应该|应当|就|应)?\s{0,3}(?:是|为|[:：])\s{0,3}[:：]?\s{0,3}(?P<zh>[^\n]{1,300})",
    re.I,
)
_LETTER = re.compile(r"\A[\s*_(（\[]*([A-Za-z])[)）\]]?[\s*_.:。]*\Z")
_NUMBER = re.compile(
    r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:(?<=\d)\.\d+|\.\d+|(?<=\d))"
    r"(?:[eE][-+]?\d+)?(?:\s*/\s*\d+)?(?:\s?\\?%)?",
    re.ASCII,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])|(?<=[。！？])")
_CLOSING = " \t\r\n.。,，;；*_`\"'”"
_END, _BOXES = 20_000, 50
"""Only the last of a reply is searched: models write without end."""


def extracted(text: str) -> str:
    """Return the final answer of a reply, or an empty text where none stands out.

    Looked for in this order: the last box, what follows the last "the answer is" or "Answer:",
    a letter alone on the last line, the whole reply where it is one short line, the last number.
    """
    text = text[-_END:]
    marked = boxed(text) or phrased(text) or _last_letter(text)
    if marked:
        return marked
    lines = text.strip().splitlines()
    if len(lines) == 1 and len(lines[0].split()) <= 3:
        return _trimmed(lines[0])
    numbers = [match[0] for match in _NUMBER.finditer(text)]
    return numbers[-1].strip() if numbers else ""


def boxed(text: str) -> str:
    """Return what the last closed box of a text holds."""
    for box in reversed(list(_BOXED.finditer(text))[-_BOXES:]):
        inside = _braced(text, box.end())
        if inside is not None:
            return inside.strip()
    return ""


def phrased(text: str) -> str:
    """Return what a text calls its answer, the last time it does."""
    answer = ""
    for phrase in _phrases(text):
        answer = phrase or answer
    return answer


def _phrases(text: str) -> Iterator[str]:
    place = 0
    while (match := _PHRASE.search(text, place)) is not None:
        # What is called an answer may itself go on to name another one.
        place = match.start("en") if match["en"] is not None else match.start("zh")
        yield _trimmed(_SENTENCE.split(match["en"] or match["zh"], maxsplit=1)[0])


def _last_letter(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    match = _LETTER.match(lines[-1]) if lines else None
    return match[1] if match else ""


def _trimmed(text: str) -> str:
    text = text.strip(_CLOSING)
    letter = re.match(r"\A[(（]([A-Za-z])[)）]\Z", text)
    if letter:
        return letter[1]
    for left, right in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        inside = text[len(left) : -len(right)]
        if text.startswith(left) and text.endswith(right) and inside and left not in inside:
            return inside.strip()
    return text


def _braced(text: str, start: int) -> str | None:
    """Return the text up to the brace that closes the one before start; none if none does."""
    depth = 1
    for place in range(start, len(text)):
        if text[place] == "{" and text[place - 1] != "\\":
            depth += 1
        elif text[place] == "}" and text[place - 1] != "\\":
            depth -= 1
            if depth == 0:
                return text[start:place]
    return None
