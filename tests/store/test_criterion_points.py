"""The marks of one criterion: where they are, how many are picked, and what does not count."""

import pytest

from proctor.core.case_value import ValueStatus
from proctor.core.score import Score, ScoreStatus
from proctor.store import criterion_points
from proctor.store.criterion_points import CriterionMark
from proctor.store.rows import ResultRow, RunAttempt
from proctor.store.store import Store


def row(place: int) -> ResultRow:
    return ResultRow(
        position=place, case_id=f"c{place}", status=ValueStatus.SCORED, value=1.0, full=1.0,
        weight=1.0, low=1.0, high=1.0, spread=0.0,
    )  # fmt: skip


def test_marks_of_a_criterion(store: Store) -> None:
    store.results.put("r", [row(place) for place in range(5)])
    scores = [
        Score(points=1.0, out_of=2.0),
        Score(points=0.0),
        Score.failed("no verdict", out_of=1.0),
        Score(status=ScoreStatus.NOT_APPLICABLE),
        Score(points=3.0, out_of=4.0),
    ]
    store.scores.put((f"k{n}", "judged", score) for n, score in enumerate(scores))
    store.attempts.link(
        "r",
        [
            RunAttempt(position=n, index=n % 2, attempt_key="x", score_keys={"fits": f"k{n}"})
            for n in range(5)
        ],
    )
    assert sorted(store.criterion_points.of_places("r", "fits", range(5))) == [
        CriterionMark(0, 0, 1.0, 2.0),
        CriterionMark(1, 1, 0.0, 1.0),
        CriterionMark(4, 0, 3.0, 4.0),
    ]
    assert list(store.criterion_points.of_places("r", "fits", [2, 3])) == []
    assert list(store.criterion_points.of_places("r", "other", range(5))) == []
    assert store.criterion_points.places("r", ["c1", "c3", "none"]) == {"c1": 1, "c3": 3}


def test_some_places_are_picked_all_over_a_run(store: Store) -> None:
    store.results.put("r", [row(place) for place in range(2000)])
    assert store.criterion_points.sample_places("r", 2000) == list(range(2000))
    some = store.criterion_points.sample_places("r", 200)
    assert 150 < len(some) < 250
    assert {place // 500 for place in some} == {0, 1, 2, 3}
    assert {place % 7 for place in some} == set(range(7))
    assert store.criterion_points.sample_places("none", 10) == []


def test_in_a_large_run_neighbours_are_picked_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.results.put("r", [row(place) for place in range(2000)])
    points = store.criterion_points
    scattered = points.sample_places("r", 200)
    assert points.sample_places("r", 200, together=10) == scattered
    monkeypatch.setattr(criterion_points, "_SCATTERED", 1_999)
    some = points.sample_places("r", 200, together=10)
    assert 100 < len(some) < 300
    assert len({place // 10 for place in some}) == len(some) / 10
    assert len({place // 500 for place in some}) == 4
    assert criterion_points._sampled(2000, 200, 10) == some


def test_scores_out_of_nothing_are_only_shown(store: Store) -> None:
    store.results.put("r", [row(place) for place in range(3)])
    scores = [Score(points=4.0), Score(points=2.0, out_of=5.0), Score.failed("no verdict")]
    store.scores.put((f"k{n}", "judged", score) for n, score in enumerate(scores))
    links = [
        RunAttempt(position=n, index=0, attempt_key="x", score_keys={f"c{n}": f"k{n}"})
        for n in range(3)
    ]
    store.attempts.link("r", links)
    assert list(store.criterion_points.only_shown("r", range(3))) == [(0, "c0", 4.0)]
