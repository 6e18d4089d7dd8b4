"""Corrected scores, kappa, alpha and the list of suspicious cases keep their promises."""

import numpy as np
import pytest

from proctor.stats.prediction_powered import corrected
from stats.simulations.judges import (
    ABLE,
    AUDITED,
    AUDITS,
    CASES,
    GRADED,
    GRADED_LABELS,
    JUDGES,
    LABELS,
    RATERS,
    TAKERS,
    agreement_coverage,
    audit_coverage,
    biased_judges,
    corrected_coverage,
    corrected_ends,
    graded_coverage,
    wrong_keys_found,
)

NOISE = 0.004
"""How far the share of so many draws may be off."""


def test_at_a_first_look() -> None:
    assert corrected_coverage(JUDGES["20 points kind, 50 % right"], 20, 4_000).held >= 0.94
    assert agreement_coverage("95 % right, judges err in 5 %", 12, 5, 60).held >= 0.9
    assert wrong_keys_found("strong (1 to 2.5)", words=True, seed=1, cases=100, wrong=3) >= 2


@pytest.mark.parametrize("labels", [2, 10, 30])
def test_many_corrected_scores_at_once_are_those_of_the_code(labels: int) -> None:
    draw = np.random.default_rng(labels)
    kinds = draw.multinomial(labels, [0.4, 0.2, 0.1, 0.3], 30)
    kinds[0], kinds[1] = [labels, 0, 0, 0], [0, 0, 0, labels]
    passed = draw.integers(0, 90, 30)
    marks = [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]
    low, high = corrected_ends(kinds.astype(float), passed.astype(float), 90)
    for place, (kind, right) in enumerate(zip(kinds.tolist(), passed.tolist(), strict=True)):
        pairs = [mark for mark, number in zip(marks, kind, strict=True) for _ in range(number)]
        found = corrected(pairs, [1.0] * right + [0.0] * (90 - right)).interval
        assert found == pytest.approx((low[place], high[place]), abs=1e-9)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("judge", [name for name in JUDGES if "points" in name])
def test_corrected_scores_of_biased_judges_hold_as_often_as_they_say(
    judge: str, labels: int
) -> None:
    found = corrected_coverage(JUDGES[judge], labels, 20_000).held
    assert found >= 0.93 - NOISE
    assert found <= 0.98 + NOISE or labels == 10


@pytest.mark.slow
@pytest.mark.parametrize("cases", [300, 500, 2_000])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("points", [5, 10, 15, 20])
def test_corrected_scores_hold_whatever_the_bias(points: int, labels: int, cases: int) -> None:
    for name, judge in biased_judges(points).items():
        held = corrected_coverage(judge, labels, 20_000, cases=cases).held
        assert held >= 0.93 - NOISE, name
        # Errors in a tenth of 20 cases are none, one or two: see docs/statistics.md.
        if labels >= (50 if points == 5 else 30):
            assert held <= 0.98 + NOISE, name


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("judge", ["fair, 70 % right", "perfect, 90 % right"])
def test_corrected_scores_of_judges_without_bias_hold(judge: str, labels: int) -> None:
    found = corrected_coverage(JUDGES[judge], labels, 20_000).held
    assert found >= 0.93 - NOISE
    if labels >= 50 and judge.startswith("fair"):
        assert found <= 0.98 + NOISE


@pytest.mark.slow
@pytest.mark.parametrize("labels", GRADED_LABELS)
@pytest.mark.parametrize("judge", GRADED)
def test_corrected_scores_of_graded_marks_hold(judge: str, labels: int) -> None:
    assert graded_coverage(judge, labels, 500).held >= 0.95 - 0.03


@pytest.mark.slow
@pytest.mark.parametrize("asked", AUDITED)
@pytest.mark.parametrize("audit", AUDITS)
def test_intervals_of_audits_hold(audit: str, asked: int) -> None:
    assert min(audit_coverage(audit, asked, 500)) >= 0.93


@pytest.mark.slow("full")
@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("attempts", [1, 5])
@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("raters", RATERS)
def test_agreement_holds(raters: str, cases: int, attempts: int, alpha: bool) -> None:
    draws = 1000 if cases <= 50 else 400
    assert agreement_coverage(raters, cases, attempts, draws, alpha=alpha).held >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("takers", ABLE)
def test_wrong_keys_are_among_the_first(takers: str) -> None:
    found = [wrong_keys_found(takers, words=True, seed=seed) for seed in range(10)]
    assert sum(one >= 7 for one in found) >= 9, found


@pytest.mark.slow
@pytest.mark.parametrize("choices", [4, 10])
@pytest.mark.parametrize("takers", [name for name in TAKERS if name not in ABLE])
def test_the_list_is_as_good_as_if_everything_were_known(takers: str, choices: int) -> None:
    """Weak candidates leave less to be seen: what there is to be seen is."""
    fitted, known = (
        sum(
            wrong_keys_found(takers, words=True, seed=seed, choices=choices, known=known)
            for seed in range(6)
        )
        for known in (False, True)
    )
    assert fitted >= known - 5, (fitted, known)
