"""Judges, labels and items, simulated: corrected scores, kappa and alpha, audits, wrong keys.

``PYTHONPATH=tests python -m stats.simulations.judges`` prints the tables of docs/statistics.md.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

import numpy as np

from proctor.stats.agreement import Coincidences, alpha_interval, clustered_kappa
from proctor.stats.items import (
    Abilities,
    AnswerHabits,
    answer_habits,
    fit_abilities,
    wrong_key_odds,
)
from proctor.stats.prediction_powered import corrected

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
LABELS = (10, 20, 50, 100, 200)
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


def corrected_coverage(
    judge: str, labels: int, draws: int, *, cases: int = 500, seed: int = 1
) -> Held:
    """Draw cases of which some at random have labels; the truth is the share over all that could be.

    Of rights and wrongs the result depends on how many there are of each kind, which is drawn.
    """
    share, passes, slips = JUDGES[judge]
    draw = np.random.default_rng([seed, labels])
    kinds = [share * passes, share * (1 - passes), (1 - share) * slips, (1 - share) * (1 - slips)]
    counts = draw.multinomial(labels, kinds, draws)
    passed = draw.binomial(cases - labels, kinds[0] + kinds[2], draws)
    held, width = 0, 0.0
    for kind, rest in zip(counts.tolist(), passed.tolist(), strict=True):
        low, high = _corrected(tuple(kind), rest, cases - labels - rest)
        held += low <= share <= high
        width += high - low
    return Held(held / draws, width / draws)


@lru_cache(maxsize=200_000)
def _corrected(kinds: tuple[int, ...], passed: int, failed: int) -> tuple[float, float]:
    """Return the interval for so many labels of each kind, and so many other cases."""
    marks = [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]
    pairs = [mark for mark, number in zip(marks, kinds, strict=True) for _ in range(number)]
    found = corrected(pairs, [1.0] * passed + [0.0] * failed).interval
    assert found is not None
    return found


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


def _table(
    rows: Sequence[str], columns: Sequence[int], cell: Callable[[str, int], str], head: str
) -> None:
    print(f"| {head} | {' | '.join(str(column) for column in columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {row} | {' | '.join(cell(row, column) for column in columns)} |")
    print()


def main(draws: int = 20_000) -> None:
    """Print all tables."""

    def shown(found: Held) -> str:
        return f"{100 * found.held:.0f} ({found.width:.2f})"

    _table(
        list(JUDGES), LABELS, lambda j, n: shown(corrected_coverage(j, n, draws)), "judge, labels"
    )
    for attempts in (1, 5):
        for alpha in (False, True):
            _table(
                list(RATERS),
                CASES,
                lambda r, n, m=attempts, a=alpha: shown(
                    agreement_coverage(r, n, m, draws, alpha=a)
                ),
                f"{'alpha' if alpha else 'kappa'}, {attempts} attempts, cases",
            )
    for line in wrong_keys_table():
        print(line, flush=True)


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
