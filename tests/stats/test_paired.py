"""Paired comparison against hand computation, exact tests, and simulated truths."""

from itertools import product
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from level import LEVEL
from proctor.stats import paired
from proctor.stats.intervals import t_quantile
from proctor.stats.paired import Paired, PairedCases, holm, sign_flip_test


def flipped(better: int, worse: int, same: int) -> PairedCases:
    """Make pairs of rights and wrongs."""
    pairs = PairedCases()
    for first, second, count in ((0, 1, better), (1, 0, worse), (1, 1, same)):
        if count:
            pairs.add(first, second, 1.0, count)
    return pairs


def one_by_one(differences: list[float], weights: list[float] | None = None) -> Paired:
    pairs = PairedCases()
    for d, w in zip(differences, weights or [1.0] * len(differences), strict=True):
        pairs.add(0.0, d * w, w)
    return pairs.compare()


@pytest.mark.parametrize(
    ("better", "worse", "exact", "mid"),
    [
        (5, 0, 2 / 32, 1 / 32),
        (6, 0, 2 / 64, 1 / 64),
        (9, 3, 2 * (1 + 12 + 66 + 220) / 4096, (2 * (1 + 12 + 66) + 220) / 4096),
        (3, 9, 2 * (1 + 12 + 66 + 220) / 4096, (2 * (1 + 12 + 66) + 220) / 4096),
        (4, 4, 1.0, 1.0),
        (1, 0, 1.0, 0.5),
    ],
)
def test_rights_and_wrongs_get_the_sign_test(
    better: int, worse: int, exact: float, mid: float
) -> None:
    """By mid-p; exact where nearly all cases changed, since mid-p errs too often there."""
    found = flipped(better, worse, 100).compare()
    assert found.p == found.decision_p == pytest.approx(mid)
    assert (found.test, found.better, found.worse, found.same) == ("mid-p", better, worse, 100)
    found = flipped(better, worse, 0).compare()
    assert (found.p, found.test) == (pytest.approx(exact), "exact")


def test_nothing_changed_is_no_evidence() -> None:
    assert (flipped(0, 0, 100).compare().p, flipped(0, 0, 100).compare().needed) == (1.0, None)


def test_the_difference_and_rates_by_hand() -> None:
    found = flipped(9, 3, 108).compare()
    assert found.n == 120
    assert found.first == pytest.approx(111 / 120)
    assert found.second == pytest.approx(117 / 120)
    assert found.difference == pytest.approx(6 / 120)
    # Bonett and Price: one more case on each side.
    up, down, n = 10 / 122, 4 / 122, 122
    error = sqrt((up + down - (up - down) ** 2) / (n - 1))
    half = t_quantile(0.975, n - 1) * error
    assert found.interval == pytest.approx((up - down - half, up - down + half))
    spread = sqrt((12 - 120 * 0.05**2) / 119)
    assert found.effect == pytest.approx(0.05 / spread)


def test_weights_count_as_in_the_total() -> None:
    found = one_by_one([1.0, 0.0, 0.5], [1.0, 2.0, 5.0])
    assert found.difference == pytest.approx((1 + 0 + 2.5) / 8)


def test_kinds_with_counts_are_the_same_as_single_cases() -> None:
    values = [0.5] * 7 + [-0.25] * 4 + [0.0] * 9 + [1.0] * 2
    weights = [2.0] * 7 + [1.0] * 4 + [1.0] * 9 + [3.0] * 2
    counted = PairedCases()
    for d, w, count in ((0.5, 2.0, 7), (-0.25, 1.0, 4), (0.0, 1.0, 9), (1.0, 3.0, 2)):
        counted.add(0.0, d * w, w, count)
    one, two = one_by_one(values, weights), counted.compare()
    for name in ("n", "difference", "interval", "effect", "needed", "detectable", "better", "p"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)), name


def test_nothing_and_one_case_say_so() -> None:
    nothing = PairedCases().compare()
    assert (nothing.n, nothing.difference, nothing.interval, nothing.p) == (0, None, None, None)
    single = one_by_one([1.0])
    assert (single.n, single.difference, single.interval) == (1, 1.0, None)
    assert single.p == 1.0


