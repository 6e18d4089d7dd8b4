"""Judges, labels and items, simulated: corrected scores, kappa and alpha, audits, wrong keys.

``PYTHONPATH=tests python -m stats.simulations.judges`` prints the tables of docs/statistics.md.
"""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.stats.agreement import Coincidences, alpha_interval, clustered_kappa
from proctor.stats.items import (
    Abilities,
    AnswerHabits,
    answer_habits,
    fit_abilities,
    wrong_key_odds,
)
from proctor.stats.judge_audit import flip_rate, noise_variance, shift
from proctor.stats.prediction_powered import ADDED, corrected

Numbers = NDArray[np.float64]

# Share of right answers, how often the judge passes right ones, and wrong ones: its bias follows.
JUDGES: dict[str, tuple[float, float, float]] = {
    "fair, 70 % right": (0.7, 0.95, 0.12),
    "10 points kind, 50 % right": (0.5, 1.0, 0.2),
    "20 points kind, 50 % right": (0.5, 1.0, 0.4),
    "20 points strict, 70 % right": (0.7, 0.7, 0.03),
    "20 points kind and blind, 30 % right": (0.3, 0.5, 0.5),
    "perfect, 90 % right": (0.9, 1.0, 0.0),
    "18 points strict, 90 % right": (0.9, 0.8, 0.0),
    "19 points strict, 95 % right": (0.95, 0.8, 0.0),
}
LABELS = (10, 20, 30, 50, 100, 200)
GRADED_LABELS = (10, 20, 50, 100)
AUDITED = (5, 10, 20, 60)
BASE = 0.6
"""How often an audited judge passes an answer as it is."""
# How often the judge is asked again, in how many cases a probe makes it pass an answer, how often
# a ruling is turned around, and how many cases are in a cluster: the fault shows in all or none.
AUDITS: dict[str, tuple[int, float, float, int]] = {
    "8 points, 10 % turned": (3, 0.08, 0.1, 1),
    "20 points, 5 % turned": (2, 0.2, 0.05, 1),
    "no fault, 2 % turned": (2, 0.0, 0.02, 1),
    "clusters: 8 points, 10 % turned": (3, 0.08, 0.1, 5),
    "clusters: 30 points, 0 % turned": (2, 0.3, 0.0, 5),
}
Marks = Callable[[np.random.Generator, int], tuple[Numbers, Numbers]]


def _near(mean: float, strength: float, bias: float, spread: float) -> Marks:
    """Draw graded marks, and a judge who is off by about as much."""

    def draw(random: np.random.Generator, cases: int) -> tuple[Numbers, Numbers]:
        own = random.beta(mean * strength, (1 - mean) * strength, cases)
        return np.clip(own + bias + random.normal(0, spread, cases), 0, 1), own

    return draw


def _ratings(shares: Sequence[float], up: float, down: float) -> Marks:
    """Draw ratings from 1 to 5, and a judge who is a step off in some cases."""

    def draw(random: np.random.Generator, cases: int) -> tuple[Numbers, Numbers]:
        own = random.choice(5, cases, p=list(shares))
        steps = random.choice([0, 1, -1], cases, p=[1 - up - down, up, down])
        return np.clip(own + steps, 0, 4) / 4, own / 4

    return draw


def _mostly_full(share: float, loss: float, often: float) -> Marks:
    """Draw marks of which most are full, and a judge who takes off as much now and then."""

    def draw(random: np.random.Generator, cases: int) -> tuple[Numbers, Numbers]:
        own = np.where(random.random(cases) < share, 1.0, random.random(cases))
        lost = random.random(cases) < often
        return np.where(lost, np.clip(own - loss, 0, 1), own), own

    return draw


