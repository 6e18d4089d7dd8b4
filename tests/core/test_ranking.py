"""Rankings against values worked out by hand."""

from math import log2
from typing import Any

import pytest

from proctor.core.ranking import ranking_value

RANKED = ["x", "a", "y", "b"]
PLAIN = {"a": 1.0, "b": 1.0, "c": 1.0}
GRADED = {"a": 1.0, "b": 3.0}


@pytest.mark.parametrize(
    ("name", "k", "relevance", "expected"),
    [
        ("recall", 0, PLAIN, 2 / 3),
        ("recall", 2, PLAIN, 1 / 3),
        ("recall", 9, PLAIN, 2 / 3),
        ("precision", 0, PLAIN, 2 / 4),
        ("precision", 2, PLAIN, 1 / 2),
        ("precision", 8, PLAIN, 2 / 8),
        ("hit", 1, PLAIN, 0.0),
        ("hit", 2, PLAIN, 1.0),
        ("mrr", 0, PLAIN, 1 / 2),
        ("mrr", 1, PLAIN, 0.0),
        ("map", 0, PLAIN, (1 / 2 + 2 / 4) / 3),
        ("map", 2, PLAIN, (1 / 2) / 2),
        ("ndcg", 0, PLAIN, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("ndcg", 2, PLAIN, (1 / log2(3)) / (1 + 1 / log2(3))),
        ("ndcg", 0, GRADED, (1 / log2(3) + 3 / log2(5)) / (3 + 1 / log2(3))),
    ],
)
def test_each_number_is_what_its_formula_gives(
    name: Any, k: int, relevance: dict[str, float], expected: float
) -> None:
    assert ranking_value(name, RANKED, relevance, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["recall", "precision", "hit", "mrr", "map", "ndcg"])
def test_the_ends_are_zero_and_one(name: Any) -> None:
    assert ranking_value(name, [], PLAIN) == 0.0
    assert ranking_value(name, ["x", "y"], PLAIN, 1) == 0.0
    assert ranking_value(name, ["a", "b", "c"], PLAIN) == 1.0
