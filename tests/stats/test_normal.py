"""Quantiles of the normal distribution: those of the standard library, to the last bit."""

from statistics import NormalDist

import pytest

from proctor.stats.normal import normal_quantile


@pytest.mark.parametrize("p", [1e-300, 1e-9, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 1 - 1e-12])
def test_a_quantile_is_that_of_the_standard_library(p: float) -> None:
    assert normal_quantile(p) == NormalDist().inv_cdf(p)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.1, float("nan")])
def test_there_is_no_quantile_beyond_the_ends(p: float) -> None:
    with pytest.raises(ValueError, match="0 < p < 1"):
        normal_quantile(p)
