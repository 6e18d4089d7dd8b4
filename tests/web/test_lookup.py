"""Runs and suites that requests name: a 404 where there is none, and totals only if sound."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from proctor.core.run import Run, RunStatus
from proctor.core.suite import Spec, Suite
from proctor.errors import StoreGone
from proctor.store.store import Store
from proctor.web.lookup import listed_run, the_run, the_suite

RUN = Run(
    id="abcd1234",
    name="mine",
    suite="s",
    suite_key="k" * 12,
    candidate=Spec(name="recorded", params={"name": "answers"}),
    status=RunStatus.COMPLETE,
)
TOTALS = {
    "score": 1.0, "full": 2.0, "rate": 0.5, "spread": 0.0, "interval": [0.1, 0.9], "cases": 2,
    "attempts": 2, "unanswered": 1, "unscored": 0, "errors": 0, "cases_unscored": 0, "bounds": None,
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "p.db")) as opened:
        opened.runs.save(RUN)
        yield opened


def request(run: str, path: str = "/runs/x") -> Request:
    return Request({"type": "http", "path": path, "headers": [], "path_params": {"run": run}})


def test_a_run_is_found_as_people_name_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for reference in ("abcd1234", "mine", "abcd", "@last"):
        assert the_run(store, request(reference)).id == RUN.id
    assert the_run(store, request("mine.json", "/runs/mine.json")).id == RUN.id
    for wrong in ("gone", "mine.json", "@first"):
        with pytest.raises(HTTPException) as caught:
            the_run(store, request(wrong))
        assert (caught.value.status_code, "no run" in caught.value.detail) == (404, True)

    def gone(_: str) -> Run:
        raise StoreGone("the file is gone")

    monkeypatch.setattr(store.runs, "get", gone)
    with pytest.raises(StoreGone):
        the_run(store, request("mine"))


def test_a_suite_is_one_or_none(store: Store) -> None:
    for key in ("a" * 12, "b" * 12, "b" * 11 + "c"):
        store.suites.put(Suite(name=key, cases=()), key, [])
    assert the_suite(store, "a" * 8).key == "a" * 12
    assert the_suite(store, "b" * 12).key == "b" * 12
    for wrong in ("b" * 8, "c" * 8, "a"):
        with pytest.raises(HTTPException, match="no suite"):
            the_suite(store, wrong)


def test_totals_are_shown_only_where_all_numbers_can_be_read(store: Store) -> None:
    none = listed_run(store, RUN)
    assert (none.status, none.totals.rate, none.totals.errors) == ("complete", None, 0)
    store.summaries.save(RUN.id, {"totals": TOTALS})
    whole = listed_run(store, RUN)
    assert (whole.candidate, whole.totals.rate, whole.totals.unanswered) == ("answers", 0.5, 1)
    store.summaries.save(RUN.id, {"totals": {**TOTALS, "rate": "half"}})
    broken = listed_run(store, RUN)
    assert (broken.status, broken.totals.rate, broken.totals.score) == ("broken", None, None)
