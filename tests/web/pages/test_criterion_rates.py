"""Rates of criteria: those that several cases share, with silence counted and penalties told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages import criterion_rates

WEIGHTS = {"right": 2.0, "polite": 1.0, "rude": -1.0, "style": 0.0}
CRITERIA = tuple(
    Criterion(id=name, scorer=Spec(name="judged"), weight=weight)
    for name, weight in WEIGHTS.items()
)


def put(store: Store, put_run: Any, examined: Any) -> None:
    """Store a run of four cases: two scored, one of them in part, one silent, one alone."""
    rows: list[dict[str, Score]] = [
        {"right": Score(points=3.0, out_of=4.0), "polite": Score(points=1.0, out_of=1.0),
         "rude": Score(points=1.0, out_of=1.0), "style": Score(points=1.0, out_of=1.0)},
        {"right": Score(points=1.0, out_of=4.0), "polite": Score.failed("broke"),
         "rude": Score(points=0.0, out_of=1.0), "style": Score(points=1.0, out_of=1.0)},
    ]  # fmt: skip
    cases = []
    for number, scores in enumerate(rows):
        made = examined.plain(f"c{number}", "so", 1.0)
        case = replace(made.case, criteria=CRITERIA)
        cases.append(replace(made, case=case, scores=(scores,)))
    silent = replace(cases[0], case=replace(cases[0].case, id="c2"), scores=({},))
    attempt = Attempt(case_id="c2", status=AttemptStatus.UNANSWERED)
    cases.append(replace(silent, attempts=(attempt,)))
    cases.append(examined.plain("c3", "so", 1.0))
    put_run(store, "several", cases)
    other = [cases[1], replace(cases[1], case=replace(cases[1].case, id="c0")), *cases[2:]]
    put_run(store, "other", other)
    put_run(store, "one", [examined.plain(f"c{number}", "so", 1.0) for number in range(3)])


def test_each_criterion_of_several_cases_has_a_rate(
    tmp_path: Path, put_run: Any, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        put(store, put_run, examined)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        rates = client.get("/runs/several.json").json()["criteria"]
        text = client.get("/runs/several").text
        chinese = client.get("/runs/several?lang=zh").text
        beside = client.get("/compare.json?run=several&run=other&force=1").json()["criteria"]
        compared = client.get("/compare?run=several&run=other&force=1&lang=en").text
        assert client.get("/runs/one.json").json()["criteria"] == []
        assert "By criterion" not in client.get("/runs/one?lang=en").text
    by_name = {one["criterion"]: one for one in rates}
    assert list(by_name) == ["right", "polite", "rude"]
    # No answer is no mark, and takes off nothing; what is unscored is left out.
    assert by_name["right"]["rate"] == pytest.approx((0.75 + 0.25 + 0) / 3)
    assert by_name["polite"]["rate"] == 0.5
    assert by_name["rude"]["rate"] == 0.5
    assert [one["cases"] for one in rates] == [3, 2, 2]
    assert [one["penalty"] for one in rates] == [False, False, True]
    low, high = by_name["right"]["interval"]
    assert 0 <= low < by_name["right"]["rate"] < high <= 1
    assert not by_name["right"]["sampled"]
    assert "By criterion" in text
    assert "takes points off" in text
    assert "各评分项" in chinese
    monkeypatch.setattr(criterion_rates, "MOST_CASES", 3)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        assert all(one["sampled"] for one in client.get("/runs/several.json").json()["criteria"])
    # A sample of a large run would be read from all over its files.
    monkeypatch.setattr(criterion_rates, "LARGEST_RUN", 3)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        assert client.get("/runs/several.json").json()["criteria"] == []
    # Where two runs are compared, the same criteria stand side by side.
    assert [(row["criterion"], row["penalty"]) for row in beside] == [
        ("right", False), ("polite", False), ("rude", True),
    ]  # fmt: skip
    assert [[one and one["rate"] for one in row["rates"]] for row in beside] == [
        [pytest.approx(1 / 3), pytest.approx(0.5 / 3)], [0.5, None], [0.5, 0.0],
    ]  # fmt: skip
    assert "By criterion" in compared
    assert ">16.7% <" in compared
