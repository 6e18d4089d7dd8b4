"""The normal distribution: its quantiles, without loading all of ``statistics``."""

try:  # which ``statistics`` gives as its own; it alone does without fractions and decimals
    from _statistics import _normal_dist_inv_cdf  # type: ignore[import-not-found]
except ImportError:
    from statistics import _normal_dist_inv_cdf  # type: ignore[attr-defined]


def normal_quantile(p: float) -> float:
    """Return the number below which the part p of the standard normal distribution lies."""
    if not 0 < p < 1:
        raise ValueError("a quantile needs 0 < p < 1")
    quantile: float = _normal_dist_inv_cdf(p, 0.0, 1.0)
    return quantile
