"""The chart over time: a real axis, a colour per candidate, a marker at each new edition."""

import pytest

from proctor.web.api.response import ListedRun, ListedTotals
from proctor.web.pages import trend
from proctor.web.pages.trend import HEIGHT, TOP, TrendPoint, cost_point, drawn, over_time


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
