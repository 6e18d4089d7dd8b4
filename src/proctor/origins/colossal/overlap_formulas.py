"""The overlap metrics exactly as ColossalAI's evaluation computes them, odd as some of them are."""

from collections.abc import Sequence
from math import exp, log
from sys import float_info

from proctor.scorers.overlap.formulas import BLEU_ORDER, CHRF_ORDER, DISTINCT_ORDER, grams

_NONE = 1e-16
"""What nltk's chrF gives to an order without a hit."""


def bleu(hits: Sequence[int], reference: int, answer: int) -> dict[str, float]:
    """Return nltk's sentence BLEU without smoothing: an order without a hit makes nearly 0."""
    if not hits[0]:
        return {f"bleu{n}": 0.0 for n in range(1, BLEU_ORDER + 1)}
    brevity = 1.0 if answer > reference else exp(1 - reference / answer)
    values, logs = {}, 0.0
    for n, count in enumerate(hits[:BLEU_ORDER], 1):
        logs += log(count / max(1, answer - n + 1) if count else float_info.min)
        values[f"bleu{n}"] = brevity * exp(logs / n)
    return values


def rouge_chinese(answer: Sequence[str], reference: Sequence[str]) -> dict[str, float]:
    """Return rouge-chinese's values: sets of n-grams, and a small number in the denominator."""
    from rapidfuzz.distance import LCSseq

    if not answer:
        raise ValueError("Hypothesis is empty.")
    if not reference:
        raise ValueError("Reference is empty.")
    values = {}
    for n in (1, 2):
        ours, theirs = grams(answer, n), grams(reference, n)
        common = len(ours & theirs)
        values[f"rouge{n}"] = _f(common, len(ours), len(theirs))
    longest = LCSseq.similarity(answer, reference)
    values["rougeL"] = _f(longest, len(answer), len(reference))
    return values


def _f(hits: int, answer: int, reference: int) -> float:
    precision = hits / answer if answer else 0.0
    recall = hits / reference if reference else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def chrf(hits: Sequence[int], reference: int, answer: int) -> float:
    """Return nltk's chrF3, the mean of all six orders, even where a text is too short for one."""
    values = []
    for n, count in enumerate(hits[:CHRF_ORDER]):
        if not count:
            values.append(_NONE)
            continue
        precision, recall = count / (answer - n), count / (reference - n)
        values.append(10 * precision * recall / (9 * precision + recall))
    return sum(values) / CHRF_ORDER


def precision_recall_f1(answer: Sequence[str], reference: Sequence[str]) -> dict[str, float]:
    """Compare place by place, as far as both texts reach; precision is only ever 0 or 1."""
    places = min(len(answer), len(reference))
    hits = sum(map(str.__eq__, answer, reference))
    return {
        "precision": 1.0 if hits else 0.0,
        "recall": hits / places if places else 0.0,
        "f1_score": 2 * hits / (places + hits) if hits else 0.0,
    }


def distinct(tokens: Sequence[str], orders: int = DISTINCT_ORDER) -> float:
    """Return the mean share of distinct n-grams; an order that a text is too short for is 0."""
    shares = [
        len(grams(tokens, n)) / (max(0, len(tokens) - n + 1) + 1e-6) for n in range(1, orders + 1)
    ]
    return sum(shares) / orders
