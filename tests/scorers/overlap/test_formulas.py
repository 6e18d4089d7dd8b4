"""Overlap in numbers: each formula by hand, and nothing shared or nothing there is 0."""

from math import exp, sqrt

import pytest

from proctor.scorers.overlap.formulas import (
    bleu,
    chrf,
    distinct,
    f_measure,
    grams,
    precision_recall_f1,
)


@pytest.mark.parametrize(
    ("hits", "reference", "answer", "value"),
    [(2, 4, 4, 0.5), (2, 4, 2, 2 / 3), (4, 4, 4, 1.0), (0, 4, 4, 0.0), (0, 0, 0, 0.0)],
)
def test_the_harmonic_mean(hits: int, reference: int, answer: int, value: float) -> None:
    assert f_measure(hits, reference, answer) == pytest.approx(value)
    named = precision_recall_f1(hits, reference, answer)
    assert named["f1_score"] == pytest.approx(value)
    assert named["recall"] == (hits / reference if reference else 0.0)


def test_bleu_of_an_equal_and_of_a_shorter_answer() -> None:
    same = bleu([4, 3, 2, 1], 4, 4)
    assert all(value == pytest.approx(1.0) for value in same.values())
    short = bleu([2, 1, 0, 0], 4, 2)
    assert short["bleu1"] == pytest.approx(exp(-1))
    # Orders that the answer is too short for are left out.
    assert short["bleu2"] == short["bleu3"] == short["bleu4"] == pytest.approx(exp(-1))


def test_bleu_counts_half_a_hit_for_the_first_order_without_one_and_then_a_quarter() -> None:
    values = bleu([3, 0, 0, 0], 5, 5)
    assert values["bleu1"] == pytest.approx(3 / 5)
    assert values["bleu2"] == pytest.approx(sqrt(3 / 5 * (1 / 2) / 4))
    assert values["bleu3"] == pytest.approx((3 / 5 * (1 / 2) / 4 * (1 / 4) / 3) ** (1 / 3))
    assert set(bleu([0, 0, 0, 0], 5, 5).values()) == {0.0}


def test_chrf_averages_the_orders_that_both_texts_have() -> None:
    assert chrf([4, 3, 2, 1, 0, 0], 4, 4) == pytest.approx(1.0)
    assert chrf([1, 0], 2, 3) == pytest.approx(5 * (1 / 6) * (1 / 4) / (4 / 6 + 1 / 4))
    assert chrf([0], 1, 1) == 0.0
    assert chrf([], 0, 3) == 0.0


def test_distinct_grams_are_a_share_of_all() -> None:
    assert distinct(["a", "b", "c"]) == 1.0
    assert distinct(["a", "a", "a"]) == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert distinct(["a"]) == 1.0
    assert distinct([]) == 0.0
    assert grams(["a", "b", "a", "b"], 2) == {("a", "b"), ("b", "a")}
    assert grams(["a", "a"], 1) == {"a"}
