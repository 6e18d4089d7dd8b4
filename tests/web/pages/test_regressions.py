"""What got worse: the newest run of each candidate against its baseline."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.suite import Spec
from proctor.store.store import Store
from proctor.web.pages.regressions import RatePoint, dropped, spark, trends
from proctor.web.store_pool import StorePool


@pytest.fixture
def pool(tmp_path: Any, put_run: Any, examined: Any) -> Any:
    """Store three runs of one candidate, the last much worse than the one before."""
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        for number, (name, right) in enumerate([("one", 10), ("two", 30), ("three", 2)]):
            cases = [examined.plain(f"c{n}", "so", float(n < right)) for n in range(30)]
            run = put_run(store, name, cases)
            candidate = Spec(name="recorded", params={"name": "same"})
            store.runs.save(replace(run, candidate=candidate, started=1000.0 + number))
    pool = StorePool(path)
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("pinned", "baseline", "before"), [("", "two", 1.0), ("one", "one", 1 / 3)]
)
def test_a_run_is_compared_with_the_pinned_run_or_the_previous_one(
    pool: Any, asked: Any, pinned: str, baseline: str, before: float
) -> None:
    request = asked("/")
    request.scope["app"].state.store_pool = pool
    with pool.lend() as store:
        if pinned:
            store.baselines.pin("quiz", pinned)
        (found,) = dropped(request, store, store.runs.newest())
    assert (found.run, found.baseline, found.pinned) == ("three", baseline, bool(pinned))
    assert (found.before, found.verdict) == (pytest.approx(before), "worse")
    assert found.link == f"/compare?run={baseline}&run=three"


def test_the_baseline_itself_and_better_runs_are_not_listed(pool: Any, asked: Any) -> None:
    with pool.lend() as store:
        store.baselines.pin("quiz", "three")
        assert dropped(asked("/"), store, store.runs.newest()) == []
        store.baselines.clear("quiz")
        assert dropped(asked("/"), store, store.runs.newest()[1:]) == []


def test_the_line_of_a_suite_begins_with_the_oldest_run(pool: Any) -> None:
    with pool.lend() as store:
        (line,) = trends(store, store.runs.newest()).values()
    assert [one.run for one in line] == ["one", "two", "three"]
    points = [RatePoint(run="", candidate="", started=0.0, rate=rate) for rate in (0.0, 1.0)]
    assert spark(points) == "0.0,18.0 100.0,2.0"


def test_the_line_is_of_a_candidate_that_was_run_more_than_once(pool: Any) -> None:
    with pool.lend() as store:
        newest = store.runs.get("three")
        candidate = Spec(name="recorded", params={"name": "new"})
        store.runs.save(replace(newest, candidate=candidate))
        (line,) = trends(store, store.runs.newest()).values()
        assert [one.run for one in line] == ["one", "two"]
        store.runs.save(replace(store.runs.get("two"), candidate=candidate))
        (line,) = trends(store, store.runs.newest()).values()
    assert [one.run for one in line] == ["two", "three"]
