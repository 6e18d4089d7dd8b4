"""How answers find their cases by the hashes of their ids."""

import random

import numpy as np
import pytest

from proctor.engine.bulk.inputs import joined_positions
from proctor.io.row_shares import UnreadableShare

CASES = [2**64 - 1, 7, 2**63, 0, 41]


def positions(cases: list[int], answers: list[int]) -> list[int]:
    joined = joined_positions(np.array(cases, dtype="u8"), np.array(answers, dtype="u8"))
    return [int(position) for position in joined]


def test_answers_find_their_cases_in_any_order_and_number() -> None:
    assert positions(CASES, CASES) == [0, 1, 2, 3, 4]
    assert positions(CASES, [0, 41, 7]) == [3, 4, 1]
    draw = random.Random(5)
    cases = list({draw.getrandbits(64) for _ in range(200)})
    answers = draw.choices(cases, k=500)
    assert positions(cases, answers) == [cases.index(answer) for answer in answers]
    assert positions(cases, []) == []


@pytest.mark.parametrize(
    ("cases", "answers"),
    [([4, 9, 4], [4, 9, 4]), (CASES, [7, 8]), (CASES, [1, 2, 3, 4, 5]), ([], [1])],
)
def test_a_case_twice_and_an_answer_to_none_are_unreadable(
    cases: list[int], answers: list[int]
) -> None:
    with pytest.raises(UnreadableShare):
        positions(cases, answers)
