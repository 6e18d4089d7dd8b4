"""Texts as ROUGE compares them, cut into lines."""

import pytest

from proctor.scorers.overlap.rouge_texts import RougeText, cut_lines, union_hits


@pytest.mark.parametrize(
    ("text", "ascii_only", "lines"),
    [
        ("", False, []),
        ("A b\n\nc", False, [("a", "b"), ("c",)]),
        ("...\nÉ 今天", False, [(), ("é", "今", "天")]),
        ("...\nÉ 今天 b", True, [(), ("b",)]),
    ],
)
def test_lines(text: str, ascii_only: bool, lines: list[tuple[str, ...]]) -> None:
    assert list(cut_lines(text, ascii_only)) == lines
    assert RougeText.of(text, ascii_only).is_sentence is (len([x for x in lines if x]) <= 1)


@pytest.mark.parametrize(
    ("answer", "reference", "longest", "hits"),
    [
        ("b a", "a b", 1, 1),
        ("b\na", "a b", 1, 2),
        ("a b", "b\na", 1, 2),
        ("a\na", "a a", 2, 1),
        ("\nb a\n", "a b", 1, 1),
    ],
)
def test_tokens_that_some_line_shares_in_order(
    answer: str, reference: str, longest: int, hits: int
) -> None:
    assert union_hits((answer, reference), longest, False) == hits
