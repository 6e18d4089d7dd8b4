"""What is known of a run since its end, and reports of it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from proctor.core.audit import Estimated, JudgeAudit
from proctor.core.fingerprint import plain
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.run.later_findings import newest_audit, panel_noise, with_later_findings
from proctor.engine.run.stored_view import view_of
from proctor.registry import build
from proctor.reports.structured import to_object
from proctor.store.store import Store

AUDIT = JudgeAudit(
    judge="openai:ruler", cases=40, answers=40, repeats=2, noise_variance=0.04,
    flips=Estimated(value=0.1, interval=(0.02, 0.2), n=40),
)  # fmt: skip


def test_a_run_with_attempts_knows_its_parts(store: Store, put_scored: Callable[..., Run]) -> None:
    run = put_scored(store, "one", [[1.0, float(place % 2), 0.0] for place in range(40)])
    view = with_later_findings(store, view_of(store, run.id))
    budget = view.summary.variance
    assert budget is not None
    assert budget.judge is None
    assert budget.attempts is not None
    text = build("report", Spec(name="table")).render(view)
    assert "Uncertainty: ± " in text
    assert "1 more attempt would give ± " in text
    assert "Noise" not in text
    old = replace(view, summary=replace(view.summary, parts=None))
    again = with_later_findings(store, old).summary.variance
    assert again == budget


def test_the_noise_floor_stands_beside_judged_numbers(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[float(place % 2)] for place in range(40)])
    plainly = with_later_findings(store, view_of(store, run.id))
    assert to_object(plainly)["noise_floor"] is None
    store.audits.save(run.id, "old", 1.0, {"no": "audit"})
    store.audits.save(run.id, AUDIT.judge, 2.0, plain(AUDIT))
    view = with_later_findings(store, view_of(store, run.id))
    floor = AUDIT.noise_floor(40)
    assert floor is not None
    shown = to_object(view)
    assert shown["noise_floor"] == pytest.approx(floor.value)
    assert shown["groups"]["metric"]["judged"]["noise_floor"] == pytest.approx(floor.value)
    assert shown["variance"]["judge"] == pytest.approx(floor.value / 2**0.5)
    for name in ("table", "md"):
        text = build("report", Spec(name=name)).render(view)
        assert "Noise" in text
        assert f"± {100 * floor.value:.1f}" in text
        assert "Noise floor: ±" in text
    lines = build("report", Spec(name="csv")).render(view).splitlines()
    assert lines[0].endswith(",cases,noise_floor")
    assert float(lines[1].split(",")[-1]) == pytest.approx(floor.value)
    assert f"± {100 * floor.value:.1f}</td>" in build("report", Spec(name="html")).render(view)
    store.runs.delete(run.id)
    assert store.audits.of_run(run.id) == []


def test_clusters_are_counted_in_csv_where_there_are_any(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0]] * 6, clusters=lambda place: f"passage {place // 3}")
    lines = build("report", Spec(name="csv")).render(view_of(store, run.id)).splitlines()
    assert lines[0].endswith(",cases,clusters")
    assert lines[1].endswith(",6,2")


def test_the_noise_floor_goes_by_weights_and_by_what_is_scored(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    # One case weighs as much as all others together, and two have no value.
    weights = [37.0, *[1.0] * 39]
    points = [[None] if place in (1, 2) else [1.0] for place in range(40)]
    run = put_scored(store, "one", points, weights=weights)
    store.audits.save(run.id, AUDIT.judge, 2.0, plain(AUDIT))
    summary = with_later_findings(store, view_of(store, run.id)).summary
    floor = summary.noise_floor(summary.totals)
    assert floor is not None
    # Of a rate Σwx ÷ Σw judged twice, the variance of the difference is 2v · Σw² ÷ (Σw)².
    spread = (2 * 0.04 * (37**2 + 37)) ** 0.5 / 74
    assert floor.value == pytest.approx(1.96 * spread, rel=1e-3)


@pytest.mark.parametrize(("reduce", "averaged"), [("avg", 4.0), ("max", 1.0)])
def test_several_attempts_lower_the_noise_floor_where_they_are_averaged(
    store: Store, put_scored: Callable[..., Run], reduce: str, averaged: float
) -> None:
    run = put_scored(store, "one", [[1.0, 0.0, 1.0, 1.0]] * 40, reduce=reduce)
    store.audits.save(run.id, AUDIT.judge, 2.0, plain(AUDIT))
    summary = with_later_findings(store, view_of(store, run.id)).summary
    floor, single = summary.noise_floor(summary.totals), AUDIT.noise_floor(40)
    assert floor is not None
    assert single is not None
    assert floor.value == pytest.approx(single.value / averaged**0.5)


def test_a_metric_that_no_judge_gives_has_no_noise_floor(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[float(place % 2)] for place in range(40)])
    own = Estimated(value=0.09, interval=(0.01, 0.2), n=40)
    for metric, expected in (("judged", 1.96 * (2 * 0.09 / 40) ** 0.5), ("other", None)):
        audit = replace(AUDIT, noise_by_metric={metric: own})
        store.audits.save(run.id, AUDIT.judge, 2.0, plain(audit))
        view = with_later_findings(store, view_of(store, run.id))
        row = to_object(view)["groups"]["metric"]["judged"]
        assert row.get("noise_floor") == (expected and pytest.approx(expected, rel=1e-3))
        table = build("report", Spec(name="md")).render(view)
        cell = next(row for row in table.splitlines() if row.startswith("| metric: judged"))
        assert cell.endswith("| – |") == (expected is None)


def test_single_rulings_of_a_panel_show_the_judges_part(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    def detail(place: int, index: int) -> object:
        return {"raw": ["x"], "panel": [{"points": 1.0}, {"points": float(place % 2)}]}

    run = put_scored(store, "one", [[1.0]] * 40, detail=detail)
    assert panel_noise(store, run) is None
    judged = replace(run, settings={"judges": [{"model": "a"}, {"model": "b"}]})
    # Half of the cases are divided, 1 to 0: a variance of 1/2, of the mean of two 1/4.
    assert panel_noise(store, judged) == pytest.approx(1 / 8)
    store.runs.save(judged)
    budget = with_later_findings(store, view_of(store, run.id)).summary.variance
    assert budget is not None
    assert budget.judge == pytest.approx(
        min(budget.half_width, 1.96 * (1 / 8 / 40) ** 0.5), rel=1e-3
    )


def test_an_audit_that_cannot_be_read_is_none(store: Store) -> None:
    store.audits.save("r", "x", 1.0, {"judge": "x", "flips": 7})
    assert newest_audit(store, "r") is None
