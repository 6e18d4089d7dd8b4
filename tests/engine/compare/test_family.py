"""Rows that are shown together are adjusted together."""

from typing import Any, cast

import pytest

from proctor.engine.compare.family import adjusted_together
from proctor.engine.compare.results import Contrast, LeftOut
from proctor.engine.compare.verdict import Flips, GroupContrast
from proctor.stats.paired import PairedCases


def row(better: int, worse: int, same: int) -> dict[str, Any]:
    pairs = PairedCases()
    for first, second, count in ((0, 1, better), (1, 0, worse), (1, 1, same)):
        if count:
            pairs.add(first, second, 1.0, count)
    return {"paired": pairs.compare(), "flips": Flips()}


def contrast(*counts: tuple[int, int, int]) -> Contrast:
    """Make a pair of runs with one row for each further triple."""
    side = cast("Any", None)
    groups = {str(place): GroupContrast(**row(*few)) for place, few in enumerate(counts[1:])}
    return Contrast(
        **row(*counts[0]), first=side, second=side, left_out=LeftOut(), groups={"tag": groups}
    )


def test_pairs_and_groups_are_one_family() -> None:
    one, two = adjusted_together([contrast((9, 0, 50), (8, 0, 20)), contrast((1, 1, 60))], None)
    rows = [one, one.groups["tag"]["0"], two]
    assert [found.tested for found in rows] == [3, 3, 3]
    assert [found.adjusted_p for found in rows] == pytest.approx([3 / 2**9, 2 / 2**8, 1.0])
    assert [found.verdict for found in rows] == ["better", "better", "unclear"]


def test_a_row_without_cases_takes_nothing_from_the_others() -> None:
    one, two = adjusted_together([contrast((9, 0, 50)), contrast((0, 0, 0))], 0.02)
    assert (one.tested, one.level, one.margin) == (1, 0.95, 0.02)
    assert (two.adjusted_p, two.verdict, two.interval) == (None, "nothing", None)


def test_both_extremes_of_the_unscored_must_agree() -> None:
    seen, worst, best = (row(*few)["paired"] for few in ((9, 0, 50), (9, 4, 50), (13, 0, 50)))
    found = GroupContrast(paired=seen, flips=Flips(), extremes=(worst, best))
    assert found.decision_p == pytest.approx(worst.p)
    turned = GroupContrast(paired=seen, flips=Flips(), extremes=(row(9, 12, 50)["paired"], best))
    assert turned.decision_p == 1.0
