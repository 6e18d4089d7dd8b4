"""One store for the tests of single pages, and requests that reach a handler without a server."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from starlette.requests import Request

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.comparison import Comparison, Preference
from proctor.core.run import RunStatus
from proctor.store.store import Store
from proctor.web.store_pool import StorePool


@pytest.fixture(scope="session")
def page_pool(
    tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any
) -> Iterator[StorePool]:
    """Store two finished runs of five cases, one under way, and what a judge preferred."""
    path = str(tmp_path_factory.mktemp("pages") / "p.db")

    def cases(right: str) -> list[Any]:
        plain = [examined.plain(name, f"say {name}", float(name in right)) for name in "abcd"]
        broken = examined.plain("e", "x", 0.0)
        lost = Attempt(case_id="e", status=AttemptStatus.ERROR, error="gone")
        return [*plain, replace(broken, attempts=(lost,), scores=({},))]

    with Store.open(path) as store:
        put_run(store, "old", cases("a"))
        run = put_run(store, "new", cases("abc"))
        started = {"old": 1000.0, "new": 2000.0}
        for name, moment in started.items():
            store.runs.save(replace(store.runs.get(name), started=moment))
        going = replace(run, id="going", name="going", status=RunStatus.INTERRUPTED, started=3000.0)
        store.runs.save(replace(going, settings={"attempts": 2}))
        store.comparisons.put(
            (f"{case}-{first}", "c", Comparison(
                case_id=case, first=first, second=second, judge="strict", asked="a",
                outcome=outcome, reason="clearer",
            ))
            for case in "ab"
            for first, second, outcome in (
                ("old", "new", Preference.SECOND), ("new", "old", Preference.FIRST)
            )
        )  # fmt: skip
    pool = StorePool(path)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def asked(page_pool: StorePool) -> Callable[..., Request]:
    """Give the function that makes the request for an address."""

    def make(path: str, query: str = "", **params: str) -> Request:
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": quote(path).encode(),
            "query_string": query.encode(),
            "headers": [],
            "path_params": params,
            "app": SimpleNamespace(state=SimpleNamespace(store_pool=page_pool)),
        }
        return Request(scope)

    return make
