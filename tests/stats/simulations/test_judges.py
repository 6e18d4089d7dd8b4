"""Corrected scores, kappa, alpha and the list of suspicious cases keep their promises."""

import pytest

from stats.simulations.judges import (
    ABLE,
    CASES,
    JUDGES,
    LABELS,
    RATERS,
    TAKERS,
    agreement_coverage,
    corrected_coverage,
    wrong_keys_found,
)


def test_at_a_first_look() -> None:
    assert corrected_coverage("20 points kind, 50 % right", 20, 60, cases=200).held >= 0.9
    assert agreement_coverage("95 % right, judges err in 5 %", 12, 5, 60).held >= 0.9
    assert wrong_keys_found("strong (1 to 2.5)", words=True, seed=1, cases=100, wrong=3) >= 2


@pytest.mark.slow("full")
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("judge", JUDGES)
def test_corrected_scores_hold(judge: str, labels: int) -> None:
    found = corrected_coverage(judge, labels, 4_000)
    assert found.held >= 0.93 - 0.006
    if labels >= 100:
        assert found.held <= 0.98 + 0.006


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
