"""Metrics of pairs as the original computes them, in English: each by its own formula."""

import pytest

from proctor.origins.colossal.overlap import ColossalPairs, ColossalText


def pairs(*texts: tuple[str, str]) -> ColossalPairs:
    made = [
        (ColossalText(answer, "en"), ColossalText(reference, "en")) for answer, reference in texts
    ]
    return ColossalPairs(made, 4)


def test_texts_are_prepared_before_they_are_cut() -> None:
    text = ColossalText("Well-known: FACT", "en")
    assert (text.tokens, text.characters) == (["wellknown", "fact"], "wellknownfact")
    assert text.rouge == ["wellknown", "fact"]


def test_every_pair_has_its_values_in_order() -> None:
    both = pairs(("a b c d", "a b c d"), ("x y", "a b"))
    same, other = both.bleu()
    assert same["bleu4"] == pytest.approx(1.0)
    assert other["bleu1"] == 0.0
    assert [row["recall"] for row in both.prf()] == [1.0, 0.0]
    assert both.rouge()[0]["rougeL"] == pytest.approx(1.0)
    assert both.rouge()[1]["rougeL"] == 0.0
    assert both.distinct()[0]["distinct"] == pytest.approx(1.0, abs=1e-5)
    assert len(both.chrf()) == 2


def test_place_by_place_means_that_order_counts() -> None:
    (turned,) = pairs(("b a", "a b")).prf()
    assert set(turned.values()) == {0.0}
