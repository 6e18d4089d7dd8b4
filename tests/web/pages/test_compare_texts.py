"""Excerpts of questions and answers in a comparison: cut, and begun where they differ."""

from typing import Any

import pytest

from proctor.web.pages.compare_texts import BEFORE, LONGEST_ANSWER, _excerpt, _start, listed_texts

SAME = "x" * (2 * LONGEST_ANSWER)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["one"], 0),
        (["one", "two"], 0),
        ([SAME + "a", SAME + "b"], len(SAME) - BEFORE),
        (["a" + SAME, "b" + SAME], 0),
    ],
)
def test_an_excerpt_begins_shortly_before_the_first_difference(
    outputs: list[str], start: int
) -> None:
    assert _start(outputs) == start
    assert all(len(_excerpt(text, start)) <= LONGEST_ANSWER + 1 for text in outputs)


def test_a_run_without_the_case_is_said(page_pool: Any) -> None:
    with page_pool.lend() as store:
        texts = listed_texts(store, ["old", "going"], ["a", "none"])
    assert list(texts) == ["a"]
    assert [one.there for one in texts["a"].answers] == [True, False]
