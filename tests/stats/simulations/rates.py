"""Simulated coverage of intervals of rates: how often they hold the true rate, how wide they are.

``PYTHONPATH=tests python -m stats.simulations.rates`` prints the tables of docs/statistics.md.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from proctor.stats.intervals import SHARE, RatioSums, t_quantile
from stats.simulations.shapes import (
    CLUSTER_SIZES,
    CLUSTERS,
    REPEATED,
    SHAPES,
    SIZES,
    Numbers,
    Samples,
    Shape,
)

_CELLS = 4_000_000
ALL: Mapping[str, Shape] = {**SHAPES, **CLUSTERS, **REPEATED}


class Coverage(NamedTuple):
    """What one way to make intervals came to in one cell."""

    held: float
    """The share of samples whose interval holds the true rate."""
    width: float


def sums_of(samples: Samples) -> Iterator[RatioSums]:
    """Yield the sums of each sample, as if its cases had been added one by one."""
    w, v = samples.weights, samples.scores * samples.weights
    n = w.shape[1]
    mean_v, mean_w = v.mean(axis=1), w.mean(axis=1)
    off_v, off_w = v - mean_v[:, None], w - mean_w[:, None]
    ratios = samples.scores
    columns: tuple[Numbers, ...] = (
        v.sum(axis=1), w.sum(axis=1), ratios.min(axis=1), ratios.max(axis=1), mean_v, mean_w,
        (off_v**2).sum(axis=1), (off_v * off_w).sum(axis=1), (off_w**2).sum(axis=1),
        w.max(axis=1),
    )  # fmt: skip
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield RatioSums(n, *row)


def plain_t(samples: Samples) -> tuple[Numbers, Numbers]:
    """Return the ends of Student's interval without any added case, cut to [0, 1]."""
    w, x = samples.weights, samples.scores
    n = w.shape[1]
    rate = (w * x).sum(axis=1) / w.sum(axis=1)
    squares = ((w * (x - rate[:, None])) ** 2).sum(axis=1)
    half = t_quantile(0.975, n - 1) * np.sqrt(n / (n - 1) * squares) / w.sum(axis=1)
    return np.clip(rate - half, 0, 1), np.clip(rate + half, 0, 1)


def coverage(shape: str, n: int, draws: int, seed: int = 1) -> tuple[Coverage, Coverage]:
    """Return what the bounded interval and the plain t interval come to on samples of a shape."""
    random = np.random.default_rng([seed, n, *shape.encode()])
    step = max(1, _CELLS // n)
    held, widths = np.zeros(2), np.zeros(2)
    for start in range(0, draws, step):
        samples = ALL[shape](random, (min(step, draws - start), n))
        bounded = np.array([sums.interval(SHARE) for sums in sums_of(samples)])
        for place, (low, high) in enumerate((bounded.T, plain_t(samples))):
            inside = (low <= samples.true + 1e-12) & (samples.true <= high + 1e-12)
            held[place] += inside.sum()
            widths[place] += (high - low).sum()
    both = [Coverage(float(h), float(w)) for h, w in zip(held / draws, widths / draws, strict=True)]
    return both[0], both[1]


def table(
    title: str, shapes: Mapping[str, Shape], sizes: Sequence[int], draws: int
) -> Iterator[str]:
    """Yield the lines of a table in docs/statistics.md."""
    yield f"| {title} | " + " | ".join(f"n = {n}" for n in sizes) + " | width at 20 |"
    yield "| --- |" + " ---: |" * (len(sizes) + 1)
    for shape in shapes:
        cells = [coverage(shape, n, draws) for n in sizes]
        shown = [f"{t.held * 100:.0f} → {own.held * 100:.1f}" for own, t in cells]
        own, t = cells[sizes.index(20)]
        yield f"| {shape} | {' | '.join(shown)} | {t.width:.2f} → {own.width:.2f} |"


if __name__ == "__main__":
    wanted = {"rates": SHAPES, "clusters": CLUSTERS, "repeated": REPEATED}
    for name in sys.argv[1:] or wanted:
        at = CLUSTER_SIZES if name == "clusters" else SIZES
        for line in table(name.capitalize(), wanted[name], at, 20_000):
            print(line, flush=True)
        print()
