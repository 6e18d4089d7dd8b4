"""Simulated looks at growing samples: how often evidence misleads, and how soon it is enough.

``PYTHONPATH=tests python -m stats.simulations.sequential`` prints the tables of docs/statistics.md.
"""

from collections.abc import Iterator, Mapping
from math import log

import numpy as np
from numpy.typing import NDArray

from proctor.stats.power import pairs_needed
from proctor.stats.sequential import DIFFERENCE, SURE, UNIT, ValueRange, _start

Numbers = NDArray[np.float64]
NEVER = 10**9


def crossings(
    chances: Mapping[float, float], claim: float, side: int, looks: tuple[int, int, int],
    bounds: ValueRange = DIFFERENCE,
) -> Numbers:  # fmt: skip
    """Return after how many cases the evidence is enough, for each sample.

    ``looks`` are how many samples, how many cases at most, and after how many cases one looks.
    """
    draws, most, step = looks
    random = np.random.default_rng([draws, most, step, side + 1])
    values = np.array(list(chances))
    _, shares = _start(claim, side, bounds)
    gains = np.log1p(shares[None, :] * (side * (values - claim))[:, None])
    stopped = np.full(draws, NEVER)
    logs = np.zeros((draws, len(shares)))
    for look in range(step, most + 1, step):
        open_ = stopped == NEVER
        if not open_.any():
            break
        counts = random.multinomial(step, list(chances.values()), size=int(open_.sum()))
        logs[open_] += counts @ gains
        top = logs[open_].max(axis=1)
        capital = top + np.log(np.exp(logs[open_] - top[:, None]).mean(axis=1))
        stopped[np.flatnonzero(open_)[capital >= log(2 * SURE)]] = look
    return stopped


SHAPES: dict[str, dict[float, float]] = {
    "right or wrong, 10 % change": {1.0: 0.05, -1.0: 0.05, 0.0: 0.9},
    "right or wrong, 40 % change": {1.0: 0.2, -1.0: 0.2, 0.0: 0.6},
    "right or wrong, all change": {1.0: 0.5, -1.0: 0.5},
    "+0.1 in 90 %, −0.9 in 10 %": {0.1: 0.9, -0.9: 0.1},
    "+0.05 in 95 %, −0.95 in 5 %": {0.05: 0.95, -0.95: 0.05},
    "+0.01 in 99 %, −0.99 in 1 %": {0.01: 0.99, -0.99: 0.01},
}


def wrong(chances: Mapping[float, float], draws: int, claim: float = 0.0) -> float:
    """Return how often evidence on a claim that is true is ever enough, either way."""
    looks = (draws, 5_000, 10)
    above, below = (crossings(chances, claim, side, looks) for side in (1, -1))
    return float((above < NEVER).mean() + (below < NEVER).mean())


def looked_again(changed: float, looks: tuple[int, int, int], *, any_order: bool = False) -> float:
    """Return how often equal runs are told apart when cases are added between looks.

    Each look sees all cases that there are; ``any_order`` takes them in one random order, in which
    the new ones come in between, and believes the first place where the evidence is enough.
    """
    draws, most, step = looks
    random = np.random.default_rng([draws, most, step])
    capital = _capitals(int(most * changed / 2 + 8 * np.sqrt(most * changed) + 20))
    wrong = 0
    for _ in range(draws):
        half = changed / 2
        changes = random.choice([1, -1, 0], most, p=[half, half, 1 - changed])
        order = random.permutation(most)
        for there in range(step, most + 1, step):
            seen = changes[order[order < there]] if any_order else changes[:there]
            up, down = (np.cumsum(seen == side) for side in (1, -1))
            if not any_order:
                up, down = up[-1:], down[-1:]
            if max(capital[up, down].max(), capital[down, up].max()) >= log(2 * SURE):
                wrong += 1
                break
    return wrong / draws


def _capitals(most: int) -> Numbers:
    """Return the log capital after each number of gains (rows) and losses of full marks."""
    logs, shares = _start(0.0, 1, DIFFERENCE)
    number = np.arange(most)
    rows = []
    for gains in range(most):
        after = logs + gains * np.log1p(shares) + number[:, None] * np.log1p(-shares)
        top = after.max(axis=1)
        rows.append(top + np.log(np.exp(after - top[:, None]).mean(axis=1)))
    return np.array(rows)


def median_cases(down: float, gain: float, draws: int, step: int = 1) -> float:
    """Return the median number of cases until a gain is found, some cases getting worse."""
    chances = {1.0: down + gain, -1.0: down, 0.0: 1 - 2 * down - gain}
    return float(np.median(crossings(chances, 0.0, 1, (draws, 3_000, step))))


def tables(draws: int = 2_000) -> Iterator[str]:
    """Yield the lines of the tables."""
    yield "| Truth: no difference | false verdicts in % |"
    yield "|---|---|"
    for name, chances in SHAPES.items():
        yield f"| {name} | {100 * wrong(chances, draws):.1f} |"
    for changed in (0.1, 0.2, 1.0):
        for any_order in (True, False):
            again = 100 * looked_again(changed, (draws // 2, 1_000, 10), any_order=any_order)
            yield f"| cases added, {changed:.0%} change, any order {any_order} | {again:.1f} |"
    yield ""
    yield "| Get worse | fixed, for +10 | evidence at +15 | share | at +15, looks by 10 | share | at +10 |"
    yield "|---|---|---|---|---|---|---|"
    for down in (0.025, 0.05, 0.075, 0.1, 0.15):
        fixed = pairs_needed(2 * down + 0.1, 0.1) or NEVER
        one, ten = (median_cases(down, 0.15, draws, step) for step in (1, 10))
        small = median_cases(down, 0.1, draws)
        yield (
            f"| {100 * down:g} % | {fixed} | {one:.0f} | {one / fixed:.0%} |"
            f" {ten:.0f} | {ten / fixed:.0%} | {small:.0f} |"
        )
    yield ""
    yield "| True rate | rate >= 0.8: yes | no | median cases |"
    yield "|---|---|---|---|"
    for rate in (0.6, 0.7, 0.8, 0.9, 0.95):
        chances = {1.0: rate, 0.0: 1 - rate}
        looks = (draws, 5_000, 10)
        yes, no = (crossings(chances, 0.8, side, looks, UNIT) for side in (1, -1))
        first = float(np.median(np.minimum(yes, no)))
        shown = "–" if first >= NEVER else f"{first:.0f}"
        said = [100 * float(((mine < NEVER) & (mine < other)).mean())
                for mine, other in ((yes, no), (no, yes))]  # fmt: skip
        yield f"| {rate:.0%} | {said[0]:.1f} | {said[1]:.1f} | {shown} |"


if __name__ == "__main__":
    for line in tables():
        print(line, flush=True)
