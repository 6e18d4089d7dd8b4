"""Flips, shifts and noise of judges, by hand and by simulation."""

import random

import pytest

from proctor.stats.judge_audit import flip_chance, flip_rate, noise_variance, shift


def test_flips_by_hand() -> None:
    found = flip_rate([[[1.0, 1.0, 0.0]], [[1.0, 1.0], [0.0, 1.0]], [[0.5]], []])
    assert found is not None
    assert found.value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found.n == 2
    assert flip_rate([[[1.0]]]) is None
    assert flip_chance(None) is None
    chance = flip_chance(found)
    assert chance is not None
    assert 2 * chance.value * (1 - chance.value) == pytest.approx(min(0.5, found.value))


def test_noise_by_hand() -> None:
    cases = [[(1.0, [1.0, 0.0])], [(0.5, [1.0, 0.0]), (0.5, [1.0, 1.0])], []]
    found = noise_variance(cases)
    assert found is not None
    assert found.value == pytest.approx((0.5 + 0.125 + 0) / 3)
    assert noise_variance([]) is None


def test_rulings_that_agree_do_not_prove_that_there_is_no_noise() -> None:
    one, many = (noise_variance([[(1.0, [1.0, 1.0])]] * number) for number in (1, 300))
    assert one is not None
    assert many is not None
    assert (one.value, one.interval) == (0.0, (0.0, pytest.approx(0.4875)))
    assert many.interval == (0.0, pytest.approx(0.0061, abs=1e-4))
    # Of verdicts half of the pairs that differ is the variance, and the ends are those of flips.
    rulings = [[1.0, 0.0, 1.0]] * 5 + [[1.0, 1.0, 1.0]] * 20
    noise, flips = (
        noise_variance([[(1.0, one)] for one in rulings]),
        flip_rate([one] for one in rulings),
    )
    assert noise is not None
    assert flips is not None
    assert noise.interval is not None
    assert flips.interval is not None
    assert noise.interval == pytest.approx([end / 2 for end in flips.interval])


def test_shifts_by_hand() -> None:
    found = shift([[(1.0, 0.0), (0.0, 0.0)], [(0.0, 0.0)], []])
    assert found is not None
    assert (found.value, found.n) == (0.25, 2)
    assert found.interval is not None
    assert found.interval[0] < 0 < found.interval[1] <= 1
    assert shift([]) is None


@pytest.mark.slow
def test_intervals_hold_what_judges_really_do() -> None:
    """A judge with 10 % flips and 8 points for length, on 60 cases, two hundred times."""
    draw = random.Random(5)
    held = {"flips": 0, "chance": 0, "length": 0}
    for _ in range(200):
        rulings, pairs = [], []
        for _ in range(60):
            own = draw.random() < 0.6

            def ruled(verdict: bool) -> float:
                return float(verdict != (draw.random() < 0.1))

            again = [ruled(own), ruled(own), ruled(own)]
            longer = ruled(own or draw.random() < 0.2)  # 0.4 · 0.2 is 8 points
            rulings.append([again])
            pairs.append([(longer, sum(again) / 3)])
        rate, moved = flip_rate(rulings), shift(pairs)
        chance = flip_chance(rate)
        assert rate is not None
        assert chance is not None
        assert moved is not None
        for name, found, truth in (
            ("flips", rate, 0.18), ("chance", chance, 0.1), ("length", moved, 0.08 * 0.8)
        ):  # fmt: skip
            assert found.interval is not None
            held[name] += found.interval[0] <= truth <= found.interval[1]
    assert min(held.values()) >= 186
