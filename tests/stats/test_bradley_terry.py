"""Bradley-Terry: values of a reference implementation, and what must not change a number."""

import random
from math import exp

import pytest

from proctor.stats.bradley_terry import Game, Strength, strengths

NAMES = ["a", "b", "c", "d"]
# Wins of the row over the column; ties are listed as well. The values were found with evalica 0.4.2
# (tolerance 1e-14), as logarithms with mean 0.
WINS = {("a", "b"): 7, ("b", "a"): 3, ("a", "c"): 5, ("c", "a"): 4, ("b", "c"): 6, ("c", "b"): 6,
        ("c", "d"): 9, ("d", "c"): 2, ("d", "a"): 1, ("a", "d"): 8}  # fmt: skip
TIES = {("a", "b"): 2, ("b", "c"): 3, ("b", "d"): 4}
EVALICA = [0.6953094687, 0.0120984059, 0.2633397826, -0.9707476573]


def table() -> list[Game]:
    games = [
        Game(one, two, 1.0, f"{one}{two}{n}") for (one, two), k in WINS.items() for n in range(k)
    ]
    games += [Game(*pair, 0.5, f"{pair}{n}") for pair, k in TIES.items() for n in range(k)]
    return games


def numbers(found: list[Strength]) -> list[tuple[float, float, float]]:
    return [(one.value, one.low, one.high) for one in found]


def test_equal_to_a_reference_implementation_without_a_prior() -> None:
    found = strengths(table(), NAMES, prior=1e-9, resamples=0)
    assert [one.value for one in found] == pytest.approx(EVALICA, abs=1e-7)
    assert all(one.low == one.value == one.high for one in found)


def test_the_prior_draws_a_little_towards_the_middle() -> None:
    found = [one.value for one in strengths(table(), NAMES, resamples=0)]
    assert found == pytest.approx(EVALICA, abs=0.02)
    assert all(abs(ours) < abs(theirs) for ours, theirs in zip(found, EVALICA, strict=True))
    assert sum(found) == pytest.approx(0, abs=1e-9)


def test_neither_the_order_of_games_nor_sides_nor_names_matters() -> None:
    wanted = strengths(table(), NAMES, resamples=50)
    mixed = table()
    random.Random(4).shuffle(mixed)
    turned = [Game(g.second, g.first, 1 - g.result, g.cluster) for g in mixed[:20]] + mixed[20:]
    assert numbers(strengths(turned, NAMES, resamples=50)) == numbers(wanted)
    other = strengths(table(), NAMES[::-1], resamples=50)
    assert numbers(other) == numbers(wanted)[::-1]
    assert [one.name for one in other] == NAMES[::-1]


def test_the_seed_moves_the_interval_and_nothing_else() -> None:
    one, two = (strengths(table(), NAMES, resamples=50, seed=seed) for seed in (1, 2))
    assert [s.value for s in one] == [s.value for s in two]
    assert numbers(one) != numbers(two)


def test_who_won_everything_is_strong_but_not_without_bounds_or_doubt() -> None:
    games = [Game("a", "b", 1.0, n) for n in range(10)]
    a, b, c = strengths(games, ["a", "b", "c"])
    assert 2 < a.value < 4
    assert (b.value, c.value) == pytest.approx((-a.value, 0), abs=1e-9)
    assert a.low < a.value - 1


def test_equals_are_equal_and_nobody_is_nobody() -> None:
    games = [Game("a", "b", 0.5, n) for n in range(5)]
    assert [one.value for one in strengths(games, ["a", "b"])] == pytest.approx([0, 0])
    assert [one.value for one in strengths([], ["a", "b"])] == [0, 0]


def test_games_of_one_cluster_are_drawn_together() -> None:
    apart = [Game("a", "b", float(n % 3 > 0), n) for n in range(60)]
    together = [Game("a", "b", float(n % 3 > 0), n % 3) for n in range(60)]
    wide, narrow = strengths(together, ["a", "b"])[0], strengths(apart, ["a", "b"])[0]
    assert wide.value == narrow.value
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    draw, held = random.Random(8), 0
    truth = 0.8
    for _ in range(60):
        games = [Game("a", "b", float(draw.random() < 1 / (1 + exp(-truth))), n) for n in range(60)]
        found = strengths(games, ["a", "b"], resamples=200)[0]
        held += found.low <= truth / 2 <= found.high
    assert 50 <= held <= 60


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="above 0"):
        strengths([], ["a"], prior=0)
    with pytest.raises(ValueError, match="itself"):
        strengths([Game("a", "a", 1.0)], ["a"])
    with pytest.raises(KeyError):
        strengths([Game("a", "z", 1.0)], ["a"])