def _grouped(mean: float, kind: float, strict: float, size: int, *, attempts: bool) -> Marks:
    """Draw cases in clusters that go together, or the mean marks of attempts at a case (ICC 0.5)."""

    def draw(random: np.random.Generator, cases: int) -> tuple[Numbers, Numbers]:
        if attempts:
            right = random.binomial(size, random.beta(mean, 1 - mean, cases))
            passed = random.binomial(right, 1 - strict) + random.binomial(size - right, kind)
            return passed / size, right / size
        chances = np.repeat(random.beta(mean, 1 - mean, cases // size), size)
        own = random.random(cases) < chances
        passed = np.where(own, random.random(cases) >= strict, random.random(cases) < kind)
        return passed.astype(float), own.astype(float)

    return draw


# What is drawn, the true mean, and how many cases are in a cluster.
GRADED: dict[str, tuple[Marks, float, int]] = {
    "graded, 10 points kind ± 15": (_near(0.62, 3, 0.1, 0.15), 0.62, 1),
    "graded, 20 points strict ± 10": (_near(0.62, 3, -0.2, 0.1), 0.62, 1),
    "graded, 20 points kind ± 30": (_near(0.3, 2, 0.2, 0.3), 0.3, 1),
    "ratings, too high in half": (_ratings([0.05, 0.1, 0.25, 0.4, 0.2], 0.5, 0.1), 0.65, 1),
    "ratings, too low in 40 %": (_ratings([0.0, 0.02, 0.08, 0.2, 0.7], 0.0, 0.4), 0.895, 1),
    "80 % full, half off in half": (_mostly_full(0.8, 0.5, 0.5), 0.9, 1),
    "90 % full, all off in 10 %": (_mostly_full(0.9, 1.0, 0.1), 0.95, 1),
    "4 attempts, 15 points kind": (_grouped(0.7, 0.5, 0.0, 4, attempts=True), 0.7, 1),
    "4 attempts, 18 points strict": (_grouped(0.9, 0.0, 0.2, 4, attempts=True), 0.9, 1),
    "clusters of 4, 12 points kind": (_grouped(0.7, 0.5, 0.05, 4, attempts=False), 0.7, 4),
    "clusters of 5, 18 points strict": (_grouped(0.5, 0.05, 0.4, 5, attempts=False), 0.5, 5),
}
# Share of right answers, and how often either of two judges errs.
RATERS: dict[str, tuple[float, float]] = {
    "50 % right, judges err in 10 %": (0.5, 0.1),
    "80 % right, judges err in 10 %": (0.8, 0.1),
    "95 % right, judges err in 5 %": (0.95, 0.05),
    "90 % right, judges err in 2 %": (0.9, 0.02),
    "70 % right, judges err in 30 %": (0.7, 0.3),
}
CASES = (8, 12, 20, 50, 200)
# Abilities of six takers, and how much the difficulty of cases varies.
TAKERS: dict[str, tuple[list[float], float]] = {
    "weak to strong (−0.5 to 2)": ([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0], 1.0),
    "alike (0.8)": ([0.8] * 6, 0.7),
    "strong (1 to 2.5)": ([1.0, 1.3, 1.6, 1.9, 2.2, 2.5], 1.0),
    "strong, varied cases": ([1.0, 1.3, 1.6, 1.9, 2.2, 2.5], 1.5),
    "weak (−2 to 0)": ([-2.0, -1.6, -1.2, -0.8, -0.4, 0.0], 1.0),
    "alike, half right (0)": ([0.0] * 6, 1.0),
    "some weak (−1 to 1.5)": ([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5], 1.0),
    "middling (0 to 1)": ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 1.0),
}
ABLE = tuple(TAKERS)[:4]
"""Those of whom most are right on more than half of the cases."""


@dataclass(frozen=True)
class Held:
    """How often an interval held the truth, and how wide it was."""

    held: float
    width: float


def biased_judges(points: int) -> dict[str, tuple[float, float, float]]:
    """Return judges with so many points of bias, kind and strict, at many shares of right answers.

    Some err in one direction alone, others also in up to 15 % of the cases in the other.
    """
    judges, bias = {}, points / 100
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        for other in (0.0, 0.05, 0.15):
            kind = (bias + share * other) / (1 - share)
            strict = (bias + (1 - share) * other) / share
            about = f"{share:.0%} right, {other:.0%} the other way"
            if kind <= 1 and share + bias < 0.98:
                judges[f"{points} points kind, {about}"] = (share, 1 - other, kind)
            if strict <= 1:
                judges[f"{points} points strict, {about}"] = (share, 1 - strict, other)
    return judges


def corrected_coverage(
    judge: tuple[float, float, float], labels: int, draws: int, *, cases: int = 500, seed: int = 1
) -> Held:
    """Draw cases of which some at random have labels; the truth is the share over all that could be.

    Of rights and wrongs the result depends on how many there are of each kind, which is drawn.
    """
    share, passes, slips = judge
    draw = np.random.default_rng([seed, labels])
    kinds = [share * passes, share * (1 - passes), (1 - share) * slips, (1 - share) * (1 - slips)]
    counts = draw.multinomial(labels, kinds, draws).astype(float)
    passed = draw.binomial(cases - labels, kinds[0] + kinds[2], draws).astype(float)
    low, high = corrected_ends(counts, passed, cases - labels)
    return Held(float(np.mean((low <= share) & (share <= high))), float(np.mean(high - low)))


def corrected_ends(
    kinds: Numbers, passed: Numbers, others: int, level: float = 0.95
) -> tuple[Numbers, Numbers]:
    """Return the intervals of corrected scores of many samples of rights and wrongs at once.

    ``kinds`` are numbers of labels: both right, the judge alone strict, the judge alone kind, both
    wrong. A test holds these intervals equal to those of ``corrected``.
    """
    labels = kinds.sum(axis=1)
    right, judged = kinds[:, 0] + kinds[:, 1], kinds[:, 0] + kinds[:, 2]
    share = (judged + passed) / (labels + others)
    varied = judged * (1 - judged / labels)
    varied += share * (1 - share) * (labels + others) / (labels + others - 1)
    together = (kinds[:, 0] - judged * right / labels) / (1 + labels / others)
    trust = np.clip(together / np.where(varied > 0, varied, np.inf), 0, 1)
    marks = np.stack([1 - trust, np.ones(len(trust)), -trust, np.zeros(len(trust))], axis=1)
    ends = np.stack([np.ones(len(trust)), -trust], axis=1)
    number = labels + 2 * ADDED
    mean = ((kinds * marks).sum(axis=1) + ADDED * ends.sum(axis=1)) / number
    squares, cubes = (
        (kinds * (marks - mean[:, None]) ** power).sum(axis=1)
        + ADDED * ((ends - mean[:, None]) ** power).sum(axis=1)
        for power in (2, 3)
    )
    rest = passed / others
    variance = squares / number**2 + trust**2 * rest * (1 - rest) / (others - 1)
    value = right / labels + trust * (rest - judged / labels)
    deviation, skew = np.sqrt(variance), 2 * cubes / number**3 / variance**1.5
    low, high = (
        mean + trust * rest + deviation * _standard_quantile(skew, (1 + side * level) / 2)
        for side in (-1, 1)
    )
    return np.clip(np.minimum(low, value), 0, 1), np.clip(np.maximum(high, value), 0, 1)


def _standard_quantile(skew: Numbers, part: float) -> Numbers:
    """Return quantiles of shifted gamma distributions with mean 0 and deviation 1."""
    z = NormalDist().inv_cdf(part)
    nearly = np.where(np.abs(skew) < 1e-5, 1e-5, skew)
    root = 2 / np.abs(nearly)
    cube = np.maximum(0, 1 - 1 / (9 * root**2) + np.sign(nearly) * z / (3 * root)) ** 3
    return np.where(np.abs(skew) < 1e-5, z, np.sign(nearly) * root * (cube - 1))


def graded_coverage(judge: str, labels: int, draws: int, *, rest: int = 400, seed: int = 1) -> Held:
    """Draw graded marks of judge and person, or those of clusters, of which so many have labels."""
    marks, true, size = GRADED[judge]
    random = np.random.default_rng([seed, labels, *judge.encode()])
    groups = [place // size for place in range((labels + rest) * size)]
    held, width, first = 0, 0.0, labels * size
    for _ in range(draws):
        judged, own = (column.tolist() for column in marks(random, len(groups)))
        found = corrected(
            list(zip(judged[:first], own[:first], strict=True)),
            judged[first:],
            clusters=groups[:first],
            rest_clusters=groups[first:],
        ).interval
        assert found is not None
        held += found[0] - 1e-12 <= true <= found[1] + 1e-12
        width += found[1] - found[0]
    return Held(held / draws, width / draws)


def agreement_coverage(
    raters: str, cases: int, attempts: int, draws: int, *, alpha: bool = False, seed: int = 1
) -> Held:
    """Draw cases with attempts that are right or wrong together, judged by two.

    Judges err on a case, not on single attempts: what they get wrong once, they do again. So the
    result depends on how many cases there are of each kind, which is drawn.
    """
    share, slip = RATERS[raters]
    truth = _true_agreement(share, slip)
    both, one = (1 - slip) ** 2, slip * (1 - slip)
    kinds = [
        share * both + (1 - share) * slip**2, one, one, share * slip**2 + (1 - share) * both,
    ]  # fmt: skip
    held, width, known = 0, 0.0, 0
    for kind in np.random.default_rng([seed, cases]).multinomial(cases, kinds, draws).tolist():
        found = _agreement(tuple(kind), attempts, alpha)
        if found is not None:
            known += 1
            held += found[0] <= truth <= found[1]
            width += found[1] - found[0]
    return Held(held / max(1, known), width / max(1, known))


@lru_cache(maxsize=200_000)
def _agreement(kinds: tuple[int, ...], attempts: int, alpha: bool) -> tuple[float, float] | None:
    """Return the interval for so many cases on which two judges agree, or differ."""
    marks = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]
    clusters = [
        [mark] * attempts for mark, number in zip(marks, kinds, strict=True) for _ in range(number)
    ]
    if alpha:
        return alpha_interval([Coincidences.of(cluster) for cluster in clusters])
    return clustered_kappa(clusters).interval


def _true_agreement(share: float, slip: float) -> float:
    right = share * (1 - slip) + (1 - share) * slip
    chance = right**2 + (1 - right) ** 2
    agreed = (1 - slip) ** 2 + slip**2
    return (agreed - chance) / (1 - chance)


def wrong_keys_found(
    takers: str, *, words: bool, seed: int, cases: int = 300, wrong: int = 9, first: int = 15,
    choices: int = 10, known: bool = False,
) -> int:  # fmt: skip
    """Count how many wrong keys are among the first cases of the list.

    ``known`` makes the list as if abilities, the spread of difficulties and the way in which wrong
    answers fall were known beforehand: no list by this model can be better.
    """
    abilities, spread = TAKERS[takers]
    draw = random.Random(seed)
    bad = set(draw.sample(range(cases), wrong))
    items: list[tuple[list[float | None], list[str | None]]] = []
    for place in range(cases):
        level = draw.gauss(0, spread)
        answers = [
            0 if draw.random() < 1 / (1 + exp(level - ability)) else draw.randrange(1, choices)
            for ability in abilities
        ]
        key = 1 if place in bad else 0
        items.append(
            ([float(answer == key) for answer in answers], [f"it is {one}" for one in answers])
        )
    model = fit_abilities([scores for scores, _ in items])
    habits = answer_habits(items)
    if known:
        model = Abilities(abilities=tuple(abilities), spread=spread)
        habits = AnswerHabits(right=0.99, wrong=1 / (choices - 1))
    odds = [
        wrong_key_odds(model, scores, said if words else None, habits) for scores, said in items
    ]
    order = sorted(range(cases), key=lambda place: -odds[place])
    return len(bad & set(order[:first]))


class Audited(NamedTuple):
    """How often the intervals of an audit held what is true."""

    shift: float
    flips: float
    noise: float


def audit_coverage(audit: str, draws_asked: int, draws: int, seed: int = 1) -> Audited:
    """Return what the intervals of a probe, of flips and of noise hold, by cases or clusters."""
    repeats, often, slip, size = AUDITS[audit]
    random = np.random.default_rng([seed, draws_asked, *audit.encode()])
    clusters = [f"{place // size}" if size > 1 else "" for place in range(draws_asked * size)]
    pairs = 2 * slip * (1 - slip)
    held = np.zeros(3)
    for _ in range(draws):
        # An answer that the judge would not pass is passed where the fault shows.
        passed = random.random(draws_asked) < BASE
        altered = passed | (random.random(draws_asked) < often / (1 - BASE))
        passed, altered = np.repeat(passed, size), np.repeat(altered, size)
        turned = random.random((repeats + 1, passed.size)) < slip
        rulings = np.where(turned[:repeats], ~passed, passed).astype(float).T.tolist()
        probed = np.where(turned[repeats], ~altered, altered).astype(float).tolist()
        found = (
            shift(
                [[(one, fmean(usual))] for one, usual in zip(probed, rulings, strict=True)],
                clusters=clusters,
            ),
            flip_rate([[one] for one in rulings], clusters),
            noise_variance([[(1.0, one)] for one in rulings], clusters),
        )
        true = ((1 - 2 * slip) * often, pairs, pairs / 2)
        for place, (one, number) in enumerate(zip(found, true, strict=True)):
            assert one is not None
            assert one.interval is not None
            held[place] += one.interval[0] - 1e-12 <= number <= one.interval[1] + 1e-12
    return Audited(*(held / draws).tolist())


def _table(
    rows: Iterable[str], columns: Sequence[int], cell: Callable[[str, int], str], head: str
) -> Iterator[str]:
    yield f"| {head} | {' | '.join(str(column) for column in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {row} | {' | '.join(cell(row, column) for column in columns)} |"


def main(draws: int = 20_000) -> None:
    """Print all tables, or those with the names on the command line."""
    tables: dict[str, Callable[[], Iterator[str]]] = {
        "corrected": lambda: _corrected_tables(draws),
        "agreement": lambda: _agreement_tables(draws),
        "audits": lambda: _audit_table(draws // 10),
        "keys": wrong_keys_table,
    }
    for name in sys.argv[1:] or tables:
        for line in tables[name]():
            print(line, flush=True)
        print()


def _shown(found: Held) -> str:
    return f"{100 * found.held:.1f} ({found.width:.2f})"


def _corrected_tables(draws: int) -> Iterator[str]:
    yield from _table(
        JUDGES, LABELS, lambda j, n: _shown(corrected_coverage(JUDGES[j], n, draws)), "judge"
    )
    yield ""
    yield from _table(
        GRADED, GRADED_LABELS, lambda j, n: _shown(graded_coverage(j, n, draws // 10)), "judge"
    )
    yield ""
    yield f"| judges, cases | {' | '.join(map(str, LABELS))} |"
    yield f"|---|{'---|' * len(LABELS)}"
    for points in (5, 10, 15, 20):
        judges = biased_judges(points)
        for cases in (300, 500, 2_000):
            cells = []
            for labels in LABELS:
                held = [
                    100 * corrected_coverage(judge, labels, draws, cases=cases).held
                    for judge in judges.values()
                ]
                cells.append(f"{min(held):.1f}–{max(held):.1f}")
            yield f"| {points} points ({len(judges)}), {cases} | {' | '.join(cells)} |"


def _agreement_tables(draws: int) -> Iterator[str]:
    for attempts in (1, 5):
        for alpha in (False, True):
            yield from _table(
                RATERS,
                CASES,
                lambda r, n, m=attempts, a=alpha: _shown(
                    agreement_coverage(r, n, m, draws, alpha=a)
                ),
                f"{'alpha' if alpha else 'kappa'}, {attempts} attempts, cases",
            )
            yield ""


def _audit_table(draws: int) -> Iterator[str]:
    def shown(audit: str, asked: int) -> str:
        return ", ".join(f"{100 * held:.1f}" for held in audit_coverage(audit, asked, draws))

    yield from _table(AUDITS, AUDITED, shown, "probe, flips, noise; n")


def wrong_keys_table(stores: int = 20) -> Iterator[str]:
    """Yield how many wrong keys come first: by scores, by words too, and if all were known."""
    yield "| six candidates | ten answers: scores | and words | known | four: scores | and words | known |"
    yield "|---|---|---|---|---|---|---|"
    for takers in TAKERS:
        cells = []
        for choices in (10, 4):
            for words, known in ((False, False), (True, False), (True, True)):
                found = [
                    wrong_keys_found(takers, words=words, seed=seed, choices=choices, known=known)
                    for seed in range(stores)
                ]
                cells.append(f"{sum(found) / stores:.1f} ({min(found)})")
        yield f"| {takers} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
