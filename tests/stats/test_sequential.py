"""Evidence at any time: closed forms, both ends of the unscored, errors at every look."""

from math import exp, lgamma, log, pi

import numpy as np
import pytest

from proctor.stats.sequential import (
    BettingEvidence,
    SequentialComparison,
    SequentialRate,
    ValueRange,
    confidence_sequence,
)


def log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (8, 2), (30, 12), (2, 9)])
def test_with_rights_and_wrongs_it_is_the_mixture_over_all_shares(better: int, worse: int) -> None:
    """Both directions together are the Beta(1/2, 1/2) mixture, against shares of one half."""
    sides = [BettingEvidence(0.0, 1), BettingEvidence(0.0, -1)]
    for change in [1.0] * better + [-1.0] * worse + [0.0] * 20:
        for side in sides:
            side.add(change)
    mixture = exp(log_beta(better + 0.5, worse + 0.5) - log(pi) + (better + worse) * log(2))
    assert sum(side.capital for side in sides) / 2 == pytest.approx(mixture, rel=0.02)


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
