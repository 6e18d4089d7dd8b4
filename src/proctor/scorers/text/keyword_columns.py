"""Plain texts that are looked for in many answers, with what is written about each."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from proctor.core.suite import Json
from proctor.io import json_bytes


class Word(NamedTuple):
    """A text to look for, with what is written about it."""

    text: str
    points: float
    """What it gives where it is found, or takes away."""
    weight: float
    """What it adds to full marks."""
    hit_row: str
    """The row of the detail where it is found, but for its place."""
    missed: str
    short: str
    """As a reason names it."""


@lru_cache(maxsize=1 << 14, typed=True)
def plain_word(text: str, weight: float = 1.0, negative: bool = False) -> Word:
    """Write all that is the same wherever a text is looked for."""
    points = -weight if negative else weight
    head = f'{{"keyword":{_written(text)},"status":'
    tail = '"neg":true,' if negative else ""
    return Word(
        text=text,
        points=points,
        weight=0.0 if negative else weight,
        hit_row=f'{head}"match",{tail}"points":{_written(points)},"spans":[[',
        missed=f'{head}"unmatch",{tail}"points":0.0,"spans":[]}}',
        short=_short(text),
    )


@lru_cache(maxsize=1 << 14)
def plain_text(text: str) -> Word:
    """Write the same of a text that is nothing else; what is asked of its type was asked before."""
    return plain_word(text)


def _written(value: Json) -> str:
    return json_bytes.dumps(value).decode()


def looked_up(words: Sequence[Word], text: str) -> tuple[float, str, bytes]:
    """Return points, reason and the detail as JSON."""
    total = 0.0
    matched, missing, rows = [], [], []
    for word, points, _, hit_row, missed, short in words:
        start = text.find(word)
        if start < 0:
            missing.append(short)
            rows.append(missed)
        else:
            matched.append(short)
            total += points
            rows.append(f"{hit_row}{start},{start + len(word)}]]}}")
    detail = f'{{"rules":[{",".join(rows)}]}}'
    return total, _reason(matched, missing), detail.encode()


def reason_of(matched: Sequence[str], missing: Sequence[str]) -> str:
    """Say which keywords the answer contains."""
    return _reason([_short(word) for word in matched], [_short(word) for word in missing])


def _reason(matched: Sequence[str], missing: Sequence[str]) -> str:
    reason = f"{len(matched)} of {len(matched) + len(missing)} keywords found"
    if matched:
        reason += f"; found: {', '.join(matched)}"
    return f"{reason}; not found: {', '.join(missing)}" if missing else reason


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:39] + "…"
