"""How good a ranking of retrieved ids is: recall, precision, reciprocal rank, nDCG."""

from collections.abc import Mapping, Sequence
from math import fsum, log2
from typing import Literal

RankingName = Literal["recall", "precision", "hit", "mrr", "ndcg", "map"]


def ranking_value(
    name: RankingName, ranked: Sequence[str], relevance: Mapping[str, float], k: int = 0
) -> float:
    """Return a number from 0 to 1 of the first k ids, or of all where k is 0.

    ``relevance`` holds the grade of each relevant id, and is not empty.
    """
    first = ranked[:k] if k else ranked
    hits = [name in relevance for name in first]
    if name == "recall":
        return sum(hits) / len(relevance)
    if name == "precision":
        # With fewer than k ids the empty places count as misses.
        return sum(hits) / (k or len(first) or 1)
    if name == "hit":
        return float(any(hits))
    if name == "mrr":
        return next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    if name == "map":
        most = min(len(relevance), k) if k else len(relevance)
        return _sum_of_precisions(hits) / most
    gains = [relevance.get(item, 0.0) for item in first]
    best = sorted(relevance.values(), reverse=True)
    return _discounted(gains) / _discounted(best[:k] if k else best)


def _sum_of_precisions(hits: Sequence[bool]) -> float:
    """Return the sum, over all hits, of the precision up to each."""
    total, so_far = 0.0, 0
    for rank, hit in enumerate(hits, 1):
        if hit:
            so_far += 1
            total += so_far / rank
    return total


def _discounted(gains: Sequence[float]) -> float:
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
