"""Lists by single criteria, and an agent's many steps read by scrolling, in a real browser."""

import re
from dataclasses import replace
from typing import Any

import pytest

from needs import imported
from proctor.core.attempt import Attempt
from proctor.core.rounds import ROUNDS, Post, Round
from proctor.core.score import Score
from proctor.core.suite import Criterion, Message, Spec
from proctor.store.store import Store
from proctor.web.pages.case import STEPS_TOGETHER

sync_api = imported("playwright.sync_api", "browser")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
CASES, STEPS = 12, 100
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


def scores_at(place: int) -> dict[str, Score]:
    return {
        "key-words": Score(points=float(place % 3 > 0), out_of=1.0, reason="so"),
        "tone": Score(points=place / 20, out_of=1.0, reason="fine"),
        "rude": Score(points=float(place == 4), out_of=1.0, reason="is it"),
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("criteria") / "p.db")
    spec = Spec(name="judged", params={"question": "Is it?"})
    criteria = tuple(
        Criterion(id=name, scorer=spec, weight=-0.5 if name == "rude" else 1.0)
        for name in scores_at(0)
    )
    with Store.open(path) as store:
        cases = [examined.plain(f"c{n}", "so", 1.0, criteria=criteria) for n in range(CASES)]
        put_run(
            store, "three", [replace(one, scores=(scores_at(n),)) for n, one in enumerate(cases)]
        )
        posts = []
        for n in range(STEPS):
            said = "Error: gone" if n in (10, 70) else f"result {n}"
            posts += [
                Post(message=f'{{"n": {n}}}', send_from="Planner", send_to="tool"),
                Post(message=said, send_from="tool", send_to="Planner"),
            ]
        messages = (Message(role="assistant", content="done"),)
        notes = {ROUNDS: [Round.of("work", "done", posts).to_json()]}
        long = examined.plain("long", "done", 1.0)
        attempt = Attempt(case_id="long", messages=messages, notes=notes)
        put_run(store, "agent", [replace(long, attempts=(attempt,))])
    return path


def rows(page: Any) -> Any:
    return page.locator("table.cases tbody tr")


@SCHEMES
def test_columns_of_criteria_are_chosen_and_sorted_by(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/three")
    page.locator("summary", has_text="Columns").click()
    for name in ("tone", "rude"):
        page.get_by_label(name, exact=True).check()
    page.locator(".menu[open] button").click()
    page.wait_for_url(re.compile("column=criterion"))
    header = page.locator("thead").get_by_role("link", name="tone")
    header.click()
    page.wait_for_url(re.compile("sort=criterion"))
    sync_api.expect(rows(page).first).to_contain_text("c0")
    sync_api.expect(page.locator("th[aria-sort=ascending]")).to_have_text("tone")
    header.click()
    page.wait_for_url(re.compile("order=down"))
    sync_api.expect(rows(page).first.get_by_role("link")).to_have_text("c11")
    sync_api.expect(rows(page).first.locator("td[data-label=tone]")).to_have_text("◐ 55%")
    # A penalty that was taken is bad, one that was not is good.
    taken = rows(page).filter(has=page.get_by_role("link", name="c4", exact=True))
    sync_api.expect(taken.locator("td.given .bad")).to_have_count(1)
    rows(page).first.get_by_role("link").click()
    sync_api.expect(page.locator("nav.steps").first).to_contain_text("1 of 12")
    page.wait_for_load_state("load")
    page.keyboard.press("j")
    sync_api.expect(page.locator("h1")).to_have_text("c10")


def test_the_cases_that_fail_one_criterion(page: Any) -> None:
    page.goto("/runs/three")
    page.locator("summary", has_text="Fails").click()
    page.locator(".menu[open]").get_by_role("link", name="key-words").click()
    sync_api.expect(rows(page)).to_have_count(4)
    sync_api.expect(page.locator(".listed")).to_have_text("4 of 12")
    page.get_by_role("link", name="c3", exact=True).click()
    sync_api.expect(page.locator("nav.steps").first).to_contain_text(
        "2 of 4 in failed == 'key-words'"
    )
    page.get_by_role("link", name="All cases that fail tone").click()
    sync_api.expect(rows(page)).to_have_count(CASES)
    box = page.get_by_role("textbox", name="Filter")
    box.fill("key_words < 0.5 and tone > 0.2 or failed == 'rude'")
    box.press("Enter")
    sync_api.expect(page.locator("td.id")).to_have_text(["c4", "c6", "c9"])
    # A name from the table of criteria leads to those that fail it.
    page.goto("/runs/three")
    page.locator("details.group").get_by_role("link", name="rude").click()
    sync_api.expect(page.locator("td.id")).to_have_text(["c4"])


@SCHEMES
def test_all_steps_are_read_by_scrolling(page: Any, scheme: str, axe: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/agent/cases/long")
    sync_api.expect(page.locator(".step")).to_have_count(1)
    page.wait_for_load_state("load")
    page.keyboard.press("a")
    page.wait_for_url(re.compile("steps=all"))
    steps = page.locator("article.step")
    sync_api.expect(steps.first).to_contain_text("work")
    for count in range(STEPS_TOGETHER, STEPS + 2, STEPS_TOGETHER):
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        sync_api.expect(steps).to_have_count(min(count + STEPS_TOGETHER, STEPS + 2))
    sync_api.expect(steps.last).to_contain_text("done")
    # The outline leads to what is there without another page.
    page.locator(".outline a", has_text="✗ 72").click()
    sync_api.expect(page.locator("#step-72")).to_be_in_viewport()
    assert "#step-72" in page.url
    page.evaluate(axe)
    assert page.evaluate("axe.run(document)")["violations"] == []
    page.locator("#step-72 h3 a").click()
    sync_api.expect(steps).to_have_count(0)
    # The outline shows where one is.
    sync_api.expect(page.locator(".outline [aria-current]")).to_be_in_viewport()
    sync_api.expect(page.locator(".outline [aria-current]")).to_contain_text("72")


def test_all_steps_have_pages_without_scripts(browser: Any, address: str) -> None:
    from browsing import new_page

    with new_page(browser, base_url=address, java_script_enabled=False) as page:
        page.goto("/runs/agent/cases/long?steps=all&step=50#step-50")
        steps = page.locator("article.step")
        sync_api.expect(steps).to_have_count(STEPS_TOGETHER)
        sync_api.expect(steps.first).to_have_attribute("id", "step-41")
        page.get_by_role("link", name="Earlier steps").click()
        sync_api.expect(steps.first).to_have_attribute("id", "step-1")
