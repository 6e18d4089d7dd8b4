"""Verdicts as the original reads them: words for truth, and no second try without one."""

from typing import Any

import pytest

from proctor.origins.askbench.scorers import Unusable, read_met, read_result


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ('"correct"', "correct"),
        ('" Right "', "correct"),
        ('"YES"', "correct"),
        ("true", "correct"),
        ('"incorrect"', "incorrect"),
        ('"no"', "incorrect"),
        ("false", "incorrect"),
    ],
)
def test_a_result_may_be_a_word_or_a_truth(value: str, result: str) -> None:
    verdict = read_result(f'```json\n{{"result": {value}, "reason": null}}\n```')
    assert (verdict.result, verdict.reason) == (result, "")


@pytest.mark.parametrize(
    ("value", "met"), [("true", True), ('"1"', True), ('"N"', False), ('"false"', False)]
)
def test_a_rubric_item_is_met_or_not(value: str, met: bool) -> None:
    verdict = read_met(f'{{"criteria_met": {value}, "explanation": 5}}')
    assert (verdict.criteria_met, verdict.explanation) == (met, "5")


@pytest.mark.parametrize("read", [read_result, read_met])
@pytest.mark.parametrize("text", ['{"result": 1, "criteria_met": 1}', '{"other": true}', "[1]"])
def test_json_without_a_usable_value_is_final(read: Any, text: str) -> None:
    with pytest.raises(Unusable) as caught:
        read(text)
    assert caught.value.final


@pytest.mark.parametrize("read", [read_result, read_met])
def test_what_is_no_json_may_be_asked_for_again(read: Any) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read("correct")
    assert not isinstance(caught.value, Unusable)
