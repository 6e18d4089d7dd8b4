"""Evidence at any time: closed forms, both ends of the unscored, errors at every look."""

from math import comb, pi

import numpy as np
import pytest

from proctor.stats.sequential import (
    BettingEvidence,
    SequentialComparison,
    SequentialRate,
    ValueRange,
    confidence_sequence,
)


def mean_capital(better: int, worse: int) -> float:
    """Integrate over all stakes: a quarter by the arcsine law, three quarters by Beta(3, 2)."""
    turn = (np.arange(100_000) + 0.5) / 100_000
    flat, bold = np.cos(turn * pi / 2), turn
    capital = [(1 + stake) ** better * (1 - stake) ** worse for stake in (flat, bold)]
    return float(0.25 * capital[0].mean() + 0.75 * (capital[1] * 12 * bold**2 * (1 - bold)).mean())


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (8, 2), (30, 12), (2, 9)])
def test_with_rights_and_wrongs_it_is_the_mean_over_all_stakes(better: int, worse: int) -> None:
    for side in (1, -1):
        evidence = BettingEvidence(0.0, side)
        for change in [1.0] * better + [-1.0] * worse + [0.0] * 20:
            evidence.add(side * change)
        assert evidence.capital == pytest.approx(mean_capital(better, worse), rel=0.02)


def test_a_stake_on_a_true_claim_keeps_its_mean() -> None:
    """After 12 cases of right and wrong that are as often better as worse, all paths added up."""
    mean = 0.0
    for better in range(13):
        evidence = BettingEvidence(0.0, 1)
        for change in [1.0] * better + [-1.0] * (12 - better):
            evidence.add(change)
        mean += comb(12, better) / 2**12 * evidence.capital
    assert mean == pytest.approx(1.0)


def test_the_order_of_cases_does_not_matter_for_the_last_look() -> None:
    changes = [0.3, -0.2, 0.9, 0.0, 1.0, -0.7]
    capitals = []
    for order in (changes, changes[::-1]):
        evidence = BettingEvidence(-0.02, 1)
        for change in order:
            evidence.add(change, 0.5)
        capitals.append(evidence.capital)
    assert capitals[0] == pytest.approx(capitals[1])


def test_a_look_that_decided_stays() -> None:
    found = SequentialComparison()
    for change in [1.0] * 10 + [-1.0] * 10:
        found.add(change, change)
    look = found.look()
    assert (look.decision, look.cases) == ("better", 7)
    assert look.odds >= 20
    last = found.last()
    assert (last.decision, last.cases) == (None, 20)
    assert last.odds < 1
    assert found.interval() is not None


def test_the_unscored_count_for_the_other_side() -> None:
    found = SequentialComparison()
    for _ in range(30):
        found.add(-1.0, 1.0)
    assert found.look().decision is None
    rate = SequentialRate(0.5)
    for _ in range(30):
        rate.add(0.0, 1.0)
    assert rate.decided is None


@pytest.mark.parametrize(
    ("changes", "decision"),
    [([0.0] * 400, "equal"), ([0.0] * 100, None), ([1.0] * 40, "better"), ([-1.0] * 40, "worse")],
)
def test_decisions_with_a_margin(changes: list[float], decision: str | None) -> None:
    found = SequentialComparison(margin=0.02)
    for change in changes:
        found.add(change, change)
    assert found.look().decision == decision


def test_later_cases_answer_more() -> None:
    found = SequentialComparison(margin=0.05)
    answers = {}
    for change in [0.0] * 150 + [1.0] * 40:
        found.add(change, change)
        if (look := found.decided) is not None:
            answers.setdefault(look.decision, look)
    assert list(answers) == ["equal", "better"]
    assert answers["equal"].cases < 150 < answers["better"].cases < 190
    assert all(look.odds >= 20 for look in answers.values())
    assert found.look() == answers["better"]
    low, _ = found.interval() or (0.0, 0.0)
    assert low > 0


def test_what_is_worse_may_turn_out_to_be_worse_by_less_than_the_margin() -> None:
    found = SequentialComparison(margin=0.3)
    answers = []
    for place in range(300):
        change = -1.0 if place < 12 or place % 20 == 0 else 0.0
        found.add(change, change)
        answers.append(found.look().decision)
    assert list(dict.fromkeys(answers)) == [None, "worse", "equal"]


def test_more_rows_take_more_evidence() -> None:
    one, three = SequentialComparison(), SequentialComparison(sure=60.0)
    for _ in range(40):
        one.add(1.0, 1.0)
        three.add(1.0, 1.0)
    assert one.look().cases < three.look().cases


@pytest.mark.parametrize(("rate", "decided"), [(0.95, True), (0.6, False)])
def test_a_rate_is_decided_either_way(rate: float, decided: bool) -> None:
    random = np.random.default_rng(5)
    found = SequentialRate(0.8)
    for right in random.random(300) < rate:
        found.add(float(right), float(right))
    assert found.decided is decided
    assert found.decided_after is not None
    assert found.decided_after < 200
    low, high = found.interval() or (9.0, 9.0)
    assert low < rate < high
    assert (low > 0.8) if decided else (high < 0.8)


def test_the_confidence_sequence_keeps_to_its_ends() -> None:
    assert confidence_sequence([]) is None
    assert confidence_sequence([(1.0, 1.0, 1.0)]) == pytest.approx((0.0, 1.0), abs=0.03)
    low, high = confidence_sequence([(1.0, 1.0, 1.0)] * 200) or (9.0, 9.0)
    assert 0.9 < low < 1.0 == high
    low, high = confidence_sequence([(-1.5, -1.5, 1.0)] * 50, ValueRange(-2, 2)) or (9.0, 9.0)
    assert -2 < low < -1.5 < high < -0.5


@pytest.mark.slow
def test_looking_at_every_case_seldom_errs() -> None:
    """The whole of it, at many sizes and shapes, is in the simulations."""
    random = np.random.default_rng(11)
    wrong = 0
    for _ in range(60):
        found = SequentialComparison()
        for change in np.where(random.random(150) < 0.9, 0.1, -0.9):
            found.add(change, change)
        wrong += found.decided is not None
    assert wrong <= 6
