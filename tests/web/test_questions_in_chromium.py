"""What readers of the tour asked and once did not find: each is found from the home page by clicks."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browsing import new_page
from needs import imported
from proctor.engine.tour.fill import LATENCIES, Tour
from proctor.io.concurrency import run_sync
from proctor.store.store import Store

sync_api = imported("playwright.sync_api", "browser")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
FOLDER = Path(str(files("proctor.starter"))) / "tour"
QUICK = dict.fromkeys(LATENCIES, (0.0, 0.0))
expect = sync_api.expect


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("asked") / "p.db")
    with Store.open(path) as store:
        run_sync(Tour(store=store, folder=FOLDER, latencies=QUICK).fill())
    return path


def open_run(page: Any, name: str) -> None:
    page.goto("/")
    page.locator("section[aria-labelledby=runs], table.sheet").get_by_role(
        "link", name=name, exact=True
    ).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def open_suite(page: Any) -> None:
    page.goto("/")
    page.get_by_role("link", name="help-desk", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("help-desk")


def test_how_the_judge_was_asked(page: Any) -> None:
    open_run(page, "tour-small-plain")
    expect(page.locator("dl.strip")).to_contain_text("openai:judge temperature 0")
    page.get_by_text("All settings").click()
    expect(page.get_by_role("row", name="judges.sampling.temperature 0.0")).to_be_visible()


def test_which_cases_came_out_otherwise_when_asked_again(page: Any) -> None:
    open_run(page, "tour-small-plain")
    chip = page.get_by_role("link", name=re.compile("^Unsteady"))
    expect(chip).to_have_text("Unsteady 4")
    chip.click()
    expect(page.locator("table.cases tbody tr")).to_have_count(4)
    expect(page.locator("td.id").first).to_have_text("list-alias")
    expect(chip).to_have_attribute("aria-current", "true")
    # From case to case it is the same list.
    page.get_by_role("link", name="list-alias").click()
    expect(page.locator("nav.steps").first).to_contain_text("1 of 4 in spread > 0")


def test_what_tokens_and_times_of_a_row_are_of(page: Any) -> None:
    open_run(page, "tour-small-plain")
    for name in ("Tokens ×3", "Time ×3"):
        expect(page.get_by_role("columnheader", name=name)).to_be_visible()
    open_run(page, "tour-agent")
    expect(page.get_by_role("columnheader", name="Time", exact=True)).to_be_visible()


def test_how_many_points_a_case_has_and_how_many_calls_an_agent_made(page: Any) -> None:
    open_run(page, "tour-small-plain")
    page.get_by_role("link", name="quadratic").click()
    expect(page.locator("p.tags")).to_contain_text("0.667 of 1 points")
    open_run(page, "tour-agent")
    page.get_by_role("link", name="best-month").click()
    expect(page.locator(".heading-line .facts")).to_contain_text("2 calls")


def test_what_changed_between_versions_of_the_suite(page: Any) -> None:
    open_suite(page)
    since = page.locator("details", has_text="Since version 1: 4 cases added")
    since.locator("summary").click()
    expect(since).to_contain_text("zh-alias, zh-percent, zh-join, zh-refund")
    since.get_by_role("link", name="Version 1").click()
    expect(page.locator("main")).to_contain_text("Cases 20")


def test_which_cases_fail_whoever_is_asked(page: Any) -> None:
    open_suite(page)
    page.get_by_role("link", name="Grid", exact=True).click()
    expect(page.locator("table.answers thead tr").first.locator("th")).to_have_count(5)
    page.get_by_role("link", name=re.compile("Failed by all")).click()
    expect(page.locator("table.answers > tbody > tr")).to_have_count(2)


def test_how_far_each_person_agrees_with_the_judge(page: Any) -> None:
    open_run(page, "tour-small-plain")
    page.get_by_role("link", name="Label answers").click()
    people = page.get_by_role("group", name="Between people").get_by_role("row")
    for name in ("ada · ben", "ada · the judge", "ben · the judge"):
        expect(people.filter(has_text=name)).to_have_count(1)
    page.get_by_role("link", name=re.compile("^disagreement")).click()
    # What others said is there, and no button is pressed for a person who said nothing.
    expect(page.locator("details", has_text="What others said")).to_contain_text("ada")
    expect(page.locator(".marks [aria-pressed]")).to_have_count(0)


@pytest.mark.parametrize("runs", [1, 2])
def test_runs_are_kept_as_one_file(page: Any, browser: Any, tmp_path: Path, runs: int) -> None:
    open_run(page, "tour-small-plain")
    if runs == 2:
        page.get_by_text("Beside other runs").click()
        page.get_by_role("link", name="Compare with tour-large-plain").click()
    with page.expect_download() as started:
        page.get_by_role("link", name="One file").click()
    kept = tmp_path / started.value.suggested_filename
    started.value.save_as(kept)
    assert kept.suffix == ".html"
    assert kept.name.count("plain") == runs
    with new_page(browser) as alone:
        alone.goto(kept.as_uri())
        expect(alone.locator("body")).to_contain_text("list-alias")


def test_a_run_below_its_baseline_leads_to_itself_and_to_the_comparison(page: Any) -> None:
    page.goto("/")
    row = page.locator("section[aria-labelledby=dropped] li").first
    name = row.get_by_role("link").first.inner_text()
    row.get_by_role("link").nth(1).click()
    page.wait_for_url(re.compile("/compare"))
    page.go_back()
    row.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_chosen_runs_can_be_compared_without_scrolling(page: Any) -> None:
    page.set_viewport_size({"width": 1024, "height": 500})
    page.goto("/")
    button = page.get_by_role("button", name="Compare the chosen runs")
    boxes = page.locator("input[name=run]")
    for number in (0, 1):
        boxes.nth(number).check()
    boxes.nth(0).evaluate("box => box.scrollIntoView({block: 'center'})")
    expect(button).to_be_in_viewport()


def test_who_won_a_battle_and_how_often(page: Any) -> None:
    open_run(page, "tour-small-plain")
    page.get_by_text("Beside other runs").click()
    page.get_by_role("link", name="Battle with tour-large-plain").click()
    expect(page.locator(".headline")).to_contain_text("tour-large-plain: 15 won, 8 tied, 1 lost")
    expect(page.locator(".headline")).to_contain_text("79.2% (62.7%–89.7%)")
    chip = page.get_by_role("link", name=re.compile("won by tour-small-plain"))
    count = int(chip.locator("b").inner_text())
    chip.click()
    expect(page.locator("table.fought tbody tr")).to_have_count(count)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/tour-small-plain/label?case=units&criterion=right",
        "/runs/tour-small-plain/cases/units",
        "/grid?run=tour-small-plain&run=tour-large-plain&q=litres",
    ],
)
def test_no_form_gives_a_mark_by_enter(page: Any, place: str, path: str) -> None:
    """Enter in a field presses the first button of its form: that must keep a note, and no more."""
    page.goto(path)
    if "/grid" in path:
        page.locator("a.say").first.click()
    elif "/cases/" in path:
        page.locator(".own-label summary").first.click()
    note = f"by Enter on {path.partition('?')[0]}"
    field = page.locator("input[name=note]").first
    field.fill(note)
    with page.expect_navigation():
        field.press("Enter")
    with Store.open(place) as store:
        runs = store.runs.newest()
        given = [one for run in runs for one in store.labels.of_run(run.id) if one.note == note]
    assert [one.points for one in given] == [None]
