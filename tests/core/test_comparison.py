"""Comparisons: seen from either side, settled over both orders, counted."""

from dataclasses import replace
from math import isnan, nan

import pytest

from proctor.core.comparison import Comparison, Preference, Standing, Tally, placed, settle
from proctor.core.encoding import comparison_from
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain

FIRST, SECOND, TIE, INVALID = Preference

ONE = Comparison(
    case_id="c",
    first="a",
    second="b",
    first_index=1,
    second_index=2,
    judge="j",
    outcome=FIRST,
    scores=(8.0, 5.0),
    reason="r",
    raw=("x", "y"),
    usage=Usage(calls=2, prompt_tokens=3),
)


def test_a_comparison_seen_from_the_other_side() -> None:
    other = ONE.seen_by("b")
    assert (other.first, other.second, other.first_index, other.second_index) == ("b", "a", 2, 1)
    assert (other.outcome, other.scores) == (SECOND, (5.0, 8.0))
    assert other.seen_by("a") == ONE
    assert ONE.seen_by("a") is ONE
    for same in (TIE, INVALID):
        assert replace(ONE, outcome=same, scores=None).seen_by("b").outcome is same


@pytest.mark.parametrize(
    ("outcomes", "settled"),
    [
        ([FIRST], FIRST),
        ([FIRST, FIRST], FIRST),
        ([SECOND, SECOND], SECOND),
        ([FIRST, SECOND], TIE),
        ([FIRST, TIE], TIE),
        ([TIE, TIE], TIE),
        ([FIRST, INVALID], INVALID),
        ([INVALID, INVALID], INVALID),
    ],
)
def test_a_win_counts_only_where_all_orders_agree(
    outcomes: list[Preference], settled: Preference
) -> None:
    assert settle(outcomes) is settled


def test_placed_leaves_out_what_lacks_an_order() -> None:
    back = ONE.seen_by("b")
    alone = replace(ONE, case_id="d")
    assert placed([ONE, back, alone], "a", 2) == {("c", 1, 2): [ONE, back.seen_by("a")]}
    assert list(placed([back, alone], "b", 1)) == [("c", 2, 1), ("d", 2, 1)]


def test_a_tally() -> None:
    tally = Tally.of([FIRST, FIRST, TIE, SECOND, INVALID])
    assert (tally.win, tally.tie, tally.loss, tally.invalid, tally.valid) == (2, 1, 1, 1, 4)
    assert (tally.win_rate, tally.share) == (0.5, 0.625)
    assert (Tally().win_rate, Tally(invalid=3).share) == (None, None)


def test_the_scale_of_chess() -> None:
    found = Standing(run="a", rank=1, strength=2.302585092994046, interval=(0.0, 4.605170185988092))
    assert found.elo == pytest.approx(1400)
    assert found.elo_interval == pytest.approx((1000, 1800))


def test_a_comparison_survives_json() -> None:
    assert comparison_from(plain(ONE)) == ONE
    bare = Comparison(case_id="c", first="a", second="b", outcome=INVALID)
    assert comparison_from(plain(bare)) == bare
    strange = comparison_from({**plain(ONE), "scores": [None, 5.0]}).scores
    assert strange is not None
    assert isnan(strange[0])
    assert replace(ONE, scores=(nan, 5.0)).scores != ONE.scores
