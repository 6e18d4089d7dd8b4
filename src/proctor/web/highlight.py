"""Texts cut into pieces: what was found in one, what differs between two."""

import re
from collections.abc import Iterable
from typing import Any

Piece = dict[str, Any]

MOST = 200_000
"""How many characters of one text a page shows, unless all of it is asked for."""
_MOST_TOKENS = 4000
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|[^\w\s]")


def pieces(
    text: str, spans: Iterable[tuple[int, int]] = (), *, most: int | None = MOST
) -> list[Piece]:
    """Cut a text where a span begins or ends; the last piece may say how much was left out."""
    shown = text if most is None else text[:most]
    made: list[Piece] = []
    end = 0
    for start, stop in [*_joined(spans, len(shown)), (len(shown), len(shown))]:
        if start > end:
            made.append(_piece(shown[end:start]))
        if stop > start:
            made.append(_piece(shown[start:stop], hit=True))
        end = stop
    if len(shown) < len(text):
        made.append({**_piece(""), "more": len(text) - len(shown)})
    return made


def compared(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Cut two texts into what both have and what only one of them has.

    Long texts are compared by lines, and very long ones not at all.
    """
    first, second = _tokens(one), _tokens(other)
    if max(len(first), len(second)) > _MOST_TOKENS:
        first, second = (text.splitlines(keepends=True) for text in (one, other))
    if max(len(first), len(second)) > _MOST_TOKENS or max(len(one), len(other)) > MOST:
        return pieces(one), pieces(other)
    from rapidfuzz.distance import Indel

    left: list[Piece] = []
    right: list[Piece] = []
    for step in Indel.opcodes(first, second):
        parts = first[step.src_start : step.src_end], second[step.dest_start : step.dest_end]
        for made, part in zip((left, right), parts, strict=True):
            if part:
                _append(made, "".join(part), hit=step.tag != "equal")
    return _whole_phrases(left), _whole_phrases(right)


def _whole_phrases(made: list[Piece]) -> list[Piece]:
    """Mark a space between two words that are marked, too: a phrase reads as one."""
    joined: list[Piece] = []
    for place, piece in enumerate(made):
        between = 0 < place < len(made) - 1 and piece["text"].isspace()
        _append(joined, piece["text"], hit=piece["hit"] or between)
    return joined


def _append(made: list[Piece], text: str, *, hit: bool) -> None:
    """Add a piece, joined with the last one where it is of the same kind."""
    if made and made[-1]["hit"] == hit:
        made[-1]["text"] += text
    else:
        made.append(_piece(text, hit=hit))


def _piece(text: str, *, hit: bool = False) -> Piece:
    return {"text": text, "hit": hit, "more": 0}


def _tokens(text: str) -> list[str]:
    """Return words, spaces and signs, one more than can be compared at most."""
    found = []
    for token in _TOKEN.finditer(text):
        found.append(token[0])
        if len(found) > _MOST_TOKENS:
            break
    return found


def _joined(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Return the spans that lie in a text, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted({span for span in spans if 0 <= span[0] < span[1] <= length}):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined
