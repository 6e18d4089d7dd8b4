"""The shared page opened from disk in a real browser: filter, sort, compare, dark, phone, strangers."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browsing import new_page
from level import LEVEL
from needs import imported
from proctor.core.suite import Message, ToolCall
from proctor.store.store import Store
from proctor.web.share.document import ShareSettings, write_page
from waiting import until

sync_api = imported("playwright.sync_api", "browser")
pytestmark = pytest.mark.browser
CASES = 60
LONG = "\n\n**so** $x^2$\n\n" + "word " * 3000 + "needle{:02}"
"""What each answer goes on with: more than a row shows, and Markdown."""


def agent(examined: Any) -> Any:
    """Make a case in which an agent called tools, and one call failed."""
    calls = [ToolCall(name=f"tool{n}", arguments={"n": n}, id=f"t{n}") for n in range(3)]
    results = ("first result", "Error: no such table", "third result")
    messages = [
        one
        for call, result in zip(calls, results, strict=True)
        for one in (
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content=result, tool_call_id=call.id),
        )
    ]
    made = examined.plain("zz-agent", "done", 0.0)
    attempt = replace(made.attempts[0], messages=(*messages, *made.attempts[0].messages))
    return replace(made, attempts=(attempt,))


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any, hostile: list[str]
) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    with Store.open(str(folder / "p.db")) as store, store.batch():
        for name, every in (("old", 2), ("new", 3)):
            cases = [
                examined.plain(
                    f"c{n:02}", f"the {name} answer {n}{LONG.format(n)}", float(n % every == 0),
                    tags={"kind": ("odd" if n % 2 else "even",)},
                )
                for n in range(CASES)
            ]  # fmt: skip
            cases.append(agent(examined))
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
    wrong: list[str] = []
    with new_page(browser, base_url=f"{made.as_uri()}/") as page:
        page.on("console", lambda said: wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith("file:") else wrong.append(asked.url),
        )
        yield page
    assert wrong == []


def expect_rows(page: Any, *, first: list[str] | None = None, count: int | None = None) -> None:
    """Wait until the list of cases begins like this, or has so many: a page changes by itself."""
    links = page.locator("table.cases tbody a")
    if count is not None:
        sync_api.expect(links).to_have_count(count)
    for place, name in enumerate(first or []):
        sync_api.expect(links.nth(place)).to_have_text(name)


def test_filter_sort_and_pages(opened: Any) -> None:
    opened.goto("one.html")
    sync_api.expect(opened.locator("h1")).to_have_text("new")
    expect_rows(opened, count=50)
    opened.get_by_role("button", name="Next page").click()
    expect_rows(opened, count=11, first=[f"c{n}" for n in range(50, 60)])
    opened.locator("select[name=tag]").select_option(label="kind: odd")
    opened.locator("input[name=q]").fill("c5")
    expect_rows(opened, count=5, first=["c51", "c53", "c55", "c57", "c59"])
    for order in ("ascending", "descending"):
        opened.get_by_role("button", name="Score").click()
        sync_api.expect(opened.locator(f'th[aria-sort="{order}"]')).to_have_text("Score")
    expect_rows(opened, first=["c57", "c51"])
    opened.reload()
    expect_rows(opened, first=["c57", "c51"])
    opened.get_by_role("link", name="Clear").click()
    expect_rows(opened, count=50)
    opened.get_by_role("link", name="Failed").click()
    expect_rows(opened, count=41, first=["zz-agent", "c59", "c58"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_theme_is_chosen_and_stays(browser: Any, made: Path, scheme: str) -> None:
    wrong: list[str] = []
    other = "light" if scheme == "dark" else "dark"
    ground = "getComputedStyle(document.body).backgroundColor"
    with new_page(browser, base_url=f"{made.as_uri()}/", color_scheme=scheme) as page:
        page.on("console", lambda said: wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto("one.html")
        before = page.evaluate(ground)
        page.locator("details.menu summary", has_text="Theme").click()
        page.get_by_role("button", name=other.capitalize()).click()
        sync_api.expect(page.locator(f"html[data-theme={other}]")).to_have_count(1)
        assert page.evaluate(ground) != before

        def is_kept() -> bool:
            # What a page of a file stores may reach the next process of the browser a little later.
            page.reload()
            sync_api.expect(page.locator("table.cases")).to_be_visible()
            return bool(page.locator(f"html[data-theme={other}]").count())

        until(is_kept)
        page.locator("details.menu summary", has_text="Theme").click()
        page.get_by_role("button", name="System").click()
        sync_api.expect(page.locator("html[data-theme=system]")).to_have_count(1)
        assert page.evaluate(ground) == before
    assert wrong == []


def test_search_covers_whole_texts(opened: Any) -> None:
    opened.goto("one.html")
    opened.locator("input[name=q]").press_sequentially("Needle42")
    expect_rows(opened, count=1, first=["c42"])
    sync_api.expect(opened.locator(".snippet mark")).to_have_text("needle42")
    sync_api.expect(opened.locator("input[name=q]")).to_have_value("Needle42")
    opened.goto("both.html#q=needle17")
    expect_rows(opened, count=1, first=["c17"])


def test_a_case_looks_as_on_the_pages_of_a_server(opened: Any) -> None:
    opened.goto("one.html")
    opened.get_by_role("link", name="c04").click()
    card = opened.locator(".verdict-card.bad")
    for part in ("failed", "fits", "+0 / 1", "Is it?", "because"):
        sync_api.expect(card).to_contain_text(part)
    card.get_by_text("What the judge was shown").click()
    sync_api.expect(card).to_contain_text("the new answer 4")
    sync_api.expect(opened.locator(".rich strong")).to_have_text("so")
    sync_api.expect(opened.locator(".rich math msup")).to_have_count(1)
    opened.keyboard.press("m")
    sync_api.expect(opened.locator(".turn.mine pre")).to_contain_text("**so** $x^2$")
    opened.keyboard.press("j")
    sync_api.expect(opened.locator("h1")).to_have_text("c05")
    sync_api.expect(opened.locator(".rich")).to_have_count(0)
    opened.keyboard.press("Escape")
    sync_api.expect(opened.get_by_role("link", name="c05")).to_be_focused()
    opened.keyboard.press("j")
    sync_api.expect(opened.get_by_role("link", name="c06")).to_be_focused()
    opened.keyboard.press("/")
    sync_api.expect(opened.locator("input[name=q]")).to_be_focused()


def test_failures_are_walked_through_under_a_filter(opened: Any) -> None:
    opened.goto("one.html#status=failed")
    opened.get_by_role("link", name="c01").click()
    sync_api.expect(opened.locator("h1")).to_have_text("c01")
    for name in ("c02", "c04", "c05"):
        opened.keyboard.press("j")
        sync_api.expect(opened.locator("h1")).to_have_text(name)
    sync_api.expect(opened.locator("nav.steps").first).to_contain_text("4 of 41")


def test_an_agents_error_is_followed(opened: Any) -> None:
    opened.goto("one.html#view=case&case=zz-agent")
    step = opened.locator(".step")
    sync_api.expect(step).to_contain_text("Error: no such table")
    sync_api.expect(opened.locator(".timeline rect.bad")).to_have_count(1)
    opened.keyboard.press(".")
    sync_api.expect(step).to_contain_text("third result")
    opened.keyboard.press("n")
    sync_api.expect(step).to_contain_text("tool1")


def test_what_changed_comes_first_and_answers_stand_side_by_side(opened: Any) -> None:
    opened.goto("both.html")
    sync_api.expect(opened.locator(".headline")).to_contain_text("p ")
    expect_rows(opened, first=["c02", "c04", "c08"])
    sync_api.expect(opened.locator(".headline span")).to_have_text(re.compile(r"^\s*−"))
    opened.keyboard.press("s")
    sync_api.expect(opened.locator(".headline span")).to_contain_text("+")
    sync_api.expect(opened.locator(".versus .side").first).to_contain_text("new")
    opened.get_by_role("link", name="Worse").click()
    expect_rows(opened, first=["c03", "c09", "c15"])
    opened.get_by_role("link", name="Different").click()
    expect_rows(opened, count=30)
    opened.locator(".pairs a", has_text="kind: odd").click()
    expect_rows(opened, first=["c03", "c09"])
    opened.get_by_role("link", name="c03", exact=True).click()
    sides = opened.locator(".sides > section")
    sync_api.expect(sides.nth(0).locator("del")).to_contain_text("new")
    sync_api.expect(sides.nth(1).locator("ins")).to_contain_text("old")


def test_languages_and_colours(opened: Any) -> None:
    opened.goto("both.html")
    opened.get_by_role("link", name="中文").click()
    sync_api.expect(opened.locator("h1")).to_have_text("对比")
    sync_api.expect(opened.locator("html")).to_have_attribute("lang", "zh")
    for scheme, dark in (("dark", True), ("light", False)):
        opened.emulate_media(color_scheme=scheme)
        color = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", color)[:3])) < 100) == dark


@pytest.mark.parametrize(
    "address",
    [
        "one.html",
        "both.html",
        "one.html#view=case&case=c03",
        "both.html#view=both&case=c03",
        "one.html#view=case&case=zz-agent",
    ],
)
def test_a_phone_needs_no_sideways_scrolling(opened: Any, address: str) -> None:
    opened.set_viewport_size({"width": 390, "height": 800})
    opened.goto(address)
    sync_api.expect(opened.locator("footer")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_strangers_texts_stay_texts(opened: Any, hostile: list[str]) -> None:
    opened.goto("strange.html")
    strange = "main :is(script, img, iframe, object, form, style, base, link, meta, svg:not(.interval, .delta, .timeline, .histogram))"
    for number in range(0, len(hostile), 1 if LEVEL.ci else 4):
        for view in ("case", "case&text=raw", "both"):
            opened.evaluate(
                "address => { location.hash = address }", f"case=case {number}&view={view}"
            )
            opened.wait_for_function(
                "name => document.querySelector('h1').textContent === name", arg=f"case {number}"
            )
            sync_api.expect(opened.locator('[aria-current="true"].chip')).not_to_have_count(0)
            sync_api.expect(opened.locator(".sides")).to_have_count(1 if view == "both" else 0)
            if len(hostile[number]) < 100_000:
                opened.evaluate(
                    "document.querySelectorAll('details').forEach(one => one.open = true)"
                )
            sync_api.expect(opened.locator(strange)).to_have_count(0)
            assert opened.evaluate(_LINKS) == []
        text = hostile[number]
        if text.isascii() and text.isprintable() and len(text) < 1000:
            assert text in opened.locator(".sides pre").first.text_content()
    for address in ("view=run", "view=compare", "view=run&q=alert(1)"):
        opened.evaluate("address => { location.hash = address }", address)
        sync_api.expect(opened.locator("table.cases")).to_be_visible()
        sync_api.expect(opened.locator(strange)).to_have_count(0)
    # One for the theme, in the head, one for the page, and what no browser runs.
    assert opened.evaluate("document.scripts.length") == opened.evaluate(
        "document.querySelectorAll('script[type=\"application/octet-stream\"]').length + 2"
    )


_LINKS = """[...document.querySelectorAll("main a[href]")].map((one) => one.getAttribute("href"))
  .filter((href) => !href.startsWith("#") && !href.startsWith("https://pictures.example/"))"""
