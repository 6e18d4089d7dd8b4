"""Means of ratings: what is only shown has a mean on the page of its run."""

from dataclasses import replace
from typing import Any

from proctor.core.score import Score
from proctor.store.store import Store
from proctor.web.pages.ratings import mean_ratings
from proctor.web.store_pool import StorePool


def test_a_rating_that_is_only_shown_has_a_mean(
    tmp_path: Any, put_run: Any, examined: Any, asked: Any
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        cases = [
            replace(
                examined.plain(f"c{place}", "so", 1.0), scores=({"fits": Score(points=points)},)
            )
            for place, points in enumerate((2.0, 4.0, 3.0, 3.0))
        ]
        put_run(store, "rated", cases)
        put_run(store, "counted", [examined.plain("a", "so", 1.0)])
    pool = StorePool(path)
    request = asked("/")
    request.scope["app"].state.store_pool = pool
    with pool.lend() as store:
        (one,) = mean_ratings(request, store, store.runs.get("rated"))
        assert mean_ratings(request, store, store.runs.get("counted")) == []
    pool.close()
    assert (one.criterion, one.mean, one.least, one.most) == ("fits", 3.0, 2.0, 4.0)
    assert (one.cases, one.sampled) == (4, False)
    assert one.interval is not None
    assert one.interval[0] < 3.0 < one.interval[1]
