"""Untrusted texts as pages show them: marked, and cut to highlight matches or differences."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


_EMOJI = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINING = "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1780-\u17ff"
_JOINED = re.compile(f"[{_EMOJI}\ufe0f]\u200d[{_EMOJI}]|[{_JOINING}][\u200c\u200d][{_JOINING}]")
"""Joiners that a script or an emoji is written with: a family of emoji, a Persian or Hindi word."""


def visible(text: str) -> str:
    """Replace control, invisible and unencodable characters by visible marks."""
    return _HIDDEN.sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    start = match.start()
    if match[0] in "\u200c\u200d" and _JOINED.fullmatch(
        match.string[max(0, start - 1) : start + 2]
    ):
        return match[0]
    return f"⟦U+{ord(match[0]):04X}⟧"


Piece = dict[str, Any]
Span = tuple[int, int, bool]
"""Tokens from a place to another, and whether only this text has them."""

MOST = 200_000
"""How many characters of one text a page shows, unless the whole text is requested."""
_MOST_TOKENS = 4000
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|[^\w\s]")


def pieces(
    text: str, spans: Iterable[tuple[int, int]] = (), *, most: int | None = MOST
) -> list[Piece]:
    """Cut a text at the bounds of spans; the last piece may say how much was left out."""
    shown = text if most is None else text[:most]
    cut_pieces: list[Piece] = []
    end = 0
    for start, stop in [*_joined(spans, len(shown)), (len(shown), len(shown))]:
        if start > end:
            cut_pieces.append(_piece(shown[end:start]))
        if stop > start:
            cut_pieces.append(_piece(shown[start:stop], hit=True))
        end = stop
    if len(shown) < len(text):
        cut_pieces.append({**_piece(""), "more": len(text) - len(shown)})
    return cut_pieces


def compared(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Cut two texts into common pieces and pieces that only one of them has.

    Long texts are compared line by line, and very long ones not at all.
    """
    first, second = _tokens(one), _tokens(other)
    if max(len(first), len(second)) > _MOST_TOKENS:
        first, second = (text.splitlines(keepends=True) for text in (one, other))
    if max(len(first), len(second)) > _MOST_TOKENS or max(len(one), len(other)) > MOST:
        return pieces(one), pieces(other)
    from rapidfuzz.distance import Indel

    left: list[Span] = []
    right: list[Span] = []
    for step in Indel.opcodes(first, second):
        hit = step.tag != "equal"
        if step.src_end > step.src_start:
            _extend(left, step.src_start, step.src_end, hit=hit)
        if step.dest_end > step.dest_start:
            _extend(right, step.dest_start, step.dest_end, hit=hit)
    return _whole_phrases(first, left), _whole_phrases(second, right)


def _extend(spans: list[Span], start: int, stop: int, *, hit: bool) -> None:
    """Append the tokens from a place to another, merged with the last ones of the same kind."""
    if spans and spans[-1][2] == hit:
        start = spans.pop()[0]
    spans.append((start, stop, hit))


def _whole_phrases(tokens: Sequence[str], spans: Sequence[Span]) -> list[Piece]:
    """Return the pieces; a space between two marked words is marked, too, as one phrase."""
    joined: list[Span] = []
    last = len(spans) - 1
    for place, (start, stop, marked) in enumerate(spans):
        hit = marked or (0 < place < last and "".join(tokens[start:stop]).isspace())
        _extend(joined, start, stop, hit=hit)
    return [_piece("".join(tokens[start:stop]), hit=hit) for start, stop, hit in joined]


def _piece(text: str, *, hit: bool = False) -> Piece:
    return {"text": text, "hit": hit, "more": 0}


def _tokens(text: str) -> list[str]:
    """Return words, spaces and punctuation, at most one more than the limit."""
    return [token[0] for token in islice(_TOKEN.finditer(text), _MOST_TOKENS + 1)]


def _joined(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Return the spans within a text, with overlapping ones merged."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted({span for span in spans if 0 <= span[0] < span[1] <= length}):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined
