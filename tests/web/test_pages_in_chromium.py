"""The home, suite and run pages in a real browser: filter, sort, keys, dark, phone, progress."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from browsing import new_page
from needs import imported
from proctor.core.run import RunStatus
from proctor.store.rows import RunAttempt
from proctor.store.store import Store

sync_api = imported("playwright.sync_api", "browser")
pytestmark = pytest.mark.browser
CASES = 60


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("browser") / "p.db")
    with Store.open(path) as store:
        for name in ("old", "new"):
            cases = [examined.plain(f"c{n:02}", "so", float(n % 2)) for n in range(CASES)]
            put_run(store, name, cases)
    return path


@pytest.fixture
def going(place: str) -> Iterator[Store]:
    """Give a store with a run in progress, which gives signs of life as long as a test looks."""
    with Store.open(place) as store:
        status = RunStatus.RUNNING
        run = replace(store.runs.get("new"), id="going", name="going", status=status)
        store.liveness.await_work(run, lambda: None)
        store.liveness.begin("going")
        yield store


def expect_rows(page: Any, names: list[str]) -> None:
    """Wait until the list of cases has these, and no others."""
    sync_api.expect(page.locator("table.cases td.id a")).to_have_text(names)


def expect_focused(page: Any, name: str) -> None:
    sync_api.expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()


def test_from_home_to_a_case(page: Any) -> None:
    page.goto("/")
    page.get_by_role("link", name="quiz").first.click()
    page.wait_for_url(re.compile("/suites/"))
    # A picture is fetched when it comes into view.
    picture = page.locator("img").first
    picture.scroll_into_view_if_needed()
    sync_api.expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("picture => picture.naturalWidth") > 0
    page.locator("table").get_by_role("link", name="new", exact=True).first.click()
    page.wait_for_url(re.compile("/runs/new$"))
    page.get_by_role("link", name="c00").click()
    sync_api.expect(page.locator("h1")).to_contain_text("c00")


def test_filter_sort_and_pages(page: Any) -> None:
    page.goto("/runs/new")
    expect_rows(page, [f"c{n:02}" for n in range(50)])
    page.locator('a[rel="next"]').click()
    page.wait_for_url(re.compile("after="))
    expect_rows(page, [f"c{n}" for n in range(50, 60)])
    page.locator("input[name=where]").fill("value == 1 and id > 'c55'")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("where="))
    expect_rows(page, ["c57", "c59"])
    for _ in range(2):
        with page.expect_navigation():
            page.locator("th a").nth(1).click()
    page.wait_for_url(re.compile("order=down"))
    expect_rows(page, ["c59", "c57"])


def test_two_runs_are_chosen_and_compared(page: Any) -> None:
    page.goto("/")
    buttons = [page.get_by_role("button", name=name) for name in ("Compare", "Grid", "Battles")]
    for button in buttons:
        sync_api.expect(button).to_be_disabled()
    for name in ("old", "new"):
        page.get_by_label(f"Choose {name}").check()
    for button in buttons:
        sync_api.expect(button).to_be_enabled()
    buttons[0].click()
    page.wait_for_url(re.compile(r"/compare\?order=oldest&run=\w+&run=\w+"))
    sync_api.expect(page.locator("h1")).to_have_count(1)


def test_the_keyboard(page: Any) -> None:
    page.goto("/runs/new")
    for key, focused in (("j", "c00"), ("j", "c01"), ("k", "c00")):
        page.keyboard.press(key)
        expect_focused(page, focused)
    page.keyboard.press("/")
    sync_api.expect(page.locator("input[name=q]")).to_be_focused()
    page.keyboard.type("nk")
    sync_api.expect(page.locator("input[name=q]")).to_have_value("nk")


@pytest.mark.parametrize(("scheme", "dark"), [("dark", True), ("light", False)])
def test_light_and_dark(page: Any, scheme: str, dark: bool) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/new")
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", color)[:3])) < 100) == dark


def ground(page: Any) -> int:
    """Return how light the ground of a page is, from 0 to 255."""
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(map(int, re.findall(r"\d+", color)[:3]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_theme_is_chosen_and_stays(
    browser: Any, address: str, scheme: str, scripts: bool
) -> None:
    with new_page(
        browser, base_url=address, color_scheme=scheme, java_script_enabled=scripts
    ) as page:
        other = "light" if scheme == "dark" else "dark"
        page.goto("/runs/new?status=failed")
        for language, name in (
            ("en", {"light": "Light", "dark": "Dark"}[other]),
            ("zh", "跟随系统"),
        ):
            page.goto(f"/runs/new?status=failed&lang={language}")
            page.wait_for_load_state("load")
            page.locator("#themes summary").click()
            page.locator("#themes").get_by_role("link", name=name).click()
            now = scheme if language == "zh" else other
            sync_api.expect(
                page.locator(f"html[data-theme={other if now == other else 'system'}]")
            ).to_have_count(1)
            assert "status=failed" in page.url
            assert "theme" not in page.url
            # The next page has it when it arrives, before any script runs.
            for path in ("/", "/nothing"):
                page.goto(path)
                assert (ground(page) < 100) == (now == "dark")


@pytest.mark.parametrize("path", ["/", "/runs/new", "/runs/new?lang=zh"])
def test_a_phone_needs_no_sideways_scrolling(page: Any, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(path)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_progress_moves_by_itself(page: Any, going: Store) -> None:
    page.goto("/runs/going")
    bar = page.get_by_label("Answers")
    sync_api.expect(bar).to_have_attribute("value", "0")
    sync_api.expect(bar).to_have_attribute("max", str(CASES))
    keys = {"fits": "new-1-0-fits"}
    going.attempts.link(
        "going", [RunAttempt(position=1, index=0, attempt_key="new-1-0", score_keys=keys)]
    )
    sync_api.expect(bar).to_have_attribute("value", "1")
    sync_api.expect(page.locator('[data-show="rate"]')).to_have_text("100.0%")
    sync_api.expect(page.locator(".latest li")).to_have_text(["✓ 100% c01 so"])
    going.runs.save(replace(going.runs.get("going"), status=RunStatus.INCOMPLETE))
    sync_api.expect(bar).to_have_count(0)
