"""A search on the pages of runs in parts: how far each request got, and the page that goes on."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from browsing import new_page
from page_text import own_elements, without_files
from proctor.store.parts import searching
from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store
from proctor.web import store_pool
from proctor.web.app import make_app

CASES = 40
MATCHING = [f"c{n:02}" for n in range(CASES) if n % 3 == 0]
BOTH = {"run": ["a", "b"], "kind": "both_wrong"}


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a request search in no more than one window."""
    monkeypatch.setattr(searching, "WINDOW", 4)
    monkeypatch.setattr(searching, "SCANS", searching._Scans())
    monkeypatch.setattr(store_pool, "SEARCH_SECONDS", 0.0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("searched") / "p.db")
    with Store.open(path) as store:
        for name in ("a", "b"):
            texts = ["Fox" if n % 3 == 0 else "nothing" for n in range(CASES)]
            cases = [examined.plain(f"c{n:02}", text, 0.0) for n, text in enumerate(texts)]
            put_run(store, name, cases)
            move_to_parts(store, name, cases=16)
    return path


@pytest.fixture
def client(place: str) -> Iterator[TestClient]:
    with TestClient(make_app(place), base_url="http://127.0.0.1") as made:
        yield made


@pytest.mark.parametrize("compared", [False, True])
def test_each_request_gets_further_and_the_last_shows_what_a_whole_search_finds(
    client: TestClient, short_steps: None, compared: bool
) -> None:
    address, asked = ("/compare", {**BOTH, "q": "FOX"}) if compared else ("/runs/a", {"q": "FOX"})
    done: list[int] = []
    while True:
        page = client.get(address, params=asked).text
        found = client.get(f"{address}.json", params=asked).json()
        listed = [case["id"] for case in (found["listing"] if compared else found)["cases"]]
        state = found["search"]
        assert state["cases"] == CASES
        done.append(state["indexed"])
        assert listed == [name for name in MATCHING if name in listed], "in order"
        searched = [name for name in MATCHING if int(name[1:]) < state["indexed"]]
        assert listed[: len(searched)] == searched
        if state["whole"]:
            break
        assert state["why"] == "scanning"
        assert "data-scanning" in without_files(page)
        assert "No cases match" not in page
        assert "searching.js" in own_elements(page)
    assert listed == MATCHING
    assert done == sorted(done)
    assert len(done) > CASES // searching.WINDOW // 2
    page = client.get(address, params=asked).text
    assert "data-scanning" not in without_files(page)
    assert "searching.js" not in own_elements(page)


def test_walking_from_case_to_case_searches_no_more_than_a_list(
    client: TestClient, short_steps: None
) -> None:
    asked = {"q": "fox"}
    client.get("/runs/a/cases/c06.json", params=asked)
    begun = client.get("/runs/a.json", params=asked).json()["search"]["indexed"]
    assert begun <= 2 * searching.WINDOW


def test_the_texts_of_two_suites_are_searched_in_the_first_run(
    place: str, put_run: Any, examined: Any
) -> None:
    with Store.open(place) as store:
        cases = [examined.plain(f"c{n:02}", "Fox", 0.0) for n in range(CASES // 2)]
        put_run(store, "other", cases)
        move_to_parts(store, "other", cases=16)
    with TestClient(make_app(place), base_url="http://127.0.0.1") as client:
        asked = {"run": ["a", "other"], "q": "fox", "force": "1"}
        found = client.get("/compare.json", params=asked).json()
    assert [case["id"] for case in found["listing"]["cases"]] == MATCHING[:7]
    assert found["search"]["cases"] == CASES


def test_a_page_that_goes_on_may_search_longer_than_one_that_somebody_waits_for(
    client: TestClient, short_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_pool, "GOING_ON_SECONDS", 60.0)
    asked = {"q": "fox"}
    assert not client.get("/runs/a.json", params=asked).json()["search"]["whole"]
    going_on = {store_pool.GOING_ON: "1"}
    assert client.get("/runs/a.json", params=asked, headers=going_on).json()["search"]["whole"]


@pytest.mark.browser
def test_a_page_goes_on_with_its_search_by_itself(page: Any, short_steps: None) -> None:
    from playwright.sync_api import expect

    with page.expect_response(lambda answer: "/runs/a?q=fox" in answer.url) as first:
        page.goto("/runs/a?q=fox")
    assert "data-scanning" in without_files(first.value.text())
    rows = page.locator("table.cases td.id a")
    expect(rows).to_have_text(MATCHING)
    expect(page.locator("[data-scanning]")).to_have_count(0)
    expect(page.locator(".listed")).to_contain_text(str(len(MATCHING)))
    rows.nth(3).click()
    page.wait_for_url(re.compile("/cases/c09"))
    page.goto("/compare?run=a&run=b&kind=both_wrong&q=fox")
    expect(page.locator("[data-scanning]")).to_have_count(0)
    expect(page.locator("table.cases tbody tr")).to_have_count(len(MATCHING))


@pytest.mark.browser
def test_a_search_goes_on_without_scripts_by_a_link(
    browser: Any, address: str, short_steps: None
) -> None:
    with new_page(browser, base_url=address, java_script_enabled=False) as page:
        page.goto("/runs/a?q=fox")
        steps = 0
        while page.locator("[data-scanning]").count():
            with page.expect_navigation():
                page.locator("[data-scanning]").get_by_role("link").click()
            steps += 1
        assert steps > 5
        assert page.locator("table.cases td.id a").all_inner_texts() == MATCHING
