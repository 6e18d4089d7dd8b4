"""Rulings by number: complete ones are read, several become one, and ties are seen."""

import re
from typing import Any

import pytest

from proctor.judging.folding import divided, fold
from proctor.judging.parsing import UnreadableReply, read, shape_of
from proctor.judging.prompts import load
from proctor.scorers.judged.numbered_rulings import ListedClaims, rulings_on

CHOICES = ("supported", "contradicted", "not said")
TWO = rulings_on(2, CHOICES, passages=True)


def verdict(*results: str) -> Any:
    return TWO(
        rulings=[
            {"number": number, "result": result, "reason": f"{result} {number}", "passages": [number]}
            for number, result in enumerate(results, 1)
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"rulings": [{"number": 1, "result": "supported"}]}', "for each number from 1 to 2 is wanted here, not for 1"),
        ('{"rulings": []}', "not for none"),
        ('{"rulings": [{"number": 1, "result": "supported"}, {"number": 1, "result": "supported"}]}', "not for 1, 1"),
        ('{"rulings": [{"number": 1, "result": "supported"}, {"number": 3, "result": "supported"}]}', "not for 1, 3"),
        ('{"rulings": [{"number": 1, "result": "yes"}, {"number": 2, "result": "supported"}]}', "rulings.0.result"),
        ('{"rulings": [{"number": "1", "result": "supported"}, {"number": 2, "result": "supported"}]}', "whole number"),
        ('{"verdicts": []}', "'rulings' is missing"),
        ("supported, supported", "no JSON object"),
    ],
)  # fmt: skip
def test_a_reply_without_one_ruling_for_each_number_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnreadableReply, match=problem):
        read(text, TWO)


def test_a_reply_may_have_any_order_and_no_passages() -> None:
    text = (
        'Reasoning: so.\n```json\n{"rulings": [{"number": 2, "reason": "r", "result": "not said",'
        ' "passages": []}, {"number": 1, "result": "supported"}]}\n```'
    )
    ruled, rung = read(text, TWO)
    assert [(one.number, one.result) for one in ruled.in_order] == [
        (1, "supported"),
        (2, "not said"),
    ]
    assert rung == "fence"
    schema = shape_of(TWO).schema
    assert schema["$defs"]["Ruling"]["properties"]["result"]["enum"] == list(CHOICES)


@pytest.mark.parametrize(
    ("verdicts", "expected", "tied"),
    [
        ([("supported", "not said")] * 2, ("supported", "not said"), set()),
        ([("supported", "supported"), ("supported", "not said"), ("not said", "not said")], ("supported", "not said"), set()),
        ([("supported", "supported"), ("not said", "supported")], ("not said", "supported"), {1}),
        ([("supported", "contradicted"), ("contradicted", "not said")], ("contradicted", "not said"), {1, 2}),
    ],
)  # fmt: skip
def test_most_verdicts_decide_and_a_tie_says_the_least(
    verdicts: Any, expected: Any, tied: set[int]
) -> None:
    given = [verdict(*results) for results in verdicts]
    folded = fold(given)
    assert tuple(one.result for one in folded.in_order) == expected
    assert folded.in_order[0].reason == f"{expected[0]} 1"
    assert TWO.divided_numbers(given) == tied
    assert divided(given) is bool(tied)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_example_in_the_prompt_is_no_list_of_claims(language: str) -> None:
    shown = re.search(r'\{"claims": .*\}', load("rag_claims", language).text)
    assert shown is not None
    with pytest.raises(UnreadableReply, match="the words of the example"):
        read(shown[0], ListedClaims)


@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        ([("a",), ("b", "c"), ("d", "e", "f")], ("b", "c")),
        ([("a", "b"), ("c",)], ("c",)),
        ([("a",)], ("a",)),
    ],
)
def test_of_several_lists_of_claims_the_middle_one_is_taken_whole(lists: Any, chosen: Any) -> None:
    verdicts = [ListedClaims(claims=claims) for claims in lists]
    assert fold(verdicts).claims == chosen
    assert not divided(verdicts)
