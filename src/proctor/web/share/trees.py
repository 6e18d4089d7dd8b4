"""Rendered texts as trees of plain data, so that the shared page needs to parse no HTML."""

from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from markupsafe import Markup

from proctor.web.rendering import in_colours, rich

Tree = list[Any]
"""An element: its name, its attributes, and its children, which are texts or elements."""
_EMPTY = frozenset(["br", "hr", "img"])
_SVG_NAMES = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
"""Attributes whose capitals matter, which the reader of HTML makes small."""


class _Reader(HTMLParser):
    """A reader of what ``proctor.web.rich_text`` wrote."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: Tree = ["div", {}]
        self._open: list[Tree] = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {_SVG_NAMES.get(name, name): value or "" for name, value in attrs}
        element: Tree = [tag, about]
        self._open[-1].append(element)
        if tag not in _EMPTY:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        parent = self._open[-1]
        if len(parent) > 2 and isinstance(parent[-1], str):
            parent[-1] += data
        else:
            parent.append(data)


def tree_of(html: Markup) -> Tree:
    """Return our own HTML as the children of one element."""
    reader = _Reader()
    reader.feed(str(html))
    reader.close()
    return reader.root[2:]


def with_tree(text_pieces: Sequence[Mapping[str, Any]], language: str = "") -> Any:
    """Return a text in pieces, together with how it is rendered where that differs."""
    if language:
        return {"raw": text_pieces, "code": tree_of(in_colours(text_pieces, language))}
    html = rich(text_pieces)
    return text_pieces if html is None else {"raw": text_pieces, "rich": tree_of(html)}