def test_no_change_at_all_is_no_proof_of_no_difference() -> None:
    found = flipped(0, 0, 100).compare()
    assert found.difference == 0.0
    assert found.interval is not None
    assert found.interval[0] == pytest.approx(-found.interval[1])
    assert 0.02 < found.interval[1] < 0.04
    assert found.needed is None
    assert found.effect is None


def test_an_interval_stays_where_a_difference_can_lie() -> None:
    found = flipped(3, 0, 0).compare()
    assert found.interval is not None
    assert found.interval[0] >= -1
    assert found.interval[1] == 1.0


def test_several_sizes_are_enumerated() -> None:
    sizes = [1.0, 0.5, 0.5, -0.25, 0.75, 1.0, -0.1]
    seen = abs(sum(sizes))
    sums = [abs(sum(s * d for s, d in zip(signs, sizes, strict=True)))
            for signs in product((-1, 1), repeat=len(sizes))]  # fmt: skip
    wanted = sum(found >= seen - 1e-12 for found in sums) / len(sums)
    assert sign_flip_test(sizes) == (pytest.approx(wanted), "exact")


def test_draws_come_close_to_the_exact_answer() -> None:
    """Twenty halves and twenty wholes: the sum of two binomials is known."""
    up, whole = (15, 14)
    differences = [0.5] * up + [-0.5] * (20 - up) + [1.0] * whole + [-1.0] * (20 - whole)
    seen = abs(sum(differences))
    exact = sum(
        comb(20, i) * comb(20, j) / 2**40
        for i in range(21)
        for j in range(21)
        if abs(0.5 * (2 * i - 20) + (2 * j - 20)) >= seen - 1e-9
    )
    p, test = sign_flip_test(differences)
    assert test == "9999 draws"
    assert p == pytest.approx(exact, abs=4 * sqrt(exact / 9999))
    assert sign_flip_test(differences) == (p, test)


def test_many_sizes_come_close_to_the_normal_answer() -> None:
    random = np.random.default_rng(5)
    differences = random.normal(0.03, 1.0, 5000)
    z = abs(differences.sum()) / sqrt((differences**2).sum())
    p, _ = sign_flip_test(differences)
    from statistics import NormalDist

    assert p == pytest.approx(2 * (1 - NormalDist().cdf(z)), abs=0.01)


class CountedDraws:
    """A generator that counts the sizes that are drawn by themselves."""

    def __init__(self) -> None:
        self.sizes = 0
        self._random = np.random.default_rng(3)

    def normal(self, mean: float, spread: float, size: int) -> np.ndarray[Any, Any]:
        return self._random.normal(mean, spread, size)

    def binomial(self, n: int, p: float, size: int) -> np.ndarray[Any, Any]:
        self.sizes += 1
        return self._random.binomial(n, p, size)


@pytest.mark.parametrize(
    ("sizes", "counts", "drawn"),
    [
        ([1 + 0.001 * size for size in range(899)], [112] * 899, 0),
        ([1 + 0.001 * size for size in range(899)], [111] * 899, 899),
        ([0.01, 0.02, 5.0], [100_000, 50_000, 3], 1),
        ([1 / 3, 2 / 3, 1.0], [60_000, 40_000, 20_000], 0),
    ],
)
def test_of_very_many_changes_only_large_ones_are_drawn_by_themselves(
    sizes: list[float], counts: list[int], drawn: int
) -> None:
    random: Any = CountedDraws()
    sums = paired._drawn(np.array(sizes), np.array(counts), random)
    assert random.sizes == drawn
    spread = sqrt(sum(size**2 * count for size, count in zip(sizes, counts, strict=True)))
    assert sums.std() == pytest.approx(spread, rel=0.04)


