"""Sentences of the engine in the language of a page: reasons, notes, what an audit showed."""

import json
import re
from functools import cache
from importlib.resources import files

LONGEST = 1_000
"""Longer texts stay as they are: they are no sentences of the engine, and would take long."""
DEPTH = 4
_PLACE = re.compile(r"\{(\w+)\}")
_KINDS = {"n": r"[-+−]?[\d.,]+%?", "w": r"[\w.@+/:-]{1,80}"}
"""What a name stands for by its first letter: a number, one word, else any text."""


def in_language(text: str, language: str) -> str:
    """Return a sentence of the engine in a language; any other text as it is."""
    if language == "en" or not text or len(text) > LONGEST:
        return text
    return _translated(text, language, DEPTH)


def _translated(text: str, language: str, depth: int) -> str:
    if depth == 0:
        return text
    for pattern, template in _sentences(language):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts = {
            name: _translated(part, language, depth - 1) if name[0] == "t" else part
            for name, part in match.groupdict().items()
        }
        return template.format(**parts)
    return text


@cache
def _sentences(language: str) -> list[tuple[re.Pattern[str], str]]:
    path = files("proctor.web").joinpath("words", f"sentences.{language}.json")
    pairs: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return [(_pattern(english), other) for english, other in pairs.items()]


def _pattern(english: str) -> re.Pattern[str]:
    """Make a pattern of a sentence with places: {n…} numbers, {w…} words, {t…} sentences."""
    parts = _PLACE.split(english)
    shown = [
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{_KINDS.get(part[0], '.+?')})"
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(shown), re.DOTALL)
