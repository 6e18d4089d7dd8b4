"""Simulated second runs: how often they decide a gate otherwise, beside how often that was said.

``PYTHONPATH=tests python -m stats.simulations.gates`` prints the table of docs/statistics.md.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.core.expression import Expression
from proctor.engine.run.gates import luck_of
from proctor.stats.intervals import RatioSums

THRESHOLD = 0.8
SIZES = (10, 20, 50, 200, 1000)
EDGES = (0.005, 0.03, 0.08, 0.15, 0.25, 0.35, 0.5)
"""Between which chances a gate is said to be decided by luck; more than the last is never said."""


class Luck(NamedTuple):
    """What was said of some gates, and what came of them in a second run."""

    said: float
    otherwise: float
    pairs: int


def said(n: int) -> NDArray[np.float64]:
    """Return what is said beside the gate for each number of right answers among n."""
    gate = Expression(f"rate >= {THRESHOLD}")
    found = []
    for right in range(n + 1):
        sums = RatioSums.of([(1.0, 1.0)] * right + [(0.0, 1.0)] * (n - right))
        low, high = sums.interval() or (0.0, 1.0)
        luck = luck_of(gate, {"rate": {"value": right / n, "low": low, "high": high}})
        found.append(0.0 if luck is None else luck)
    return np.array(found)


def beside_second_runs(n: int, pairs: int) -> list[Luck]:
    """Draw pairs of runs on n cases with true rates from 40 to 100 %, and sort them by what is said."""
    random = np.random.default_rng([n, pairs])
    true = random.uniform(0.4, 1.0, pairs)
    first, second = (random.binomial(n, true) for _ in range(2))
    told = said(n)[first]
    least = THRESHOLD * n - 1e-9
    otherwise = (first >= least) != (second >= least)
    found = []
    for low, high in pairwise(EDGES):
        here = (told >= low) & (told < high)
        share = float(otherwise[here].mean()) if here.any() else 0.0
        mean = float(told[here].mean()) if here.any() else 0.0
        found.append(Luck(mean, share, int(here.sum())))
    return found


def table(pairs: int = 400_000) -> Iterator[str]:
    """Yield the lines of the table."""
    spans = [f"{100 * low:g} to {100 * high:g}" for low, high in pairwise(EDGES)]
    yield f"| Said, in % | {' | '.join(spans)} |"
    yield "|---|" + "---|" * len(spans)
    for n in SIZES:
        cells = [
            f"{100 * one.said:.0f} → {100 * one.otherwise:.0f}" if one.pairs else "–"
            for one in beside_second_runs(n, pairs)
        ]
        yield f"| n = {n:,} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
