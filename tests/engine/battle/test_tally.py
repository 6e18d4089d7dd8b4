"""From comparisons to numbers: seats, orders, what is missing, tags and places."""

from typing import Any

import pytest

from proctor.core.comparison import Comparison, Contender, Pair, Preference
from proctor.engine.battle.tally import Facing, Grouping, faced, leaderboard, never_met, pair_of

FIRST, SECOND, TIE, INVALID = Preference


def shown(first: str, second: str, outcome: Preference, case: str = "1", **more: Any) -> Comparison:
    return Comparison(
        case_id=case, first=first, second=second, outcome=outcome, **{"judge": "j", **more}
    )


def one_pair(*comparisons: Comparison, orders: int = 2, expected: int = 1, **how: Any) -> Pair:
    (facing,) = faced(comparisons, ["a", "b"], orders)
    return pair_of(facing, expected=expected, grouping=Grouping(**how))


@pytest.mark.parametrize(
    ("there", "back", "counts"),
    [
        (FIRST, SECOND, (1, 0, 0, 0)),
        (SECOND, FIRST, (0, 0, 1, 0)),
        (TIE, TIE, (0, 1, 0, 0)),
        (FIRST, FIRST, (0, 1, 0, 0)),
        (FIRST, TIE, (0, 1, 0, 0)),
        (FIRST, INVALID, (0, 0, 0, 1)),
    ],
)
def test_a_win_needs_both_orders(
    there: Preference, back: Preference, counts: tuple[int, ...]
) -> None:
    pair = one_pair(shown("a", "b", there), shown("b", "a", back))
    assert (pair.win, pair.tie, pair.loss, pair.invalid) == counts
    assert pair.missing == 0


def test_a_pair_with_one_order_alone_is_missing_where_two_are_asked_for() -> None:
    assert one_pair(shown("a", "b", FIRST)).missing == 1
    assert one_pair(shown("a", "b", FIRST), orders=1).missing == 0
    assert one_pair(shown("a", "b", FIRST), orders=1, expected=0).missing == 0


def test_marks_are_seen_from_the_first_run_and_unreadable_ones_do_not_count() -> None:
    pair = one_pair(
        shown("a", "b", FIRST, scores=(9.0, 1.0)),
        shown("b", "a", SECOND, scores=(3.0, 7.0)),
        shown("a", "b", INVALID, "2", scores=(0.0, 0.0)),
        shown("b", "a", FIRST, "2"),
        expected=2,
    )
    assert pair.scores == (8.0, 2.0)
    assert (pair.win, pair.invalid) == (1, 1)
    assert one_pair(shown("a", "b", TIE), orders=1).scores is None


def test_seats_and_agreement_count_what_a_judge_said_alone() -> None:
    plain = shown("a", "b", FIRST, "3", judge=""), shown("b", "a", SECOND, "3", judge="")
    assert (one_pair(*plain).first_seat, one_pair(*plain).agreement) == (None, None)
    pair = one_pair(
        *plain,
        shown("a", "b", FIRST),
        shown("b", "a", FIRST),
        shown("a", "b", TIE, "2"),
        shown("b", "a", SECOND, "2"),
        expected=3,
    )
    assert pair.first_seat == pytest.approx(2 / 3)
    assert pair.agreement == 0.0


def test_a_case_counts_once_in_each_of_its_groups() -> None:
    tags = {"1": {"lang": ("x", "x", "y")}, "2": {"lang": ("y",)}}
    pair = one_pair(
        shown("a", "b", FIRST), shown("a", "b", SECOND, "2"), orders=1, expected=2, tags=tags
    )
    assert {value: (one.win, one.loss) for value, one in pair.groups["lang"].items()} == {
        "x": (1, 0),
        "y": (1, 1),
    }


def test_comparisons_are_sorted_by_the_order_of_the_runs() -> None:
    facings = faced([shown("c", "a", FIRST), shown("b", "c", TIE)], ["a", "b", "c"], 1)
    assert [(one.first, one.second, len(one.shown)) for one in facings] == [
        ("a", "b", 0),
        ("a", "c", 1),
        ("b", "c", 1),
    ]
    assert list(facings[1].outcomes.values()) == [SECOND]


