"""JSON files of ColossalAI's evaluation: plain values, and their places when one is wrong."""

import re
from collections.abc import Iterable
from json import loads
from pathlib import Path

from proctor.io.text_files import Document, Loc, Place, read_json
from proctor.suggestions import closest, did_you_mean, suggest

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class JsonDocument(Document):
    """A JSON file; the places of its values are worked out on demand."""

    def place(self, loc: Loc) -> Place | None:
        if not self.places and self.text:
            self.places = places_of(self.text)
        return super().place(loc)


def read_document(path: Path) -> JsonDocument:
    """Read a JSON file."""
    document = read_json(path)
    return JsonDocument(path=path, data=document.data, text=document.text)


def places_of(text: str) -> dict[Loc, Place]:
    """Return where each value of a JSON text stands; a mapping's entry stands where its key does.

    The text is known to be JSON, so that brackets, commas and colons alone tell what is what.
    """
    places: dict[Loc, Place] = {}
    stack: list[_OpenObject] = []
    line, start, seen = 1, 0, 0
    for token in _TOKEN.finditer(text):
        piece, at = token[0], token.start()
        breaks = text.count("\n", seen, at)
        if breaks:
            line, start = line + breaks, text.rindex("\n", 0, at) + 1
        seen = at
        if piece in "}]":
            stack.pop()
        elif piece == ",":
            stack[-1].after_comma()
        elif piece != ":":
            _take(piece, Place(line, at - start + 1), stack, places)
    return places


class _OpenObject:
    """A collection that is still being read."""

    def __init__(self, loc: Loc, mapping: bool) -> None:
        self.loc, self.mapping = loc, mapping
        self.index = 0
        self.key: str | None = None

    def after_comma(self) -> None:
        self.index += 1
        self.key = None


def _take(piece: str, place: Place, stack: list[_OpenObject], places: dict[Loc, Place]) -> None:
    """Take in a key, or a value."""
    top = stack[-1] if stack else None
    if top is not None and top.mapping and top.key is None:
        top.key = str(loads(piece, strict=False))
        places[(*top.loc, top.key)] = place
        return
    loc: Loc = ()
    if top is not None:
        loc = (*top.loc, top.key or "") if top.mapping else (*top.loc, top.index)
    places.setdefault(loc, place)
    if piece in "{[":
        stack.append(_OpenObject(loc, piece == "{"))


def near(name: str, allowed: Iterable[str]) -> str:
    """Return which of the known names was probably meant, in whatever case it was written."""
    names = list(allowed)
    return did_you_mean(meant_by(name, names)) or suggest(name, names)


def meant_by(name: str, allowed: Iterable[str]) -> str:
    """Return the known name that begins as this one does, or else the most similar; or none."""
    names = list(allowed)
    begun = [one for one in names if one.casefold().startswith(name.casefold())]
    return begun[0] if begun else closest(name, names)
