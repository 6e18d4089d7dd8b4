"""A day with the pages, in a real browser: failures one by one, texts, attempts, an agent's error."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from browsing import new_page
from needs import imported
from proctor.core.rounds import Attachment, Post, Round
from proctor.store.store import Store

sync_api = imported("playwright.sync_api", "browser")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWER = "## A heading\n\n**Bold** and <script>alert(1)</script>\n\n```python\nprint(1)\n```"


def code(result: str, status: str) -> Post:
    return Post(
        message="ran it",
        send_from="Interpreter",
        send_to="Planner",
        attachments=(
            Attachment(type="code", content="print(7)"),
            Attachment(type="execution_status", content=status),
            Attachment(type="execution_result", content=result),
        ),
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("reading") / "p.db")
    cases = [examined.plain(f"c{n:02}", ANSWER, float(n % 2)) for n in range(60)]
    first = cases[4]
    several = [replace(first.attempts[0], index=index) for index in range(3)]
    scores: Sequence[Any] = [
        {"fits": replace(first.scores[0]["fits"], points=points)} for points in (1.0, 0.0, 1.0)
    ]
    cases[4] = replace(first, attempts=tuple(several), scores=tuple(scores))
    steps = [code("7", "SUCCESS"), code("KeyError: 'a'", "FAILURE"), code("8", "SUCCESS")]
    notes = {"rounds": [Round.of("add", "It is 7.", [*steps, code("lost", "FAILURE")]).to_json()]}
    agent = examined.plain("agent", "It is 7.", 1.0)
    agent = replace(agent, attempts=(replace(agent.attempts[0], notes=notes),))
    with Store.open(path) as store:
        put_run(store, "run", cases)
        put_run(store, "agents", [agent])
    return path


def heading(page: Any, text: str) -> None:
    sync_api.expect(page.locator("h1")).to_have_text(text)
    page.wait_for_load_state("load")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_failures_are_walked_through_under_a_filter(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/run?where=id+>+'c05'")
    page.get_by_role("link", name="Failed").click()
    page.wait_for_url(re.compile("status=failed"))
    sync_api.expect(page.locator(".listed")).to_have_text("27 of 60")
    for name in ("c06", "c08"):
        page.keyboard.press("j")
        sync_api.expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    heading(page, "c08")
    for key, case, number in (
        ("j", "c10", "3 of 27"),
        ("j", "c12", "4 of 27"),
        ("k", "c10", "3 of 27"),
    ):
        page.keyboard.press(key)
        heading(page, case)
        sync_api.expect(page.locator("nav.steps").first).to_contain_text(number)
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("status=failed.*#p10"))
    sync_api.expect(page.locator("tr:target td.id")).to_have_text("c10")


@pytest.mark.parametrize("width", [390, 1440])
def test_what_a_case_is_about_stays_on_top(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    page.goto("/runs/run/cases/c04?attempt=all")
    heading(page, "c04")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    summary = page.locator(".summary")
    for part in ("c04", "c04?", "66.7%"):
        sync_api.expect(summary.get_by_text(part).first).to_be_in_viewport()
    assert page.evaluate("scrollY") > 100
    assert summary.evaluate("one => one.getBoundingClientRect().top") == 0
    summary.get_by_role("link", name="Next failure").click()
    heading(page, "c06")


def test_one_key_leads_from_failure_to_failure_of_any_list(page: Any) -> None:
    page.goto("/runs/run/cases/c05?where=id+<+'c10'")
    for key, name in (("J", "c06"), ("J", "c08"), ("K", "c06"), ("j", "c07"), ("J", "c08")):
        page.wait_for_load_state("load")
        page.keyboard.press(key)
        heading(page, name)
    # After it the list has only cases that passed.
    sync_api.expect(page.get_by_role("link", name="Next failure")).to_have_count(0)
    sync_api.expect(page.locator("nav.steps").first).to_contain_text("9 of 10")


def test_texts_are_copied_and_the_case_is_kept(browser: Any, address: str) -> None:
    options = {"base_url": address, "permissions": ["clipboard-read", "clipboard-write"]}
    with new_page(browser, **options) as page:
        page.goto("/runs/run/cases/c01?attempt=0")
        for name, text in (("Copy the question", "c01?"), ("Copy the answer", ANSWER)):
            page.get_by_role("button", name=name).click()
            sync_api.expect(page.get_by_text("Copied ✓").first).to_be_visible()
            page.wait_for_function(
                "text => navigator.clipboard.readText().then(own => own === text)", arg=text
            )
        for name, ending in (("JSON", "json"), ("Markdown", "md")):
            with page.expect_download() as begun:
                page.get_by_role("link", name=f"↓ {name}").click()
            assert begun.value.suggested_filename.endswith(ending)
            content = begun.value.path().read_text("utf-8")
            assert "c01?" in content
            assert (
                "\\n\\n```python\\n" if ending == "json" else f"````\n{ANSWER}\n````"
            ) in content


def test_without_the_clipboard_s_interface_texts_are_copied(browser: Any, address: str) -> None:
    with new_page(browser, base_url=address) as page:
        page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.goto("/runs/run/cases/c01")
        page.get_by_role("button", name="Copy the answer").click()
        sync_api.expect(page.get_by_text("Copied ✓")).to_be_visible()
        page.evaluate("document.body.append(document.createElement('textarea'))")
        page.locator("textarea").press("Control+v")
        sync_api.expect(page.locator("textarea")).to_have_value(ANSWER)


def test_esc_leads_to_the_page_of_the_row(page: Any) -> None:
    page.goto("/runs/run/cases/c57?sort=id")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("after=.*#p57"))
    sync_api.expect(page.locator("tr:target td.id")).to_have_text("c57")


def test_texts_are_rendered_or_raw_and_that_is_remembered(page: Any) -> None:
    page.goto("/runs/run/cases/c01")
    sync_api.expect(page.locator(".rich .heading")).to_have_text("A heading")
    sync_api.expect(page.locator(".rich").first).to_contain_text("<script>alert(1)</script>")
    with page.expect_navigation():
        page.keyboard.press("m")
    sync_api.expect(page.locator(".rich")).to_have_count(0)
    page.goto("/runs/run/cases/c03")
    sync_api.expect(page.locator("pre.text").nth(1)).to_contain_text("## A heading")
    page.keyboard.press("m")
    sync_api.expect(page.locator(".rich .heading")).to_have_text("A heading")


def test_attempts_are_shown_one_at_a_time_the_worst_first(page: Any) -> None:
    page.goto("/runs/run/cases/c04")
    chosen = page.locator(".square[aria-current]")
    sync_api.expect(chosen).to_have_text(re.compile(r"^\s*✗\s+Attempt\s+2\s*$"))
    page.keyboard.press("]")
    sync_api.expect(chosen).to_contain_text("Attempt 3")
    page.wait_for_load_state("load")
    page.keyboard.press("[")
    sync_api.expect(chosen).to_contain_text("Attempt 2")
    page.wait_for_load_state("load")
    page.get_by_role("link", name="All attempts").click()
    sync_api.expect(page.locator("section.attempt")).to_have_count(3)


def test_an_agents_errors_are_followed(page: Any) -> None:
    page.goto("/runs/agents/cases/agent")
    step = page.locator(".step h3")
    sync_api.expect(step).to_contain_text("Step 3")
    sync_api.expect(page.locator(".step")).to_contain_text("KeyError")
    for key, number in (("n", 5), ("n", 3), (".", 4), (",", 3)):
        page.wait_for_load_state("load")
        page.keyboard.press(key)
        sync_api.expect(step).to_contain_text(f"Step {number}")


def test_the_judge_s_prompt_is_in_a_drawer(page: Any) -> None:
    page.goto("/runs/run/cases/c02")
    page.get_by_text("What the judge was shown").click()
    shown = page.locator("details[open] pre.text").filter(has_text="Is it?")
    sync_api.expect(shown).to_contain_text("c02?")


def test_question_mark_lists_the_keys(page: Any) -> None:
    for path in ("/runs/run", "/runs/run/cases/c00"):
        page.goto(path)
        page.keyboard.press("?")
        sync_api.expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        sync_api.expect(page.get_by_role("dialog")).to_be_hidden()
        assert page.url.endswith(path)


def test_columns_are_chosen_and_stay(page: Any) -> None:
    page.goto("/runs/run?status=failed")
    page.get_by_text("Columns").click()
    page.get_by_label("Tags").check()
    page.get_by_label("Answer").uncheck()
    page.locator(".menu button").click()
    page.wait_for_url(re.compile("column=tags"))
    headings = page.locator("table.cases th")
    for name, count in (("Tags", 1), ("Answer", 0)):
        one = headings.filter(has_text=re.compile(rf"^\s*{name}\s*$"))
        sync_api.expect(one).to_have_count(count)
    assert "status=failed" in page.url


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("path", ["/runs/run", "/runs/run/cases/c04", "/runs/agents/cases/agent"])
def test_nothing_scrolls_sideways(page: Any, width: int, path: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for language in ("en", "zh"):
        page.goto(f"{path}?lang={language}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_times_are_in_the_readers_zone(browser: Any, address: str, place: str) -> None:
    with Store.open(place) as store:
        store.runs.save(replace(store.runs.get("run"), started=86400.0))
    with new_page(browser, base_url=address, timezone_id="Asia/Tokyo", locale="en") as opened:
        opened.goto("/runs/run")
        sync_api.expect(opened.locator("time").first).to_have_text("1970-01-02 09:00 UTC+9")
