"""Simulated verdicts on pairs of runs: how often they are false, and how often a difference is found.

``PYTHONPATH=tests python -m stats.simulations.comparisons`` prints the tables of docs/statistics.md.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from proctor.engine.compare.comparing import adjusted_together
from proctor.engine.compare.results import Contrast, LeftOut
from proctor.engine.compare.verdict import LEVEL, Flips, GroupContrast
from proctor.stats.difference import DifferenceCases, DifferenceEstimate
from proctor.stats.intervals import t_quantile
from proctor.stats.paired import Paired, PairedCases

Numbers = NDArray[np.float64]
_STEP = 5_000
_CHUNK = 250
_FLIPS = 9_999
_ENUMERATED = 16
_FEW_VALUES = 8
Size = int | tuple[int, int]
Draw = Callable[[np.random.Generator, Size], Numbers]


def two_values(up: float, down: float, gain: float = 1.0, loss: float = -1.0) -> Draw:
    """Draw a gain with one chance, a loss with another, else no change."""

    def draw(random: np.random.Generator, n: Size) -> Numbers:
        return random.choice([gain, loss, 0.0], n, p=[up, down, max(0.0, 1 - up - down)])

    return draw


def normal(mean: float, deviation: float) -> Draw:
    """Draw graded differences around a mean."""
    return lambda random, n: np.clip(random.normal(mean, deviation, n), -1, 1)


def laplace(mean: float, scale: float) -> Draw:
    """Draw graded differences of which some are far from the mean."""
    return lambda random, n: np.clip(random.laplace(mean, scale, n), -1, 1)


def undone(gain: float, deviation: float, loss: float = -1.0) -> Draw:
    """Draw gains around a mean, and just as many losses of one size that the mean of all is 0."""
    share = gain / (gain - loss)

    def draw(random: np.random.Generator, n: Size) -> Numbers:
        gains = np.clip(random.normal(gain, deviation, n), -1, 1)
        return np.where(random.random(n) < share, loss, gains)

    return draw


def mixed(least: float, most: float) -> Draw:
    """Draw gains spread evenly, and just as many full losses that the mean of all is 0."""
    mean = (least + most) / 2

    def draw(random: np.random.Generator, n: Size) -> Numbers:
        gains = random.uniform(least, most, n)
        return np.where(random.random(n) < mean / (mean + 1), -1.0, gains)

    return draw


def rounded(mean: float, deviation: float) -> Draw:
    """Draw differences of ratings from 1 to 5, which are quarters of the scale."""
    return lambda random, n: np.clip(np.round(random.normal(mean, deviation, n) * 4) / 4, -1, 1)


def even(least: float, most: float) -> Draw:
    """Draw differences spread evenly."""
    return lambda random, n: random.uniform(least, most, n)


def around(gain: float, spread: float) -> Draw:
    """Draw differences of marks that lie around the difficulty of the case."""

    def draw(random: np.random.Generator, n: Size) -> Numbers:
        level = random.beta(3, 1.5, n)
        first, second = (
            np.clip(level + more + random.normal(0, spread, n), 0, 1) for more in (0.0, gain)
        )
        return second - first

    return draw


def rubrics(first: float, second: float) -> Draw:
    """Draw differences of points out of five."""
    return lambda random, n: (random.binomial(5, second, n) - random.binomial(5, first, n)) / 5


def students(mean: float, scale: float) -> Draw:
    """Draw graded differences with long tails."""
    return lambda random, n: np.clip(mean + scale * random.standard_t(3, n), -1, 1)


def partly(share: float, mean: float, spread: float) -> Draw:
    """Draw differences in a part of the cases; the others do not change."""

    def draw(random: np.random.Generator, n: Size) -> Numbers:
        changes = np.clip(random.normal(mean, spread, n), -1, 1)
        return np.where(random.random(n) < share, changes, 0.0)

    return draw


CHANGES = (0.05, 0.1, 0.3, 0.6, 0.9, 1.0)
"""Shares of right-or-wrong cases that change, one half of them each way."""
NULLS: dict[str, Draw] = {
    "graded, normal, sd 0.1": normal(0.0, 0.1),
    "graded, normal, sd 0.3": normal(0.0, 0.3),
    "graded, Laplace, sd 0.14": laplace(0.0, 0.1),
    "graded, even, ±0.2": even(-0.2, 0.2),
    "ratings 1 to 5, sd 0.8": rounded(0.0, 0.2),
    "halves, 40 % change": two_values(0.2, 0.2, 0.5, -0.5),
}
DISASTERS: dict[str, Draw] = {
    "+0.1 in 90 %, −0.9 in 10 %": two_values(0.9, 0.1, 0.1, -0.9),
    "+0.05 in 95 %, −0.95 in 5 %": two_values(0.95, 0.05, 0.05, -0.95),
    "+0.01 in 99 %, −0.99 in 1 %": two_values(0.99, 0.01, 0.01, -0.99),
    "+0.2 in 80 %, −0.8 in 20 %": two_values(0.8, 0.2, 0.2, -0.8),
    "+0.25 in 80 %, −1 in 20 %": two_values(0.8, 0.2, 0.25, -1.0),
    "+0.25 in 40 %, −1 in 10 %": two_values(0.4, 0.1, 0.25, -1.0),
    "+0.1 in 83 %, −0.5 in 17 %": undone(0.1, 0.0, -0.5),
    "+0.03 in 91 %, −0.3 in 9 %": undone(0.03, 0.0, -0.3),
    "+0.1 in 30 %, −0.9 in 3 %": two_values(0.3, 0.3 / 9, 0.1, -0.9),
    "+0.5 in 40 %, −1 in 20 %": two_values(0.4, 0.2, 0.5, -1.0),
    "+0.1 ± 0.05, and −1 in 9 %": undone(0.1, 0.05),
    "+0.05 ± 0.025, and −1 in 5 %": undone(0.05, 0.025),
    "+0.02 ± 0.005, and −1 in 2 %": undone(0.02, 0.005),
    "+0.03 ± 0.015, and −0.3 in 9 %": undone(0.03, 0.015, -0.3),
    "+0.1 ± 0.3, and −1 in 9 %": undone(0.1, 0.3),
}
"""Many small gains that are alike, or changes both ways, and losses that undo them."""
UNSEEN: dict[str, Draw] = {
    "+0.3 ± 0.2, and −1 in 23 %": undone(0.3, 0.2),
    "+0.15 ± 0.1, and −1 in 13 %": undone(0.15, 0.1),
    "+0.1 ± 0.1, and −1 in 9 %": undone(0.1, 0.1),
    "+0.1 ± 0.2, and −1 in 9 %": undone(0.1, 0.2),
    "+0.05 ± 0.05, and −1 in 5 %": undone(0.05, 0.05),
    "+0.05 ± 0.1, and −1 in 5 %": undone(0.05, 0.1),
    "+0.02 ± 0.04, and −1 in 2 %": undone(0.02, 0.04),
    "+0 to +0.2, and −1 in 9 %": mixed(0.0, 0.2),
}
"""Losses too rare to be seen in so many cases, among gains that scatter: see the docs."""
SHIFTS: dict[str, tuple[Draw, float]] = {
    "right or wrong, +10 (15 % up, 5 % down)": (two_values(0.15, 0.05), 0.1),
    "right or wrong, +10 (10 % up)": (two_values(0.1, 0.0), 0.1),
    "right or wrong, +15 (30 % up, 15 % down)": (two_values(0.3, 0.15), 0.15),
    "graded, normal, +10, sd 0.3": (normal(0.1, 0.3), 0.1),
    "graded, normal, +20, sd 0.3": (normal(0.2, 0.3), 0.2),
    "graded, normal, +5, sd 0.1": (normal(0.05, 0.1), 0.05),
    "graded, normal, +10, sd 0.1": (normal(0.1, 0.1), 0.1),
}
EARLIER: dict[str, tuple[Draw, float]] = {
    "normal, +10, sd 0.3": (normal(0.1, 0.3), 0.1),
    "normal, +20, sd 0.3": (normal(0.2, 0.3), 0.2),
    "normal, +5, sd 0.1": (normal(0.05, 0.1), 0.05),
    "normal, +7, sd 0.1": (normal(0.07, 0.1), 0.07),
    "normal, +10, sd 0.1": (normal(0.1, 0.1), 0.1),
    "normal, +5, sd 0.05": (normal(0.05, 0.05), 0.05),
    "normal, +10, sd 0.05": (normal(0.1, 0.05), 0.1),
    "Laplace, +10, sd 0.21": (laplace(0.1, 0.15), 0.1),
    "even, −10 to +30": (even(-0.1, 0.3), 0.1),
    "even, 0 to +20": (even(0.0, 0.2), 0.1),
    "ratings, +0.6, sd 0.8": (rounded(0.15, 0.2), 0.15),
    "ratings, +1, sd 1": (rounded(0.25, 0.25), 0.25),
    "ratings, +1 in 40 %, −1 in 10 %": (two_values(0.4, 0.1, 0.25, -0.25), 0.075),
    "ratings, +1 in 50 %": (two_values(0.5, 0.0, 0.25), 0.125),
    "halves, 35 % up, 10 % down": (two_values(0.35, 0.1, 0.5, -0.5), 0.125),
    "marks around a difficulty, +5, sd 0.13": (around(0.05, 0.1), 0.05),
    "5 points each, 60 % and 70 %": (rubrics(0.6, 0.7), 0.1),
    "Student, 3 df, +8, sd 0.16": (students(0.08, 0.1), 0.08),
    "+20 ± 15 in half": (partly(0.5, 0.2, 0.15), 0.1),
    "+40 ± 30 in 20 %": (partly(0.2, 0.4, 0.3), 0.08),
}
"""Gains with their mean, to be found as often as by the larger p of signs and Student's interval,
wherever no disasters that undo them speak against it."""
SIZES = (10, 20, 50, 200)
SMALL = (6, 10, 20, 50)
ALLOWED = 0.07
"""The rate of false verdicts that is allowed where there are rare disasters."""


def most_power(gain: float, n: int, loss: float = 1.0) -> float:
    """Return how often a gain may be found at most, if disasters are to mislead in 7 % at most."""
    return min(1.0, ALLOWED * (1 + gain / loss) ** n)


def paired(differences: Numbers) -> Paired:
    """Compare cases with these differences; equal ones are counted, and known ones looked up."""
    values, counts = np.unique(np.round(differences, 12), return_counts=True)
    if len(values) > _FEW_VALUES:
        return _paired(tuple(values.tolist()), tuple(counts.tolist()))
    return _known(tuple(values.tolist()), tuple(counts.tolist()))


def _paired(values: tuple[float, ...], counts: tuple[int, ...]) -> Paired:
    pairs = PairedCases()
    for value, count in zip(values, counts, strict=True):
        pairs.add(0.0, value, 1.0, count)
    return pairs.compare()


_known = lru_cache(maxsize=100_000)(_paired)


def alone(found: Paired, margin: float | None = None, extremes: Any = None) -> GroupContrast:
    """Return a row that is tested by itself."""
    row = GroupContrast(paired=found, flips=Flips(), extremes=extremes)
    return GroupContrast(
        paired=found, flips=Flips(), extremes=extremes, adjusted_p=row.decision_p, margin=margin
    )


def surely_unclear(samples: Numbers) -> "NDArray[np.bool_]":
    """Tell of which samples of graded cases neither Student's p nor the careful one can decide.

    Both tests must, so this spares most samples of equal runs the way through all of the code.
    """
    n = samples.shape[1]
    moved = np.maximum(1, (samples != 0).sum(axis=1))
    squares = (samples**2).sum(axis=1)
    means = samples.mean(axis=1)
    plain = np.abs(means) * np.sqrt(n)
    plain_error = np.sqrt(np.maximum(0.0, squares - n * means**2) / (n - 1))
    wide = squares + 2 * squares / moved
    centre = np.abs(samples.sum(axis=1)) / (n + 2)
    wide_error = np.sqrt(np.maximum(0.0, wide - (n + 2) * centre**2) / (n + 1))
    student = plain < 0.999 * t_quantile(0.975, n - 1) * plain_error
    typical = centre * np.sqrt(n + 2) < 0.999 * t_quantile(0.975, n + 1) * wide_error
    graded = np.array([len(np.unique(np.abs(row[row != 0]))) > 1 for row in samples])
    unclear: NDArray[np.bool_] = student & typical & graded
    return unclear


@lru_cache(maxsize=8)
def _signs(n: int) -> Numbers:
    """Return ways to turn the signs of so many cases: all of them, or as many as the test draws."""
    if n <= _ENUMERATED:
        return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1.0, -1.0)
    return np.random.default_rng(n).choice([-1.0, 1.0], (_FLIPS, n))


def signs_p(samples: Numbers) -> Numbers:
    """Return the p of signs turned at random of many samples at once.

    A test holds these p equal to those of ``sign_flip_test``, but for which signs were drawn.
    """
    signs, found = _signs(samples.shape[1]), []
    for start in range(0, len(samples), _CHUNK):
        chunk = samples[start : start + _CHUNK]
        seen = np.abs(chunk.sum(axis=1)) - 1e-9 * np.abs(chunk).sum(axis=1)
        found.append((np.abs(signs @ chunk.T) >= seen).sum(axis=0))
    times = np.concatenate([np.zeros(0), *found])
    if samples.shape[1] <= _ENUMERATED:
        return times / len(signs)
    p: Numbers = (1 + times) / (1 + len(signs))
    return p


def compared(samples: Numbers) -> Iterator[Paired]:
    """Compare many samples; those of few different values are counted and looked up."""
    for sample, p in zip(samples, signs_p(samples), strict=True):
        if len(np.unique(np.round(sample, 12))) <= _FEW_VALUES:
            yield paired(sample)
            continue
        cases = DifferenceCases(sample, np.ones(len(sample)), np.ones(len(sample)))
        estimate = DifferenceEstimate.of(cases, "t", 1)
        assert estimate is not None
        yield Paired(
            n=len(sample), first=0.0, second=cases.rate, difference=cases.rate,
            interval=estimate.interval(), p=float(p), estimate=estimate,
        )  # fmt: skip


def verdicts(draw: Draw, n: int, draws: int, margin: float | None = None) -> dict[str, float]:
    """Return how often each verdict is given."""
    random = np.random.default_rng([n, draws])
    counts: dict[str, int] = {}
    for start in range(0, draws, _STEP):
        samples = draw(random, (min(_STEP, draws - start), n))
        skipped = np.zeros(len(samples), dtype=bool) if margin else surely_unclear(samples)
        for found in compared(samples[~skipped]):
            verdict = alone(found, margin).verdict
            counts[verdict] = counts.get(verdict, 0) + 1
        counts["unclear"] = counts.get("unclear", 0) + int(skipped.sum())
    return {verdict: count / draws for verdict, count in counts.items()}


def heavy_ones_lose(n: int, draws: int, margin: float = 0.02) -> float:
    """Return how often no worse is said where one in 10 weighs 10, and only some of these lose.

    So many that the loss is the margin.
    """
    random = np.random.default_rng([n, draws])
    heavy = random.binomial(n, 0.1, draws)
    lost = random.binomial(heavy, margin * 1.9)
    said = 0
    for (number, losses), times in Counter(zip(heavy.tolist(), lost.tolist(), strict=True)).items():
        cases = PairedCases()
        for first, second, weight, count in (
            (1.0, 1.0, 1.0, n - number),
            (10.0, 10.0, 10.0, number - losses),
            (10.0, 0.0, 10.0, losses),
        ):
            if count:
                cases.add(first, second, weight, count)
        said += times * (alone(cases.compare(), margin).verdict in ("better", "no_worse", "equal"))
    return said / draws


Kinds = tuple[tuple[float, float, float, float], ...]
"""Weight, share of the cases, and how many of them get full marks more, or less."""
BY_WEIGHT: dict[str, Kinds] = {
    "1 and 5 points: 20 % of the light better, 16 % of the heavy worse": (
        (1.0, 0.8, 0.2, 0.0), (5.0, 0.2, 0.0, 0.16),
    ),
    "1, 2 and 5 points: 40 % of the light worse, 20 % of the heavy better": (
        (1.0, 0.5, 0.0, 0.4), (2.0, 0.3, 0.0, 0.0), (5.0, 0.2, 0.2, 0.0),
    ),
    "1 and 5 points: 10 % each way": ((1.0, 0.8, 0.1, 0.1), (5.0, 0.2, 0.1, 0.1)),
}  # fmt: skip
"""Rights and wrongs of equally good runs, of cases that differ in weight."""


def told_apart_by_weight(kinds: Kinds, n: int, draws: int) -> float:
    """Return how often two runs are told apart whose changes go with the weights of cases."""
    random = np.random.default_rng([n, draws])
    cells = [
        (weight, share * part, change)
        for weight, share, up, down in kinds
        for part, change in ((up, 1), (down, -1), (1 - up - down, 0))
    ]
    drawn = random.multinomial(n, [chance for _, chance, _ in cells], draws)
    told = 0
    for counts, times in Counter(map(tuple, drawn.tolist())).items():
        cases = PairedCases()
        for (weight, _, change), count in zip(cells, counts, strict=True):
            if count:
                points = (weight if change < 0 else 0.0, weight if change > 0 else 0.0)
                cases.add(*points, weight, count)
        told += times * (alone(cases.compare()).verdict in ("better", "worse"))
    return told / draws


def told_apart(draw: Draw, n: int, draws: int) -> float:
    """Return how often two runs are told apart."""
    given = verdicts(draw, n, draws)
    return given.get("better", 0.0) + given.get("worse", 0.0)


def exactly_told_apart(up: float, down: float, n: int) -> float:
    """Sum up the chances of all outcomes of right and wrong that tell two runs apart."""
    better, worse = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    rest = n - better - worse
    possible = rest >= 0
    chance = np.zeros(better.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [(better, up), (worse, down), (rest, max(0.0, 1 - up - down))]
        terms = [np.where(number == 0, 0.0, number * np.log(share)) for number, share in parts]
        ways = logs[n] - logs[better] - logs[worse] - logs[np.maximum(rest, 0)]
        chance[possible] = np.exp(ways + sum(terms))[possible]
    likely = np.argwhere(chance > 1e-9)
    return float(sum(chance[b, w] for b, w in likely.tolist() if _told(b, w, n) and b != w))


@lru_cache(maxsize=200_000)
def _told(better: int, worse: int, n: int) -> bool:
    if better < worse:
        return _told(worse, better, n)
    pairs = PairedCases()
    for difference, count in ((1.0, better), (-1.0, worse), (0.0, n - better - worse)):
        if count:
            pairs.add(0.0, difference, 1.0, count)
    return alone(pairs.compare()).told_apart != "unclear"


def found_beside_earlier(draw: Draw, n: int, draws: int) -> tuple[float, float]:
    """Return how often runs are told apart, and how often without allowing for disasters.

    The latter is what decided in 0.1.0: the larger p of signs turned at random, and of Student's
    interval with a typical change added on either side.
    """
    random = np.random.default_rng([n, draws, 5])
    now = before = 0
    samples = draw(random, (draws, n))
    for found in compared(samples[~surely_unclear(samples)]):
        assert found.p is not None
        assert found.estimate is not None
        now += alone(found).told_apart != "unclear"
        before += max(found.p, found.estimate.typical_p) < LEVEL
    return now / draws, before / draws


def told_and_held(draw: Draw, true: float, n: int, draws: int) -> tuple[float, float]:
    """Return how often two runs are told apart, and how often the interval holds the truth."""
    random = np.random.default_rng([n, draws, 1])
    told = inside = 0
    for found in compared(draw(random, (draws, n))):
        row = alone(found)
        low, high = row.interval or (9.0, 9.0)
        told += row.told_apart != "unclear"
        inside += low - 1e-9 <= true <= high + 1e-9
    return told / draws, inside / draws


def not_at_random(n: int, share: float, draws: int, *, gain: float = 0.0) -> tuple[float, float]:
    """Let a judge fail on wrong answers of the second run alone; return how often it is better.

    Without, and with, the unscored at both extremes. Both runs are right in 70 %, the second in as
    much more as the gain says.
    """
    random = np.random.default_rng([n, draws, 2])
    plain = careful = 0
    for _ in range(draws):
        first = random.random(n) < 0.7
        second = random.random(n) < 0.7 + gain
        lost = ~second & (random.random(n) < share / (0.3 - gain))
        difference = second.astype(float) - first
        seen = paired(difference[~lost])
        worst = paired(difference)
        best = paired(np.where(lost, 1.0 - first, difference))
        plain += alone(seen).verdict == "better"
        careful += alone(seen, extremes=(worst, best) if lost.any() else None).verdict == "better"
    return plain / draws, careful / draws


def _contrast(rows: list[Paired]) -> Contrast:
    groups = {str(n): GroupContrast(paired=row, flips=Flips()) for n, row in enumerate(rows[1:])}
    side = cast("Any", None)
    return Contrast(
        paired=rows[0], flips=Flips(), first=side, second=side, left_out=LeftOut(),
        groups={"tag": groups},
    )  # fmt: skip


def tags(number: int, draws: int, n: int = 40) -> float:
    """Return how often some row is told apart, of equal runs broken down by a tag."""
    random = np.random.default_rng([number, draws, 3])
    wrong = 0
    for _ in range(draws):
        cells = [two_values(0.15, 0.15)(random, n) for _ in range(number)]
        rows = [paired(np.concatenate(cells)), *map(paired, cells)]
        (found,) = adjusted_together([_contrast(rows)], None)
        shown = [found, *found.groups["tag"].values()]
        wrong += any(row.told_apart != "unclear" for row in shown)
    return wrong / draws


def equal_runs(runs: int, draws: int, n: int = 100) -> tuple[float, float]:
    """Return how often two of some equal runs are told apart, and how often all intervals hold."""
    random = np.random.default_rng([runs, draws, 4])
    wrong = inside = 0
    for _ in range(draws):
        chances = random.beta(3.5, 1.5, n)
        right = (random.random((runs, n)) < chances).astype(float)
        rows = [
            _contrast([paired(right[two] - right[one])])
            for one in range(runs)
            for two in range(one + 1, runs)
        ]
        found = adjusted_together(rows, None)
        wrong += any(row.told_apart != "unclear" for row in found)
        inside += all(row.interval and row.interval[0] <= 0 <= row.interval[1] for row in found)
    return wrong / draws, inside / draws


def tables(*names: str) -> Iterator[str]:
    """Yield the lines of the tables, all of them or those with these names."""
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "false": _false,
        "found": _found,
        "earlier": _beside_earlier,
        "bound": _bound,
        "margins": _margins,
        "rest": _rest,
    }
    for name in names or parts:
        yield from parts[name]()
        yield ""


def _head(first: str, sizes: tuple[int, ...]) -> Iterator[str]:
    yield f"| {first} | " + " | ".join(f"n = {n}" for n in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)


def _false() -> Iterator[str]:
    yield from _head("Truth: no difference", (6, *SIZES))
    for share in CHANGES:
        cells = [f"{100 * exactly_told_apart(share / 2, share / 2, n):.1f}" for n in (6, *SIZES)]
        yield f"| right or wrong, {share:.0%} change (exact) | {' | '.join(cells)} |"
    for name, draw in {**NULLS, **DISASTERS, **UNSEEN}.items():
        cells = [f"{100 * told_apart(draw, n, 20_000):.1f}" for n in (6, *SIZES)]
        yield f"| {name} | {' | '.join(cells)} |"


def _bound() -> Iterator[str]:
    yield from _head("Gain, loss", (*SMALL, 100, 200))
    for loss in (1.0, 0.5, 0.3):
        for gain in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3):
            cells = [f"{100 * most_power(gain, n, loss):.0f}" for n in (*SMALL, 100, 200)]
            yield f"| +{gain:g}, −{loss:g} | {' | '.join(cells)} |"


def _found() -> Iterator[str]:
    yield from _head("Found (interval holds the truth)", SIZES)
    for name, (draw, true) in SHIFTS.items():
        cells = [told_and_held(draw, true, n, 20_000) for n in SIZES]
        shown = [f"{100 * told:.0f} ({100 * held:.1f})" for told, held in cells]
        yield f"| {name} | {' | '.join(shown)} |"


def _beside_earlier() -> Iterator[str]:
    yield from _head("Found, 0.1.0 → now (at most)", SMALL)
    for name, (draw, mean) in EARLIER.items():
        cells = []
        for n in SMALL:
            now, before = found_beside_earlier(draw, n, 20_000)
            cells.append(f"{100 * before:.1f} → {100 * now:.1f} ({100 * most_power(mean, n):.0f})")
        yield f"| {name} | {' | '.join(cells)} |"


def _margins() -> Iterator[str]:
    yield "| No worse by 2 points, said at a true −2 | n = 200 | 500 | 2000 |"
    yield "|---|---|---|---|"
    margins: dict[str, Draw] = {
        "2 % get worse": two_values(0.0, 0.02),
        "1 % better, 3 % worse": two_values(0.01, 0.03),
        "10 % better, 12 % worse": two_values(0.1, 0.12),
        "+0.1 in 88 %, −0.9 in 12 %": two_values(0.88, 0.12, 0.1, -0.9),
        "no difference": two_values(0.02, 0.02),
    }
    for name, draw in margins.items():
        cells = []
        for n in (200, 500, 2000):
            given = verdicts(draw, n, 20_000, 0.02)
            said = sum(given.get(verdict, 0.0) for verdict in ("better", "no_worse", "equal"))
            cells.append(f"{100 * said:.2f}")
        yield f"| {name} | {' | '.join(cells)} |"
    cells = [f"{100 * heavy_ones_lose(n, 20_000):.2f}" for n in (200, 500, 2000)]
    yield f"| one in 10 weighs 10, and 3.8 % of these get worse | {' | '.join(cells)} |"


def _rest() -> Iterator[str]:
    yield "| Unscored, not at random | without bounds | with |"
    yield "|---|---|---|"
    for n, share, gain in (
        (200, 0.15, 0.0),
        (1000, 0.09, 0.0),
        (1000, 0.15, 0.0),
        (1000, 0.03, 0.15),
    ):
        plain, careful = not_at_random(n, share, 20_000, gain=gain)
        name = f"n = {n}, {share:.0%} unscored, truth {100 * gain:+.0f}"
        yield f"| {name} | {100 * plain:.1f} | {100 * careful:.1f} |"
    yield ""
    for number in (5, 10):
        yield f"{number} tags: a false verdict in {100 * tags(number, 20_000):.1f} %"
    for number in (3, 6, 10):
        wrong, inside = equal_runs(number, 20_000)
        yield f"{number} equal runs: false {100 * wrong:.1f} %, all intervals hold {100 * inside:.1f} %"


if __name__ == "__main__":
    for line in tables(*sys.argv[1:]):
        print(line, flush=True)
