"""What labels make of a run: agreement by case, the corrected score, and when it does not hold."""

from collections.abc import Callable

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.labels.agreement import agreement, corrected_scores, latest
from proctor.engine.run.gates import gate_results
from proctor.engine.run.later_findings import with_later_findings
from proctor.engine.run.stored_view import view_of
from proctor.reports.judged import judge_notes
from proctor.reports.structured import to_object
from proctor.store.rows import Label
from proctor.store.store import Store

RATING = Spec(name="rating", params={"question": "How good?"})


def mark(store: Store, run: str, place: int, points: float, index: int = 0) -> None:
    store.labels.add(
        Label(run_id=run, case_id=f"c{place}", index=index, criterion="fits", points=points)
    )


def test_nothing_without_labels(store: Store, put_scored: Callable[..., Run]) -> None:
    run = put_scored(store, "one", [[1.0]] * 5)
    assert corrected_scores(store, run.id) == {}
    view = with_later_findings(store, view_of(store, run.id))
    assert to_object(view)["corrected"] == {}
    assert judge_notes(view.summary) == []
    assert not gate_results(["corrected.low > 0"], view.summary)[0].passed


def test_attempts_of_a_case_are_one_cluster(store: Store, put_scored: Callable[..., Run]) -> None:
    points = [[float(place % 2)] * 5 for place in range(20)]
    put_scored(store, "one", points)
    for place in range(20):
        for index in range(5):
            mark(store, "one", place, float(place % 2 if place > 3 else 1), index)
    labels = latest(store.labels.of_run("one"), "fits")
    kappa = agreement(store, "one", "fits", labels).kappa
    assert (kappa.n, kappa.clusters, kappa.agreed) == (100, 20, 90)
    store_single = put_scored(store, "two", [[float(place % 2)] for place in range(20)])
    for place in range(20):
        mark(store, store_single.id, place, float(place % 2 if place > 3 else 1))
    once = agreement(store, "two", "fits", latest(store.labels.of_run("two"), "fits")).kappa
    assert kappa.interval == pytest.approx(once.interval)  # five equal attempts add nothing


def test_a_kind_judge_is_corrected_everywhere(store: Store, put_scored: Callable[..., Run]) -> None:
    run = put_scored(store, "one", [[float(place % 5 != 0)] for place in range(200)])
    for place in range(0, 200, 7):
        mark(store, "one", place, float(place % 5 != 0 and place % 3 != 0))
    view = with_later_findings(store, view_of(store, run.id))
    score = view.summary.corrected["fits"]
    assert score.raw == pytest.approx(0.8)
    assert score.value is not None
    assert score.interval is not None
    assert 0.3 < score.interval[0] < score.value < 0.7
    assert score.warning == ""
    shown = to_object(view)["corrected"]["fits"]
    assert shown["value"] == score.value
    assert shown["labelled"] == 29
    gates = ["corrected < 0.8", "corrected.low > 0.3", "corrected.fits.high < 0.8"]
    assert all(result.passed for result in gate_results(gates, view.summary))
    assert judge_notes(view.summary)[0].startswith("Corrected fits: ")


def test_labels_in_file_order_are_warned_of(store: Store, put_scored: Callable[..., Run]) -> None:
    run = put_scored(store, "one", [[float(place < 120)] for place in range(200)])
    for place in range(30):
        mark(store, "one", place, 1.0)
    view = with_later_findings(store, view_of(store, run.id))
    score = view.summary.corrected["fits"]
    assert score.unlike is not None
    assert score.unlike < 0.01
    assert "not like the others" in to_object(view)["corrected"]["fits"]["warning"]
    assert judge_notes(view.summary)[1].startswith("Warning: fits: the labelled cases are not like")


def test_ratings_stay_on_their_scale(store: Store, put_scored: Callable[..., Run]) -> None:
    points = [[1.0 + place % 5] for place in range(100)]
    run = put_scored(store, "one", points, scorer=RATING, out_of=None)
    for place in range(0, 100, 3):
        mark(store, "one", place, max(1.0, place % 5))
    view = with_later_findings(store, view_of(store, run.id))
    score = view.summary.corrected["fits"]
    assert score.scale == (1.0, 5.0)
    assert score.raw == pytest.approx(3.0)
    assert score.value is not None
    assert score.interval is not None
    assert 1 <= score.interval[0] < score.value < score.interval[1] < 3
    assert score.bias == pytest.approx(0.8, abs=0.1)
    found = agreement(store, "one", "fits", latest(store.labels.of_run("one"), "fits"))
    assert found.kappa.value is not None
    assert found.kappa.value > 0.7  # one step off is nearly agreement where people rate
    assert found.confusion[0] == (1.0, 1.0, 7)
