"""BLEU, ROUGE, chrF, precision, recall and distinct n-grams, from what two texts have in common."""

from collections.abc import Sequence
from math import exp, log

CHRF_ORDER = 6
CHRF_BETA = 2
BLEU_ORDER = 4
DISTINCT_ORDER = 3


def f_measure(hits: int, reference: int, answer: int) -> float:
    """Return the harmonic mean of precision and recall; 0 where nothing is shared."""
    if not hits:
        return 0.0
    precision, recall = hits / max(answer, 1), hits / max(reference, 1)
    return 2 * precision * recall / (precision + recall)


def precision_recall_f1(hits: int, reference: int, answer: int) -> dict[str, float]:
    """Compare two bags of tokens."""
    return {
        "precision": hits / answer if answer else 0.0,
        "recall": hits / reference if reference else 0.0,
        "f1_score": f_measure(hits, reference, answer),
    }


def bleu(hits: Sequence[int], reference: int, answer: int) -> dict[str, float]:
    """Return BLEU-1 to BLEU-4 of one sentence, smoothed so that short texts are not all 0.

    The first order without a hit counts as half a hit, the next as a quarter, and so on (Chen and
    Cherry's method 3, "exp" in sacrebleu). Orders that the answer is too short for are left out.
    """
    if not hits[0]:
        return {f"bleu{n}": 0.0 for n in range(1, BLEU_ORDER + 1)}
    brevity = 1.0 if answer >= reference else exp(1 - reference / answer)
    values, logs, orders, worth = {}, 0.0, 0, 1.0
    for n, count in enumerate(hits[:BLEU_ORDER], 1):
        if (total := answer - n + 1) > 0:
            worth = worth if count else worth / 2
            logs += log((count or worth) / total)
            orders = n
        values[f"bleu{n}"] = brevity * exp(logs / orders)
    return values


def chrf(hits: Sequence[int], reference: int, answer: int) -> float:
    """Return chrF2: precision and recall averaged over the orders that both texts have.

    Sizes are in characters without white space.
    """
    orders = min(CHRF_ORDER, reference, answer)
    if orders < 1:
        return 0.0
    precision = sum(hits[n] / (answer - n) for n in range(orders)) / orders
    recall = sum(hits[n] / (reference - n) for n in range(orders)) / orders
    if not precision + recall:
        return 0.0
    weight = CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall)


def distinct(tokens: Sequence[str]) -> float:
    """Return the share of n-grams that differ, averaged over the orders 1 to 3 that there are."""
    orders = min(DISTINCT_ORDER, len(tokens))
    if not orders:
        return 0.0
    shares = [len(grams(tokens, n)) / (len(tokens) - n + 1) for n in range(1, orders + 1)]
    return sum(shares) / orders


def grams(tokens: Sequence[str], n: int) -> set[str] | set[tuple[str, ...]]:
    """Return the n-grams of a text, each once."""
    if n == 1:
        return set(tokens)
    return set(zip(*(tokens[start:] for start in range(n)), strict=False))
