"""The shared page opened from disk in a real browser: filter, sort, compare, dark, phone, strangers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needs import imported
from proctor.store.store import Store
from proctor.web.share.document import ShareSettings, write_page

sync_api = imported("playwright.sync_api", "browser")
pytestmark = pytest.mark.browser
CASES = 60


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any, hostile: list[str]
) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    with Store.open(str(folder / "p.db")) as store, store.batch():
        for name, every in (("old", 2), ("new", 3)):
            cases = [
                examined.plain(
                    f"c{n:02}", f"the {name} answer {n}", float(n % every == 0),
                    tags={"kind": ("odd" if n % 2 else "even",)},
                )
                for n in range(CASES)
            ]  # fmt: skip
            strange = [examined.hostile(n, text) for n, text in enumerate(hostile)]
            put_run(store, name, cases)
            put_run(store, f"strange {name}", strange)
    with Store.open(str(folder / "p.db")) as store:
        for file, runs in (
            ("one.html", ["new"]),
            ("both.html", ["old", "new"]),
            ("strange.html", ["strange old", "strange new"]),
        ):
            with (folder / file).open("wb") as out:
                write_page(store, runs, out, ShareSettings())
    return folder


@pytest.fixture
def opened(browser: Any, made: Path) -> Iterator[Any]:
    """Give a page that fails the test for any script of a stranger's, error or request."""
    context = browser.new_context(base_url=f"{made.as_uri()}/")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
    page.on(
        "request", lambda asked: None if asked.url.startswith("file:") else wrong.append(asked.url)
    )
    yield page
    context.close()
    assert wrong == []


def rows(page: Any) -> list[str]:
    found: list[str] = page.locator("table.cases tbody a").all_inner_texts()
    return found


def expect_rows(page: Any, *, first: list[str] | None = None, count: int | None = None) -> None:
    """Wait until the list of cases begins like this, or has so many: a page changes by itself."""
    links = page.locator("table.cases tbody a")
    if count is not None:
        sync_api.expect(links).to_have_count(count, timeout=30_000)
    for place, name in enumerate(first or []):
        sync_api.expect(links.nth(place)).to_have_text(name, timeout=30_000)


def test_filter_sort_and_pages(opened: Any) -> None:
    opened.goto("one.html")
    assert opened.locator("h1").inner_text() == "new"
    expect_rows(opened, count=50)
    opened.get_by_role("button", name="Next page").click()
    expect_rows(opened, count=10, first=[f"c{n}" for n in range(50, 60)])
    opened.locator("select[name=tag]").select_option(label="kind: odd")
    opened.locator("input[name=q]").fill("c5")
    opened.wait_for_function("() => document.querySelectorAll('table.cases tbody a').length === 5")
    assert rows(opened) == ["c51", "c53", "c55", "c57", "c59"]
    opened.get_by_role("button", name="Value").click()
    opened.get_by_role("button", name="Value").click()
    expect_rows(opened, first=["c57", "c51"])
    assert opened.locator('th[aria-sort="descending"]').inner_text() == "Value"
    opened.reload()
    expect_rows(opened, first=["c57", "c51"])
    opened.get_by_role("link", name="Clear").click()
    expect_rows(opened, count=50)


def test_a_case_shows_all_of_it(opened: Any) -> None:
    opened.goto("one.html")
    opened.get_by_role("link", name="c03").click()
    text = opened.locator("main").inner_text()
    for part in ("c03?", "the new answer 3", "fits: 1 / 1", "because", "= 1 / 1 * 1 = 1"):
        assert part in text
    opened.keyboard.press("j")
    sync_api.expect(opened.locator("h1")).to_have_text("c04", timeout=30_000)
    opened.keyboard.press("Escape")
    opened.keyboard.press("j")
    assert opened.evaluate("document.activeElement.textContent") == "c00"
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.name") == "q"


def test_flips_come_first_and_answers_stand_side_by_side(opened: Any) -> None:
    opened.goto("both.html")
    assert "p " in opened.locator(".verdict").inner_text()
    expect_rows(opened, first=["c03", "c09", "c15"])
    opened.locator("select[name=kind]").select_option("worse")
    expect_rows(opened, first=["c02", "c04", "c08"])
    opened.locator("select[name=kind]").select_option("flips")
    expect_rows(opened, count=30)
    opened.get_by_role("link", name="c02").click()
    marked = [
        side.locator("mark").all_inner_texts() for side in opened.locator(".sides section").all()
    ]
    assert marked == [["old"], ["new"]]


def test_languages_and_colours(opened: Any) -> None:
    opened.goto("both.html")
    opened.get_by_role("link", name="中文").click()
    assert opened.locator("h1").inner_text() == "对比"
    assert opened.evaluate("document.documentElement.lang") == "zh"
    for scheme, dark in (("dark", True), ("light", False)):
        opened.emulate_media(color_scheme=scheme)
        color = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", color)[:3])) < 100) == dark


@pytest.mark.parametrize(
    "address",
    ["one.html", "both.html", "one.html#view=case&case=c03", "both.html#view=both&case=c03"],
)
def test_a_phone_needs_no_sideways_scrolling(opened: Any, address: str) -> None:
    opened.set_viewport_size({"width": 390, "height": 800})
    opened.goto(address)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_strangers_texts_stay_texts(opened: Any, hostile: list[str]) -> None:
    opened.goto("strange.html")
    for number, text in enumerate(hostile):
        for view in ("case", "both"):
            opened.evaluate(
                "address => { location.hash = address }", f"view={view}&case=case {number}"
            )
            opened.wait_for_function(
                "name => document.querySelector('h1').textContent === name", arg=f"case {number}"
            )
            counted = "document.querySelectorAll('main :is(script, img, svg, iframe, object, form, style, base, link, meta)').length"
            assert opened.evaluate(counted) == 0
        if text.isascii() and text.isprintable() and len(text) < 1000:
            assert text in opened.locator(".sides pre").first.text_content()
    assert opened.evaluate("document.querySelectorAll('script').length") == opened.evaluate(
        "document.querySelectorAll('script[type=\"application/json\"]').length + 1"
    )