@pytest.mark.parametrize(
    ("n", "up", "down"), [(30, 0.05, 0.05), (30, 0.1, 0.02), (100, 0.03, 0.01), (60, 0.3, 0.2)]
)
@pytest.mark.sampled(4)
def test_the_interval_covers_the_truth(n: int, up: float, down: float) -> None:
    random = np.random.default_rng(17)
    hits, times = 0, 400
    for better, worse, same in random.multinomial(n, [up, down, 1 - up - down], size=times):
        low, high = flipped(int(better), int(worse), int(same)).compare().interval or (9, 9)
        hits += low <= up - down <= high
    assert hits / times >= 0.93


@pytest.mark.parametrize("method", ["t", "bootstrap"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_graded_and_weighted_values_are_covered(method: str) -> None:
    random = np.random.default_rng(23)
    hits, times = 0, (150 if method == "t" else 60) // (1 if LEVEL.ci else 3)
    for _ in range(times):
        weights = random.choice([1.0, 2.0, 5.0], 60)
        pairs = PairedCases()
        for d, w in zip(random.normal(0.1, 0.4, 60), weights, strict=True):
            pairs.add(0.0, d * w, w)
        low, high = pairs.compare(method=method).interval or (9, 9)  # type: ignore[arg-type]
        hits += low <= 0.1 <= high
    assert hits / times >= 0.9


@pytest.mark.slow
def test_equal_runs_are_seldom_told_apart() -> None:
    random = np.random.default_rng(29)
    wrong = sum(
        (flipped(int(up), int(down), int(same)).compare().p or 1) < 0.05
        for up, down, same in random.multinomial(80, [0.15, 0.15, 0.7], size=400)
    )
    assert wrong / 400 <= 0.06


def test_more_cases_are_needed_where_runs_cannot_be_told_apart() -> None:
    found = flipped(9, 7, 100).compare()
    assert found.p is not None
    assert found.p > 0.05
    assert found.more is not None
    assert found.more > 116


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.01, None, 0.03], [0.02, None, 0.03]),
        ([0.9, 0.6], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_holm(found: list[float | None], wanted: list[float | None]) -> None:
    assert [None if p is None else round(p, 9) for p in holm(found)] == wanted


def clustered(values: list[tuple[str, float]]) -> Paired:
    pairs = PairedCases()
    for cluster, d in values:
        pairs.add(0.0, d, 1.0, cluster=cluster)
    return pairs.compare()


def test_a_cluster_is_one_draw() -> None:
    """Four paraphrases of one question that all got better are one change, not four."""
    found = clustered([(f"q{n}", 1.0) for n in range(3) for _ in range(4)] + [("", 0.0)] * 20)
    assert (found.n, found.clusters, found.better, found.same) == (32, 23, 12, 20)
    assert found.difference == pytest.approx(12 / 32)
    assert found.p == pytest.approx(1 / 2**3)
    alone = flipped(12, 0, 20).compare()
    assert alone.clusters is None
    assert (alone.p or 1) < 0.001
    assert found.interval is not None
    assert alone.interval is not None
    assert found.interval[0] < alone.interval[0]


def test_clusters_of_one_case_change_nothing() -> None:
    values = [1.0] * 9 + [-1.0] * 2 + [0.0] * 30
    one = clustered([(f"c{place}", d) for place, d in enumerate(values)])
    two = one_by_one(values)
    for name in ("n", "difference", "interval", "p", "needed", "better", "worse", "same"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)), name


def test_false_verdicts_of_clustered_cases() -> None:
    """Ten paraphrases of each of 20 questions that come out alike: signs turn by question."""
    random = np.random.default_rng(41)
    wrong = plain = 0
    for _ in range(150):
        changes = random.choice([-1.0, 0.0, 1.0], 20, p=[0.2, 0.6, 0.2])
        rows = [(f"q{place}", d) for place, d in enumerate(changes) for _ in range(10)]
        wrong += (clustered(rows).decision_p or 1) < 0.05
        plain += (one_by_one([d for _, d in rows]).decision_p or 1) < 0.05
    assert wrong / 150 <= 0.07
    assert plain / 150 >= 0.3
