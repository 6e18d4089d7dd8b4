"""Excerpts of questions and answers in a comparison: cut, and begun where they differ."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.store.store import Store
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


def test_an_answer_says_why_it_lacks_marks_and_what_all_attempts_took(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    made = examined.plain("c", "so", 1.0)
    used = {"candidate": {"prompt_tokens": 30, "completion_tokens": 4, "cost": 0.5},
            "judge": {"prompt_tokens": 999, "cost": 9.0}}  # fmt: skip
    attempts = tuple(
        replace(made.attempts[0], index=place, seconds=1.5, usage=used) for place in range(3)
    )
    scores = tuple(
        {"fits": replace(made.scores[0]["fits"], points=points, reason=reason)}
        for points, reason in ((1.0, "good"), (0.5, "vague"), (0.0, "wrong"))
    )
    with Store.open(str(tmp_path / "p.db")) as store:
        put_run(store, "some", [replace(made, attempts=attempts, scores=scores)])
        put_run(store, "right", [made])
        first, second = listed_texts(store, ["some", "right"], ["c"])["c"].answers
    assert (first.reason, first.of_attempt, first.attempts) == ("fits 0.5 of 1: vague", 2, 3)
    assert (first.tokens, first.seconds, first.cost) == (102, 4.5, 1.5)
    assert (second.reason, second.of_attempt, second.attempts) == ("", 0, 1)
    assert (second.tokens, second.cost) == (None, None)
