"""Labelling and comparing in a real browser, with the keyboard alone."""

import re
from typing import Any

import pytest

from needs import imported
from proctor.store.store import Store

sync_api = imported("playwright.sync_api", "browser")
pytestmark = pytest.mark.browser
CASES = 24


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("browser") / "p.db")
    with Store.open(path) as store:
        for name, right in (("old", 4), ("new", 3)):
            cases = [
                examined.plain(f"c{n:02}", f"the {name} **answer** {n}", float(n % right == 0))
                for n in range(CASES)
            ]
            put_run(store, name, cases)
    return path


def test_twenty_cases_are_labelled_by_keyboard(page: Any, place: str) -> None:
    page.goto("/runs/new/label?author=Ada&goal=20")
    seen = set()
    for number in range(20):
        seen.add(page.locator("h1").inner_text())
        with page.expect_navigation():
            page.keyboard.press("1" if number % 2 else "0")
    assert len(seen) == 20
    sync_api.expect(page.locator("aside")).to_contain_text("20 of 20")
    sync_api.expect(page.locator(".last")).to_contain_text("the judge")
    before = page.locator("h1").inner_text()
    with page.expect_navigation():
        page.keyboard.press("s")
    sync_api.expect(page.locator("h1")).not_to_have_text(before)
    with page.expect_navigation():
        page.keyboard.press("u")
    with Store.open(place) as store:
        labels = store.labels.of_run("new")
    assert (len(labels), {label.author for label in labels}) == (19, {"Ada"})


def test_a_label_is_given_beside_the_verdict(page: Any, place: str) -> None:
    page.goto("/runs/new/cases/c07?status=failed")
    drawer = page.locator(".own-label").first
    drawer.locator("summary").click()
    drawer.get_by_label("Your name").fill("Eve")
    drawer.get_by_label("Note", exact=True).fill("<b>kept</b>")
    drawer.get_by_role("button", name="right").click()
    given = page.locator(".given", has_text="Eve")
    sync_api.expect(given).to_contain_text("Eve: ✓ right <b>kept</b> given after the verdict")
    sync_api.expect(given).to_be_in_viewport()
    assert "status=failed" in page.url
    # Enter in the note keeps the note, and no mark that nobody gave.
    page.locator(".own-label summary").first.click()
    sync_api.expect(page.get_by_label("Your name").first).to_have_value("Eve")
    page.get_by_label("Note", exact=True).first.fill("and this")
    page.get_by_label("Note", exact=True).first.press("Enter")
    sync_api.expect(given).to_have_count(2)
    sync_api.expect(given.nth(1)).to_contain_text("Eve: Note and this")
    with Store.open(place) as store:
        own = [one for one in store.labels.of_run("new") if one.author == "Eve"]
    assert [(one.points, one.seen) for one in own] == [(1.0, True), (None, True)]


def test_texts_are_rendered_or_raw(page: Any) -> None:
    page.goto("/runs/new/label?case=c05")
    sync_api.expect(page.locator(".turn.mine strong")).to_have_text("answer")
    with page.expect_navigation():
        page.keyboard.press("m")
    sync_api.expect(page.locator(".turn.mine pre")).to_contain_text("**answer**")
    with page.expect_navigation():
        page.keyboard.press("m")
    sync_api.expect(page.locator(".turn.mine strong")).to_have_count(1)


def test_a_comparison_is_swapped(page: Any) -> None:
    page.goto("/compare?run=old&run=new")
    sync_api.expect(page.locator(".headline")).to_contain_text(re.compile("better|told apart"))
    first = page.locator(".versus .side").first.inner_text()
    with page.expect_navigation():
        page.keyboard.press("s")
    last = page.locator(".versus .side").last.inner_text()
    assert last.splitlines()[1:3] == first.splitlines()[1:3]
    page.keyboard.press("j")
    sync_api.expect(page.locator("table.cases tbody a").first).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_url(re.compile("case=c"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/compare?run=old&run=new", "/runs/new/label"])
def test_a_phone_needs_no_sideways_scrolling(page: Any, path: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    for language in ("en", "zh"):
        page.goto(f"{path}{'&' if '?' in path else '?'}lang={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_enter_in_a_field_gives_no_mark(page: Any, place: str) -> None:
    """The first button of a form is pressed by Enter in its fields: it must not be a mark."""
    with Store.open(place) as store:
        before = len(store.labels.of_run("new"))
    page.goto("/runs/new/label?case=c11")
    page.get_by_label("Your name").fill("Zoe")
    with page.expect_navigation():
        page.get_by_label("Your name").press("Enter")
    sync_api.expect(page.get_by_label("Your name").first).to_have_value("Zoe")
    sync_api.expect(page.get_by_role("heading", level=1)).to_contain_text("c11")
    with Store.open(place) as store:
        assert len(store.labels.of_run("new")) == before
