"""Words and sentences of a text, in scripts with and without spaces."""

from importlib.util import find_spec

import pytest

from proctor.scorers.counts.tokenise import sentences, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one two", 2),
        ("don't well-known", 2),
        ("a - b", 2),
        ("我们去北京大学", 3),
        ("我们use Python很多", 4),
        ("こんにちは", 5),
        ("привет мир", 2),
        ("。。。", 0),
    ],
)
def test_words(text: str, count: int) -> None:
    pytest.importorskip("rjieba" if find_spec("rjieba") else "jieba")
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 1), ("Hi. I am here now. Yes.", 1), ("我们今天去北京。他们明天去上海！好。", 2)],
)
def test_sentences(text: str, count: int) -> None:
    assert sentences(text) == count
