"""The pages of the tour in a real browser: what people come for, both themes, nothing for axe-core."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browsing import new_page, served
from level import LEVEL
from needs import imported
from proctor.engine.tour.fill import LATENCIES, Tour, in_progress
from proctor.io.concurrency import run_sync
from proctor.store.store import Store
from proctor.web.pages.case_view import BINS
from proctor.web.share.document import ShareSettings, write_page
from waiting import until

sync_api = imported("playwright.sync_api", "browser")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
FOLDER = Path(str(files("proctor.starter"))) / "tour"
QUICK = dict.fromkeys(LATENCIES, (0.0, 0.0))
GRID = "&".join(
    f"run=tour-{model}-{how}" for model in ("small", "large") for how in ("plain", "strict")
)
PAIR = "run=tour-small-plain&run=tour-large-plain"
PAGES = {
    "home": "/",
    "search": "/?q=carrier",
    "suite": "{suite}",
    "history": "{suite}/history?case=list-alias",
    "items": "{suite}/items",
    "run": "/runs/tour-small-plain",
    "filtered": "/runs/tour-small-plain?status=failed&where=rate<0.5&sort=value",
    "reference": "/runs/tour-small-plain?column=answer&column=reference",
    "criteria": "/runs/tour-small-plain?where=failed=='right'&sort=criterion:right"
    "&column=answer&column=criterion:right&column=criterion:when",
    "case": "/runs/tour-small-plain/cases/list-alias",
    "unscored": "/runs/tour-small-plain/cases/refund-limit",
    "error": "/runs/tour-large-strict/cases/refund-limit",
    "rendered": "/runs/tour-large-plain/cases/index-guide",
    "formula": "/runs/tour-large-plain/cases/quadratic",
    "raw": "/runs/tour-large-plain/cases/quadratic?text=raw",
    "attempts": "/runs/tour-small-plain/cases/list-alias?attempt=all",
    "diff": "/runs/tour-small-plain/cases/list-alias?attempt=0&against=1",
    "agent run": "/runs/tour-agent",
    "agent": "/runs/tour-agent/cases/chart",
    "failed agent": "/runs/tour-agent/cases/mail",
    "agent within": "/runs/tour-agent/cases/best-month?step=7",
    "all steps": "/runs/tour-agent/cases/best-month?steps=all",
    "failed attempts": "/runs/tour-small-plain/cases/list-alias?attempt=failed",
    "compare": f"/compare?{PAIR}",
    "compare four": f"/compare?{GRID}",
    "compare case": f"/compare?{PAIR}&case=list-alias",
    "compare case, rendered": f"/compare?{GRID}&case=list-alias&answers=rendered",
    "candidate": "{suite}?candidate=openai:large%2Bplain",
    "grid": f"/grid?{GRID}",
    "differences": f"/grid?{GRID}&text=differences",
    "grid, failed by all": f"/grid?{GRID}&kind=failed_all&q=python",
    "battle": f"/battles?{PAIR}",
    "label": "/runs/tour-small-plain/label?criterion=right&author=me",
    "audit": "/runs/tour-small-plain/audit",
}
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("tour") / "p.db")
    with Store.open(path) as store:
        run_sync(Tour(store=store, folder=FOLDER, latencies=QUICK).fill())
    return path


@pytest.fixture(scope="module")
def suite(place: str) -> str:
    """Give the address of the suite's page."""
    with Store.open(place) as store:
        return f"/suites/{store.runs.get('tour-small-plain').suite_key}"


