"""Retrieval by ids: points, reasons, and what keeps an answer from being scored."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.scorers.retrieval.ranking import Retrieval
from proctor.testing import try_scorer


def context(meta: Any, hidden: Any) -> ScoreContext:
    ctx = ScoreContext.of("An answer.", prompt="?")
    return replace(
        ctx, attempt=replace(ctx.attempt, meta=meta), case=replace(ctx.case, hidden=hidden)
    )


@pytest.mark.parametrize(
    ("scorer", "points", "reason"),
    [
        (Retrieval(), 0.5, "1 of 2 relevant ids among 3 retrieved; not among them: d9"),
        (Retrieval("recall", k=1), 0.0, "0 of 2 relevant ids among 1 retrieved; not among them: d2, d9"),
        (Retrieval("mrr"), 0.5, "1 of 2 relevant ids among 3 retrieved; not among them: d9"),
        (Retrieval("precision", k=2), 0.5, "1 of 2 relevant ids among 2 retrieved; not among them: d9"),
        (Retrieval("hit", relevant="also"), 1.0, "1 of 1 relevant ids among 3 retrieved"),
    ],
)  # fmt: skip
def test_what_was_retrieved_is_compared_with_what_is_relevant(
    scorer: Retrieval, points: float, reason: str
) -> None:
    hidden = {"relevant": ["d2", "d9"], "also": {"d1": 2}}
    score = try_scorer(scorer, context({"retrieved": ["d1", "d2", "d3"]}, hidden))
    assert (score.points, score.out_of, score.reason) == (points, 1.0, reason)
    assert list(scorer.problems()) == []


@pytest.mark.parametrize(
    ("meta", "hidden", "reason"),
    [
        ({"retrieved": ["a"]}, {}, "the case names no relevant id"),
        ({}, {"relevant": ["a"]}, "the answer names no retrieved id"),
        ({"retrieved": [True]}, {"relevant": ["a"]}, "an id of a passage is"),
        ({"retrieved": ["a"]}, {"relevant": {"a": "x"}}, "the grade of 'a'"),
    ],
)
def test_without_ids_there_is_no_score(meta: Any, hidden: Any, reason: str) -> None:
    score = try_scorer(Retrieval(), context(meta, hidden))
    assert score.status is ScoreStatus.FAILED
    assert reason in score.reason


def test_k_is_no_negative_number() -> None:
    assert list(Retrieval(k=-1).problems()) == [
        "k is -1: it counts the first k ids, 0 stands for all"
    ]
