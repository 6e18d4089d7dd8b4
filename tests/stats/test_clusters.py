"""Sums by cluster: one draw for all cases of a cluster, whatever their order."""

import random

import pytest

from proctor.io.json_bytes import dumps, loads
from proctor.stats.clusters import ClusterSums, DrawnSums, sums_for
from proctor.stats.intervals import SHARE, RatioSums, Scale, bootstrap_interval

ROWS = [(1.0, 1.0, "a"), (0.0, 1.0, ""), (1.0, 2.0, "b"), (0.5, 1.0, "a"), (1.0, 1.0, "")]

ODD = [*ROWS, (0.1, 0.3, "\ud800"), (1e308, 0.0, ""), (-0.0, 3.0, "a"), (1 / 3, 0.7, "")]
"""Among them a draw on no scale at all, and a name that is not valid Unicode."""


def summed(
    rows: list[tuple[float, float, str]], kind: type[ClusterSums] = ClusterSums
) -> ClusterSums:
    sums = kind()
    for value, weight, cluster in rows:
        sums.add(value, weight, cluster)
    return sums


def test_a_cluster_is_one_draw() -> None:
    sums = summed(ROWS)
    drawn = RatioSums.of([(0.0, 1.0), (1.0, 1.0), (1.5, 2.0), (1.0, 2.0)])
    assert (sums.n, sums.clusters, sums.rate) == (5, 4, pytest.approx(3.5 / 6))
    assert sums.interval() == pytest.approx(drawn.interval())
    assert sums.interval(Scale(-1, 1)) == pytest.approx(drawn.interval(Scale(-1, 1)))
    assert sums.interval(method="t") == pytest.approx(drawn.interval(method="t"))


def test_without_clusters_every_case_is_a_draw() -> None:
    rows = [(value, weight, "") for value, weight, _ in ROWS]
    sums = summed(rows)
    assert sums.clusters is None
    assert sums.interval() == RatioSums.of((v, w) for v, w, _ in rows).interval()


def test_clusters_of_one_case_change_nothing() -> None:
    rows = [(value, weight, str(n)) for n, (value, weight, _) in enumerate(ROWS)]
    assert summed(rows).clusters == len(ROWS)
    assert summed(rows).interval() == pytest.approx(
        RatioSums.of((v, w) for v, w, _ in ROWS).interval()
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [ClusterSums, DrawnSums])
def test_order_and_cuts_do_not_matter(seed: int, kind: type[ClusterSums]) -> None:
    draw = random.Random(seed)
    rows = [
        (float(draw.random() < 0.7), 1.0, draw.choice(["", "a", "b", "c", "d"])) for _ in range(60)
    ]
    whole = summed(rows, kind)
    mixed = summed(draw.sample(rows, len(rows)), kind)
    parts = kind()
    for start in range(0, 60, 7):
        parts.merge(summed(rows[start : start + 7], kind))
    for other in (mixed, parts):
        assert (other.n, other.clusters) == (whole.n, whole.clusters)
        assert other.draws().interval() == pytest.approx(whole.draws().interval())


@pytest.mark.parametrize("kind", [ClusterSums, DrawnSums])
@pytest.mark.parametrize("cut", range(len(ODD) + 1))
def test_sums_that_went_through_json_are_the_same_to_the_last_bit(
    kind: type[ClusterSums], cut: int
) -> None:
    def parts() -> tuple[ClusterSums, ClusterSums]:
        return summed(ODD[:cut], kind), summed(ODD[cut:], kind)

    (here, there), (kept, other) = parts(), parts()
    sent = [kind.from_json(loads(dumps(one.to_json()))) for one in (here, there)]
    assert repr(sent) == repr([here, there])
    sent[0].merge(sent[1])
    kept.merge(other)
    assert repr(sent[0]) == repr(kept)


def test_resampling_draws_clusters() -> None:
    sums = summed(ROWS, DrawnSums)
    assert sums.interval() == bootstrap_interval([0.0, 1.0, 1.5, 1.0], [1.0, 1.0, 2.0, 2.0], SHARE)
    assert isinstance(sums_for("bootstrap"), DrawnSums)
    assert not isinstance(sums_for("bounded"), DrawnSums)
