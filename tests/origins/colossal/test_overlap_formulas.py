"""Overlap as the original computes it: unsmoothed, place by place, all orders counted."""

import pytest

from proctor.origins.colossal.overlap_formulas import (
    bleu,
    chrf,
    distinct,
    precision_recall_f1,
    rouge_chinese,
)


def test_bleu_without_a_hit_in_an_order_is_nearly_nothing() -> None:
    assert set(bleu([0, 0, 0, 0], 4, 4).values()) == {0.0}
    values = bleu([3, 0, 0, 0], 4, 4)
    assert values["bleu1"] == pytest.approx(3 / 4)
    assert 0 < values["bleu2"] < 1e-100
    assert bleu([4, 3, 2, 1], 4, 4)["bleu4"] == pytest.approx(1.0)


def test_precision_is_0_or_1_and_recall_goes_place_by_place() -> None:
    assert precision_recall_f1(["a", "b", "c"], ["a", "x"]) == {
        "precision": 1.0,
        "recall": 0.5,
        "f1_score": pytest.approx(2 / 3),
    }
    assert set(precision_recall_f1(["b", "a"], ["a", "b"]).values()) == {0.0}
    assert set(precision_recall_f1([], ["a"]).values()) == {0.0}


def test_chrf_counts_orders_that_a_text_is_too_short_for() -> None:
    assert chrf([2, 1, 0, 0, 0, 0], 2, 2) == pytest.approx(2 / 6)
    assert chrf([0] * 6, 0, 0) == pytest.approx(1e-16)


def test_distinct_counts_an_order_that_is_not_there_as_0() -> None:
    assert distinct(["a", "b", "c"]) == pytest.approx(1.0, abs=1e-5)
    assert distinct(["a"]) == pytest.approx(1 / 3, abs=1e-5)
    assert distinct(["a", "a"], 1) == pytest.approx(0.5, abs=1e-5)
    assert distinct([]) == 0.0


def test_chinese_rouge_fails_on_an_empty_text() -> None:
    same = rouge_chinese(["a", "b"], ["a", "b"])
    assert all(value == pytest.approx(1.0, abs=1e-7) for value in same.values())
    assert rouge_chinese(["a", "b"], ["b", "a"])["rouge2"] == 0.0
    with pytest.raises(ValueError, match="Hypothesis is empty"):
        rouge_chinese([], ["a"])
    with pytest.raises(ValueError, match="Reference is empty"):
        rouge_chinese(["a"], [])
