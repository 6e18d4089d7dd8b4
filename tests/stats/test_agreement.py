"""Krippendorff's alpha and Cohen's kappa against worked examples that were published."""

import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from proctor.stats.agreement import (
    Coincidences,
    Kappa,
    Level,
    Unit,
    alpha_interval,
    clustered_kappa,
)


def krippendorff_alpha(units: Iterable[Unit], level: Level = "nominal") -> float | None:
    return Coincidences.of(units).alpha(level)


def cohen_kappa(pairs: Iterable[tuple[float, float]], level: Level = "nominal") -> Kappa:
    return clustered_kappa(([pair] for pair in pairs), level=level)


N = None
# Four observers, twelve units; three, fifteen units; two, ten units, yes or no; two, twelve units.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
THREE = [
    [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
    [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
    [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
]
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
LETTERS = [[ord(letter) for letter in text] for text in ("aabbdcccedda", "babbbccceddd")]


@pytest.mark.parametrize(
    ("table", "level", "expected"),
    [
        (FOUR, "nominal", 0.743),
        (FOUR, "ordinal", 0.815),
        (FOUR, "interval", 0.849),
        (THREE, "nominal", 0.691),
        (THREE, "ordinal", 0.807),
        (THREE, "interval", 0.811),
        (BINARY, "nominal", 0.095),
        (LETTERS, "nominal", 0.692),
    ],
)
def test_published_examples(table: list[Any], level: Any, expected: float) -> None:
    assert krippendorff_alpha(zip(*table, strict=True), level) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([], None),
        ([[1], [None, 2]], None),
        ([[1, 1], [1, 1]], None),
        ([[1, 1], [2, 2]], 1.0),
        ([[1, 2], [2, 1]], -0.5),
    ],
)
def test_ends(units: list[Any], expected: float | None, level: Any) -> None:
    assert krippendorff_alpha(units, level) == expected


def test_a_cluster_taken_out_is_as_if_it_had_never_been() -> None:
    units = list(zip(*FOUR, strict=True))
    for number in range(len(units)):
        rest = Coincidences.of(units).without(Coincidences.of(units[number : number + 1]))
        direct = Coincidences.of(units[:number] + units[number + 1 :])
        assert rest.units == direct.units
        for level in ("nominal", "ordinal", "interval"):
            assert rest.alpha(level) == pytest.approx(direct.alpha(level))


def test_the_interval_narrows_with_more_cases_and_holds_alpha() -> None:
    draw = random.Random(5)

    def unit() -> list[float]:
        truth = draw.random() < 0.5
        return [float(truth if draw.random() < 0.85 else not truth) for _ in range(3)]

    widths = []
    for number in (20, 80, 320):
        clusters = [Coincidences.of([unit()]) for _ in range(number)]
        whole = Coincidences()
        for cluster in clusters:
            whole.merge(cluster)
        found, alpha = alpha_interval(clusters), whole.alpha()
        assert found is not None
        assert alpha is not None
        assert found[0] < alpha < found[1] <= 1
        widths.append(found[1] - found[0])
    assert all(wide > narrow for wide, narrow in pairwise(widths))


@pytest.mark.parametrize("units", [[], [[1, 2]], [[1, 1], [1, 1]]])
def test_no_interval_of_too_little(units: list[Any]) -> None:
    assert alpha_interval([Coincidences.of([unit]) for unit in units]) is None


def test_no_interval_where_it_would_be_slow() -> None:
    clusters = [Coincidences.of([[float(n), n + 0.5]]) for n in range(100)]
    assert alpha_interval(clusters, "interval") is None


def table(*counts: tuple[float, float, int]) -> list[tuple[float, float]]:
    return [(one, other) for one, other, times in counts for _ in range(times)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (table((1, 1, 20), (1, 0, 5), (0, 1, 10), (0, 0, 15)), 0.4),
        (table((1, 1, 45), (1, 0, 15), (0, 1, 25), (0, 0, 15)), 0.1304),
        (table((1, 1, 25), (1, 0, 35), (0, 1, 5), (0, 0, 35)), 0.2593),
        (table((1, 1, 3), (0, 0, 2)), 1.0),
        (table((1, 0, 3), (0, 1, 3)), -1.0),
    ],
)
def test_kappa_of_two_judges(pairs: list[tuple[float, float]], expected: float) -> None:
    found = cohen_kappa(pairs)
    assert found.value == pytest.approx(expected, abs=5e-5)
    assert found.n == len(pairs)
    assert found.interval is not None
    low, high = found.interval
    assert -1 <= low <= expected <= high <= 1
    assert low < high


@pytest.mark.parametrize("pairs", [[], table((1, 1, 9))])
def test_no_kappa_without_anything_to_tell_apart(pairs: list[tuple[float, float]]) -> None:
    found = cohen_kappa(pairs)
    assert (found.value, found.interval, found.agreed) == (None, None, len(pairs))


def test_more_things_judged_make_kappa_surer() -> None:
    few, many = (
        cohen_kappa(table((1, 1, 4 * n), (1, 0, n), (0, 1, 2 * n), (0, 0, 3 * n))).interval
        for n in (2, 50)
    )
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < (few[1] - few[0]) / 3


def test_attempts_at_one_case_are_no_draws_of_their_own() -> None:
    pairs = table((1, 1, 12), (1, 0, 3), (0, 1, 2), (0, 0, 8))
    once = cohen_kappa(pairs)
    often = clustered_kappa([pair] * 5 for pair in pairs)
    assert often.value == pytest.approx(once.value)
    assert (often.n, often.clusters) == (125, 25)
    assert often.interval == pytest.approx(once.interval)
    apart = cohen_kappa([pair for pair in pairs for _ in range(5)])
    assert apart.interval is not None
    assert often.interval is not None
    assert apart.interval[1] - apart.interval[0] < 0.6 * (often.interval[1] - often.interval[0])


def test_ratings_one_step_apart_nearly_agree() -> None:
    pairs = [(float(n % 5), float(min(4, n % 5 + n % 2))) for n in range(40)]
    assert (cohen_kappa(pairs).value or 1) < 0.6
    assert (cohen_kappa(pairs, level="interval").value or 0) > 0.8


@pytest.mark.parametrize("attempts", [1, 5])
def test_few_things_nearly_all_right_hold_the_truth(attempts: int) -> None:
    """Twelve cases, 95 % of them right, two judges that err in 5 %: the truth is 0.45."""
    draw = random.Random(8)
    held: list[bool] = []
    for _ in range(150):
        clusters = []
        for _ in range(12):
            own = draw.random() < 0.95
            clusters.append(
                [
                    (float(own != (draw.random() < 0.05)), float(own != (draw.random() < 0.05)))
                    for _ in range(attempts)
                ]
            )
        kappa = clustered_kappa(clusters)
        alpha = alpha_interval([Coincidences.of(cluster) for cluster in clusters])
        for interval in (kappa.interval, alpha):
            if interval is not None:
                held.append(interval[0] <= 0.45 <= interval[1])
    assert sum(held) >= 0.95 * len(held)
