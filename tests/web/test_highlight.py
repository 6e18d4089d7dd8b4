"""Texts cut by what was found in them, and by what differs between two."""

import pytest

from proctor.web.highlight import Piece, compared, pieces, visible


def marked(made: list[Piece]) -> str:
    """Write the pieces as one text with the hits in brackets."""
    parts = (f"[{one['text']}]" if one["hit"] else one["text"] for one in made)
    return "".join(parts) + "".join(f"+{one['more']}" for one in made if one["more"])


@pytest.mark.parametrize(
    ("text", "spans", "most", "expected"),
    [
        ("", (), 10, ""),
        ("plain", (), 10, "plain"),
        ("a b c", [(2, 3)], 10, "a [b] c"),
        ("abcdef", [(0, 3), (2, 4), (5, 6)], None, "[abcd]e[f]"),
        ("abcdef", [(1, 2), (2, 3)], None, "a[b][c]def"),
        ("abc", [(2, 9), (-1, 1), (1, 1), (2, 1)], None, "abc"),
        ("abcdef", [(0, 1), (4, 5)], 3, "[a]bc+3"),
        ("<b>", [(0, 3)], None, "[<b>]"),
    ],
)
def test_spans(text: str, spans: list[tuple[int, int]], most: int | None, expected: str) -> None:
    assert marked(pieces(text, spans, most=most)) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("same", "same", ("same", "same")),
        ("", "new", ("", "[new]")),
        ("a red fox", "a grey fox", ("a [red] fox", "a [grey] fox")),
        ("今天很好", "今天不好", ("今天[很]好", "今天[不]好")),
        ("x\n" * 900, "x\n" * 900 + "y\n", ("x\n" * 900, "x\n" * 900 + "[y\n]")),
        ("a\n" * 9000, "b\n" * 9000, ("a\n" * 9000, "b\n" * 9000)),
    ],
)
def test_differences(one: str, other: str, expected: tuple[str, str]) -> None:
    left, right = compared(one, other)
    assert (marked(left), marked(right)) == expected


@pytest.mark.parametrize(
    "text", ["👩‍👩‍👧‍👦", "🏳️‍🌈", "می\u200cخواهم", "क्\u200dष", "❤️‍🔥 ok"]
)  # fmt: skip
def test_joiners_that_a_script_is_written_with_are_not_marked(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "text", ["a\u200db", "\u200d", "x\u200c", "👩\u200dx", "می\u200c", "\u200c\u200d"]
)
def test_other_joiners_are_marked(text: str) -> None:
    assert "⟦U+200" in visible(text)
    assert not {"\u200c", "\u200d"} & set(visible(text))
