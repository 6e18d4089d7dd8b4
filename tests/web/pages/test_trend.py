"""The chart over time: a real axis, a colour per candidate, a marker at each new edition."""

from typing import Any

import pytest

from proctor.web.api.response import ListedRun, ListedTotals
from proctor.web.pages import trend
from proctor.web.pages.trend import (
    COLOURS,
    HEIGHT,
    TOP,
    CostPoint,
    TrendPoint,
    colours_of,
    cost_point,
    drawn,
    drawn_by_cost,
    over_time,
)


def run(name: str, rate: float | None, started: float) -> ListedRun:
    """Make a run of what the chart looks at; the rest of it is left out."""
    return ListedRun.model_construct(
        id=name,
        name=name,
        candidate="m",
        imported=False,
        started=started,
        suite_key="k",
        totals=ListedTotals.model_construct(rate=rate, interval=None),
    )


def point(started: float, rate: float, **more: object) -> TrendPoint:
    (one,) = over_time([run("r", rate, started)])
    return one.model_copy(update=more)


def test_over_time_has_the_newest_runs_that_have_a_rate_the_oldest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [run("third", 0.5, 3.0), run("first", 0.0, 1.0), run("none", None, 4.0)]
    runs.append(run("second", 0.25, 2.0))
    assert [one.run for one in over_time(runs)] == ["first", "second", "third"]
    monkeypatch.setattr(trend, "MOST_POINTS", 2)
    assert [one.run for one in over_time(runs)] == ["second", "third"]


def test_a_better_run_is_drawn_higher_and_all_of_it_is_in_the_picture() -> None:
    picture = drawn([point(1.0, 0.25, interval=(-0.5, 1.5)), point(2.0, 0.75)])
    low, high = picture["points"]
    assert low["x"] < high["x"]
    assert low["y"] > high["y"]
    assert TOP <= low["high"] < low["y"] < low["low"] <= HEIGHT
    assert (high["low"], high["high"]) == (None, None)
    assert [line["rate"] for line in picture["lines"]] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert drawn([])["points"] == []


def test_distances_are_times_and_colours_are_candidates() -> None:
    days = [
        point(day * 86_400.0, 0.5, candidate=name) for day, name in ((0, "a"), (1, "b"), (9, "a"))
    ]
    picture = drawn(days)
    first, second, third = (one["x"] for one in picture["points"])
    assert third - second == pytest.approx(8 * (second - first), abs=1)
    assert [one["colour"] for one in picture["points"]] == [0, 1, 0]
    assert [(path["name"], path["count"]) for path in picture["paths"]] == [("a", 2), ("b", 1)]
    assert (picture["ticks"][0]["label"], picture["editions"]) == ("1970-01-01", [])


def test_a_new_edition_of_the_suite_is_marked() -> None:
    picture = drawn([point(1.0, 0.5), point(2.0, 0.5, suite_key="new")])
    assert picture["editions"] == [picture["points"][1]["x"]]
    assert len(drawn([point(1.0, 0.5)])["ticks"]) == 1


def test_the_cost_of_a_run_is_its_candidates_alone() -> None:
    one = run("r", 0.5, 1.0)
    one.totals.cases = 4
    roles = {"candidate": {"cost": 1.0}, "judge": {"cost": 2.0}}
    shown = cost_point(one, {"cost": 3.0, "roles": roles})
    assert shown is not None
    assert shown.cost == 0.25
    assert cost_point(one, {"cost": 3.0, "roles": {"judge": {"cost": 3.0}}}) is None
    assert cost_point(one, {"cost": 3.0}) is None


def test_six_candidates_have_colours_and_of_more_those_of_most_runs() -> None:
    names = list("abcdef")
    assert sorted(colours_of(names).values()) == list(range(COLOURS))
    colours = colours_of([*names, "g", "g", "h", "h"])
    assert (colours["g"], colours["h"]) == (3, 4)
    assert [name for name, colour in colours.items() if colour == COLOURS - 1] == ["d", "e", "f"]


def test_a_chosen_candidate_is_the_only_one_with_a_colour() -> None:
    assert colours_of(["a", "b", "c", "b"], "b") == {"a": COLOURS - 1, "b": 0, "c": COLOURS - 1}
    assert colours_of(["a", "b"], "nobody") == {"a": 0, "b": 1}
    points = [point(1.0, 0.5, candidate="a"), point(2.0, 0.5, candidate="b")]
    assert [one["colour"] for one in drawn(points, "b")["points"]] == [COLOURS - 1, 0]


def by_cost(*costs: float, rate: float = 0.5) -> dict[str, Any]:
    return drawn_by_cost(
        [
            CostPoint(run=str(n), name="r", candidate="m", cost=cost, rate=rate, interval=None)
            for n, cost in enumerate(costs)
        ],
        {"m": 0},
    )


def test_costs_that_lie_far_apart_are_drawn_by_factors() -> None:
    near = by_cost(0.01, 0.02, 0.04)
    low, middle, high = (one["x"] for one in near["points"])
    assert not near["stretched"]
    assert high - middle == pytest.approx(2 * (middle - low), abs=0.5)
    assert near["ticks"][0]["cost"] == 0
    far = by_cost(0.0001, 0.001, 0.01)
    low, middle, high = (one["x"] for one in far["points"])
    assert far["stretched"]
    assert high - middle == pytest.approx(middle - low, abs=0.5)
    assert far["ticks"][0]["cost"] == pytest.approx(0.0001)
    assert not by_cost(0.0, 1.0)["stretched"]
    assert by_cost(0.0)["points"][0]["x"] == near["ticks"][0]["x"]


def test_a_rate_below_nothing_is_drawn_below_nothing() -> None:
    picture = by_cost(1.0, rate=-0.5)
    zero = next(line["y"] for line in picture["lines"] if line["rate"] == 0)
    assert picture["points"][0]["y"] > zero