def press(page: Any, key: str) -> None:
    """Press a key once the page's scripts are there to hear it."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)


def findings(page: Any, axe: str) -> list[str]:
    """Return what axe-core has against a page, each with the first place."""
    page.evaluate(axe)
    wrong = page.evaluate("axe.run(document)")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in wrong]


@pytest.mark.parametrize(
    ("language", "scheme", "width"),
    # Every two of language, theme and width meet once; on fewer, each of them is there.
    [("en", "light", 1440), ("en", "dark", 390), ("zh", "light", 390), ("zh", "dark", 1440)]
    if LEVEL.full
    else [("en", "light", 1440), ("zh", "dark", 390)],
)
def test_axe_core_finds_nothing(
    page: Any, suite: str, axe: str, language: str, scheme: str, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.set_extra_http_headers({"Accept-Language": language})
    wrong = {}
    for name, path in PAGES.items():
        response = page.goto(path.format(suite=suite))
        assert response.status == 200, name
        assert page.locator("html").get_attribute("lang").startswith(language), name
        if faults := findings(page, axe):
            wrong[name] = faults
        sideways = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not sideways, f"{name} scrolls sideways at {width}"
    assert wrong == {}


@pytest.mark.parametrize("path", ["/runs/none", f"/compare?{PAIR.replace('small-plain', 'agent')}"])
def test_axe_core_finds_nothing_on_refusals(
    browser: Any, address: str, axe: str, path: str
) -> None:
    with new_page(browser, base_url=address) as page:
        assert page.goto(path).status in (400, 404)
        assert findings(page, axe) == []


@SCHEMES
@pytest.mark.parametrize("width", [390, 1440])
def test_a_note_is_left_from_a_cell_of_a_grid(page: Any, axe: str, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/grid?{GRID}&q=regular")
    cell = page.locator("table.answers > tbody > tr > td").nth(2)
    cell.locator("a.say").click()
    page.wait_for_url(re.compile("q=regular.*say=.*#say"))
    form = page.locator("form.say-here")
    sync_api.expect(form).to_be_in_viewport()
    assert findings(page, axe) == []
    note = f"seen at {width} in {scheme}"
    form.locator("input[name=author]").fill("cleo")
    form.locator("input[name=note]").fill(note)
    form.get_by_role("button", name="Note only").first.click()
    page.wait_for_url(re.compile(r"/grid\?[^#]*q=regular$"))
    sync_api.expect(form).to_have_count(0)
    # The last few notes stand there, before how many more there are.
    sync_api.expect(cell.locator(".given", has_text=f"cleo: {note}")).to_be_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@SCHEMES
def test_a_grid_has_the_rates_of_criteria_and_distributions(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/grid?{GRID}")
    criteria, spread = page.locator("thead tr.summed").all()
    sync_api.expect(criteria.locator("td").nth(1)).to_contain_text("right 94.4%")
    sync_api.expect(spread.locator("svg.bars-of")).to_have_count(4)
    bar = spread.locator("svg.bars-of").nth(2).locator("a").first
    count = int(bar.locator("title").text_content().split(": ")[1])
    bar.click()
    page.wait_for_url(re.compile("/runs/.*where=rate"))
    sync_api.expect(page.locator("table.cases tbody tr")).to_have_count(count)


def test_attempts_of_two_runs_stand_side_by_side(page: Any) -> None:
    page.goto(f"/compare?{PAIR}&case=list-alias")
    rows = page.locator(".tries")
    sync_api.expect(rows).to_have_count(3)
    for row in rows.all():
        heads = row.locator("h3")
        sync_api.expect(heads).to_have_count(2)
        first, second = (one.bounding_box() for one in heads.all())
        assert first["y"] == second["y"]
    sync_api.expect(page.locator("ins")).not_to_have_count(0)
    press(page, "m")
    page.wait_for_url(re.compile("answers=rendered"))
    sync_api.expect(page.locator("ins, del")).to_have_count(0)
    sync_api.expect(rows.first.locator("pre.code, .rich pre")).to_have_count(1)
    # The next case of the list is read in the same way.
    press(page, "j")
    page.wait_for_url(re.compile("case=(?!list-alias).*answers=rendered"))


def test_the_pages_of_the_same_runs_lead_to_each_other(page: Any) -> None:
    page.goto(f"/compare?{PAIR}")
    for name, path in (("Grid", "/grid"), ("Battles", "/battles"), ("Comparison", "/compare")):
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(re.compile(f"{path}\\?run="))
    page.locator(".trail a").last.click()
    page.wait_for_url(re.compile("/suites/"))


@SCHEMES
def test_a_candidate_stands_out_in_the_charts(page: Any, suite: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(suite)
    names = page.locator(".legend a")
    sync_api.expect(names.nth(1)).to_be_visible()
    name = names.nth(1).inner_text().strip()
    names.nth(1).click()
    page.wait_for_url(re.compile("candidate="))
    chosen = page.locator(".legend a[aria-current]")
    sync_api.expect(chosen).to_have_text(name)
    sync_api.expect(page.locator(".legend rect.c0")).to_have_count(1)
    chosen.click()
    sync_api.expect(chosen).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1440])
def test_a_grid_is_filtered_by_its_chips_and_by_words(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/grid?{GRID}")
    rows = page.locator("table.answers > tbody > tr")
    sync_api.expect(rows).to_have_count(24)
    for name in ("Differ", "Failed by any", "Failed by all"):
        chip = page.locator(".outcomes a", has_text=name)
        count = int(chip.locator("b").inner_text())
        chip.click()
        sync_api.expect(chip).to_have_attribute("aria-current", "true")
        sync_api.expect(rows).to_have_count(count)
    press(page, "/")
    page.keyboard.type("regular expression")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("kind=failed_all.*q=regular"))
    page.locator(".outcomes a").first.click()
    sync_api.expect(rows).to_have_count(1)
    page.get_by_role("link", name="Differences").click()
    page.wait_for_url(re.compile("q=regular.*text=differences"))
    page.get_by_role("link", name="Clear").click()
    sync_api.expect(rows).to_have_count(24)
    if width > 800:
        rows.last.scroll_into_view_if_needed()
        head = page.locator("table.answers > thead th").last
        sync_api.expect(head).to_be_in_viewport()
        assert page.evaluate("scrollY") > 900
    took = page.locator(".heads .used" if width < 800 else "thead .used")
    sync_api.expect(took).to_have_count(4)
    for told in took.all_inner_texts():
        assert re.search(r"\$0\.\d+.*[\d,]+ tokens.* m?s an attempt", told.replace("\n", " "))


@SCHEMES
def test_failures_are_walked_through_under_a_filter(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-small-plain")
    page.get_by_role("link", name=re.compile("^Failed")).click()
    page.wait_for_url(re.compile("status=failed"))
    page.locator("input[name=where]").fill("topic == 'rules'")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("where="))
    names = page.locator("table.cases td.id a").all_inner_texts()
    assert len(names) >= 3
    page.locator("table.cases td.id a").first.click()
    for place, name in enumerate(names, 1):
        page.wait_for_url(re.compile(f"/cases/{name}"))
        counted = f"{place} of {len(names)}"
        sync_api.expect(page.locator("nav.steps").first).to_contain_text(counted)
        # What went wrong is there without a click.
        wrong = page.locator(".verdict-card:is(.bad, .none), .chip-like.warn").first
        sync_api.expect(wrong).to_be_visible()
        press(page, "j" if place < len(names) else "Escape")
    page.wait_for_url(re.compile(r"/runs/\w+\?.*where=.*#p"))
    # The list goes on from the row of that case.
    links = page.locator("table.cases td.id a")
    sync_api.expect(links.filter(has_text=names[-1])).to_be_focused()
    press(page, "k")
    sync_api.expect(links.filter(has_text=names[-2])).to_be_focused()


@pytest.mark.parametrize(
    "name", ["suite", "history", "items", "case", "compare case", "battle", "label", "audit"]
)
def test_a_slash_leads_to_the_search_from_every_page(page: Any, suite: str, name: str) -> None:
    page.goto(PAGES[name].format(suite=suite))
    press(page, "/")
    search = page.get_by_label("Search", exact=True)
    sync_api.expect(search).to_be_focused()
    page.keyboard.type("carrier")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("ol.found mark").first).to_have_text("carrier")
    # One key to the first hit, and one more opens it.
    press(page, "j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/cases/late-parcel"))


@SCHEMES
def test_a_comparison_is_swapped(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/")
    for name in ("tour-large-plain", "tour-small-plain"):
        page.get_by_label(f"Choose {name}").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url(re.compile("/compare"))
    first = page.locator(".versus .side").first
    # The older one is the baseline.
    sync_api.expect(first).to_contain_text("tour-large-plain")
    sync_api.expect(page.locator(".headline")).to_contain_text("B is worse than A")
    press(page, "s")
    sync_api.expect(page.locator(".headline")).to_contain_text("B is better than A")
    sync_api.expect(first).to_contain_text("tour-small-plain")
    page.get_by_role("link", name=re.compile("^Worse")).click()
    page.wait_for_url(re.compile("kind=worse"))
    sync_api.expect(page.locator("table.answers tbody tr")).to_have_count(1)
    sync_api.expect(page.locator("table.answers ins")).not_to_have_count(0)


@SCHEMES
def test_compared_cases_are_walked_through_under_a_filter(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/compare?{PAIR}&kind=different")
    page.locator("input[name=where]").fill("topic == 'rules'")
    page.locator("input[name=where]").press("Enter")
    page.wait_for_url(re.compile("where=topic"))
    names = page.locator("table.answers td.asked a").all_inner_texts()
    assert len(names) >= 2
    page.locator("table.answers td.asked a").first.click()
    for place, name in enumerate(names, 1):
        sync_api.expect(page.locator("h1")).to_have_text(name)
        sync_api.expect(page).to_have_url(re.compile("where=topic"))
        press(page, "j" if place < len(names) else "Escape")
    page.wait_for_url(re.compile("kind=different&where=topic(?!.*case=)"))
    links = page.locator("table.answers td.asked a")
    sync_api.expect(links).to_have_text(names)
    sync_api.expect(links.nth(len(names) - 1)).to_be_focused()


@SCHEMES
def test_twenty_cases_are_labelled_by_keyboard(page: Any, place: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    author = f"reader of {scheme}"
    page.goto(f"/runs/tour-small-plain/label?criterion=right&author={author}")
    for number in range(20):
        with page.expect_navigation():
            page.keyboard.press("01"[number % 2])
    with Store.open(place) as store:
        run = store.runs.get("tour-small-plain")
        own = [label for label in store.labels.of_run(run.id) if label.author == author]
    assert len({label.case_id for label in own}) == 20
    assert sum(label.points or 0 for label in own) == 10


@SCHEMES
def test_a_run_is_watched(browser: Any, tmp_path: Path, axe: str, scheme: str) -> None:
    from proctor.web.app import make_app

    path = str(tmp_path / "live.db")
    with (
        # Slow enough not to end while a busy machine opens the page.
        in_progress(path, FOLDER, latency=(0.5, 1.0)),
        served(make_app(path)) as address,
        new_page(browser, base_url=address, color_scheme=scheme) as page,
    ):
        wrong: list[str] = []
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        with Store.open(path) as store:
            until(lambda: store.runs.named("tour-live-1"))
        page.goto("/")
        page.get_by_role("link", name="tour-live-1").first.click()
        rows = page.locator(".latest li")
        sync_api.expect(rows.nth(2)).to_be_visible()
        sync_api.expect(page.locator("[data-show=rate]")).to_contain_text("%")
        graded = page.locator("[data-show=graded]")
        # Cases enter by themselves, without another look at the page.
        sync_api.expect(graded).not_to_have_text(graded.inner_text())
        assert findings(page, axe) == []
        assert wrong == []


@SCHEMES
def test_an_agents_error_is_followed(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-agent")
    page.get_by_role("link", name="chart", exact=True).click()
    step = page.locator(".step")
    sync_api.expect(step).to_contain_text("ValueError")
    sync_api.expect(step.locator("h3")).to_contain_text("python")
    # What the step took.
    sync_api.expect(step.locator("h3")).to_contain_text(re.compile(r"\d (ms|s)"))
    press(page, ",")
    sync_api.expect(step.locator("h3")).to_contain_text("read_file")
    # Input and output are one step.
    sync_api.expect(step).to_contain_text("month,sales")
    press(page, "n")
    sync_api.expect(step.locator("h3")).to_contain_text("failed")
    sync_api.expect(page.locator(".outline a.bad")).to_have_count(1)
    sync_api.expect(page.locator(".timeline .bad")).to_have_count(1)
    sync_api.expect(page.locator(".files")).to_contain_text("chart.svg")
    page.goto("/runs/tour-agent/cases/mail")
    sync_api.expect(page.locator("main")).to_contain_text("Whose fault: the candidate")


@SCHEMES
def test_what_an_agent_within_did_folds(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-agent/cases/best-month")
    outline = page.locator(".outline")
    inner = outline.locator("details.within")
    sync_api.expect(inner).to_have_count(1)
    sync_api.expect(inner.get_by_role("link").first).to_be_visible()
    inner.locator("summary").click()
    sync_api.expect(inner.get_by_role("link").first).to_be_hidden()
    inner.locator("summary").click()
    inner.get_by_role("link", name="read_file").click()
    sync_api.expect(page.locator(".step h3")).to_contain_text("read_file")
    # What took time within a step is drawn below it.
    lanes = page.locator(".timeline rect").evaluate_all(
        "all => [...new Set(all.map(one => one.getAttribute('y')))]"
    )
    assert len(lanes) > 1
    page.get_by_role("link", name="All steps").first.click()
    steps = page.locator("article.step")
    sync_api.expect(steps).to_have_count(11)
    inside = page.locator("article.step[data-depth='1']").first
    sync_api.expect(inside).to_contain_text("I read the file that was written.")


@SCHEMES
def test_the_request_of_an_answer_is_opened(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-large-plain/cases/quadratic")
    drawer = page.locator("details.exchange").first
    sync_api.expect(drawer.locator("pre").first).to_be_hidden()
    drawer.locator("summary").click()
    sync_api.expect(drawer.locator("pre").first).to_contain_text('"temperature": 0.7')
    sync_api.expect(drawer.locator("pre").nth(1)).to_contain_text('"served_by": "large"')


@SCHEMES
def test_a_point_of_the_scatter_lists_its_cases(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"/compare?{PAIR}")
    point = page.locator(".scatter circle.worse")
    sync_api.expect(point).to_have_count(1)
    point.click()
    page.wait_for_url(re.compile("where="))
    sync_api.expect(page.locator("table.answers tbody tr")).to_have_count(1)
    sync_api.expect(page.locator("table.answers td.asked")).to_contain_text("Worse")


@SCHEMES
def test_one_key_leads_past_the_filters_to_the_first_case(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-small-plain")
    for key in ("Tab", "Tab", "Enter", "Tab"):
        press(page, key)
    first = page.locator("table.cases td.id a").first
    sync_api.expect(first).to_be_focused()


@SCHEMES
def test_a_shared_file_is_opened_from_disk(
    browser: Any, place: str, tmp_path: Path, axe: str, scheme: str
) -> None:
    file = tmp_path / "shared.html"
    with Store.open(place) as store, file.open("wb") as out:
        write_page(store, ["tour-small-plain", "tour-large-plain"], out, ShareSettings())
    own = ("file:", "blob:", "data:")
    wrong: list[str] = []
    with new_page(browser, color_scheme=scheme) as page:
        page.on("console", lambda said: wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request", lambda asked: None if asked.url.startswith(own) else wrong.append(asked.url)
        )
        page.goto(file.as_uri())
        link = page.locator("table.cases tbody a").first
        sync_api.expect(link).to_be_visible()
        assert findings(page, axe) == []
        name = link.inner_text()
        link.click()
        sync_api.expect(page.locator("h1")).to_have_text(name)
        assert findings(page, axe) == []
    assert wrong == []


def test_a_shared_agent_has_its_steps_as_a_tree(
    browser: Any, place: str, tmp_path: Path, axe: str
) -> None:
    file = tmp_path / "agent.html"
    with Store.open(place) as store, file.open("wb") as out:
        write_page(store, ["tour-agent"], out, ShareSettings())
    wrong: list[str] = []
    with new_page(browser) as page:
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{file.as_uri()}#view=case&case=best-month")
        inner = page.locator(".outline details.within")
        sync_api.expect(inner.get_by_role("link")).to_have_count(2)
        names = page.locator(".outline a").all_inner_texts()
        assert [int(name.split()[1]) for name in names] == list(range(1, len(names) + 1))
        bars = page.locator(".timeline rect")
        sync_api.expect(bars).to_have_count(len(names))
        ends = bars.evaluate_all(
            "all => all.map(one => Number(one.getAttribute('x')) + Number(one.getAttribute('width')))"
        )
        width = float(page.locator(".timeline").get_attribute("viewBox").split()[2])
        assert max(ends) <= width + 0.5
        inner.get_by_role("link", name="read_file").click()
        sync_api.expect(page.locator(".step h3")).to_contain_text("read_file")
        assert findings(page, axe) == []
    assert wrong == []


@pytest.mark.parametrize("width", [1440, 1024])
def test_no_column_of_four_runs_is_cut_off(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/compare?{GRID}")
    tables = page.locator("main .wide")
    sync_api.expect(tables.nth(3)).to_be_attached()
    for table in tables.all():
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth"), table.inner_text()


def test_marks_are_within_reach_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 760})
    page.goto("/runs/tour-large-plain/label?criterion=right&author=me")
    for mark in ("right", "wrong"):
        sync_api.expect(page.get_by_role("button", name=mark)).to_be_in_viewport(ratio=1)
    page.mouse.wheel(0, 300)
    sync_api.expect(page.get_by_role("button", name="right")).to_be_in_viewport(ratio=1)


def test_other_runs_are_in_a_menu(page: Any) -> None:
    page.goto("/runs/tour-small-plain")
    menu = page.locator("main nav .menu")
    menu.locator("summary").click()
    menu.get_by_role("link", name="Compare with tour-large-plain").click()
    sync_api.expect(page.locator(".headline")).to_contain_text("better")


@SCHEMES
def test_settings_that_differ_are_opened(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/compare?run=tour-small-plain&run=tour-small-strict")
    drawer = page.locator("details.drawer").filter(
        has=page.locator("summary", has_text="What was set differently")
    )
    rows = drawer.locator("tbody tr")
    sync_api.expect(rows.first).to_be_hidden()
    drawer.locator("summary").click()
    sync_api.expect(rows.first).to_be_visible()
    sync_api.expect(drawer).to_contain_text("prompt")


@SCHEMES
def test_a_click_on_a_bar_lists_its_cases(page: Any, place: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    with Store.open(place) as store:
        run = store.runs.get("tour-small-plain")
        counts = store.listing.histogram(run.id, BINS)
    page.goto("/runs/tour-small-plain")
    for bar in {0, BINS - 1} & {at for at, count in enumerate(counts) if count}:
        picture = page.locator("img[usemap]")
        picture.scroll_into_view_if_needed()
        width = picture.bounding_box()["width"]
        picture.click(position={"x": width / BINS * (bar + 0.5), "y": 60})
        page.wait_for_url(re.compile("where=rate"))
        sync_api.expect(page.locator("table.cases tbody tr")).to_have_count(counts[bar])


@SCHEMES
def test_headers_sort_the_cases_and_the_way_through_them(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/runs/tour-small-plain?column=tokens&column=cost&column=attempts")
    for name in ("Tokens", "Candidate's cost", "Attempts", "Case"):
        header = page.locator("table.cases th").filter(has_text=re.compile(f"^{name}( ×3)?$"))
        header.get_by_role("link").click()
        direction = "ascending" if name == "Case" else "descending"
        sync_api.expect(header).to_have_attribute("aria-sort", direction)
    header.get_by_role("link").click()
    sync_api.expect(header).to_have_attribute("aria-sort", "descending")
    ids = page.locator("table.cases td.id a").all_inner_texts()
    assert ids == sorted(ids, reverse=True)
    page.locator("table.cases td.id a").first.click()
    sync_api.expect(page.locator("h1")).to_contain_text(ids[0])
    press(page, "j")
    sync_api.expect(page.locator("h1")).to_contain_text(ids[1])


def test_labels_are_downloaded_and_sent_back(page: Any, place: str, tmp_path: Path) -> None:
    page.goto("/runs/tour-small-plain/label?criterion=right")
    with page.expect_download() as begun:
        page.get_by_role("link", name=re.compile("^[0-9]+ cases to be filled in")).click()
    file = tmp_path / "todo.csv"
    begun.value.save_as(file)
    author = "sender of files"
    rows = file.read_text(encoding="utf-8").replace(",right,,", ",right,1,")
    file.write_text(rows, encoding="utf-8")
    with Store.open(place) as store:
        before = len(store.labels.of_run(store.runs.get("tour-small-plain").id))
    page.get_by_label("File of labels").set_input_files(file)
    page.get_by_label("Author of rows").fill(author)
    page.get_by_role("button", name="Store labels").click()
    sync_api.expect(page.locator(".files [role=status]")).to_contain_text("Labels added:")
    with Store.open(place) as store:
        labels = store.labels.of_run(store.runs.get("tour-small-plain").id)
    assert len(labels) > before
    assert {label.author for label in labels[before:]} == {author}