def board(*comparisons: Comparison, runs: str = "abc") -> list[tuple[str, int, int, int, int]]:
    facings: list[Facing] = faced(comparisons, list(runs), 1)
    pairs = [pair_of(facing, expected=0, grouping=Grouping()) for facing in facings]
    contenders = [Contender(run=run, name=run, candidate=run) for run in runs]
    standings = leaderboard(facings, pairs, contenders, Grouping())
    assert sum(standing.strength for standing in standings) == pytest.approx(0, abs=1e-6)
    return [(one.run, one.rank, one.win, one.tie, one.loss) for one in standings]


def test_the_strongest_comes_first_with_wins_from_either_side() -> None:
    assert board(
        shown("a", "b", SECOND), shown("a", "c", SECOND, "2"), shown("b", "c", SECOND, "3")
    ) == [("c", 1, 2, 0, 0), ("b", 2, 1, 0, 1), ("a", 3, 0, 0, 2)]


def test_equal_runs_share_a_rank_and_the_next_one_is_left_out() -> None:
    placed = board(shown("a", "b", TIE), shown("a", "c", FIRST, "2"), shown("b", "c", FIRST, "3"))
    assert [(run, rank) for run, rank, *_ in placed] == [("a", 1), ("b", 1), ("c", 3)]


def test_a_place_that_only_one_run_had_says_nothing_of_the_judge() -> None:
    always = [shown("a", "b", FIRST, str(n)) for n in range(4)]
    assert one_pair(*always, orders=1).first_seat is None
    mixed = [*always, shown("b", "a", SECOND, "9")]
    assert one_pair(*mixed, orders=1).first_seat == 0.8


def test_six_of_six_is_no_certainty() -> None:
    won = [shown("a", "b", FIRST, str(n)) for n in range(6)]
    assert one_pair(*won, orders=1).interval == pytest.approx((0.5407, 1.0), abs=1e-4)


def test_cases_of_a_cluster_are_one_draw() -> None:
    """Five paraphrases of each of two questions that all went one way are two wins, not ten."""
    won = [shown("a", "b", FIRST, str(n)) for n in range(10)]
    clusters = {str(n): f"q{n % 2}" for n in range(10)}
    alone, two = one_pair(*won, orders=1), one_pair(*won[:2], orders=1)
    together = one_pair(*won, orders=1, clusters=clusters)
    assert together.win == alone.win == 10
    assert together.interval == pytest.approx(two.interval)
    assert alone.interval is not None
    assert together.interval is not None
    assert together.interval[0] < 0.2 < alone.interval[0]


def test_strengths_are_drawn_by_cluster() -> None:
    comparisons = [
        shown(*sides, FIRST if n % 10 < 6 else SECOND, str(n))
        for n in range(60)
        for sides in (("a", "b"), ("b", "c"))
    ]
    facings = faced(comparisons, ["a", "b", "c"], 1)
    contenders = [Contender(run=run, name=run, candidate=run) for run in "abc"]
    widths = []
    for clusters in ({}, {str(n): f"q{n % 10}" for n in range(60)}):
        grouping = Grouping(clusters=clusters)
        pairs = [pair_of(facing, expected=0, grouping=grouping) for facing in facings]
        best = leaderboard(facings, pairs, contenders, grouping)[0]
        assert best.interval is not None
        widths.append(best.interval[1] - best.interval[0])
    assert widths[1] > 1.8 * widths[0]


def test_a_run_without_games_has_no_strength() -> None:
    runs = ["a", "b", "c"]
    comparisons = [shown("a", "b", FIRST), shown("a", "c", INVALID), shown("b", "c", INVALID)]
    facings = faced(comparisons, runs, 1)
    pairs = [pair_of(facing, expected=1, grouping=Grouping()) for facing in facings]
    contenders = [Contender(run=run, name=run, candidate=run) for run in runs]
    *others, last = leaderboard(facings, pairs, contenders, Grouping())
    assert [standing.run for standing in others] == ["a", "b"]
    assert (last.run, last.interval, last.elo, last.elo_interval) == ("c", None, None, None)
    assert all(standing.interval is not None for standing in others)


def test_groups_that_never_met() -> None:
    def pair(first: str, second: str, win: int) -> Pair:
        return Pair(first=first, second=second, win=win)

    runs = list("abcde")
    apart = [pair("a", "b", 1), pair("c", "d", 2), pair("b", "c", 0), pair("a", "e", 0)]
    assert never_met(apart, runs) == [["a", "b"], ["c", "d"]]
    assert never_met([*apart, pair("d", "b", 1)], runs) == [["a", "b", "c", "d"]]
