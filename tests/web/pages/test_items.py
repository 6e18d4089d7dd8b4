"""The page of item analysis: what `proctor items` finds, where that does not take long."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.engine.items.analysis import analyse
from proctor.engine.items.takers import chosen_runs
from proctor.reports.items import items_object
from proctor.store.store import Store
from proctor.web.addresses import case_link
from proctor.web.app import make_app
from proctor.web.pages import items as items_page
from proctor.web.pages.items import show_items


def test_suspicious_cases_have_links_to_their_pages(
    asked: Any, page_pool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with page_pool.lend() as store:
        key = store.runs.get("new").suite_key
    request = asked(f"/suites/{key}/items", suite=key)
    data = show_items(request).data
    assert data.analysis is not None
    assert [one["candidate"] for one in data.analysis["takers"]] == ["new", "old"]
    assert all(one["page"].startswith("/runs/") for one in data.analysis["items"])
    monkeypatch.setattr(items_page, "MOST_CASES", 2)
    large = show_items(request).data
    assert (large.analysis, large.why) == (None, "large")


def test_an_analysis_is_of_all_versions_of_a_suite(
    tmp_path: Any, put_run: Any, examined: Any
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        for name, ids in (("first", "abc"), ("second", "abcd"), ("third", "abcd")):
            run = put_run(
                store, name, [examined.plain(one, "x", float(one != name[0])) for one in ids]
            )
        runs = chosen_runs(store, ["quiz"])
        assert len({one.suite_key for one in runs}) == 2
        told = items_object(analyse(store, runs), case_link)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        shown = client.get(f"/suites/{run.suite_key}/items.json").json()["analysis"]
        assert shown == json.loads(json.dumps(told))
        page = client.get(f"/suites/{run.suite_key}/items").text
        assert "4 cases, 3 candidates in 3 runs of all versions of the suite" in page
