"""Abilities from scores, keys that may be wrong, and what discriminates."""

import random
from math import exp

import pytest

from proctor.stats.items import (
    PRIOR_ODDS,
    Abilities,
    AnswerHabits,
    answer_habits,
    discrimination,
    fit_abilities,
    wrong_key_odds,
)

SIX = Abilities(abilities=(-1.0, -0.5, 0.0, 0.5, 1.0, 1.5), spread=1.0)
ALIKE = AnswerHabits(right=0.95, wrong=0.1)


def test_abilities_are_found_again() -> None:
    draw = random.Random(1)
    truth = [-1.0, 0.0, 0.5, 2.0]
    items = []
    for _ in range(2000):
        level = draw.gauss(0, 1.2)
        items.append([float(draw.random() < 1 / (1 + exp(level - one))) for one in truth])
    found = fit_abilities(items)
    assert found.abilities == pytest.approx(truth, abs=0.25)
    assert found.spread == pytest.approx(1.2, abs=0.25)
    assert fit_abilities([]).abilities == ()


def test_missing_scores_say_nothing() -> None:
    items = [[1.0, None, 0.0], [None, 1.0, 0.0], [1.0, 1.0, None]] * 20
    found = fit_abilities(items)
    assert found.abilities[0] == pytest.approx(found.abilities[1], abs=0.01)
    assert found.abilities[2] < found.abilities[0] - 2


def test_the_strong_failing_is_suspicious_and_the_weak_failing_is_not() -> None:
    inverted, usual = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert wrong_key_odds(SIX, inverted) > PRIOR_ODDS > wrong_key_odds(SIX, usual)
    nobody = wrong_key_odds(SIX, [0.0] * 6)
    strong = Abilities(abilities=(2.0,) * 6, spread=0.5)
    assert wrong_key_odds(strong, [0.0] * 6) > nobody
    assert wrong_key_odds(SIX, [1.0, None, None, None, None, 0.0]) == PRIOR_ODDS
    assert wrong_key_odds(SIX, [0.5] * 6) < PRIOR_ODDS


def test_those_who_fail_with_one_voice_are_right() -> None:
    one_voice = ["b", "b", "b", "b", "b", "b"]
    many = ["c", "d", "e", "f", "g", "h"]
    nobody = [0.0] * 6
    assert wrong_key_odds(SIX, nobody, one_voice, ALIKE) > wrong_key_odds(SIX, nobody) + 2
    assert wrong_key_odds(SIX, nobody, many, ALIKE) < wrong_key_odds(SIX, nobody)
    unlike = AnswerHabits(right=0.2, wrong=0.1)
    assert wrong_key_odds(SIX, nobody, one_voice, unlike) == wrong_key_odds(SIX, nobody)
    unknown = wrong_key_odds(SIX, nobody, [None] * 6, ALIKE)
    assert unknown < PRIOR_ODDS


def test_habits_are_counted() -> None:
    items = [([1.0, 1.0, 0.0, 0.0], ["a", "a", "x", "y"])] * 30
    found = answer_habits(items)
    assert found.comparable
    assert found.right > 0.95
    assert found.wrong < 0.1
    assert not answer_habits([([1.0, 1.0], ["my own words", "mine"])] * 30).comparable
    assert not answer_habits([]).comparable


@pytest.mark.parametrize(
    ("scores", "rests", "value"),
    [
        ([0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.8, 0.9], 0.99),
        ([1.0, 1.0, 0.0, 0.0], [0.1, 0.2, 0.8, 0.9], -0.99),
        ([1.0, 1.0, 1.0, 1.0], [0.1, 0.2, 0.8, 0.9], None),
        ([1.0, None, None, 0.0], [0.1, 0.2, 0.8, 0.9], None),
        ([1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 0.5], None),
    ],
)
def test_discrimination(
    scores: list[float | None], rests: list[float], value: float | None
) -> None:
    found = discrimination(scores, rests)
    if value is None:
        assert (found.value, found.interval, found.shrunk) == (None, None, None)
        return
    assert found.value == pytest.approx(value, abs=0.02)
    assert found.interval is not None
    assert found.shrunk is not None
    assert found.interval[0] < found.value < found.interval[1]
    assert abs(found.shrunk) < abs(found.value)


def test_three_takers_have_no_interval() -> None:
    found = discrimination([0.0, 1.0, 1.0], [0.1, 0.5, 0.9])
    assert found.value is not None
    assert (found.interval, found.shrunk) == (None, None)
