"""Pages of runs that are large, many, killed, rated or counted, in a real browser."""

import re
from dataclasses import replace
from typing import Any

import pytest

from browsing import new_page
from needs import imported
from proctor.core.run import RunStatus
from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
from proctor.store.store import Store

sync_api = imported("playwright.sync_api", "browser")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUNS, OTHERS, HITS = 60, 8, 40


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("odd") / "p.db")
    scorer = Spec(name="rating", params={"question": "How good is it?"})
    rating = Criterion(id="rating", scorer=scorer)
    with Store.open(path) as store:
        heavy = [
            examined.plain(f"c{n}", "so", float(n < 4), weight=4000.0, full_score=1.0)
            for n in range(5)
        ]
        put_run(store, "heavy", heavy)
        rated = [examined.plain(f"r{n}", "so", 1.0, criteria=(rating,)) for n in range(6)]
        scores = [Score(points=float(2 + n % 3), reason="it is so") for n in range(6)]
        put_run(
            store,
            "rated",
            [
                replace(one, scores=({"rating": score},))
                for one, score in zip(rated, scores, strict=True)
            ],
        )
        killed = put_run(store, "killed", [examined.plain("a", "so", 1.0)])
        store.runs.save(replace(killed, status=RunStatus.INTERRUPTED, finished=None))
        stopped = replace(killed, id="stopped", name="stopped", status=RunStatus.INTERRUPTED)
        store.runs.save(replace(stopped, finished=None))
        counted = put_run(store, "counted", [examined.plain("a", "so", 1.0)])
        summary = dict(store.summaries.get(counted.id) or {})
        detail = {"asked too late": 3, "never asked": 1}
        summary["measures"] = {
            "reasons": {"value": None, "interval": None, "n": 4, "detail": detail, "note": ""}
        }
        store.summaries.save(counted.id, summary)
        put_run(store, "one criterion", [examined.plain(f"o{n}", "so", 0.0) for n in range(4)])
        other = Criterion(id="fits", scorer=Spec(name="contains", params={"any": ["so"]}))
        better = [examined.plain(f"o{n}", "so", 1.0, criteria=(other,)) for n in range(4)]
        put_run(store, "another criterion", better)
        put_run(store, "words", [examined.plain(f"w{n}", "a carrier", 1.0) for n in range(HITS)])
        for number in range(RUNS):
            put_run(store, f"many {number}", [examined.plain("a", "so", 1.0)])
    return path


def test_large_numbers_have_all_their_digits(page: Any) -> None:
    page.goto("/runs/heavy")
    sync_api.expect(page.locator("dl.strip")).to_contain_text("16,000 of 20,000")
    tables = page.locator("main .wide")
    sync_api.expect(tables.first).to_be_attached()
    for table in tables.all():
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth"), "cut off"


def test_a_killed_run_says_so(page: Any) -> None:
    page.goto("/runs/killed")
    sync_api.expect(page.locator(".status.interrupted").first).to_be_visible()
    sync_api.expect(page.locator(".notice")).to_contain_text("Start the same command again")


def test_a_page_left_open_sees_an_interrupted_run_go_on(page: Any, place: str) -> None:
    page.clock.install()
    page.goto("/runs/stopped")
    status = page.locator(".heading-line .status").first
    sync_api.expect(status).to_have_text("interrupted")
    with Store.open(place) as store:
        store.runs.save(replace(store.runs.get("stopped"), status=RunStatus.RUNNING))
        page.wait_for_load_state("load")
        page.clock.run_for(6000)
        sync_api.expect(status).to_have_text("running")
        store.runs.save(replace(store.runs.get("stopped"), status=RunStatus.INTERRUPTED))


def test_many_runs_and_many_hits_have_pages(page: Any) -> None:
    page.goto("/")
    sync_api.expect(page.locator("#runs")).to_contain_text(f"1–50 of {RUNS + OTHERS}")
    page.get_by_role("link", name="Next page").click()
    sync_api.expect(page.locator("#runs")).to_contain_text(f"51–{RUNS + OTHERS} of {RUNS + OTHERS}")
    page.goto("/?q=carrier")
    found = page.locator("#found")
    for _ in range(60):
        sync_api.expect(found).to_be_visible()
        if str(HITS) in found.inner_text():
            break
        page.wait_for_timeout(500)
        page.goto("/?q=carrier")
    sync_api.expect(found).to_contain_text(str(HITS))
    rows = page.locator("ol.found li")
    shown = rows.count()
    assert shown < HITS
    page.get_by_role("link", name="More cases").click()
    sync_api.expect(rows).to_have_count(HITS - shown)
    sync_api.expect(rows.locator("mark").first).to_have_text("carrier")


def test_ratings_have_their_own_scale_and_a_mean(page: Any) -> None:
    page.goto("/runs/rated")
    sync_api.expect(page.locator("dl.strip")).to_contain_text("Mean of rating")
    row = page.locator("section:has(#breakdowns) tr", has_text="rating").first
    sync_api.expect(row).to_contain_text("3.00")
    sync_api.expect(row).to_contain_text("2 … 4")
    page.goto("/runs/rated/label?criterion=rating")
    sync_api.expect(page.locator(".marks button")).to_have_text(["1", "2", "3", "4", "5"])
    sync_api.expect(page.locator(".cards")).to_contain_text("Judge's score3this")
    assert "%" not in page.locator(".cards").inner_text()
    # What labels buy is told in ratings, too.
    for _ in range(4):
        case = page.locator("h1").inner_text()
        page.wait_for_load_state("load")
        page.keyboard.press("2")
        sync_api.expect(page.locator("h1")).not_to_have_text(case)
    progress = page.locator("aside p").first
    sync_api.expect(progress).to_contain_text(re.compile(r"4 of 6 · interval now ±\d\.\d\d$"))
    sync_api.expect(page.locator("main")).to_contain_text(
        re.compile(r"rated \d\.\d\d (above|below) you")
    )


def test_a_measure_of_counts_shows_all_of_them(page: Any) -> None:
    page.goto("/runs/counted")
    row = page.locator("tr", has_text="reasons")
    sync_api.expect(row).to_contain_text(re.compile(r"asked too late\s3, never asked\s1"))


def test_runs_of_other_criteria_are_compared_all_the_same(browser: Any, address: str) -> None:
    # A page of its own: the browser notes the refusal, an answer with status 400, as an error.
    with new_page(browser, base_url=address) as page:
        page.goto("/compare?run=one+criterion&run=another+criterion")
        notice = page.get_by_role("alert")
        sync_api.expect(notice).to_contain_text("under the same id in 4 cases")
        page.get_by_role("link", name="Compare anyway").click()
        page.wait_for_url(re.compile("force=1"))
        sync_api.expect(page.locator(".versus .side")).to_have_count(2)
        # What differs stays on the page, and a case leads back to it, not to the refusal.
        sync_api.expect(page.locator("main")).to_contain_text("under the same id in 4 cases")
        page.get_by_role("link", name="o2", exact=True).first.click()
        page.wait_for_url(re.compile("case=o2"))
        page.locator("nav.steps [data-key=Escape]").click()
        page.wait_for_url(re.compile("force=1(?!.*case=)"))
        sync_api.expect(page.locator(".versus .side")).to_have_count(2)
