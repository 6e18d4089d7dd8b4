"""The Beta distribution against closed forms, published tables and its own inverse."""

import pytest

from proctor.stats.beta import beta_cdf, beta_quantile


@pytest.mark.parametrize("p", [0.001, 0.025, 0.3, 0.5, 0.975, 0.9999])
def test_closed_forms(p: float) -> None:
    assert beta_quantile(p, 1, 1) == pytest.approx(p)
    assert beta_quantile(p, 1, 7) == pytest.approx(1 - (1 - p) ** (1 / 7))
    assert beta_quantile(p, 9, 1) == pytest.approx(p ** (1 / 9))


# Quantiles that scipy 1.17 gives.
@pytest.mark.parametrize(
    ("p", "a", "b", "expected"),
    [
        (0.025, 5, 3, 0.2904209),
        (0.975, 0.5, 0.5, 0.9984581),
        (0.025, 50, 400, 0.0837905),
        (0.975, 0.01, 1e9, 4.7138e-11),
        (0.975, 7, 1e12, 1.305947e-11),
        (0.025, 1e6, 1e6, 0.4993071),
        (0.999, 2001, 5e4, 0.04113723),
    ],
)
def test_quantiles(p: float, a: float, b: float, expected: float) -> None:
    assert beta_quantile(p, a, b) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("a", [0.05, 0.7, 3.0, 60.0, 1990.0, 2010.0, 1e5])
@pytest.mark.parametrize("b", [0.05, 0.7, 3.0, 60.0, 1990.0, 2010.0, 1e5])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.975])
def test_quantile_and_distribution_are_inverse(a: float, b: float, p: float) -> None:
    x = beta_quantile(p, a, b)
    if 1e-12 < x < 1 - 1e-12:
        assert beta_cdf(x, a, b) == pytest.approx(p, abs=2e-6)
    assert beta_quantile(1 - p, b, a) == pytest.approx(1 - x, abs=1e-9)


def test_outside_of_the_distribution() -> None:
    assert (beta_cdf(-1, 2, 2), beta_cdf(2, 2, 2)) == (0.0, 1.0)
    for p, a, b in ((0.0, 1, 1), (1.0, 1, 1), (0.5, 0, 1), (0.5, 1, -1), (0.5, float("nan"), 1)):
        with pytest.raises(ValueError, match="quantile"):
            beta_quantile(p, a, b)
