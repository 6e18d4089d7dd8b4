"""Rendered texts as trees: the same elements, attributes and texts as the HTML."""

from typing import Any

import pytest
from markupsafe import Markup

from proctor.web.highlight import pieces
from proctor.web.share.trees import tree_of, with_tree


@pytest.mark.parametrize(
    ("html", "tree"),
    [
        ("so &lt;b&gt; &amp; on", ["so <b> & on"]),
        ('<p class="a">x<br>y</p>', [["p", {"class": "a"}, "x", ["br", {}], "y"]]),
        ("<ul><li>1</li><li></li></ul>", [["ul", {}, ["li", {}, "1"], ["li", {}]]]),
        (
            '<svg viewBox="0 0 1 1"><rect x="1"/><line/></svg>z',
            [["svg", {"viewBox": "0 0 1 1"}, ["rect", {"x": "1"}], ["line", {}]], "z"],
        ),
    ],
)
def test_html_becomes_a_tree(html: str, tree: list[Any]) -> None:
    assert tree_of(Markup(html)) == tree


def test_a_text_keeps_its_pieces_beside_its_tree() -> None:
    plain, marked = (pieces(text, most=None) for text in ("plain", "*so*"))
    assert with_tree(plain) is plain
    assert with_tree(marked) == {"raw": marked, "rich": [["p", {}, ["em", {}, "so"]]]}
    code = with_tree(pieces("{}", most=None), "json")
    assert code["code"] == [["span", {"class": "c-p"}, "{}"]]
